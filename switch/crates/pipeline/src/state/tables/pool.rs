//! Short arrays of up to 64 items, side by side in one vector.

/// Lengths of the arrays that are handed out.
const SIZES: [u32; 12] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64];

/// The place in [`SIZES`] of the least length that holds `count` items.
fn class(count: u32) -> usize {
    SIZES
        .partition_point(|&size| size < count)
        .min(SIZES.len() - 1)
}

/// Arrays go by the position of their first item.
#[derive(Debug)]
pub(crate) struct Pool<T> {
    items: Vec<T>,
    /// Arrays that are not used, by class.
    free: [Vec<u32>; SIZES.len()],
}

impl<T> Default for Pool<T> {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            free: Default::default(),
        }
    }
}

impl<T: Copy + Default> Pool<T> {
    /// Makes position zero one that is never handed out.
    pub(crate) fn reserve_first(&mut self) {
        if self.items.is_empty() {
            self.items.push(T::default());
        }
    }

    /// Where the items are.
    pub(super) fn address(&self) -> usize {
        self.items.as_ptr().expose_provenance()
    }

    #[inline(always)]
    pub(crate) fn get(&self, position: u32) -> T {
        self.items[position as usize]
    }

    pub(crate) fn get_mut(&mut self, position: u32) -> &mut T {
        &mut self.items[position as usize]
    }

    pub(crate) fn allocate(&mut self, count: u32) -> u32 {
        let class = class(count);
        if let Some(start) = self.free[class].pop() {
            let size = SIZES[class] as usize;
            self.items[start as usize..][..size].fill(T::default());
            return start;
        }
        let start = self.items.len();
        self.items
            .resize(start + SIZES[class] as usize, T::default());
        start as u32
    }

    pub(crate) fn release(&mut self, start: u32, count: u32) {
        self.free[class(count)].push(start);
    }

    /// Inserts an item at `at` in an array of `count` (0: none yet); gives where the array is now.
    pub(crate) fn insert(&mut self, start: u32, count: u32, at: u32, item: T) -> u32 {
        let (from, length, at) = (start as usize, count as usize, at as usize);
        let moved = if count == 0 || class(count) != class(count + 1) {
            let new = self.allocate(count + 1);
            self.items.copy_within(from..from + length, new as usize);
            if count > 0 {
                self.release(start, count);
            }
            new
        } else {
            start
        };
        let to = moved as usize;
        self.items.copy_within(to + at..to + length, to + at + 1);
        self.items[to + at] = item;
        moved
    }

    /// Removes the item at `at` from an array of `count` items; gives where the array is now.
    pub(crate) fn remove(&mut self, start: u32, count: u32, at: u32) -> u32 {
        let (from, length, at) = (start as usize, count as usize, at as usize);
        self.items
            .copy_within(from + at + 1..from + length, from + at);
        if count == 1 {
            self.release(start, 1);
            return 0;
        }
        if class(count) == class(count - 1) {
            return start;
        }
        let new = self.allocate(count - 1);
        self.items
            .copy_within(from..from + length - 1, new as usize);
        self.release(start, count);
        new
    }
}
