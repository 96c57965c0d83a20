//! Ternary, range and optional matching with priorities, by aggregated bit vectors (Baboescu and
//! Varghese, SIGCOMM 2001).
//!
//! Entries stand in blocks of 64. A *dimension* is a part of the key whose values fall into few
//! rows; a row has a bit per entry: may it match such a value? A look-up takes one row of each
//! dimension; the words of a block, and-ed, leave the candidates, which are compared in full. A
//! *summary* has one bit per block, to skip 64 blocks without candidates at a time.
//!
//! Entries that are alike share a block (`cluster`), so in most rule sets few blocks have
//! candidates; no set takes more than one word per block and dimension. Blocks with the best
//! entries come first; once an entry is found, blocks with only worse ones are skipped.
//!
//! Where rows begin and end as entries do, a bit says all about that part of the key, and only the
//! other tests are made. Up to 512 entries lie in one line of each row, which is read at once.
//!
//! New entries wait in a list that every look-up goes through, until they fill a block. When there
//! is no room for further blocks, a write makes all anew, never a packet.

mod arrange;
mod batch;
mod cluster;
mod compare;
mod dimension;

use std::ops::Range;

use batch::{Batch, PARTS, TOGETHER, and};
use compare::{NONE, holds};
use dimension::{Dimension, Part, Row};

pub(crate) use compare::{Matches, Test};

/// Sets of up to this many entries are compared one after the other.
const SMALL: usize = 8;

/// Dimensions used at most; the least selective ones are left out.
const DIMENSIONS: usize = 32;

/// Dimensions that suffice for most tables.
const FEW_DIMENSIONS: usize = 4;

/// Candidate blocks among 64 from which on they are searched together.
const DENSE: u32 = 20;
const DENSE_MANY: u32 = 4;

/// The place of an entry that is in no block yet.
const WAITS: u32 = u32::MAX;

/// The cost of a look-up, in rows of eight words that are read.
trait Cost {
    fn add(&mut self, cost: usize);
}

/// For packets: only trials count the cost.
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

/// The cost of looking at a single block, and of comparing an entry.
const BLOCK_COST: usize = 5;
const COMPARE_COST: usize = 3;

/// With more dimensions, the processor cannot predict when a block loses its last candidate.
const MANY: usize = 8;

#[derive(Debug, Default)]
pub(crate) struct Classifier {
    /// The comparisons; the first `cared` matter to some entry.
    tests: Vec<Test>,
    cared: usize,
    /// Those of them that the rows leave open, the most selective first.
    open: Vec<Test>,
    /// Mask of each column: the bits the field has in it.
    full: Vec<u64>,
    /// Orders of entries in no block, sorted: all while there are few, then the newest.
    few: Vec<u64>,
    /// The most selective first.
    dimensions: Vec<Dimension>,
    /// The order per place, 64 places per block: the least wins; its low half is the number.
    orders: Vec<u64>,
    /// Lower bounds of the orders in each block, and in each block and all after it.
    best: Vec<u64>,
    best_from: Vec<u64>,
    /// Where each entry stands, by number; [`WAITS`] in no block.
    places: Vec<u32>,
    /// Blocks that have entries; those after them are empty.
    used: usize,
    length: usize,
    /// Entries added and removed since the blocks were made.
    added: usize,
    removed: usize,
    /// Whether clustering was better by trial, and of how many entries.
    tried: Option<(bool, usize)>,
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

    #[inline(always)]
    pub(crate) fn lookup(&self, key: &[u64], matches: Matches<'_>) -> Option<u32> {
        let tests = &self.tests[..self.cared];
        let mut found = NONE;
        for &order in &self.few {
            if holds(tests, matches.entry(order as u32), key) {
                found = order;
                break;
            }
        }
        if !self.dimensions.is_empty() {
            found = if self.used <= TOGETHER {
                self.search_only_part(key, matches, found)
            } else if self.dimensions.len() <= FEW_DIMENSIONS {
                self.search::<FEW_DIMENSIONS>(key, matches, found, &mut Uncounted)
            } else if self.dimensions.len() <= MANY {
                self.search::<MANY>(key, matches, found, &mut Uncounted)
            } else {
                self.search::<DIMENSIONS>(key, matches, found, &mut Uncounted)
            };
        }
        (found != NONE).then_some(found as u32)
    }

    /// The numbers of all entries that match, the best first.
    pub(crate) fn all(&self, key: &[u64], matches: Matches<'_>, found: &mut Vec<u32>) {
        let tests = &self.tests[..self.cared];
        let matching = |order: &u64| holds(tests, matches.entry(*order as u32), key);
        let mut orders: Vec<u64> = self.few.iter().copied().filter(matching).collect();
        let rows: Vec<Row<'_>> = (self.dimensions.iter())
            .map(|dimension| dimension.row(key))
            .collect();
        for block in 0..if rows.is_empty() { 0 } else { self.used } {
            let (part, at) = (block / TOGETHER, block % TOGETHER);
            let row = |word, row: &Row<'_>| word & row.parts[part].0[at];
            let mut word = rows.iter().fold(u64::MAX, row);
            while word != 0 {
                let order = self.orders[block * 64 + word.trailing_zeros() as usize];
                word &= word - 1;
                // Entries that were removed left their bits.
                if order != NONE && matching(&order) {
                    orders.push(order);
                }
            }
        }
        orders.sort_unstable();
        found.extend(orders.iter().map(|order| *order as u32));
    }

    /// As [`Classifier::search`], when there is a single part.
    #[inline(always)]
    fn search_only_part(&self, key: &[u64], matches: Matches<'_>, mut found: u64) -> u64 {
        let mut words = Part([u64::MAX; TOGETHER]);
        for dimension in &self.dimensions {
            words = and(words, dimension.first_part(key));
        }
        for (block, &word) in words.0.iter().enumerate().take(self.used) {
            if word != 0 {
                self.compare(block, word, key, matches, &mut found, &mut Uncounted);
            }
        }
        found
    }

    /// The order of the best entry of a block that matches, if it comes before `found`. `MOST`
    /// bounds the dimensions: rows for absent ones would cost a small table more than the search.
    #[inline(always)]
    fn search<const MOST: usize>(
        &self,
        key: &[u64],
        matches: Matches<'_>,
        mut found: u64,
        cost: &mut impl Cost,
    ) -> u64 {
        let mut rows = [Row::default(); MOST];
        for (row, dimension) in rows.iter_mut().zip(&self.dimensions) {
            *row = dimension.row(key);
        }
        let rows = &rows[..self.dimensions.len().min(MOST)];
        for group in 0..self.used.div_ceil(64) {
            if self.best_from[group * 64] >= found {
                break;
            }
            let mut candidates = u64::MAX;
            for row in rows {
                candidates &= row.summary[group];
            }
            if candidates == 0 {
                continue;
            }
            let dense = if rows.len() > MANY { DENSE_MANY } else { DENSE };
            if candidates.count_ones() >= dense {
                let parts = group * PARTS..self.used.div_ceil(TOGETHER).min((group + 1) * PARTS);
                if rows.len() > MANY {
                    self.search_batch(rows, parts, candidates, key, matches, &mut found, cost);
                    continue;
                }
                for part in parts {
                    if self.best_from[part * TOGETHER] >= found {
                        break;
                    }
                    cost.add(rows.len());
                    self.search_part(rows, part, key, matches, &mut found, cost);
                }
                continue;
            }
            while candidates != 0 {
                let block = group * 64 + candidates.trailing_zeros() as usize;
                candidates &= candidates - 1;
                if self.best[block] < found {
                    let (part, at) = (block / TOGETHER, block % TOGETHER);
                    let mut word = u64::MAX;
                    for four in rows.chunks(4) {
                        word = four
                            .iter()
                            .fold(word, |word, row| word & row.parts[part].0[at]);
                        if word == 0 {
                            break;
                        }
                    }
                    cost.add(BLOCK_COST);
                    self.compare(block, word, key, matches, &mut found, cost);
                }
            }
        }
        found
    }

    /// Searches the blocks of a part, many of which have candidates.
    #[inline(always)]
    fn search_part(
        &self,
        rows: &[Row<'_>],
        part: usize,
        key: &[u64],
        matches: Matches<'_>,
        found: &mut u64,
        cost: &mut impl Cost,
    ) {
        let all = Part([u64::MAX; TOGETHER]);
        let words = rows
            .iter()
            .fold(all, |words, row| and(words, row.parts[part]));
        for (block, &word) in (part * TOGETHER..).zip(&words.0) {
            if word != 0 && self.best[block] < *found {
                self.compare(block, word, key, matches, found, cost);
            }
        }
    }

    /// Searches the parts that have candidates, all at once, but for the very first one, because
    /// the best entries are there.
    #[inline(always)]
    #[expect(clippy::too_many_arguments)]
    fn search_batch(
        &self,
        rows: &[Row<'_>],
        mut parts: Range<usize>,
        candidates: u64,
        key: &[u64],
        matches: Matches<'_>,
        found: &mut u64,
        cost: &mut impl Cost,
    ) {
        if parts.start == 0 {
            cost.add(rows.len());
            self.search_part(rows, 0, key, matches, found, cost);
            parts.start = 1;
        }
        if parts.is_empty() || self.best_from[parts.start * TOGETHER] >= *found {
            return;
        }
        let mut batch = Batch {
            parts: [0; PARTS],
            words: [Part([u64::MAX; TOGETHER]); PARTS],
            count: 0,
        };
        for part in parts {
            batch.parts[batch.count] = part;
            let some = candidates >> (part % PARTS * TOGETHER) & ((1 << TOGETHER) - 1) != 0;
            batch.count += usize::from(some);
        }
        for four in rows.chunks(4) {
            cost.add(batch.count * four.len());
            // Repeating the last one does no harm.
            let row = |at: usize| four[at.min(four.len() - 1)].parts;
            batch.narrow([row(0), row(1), row(2), row(3)]);
            if batch.count == 0 {
                return;
            }
        }
        for (&part, words) in batch.parts.iter().zip(&batch.words).take(batch.count) {
            for (block, &word) in (part * TOGETHER..).zip(&words.0) {
                if word != 0 && self.best[block] < *found {
                    self.compare(block, word, key, matches, found, cost);
                }
            }
        }
    }

    /// Finds the best of a block's candidates that matches, if it comes before `found`.
    #[inline(always)]
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
            // Entries that were removed left their bits.
            if order == NONE {
                continue;
            }
            if order >= *found {
                return;
            }
            if holds(&self.open, matches.entry(order as u32), key) {
                *found = order;
                return;
            }
        }
    }

    /// Adds the entry with this order; its words are in `matches` already.
    pub(crate) fn insert(&mut self, order: u64, matches: Matches<'_>) {
        self.length += 1;
        let entry = matches.entry(order as u32);
        for at in self.cared..self.tests.len() {
            if self.tests[at].cares(entry, &self.full) != 0 {
                self.tests.swap(at, self.cared);
                self.cared += 1;
            }
        }
        let at = self.few.partition_point(|&known| known < order);
        self.few.insert(at, order);
        let number = order as u32 as usize;
        if self.places.len() <= number {
            self.places.resize(number + 1, WAITS);
        }
        self.places[number] = WAITS;
        if self.dimensions.is_empty() {
            if self.few.len() > SMALL {
                self.rebuild(matches);
            }
            return;
        }
        self.added += 1;
        if self.few.len() >= 64 {
            self.fill_block(matches);
        }
    }

    fn fill_block(&mut self, matches: Matches<'_>) {
        let block = self.used;
        if block >= self.best.len() {
            self.rebuild(matches);
            return;
        }
        self.used += 1;
        for (place, order) in (block * 64..).zip(self.few.drain(..)) {
            self.orders[place] = order;
            self.places[order as u32 as usize] = place as u32;
        }
        for dimension in &mut self.dimensions {
            dimension.fill(&self.orders, block..block + 1, matches);
        }
        self.find_open(block..block + 1, matches);
        let best = self.orders[block * 64];
        self.best[block] = best;
        for least in self.best_from[..=block].iter_mut().rev() {
            if *least <= best {
                break;
            }
            *least = best;
        }
    }

    /// Removes the entry with this order. Its bits stay until the next rebuild, at little cost.
    pub(crate) fn remove(&mut self, order: u64, matches: Matches<'_>) {
        self.length = self.length.saturating_sub(1);
        match self.places.get(order as u32 as usize) {
            Some(&WAITS) | None => self.few.retain(|&known| known != order),
            Some(&place) => {
                self.orders[place as usize] = NONE;
                self.removed += 1;
                if self.removed > 64 + self.length {
                    self.rebuild(matches);
                }
            }
        }
    }

    /// Makes the blocks anew if too many of their entries are new.
    pub(crate) fn settle(&mut self, matches: Matches<'_>) {
        if self.dimensions.is_empty() {
            return;
        }
        // A single block costs little.
        let single = self.added > 0 && self.length <= 64;
        if single || self.added > 8 + self.length / 32 {
            self.rebuild(matches);
        } else if self.few.len() > 2 * SMALL {
            self.fill_block(matches);
        }
    }
}
