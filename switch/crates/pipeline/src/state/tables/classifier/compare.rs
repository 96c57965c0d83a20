/// No entry: later than any order.
pub(super) const NONE: u64 = u64::MAX;

/// The test of a part of the key. Entries have value and mask, or least and greatest, per column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Test {
    Masked {
        column: usize,
    },
    Range {
        column: usize,
    },
    /// A range over several columns, the least significant first.
    Wide {
        column: usize,
        columns: usize,
    },
}

impl Test {
    pub(crate) fn column(self) -> usize {
        let (Self::Masked { column } | Self::Range { column } | Self::Wide { column, .. }) = self;
        column
    }

    /// The bits of its column that the entry says something about; all, if it has several.
    pub(super) fn cares(self, entry: &[u64], full: &[u64]) -> u64 {
        match self {
            Self::Masked { column } => entry[2 * column + 1],
            Self::Range { column } => {
                let open = (entry[2 * column], entry[2 * column + 1]) == (0, full[column]);
                if open { 0 } else { u64::MAX }
            }
            Self::Wide { .. } => u64::MAX,
        }
    }

    #[inline(always)]
    fn holds(self, entry: &[u64], key: &[u64]) -> bool {
        match self {
            Self::Masked { column } => {
                (key[column] ^ entry[2 * column]) & entry[2 * column + 1] == 0
            }
            Self::Range { column } => {
                (entry[2 * column]..=entry[2 * column + 1]).contains(&key[column])
            }
            Self::Wide { column, columns } => {
                let range = column..column + columns;
                let words = |offset: usize| range.clone().rev().map(move |c| entry[2 * c + offset]);
                let value = || range.clone().rev().map(|c| key[c]);
                words(0).le(value()) && value().le(words(1))
            }
        }
    }
}

#[inline(always)]
pub(super) fn holds(tests: &[Test], entry: &[u64], key: &[u64]) -> bool {
    // `all` is not inlined into code for newer processors.
    for test in tests {
        if !test.holds(entry, key) {
            return false;
        }
    }
    true
}

/// The entries of a table: two words per column for each number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Matches<'a> {
    pub(crate) words: &'a [u64],
    pub(crate) columns: usize,
}

impl<'a> Matches<'a> {
    #[inline(always)]
    pub(super) fn entry(self, number: u32) -> &'a [u64] {
        &self.words[number as usize * 2 * self.columns..][..2 * self.columns]
    }
}
