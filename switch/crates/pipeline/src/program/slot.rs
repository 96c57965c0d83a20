use crate::bits;

/// Where a field lives. Indices point into the two buffers of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slot {
    /// Up to 64 bits. Signed fields are kept sign-extended.
    Word { word: u32 },
    /// More than 64 bits, least significant word first. Signed fields are sign-extended.
    Wide { word: u32, words: u32 },
    /// A varbit: bytes from the left, and the word that holds its present length in bits.
    Variable {
        byte: u32,
        capacity: u32,
        length_word: u32,
    },
}

impl Slot {
    /// First word and number of words; none for a varbit.
    pub(crate) fn words(self) -> Option<(u32, u32)> {
        match self {
            Self::Word { word } => Some((word, 1)),
            Self::Wide { word, words } => Some((word, words)),
            Self::Variable { .. } => None,
        }
    }

    /// The slot of a field, relative to its header, in one instance.
    pub(crate) fn of(self, header: HeaderSpan) -> Self {
        match self {
            Self::Word { word } => Self::Word {
                word: header.word + word,
            },
            Self::Wide { word, words } => Self::Wide {
                word: header.word + word,
                words,
            },
            Self::Variable {
                byte,
                capacity,
                length_word,
            } => Self::Variable {
                byte: header.byte + byte,
                capacity,
                length_word: header.word + length_word,
            },
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct VariablePlace {
    pub(crate) byte: u32,
    pub(crate) capacity: u32,
    pub(crate) length_word: u32,
}

impl VariablePlace {
    pub(crate) fn of(slot: Slot) -> Option<Self> {
        match slot {
            Slot::Variable {
                byte,
                capacity,
                length_word,
            } => Some(Self {
                byte,
                capacity,
                length_word,
            }),
            Slot::Word { .. } | Slot::Wide { .. } => None,
        }
    }
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct HeaderSpan {
    pub(crate) layout: u32,
    pub(crate) word: u32,
    pub(crate) byte: u32,
}

/// How a result becomes a word of a field: cut to its width, sign-extended if signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fit {
    mask: u64,
    sign: u64,
}

impl Fit {
    pub(crate) fn new(bits: u32, signed: bool) -> Self {
        let sign = if signed && (1..=64).contains(&bits) {
            1 << (bits - 1)
        } else {
            0
        };
        Self {
            mask: bits::mask(bits),
            sign,
        }
    }

    pub(crate) fn mask(self) -> u64 {
        self.mask
    }

    pub(crate) fn sign(self) -> u64 {
        self.sign
    }

    pub(crate) fn word(self, value: u64) -> u64 {
        ((value & self.mask) ^ self.sign).wrapping_sub(self.sign)
    }
}

/// Cuts a number to `bits`, or extends its lowest `bits`.
pub(crate) fn fit(words: &mut [u64], bits: u32, signed: bool) {
    let top = (bits.max(1) as usize - 1) / 64;
    let Some(last) = words.get_mut(top) else {
        return;
    };
    *last = Fit::new((bits.max(1) - 1) % 64 + 1, signed).word(*last);
    let fill = if signed && *last >> 63 == 1 {
        u64::MAX
    } else {
        0
    };
    words[top + 1..].fill(fill);
}

#[derive(Debug, Clone, Copy)]
pub(crate) struct WordField {
    pub(crate) word: u32,
    pub(crate) fit: Fit,
}

/// One field of a header type; its slot is relative to the instance.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LayoutField {
    pub(crate) slot: Slot,
    /// Zero for a varbit, whose width is in its slot.
    pub(crate) bits: u32,
    /// How its most significant word is cut and extended.
    pub(crate) fit: Fit,
}

/// A list of metadata fields that a copy of a packet keeps: an opaque number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldList(pub(crate) u32);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fit_cuts_and_extends() {
        assert_eq!(Fit::new(8, false).word(0x1ff), 0xff);
        assert_eq!(Fit::new(8, true).word(0x80) as i64, -128);
        assert_eq!(Fit::new(64, true).word(u64::MAX) as i64, -1);
        assert_eq!(Fit::new(1, true).word(1) as i64, -1);
    }
}
