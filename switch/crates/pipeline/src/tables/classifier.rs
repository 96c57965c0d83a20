//! Ternary, range and optional matching with priorities.
//!
//! Every entry is a box: one interval per key field (under a mask, from the least to the greatest value that matches).
//! A binary tree whose inner nodes cut one field in two leads a lookup to a handful of entries, and those are compared in
//! full. An entry that a cut goes through is needed on both sides; so that open fields do not cause copies without end,
//! there is one tree per field for the entries that are narrow in it (the field that tells most entries apart takes them
//! first), and copies are limited. The tree is HyperSplit (Qi et al., INFOCOM 2009), trees by narrow fields are EffiCuts'
//! (Vamanan et al., SIGCOMM 2010), both in their simplest form. Trees only narrow down: the full comparison decides.

use std::collections::BTreeSet;

use super::Check;

/// Cuts from the root at most: far more than halving needs, few enough to recurse.
const DEPTH: u32 = 64;

/// Entries a leaf may hold before it is cut further.
const LEAF: usize = 8;

/// An interval is narrow in a field if this many of its size, or more, fit.
const NARROW: u128 = 16;

/// Copies of entries the cuts may make, as a multiple of the entries there are.
const COPIES: usize = 8;

#[derive(Debug, Default)]
pub(crate) struct Classifier {
    fields: usize,
    /// Entry numbers of the table, best first. A position in here is a rank: the smaller the better.
    ranked: Vec<u32>,
    /// `fields` checks per rank.
    checks: Vec<Check>,
    nodes: Vec<Node>,
    leaves: Vec<u32>,
    /// Root of each tree and the best rank in it, best first.
    trees: Vec<(u32, u32)>,
}

#[derive(Debug, Clone, Copy)]
enum Node {
    /// Values up to `at` are on the left.
    Cut {
        field: u32,
        at: u128,
        left: u32,
        right: u32,
    },
    Leaf {
        start: u32,
        end: u32,
    },
}

type Interval = (u128, u128);

impl Classifier {
    /// Builds the trees over `entries` (number in the table and one check per field), given best first; `bits` is the
    /// width of each field.
    pub(crate) fn build<'a>(
        bits: &[u32],
        entries: impl Iterator<Item = (u32, &'a [Check])>,
    ) -> Self {
        let mut classifier = Self {
            fields: bits.len(),
            ..Self::default()
        };
        for (number, checks) in entries {
            classifier.ranked.push(number);
            classifier.checks.extend_from_slice(checks);
        }
        let bounds: Vec<Interval> = bits
            .iter()
            .map(|&bits| (0, crate::bits::mask_double(bits)))
            .collect();
        for ranks in classifier.groups(&bounds) {
            let Some(&best) = ranks.first() else { continue };
            let copies = ranks.len() * COPIES;
            let root = classifier.grow(ranks, &bounds, &mut bounds.clone(), copies, 0);
            classifier.trees.push((root, best));
        }
        classifier.trees.sort_by_key(|&(_, best)| best);
        classifier
    }

    /// Which entries share a tree.
    fn groups(&self, bounds: &[Interval]) -> Vec<Vec<u32>> {
        let narrow = |rank: u32, field: usize| {
            let (low, high) = self.interval(rank, field, bounds);
            low == high || high - low < bounds[field].1 / NARROW
        };
        let mut rest: Vec<u32> = (0..self.ranked.len() as u32).collect();
        let mut groups = Vec::new();
        while rest.len() > LEAF {
            let distinct = |field: usize| -> usize {
                let intervals = rest.iter().filter(|&&rank| narrow(rank, field));
                intervals
                    .map(|&rank| self.interval(rank, field, bounds))
                    .collect::<BTreeSet<_>>()
                    .len()
            };
            let most = (0..self.fields)
                .map(|field| (distinct(field), std::cmp::Reverse(field)))
                .max();
            let Some((2.., std::cmp::Reverse(field))) = most else {
                break;
            };
            let (taken, left) = rest.into_iter().partition(|&rank| narrow(rank, field));
            groups.push(taken);
            rest = left;
        }
        groups.push(rest);
        groups
    }

    /// The number of the best entry that matches `key`.
    pub(crate) fn lookup(&self, key: &[u128]) -> Option<u32> {
        let mut found = u32::MAX;
        for &(root, best) in &self.trees {
            if best >= found {
                break;
            }
            let mut node = root;
            let candidates = loop {
                match self.nodes[node as usize] {
                    Node::Cut {
                        field,
                        at,
                        left,
                        right,
                    } => {
                        node = if key[field as usize] <= at {
                            left
                        } else {
                            right
                        }
                    }
                    Node::Leaf { start, end } => break &self.leaves[start as usize..end as usize],
                }
            };
            for &rank in candidates {
                if rank >= found {
                    break;
                }
                if self
                    .row(rank)
                    .iter()
                    .zip(key)
                    .all(|(check, &value)| check.holds(value))
                {
                    found = rank;
                    break;
                }
            }
        }
        self.ranked.get(found as usize).copied()
    }

    fn row(&self, rank: u32) -> &[Check] {
        &self.checks[rank as usize * self.fields..][..self.fields]
    }

    /// The values of `field` an entry may match: an interval that is never too small.
    fn interval(&self, rank: u32, field: usize, bounds: &[Interval]) -> Interval {
        let check = self.row(rank)[field];
        let whole = bounds[field].1;
        if check.low != check.high {
            return (check.low, check.high);
        }
        let open = whole & !check.mask;
        (check.low & !open, (check.low | open) & whole)
    }

    fn grow(
        &mut self,
        ranks: Vec<u32>,
        whole: &[Interval],
        bounds: &mut [Interval],
        copies: usize,
        depth: u32,
    ) -> u32 {
        let more = ranks.len() > LEAF && depth < DEPTH;
        let cut = if more {
            self.best_cut(&ranks, whole, bounds, copies)
        } else {
            None
        };
        let number = self.nodes.len() as u32;
        let Some((field, at)) = cut else {
            let start = self.leaves.len() as u32;
            self.leaves.extend_from_slice(&ranks);
            self.nodes.push(Node::Leaf {
                start,
                end: self.leaves.len() as u32,
            });
            return number;
        };
        self.nodes.push(Node::Leaf { start: 0, end: 0 });
        let before = bounds[field];
        let of = |low: u128, high: u128| -> Vec<u32> {
            let overlaps = |rank: &u32| {
                let (first, last) = self.interval(*rank, field, whole);
                first <= high && last >= low
            };
            ranks.iter().copied().filter(overlaps).collect()
        };
        let (lower, upper) = (of(before.0, at), of(at + 1, before.1));
        let both = lower.len() + upper.len();
        let copies = copies.saturating_sub(both.saturating_sub(ranks.len()));
        let share = (copies as u128 * lower.len() as u128 / both.max(1) as u128) as usize;
        drop(ranks);
        bounds[field] = (before.0, at);
        let left = self.grow(lower, whole, bounds, share, depth + 1);
        bounds[field] = (at + 1, before.1);
        let right = self.grow(upper, whole, bounds, copies - share, depth + 1);
        bounds[field] = before;
        self.nodes[number as usize] = Node::Cut {
            field: field as u32,
            at,
            left,
            right,
        };
        number
    }

    /// The cut that leaves the fewest entries on the fuller side; none if every cut leaves all of them on one side or
    /// makes more than the copies allowed.
    fn best_cut(
        &self,
        ranks: &[u32],
        whole: &[Interval],
        bounds: &[Interval],
        copies: usize,
    ) -> Option<(usize, u128)> {
        let mut best = None;
        let mut ends = Vec::new();
        for (field, &(low, high)) in bounds.iter().enumerate() {
            ends.clear();
            for &rank in ranks {
                let (first, last) = self.interval(rank, field, whole);
                if first > low {
                    ends.push(first - 1);
                }
                if last < high {
                    ends.push(last);
                }
            }
            if ends.is_empty() {
                continue;
            }
            let middle = ends.len() / 2;
            let (_, &mut at, _) = ends.select_nth_unstable(middle);
            let (mut lower, mut upper) = (0, 0);
            for &rank in ranks {
                let (first, last) = self.interval(rank, field, whole);
                lower += usize::from(first <= at);
                upper += usize::from(last > at);
            }
            let fuller = lower.max(upper);
            if fuller == ranks.len() || lower + upper - ranks.len() > copies {
                continue;
            }
            let cost = (fuller, lower + upper);
            if best.is_none_or(|(least, _, _)| cost < least) {
                best = Some((cost, field, at));
            }
        }
        best.map(|(_, field, at)| (field, at))
    }
}
