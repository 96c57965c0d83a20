//! Ternary, range and optional matching with priorities.
//!
//! Entries stand in blocks of 64. A *dimension* is a part of the key whose values fall into few rows, and has for each row
//! and block a word with one bit per entry: may it match such a value? A look-up takes one row of each dimension, and
//! the words of a block, and-ed, leave the entries that may match; those are compared in full. A *summary* has one bit per
//! block instead, so that blocks without any candidate are passed over 64 at a time. These are aggregated bit vectors
//! (Baboescu and Varghese, SIGCOMM 2001).
//!
//! Entries that are alike share a block (`cluster`), so that in most rule sets few blocks have candidates. No set of
//! rules can make it worse than one word per block and dimension; blocks with the best entries come first, and once an
//! entry is found, blocks that have only worse ones are not looked at.
//!
//! A new entry is put into the blocks that there are: a write costs no more than the rows it sets. When there are many
//! such entries the blocks are made anew, by the write, never by a packet.

mod cluster;
mod dimension;

use dimension::Dimension;

use super::exact::hash;

/// Sets of up to this many entries are compared one after the other.
const SMALL: usize = 8;

/// Dimensions used at most; the least selective ones are left out.
const DIMENSIONS: usize = 32;

/// Candidate blocks among 64 from which on they are looked at together.
const DENSE: u32 = 20;

/// No entry: later than any order.
const NONE: u64 = u64::MAX;

/// How a part of the key is compared. Entries have two words per column: value and mask, or the least and the greatest
/// value.
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

    #[inline]
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

/// The entries of a table: two words per column for each number.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Matches<'a> {
    pub(crate) words: &'a [u64],
    pub(crate) columns: usize,
}

impl<'a> Matches<'a> {
    #[inline]
    fn entry(self, number: u32) -> &'a [u64] {
        &self.words[number as usize * 2 * self.columns..][..2 * self.columns]
    }
}

/// What a look-up costs, in rows of eight words that are read.
trait Cost {
    fn add(&mut self, cost: usize);
}

/// A look-up of a packet, of which nobody asks.
struct Uncounted;

impl Cost for Uncounted {
    #[inline]
    fn add(&mut self, _: usize) {}
}

impl Cost for usize {
    fn add(&mut self, cost: usize) {
        *self += cost;
    }
}

/// What it costs to look at a single block, and to compare an entry.
const BLOCK_COST: usize = 5;
const COMPARE_COST: usize = 3;

/// Look-ups by which the better of two arrangements is found.
const TRIALS: usize = 64;

/// Blocks that are looked at together.
const TOGETHER: usize = 8;

/// What the words at `position` and `word` have in common.
#[inline]
fn common(rows: &[&[u64]], position: usize, mut word: u64) -> u64 {
    for four in rows.chunks(4) {
        for row in four {
            word &= row[position];
        }
        if word == 0 {
            break;
        }
    }
    word
}

#[derive(Debug, Default)]
pub(crate) struct Classifier {
    /// What to compare, what tells most first.
    tests: Vec<Test>,
    /// Mask of each column: the bits the field has in it.
    full: Vec<u64>,
    /// The orders of all entries, sorted, while there are few.
    few: Vec<u64>,
    /// The most selective first.
    dimensions: Vec<Dimension>,
    /// The order of the entry in each place, 64 places per block: the smaller wins; the low half is the entry's number.
    orders: Vec<u64>,
    /// The least order in each block, and in each block and all after it. Not greater than it is.
    best: Vec<u64>,
    best_from: Vec<u64>,
    /// Where each entry stands, by number.
    places: Vec<u32>,
    free: Vec<u32>,
    length: usize,
    /// Entries that came, and entries that went, since the blocks were made.
    added: usize,
    removed: usize,
}

impl Classifier {
    pub(crate) fn new(tests: Vec<Test>, full: Vec<u64>) -> Self {
        Self {
            tests,
            full,
            ..Self::default()
        }
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::new(
            std::mem::take(&mut self.tests),
            std::mem::take(&mut self.full),
        );
    }

    /// The number of the best entry that matches `key`.
    #[inline]
    pub(crate) fn lookup(&self, key: &[u64], matches: Matches<'_>) -> Option<u32> {
        if self.dimensions.is_empty() {
            let matched = |&&order: &&u64| self.matched(matches.entry(order as u32), key);
            return self.few.iter().find(matched).map(|&order| order as u32);
        }
        match self.search(key, matches, &mut Uncounted) {
            NONE => None,
            order => Some(order as u32),
        }
    }

    #[inline]
    fn matched(&self, entry: &[u64], key: &[u64]) -> bool {
        self.tests.iter().all(|test| test.holds(entry, key))
    }

    fn search(&self, key: &[u64], matches: Matches<'_>, cost: &mut impl Cost) -> u64 {
        let mut rows: [&[u64]; DIMENSIONS] = [&[]; DIMENSIONS];
        for (row, dimension) in rows.iter_mut().zip(&self.dimensions) {
            *row = dimension.row(key);
        }
        let rows = &rows[..self.dimensions.len().min(DIMENSIONS)];
        let summary = self.best.len().div_ceil(64);
        let mut found = NONE;
        for group in 0..summary {
            if self.best_from[group * 64] >= found {
                break;
            }
            let mut candidates = u64::MAX;
            for row in rows {
                candidates &= row[group];
            }
            if candidates == 0 {
                continue;
            }
            if candidates.count_ones() >= DENSE {
                for part in 0..64 / TOGETHER {
                    let start = group * 64 + part * TOGETHER;
                    if start >= self.best.len() || self.best_from[start] >= found {
                        break;
                    }
                    cost.add(rows.len());
                    self.search_dense(rows, start, key, matches, &mut found, cost);
                }
                continue;
            }
            while candidates != 0 {
                let block = group * 64 + candidates.trailing_zeros() as usize;
                candidates &= candidates - 1;
                if self.best[block] < found {
                    let word = common(rows, summary + block, u64::MAX);
                    cost.add(BLOCK_COST);
                    self.compare(block, word, key, matches, &mut found, cost);
                }
            }
        }
        found
    }

    /// Goes through some blocks of which many have candidates.
    fn search_dense(
        &self,
        rows: &[&[u64]],
        start: usize,
        key: &[u64],
        matches: Matches<'_>,
        found: &mut u64,
        cost: &mut impl Cost,
    ) {
        let from = self.best.len().div_ceil(64) + start;
        let mut words = [u64::MAX; TOGETHER];
        for four in rows.chunks(4) {
            for row in four {
                if let Some(row) = row
                    .get(from..)
                    .and_then(|row| row.first_chunk::<TOGETHER>())
                {
                    for (word, row) in words.iter_mut().zip(row) {
                        *word &= row;
                    }
                }
            }
            if words.iter().fold(0, |any, word| any | word) == 0 {
                return;
            }
        }
        for (block, &word) in (start..).zip(&words) {
            if word != 0 && self.best[block] < *found {
                self.compare(block, word, key, matches, found, cost);
            }
        }
    }

    /// Compares the candidates of one block in full.
    #[inline]
    fn compare(
        &self,
        block: usize,
        mut word: u64,
        key: &[u64],
        matches: Matches<'_>,
        found: &mut u64,
        cost: &mut impl Cost,
    ) {
        while word != 0 {
            let order = self.orders[block * 64 + word.trailing_zeros() as usize];
            word &= word - 1;
            cost.add(COMPARE_COST);
            if order < *found && self.matched(matches.entry(order as u32), key) {
                *found = order;
            }
        }
    }

    /// Adds the entry with this order; its words are in `matches` already.
    pub(crate) fn insert(&mut self, order: u64, matches: Matches<'_>) {
        self.length += 1;
        if self.dimensions.is_empty() {
            let at = self.few.partition_point(|&known| known < order);
            self.few.insert(at, order);
            if self.few.len() > SMALL {
                self.rebuild(matches);
            }
            return;
        }
        self.added += 1;
        if self.free.is_empty() || self.added > 64 + self.length / 4 {
            self.note(order, None);
            self.rebuild(matches);
            return;
        }
        let place = self.free.pop().unwrap_or_default();
        self.note(order, Some(place));
        let entry = matches.entry(order as u32);
        for dimension in &mut self.dimensions {
            dimension.set(entry, place as usize, true);
        }
        let block = place as usize / 64;
        self.best[block] = self.best[block].min(order);
        for best in self.best_from[..=block].iter_mut().rev() {
            if *best <= order {
                break;
            }
            *best = order;
        }
    }

    /// Remembers where an entry stands; without a place it only waits for the next making of blocks.
    fn note(&mut self, order: u64, place: Option<u32>) {
        match place {
            Some(place) => {
                let number = order as u32 as usize;
                if self.places.len() <= number {
                    self.places.resize(number + 1, 0);
                }
                self.places[number] = place;
                self.orders[place as usize] = order;
            }
            None => self.orders.push(order),
        }
    }

    /// Removes the entry with this order; its words are still in `matches`.
    pub(crate) fn remove(&mut self, order: u64, matches: Matches<'_>) {
        self.length = self.length.saturating_sub(1);
        if self.dimensions.is_empty() {
            self.few.retain(|&known| known != order);
            return;
        }
        self.removed += 1;
        let number = order as u32;
        let place = self.places[number as usize];
        self.orders[place as usize] = NONE;
        let entry = matches.entry(number);
        for dimension in &mut self.dimensions {
            dimension.set(entry, place as usize, false);
        }
        self.free.push(place);
        if self.removed > 64 + self.length {
            self.rebuild(matches);
        }
    }

    /// Makes the blocks anew if there are more new entries in them than look-ups should put up with.
    pub(crate) fn settle(&mut self, matches: Matches<'_>) {
        if self.added > 8 + self.length / 32 {
            self.rebuild(matches);
        }
    }

    /// Makes dimensions and blocks for the entries as they are.
    fn rebuild(&mut self, matches: Matches<'_>) {
        let mut orders = std::mem::take(&mut self.orders);
        orders.append(&mut self.few);
        orders.retain(|&order| order != NONE);
        orders.sort_unstable();
        (self.added, self.removed) = (0, 0);
        self.free.clear();
        self.dimensions.clear();
        if orders.len() <= SMALL {
            self.few = orders;
            self.best = Vec::new();
            self.best_from = Vec::new();
            return;
        }
        let dimensions = dimension::choose(&self.tests, &self.full, &orders, matches);
        let clusters = cluster::blocks(&dimensions, &orders, matches);
        if let Some(clusters) = clusters {
            // Blocks of entries that are alike, or best entries first?
            let mut other = Self::new(self.tests.clone(), self.full.clone());
            other.length = self.length;
            other.arrange(clusters, dimensions.clone(), matches);
            let ranked = orders.chunks(64).map(<[u64]>::to_vec).collect();
            self.arrange(ranked, dimensions, matches);
            if other.cost(&orders, matches) < self.cost(&orders, matches) {
                *self = other;
            }
        } else {
            let ranked = orders.chunks(64).map(<[u64]>::to_vec).collect();
            self.arrange(ranked, dimensions, matches);
        }
    }

    /// What look-ups cost, by trial: of values that entries match, of values from several entries, and of any values.
    fn cost(&self, orders: &[u64], matches: Matches<'_>) -> usize {
        let mut cost = 0;
        let mut key = vec![0; self.full.len()];
        for trial in 0..TRIALS {
            for (column, value) in key.iter_mut().enumerate() {
                let stray = if trial % 4 == 0 { 0 } else { column + 1 };
                let place =
                    (trial * orders.len() / TRIALS + stray * orders.len() / 7) % orders.len();
                let entry = matches.entry(orders[place] as u32);
                let (first, second) = (entry[2 * column], entry[2 * column + 1]);
                // Bits that are not cared for are taken from some number; of a range the middle.
                let some = hash(&[trial as u64, column as u64]) as u64 & self.full[column];
                let ranged =
                    |test: &Test| test.column() == column && matches!(test, Test::Range { .. });
                *value = if trial % 4 == 3 {
                    some
                } else if self.tests.iter().any(ranged) {
                    first + (second - first) / 2
                } else {
                    first | (some & !second)
                };
            }
            self.search(&key, matches, &mut cost);
        }
        cost
    }

    /// Puts the entries into blocks, each sorted, the blocks in the order of their first entries.
    fn arrange(
        &mut self,
        blocks: Vec<Vec<u64>>,
        mut dimensions: Vec<Dimension>,
        matches: Matches<'_>,
    ) {
        // Room for what comes before the next time.
        let room = (blocks.len() + blocks.len() / 4 + 2).next_multiple_of(TOGETHER);
        self.orders = vec![NONE; room * 64];
        self.best = vec![NONE; room];
        for (block, members) in blocks.iter().enumerate() {
            self.best[block] = members.first().copied().unwrap_or(NONE);
            self.orders[block * 64..][..members.len()].copy_from_slice(members);
        }
        self.best_from = self.best.clone();
        for block in (1..room).rev() {
            self.best_from[block - 1] = self.best_from[block - 1].min(self.best_from[block]);
        }
        let numbers = self.orders.iter().filter(|&&order| order != NONE);
        let numbers = numbers.map(|&order| order as u32 as usize + 1);
        self.places = vec![0; numbers.max().unwrap_or(0)];
        self.free.clear();
        // New entries go together, after those that are in the order of the clusters.
        let used = blocks.len() * 64;
        for (place, &order) in self.orders.iter().enumerate().rev() {
            if order != NONE {
                self.places[order as u32 as usize] = place as u32;
            } else if place >= used {
                self.free.push(place as u32);
            }
        }
        for dimension in &mut dimensions {
            dimension.fill(&self.orders, matches);
        }
        dimensions.sort_by_key(Dimension::density);
        dimensions.truncate(DIMENSIONS);
        let position = |test: &Test| {
            let position = |dimension: &Dimension| dimension.column() == test.column();
            dimensions.iter().position(position).unwrap_or(usize::MAX)
        };
        self.tests.sort_by_key(position);
        self.dimensions = dimensions;
    }
}
