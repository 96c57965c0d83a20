//! Dimensions: a part of the key, the rows of its values, and the bit vectors of the rows.

use std::hint::select_unpredictable;
use std::ops::Range;

use super::batch::TOGETHER;
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

/// Bits of a dimension of bits: the more, the fewer rows a look-up reads, but all take memory.
fn bits_width(entries: usize) -> u32 {
    if entries <= 16_384 { 8 } else { 4 }
}

/// Which row a value falls into.
#[derive(Debug, Clone)]
enum Rows {
    Intervals(Intervals),
    /// So many of its bits.
    Bits {
        shift: u32,
        width: u32,
    },
}

/// Rows that end where the next begins. Buckets of equal width tell about how many begin up to a
/// value, a binary search of fixed length without branches, which could not be predicted, the rest.
#[derive(Debug, Clone)]
struct Intervals {
    /// Sorted, without the first row's; padded for the search.
    starts: Vec<u64>,
    count: usize,
    /// The starts that are not above the beginning of each bucket.
    before: Vec<u16>,
    /// Where the buckets begin, and the logarithm of their width.
    low: u64,
    shift: u32,
    /// The first step of the search: half of what holds the starts within any bucket.
    half: usize,
}

impl Intervals {
    fn new(mut starts: Vec<u64>) -> Self {
        let count = starts.len();
        let buckets = count.next_power_of_two().max(16) * 2;
        let (first, last) = (
            starts.first().copied().unwrap_or(0),
            starts.last().copied().unwrap_or(0),
        );
        // One bucket stays for the values before the first start.
        let span = (last - first) / (buckets as u64 - 1);
        let shift = u64::BITS - span.leading_zeros();
        let low = first.saturating_sub(1 << shift);
        let mut before = vec![0u16];
        let mut most = 0;
        for bucket in 1..buckets as u64 {
            let begin = low.saturating_add(bucket.saturating_mul(1 << shift));
            let known = before[before.len() - 1];
            let here = starts.partition_point(|&start| start <= begin) as u16;
            let above = starts.partition_point(|&start| start < begin) as u16;
            most = most.max(above.saturating_sub(known));
            before.push(here);
        }
        most = most.max(count as u16 - before[before.len() - 1]);
        let size = (usize::from(most) + 1).next_power_of_two();
        starts.resize(count + size, u64::MAX);
        Self {
            starts,
            count,
            before,
            low,
            shift,
            half: size / 2,
        }
    }

    #[inline(always)]
    fn row_of(&self, value: u64) -> usize {
        let bucket = (value.saturating_sub(self.low) >> self.shift) as usize;
        let mut row = usize::from(self.before[bucket.min(self.before.len() - 1)]);
        let mut half = self.half;
        while half > 0 {
            let middle = self.starts[row + half - 1];
            row += select_unpredictable(middle <= value, half, 0);
            half /= 2;
        }
        row.min(self.count)
    }

    /// Whether rows begin at `low` and after `high`.
    fn part(&self, low: u64, high: u64, full: u64) -> bool {
        let starts = &self.starts[..self.count];
        (low == 0 || starts.binary_search(&low).is_ok())
            && (high == full || starts.binary_search(&(high + 1)).is_ok())
    }
}

/// The words of [`TOGETHER`] blocks, in one line of the processor's cache.
#[derive(Debug, Clone, Copy, Default)]
#[repr(align(64))]
pub(super) struct Part(pub(super) [u64; TOGETHER]);

/// The bits of a row: one per block, and one per entry.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Row<'a> {
    pub(super) summary: &'a [u64],
    pub(super) parts: &'a [Part],
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
    /// Words of a row's summary.
    summary: usize,
    summaries: Vec<u64>,
    /// Parts of a row.
    length: usize,
    parts: Vec<Part>,
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
                summary: 0,
                summaries: Vec::new(),
                length: 0,
                parts: Vec::new(),
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
                        ..dimension.clone()
                    });
                }
                continue;
            }
            let intervals = orders.iter().map(|order| dimension.interval(entry(order)));
            let starts = starts(intervals, full[column], most_rows(orders.len(), used));
            if starts.is_empty() {
                continue;
            }
            dimension.rows = Rows::Intervals(Intervals::new(starts));
            dimensions.push(dimension);
        }
    }
    if dimensions.is_empty() {
        // All entries match everything: one row will do.
        dimensions.push(Dimension {
            column: 0,
            rows: Rows::Intervals(Intervals::new(Vec::new())),
            masked: matches!(tests.first(), Some(Test::Masked { .. })),
            above: 0,
            full: full.first().copied().unwrap_or(0),
            summary: 0,
            summaries: Vec::new(),
            length: 0,
            parts: Vec::new(),
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

    #[inline(always)]
    fn row_of(&self, value: u64) -> usize {
        match &self.rows {
            Rows::Bits { shift, width } => (value >> shift & ((1 << width) - 1)) as usize,
            Rows::Intervals(intervals) => intervals.row_of(value),
        }
    }

    pub(super) fn rows(&self) -> usize {
        match &self.rows {
            Rows::Bits { width, .. } => 1 << width,
            Rows::Intervals(intervals) => intervals.count + 1,
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
            Rows::Intervals(_) => {
                let (low, high) = self.interval(entry);
                (self.row_of(low) as u16, self.row_of(high) as u16)
            }
        }
    }

    pub(super) fn bits(&self) -> Option<u32> {
        match self.rows {
            Rows::Bits { width, .. } => Some(width),
            Rows::Intervals(_) => None,
        }
    }

    /// The bits of the column that rows stand for: entries with a bit in a row match all its values
    /// as far as these bits go.
    pub(super) fn stands_for(&self, entry: &[u64]) -> u64 {
        match &self.rows {
            Rows::Bits { shift, width } => ((1 << width) - 1) << shift,
            Rows::Intervals(intervals) => {
                let (low, high) = self.interval(entry);
                let exact = self.above == 0 && intervals.part(low, high, self.full);
                if exact { u64::MAX } else { 0 }
            }
        }
    }

    /// The row that the key falls into.
    #[inline(always)]
    pub(super) fn row(&self, key: &[u64]) -> Row<'_> {
        let row = self.row_of(key[self.column]);
        Row {
            summary: &self.summaries[row * self.summary..][..self.summary],
            parts: &self.parts[row * self.length..][..self.length],
        }
    }

    /// The first part of the row that the key falls into.
    #[inline(always)]
    pub(super) fn first_part(&self, key: &[u64]) -> Part {
        self.parts[self.row_of(key[self.column]) * self.length]
    }

    /// The share of set bits in millionths, by a sample.
    pub(super) fn density(&self) -> u64 {
        // An odd step, to meet every column of a row.
        let words = self.parts.len() * TOGETHER;
        let step = (words / 8192) | 1;
        let (mut ones, mut all) = (0u64, 0u64);
        for word in (0..words).step_by(step) {
            ones += u64::from(self.parts[word / TOGETHER].0[word % TOGETHER].count_ones());
            all += 64;
        }
        ones * 1_000_000 / all.max(1)
    }

    pub(super) fn reset(&mut self, blocks: usize) {
        self.summary = blocks.div_ceil(64);
        self.summaries = vec![0; self.rows() * self.summary];
        self.length = blocks.div_ceil(TOGETHER);
        self.parts = vec![Part::default(); self.rows() * self.length];
    }

    /// Writes the words of blocks that were empty, given the order in each place of all blocks.
    pub(super) fn fill(&mut self, orders: &[u64], blocks: Range<usize>, matches: Matches<'_>) {
        let rows = self.rows();
        let mut columns = vec![[0u64; TOGETHER]; rows + 1];
        for part in blocks.start / TOGETHER..blocks.end.div_ceil(TOGETHER) {
            let start = part * TOGETHER;
            let some = blocks.start.max(start)..blocks.end.min(start + TOGETHER);
            columns.fill([0; TOGETHER]);
            for block in some.clone() {
                let places = &orders[block * 64..][..64];
                self.words_of_block(places, block - start, &mut columns, matches);
            }
            for (row, words) in columns[..rows].iter().enumerate() {
                let summary = &mut self.summaries[row * self.summary + start / 64];
                let line = &mut self.parts[row * self.length + part].0;
                for block in some.clone() {
                    let word = words[block - start];
                    line[block - start] = word;
                    *summary |= u64::from(word != 0) << (block % 64);
                }
            }
        }
    }

    fn words_of_block(
        &self,
        places: &[u64],
        column: usize,
        columns: &mut [[u64; TOGETHER]],
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
