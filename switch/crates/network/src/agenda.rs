//! Future events, in the order in which they happen.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use crate::node::Time;

/// An event's place in the order: its time, then the order of adding.
type Key = (Time, u64, u32);

/// Events by time, and of one time in the order of adding.
///
/// The heap sorts keys; events lie still. Those of the present time need no sorting: they come after
/// all that were added for it before.
pub(crate) struct Agenda<E> {
    now: Time,
    later: BinaryHeap<Reverse<Key>>,
    /// Of [`now`](Self::now), behind those in the heap.
    present: VecDeque<E>,
    sequence: u64,
    events: Vec<Option<E>>,
    free: Vec<u32>,
}

impl<E> Agenda<E> {
    pub fn new() -> Self {
        Self {
            now: 0,
            later: BinaryHeap::new(),
            present: VecDeque::new(),
            sequence: 0,
            events: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Adds an event at a time (ns), which is not before the last one taken.
    #[inline]
    pub fn add(&mut self, at: Time, event: E) {
        if at <= self.now {
            self.present.push_back(event);
            return;
        }
        let place = self.free.pop().unwrap_or_else(|| {
            self.events.push(None);
            u32::try_from(self.events.len() - 1).expect("fewer events than memory has room for")
        });
        self.events[place as usize] = Some(event);
        self.later.push(Reverse((at, self.sequence, place)));
        self.sequence += 1;
    }

    /// Takes the next event up to and including a time (ns), with its own.
    #[inline]
    pub fn take(&mut self, until: Time) -> Option<(Time, E)> {
        let due = self.later.peek().map(|Reverse((at, ..))| *at);
        if due.is_none_or(|at| at > self.now)
            && self.now <= until
            && let Some(event) = self.present.pop_front()
        {
            return Some((self.now, event));
        }
        if due? > until {
            return None;
        }
        let Reverse((at, _, place)) = self.later.pop()?;
        self.now = at;
        self.free.push(place);
        let event = self.events[place as usize].take()?;
        Some((at, event))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The model: a list, searched for the first of the lowest time.
        #[test]
        fn events_happen_in_the_order_of_a_list(
            steps in prop::collection::vec((prop::option::of(0u64..4), 0u64..3), 0..300),
        ) {
            let mut agenda = Agenda::new();
            let mut model: Vec<(Time, usize)> = Vec::new();
            let mut now = 0;
            for (number, (after, span)) in steps.into_iter().enumerate() {
                if let Some(after) = after {
                    agenda.add(now + after, number);
                    model.push((now + after, number));
                    continue;
                }
                let first = model.iter().copied().min().filter(|(at, _)| *at <= now + span);
                prop_assert_eq!(agenda.take(now + span), first);
                if let Some(first) = first {
                    now = first.0;
                    model.retain(|event| *event != first);
                }
            }
        }
    }
}
