//! Keys far from their turn, roughly in order.

/// Most keys on a shelf.
pub const SHELF: usize = 1024;

/// Shelves with a range of keys each; keys of one shelf are in no order.
///
/// A binary search over one number per shelf finds a key's shelf; writing it there is one cache
/// miss that nothing waits for. A full shelf is split at its median.
#[derive(Default)]
pub struct Shelves {
    /// The least possible key of each shelf, in descending order: the next shelf is the last.
    floors: Vec<u128>,
    /// No shelf is empty.
    keys: Vec<Vec<u128>>,
    spare: Vec<Vec<u128>>,
}

impl Shelves {
    /// The least key that belongs on a shelf; `None` without shelves.
    pub fn floor(&self) -> Option<u128> {
        self.floors.last().copied()
    }

    /// Adds a key that is not below [`floor`](Self::floor).
    pub fn put(&mut self, key: u128) {
        let mut shelf = self.floors.partition_point(|floor| *floor > key);
        let Some(mut keys) = self.keys.get_mut(shelf) else {
            return self.put_in_front(key, &[key]);
        };
        if keys.len() >= SHELF {
            let middle = keys.len() / 2;
            let (_, median, _) = keys.select_nth_unstable(middle);
            let median = *median;
            let mut upper = self.spare.pop().unwrap_or_else(empty);
            upper.extend(keys.drain(middle..));
            self.floors.insert(shelf, median);
            self.keys.insert(shelf, upper);
            shelf += usize::from(key < median);
            keys = &mut self.keys[shelf];
        }
        keys.push(key);
    }

    /// Adds a shelf below all others: one to [`SHELF`] keys, from `floor` to the others' floor.
    pub fn put_in_front(&mut self, floor: u128, keys: &[u128]) {
        let mut shelf = self.spare.pop().unwrap_or_else(empty);
        shelf.extend_from_slice(keys);
        self.floors.push(floor);
        self.keys.push(shelf);
    }

    /// Takes the lowest shelf; `false` without shelves. `into` must be empty.
    pub fn take(&mut self, into: &mut Vec<u128>) -> bool {
        let Some(mut keys) = self.keys.pop() else {
            return false;
        };
        self.floors.pop();
        std::mem::swap(&mut keys, into);
        self.spare.push(keys);
        true
    }

    pub fn last(&self) -> Option<u128> {
        self.keys.first()?.iter().max().copied()
    }

    pub fn take_last(&mut self) -> Option<u128> {
        let keys = self.keys.first_mut()?;
        let (place, _) = keys.iter().enumerate().max_by_key(|(_, key)| **key)?;
        let greatest = keys.swap_remove(place);
        if keys.is_empty() {
            self.floors.remove(0);
            self.spare.push(self.keys.remove(0));
        }
        Some(greatest)
    }

    /// All keys, in no order.
    pub fn keys(&self) -> impl Iterator<Item = u128> + '_ {
        self.keys.iter().flatten().copied()
    }

    pub fn drain(&mut self) -> impl Iterator<Item = u128> {
        self.floors.clear();
        std::mem::take(&mut self.keys).into_iter().flatten()
    }

    pub fn clear(&mut self) {
        self.floors.clear();
        self.keys.clear();
    }
}

fn empty() -> Vec<u128> {
    Vec::with_capacity(SHELF)
}
