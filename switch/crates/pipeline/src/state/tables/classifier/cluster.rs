//! Which entries share a block.
//!
//! Entries are parted by the best dimension (below a row, from it on, or on both sides), then each
//! part again, until it fits a block or nothing tells its entries apart. Parts lie one after the
//! other, blocks by their best entry, and the best entry first in each.

use super::compare::Matches;
use super::dimension::Dimension;

const BLOCK: usize = 64;

/// Entries looked at to choose how to part.
const SAMPLE: usize = 256;

/// A part that leaves more than this percentage of entries together is not worth having.
const WORTH: usize = 88;

/// A block with at least this many is closed when the next part does not fit into it.
const FULL_ENOUGH: usize = 40;

#[derive(Clone, Copy)]
enum Cut {
    Row { dimension: usize, row: u16 },
    Bit { dimension: usize, bit: u32 },
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Lower,
    Upper,
    Both,
}

struct Clusters {
    /// Which dimensions are of bits, and of how many.
    bits: Vec<Option<u32>>,
    /// Where each entry stands in each dimension: those of one entry side by side.
    spans: Vec<(u16, u16)>,
    rows: Vec<u16>,
    parts: Vec<Vec<u32>>,
}

/// Blocks of at most 64 orders, given sorted; none if nothing tells entries apart.
pub(super) fn blocks(
    dimensions: &[Dimension],
    orders: &[u64],
    matches: Matches<'_>,
) -> Option<Vec<Vec<u64>>> {
    let mut clusters = Clusters {
        bits: dimensions.iter().map(Dimension::bits).collect(),
        spans: Vec::with_capacity(orders.len() * dimensions.len()),
        rows: dimensions.iter().map(|d| d.rows() as u16).collect(),
        parts: Vec::new(),
    };
    for &order in orders {
        let entry = matches.entry(order as u32);
        clusters
            .spans
            .extend(dimensions.iter().map(|dimension| dimension.span(entry)));
    }
    clusters.part((0..orders.len() as u32).collect());
    if clusters.parts.len() < 2 {
        return None;
    }
    let mut blocks: Vec<Vec<u64>> = Vec::new();
    for part in &clusters.parts {
        if let Some(last) = blocks.last()
            && last.len() >= FULL_ENOUGH
            && last.len() + part.len() > BLOCK
        {
            blocks.push(Vec::with_capacity(BLOCK));
        }
        for &rank in part {
            if blocks.last().is_none_or(|last| last.len() == BLOCK) {
                blocks.push(Vec::with_capacity(BLOCK));
            }
            if let Some(last) = blocks.last_mut() {
                last.push(orders[rank as usize]);
            }
        }
    }
    for block in &mut blocks {
        block.sort_unstable();
    }
    blocks.sort_unstable();
    Some(blocks)
}

impl Clusters {
    fn span(&self, rank: u32, dimension: usize) -> (u16, u16) {
        self.spans[rank as usize * self.bits.len() + dimension]
    }

    fn side(&self, rank: u32, cut: Cut) -> Side {
        match cut {
            Cut::Row { dimension, row } => {
                let (first, last) = self.span(rank, dimension);
                if last < row {
                    Side::Lower
                } else if first >= row {
                    Side::Upper
                } else {
                    Side::Both
                }
            }
            Cut::Bit { dimension, bit } => {
                let (value, mask) = self.span(rank, dimension);
                match (mask >> bit & 1, value >> bit & 1) {
                    (0, _) => Side::Both,
                    (_, 0) => Side::Lower,
                    _ => Side::Upper,
                }
            }
        }
    }

    fn part(&mut self, ranks: Vec<u32>) {
        if ranks.is_empty() {
            return;
        }
        let cut = if ranks.len() > BLOCK {
            self.best_cut(&ranks)
        } else {
            None
        };
        let Some(cut) = cut else {
            self.parts.push(ranks);
            return;
        };
        let of = |side: Side| -> Vec<u32> {
            let ranks = ranks.iter().copied();
            ranks.filter(|&rank| self.side(rank, cut) == side).collect()
        };
        let (lower, upper, both) = (of(Side::Lower), of(Side::Upper), of(Side::Both));
        let all = ranks.len();
        if lower.len().max(upper.len()).max(both.len()) == all {
            self.parts.push(ranks);
            return;
        }
        drop(ranks);
        self.part(lower);
        self.part(upper);
        self.part(both);
    }

    /// The cut that leaves the fewest entries on the fuller side and on both.
    fn best_cut(&self, ranks: &[u32]) -> Option<Cut> {
        let step = ranks.len().div_ceil(SAMPLE);
        let sample: Vec<u32> = ranks.iter().copied().step_by(step).collect();
        let mut best = None;
        let mut least = sample.len() * WORTH / 100;
        let mut consider = |cut: Cut| {
            let (mut lower, mut upper) = (0, 0);
            for &rank in &sample {
                match self.side(rank, cut) {
                    Side::Lower => lower += 1,
                    Side::Upper => upper += 1,
                    Side::Both => {}
                }
            }
            let together = sample.len() - lower.min(upper);
            if together < least {
                least = together;
                best = Some(cut);
            }
        };
        let mut middles = Vec::with_capacity(sample.len());
        for (dimension, &bits) in self.bits.iter().enumerate() {
            if let Some(bits) = bits {
                (0..bits).for_each(|bit| consider(Cut::Bit { dimension, bit }));
                continue;
            }
            middles.clear();
            for &rank in &sample {
                let (first, last) = self.span(rank, dimension);
                if (first, last) != (0, self.rows[dimension] - 1) {
                    middles.push(first + (last - first) / 2);
                }
            }
            if middles.is_empty() {
                continue;
            }
            let half = middles.len() / 2;
            let (_, &mut middle, _) = middles.select_nth_unstable(half);
            consider(Cut::Row {
                dimension,
                row: middle,
            });
            consider(Cut::Row {
                dimension,
                row: middle + 1,
            });
        }
        best
    }
}
