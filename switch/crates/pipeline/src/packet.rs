//! A packet inside the pipeline: header and metadata fields in fixed slots, and the bytes no parser state took.

use crate::bits;
use crate::instruction::VariablePlace;
use crate::program::HeaderSpan;

/// Where a field lives. Indices point into the two buffers of a [`Packet`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Slot {
    /// Up to 64 bits. Signed fields are kept sign-extended.
    Word { word: u32 },
    /// More than 64 bits: as many words as that takes, least significant first. Signed fields are sign-extended.
    Wide { word: u32, words: u32 },
    /// A varbit: bytes from the left, and the word that holds its present length in bits.
    Variable {
        byte: u32,
        capacity: u32,
        length_word: u32,
    },
}

/// One packet on its way through ingress, the queue, and egress.
///
/// Opaque outside this crate. Give it to [`crate::Pipeline::recycle`] when it is sent or dropped, so that its buffers serve the next packet.
#[derive(Debug, Clone, Default)]
pub struct Packet {
    pub(crate) words: Vec<u64>,
    pub(crate) bytes: Vec<u8>,
    pub(crate) payload: Vec<u8>,
    /// Bytes of the frame as received: what counters and meters count.
    pub(crate) received_length: u32,
    /// Bytes after headers were added and removed: `packet_length` in egress.
    pub(crate) current_length: u32,
    /// Set by `truncate`: bytes to send at most.
    pub(crate) truncate_to: Option<u64>,
    pub(crate) wishes: Wishes,
    /// A loop of the program took more steps than there were: what it left behind means nothing.
    pub(crate) exhausted: bool,
}

/// What a program asks for besides where its packet goes; the last of each kind counts.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Wishes {
    pub(crate) clone: Option<CloneRequest>,
    pub(crate) resubmit: Option<FieldList>,
    pub(crate) recirculate: Option<FieldList>,
    /// Position of the digest list.
    pub(crate) digest: Option<u32>,
}

/// A list of metadata fields that a copy of a packet keeps: an opaque number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FieldList(pub(crate) u32);

/// A copy for a clone session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CloneRequest {
    /// The session's number, of 15 bits as in bmv2.
    pub session: u16,
    /// Metadata the copy keeps.
    pub fields: FieldList,
}

impl Packet {
    /// Bytes of the frame as it was received, Ethernet header included, frame check sequence not.
    #[must_use]
    pub fn received_length(&self) -> u32 {
        self.received_length
    }

    /// Bytes the frame has now: as received, plus headers added, minus headers removed, cut by `truncate`.
    #[must_use]
    pub fn length(&self) -> u32 {
        let cut = self
            .truncate_to
            .map_or(u32::MAX, |limit| u32::try_from(limit).unwrap_or(u32::MAX));
        self.current_length.min(cut)
    }

    /// Cuts the packet to `bytes` when it leaves, if it is longer then.
    pub fn truncate(&mut self, bytes: u32) {
        let limit = u64::from(bytes);
        self.truncate_to = Some(self.truncate_to.map_or(limit, |before| before.min(limit)));
    }

    pub(crate) fn reset(&mut self, words: usize, bytes: usize, length: usize) {
        self.words.clear();
        self.words.resize(words, 0);
        self.bytes.clear();
        self.bytes.resize(bytes, 0);
        self.payload.clear();
        self.received_length = u32::try_from(length).unwrap_or(u32::MAX);
        self.current_length = self.received_length;
        self.truncate_to = None;
        self.wishes = Wishes::default();
        self.exhausted = false;
    }

    pub(crate) fn word(&self, word: u32) -> u64 {
        self.words[word as usize]
    }

    pub(crate) fn set_word(&mut self, word: u32, value: u64) {
        self.words[word as usize] = value;
    }

    /// A field of `Slot::Wide`.
    pub(crate) fn wide(&self, word: u32, words: u32) -> &[u64] {
        &self.words[word as usize..(word + words) as usize]
    }

    pub(crate) fn wide_mut(&mut self, word: u32, words: u32) -> &mut [u64] {
        &mut self.words[word as usize..(word + words) as usize]
    }

    /// What a varbit holds.
    pub(crate) fn variable(&self, place: VariablePlace) -> &[u8] {
        let length = (self.word(place.length_word) / 8).min(place.capacity.into()) as u32;
        self.span(place.byte, length)
    }

    pub(crate) fn span(&self, byte: u32, length: u32) -> &[u8] {
        &self.bytes[byte as usize..(byte + length) as usize]
    }

    pub(crate) fn span_mut(&mut self, byte: u32, length: u32) -> &mut [u8] {
        &mut self.bytes[byte as usize..(byte + length) as usize]
    }
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

    /// The sign bit, or zero.
    pub(crate) fn sign(self) -> u64 {
        self.sign
    }

    pub(crate) fn word(self, value: u64) -> u64 {
        ((value & self.mask) ^ self.sign).wrapping_sub(self.sign)
    }
}

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
