//! Push-in, first-out: a queue ordered by rank.
//!
//! Ranks leave exactly in order. Memory takes the time: with a million packets, a binary heap waits
//! for a dozen cache misses. Here items lie still, and keys of 16 bytes move: rank, arrival number,
//! place of the item; so equal ranks leave in order of arrival. The next keys are in a heap that
//! fits the cache, others on shelves, sorted when their turn comes. No operation takes longer than
//! sorting one shelf, but for renumbering, once in 7 * 10^10 arrivals.

mod heap;
mod shelves;

use heap::Heap;
use shelves::{SHELF, Shelves};

/// Most keys in the heap; half of them fill a shelf.
const NEAR: usize = 2 * SHELF;

/// Bits of a key for the item's place.
const PLACE_BITS: u32 = 28;
/// Bits of a key for its arrival, counted since the queue was last empty.
const ARRIVAL_BITS: u32 = 64 - PLACE_BITS;

/// A queue that takes any rank and gives the lowest first, equal ones in order of arrival.
///
/// The primitive of Sivaraman et al., "Programmable Packet Scheduling at Line Rate", SIGCOMM 2016.
pub struct Pifo<T> {
    /// Keys below [`Shelves::floor`]. Not empty unless the queue is.
    near: Heap,
    far: Shelves,
    sorting: Vec<u128>,
    items: Vec<Option<T>>,
    /// Free places in `items`.
    free: Vec<u32>,
    arrivals: u64,
    /// The last key, once it has been searched for.
    last: Option<u128>,
}

impl<T> Default for Pifo<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> Pifo<T> {
    /// Most items in the queue.
    pub const CAPACITY: usize = (1 << PLACE_BITS) - 1;

    /// An empty queue.
    #[must_use]
    pub fn new() -> Self {
        Self {
            near: Heap::default(),
            far: Shelves::default(),
            sorting: Vec::new(),
            items: Vec::new(),
            free: Vec::new(),
            arrivals: 0,
            last: None,
        }
    }

    /// Queues `item` behind all of its rank or lower; gives it back at
    /// [`CAPACITY`](Self::CAPACITY).
    #[inline]
    pub fn push(&mut self, rank: u64, item: T) -> Result<(), T> {
        let place = match self.free.pop() {
            Some(place) => {
                self.items[place as usize] = Some(item);
                place
            }
            None if self.items.len() < Self::CAPACITY => {
                self.items.push(Some(item));
                self.items.len() as u32 - 1
            }
            None => return Err(item),
        };
        if self.arrivals >> ARRIVAL_BITS != 0 {
            self.renumber();
        }
        let key = key(rank, self.arrivals, place);
        self.arrivals += 1;
        self.last = self.last.map(|last| last.max(key));
        self.put(key);
        Ok(())
    }

    /// Takes the item of lowest rank, with its rank.
    pub fn pop(&mut self) -> Option<(u64, T)> {
        let key = self.near.pop()?;
        self.take(key)
    }

    /// Takes the item of highest rank, the last of equal ones, with its rank.
    pub fn pop_last(&mut self) -> Option<(u64, T)> {
        self.last = None;
        let key = self.far.take_last().or_else(|| self.near.pop_last())?;
        self.take(key)
    }

    fn take(&mut self, key: u128) -> Option<(u64, T)> {
        let place = place(key);
        let item = self.items[place as usize].take();
        self.free.push(place);
        if self.near.len() == 0 {
            self.refill();
        }
        item.map(|item| (rank(key), item))
    }

    /// The lowest rank in the queue.
    #[must_use]
    pub fn peek_rank(&self) -> Option<u64> {
        self.near.peek().map(rank)
    }

    /// The item of lowest rank, with its rank.
    #[must_use]
    pub fn peek(&self) -> Option<(u64, &T)> {
        let key = self.near.peek()?;
        let item = self.items[place(key) as usize].as_ref()?;
        Some((rank(key), item))
    }

    /// The highest rank in the queue.
    pub fn last_rank(&mut self) -> Option<u64> {
        self.last = self
            .last
            .or_else(|| self.far.last())
            .or_else(|| self.near.keys().max());
        self.last.map(rank)
    }

    /// All items with their ranks and the numbers of their arrivals, which order equal ranks; in no order.
    pub fn iter(&self) -> impl Iterator<Item = (u64, u64, &T)> {
        self.near.keys().chain(self.far.keys()).filter_map(|key| {
            let item = self.items[place(key) as usize].as_ref()?;
            Some((rank(key), arrival(key), item))
        })
    }

    /// Number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len() - self.free.len()
    }

    /// Whether the queue is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.near.len() == 0
    }

    /// Drops all items.
    pub fn clear(&mut self) {
        self.near.clear();
        self.far.clear();
        self.items.clear();
        self.free.clear();
        self.arrivals = 0;
        self.last = None;
    }

    fn put(&mut self, key: u128) {
        if self.far.floor().is_some_and(|floor| key >= floor) {
            return self.far.put(key);
        }
        self.near.push(key);
        if self.near.len() > NEAR {
            self.sorting.clear();
            self.sorting.extend(self.near.keys());
            self.sorting.sort_unstable();
            let (near, far) = self.sorting.split_at(NEAR - SHELF);
            self.near.refill(near);
            self.far.put_in_front(far[0], far);
        }
    }

    fn refill(&mut self) {
        self.sorting.clear();
        if !self.far.take(&mut self.sorting) {
            self.arrivals = 0;
            self.last = None;
            return;
        }
        self.sorting.sort_unstable();
        self.near.refill(&self.sorting);
        // Their items are due soon: fetched together, they take the time of a few cache misses.
        for key in &self.sorting {
            std::hint::black_box(self.items[place(*key) as usize].is_some());
        }
    }

    /// Renumbers all arrivals, in their order, when the numbers run out.
    fn renumber(&mut self) {
        let mut keys: Vec<u128> = self.near.keys().chain(self.far.drain()).collect();
        keys.sort_unstable();
        self.near.clear();
        self.arrivals = 0;
        self.last = None;
        for old in keys {
            self.put(key(rank(old), self.arrivals, place(old)));
            self.arrivals += 1;
        }
    }
}

fn key(rank: u64, arrival: u64, place: u32) -> u128 {
    u128::from(rank) << 64 | u128::from(arrival << PLACE_BITS | u64::from(place))
}

fn rank(key: u128) -> u64 {
    (key >> 64) as u64
}

fn arrival(key: u128) -> u64 {
    key as u64 >> PLACE_BITS
}

fn place(key: u128) -> u32 {
    key as u32 & ((1 << PLACE_BITS) - 1)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn ties_leave_in_order_of_arrival() {
        let mut pifo = Pifo::new();
        for (rank, item) in [(5, 'a'), (5, 'b'), (1, 'c'), (5, 'd'), (1, 'e')] {
            pifo.push(rank, item).expect("there is room");
        }
        let order: String = std::iter::from_fn(|| pifo.pop())
            .map(|(_, item)| item)
            .collect();
        assert_eq!(order, "ceabd");
    }

    #[derive(Clone, Copy, Debug)]
    enum Step {
        Push(u64),
        Pop,
        PopLast,
    }

    proptest! {
        /// The model: a list in which an item is inserted behind all items of its rank or lower.
        #[test]
        fn order_is_that_of_a_sorted_list(steps in prop::collection::vec(
            prop_oneof![
                3 => (0u64..20).prop_map(Step::Push), 1 => any::<u64>().prop_map(Step::Push), 3 => Just(Step::Pop),
                1 => Just(Step::PopLast),
            ], 0..400,
        )) {
            let mut pifo = Pifo::new();
            let mut model: Vec<(u64, usize)> = Vec::new();
            for (item, step) in steps.into_iter().enumerate() {
                match step {
                    Step::Push(rank) => {
                        pifo.push(rank, item).expect("there is room");
                        let place = model.partition_point(|(other, _)| *other <= rank);
                        model.insert(place, (rank, item));
                    }
                    Step::Pop => {
                        let expected = if model.is_empty() { None } else { Some(model.remove(0)) };
                        prop_assert_eq!(pifo.pop(), expected);
                    }
                    Step::PopLast => prop_assert_eq!(pifo.pop_last(), model.pop()),
                }
                prop_assert_eq!(pifo.len(), model.len());
                prop_assert_eq!(pifo.peek_rank(), model.first().map(|(rank, _)| *rank));
                prop_assert_eq!(pifo.last_rank(), model.last().map(|(rank, _)| *rank));
            }
        }
    }

    /// How ranks come: from the last one popped, the number of the push, and something random.
    #[derive(Clone, Copy, Debug)]
    enum Order {
        Equal,
        Ascending,
        Descending,
        Random,
        AfterPopped,
        Levels,
    }

    impl Order {
        fn rank(self, popped: u64, number: u64, random: u64) -> u64 {
            match self {
                Self::Equal => 7,
                Self::Ascending => number,
                Self::Descending => u64::MAX - number,
                Self::Random => random,
                Self::AfterPopped => popped.saturating_add(random % 5000),
                Self::Levels => (random & 3) << 62 | random >> 60,
            }
        }
    }

    fn orders() -> impl Strategy<Value = Order> {
        use Order::{AfterPopped, Ascending, Descending, Equal, Levels, Random};
        prop::sample::select(vec![
            Equal,
            Ascending,
            Descending,
            Random,
            AfterPopped,
            Levels,
        ])
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Long enough that heap and shelves overflow, split, run empty and number anew. The model is a sorted map.
        #[test]
        fn order_holds_at_any_length(
            phases in prop::collection::vec((orders(), 0u32..6000, 0u32..6000, 0u32..2000, 0u32..400), 1..5),
            first in prop_oneof![Just(0u64), (0u64..9000).prop_map(|before| (1 << ARRIVAL_BITS) - before)],
            seed in any::<u64>(),
        ) {
            let mut pifo = Pifo::new();
            let mut model = BTreeMap::new();
            let (mut number, mut popped, mut random) = (0, 0, seed);
            // The numbers start anew with an empty queue, so one item stays.
            pifo.push(u64::MAX, u64::MAX).expect("there is room");
            model.insert((u64::MAX, 0), u64::MAX);
            pifo.arrivals = first.max(1);
            for (order, grow, hold, shrink, cut) in phases {
                for _ in 0..cut.min(model.len() as u32 - 1) {
                    let expected = model.pop_last().map(|((rank, _), item)| (rank, item));
                    prop_assert_eq!(pifo.last_rank(), expected.map(|(rank, _)| rank));
                    prop_assert_eq!(pifo.pop_last(), expected);
                    prop_assert_eq!(pifo.len(), model.len());
                }
                let steps = [(grow, true, false), (hold, true, true), (shrink, false, true)];
                for (push, pop) in steps.into_iter().flat_map(|(times, push, pop)| (0..times).map(move |_| (push, pop))) {
                    if pop && model.len() > 1 {
                        let expected = model.pop_first().map(|((rank, _), item)| (rank, item));
                        let given = pifo.pop();
                        prop_assert_eq!(given, expected);
                        popped = given.map_or(popped, |(rank, _)| rank);
                    }
                    if push {
                        number += 1;
                        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                        let rank = order.rank(popped, number, random);
                        pifo.push(rank, number).expect("there is room");
                        model.insert((rank, number), number);
                    }
                    prop_assert_eq!(pifo.peek_rank(), model.first_key_value().map(|((rank, _), _)| *rank));
                    prop_assert_eq!(pifo.len(), model.len());
                }
            }
            while let Some(((rank, _), item)) = model.pop_first() {
                prop_assert_eq!(pifo.pop(), Some((rank, item)));
            }
            prop_assert!(pifo.is_empty());
            prop_assert_eq!(pifo.pop(), None);
        }
    }

    #[test]
    fn a_cleared_queue_is_like_new() {
        let mut pifo = Pifo::new();
        for rank in (0..3 * NEAR as u64).rev() {
            pifo.push(rank, rank).expect("there is room");
        }
        pifo.clear();
        assert_eq!((pifo.len(), pifo.peek_rank(), pifo.pop()), (0, None, None));
        pifo.push(5, 5).expect("there is room");
        assert_eq!(pifo.pop(), Some((5, 5)));
    }

    #[test]
    fn the_last_place_and_the_last_number_still_make_a_key() {
        let greatest = key(
            u64::MAX,
            (1 << ARRIVAL_BITS) - 1,
            Pifo::<()>::CAPACITY as u32 - 1,
        );
        assert!(greatest < u128::MAX);
        assert_eq!(rank(greatest), u64::MAX);
        assert_eq!(place(greatest) as usize, Pifo::<()>::CAPACITY - 1);
    }
}
