//! Blocks that are looked at together.

pub(super) const TOGETHER: usize = 8;

/// Parts of [`TOGETHER`] blocks in a group that shares a word of the summary.
pub(super) const PARTS: usize = 64 / TOGETHER;

/// The words of blocks that may have candidates.
pub(super) struct Batch {
    /// The first block of each part.
    pub(super) starts: [usize; PARTS],
    pub(super) words: [[u64; TOGETHER]; PARTS],
    pub(super) parts: usize,
}

impl Batch {
    /// Keeps the parts with candidates; a branch per part would be mispredicted.
    #[inline]
    pub(super) fn narrow(&mut self, rows: [&[u64]; 4], before: usize) {
        let mut kept = 0;
        for part in 0..self.parts.min(PARTS) {
            let start = self.starts[part];
            let old = self.words[part];
            let of = |row: &[u64]| {
                let row = row.get(before + start..);
                *row.and_then(|row| row.first_chunk())
                    .unwrap_or(&[0; TOGETHER])
            };
            let [a, b, c, d] = rows.map(of);
            let words: [u64; TOGETHER] =
                std::array::from_fn(|at| old[at] & a[at] & b[at] & c[at] & d[at]);
            self.starts[kept] = start;
            self.words[kept] = words;
            kept += usize::from(words.iter().fold(0, |any, word| any | word) != 0);
        }
        self.parts = kept;
    }
}
