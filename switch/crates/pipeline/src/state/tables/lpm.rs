//! Longest prefix match: a trie of six bits per level, as a tree bitmap (Eatherton, Varghese,
//! Dittia, ACM CCR 34/2, 2004). A node has two sets of 64 bits: the prefixes that end in it (of 0
//! to 5 bits more than its depth), and its children. The n-th of either is in a common array, by
//! the number of ones before it. Nothing is pushed into leaves, so a change touches one path, and a
//! look-up never finds it half built. Without other key fields, the first bits index an array.

use std::hint::select_unpredictable;

use super::exact::FlatMap;
use super::pool::Pool;

pub(crate) const STRIDE: u32 = 6;

/// Bits of the array at the root. The next levels begin at 19 and 25 bits, so that prefixes of 24
/// bits, the most frequent in routing tables, end in a node of the second level.
pub(crate) const ROOT_BITS: u32 = 13;

/// No node: number 0 is never used.
const NONE: u32 = 0;

/// Keys looked up at once.
pub(crate) const TOGETHER: usize = 32;

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Node {
    /// Prefixes that end here: bit 2^n - 1 + p is the one of n bits more with the value p.
    pub(crate) ends: u64,
    /// Children: bit v is the one after the six bits v.
    pub(crate) branches: u64,
    /// Where the children and the numbers of the entries start.
    pub(crate) children: u32,
    pub(crate) numbers: u32,
}

/// For six bits the prefixes of them that have up to five.
pub(crate) static PATHS: [u64; 64] = {
    let mut paths = [0; 64];
    let mut value = 0;
    while value < 64 {
        let mut length = 0;
        while length < STRIDE {
            paths[value] |= 1 << ((1 << length) - 1 + (value >> (STRIDE - length)));
            length += 1;
        }
        value += 1;
    }
    paths
};

#[derive(Debug)]
struct Root {
    slots: Vec<Slot>,
    /// Prefixes shorter than the root's bits: one more than the number at 2^length - 1 + value.
    short: Vec<u32>,
}

/// The prefixes that begin with certain bits.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Slot {
    /// The node with longer prefixes.
    pub(crate) node: u32,
    /// The longest of the short prefixes: one more than its number.
    pub(crate) short: u32,
}

/// Prefixes of one field, each within the entries whose other fields are equal.
#[derive(Debug)]
pub(crate) struct LongestPrefix {
    /// Words of the field in a search key, the most significant first; the other fields follow.
    columns: usize,
    bits: u32,
    root: Option<Root>,
    /// Nodes by the other fields.
    groups: FlatMap,
    nodes: Pool<Node>,
    numbers: Pool<u32>,
}

impl LongestPrefix {
    /// For a field of `bits` bits in `columns` words and `others` words of other fields.
    pub(crate) fn new(bits: u32, columns: usize, others: usize) -> Self {
        let root = (others == 0 && bits >= ROOT_BITS).then(|| Root {
            slots: Vec::new(),
            short: Vec::new(),
        });
        Self {
            columns,
            bits,
            root,
            groups: FlatMap::new(others),
            nodes: Pool::default(),
            numbers: Pool::default(),
        }
    }

    /// The bits of a key of one word whose first bits index an array.
    pub(super) fn word_bits(&self) -> Option<u32> {
        (self.root.is_some() && self.columns == 1).then_some(self.bits)
    }

    /// The addresses of the array, of the nodes, and of the numbers.
    pub(super) fn places(&self) -> [usize; 3] {
        let slots = self
            .root
            .as_ref()
            .map_or(0, |root| root.slots.as_ptr().expose_provenance());
        [slots, self.nodes.address(), self.numbers.address()]
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::new(self.bits, self.columns, self.groups.width());
    }

    /// The six bits from `depth` on; zero beyond the end.
    #[inline(always)]
    fn six(&self, key: &[u64], depth: u32) -> usize {
        let from = depth + self.columns as u32 * 64 - self.bits;
        let (word, shift) = ((from / 64) as usize, from % 64);
        if word >= self.columns {
            return 0;
        }
        let mut bits = key[word] << shift;
        if shift > 64 - STRIDE && word + 1 < self.columns {
            bits |= key[word + 1] >> (64 - shift);
        }
        (bits >> (64 - STRIDE)) as usize
    }

    #[inline(always)]
    fn first_bits(&self, key: &[u64], length: u32) -> usize {
        if length == 0 {
            return 0;
        }
        let from = self.columns as u32 * 64 - self.bits;
        let mut bits = key[0] << from;
        if from > 64 - length && self.columns > 1 {
            bits |= key[1] >> (64 - from);
        }
        (bits >> (64 - length)) as usize
    }

    #[inline(always)]
    pub(crate) fn lookup(&self, key: &[u64]) -> Option<u32> {
        let (mut node, mut found, mut depth) = match &self.root {
            Some(root) => {
                let slot = root.slots.get(self.first_bits(key, ROOT_BITS))?;
                (slot.node, slot.short.checked_sub(1), ROOT_BITS)
            }
            None => (self.groups.get(key.get(self.columns..)?)?, None, 0),
        };
        let mut end = None;
        while node != NONE {
            let here = self.nodes.get(node);
            let value = self.six(key, depth);
            let ends = here.ends & PATHS[value];
            if ends != 0 {
                end = Some((node, 63 - ends.leading_zeros()));
            }
            if here.branches >> value & 1 == 0 {
                break;
            }
            node = here.children + before(here.branches, value as u32);
            depth += STRIDE;
        }
        if let Some((node, bit)) = end {
            let node = self.nodes.get(node);
            found = Some(self.numbers.get(node.numbers + before(node.ends, bit)));
        }
        found
    }

    /// The numbers of all prefixes that a key begins with.
    pub(crate) fn all(&self, key: &[u64], found: &mut Vec<u32>) {
        let (mut node, mut depth) = match &self.root {
            Some(root) => {
                let short = (0..ROOT_BITS).filter_map(|length| {
                    let place = (1 << length) - 1 + self.first_bits(key, length);
                    root.short.get(place)?.checked_sub(1)
                });
                found.extend(short);
                let slot = root.slots.get(self.first_bits(key, ROOT_BITS));
                (slot.map_or(NONE, |slot| slot.node), ROOT_BITS)
            }
            None => {
                let others = key.get(self.columns..);
                (
                    others.and_then(|key| self.groups.get(key)).unwrap_or(NONE),
                    0,
                )
            }
        };
        while node != NONE {
            let here = self.nodes.get(node);
            let value = self.six(key, depth);
            let mut ends = here.ends & PATHS[value];
            while ends != 0 {
                let bit = ends.trailing_zeros();
                found.push(self.numbers.get(here.numbers + before(here.ends, bit)));
                ends &= ends - 1;
            }
            if here.branches >> value & 1 == 0 {
                break;
            }
            node = here.children + before(here.branches, value as u32);
            depth += STRIDE;
        }
    }

    /// As [`Self::lookup`] for up to [`TOGETHER`] keys, one after the other in `keys`: level by level,
    /// so that the memory of all is waited for at once.
    pub(crate) fn lookup_together(&self, keys: &[u64], found: &mut [Option<u32>]) {
        let words = self.columns + self.groups.width();
        let mut nodes = [NONE; TOGETHER];
        // Where the number of the longest prefix so far stands.
        let mut ends = [None; TOGETHER];
        let lanes = || keys.chunks_exact(words).zip(0..TOGETHER);
        for ((key, lane), found) in lanes().zip(&mut *found) {
            let slot = self.root.as_ref().map(|root| {
                let slot = root.slots.get(self.first_bits(key, ROOT_BITS));
                slot.copied().unwrap_or_default()
            });
            let group = || self.groups.get(&key[self.columns..]).unwrap_or(NONE);
            nodes[lane] = slot.map_or_else(group, |slot| slot.node);
            *found = slot.and_then(|slot| slot.short.checked_sub(1));
        }
        let mut depth = if self.root.is_some() { ROOT_BITS } else { 0 };
        while nodes.iter().any(|&node| node != NONE) {
            for (key, lane) in lanes() {
                // Number 0 has neither ends nor branches.
                let here = self.nodes.get(nodes[lane]);
                let value = self.six(key, depth);
                let on_path = here.ends & PATHS[value];
                if on_path != 0 {
                    let bit = 63 - on_path.leading_zeros();
                    ends[lane] = Some(here.numbers + before(here.ends, bit));
                }
                let child = here.children + before(here.branches, value as u32);
                let branches = here.branches >> value & 1 != 0;
                nodes[lane] = select_unpredictable(branches, child, NONE);
            }
            depth += STRIDE;
        }
        for (found, end) in found.iter_mut().zip(ends) {
            if let Some(end) = end {
                *found = Some(self.numbers.get(end));
            }
        }
    }

    pub(crate) fn find(&self, key: &[u64], length: u32) -> Option<u32> {
        let (mut node, mut depth) = match &self.root {
            Some(root) if length < ROOT_BITS => {
                return root
                    .short
                    .get(self.short_place(key, length))?
                    .checked_sub(1);
            }
            Some(root) => (
                root.slots.get(self.first_bits(key, ROOT_BITS))?.node,
                ROOT_BITS,
            ),
            None => (self.groups.get(&key[self.columns..])?, 0),
        };
        while node != NONE {
            let here = self.nodes.get(node);
            let value = self.six(key, depth);
            if length < depth + STRIDE {
                let bit = end_of(value, length - depth);
                return (here.ends >> bit & 1 == 1)
                    .then(|| self.numbers.get(here.numbers + before(here.ends, bit)));
            }
            if here.branches >> value & 1 == 0 {
                break;
            }
            node = here.children + before(here.branches, value as u32);
            depth += STRIDE;
        }
        None
    }

    fn short_place(&self, key: &[u64], length: u32) -> usize {
        (1 << length) - 1 + self.first_bits(key, length)
    }

    /// Adds a new prefix; bits after it are zero.
    pub(crate) fn insert(&mut self, key: &[u64], length: u32, number: u32) {
        self.nodes.reserve_first();
        let first = self.first_bits(key, ROOT_BITS.min(self.bits));
        let place = self.short_place(key, length.min(ROOT_BITS - 1).min(self.bits));
        let (mut node, mut depth) = match &mut self.root {
            Some(root) => {
                root.slots.resize(1 << ROOT_BITS, Slot::default());
                root.short.resize(1 << ROOT_BITS, 0);
                if length < ROOT_BITS {
                    let outer = enclosing(&root.short, place);
                    root.short[place] = number + 1;
                    // Unless a longer short prefix is there.
                    for slot in covered(&mut root.slots, first, length) {
                        if slot.short == outer {
                            slot.short = number + 1;
                        }
                    }
                    return;
                }
                let slot = &mut root.slots[first];
                if slot.node == NONE {
                    slot.node = self.nodes.allocate(1);
                }
                (slot.node, ROOT_BITS)
            }
            None => {
                let others = &key[self.columns..];
                let node = self.groups.get(others).unwrap_or_else(|| {
                    let node = self.nodes.allocate(1);
                    self.groups.insert(others, node);
                    node
                });
                (node, 0)
            }
        };
        while length >= depth + STRIDE {
            let value = self.six(key, depth);
            let here = self.nodes.get(node);
            let rank = before(here.branches, value as u32);
            let mut children = here.children;
            if here.branches >> value & 1 == 0 {
                let count = here.branches.count_ones();
                children = self.nodes.insert(children, count, rank, Node::default());
                let here = self.nodes.get_mut(node);
                here.children = children;
                here.branches |= 1 << value;
            }
            node = children + rank;
            depth += STRIDE;
        }
        let bit = end_of(self.six(key, depth), length - depth);
        let here = self.nodes.get(node);
        let (count, rank) = (here.ends.count_ones(), before(here.ends, bit));
        let numbers = self.numbers.insert(here.numbers, count, rank, number);
        let here = self.nodes.get_mut(node);
        here.numbers = numbers;
        here.ends |= 1 << bit;
    }

    /// Removes an existing prefix.
    pub(crate) fn remove(&mut self, key: &[u64], length: u32) {
        if self.find(key, length).is_none() {
            return;
        }
        let first = self.first_bits(key, ROOT_BITS.min(self.bits));
        let place = self.short_place(key, length.min(ROOT_BITS - 1).min(self.bits));
        let (mut node, mut depth) = match &mut self.root {
            Some(root) if length < ROOT_BITS => {
                let number = std::mem::take(&mut root.short[place]);
                let outer = enclosing(&root.short, place);
                for slot in covered(&mut root.slots, first, length) {
                    if slot.short == number {
                        slot.short = outer;
                    }
                }
                return;
            }
            Some(root) => (root.slots[first].node, ROOT_BITS),
            None => match self.groups.get(&key[self.columns..]) {
                Some(node) => (node, 0),
                None => return,
            },
        };
        let mut path = Vec::new();
        while length >= depth + STRIDE {
            let value = self.six(key, depth);
            path.push((node, value as u32));
            let here = self.nodes.get(node);
            node = here.children + before(here.branches, value as u32);
            depth += STRIDE;
        }
        let bit = end_of(self.six(key, depth), length - depth);
        let here = self.nodes.get(node);
        let (count, rank) = (here.ends.count_ones(), before(here.ends, bit));
        let numbers = self.numbers.remove(here.numbers, count, rank);
        let here = self.nodes.get_mut(node);
        here.numbers = numbers;
        here.ends &= !(1 << bit);
        // Empty nodes go.
        while (self.nodes.get(node).ends, self.nodes.get(node).branches) == (0, 0) {
            let Some((parent, value)) = path.pop() else {
                self.nodes.release(node, 1);
                match &mut self.root {
                    Some(root) => root.slots[first].node = NONE,
                    None => self.groups.remove(&key[self.columns..]),
                }
                return;
            };
            let above = self.nodes.get(parent);
            let (count, rank) = (above.branches.count_ones(), before(above.branches, value));
            let children = self.nodes.remove(above.children, count, rank);
            let above = self.nodes.get_mut(parent);
            above.children = children;
            above.branches &= !(1 << value);
            node = parent;
        }
    }
}

/// Ones before `bit`.
#[inline(always)]
fn before(set: u64, bit: u32) -> u32 {
    (set & ((1 << bit) - 1)).count_ones()
}

/// The bit of the prefix that ends after `length` of the six bits `value`.
fn end_of(value: usize, length: u32) -> u32 {
    (1 << length) - 1 + (value as u32 >> (STRIDE - length))
}

/// The slots that begin with the first `length` bits of `first`.
fn covered(slots: &mut [Slot], first: usize, length: u32) -> &mut [Slot] {
    let span = 1 << (ROOT_BITS - length);
    let start = first & !(span - 1);
    &mut slots[start..start + span]
}

/// The longest prefix in the array that the prefix at `place` begins with, itself excluded.
fn enclosing(short: &[u32], mut place: usize) -> u32 {
    while place > 0 {
        place = (place - 1) / 2;
        if short[place] != 0 {
            return short[place];
        }
    }
    0
}
