use std::ops::Range;

use super::batch::TOGETHER;
use super::compare::{Matches, NONE, Test};
use super::dimension::{self, Dimension};
use super::{Classifier, DIMENSIONS, SMALL, WAITS, cluster};
use crate::state::tables::exact::hash;

/// About the most entries with which the two arrangements are tried.
const SAMPLE: usize = 8192;

/// Look-ups by which the better of two arrangements is found.
const TRIALS: usize = 64;

impl Classifier {
    pub(super) fn rebuild(&mut self, matches: Matches<'_>) {
        let mut orders = std::mem::take(&mut self.orders);
        orders.append(&mut self.few);
        orders.retain(|&order| order != NONE);
        orders.sort_unstable();
        (self.added, self.removed) = (0, 0);
        self.dimensions.clear();
        if orders.len() <= SMALL {
            self.places.fill(WAITS);
            self.few = orders;
            self.best = Vec::new();
            self.best_from = Vec::new();
            return;
        }
        let clustered = self.is_better_clustered(&orders, matches);
        if !self.arrange(&orders, clustered, matches) {
            self.arrange(&orders, false, matches);
        }
    }

    /// Whether clustering is better. A trial takes twice as long as the arrangement itself, so the
    /// result holds until there are twice as many entries, or half.
    fn is_better_clustered(&mut self, orders: &[u64], matches: Matches<'_>) -> bool {
        let now = orders.len();
        if let Some((clustered, then)) = self.tried
            && now < 2 * then
            && then < 2 * now
        {
            return clustered;
        }
        let step = now.div_ceil(SAMPLE);
        let sample: Vec<u64> = orders.iter().copied().step_by(step).collect();
        let by_cluster = self.cost(&sample, true, matches);
        let clustered = by_cluster.is_some() && by_cluster < self.cost(&sample, false, matches);
        self.tried = Some((clustered, now));
        clustered
    }

    /// The cost of look-ups in one arrangement; `None` if no dimension tells the entries apart.
    fn cost(&self, orders: &[u64], clustered: bool, matches: Matches<'_>) -> Option<usize> {
        let mut trial = Self::new(self.tests.clone(), self.full.clone());
        trial.cared = self.cared;
        let arranged = trial.arrange(orders, clustered, matches);
        arranged.then(|| trial.trials(orders, matches))
    }

    /// The cost of trial look-ups, with values that match an entry, of several entries, or any.
    fn trials(&self, orders: &[u64], matches: Matches<'_>) -> usize {
        let mut cost = 0;
        let mut key = vec![0; self.full.len()];
        for trial in 0..TRIALS {
            for (column, value) in key.iter_mut().enumerate() {
                let stray = if trial % 4 == 0 { 0 } else { column + 1 };
                let place =
                    (trial * orders.len() / TRIALS + stray * orders.len() / 7) % orders.len();
                let entry = matches.entry(orders[place] as u32);
                let (first, second) = (entry[2 * column], entry[2 * column + 1]);
                // Bits without a condition come from some number; a range gives its middle.
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
            self.search::<DIMENSIONS>(&key, matches, NONE, &mut cost);
        }
        cost
    }

    /// Puts entries into blocks, like ones together or best first. False, unchanged, if none are
    /// alike.
    fn arrange(&mut self, orders: &[u64], clustered: bool, matches: Matches<'_>) -> bool {
        let mut dimensions = dimension::choose(&self.tests, &self.full, orders, matches);
        let blocks: Vec<Vec<u64>> = if clustered {
            match cluster::blocks(&dimensions, orders, matches) {
                Some(blocks) => blocks,
                None => return false,
            }
        } else {
            orders.chunks(64).map(<[u64]>::to_vec).collect()
        };
        // Room for entries that come before the next rebuild.
        self.used = blocks.len();
        let room = (blocks.len() + blocks.len() / 2 + 2).next_multiple_of(TOGETHER);
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
        self.places = vec![WAITS; numbers.max().unwrap_or(0)];
        for (place, &order) in self.orders.iter().enumerate() {
            if order != NONE {
                self.places[order as u32 as usize] = place as u32;
            }
        }
        for dimension in &mut dimensions {
            dimension.reset(room);
            dimension.fill(&self.orders, 0..room, matches);
        }
        dimensions.sort_by_key(Dimension::density);
        dimensions.truncate(DIMENSIONS);
        self.dimensions = dimensions;
        self.open.clear();
        self.find_open(0..room, matches);
        true
    }

    /// Notes the tests of entries in these blocks for which rows do not stand.
    pub(super) fn find_open(&mut self, blocks: Range<usize>, matches: Matches<'_>) {
        for &test in &self.tests[..self.cared] {
            if self.open.contains(&test) {
                continue;
            }
            let of_test = |dimension: &&Dimension| dimension.column() == test.column();
            let dimensions: Vec<&Dimension> = self.dimensions.iter().filter(of_test).collect();
            let orders = &self.orders[blocks.start * 64..blocks.end * 64];
            let implied = orders.iter().filter(|&&order| order != NONE).all(|&order| {
                let entry = matches.entry(order as u32);
                let stands = |bits, dimension: &&Dimension| bits | dimension.stands_for(entry);
                let stand = dimensions.iter().fold(0, stands);
                let wide = matches!(test, Test::Wide { .. });
                !wide && test.cares(entry, &self.full) & !stand == 0
            });
            if !implied {
                self.open.push(test);
            }
        }
        let position = |test: &Test| {
            let position = |dimension: &Dimension| dimension.column() == test.column();
            let position = self.dimensions.iter().position(position);
            position.unwrap_or(usize::MAX)
        };
        self.open.sort_by_key(position);
    }
}
