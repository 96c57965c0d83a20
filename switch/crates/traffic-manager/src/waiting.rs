//! The order of packets that wait, for who asks what is before one of them.

use crate::ranked::{Place, SHAPED};

/// A place in the order in which packets leave, if each of them may leave at once: the smaller leaves first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Turn(bool, u64, u64);

impl Turn {
    /// That of a packet in the PIFO, which is first if packets wait in queues by priority, too.
    pub(crate) fn of_ranked(rank: u64, arrival: u64) -> Self {
        Self(false, rank, arrival)
    }

    /// That of a packet in a queue by priority; `place` orders those of one queue.
    pub(crate) fn of_strict(priority: u8, place: u64) -> Self {
        Self(true, u64::from(u8::MAX - priority), place)
    }

    /// That of a packet which comes now: behind all that have its rank.
    #[must_use]
    pub fn ranked(place: Place) -> Self {
        let shaped = if place.shaping.is_some() { SHAPED } else { 0 };
        Self::of_ranked(place.rank, shaped | (SHAPED - 1))
    }

    /// That of a packet which comes now: behind all that have its priority.
    #[must_use]
    pub fn by_priority(priority: u8) -> Self {
        Self::of_strict(priority, u64::MAX)
    }
}

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
pub struct Held<'a, T> {
    /// When it leaves.
    pub turn: Turn,
    /// Its rank; `None` in the strict-priority queues.
    pub rank: Option<u64>,
    /// Its strict-priority queue; 0 for the PIFO.
    pub queue: u8,
    /// When it was queued, in ns.
    pub enqueued_at: u64,
    /// The packet.
    pub item: &'a T,
}

#[cfg(test)]
mod tests;
