//! From packet fields to the words of a look-up. A key field takes as many 64-bit *columns* as it
//! needs, least significant first, as in entries. Look-ups use *words*: columns, or, where only
//! equality counts, several narrow fields in one word.

use crate::packet::Packet;
use crate::program::{Key, Slot, columns_of};

/// The header of a field is always valid.
pub(crate) const ALWAYS: u32 = u32::MAX;

/// One column on its way into a word.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece {
    /// Word of the packet.
    pub(crate) from: u32,
    /// Word with the validity of the field's header.
    pub(crate) valid: u32,
    /// Position among the columns of all key fields.
    column: u32,
    /// Word of the search key, and where in it the column starts.
    pub(crate) to: u32,
    pub(crate) shift: u32,
    /// Bits that are matched.
    pub(crate) mask: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Extractor {
    pieces: Vec<Piece>,
    words: usize,
    /// No word holds two columns.
    apart: bool,
}

impl Extractor {
    /// Every column is a word, at the same position.
    pub(crate) fn columns(keys: &[Key]) -> Self {
        let pieces = pieces(keys, 0);
        Self {
            words: pieces.len(),
            pieces,
            apart: true,
        }
    }

    /// As few words as whole columns fit into; the second result is the number of bits.
    pub(crate) fn packed(keys: &[Key]) -> (Self, u32) {
        let mut extractor = Self::default();
        let bits = extractor.pack(keys, |_| true, 0);
        (extractor, bits)
    }

    /// Field `first` (most significant column first), then the other fields packed.
    pub(crate) fn prefix_first(keys: &[Key], first: usize) -> Self {
        let mut extractor = Self::default();
        let columns = columns_of(keys[first].bits);
        let before: usize = keys[..first].iter().map(|key| columns_of(key.bits)).sum();
        for mut piece in pieces(&keys[first..=first], before as u32) {
            piece.to = (before + columns - 1) as u32 - piece.column;
            extractor.pieces.push(piece);
        }
        extractor.words = columns;
        extractor.pack(keys, |position| position != first, columns);
        extractor
    }

    /// Appends the chosen fields from word `start` on; gives the number of their bits.
    fn pack(&mut self, keys: &[Key], chosen: impl Fn(usize) -> bool, start: usize) -> u32 {
        let (mut column, mut total) = (0, 0);
        // Bits taken of each word.
        let mut taken: Vec<u32> = Vec::new();
        for (position, key) in keys.iter().enumerate() {
            let made = pieces(&keys[position..=position], column);
            column += made.len() as u32;
            if !chosen(position) {
                continue;
            }
            total += key.bits;
            for (index, mut piece) in made.into_iter().enumerate() {
                let width = key.bits.saturating_sub(index as u32 * 64).min(64);
                let word = taken.iter().position(|taken| taken + width <= 64);
                let word = word.unwrap_or_else(|| {
                    taken.push(0);
                    taken.len() - 1
                });
                piece.to = (start + word) as u32;
                piece.shift = taken[word];
                taken[word] += width;
                self.pieces.push(piece);
            }
        }
        self.words = start + taken.len();
        self.apart = self.pieces.len() == self.words;
        total
    }

    pub(crate) fn words(&self) -> usize {
        self.words
    }

    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// The search key of a packet. A field of an invalid header is zero.
    #[inline]
    pub(crate) fn extract(&self, packet: &Packet, key: &mut [u64]) {
        if !self.apart {
            key.fill(0);
        }
        for piece in &self.pieces {
            let value = if piece.valid == ALWAYS || packet.word(piece.valid) != 0 {
                packet.word(piece.from) & piece.mask
            } else {
                0
            };
            let word = &mut key[piece.to as usize];
            if self.apart {
                *word = value;
            } else {
                *word |= value << piece.shift;
            }
        }
    }

    pub(crate) fn of_columns(&self, columns: &[u64], key: &mut [u64]) {
        key.fill(0);
        for piece in &self.pieces {
            key[piece.to as usize] |= columns[piece.column as usize] << piece.shift;
        }
    }
}

/// The columns of these fields; numbers of columns and words start at `column`.
fn pieces(keys: &[Key], mut column: u32) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for key in keys {
        for index in 0..columns_of(key.bits) {
            pieces.push(Piece {
                from: first_word(key.slot) + index as u32,
                valid: key.valid.unwrap_or(ALWAYS),
                column,
                to: column,
                shift: 0,
                mask: key.mask.get(index).copied().unwrap_or(0),
            });
            column += 1;
        }
    }
    pieces
}

/// Where the words of a field start; the loader lets no varbit be a key.
fn first_word(slot: Slot) -> u32 {
    match slot {
        Slot::Word { word } | Slot::Wide { word, .. } => word,
        Slot::Variable { .. } => 0,
    }
}
