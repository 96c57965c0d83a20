//! Push-in, first-out: a queue ordered by rank.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

struct Entry<T> {
    rank: u64,
    arrival: u64,
    item: T,
}

// The heap pops its greatest element, so the lowest rank, and of equal ranks the first to arrive, has to be greatest.
impl<T> Ord for Entry<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.rank, other.arrival).cmp(&(self.rank, self.arrival))
    }
}

impl<T> PartialOrd for Entry<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Entry<T> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T> Eq for Entry<T> {}

/// A queue in which an item may be pushed in anywhere, by its rank, and that is emptied from the front: lower ranks
/// first, equal ranks in order of arrival.
///
/// The primitive of Sivaraman et al., "Programmable Packet Scheduling at Line Rate", SIGCOMM 2016. Push and pop take
/// time logarithmic in the length.
pub struct Pifo<T> {
    heap: BinaryHeap<Entry<T>>,
    arrivals: u64,
}

impl<T> Default for Pifo<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Pifo<T> {
    /// An empty queue.
    #[must_use]
    pub fn new() -> Self {
        Self {
            heap: BinaryHeap::new(),
            arrivals: 0,
        }
    }

    /// Puts `item` behind every item whose rank is `rank` or lower.
    pub fn push(&mut self, rank: u64, item: T) {
        let arrival = self.arrivals;
        self.arrivals += 1;
        self.heap.push(Entry {
            rank,
            arrival,
            item,
        });
    }

    /// Takes the item of lowest rank, with its rank.
    pub fn pop(&mut self) -> Option<(u64, T)> {
        self.heap.pop().map(|entry| (entry.rank, entry.item))
    }

    /// The lowest rank in the queue.
    #[must_use]
    pub fn peek_rank(&self) -> Option<u64> {
        self.heap.peek().map(|entry| entry.rank)
    }

    /// How many items wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether nothing waits.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// Drops everything that waits.
    pub fn clear(&mut self) {
        self.heap.clear();
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ties_leave_in_order_of_arrival() {
        let mut pifo = Pifo::new();
        for (rank, item) in [(5, 'a'), (5, 'b'), (1, 'c'), (5, 'd'), (1, 'e')] {
            pifo.push(rank, item);
        }
        let order: String = std::iter::from_fn(|| pifo.pop())
            .map(|(_, item)| item)
            .collect();
        assert_eq!(order, "ceabd");
    }

    proptest! {
        /// The model: a list in which an item is inserted behind all items of its rank or lower.
        #[test]
        fn order_is_that_of_a_sorted_list(steps in prop::collection::vec(
            prop_oneof![3 => (0u64..20).prop_map(Some), 1 => any::<u64>().prop_map(Some), 3 => Just(None)], 0..400,
        )) {
            let mut pifo = Pifo::new();
            let mut model: Vec<(u64, usize)> = Vec::new();
            for (item, step) in steps.into_iter().enumerate() {
                match step {
                    Some(rank) => {
                        pifo.push(rank, item);
                        let place = model.partition_point(|(other, _)| *other <= rank);
                        model.insert(place, (rank, item));
                    }
                    None => {
                        let expected = if model.is_empty() { None } else { Some(model.remove(0)) };
                        prop_assert_eq!(pifo.pop(), expected);
                    }
                }
                prop_assert_eq!(pifo.len(), model.len());
                prop_assert_eq!(pifo.peek_rank(), model.first().map(|(rank, _)| *rank));
            }
        }
    }
}
