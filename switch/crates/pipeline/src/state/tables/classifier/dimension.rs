//! Dimensions: a part of the key, the rows of its values, and the bit vectors of the rows.

use std::ops::Range;

use super::compare::{Matches, NONE, Test};

/// Rows of a dimension of intervals: more rows tell more apart, but all should fit the cache.
fn most_rows(entries: usize, columns: usize) -> usize {
    match entries {
        0..=256 => 64,
        257..=1024 => 256,
        1025..=16_384 if columns > 2 => 256,
        _ => 1024,
    }
}

/// Bits of a dimension of bits: a look-up reads rows of all dimensions, all in the L2 cache.
fn bits_width(entries: usize) -> u32 {
    match entries {
        0..=2048 => 8,
        2049..=16_384 => 6,
        _ => 4,
    }
}

/// Which row a value falls into.
#[derive(Debug, Clone)]
enum Rows {
    /// The number of starts that are not greater than it. Padded at the end to 16, 64, 256 or 1024.
    Intervals { starts: Vec<u64>, count: usize },
    /// So many of its bits.
    Bits { shift: u32, width: u32 },
}

#[derive(Debug, Clone)]
pub(super) struct Dimension {
    column: usize,
    rows: Rows,
    /// Whether entries have value and mask.
    masked: bool,
    /// Columns above this one, of the same range: where they differ, this one has no effect.
    above: usize,
    full: u64,
    /// Words per row: those of its summary, then one for each block.
    stride: usize,
    summary: usize,
    words: Vec<u64>,
}

pub(super) fn choose(
    tests: &[Test],
    full: &[u64],
    orders: &[u64],
    matches: Matches<'_>,
) -> Vec<Dimension> {
    let mut dimensions = Vec::new();
    let entry = |&order: &u64| matches.entry(order as u32);
    // Columns that any entry says something about.
    let says = |column: &usize| {
        let first = orders.first().map(entry).unwrap_or_default();
        let pair = |entry: &[u64]| {
            (
                entry.get(2 * column).copied(),
                entry.get(2 * column + 1).copied(),
            )
        };
        orders.iter().any(|order| pair(entry(order)) != pair(first))
    };
    let used = (0..full.len()).filter(says).count();
    for &test in tests {
        let columns = match test {
            Test::Wide { column, columns } => column..column + columns,
            Test::Masked { column } | Test::Range { column } => column..column + 1,
        };
        for column in columns.clone() {
            let mut dimension = Dimension {
                column,
                rows: Rows::Bits { shift: 0, width: 8 },
                masked: matches!(test, Test::Masked { .. }),
                above: columns.end - 1 - column,
                full: full[column],
                stride: 0,
                summary: 0,
                words: Vec::new(),
            };
            let prefix = |order: &u64| is_prefix(entry(order)[2 * column + 1], full[column]);
            if dimension.masked && !orders.iter().all(prefix) {
                let masks = orders
                    .iter()
                    .fold(0, |any, order| any | entry(order)[2 * column + 1]);
                let width = bits_width(orders.len());
                let care = |shift: &u32| masks >> shift & ((1 << width) - 1) != 0;
                for shift in (0..64).step_by(width as usize).filter(care) {
                    dimensions.push(Dimension {
                        rows: Rows::Bits { shift, width },
                        words: Vec::new(),
                        ..dimension
                    });
                }
                continue;
            }
            let intervals = orders.iter().map(|order| dimension.interval(entry(order)));
            let starts = starts(intervals, full[column], most_rows(orders.len(), used));
            if starts.is_empty() {
                continue;
            }
            let count = starts.len();
            let mut padded = starts;
            let sizes = [16, 64, 256, 1024].into_iter();
            let size = sizes.fold(
                1024,
                |size, known| if count < known { size.min(known) } else { size },
            );
            padded.resize(size, u64::MAX);
            dimension.rows = Rows::Intervals {
                starts: padded,
                count,
            };
            dimensions.push(dimension);
        }
    }
    if dimensions.is_empty() {
        // All entries match everything: one row will do.
        dimensions.push(Dimension {
            column: 0,
            rows: Rows::Intervals {
                starts: Vec::new(),
                count: 0,
            },
            masked: matches!(tests.first(), Some(Test::Masked { .. })),
            above: 0,
            full: full.first().copied().unwrap_or(0),
            stride: 0,
            summary: 0,
            words: Vec::new(),
        });
    }
    dimensions
}

/// Whether a mask has ones from the top bit of its column on, and then zeros.
fn is_prefix(mask: u64, full: u64) -> bool {
    let open = full & !mask;
    open & open.wrapping_add(1) == 0
}

/// The values at which one row ends and the next begins.
fn starts(intervals: impl Iterator<Item = (u64, u64)>, full: u64, rows: usize) -> Vec<u64> {
    let mut ends = Vec::new();
    for (low, high) in intervals {
        if low > 0 {
            ends.push(low);
        }
        if high < full {
            ends.push(high + 1);
        }
    }
    ends.sort_unstable();
    let mut distinct = ends.clone();
    distinct.dedup();
    if distinct.len() < rows {
        return distinct;
    }
    // Half where most entries begin or end, half evenly over the values at which any does.
    let half = rows / 2;
    let pick = |values: &[u64]| -> Vec<u64> {
        (0..half).map(|n| values[n * values.len() / half]).collect()
    };
    let mut chosen = pick(&ends);
    chosen.extend(pick(&distinct));
    chosen.sort_unstable();
    chosen.dedup();
    chosen.truncate(rows - 1);
    chosen
}

/// How many of `N` sorted values, a power of two, are not above `value`, the last left aside: a
/// binary search of fixed length without branches, which could not be predicted.
#[inline]
fn count_below<const N: usize>(values: &[u64], value: u64) -> usize {
    let Some(values) = values.first_chunk::<N>() else {
        return 0;
    };
    let mut count = 0;
    let mut half = N / 2;
    while half > 0 {
        let middle = values[(count | (half - 1)) & (N - 1)];
        count |= if middle <= value { half } else { 0 };
        half /= 2;
    }
    count
}

impl Dimension {
    pub(super) fn column(&self) -> usize {
        self.column
    }

    /// The values of the column that the entry may match.
    fn interval(&self, entry: &[u64]) -> (u64, u64) {
        let (first, second) = (entry[2 * self.column], entry[2 * self.column + 1]);
        if self.masked {
            return (first & second, (first & second) | (self.full & !second));
        }
        let above = 2 * (self.column + 1)..2 * (self.column + 1 + self.above);
        if entry[above].chunks(2).all(|pair| pair[0] == pair[1]) {
            (first, second)
        } else {
            (0, self.full)
        }
    }

    #[inline]
    fn row_of(&self, value: u64) -> usize {
        match &self.rows {
            Rows::Bits { shift, width } => (value >> shift & ((1 << width) - 1)) as usize,
            Rows::Intervals { starts, count } => {
                let row = match starts.len() {
                    16 => count_below::<16>(starts, value),
                    64 => count_below::<64>(starts, value),
                    256 => count_below::<256>(starts, value),
                    _ => count_below::<1024>(starts, value),
                };
                row.min(*count)
            }
        }
    }

    pub(super) fn rows(&self) -> usize {
        match &self.rows {
            Rows::Bits { width, .. } => 1 << width,
            Rows::Intervals { count, .. } => count + 1,
        }
    }

    /// Where an entry stands: its first and last row of intervals, or value and mask of bits.
    pub(super) fn span(&self, entry: &[u64]) -> (u16, u16) {
        match &self.rows {
            Rows::Bits { shift, width } => {
                let bits = |word: u64| (word >> shift & ((1 << width) - 1)) as u16;
                (
                    bits(entry[2 * self.column]),
                    bits(entry[2 * self.column + 1]),
                )
            }
            Rows::Intervals { .. } => {
                let (low, high) = self.interval(entry);
                (self.row_of(low) as u16, self.row_of(high) as u16)
            }
        }
    }

    pub(super) fn bits(&self) -> Option<u32> {
        match self.rows {
            Rows::Bits { width, .. } => Some(width),
            Rows::Intervals { .. } => None,
        }
    }

    /// The row that the key falls into: summary and bit vector.
    #[inline]
    pub(super) fn row(&self, key: &[u64]) -> &[u64] {
        let start = self.row_of(key[self.column]).wrapping_mul(self.stride);
        &self.words[start..][..self.stride]
    }

    /// The share of set bits in millionths, by a sample.
    pub(super) fn density(&self) -> u64 {
        // An odd step, to meet every column of a row.
        let step = (self.words.len() / 8192) | 1;
        let (mut ones, mut all) = (0u64, 0u64);
        for word in self.words.iter().step_by(step) {
            ones += u64::from(word.count_ones());
            all += 64;
        }
        ones * 1_000_000 / all.max(1)
    }

    pub(super) fn reset(&mut self, blocks: usize) {
        self.summary = blocks.div_ceil(64);
        self.stride = self.summary + blocks;
        self.words = vec![0; self.rows() * self.stride];
    }

    /// Writes the words of blocks that were empty, given the order in each place of all blocks.
    pub(super) fn fill(&mut self, orders: &[u64], blocks: Range<usize>, matches: Matches<'_>) {
        let rows = self.rows();
        // Eight blocks at a time: their words of one row lie side by side.
        let mut columns = vec![[0u64; 8]; rows + 1];
        for first in blocks.clone().step_by(8) {
            let some = first..(first + 8).min(blocks.end);
            columns.fill([0; 8]);
            for (column, block) in some.clone().enumerate() {
                self.words_of_block(&orders[block * 64..][..64], column, &mut columns, matches);
            }
            for (row, words) in columns[..rows].iter().enumerate() {
                let row = &mut self.words[row * self.stride..][..self.stride];
                let (summary, row) = row.split_at_mut(self.summary);
                for (block, &word) in some.clone().zip(words) {
                    row[block] = word;
                    summary[block / 64] |= u64::from(word != 0) << (block % 64);
                }
            }
        }
    }

    fn words_of_block(
        &self,
        places: &[u64],
        column: usize,
        columns: &mut [[u64; 8]],
        matches: Matches<'_>,
    ) {
        let taken = places.iter().enumerate();
        let taken = taken.filter(|&(_, &order)| order != NONE);
        let members = taken.map(|(bit, &order)| {
            let entry = matches.entry(order as u32);
            (1u64 << bit, self.span(entry))
        });
        let Some(width) = self.bits() else {
            // Where an entry's rows begin and end; then each row from the one before.
            for (entry, (first, last)) in members {
                columns[usize::from(first)][column] ^= entry;
                columns[usize::from(last) + 1][column] ^= entry;
            }
            for row in 1..columns.len() {
                columns[row][column] ^= columns[row - 1][column];
            }
            return;
        };
        let (mut zero, mut one, mut all) = ([0u64; 8], [0u64; 8], 0);
        for (entry, (value, mask)) in members {
            all |= entry;
            for bit in 0..width as usize {
                let (cares, is_one) = (mask >> bit & 1 == 1, value >> bit & 1 == 1);
                zero[bit] |= if cares && is_one { 0 } else { entry };
                one[bit] |= if cares && !is_one { 0 } else { entry };
            }
        }
        columns[0][column] = all;
        for bit in 0..width as usize {
            for row in 0..1 << bit {
                columns[row | 1 << bit][column] = columns[row][column] & one[bit];
                columns[row][column] &= zero[bit];
            }
        }
    }
}
