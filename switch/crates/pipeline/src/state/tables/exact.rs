//! Exact matching: an array where the key is short, otherwise a hash table with the keys in it.

/// Keys of up to this many bits index an array.
const DIRECT_BITS: u32 = 16;

#[derive(Debug)]
pub(crate) enum Exact {
    /// One more than the number, zero without one, at the key; no memory before the first entry.
    Direct {
        size: usize,
        numbers: Vec<u32>,
    },
    Map(FlatMap),
}

impl Exact {
    /// For keys of `bits` bits in `words` words.
    pub(crate) fn new(bits: u32, words: usize) -> Self {
        if bits <= DIRECT_BITS && words == 1 {
            let size = 1 << bits;
            Self::Direct {
                size,
                numbers: Vec::new(),
            }
        } else {
            Self::Map(FlatMap::new(words))
        }
    }

    #[inline]
    pub(crate) fn get(&self, key: &[u64]) -> Option<u32> {
        match self {
            Self::Direct { numbers, .. } => {
                let index = usize::try_from(*key.first()?).ok()?;
                numbers.get(index)?.checked_sub(1)
            }
            Self::Map(map) => map.get(key),
        }
    }

    /// Adds a new key.
    pub(crate) fn insert(&mut self, key: &[u64], number: u32) {
        match self {
            Self::Direct { size, numbers } => {
                numbers.resize(*size, 0);
                if let Some(place) = numbers.get_mut(key[0] as usize) {
                    *place = number + 1;
                }
            }
            Self::Map(map) => map.insert(key, number),
        }
    }

    pub(crate) fn remove(&mut self, key: &[u64]) {
        match self {
            Self::Direct { numbers, .. } => {
                if let Some(place) = numbers.get_mut(key[0] as usize) {
                    *place = 0;
                }
            }
            Self::Map(map) => map.remove(key),
        }
    }

    pub(crate) fn clear(&mut self) {
        match self {
            Self::Direct { numbers, .. } => *numbers = Vec::new(),
            Self::Map(map) => *map = FlatMap::new(map.width),
        }
    }
}

/// A hash table with open addressing and linear probing: a slot is a number and its key.
#[derive(Debug)]
pub(crate) struct FlatMap {
    width: usize,
    /// Slots of `width + 1` words: one more than the number (zero if free), then the key.
    slots: Vec<u64>,
    /// Number of slots (a power of two, or zero) less one.
    last: usize,
    length: usize,
}

/// 2^64 divided by the golden ratio (Knuth, TAOCP 6.4).
pub(crate) const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// Multiplies to 128 bits and folds, word by word: every key bit reaches every bit of the hash.
#[inline]
pub(crate) fn hash(key: &[u64]) -> usize {
    let mut state = MULTIPLIER;
    for &word in key {
        let product = u128::from(state ^ word) * u128::from(MULTIPLIER);
        state = (product as u64 ^ (product >> 64) as u64).rotate_left(23);
    }
    (state ^ state >> 29) as usize
}

impl FlatMap {
    pub(crate) fn new(width: usize) -> Self {
        Self {
            width,
            slots: Vec::new(),
            last: 0,
            length: 0,
        }
    }

    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// Where the slots are, and the number of them less one.
    pub(super) fn place(&self) -> (usize, usize) {
        (self.slots.as_ptr().expose_provenance(), self.last)
    }

    #[inline]
    pub(crate) fn get(&self, key: &[u64]) -> Option<u32> {
        let place = self.find(key)?;
        Some((self.slots[place] - 1) as u32)
    }

    /// Where the slot of a key starts.
    #[inline]
    fn find(&self, key: &[u64]) -> Option<usize> {
        if self.length == 0 {
            return None;
        }
        let stride = self.width + 1;
        let mut slot = hash(key) & self.last;
        // Some slot is always free, so this ends.
        loop {
            let found = self.slots.get(slot * stride..(slot + 1) * stride)?;
            if found[0] == 0 {
                return None;
            }
            if found[1..]
                .iter()
                .zip(key)
                .all(|(found, word)| found == word)
            {
                return Some(slot * stride);
            }
            slot = (slot + 1) & self.last;
        }
    }

    /// Adds a new key.
    pub(crate) fn insert(&mut self, key: &[u64], number: u32) {
        if self.slots.is_empty() || (self.length + 1) * 3 > (self.last + 1) * 2 {
            self.grow();
        }
        self.put(key, u64::from(number) + 1);
        self.length += 1;
    }

    fn put(&mut self, key: &[u64], tag: u64) {
        let stride = self.width + 1;
        let mut slot = hash(key) & self.last;
        while self.slots[slot * stride] != 0 {
            slot = (slot + 1) & self.last;
        }
        self.slots[slot * stride] = tag;
        self.slots[slot * stride + 1..][..self.width].copy_from_slice(key);
    }

    fn grow(&mut self) {
        let stride = self.width + 1;
        let slots = if self.slots.is_empty() {
            8
        } else {
            (self.last + 1) * 2
        };
        let before = std::mem::replace(&mut self.slots, vec![0; slots * stride]);
        self.last = slots - 1;
        for slot in before.chunks_exact(stride) {
            if slot[0] != 0 {
                self.put(&slot[1..], slot[0]);
            }
        }
    }

    /// Removes a key; keys pushed away from their own slots move back.
    pub(crate) fn remove(&mut self, key: &[u64]) {
        let Some(place) = self.find(key) else { return };
        let stride = self.width + 1;
        let mut free = place / stride;
        let mut slot = free;
        loop {
            slot = (slot + 1) & self.last;
            if self.slots[slot * stride] == 0 {
                break;
            }
            let home = hash(&self.slots[slot * stride + 1..][..self.width]) & self.last;
            // It may move to the free slot before it only if its own slot is not between the two.
            if (slot.wrapping_sub(home) & self.last) >= (slot.wrapping_sub(free) & self.last) {
                self.slots
                    .copy_within(slot * stride..(slot + 1) * stride, free * stride);
                free = slot;
            }
        }
        self.slots[free * stride] = 0;
        self.length -= 1;
    }
}

/// Numbers of entries by a hash of their match; the entries themselves are elsewhere.
#[derive(Debug, Default)]
pub(crate) struct NumberSet {
    /// One more than the number, zero if free; a power of two of them, or none.
    slots: Vec<u32>,
    length: usize,
}

impl NumberSet {
    /// The number under this hash that `same` accepts.
    pub(crate) fn find(&self, hash: usize, same: impl Fn(u32) -> bool) -> Option<u32> {
        self.position(hash, same)
            .map(|position| self.slots[position] - 1)
    }

    fn position(&self, hash: usize, same: impl Fn(u32) -> bool) -> Option<usize> {
        if self.slots.is_empty() {
            return None;
        }
        let last = self.slots.len() - 1;
        let mut slot = hash & last;
        while let Some(number) = self.slots[slot].checked_sub(1) {
            if same(number) {
                return Some(slot);
            }
            slot = (slot + 1) & last;
        }
        None
    }

    /// Adds a new number; `hash_of` is called for those that are there.
    pub(crate) fn insert(&mut self, hash: usize, number: u32, hash_of: impl Fn(u32) -> usize) {
        if (self.length + 1) * 3 > self.slots.len() * 2 {
            let larger = vec![0; (self.slots.len() * 2).max(8)];
            let before = std::mem::replace(&mut self.slots, larger);
            for number in before.into_iter().filter_map(|tag| tag.checked_sub(1)) {
                self.place(hash_of(number), number);
            }
        }
        self.place(hash, number);
        self.length += 1;
    }

    fn place(&mut self, hash: usize, number: u32) {
        let last = self.slots.len() - 1;
        let mut slot = hash & last;
        while self.slots[slot] != 0 {
            slot = (slot + 1) & last;
        }
        self.slots[slot] = number + 1;
    }

    pub(crate) fn remove(&mut self, hash: usize, number: u32, hash_of: impl Fn(u32) -> usize) {
        let Some(mut free) = self.position(hash, |found| found == number) else {
            return;
        };
        let last = self.slots.len() - 1;
        let mut slot = free;
        loop {
            slot = (slot + 1) & last;
            let Some(number) = self.slots[slot].checked_sub(1) else {
                break;
            };
            let home = hash_of(number) & last;
            if (slot.wrapping_sub(home) & last) >= (slot.wrapping_sub(free) & last) {
                self.slots[free] = self.slots[slot];
                free = slot;
            }
        }
        self.slots[free] = 0;
        self.length -= 1;
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::default();
    }
}
