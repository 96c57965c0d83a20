//! Packets with a rank. Some may have to wait for tokens of their class before their turn can come.
//!
//! A packet may name a bucket. It leaves no earlier than its bucket has tokens for it, whatever its rank is; among those
//! that may leave, rank decides. So a class that is shaped leaves the line to the others while it waits, and the others'
//! order is what it would be without it.

use crate::pifo::Pifo;
use crate::token_bucket::TokenBucket;

/// The bucket that a packet takes tokens from when it leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shaping {
    /// Which of the port's buckets. One that is new is full.
    pub bucket: u32,
    /// The rate in bit/s at which tokens come; the bucket takes over what its newest packet says.
    pub rate_bps: u64,
    /// Bytes that may leave after a pause as fast as the line is. A bucket is never less deep than a packet that waits at it.
    pub burst_bytes: u32,
    /// How long the packet is, as this rate counts it.
    pub bytes: u32,
}

/// Where in the order of transmission a packet belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Lower goes first.
    pub rank: u64,
    /// The bucket that holds it back, if any.
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

/// The packets that wait for the tokens of one bucket. Among them, rank decides.
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

    /// The rank of the packet that leaves next, and when there are tokens for it (ns).
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

/// A PIFO, and one for each bucket beside it.
pub(crate) struct Ranked<T> {
    open: Pifo<T>,
    /// As many as there are shaped classes: few.
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

    /// Queues `item`, or gives it back where there is no memory for more.
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
            // A bucket with its whole burst is like a new one.
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

    /// The gate whose first packet has the lowest rank of those that have tokens now and go before the open ones.
    fn first_gate(&self, now: u64) -> Option<usize> {
        let due = self.gates.iter().enumerate().filter_map(|(at, gate)| {
            let (rank, due) = gate.first()?;
            (due <= now).then_some((rank, at))
        });
        let (rank, at) = due.min()?;
        let before = self.open.peek_rank().is_none_or(|open| rank < open);
        before.then_some(at)
    }

    /// Whether a packet may leave now.
    pub(crate) fn is_due(&self, now: u64) -> bool {
        !self.open.is_empty() || self.first_gate(now).is_some()
    }

    /// When the first of the packets that wait for tokens has them, or had them when it came (ns); `None` where nobody
    /// waits, or for ever.
    pub(crate) fn next_due(&self) -> Option<u64> {
        let due = self.gates.iter().filter_map(Gate::first);
        due.map(|(_, due)| due).filter(|due| *due < u64::MAX).min()
    }

    /// Takes the packet of lowest rank that may leave now, with its rank; of equal ranks one that is not shaped.
    pub(crate) fn pop(&mut self, now: u64) -> Option<(u64, T)> {
        match self.first_gate(now) {
            Some(at) => self.gates[at].take(now),
            None => self.open.pop(),
        }
    }

    /// Takes any packet, whether it may leave or not.
    pub(crate) fn take(&mut self) -> Option<(u64, T)> {
        let held = self.gates.iter_mut().find_map(|gate| gate.waiting.pop());
        held.map(|(rank, (_, item))| (rank, item))
            .or_else(|| self.open.pop())
    }

    /// The highest rank of all that wait, shaped or not.
    pub(crate) fn last_rank(&mut self) -> Option<u64> {
        let held = self.gates.iter_mut().map(|gate| gate.waiting.last_rank());
        held.max().flatten().max(self.open.last_rank())
    }

    /// Takes the packet of highest rank, of equal ones of one bucket the last that came.
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
