//! Blocks that are looked at together.

use super::dimension::Part;

pub(super) const TOGETHER: usize = 8;

/// Parts of [`TOGETHER`] blocks in a group that shares a word of the summary.
pub(super) const PARTS: usize = 64 / TOGETHER;

/// The words of blocks that may have candidates.
pub(super) struct Batch {
    pub(super) parts: [usize; PARTS],
    pub(super) words: [Part; PARTS],
    pub(super) count: usize,
}

impl Batch {
    /// Keeps the parts with candidates; a branch per part would be mispredicted.
    #[inline(always)]
    pub(super) fn narrow(&mut self, rows: [&[Part]; 4]) {
        let mut kept = 0;
        for at in 0..self.count.min(PARTS) {
            let part = self.parts[at];
            let words = rows
                .iter()
                .fold(self.words[at], |words, row| and(words, row[part]));
            self.parts[kept] = part;
            self.words[kept] = words;
            kept += usize::from(words.0.iter().fold(0, |any, word| any | word) != 0);
        }
        self.count = kept;
    }
}

/// The bits that both have.
#[inline(always)]
pub(super) fn and(mut words: Part, with: Part) -> Part {
    for (word, with) in words.0.iter_mut().zip(with.0) {
        *word &= with;
    }
    words
}
