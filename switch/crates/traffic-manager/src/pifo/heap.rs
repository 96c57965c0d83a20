//! A heap of keys, laid out for the cache.

/// Four keys of 16 bytes fill a cache line: one memory access finds the least child.
const CHILDREN: usize = 4;

/// Greater than every key: an unfilled place is never the least.
const EMPTY: u128 = u128::MAX;

#[derive(Clone)]
#[repr(align(64))]
struct Block([u128; CHILDREN]);

impl Block {
    /// The least key and its place; independent comparisons, no branches.
    fn least(&self) -> (usize, u128) {
        let [a, b, c, d] = self.0;
        let left = if b < a { (1, b) } else { (0, a) };
        let right = if d < c { (3, d) } else { (2, c) };
        if right.1 < left.1 { right } else { left }
    }
}

/// A heap of different keys, the least first. `u128::MAX` is no key.
///
/// It has no root: the first block has the least keys, and node `n` (counted over all blocks) has
/// block `n + 1` as its children. So parents precede children, and ascending keys are a heap.
#[derive(Default)]
pub struct Heap {
    blocks: Vec<Block>,
    length: usize,
}

impl Heap {
    pub fn len(&self) -> usize {
        self.length
    }

    pub fn peek(&self) -> Option<u128> {
        let (_, key) = self.blocks.first()?.least();
        (key != EMPTY).then_some(key)
    }

    pub fn push(&mut self, key: u128) {
        let place = self.length;
        if place / CHILDREN == self.blocks.len() {
            self.blocks.push(Block([EMPTY; CHILDREN]));
        }
        self.length += 1;
        self.rise(place, key);
    }

    pub fn pop(&mut self) -> Option<u128> {
        let (mut hole, least) = self.blocks.first()?.least();
        if least == EMPTY {
            return None;
        }
        self.length -= 1;
        let last = std::mem::replace(self.key(self.length), EMPTY);
        if last == least {
            return Some(least);
        }
        // The hole sinks to a leaf; the last key, also from a leaf, then seldom rises far.
        let filled = self.length.div_ceil(CHILDREN);
        while hole + 1 < filled {
            let (child, key) = self.blocks[hole + 1].least();
            *self.key(hole) = key;
            hole = (hole + 1) * CHILDREN + child;
        }
        self.rise(hole, last);
        Some(least)
    }

    /// Takes the greatest key. It has no children, so the key put in its place can only rise.
    pub fn pop_last(&mut self) -> Option<u128> {
        let keys = self.blocks.iter().flat_map(|block| block.0).enumerate();
        let (place, greatest) = keys.take(self.length).max_by_key(|(_, key)| *key)?;
        self.length -= 1;
        let last = std::mem::replace(self.key(self.length), EMPTY);
        if place != self.length {
            self.rise(place, last);
        }
        Some(greatest)
    }

    /// Replaces all keys by `keys`, in ascending order.
    pub fn refill(&mut self, keys: &[u128]) {
        self.blocks.clear();
        self.blocks.extend(keys.chunks(CHILDREN).map(|keys| {
            let mut block = Block([EMPTY; CHILDREN]);
            block.0[..keys.len()].copy_from_slice(keys);
            block
        }));
        self.length = keys.len();
    }

    pub fn keys(&self) -> impl Iterator<Item = u128> + '_ {
        let keys = self.blocks.iter().flat_map(|block| block.0);
        keys.filter(|key| *key != EMPTY)
    }

    pub fn clear(&mut self) {
        self.blocks.clear();
        self.length = 0;
    }

    fn key(&mut self, place: usize) -> &mut u128 {
        &mut self.blocks[place / CHILDREN].0[place % CHILDREN]
    }

    fn rise(&mut self, mut place: usize, key: u128) {
        while let Some(parent) = (place / CHILDREN).checked_sub(1) {
            let above = *self.key(parent);
            if above < key {
                break;
            }
            *self.key(place) = above;
            place = parent;
        }
        *self.key(place) = key;
    }
}
