//! Strict-priority queues, each with a rate in packets per second, as at simple_switch's ports.

use std::collections::VecDeque;

use crate::shaper::Shaper;

/// Queues by priority: the highest number with a due packet is served first.
///
/// In a queue with a rate a packet is due one packet's time after the one before it. A queue held
/// back by its rate lets lower ones through.
pub struct StrictQueues<T> {
    queues: Vec<Queue<T>>,
    waiting: usize,
}

struct Queue<T> {
    /// Packets with the times when they are due (ns).
    packets: VecDeque<(u64, T)>,
    rate_pps: Option<u64>,
    pace: Shaper,
}

/// A line on which each packet is one byte.
fn pace(rate_pps: Option<u64>) -> Option<u64> {
    rate_pps
        .filter(|rate| *rate > 0)
        .map(|rate| rate.saturating_mul(8))
}

impl<T> StrictQueues<T> {
    /// Empty queues, each with a rate in packets per second, from priority 0 on; `None` and 0 are unlimited.
    #[must_use]
    pub fn new(rates: impl IntoIterator<Item = Option<u64>>) -> Self {
        let mut queues = Self {
            queues: Vec::new(),
            waiting: 0,
        };
        queues.set_rates(rates);
        queues
    }

    /// Changes the rates for later packets, and makes queues that are missing. A queue that is not named keeps its own.
    pub fn set_rates(&mut self, rates: impl IntoIterator<Item = Option<u64>>) {
        for (place, rate_pps) in rates.into_iter().enumerate() {
            match self.queues.get_mut(place) {
                Some(queue) if queue.rate_pps != rate_pps => {
                    queue.rate_pps = rate_pps;
                    queue.pace.set_rate(pace(rate_pps));
                }
                Some(_) => {}
                None => self.queues.push(Queue {
                    packets: VecDeque::new(),
                    rate_pps,
                    pace: Shaper::new(pace(rate_pps)),
                }),
            }
        }
    }

    /// Queues `item` behind others of its priority, at `now` (ns). There is such a queue.
    pub fn push(&mut self, now: u64, priority: u8, item: T) {
        let queue = &mut self.queues[usize::from(priority)];
        let due = queue.pace.end().max(now);
        queue.pace.send(now, 1);
        queue.packets.push_back((due, item));
        self.waiting += 1;
    }

    /// Takes the first packet of the highest queue with one due at `now` (ns), with its priority.
    pub fn pop(&mut self, now: u64) -> Option<(u8, T)> {
        let priority = self.first_due(now)?;
        let (_, item) = self.queues[usize::from(priority)].packets.pop_front()?;
        self.waiting -= 1;
        Some((priority, item))
    }

    /// All packets with their priorities, each queue's in order.
    pub fn iter(&self) -> impl Iterator<Item = (u8, &T)> {
        let queues = (0..=u8::MAX).zip(&self.queues);
        queues.flat_map(|(priority, queue)| {
            queue.packets.iter().map(move |(_, item)| (priority, item))
        })
    }

    /// Takes a packet, due or not.
    pub fn take(&mut self) -> Option<(u8, T)> {
        self.pop(u64::MAX)
    }

    /// The highest queue with a packet due at `now` (ns).
    #[must_use]
    pub fn first_due(&self, now: u64) -> Option<u8> {
        let due = |queue: &Queue<T>| queue.packets.front().is_some_and(|(due, _)| *due <= now);
        let place = self.queues.iter().rposition(due)?;
        u8::try_from(place).ok()
    }

    /// When the next packet is or was due (ns).
    #[must_use]
    pub fn next_due(&self) -> Option<u64> {
        let first = |queue: &Queue<T>| queue.packets.front().map(|(due, _)| *due);
        self.queues.iter().filter_map(first).min()
    }

    /// Packets of a priority.
    #[must_use]
    pub fn depth(&self, priority: u8) -> usize {
        let queue = self.queues.get(usize::from(priority));
        queue.map_or(0, |queue| queue.packets.len())
    }

    /// Number of packets.
    #[must_use]
    pub fn len(&self) -> usize {
        self.waiting
    }

    /// Whether no packet waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting == 0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_highest_priority_goes_first_and_equal_ones_in_order() {
        let mut queues = StrictQueues::new([None; 8]);
        for (priority, name) in [(0, 'a'), (7, 'b'), (3, 'c'), (7, 'd'), (0, 'e')] {
            queues.push(0, priority, name);
        }
        assert_eq!((queues.len(), queues.depth(7), queues.depth(5)), (5, 2, 0));
        let order: Vec<(u8, char)> = std::iter::from_fn(|| queues.pop(0)).collect();
        assert_eq!(order, [(7, 'b'), (7, 'd'), (3, 'c'), (0, 'a'), (0, 'e')]);
        assert!(queues.is_empty());
    }

    #[test]
    fn a_queue_at_its_rate_lets_lower_ones_through() {
        let mut queues = StrictQueues::new([Some(1000); 2]);
        for (priority, name) in [(1, 'a'), (1, 'b'), (0, 'c'), (0, 'd')] {
            queues.push(5, priority, name);
        }
        let mut left = Vec::new();
        while let Some(now) = queues.next_due() {
            left.extend(queues.pop(now).map(|(_, name)| (now, name)));
        }
        assert_eq!(
            left,
            [(5, 'a'), (5, 'c'), (1_000_005, 'b'), (1_000_005, 'd')]
        );
    }

    #[test]
    fn queues_have_rates_of_their_own() {
        let mut queues = StrictQueues::new([Some(1000), None]);
        queues.set_rates([Some(1000), Some(500)]);
        for (priority, name) in [(0, 'a'), (0, 'b'), (1, 'c'), (1, 'd')] {
            queues.push(0, priority, name);
        }
        let mut left = Vec::new();
        while let Some(now) = queues.next_due() {
            left.extend(queues.pop(now).map(|(_, name)| (now, name)));
        }
        assert_eq!(
            left,
            [(0, 'c'), (0, 'a'), (1_000_000, 'b'), (2_000_000, 'd')]
        );
    }

    #[test]
    fn a_new_rate_is_for_what_comes() {
        let mut queues = StrictQueues::new([Some(1000)]);
        queues.push(0, 0, 'a');
        queues.push(0, 0, 'b');
        queues.set_rates([Some(0)]);
        queues.push(0, 0, 'c');
        queues.push(0, 0, 'd');
        let mut left = Vec::new();
        while let Some(now) = queues.next_due() {
            left.extend(queues.pop(now).map(|(_, name)| (now, name)));
        }
        assert_eq!(
            left,
            [
                (0, 'a'),
                (1_000_000, 'b'),
                (2_000_000, 'c'),
                (2_000_000, 'd')
            ]
        );
    }

    proptest! {
        /// The model: one list of everything, with exact due times, searched as a whole.
        #[test]
        fn queues_do_what_a_list_does(
            rate in prop::option::of(1u64..10_000_000),
            steps in prop::collection::vec((0u64..3_000_000, prop::option::of(0u8..4)), 0..200),
        ) {
            let mut queues = StrictQueues::new([rate; 4]);
            let mut model: Vec<(u64, u8, usize)> = Vec::new();
            let mut free = [0u128; 4]; // when the next packet of each queue may go, in 1/rate ns
            let mut now = 0;
            for (name, (pause, step)) in steps.into_iter().enumerate() {
                now += pause;
                match step {
                    Some(priority) => {
                        let scale = u128::from(rate.unwrap_or(1));
                        let free = &mut free[usize::from(priority)];
                        let due = free.div_ceil(scale).max(u128::from(now));
                        *free = if due * scale > free.next_multiple_of(scale) { due * scale } else { *free };
                        *free += rate.map_or(0, |_| 1_000_000_000);
                        queues.push(now, priority, name);
                        model.push((u64::try_from(due).expect("short run"), priority, name));
                    }
                    None => {
                        let due = model.iter().enumerate().filter(|(_, (due, ..))| *due <= now);
                        let first = due.max_by_key(|(place, (_, priority, _))| (*priority, usize::MAX - place));
                        let first = first.map(|(place, _)| place);
                        let expected = first.map(|place| model.remove(place)).map(|(_, priority, name)| (priority, name));
                        prop_assert_eq!(queues.pop(now), expected);
                    }
                }
                prop_assert_eq!(queues.len(), model.len());
                prop_assert_eq!(queues.next_due(), model.iter().map(|(due, ..)| *due).min());
            }
        }
    }
}
