//! Packets with a rank, some of which wait for tokens of their class.
//!
//! A packet with a bucket waits until this has tokens for it; among packets that may leave, rank
//! decides. So a class waiting for tokens changes nothing for others.

use crate::pifo::Pifo;
use crate::token_bucket::TokenBucket;

/// The bucket that a packet takes tokens from when it leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shaping {
    /// One of the port's buckets; a new one is full.
    pub bucket: u32,
    /// Tokens in bit/s; the newest packet's rate holds.
    pub rate_bps: u64,
    /// Bytes that may leave at the line's rate after a pause; at least a waiting packet's length.
    pub burst_bytes: u32,
    /// Length of the packet for this rate.
    pub bytes: u32,
}

/// A packet's place in the order of transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Lower goes first.
    pub rank: u64,
    /// A bucket whose tokens it needs.
    pub shaping: Option<Shaping>,
}

impl From<u64> for Place {
    fn from(rank: u64) -> Self {
        Self {
            rank,
            shaping: None,
        }
    }
}

/// Of equal ranks, shaped packets go last.
pub(crate) const SHAPED: u64 = 1 << 63;

/// The packets of one bucket, by rank.
struct Gate<T> {
    number: u32,
    rate_bps: u64,
    burst_bytes: u32,
    bucket: TokenBucket,
    waiting: Pifo<(u32, T)>,
}

impl<T> Gate<T> {
    fn new(now: u64, shaping: Shaping) -> Self {
        let bucket = TokenBucket::new(shaping.rate_bps, shaping.burst_bytes);
        Self {
            number: shaping.bucket,
            rate_bps: shaping.rate_bps,
            burst_bytes: shaping.burst_bytes,
            bucket: bucket.since(now),
            waiting: Pifo::new(),
        }
    }

    /// Rank of the next packet, and the time of its tokens (ns).
    fn first(&self) -> Option<(u64, u64)> {
        let (rank, (bytes, _)) = self.waiting.peek()?;
        Some((rank, self.bucket.due(u64::from(*bytes))))
    }

    fn take(&mut self, now: u64) -> Option<(u64, T)> {
        let (rank, (bytes, item)) = self.waiting.pop()?;
        self.bucket.start(now, u64::from(bytes));
        Some((rank, item))
    }
}

/// A PIFO, and one for each bucket.
pub(crate) struct Ranked<T> {
    open: Pifo<T>,
    /// One per shaped class: few.
    gates: Vec<Gate<T>>,
}

impl<T> Ranked<T> {
    pub(crate) fn new() -> Self {
        Self {
            open: Pifo::new(),
            gates: Vec::new(),
        }
    }

    pub(crate) fn len(&self) -> usize {
        let held: usize = self.gates.iter().map(|gate| gate.waiting.len()).sum();
        self.open.len() + held
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty() && self.gates.iter().all(|gate| gate.waiting.is_empty())
    }

    /// Queues `item`; gives it back when the queue is full.
    #[inline]
    pub(crate) fn push(&mut self, now: u64, place: Place, item: T) -> Result<(), T> {
        let Some(shaping) = place.shaping else {
            return self.open.push(place.rank, item);
        };
        let gate = self.gate(now, shaping);
        let queued = gate.waiting.push(place.rank, (shaping.bytes, item));
        queued.map_err(|(_, item)| item)
    }

    fn gate(&mut self, now: u64, shaping: Shaping) -> &mut Gate<T> {
        let known = |gate: &Gate<T>| gate.number == shaping.bucket;
        let at = self.gates.iter().position(known).unwrap_or_else(|| {
            // A bucket with its whole burst equals a new one.
            self.gates.retain(|gate| {
                !gate.waiting.is_empty() || gate.bucket.due(u64::from(gate.burst_bytes)) > now
            });
            self.gates.push(Gate::new(now, shaping));
            self.gates.len() - 1
        });
        let gate = &mut self.gates[at];
        if (gate.rate_bps, gate.burst_bytes) != (shaping.rate_bps, shaping.burst_bytes) {
            (gate.rate_bps, gate.burst_bytes) = (shaping.rate_bps, shaping.burst_bytes);
            gate.bucket.set(shaping.rate_bps, shaping.burst_bytes);
        }
        gate
    }

    /// The gate to serve: has tokens, the lowest rank, and one below the open packets'.
    fn first_gate(&self, now: u64) -> Option<usize> {
        let due = self.gates.iter().enumerate().filter_map(|(at, gate)| {
            let (rank, due) = gate.first()?;
            (due <= now).then_some((rank, at))
        });
        let (rank, at) = due.min()?;
        let before = self.open.peek_rank().is_none_or(|open| rank < open);
        before.then_some(at)
    }

    pub(crate) fn is_due(&self, now: u64) -> bool {
        !self.open.is_empty() || self.first_gate(now).is_some()
    }

    /// When the first waiting packet has or had its tokens (ns); `None` for none or never.
    pub(crate) fn next_due(&self) -> Option<u64> {
        let due = self.gates.iter().filter_map(Gate::first);
        due.map(|(_, due)| due).filter(|due| *due < u64::MAX).min()
    }

    /// Takes the packet of lowest rank that may leave now, unshaped ones first, with its rank.
    #[inline]
    pub(crate) fn pop(&mut self, now: u64) -> Option<(u64, T)> {
        match self.first_gate(now) {
            Some(at) => self.gates[at].take(now),
            None => self.open.pop(),
        }
    }

    /// All packets with their ranks, and numbers that order equal ranks; in no order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, u64, &T)> {
        let held = self.gates.iter().flat_map(|gate| gate.waiting.iter());
        let held = held.map(|(rank, arrival, (_, item))| (rank, SHAPED | arrival, item));
        self.open.iter().chain(held)
    }

    pub(crate) fn take(&mut self) -> Option<(u64, T)> {
        let held = self.gates.iter_mut().find_map(|gate| gate.waiting.pop());
        held.map(|(rank, (_, item))| (rank, item))
            .or_else(|| self.open.pop())
    }

    pub(crate) fn last_rank(&mut self) -> Option<u64> {
        let held = self.gates.iter_mut().map(|gate| gate.waiting.last_rank());
        held.max().flatten().max(self.open.last_rank())
    }

    /// Takes the packet of highest rank; of a bucket's equal ones the last.
    pub(crate) fn pop_last(&mut self) -> Option<(u64, T)> {
        let last = self.last_rank()?;
        let mut gates = self.gates.iter_mut();
        match gates.position(|gate| gate.waiting.last_rank() == Some(last)) {
            Some(at) => {
                let (rank, (_, item)) = self.gates[at].waiting.pop_last()?;
                Some((rank, item))
            }
            None => self.open.pop_last(),
        }
    }
}

#[cfg(test)]
mod tests;
