//! The timers of a host, by time.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use phb_network::Time;

/// Of one time, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    Client(usize),
    Connection(usize),
    /// Ends a batch: all segments of one time have been taken.
    Batch,
}

const KIND_SHIFT: u32 = 62;
const NUMBER: u64 = (1 << KIND_SHIFT) - 1;

impl Timer {
    fn to_bits(self) -> u64 {
        let (kind, number) = match self {
            Self::Client(number) => (0, number),
            Self::Connection(slot) => (1, slot),
            Self::Batch => (2, 0),
        };
        kind << KIND_SHIFT | number as u64
    }

    fn from_bits(bits: u64) -> Self {
        let number = usize::try_from(bits & NUMBER).unwrap_or(usize::MAX);
        match bits >> KIND_SHIFT {
            0 => Self::Client(number),
            1 => Self::Connection(number),
            _ => Self::Batch,
        }
    }
}

/// Timers that wait. Of thousands few lie in the cache, so each is one number: its time, and what it
/// is for.
#[derive(Default)]
pub(super) struct Timers {
    waiting: BinaryHeap<Reverse<u128>>,
}

impl Timers {
    pub fn add(&mut self, at: Time, timer: Timer) {
        let key = u128::from(at) << 64 | u128::from(timer.to_bits());
        self.waiting.push(Reverse(key));
    }

    /// The time of the next one (ns).
    pub fn due(&self) -> Option<Time> {
        let Reverse(key) = self.waiting.peek()?;
        Time::try_from(key >> 64).ok()
    }

    /// Takes the next one, if it is due at `now` (ns), with its time.
    pub fn take(&mut self, now: Time) -> Option<(Time, Timer)> {
        let due = self.due().filter(|due| *due <= now)?;
        let Reverse(key) = self.waiting.pop()?;
        #[expect(clippy::cast_possible_truncation, reason = "the lower half")]
        let timer = Timer::from_bits(key as u64);
        Some((due, timer))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn timers() -> impl Strategy<Value = Timer> {
        prop_oneof![
            (0..3usize).prop_map(Timer::Client),
            (0..3usize).prop_map(Timer::Connection),
            Just(Timer::Batch),
        ]
    }

    proptest! {
        #[test]
        fn timers_come_in_order(set in prop::collection::vec((0..4u64, timers()), 0..50)) {
            let mut waiting = Timers::default();
            for (at, timer) in &set {
                waiting.add(*at, *timer);
            }
            for now in 0..4 {
                let mut expected: Vec<_> = set.iter().copied().filter(|(at, _)| *at == now).collect();
                expected.sort_unstable();
                let taken: Vec<_> = std::iter::from_fn(|| waiting.take(now)).collect();
                prop_assert_eq!(taken, expected);
                prop_assert_eq!(waiting.due(), set.iter().map(|(at, _)| *at).filter(|at| *at > now).min());
            }
        }
    }
}
