//! Longest prefix match: one hash map per prefix length in use, longest first.

use super::hash::KeyMap;

#[derive(Debug, Default)]
pub(crate) struct LongestPrefix {
    lengths: Vec<PrefixLength>,
    scratch: Vec<u128>,
}

#[derive(Debug)]
struct PrefixLength {
    length: u32,
    mask: u128,
    entries: KeyMap,
}

impl LongestPrefix {
    /// Adds an entry: all key values (the prefix field already masked), the prefix field's mask, its length.
    pub(crate) fn insert(&mut self, values: &[u128], mask: u128, length: u32, entry: u32) {
        let place = match self
            .lengths
            .binary_search_by(|probe| length.cmp(&probe.length))
        {
            Ok(place) => place,
            Err(place) => {
                self.lengths.insert(
                    place,
                    PrefixLength {
                        length,
                        mask,
                        entries: KeyMap::default(),
                    },
                );
                place
            }
        };
        self.lengths[place].entries.insert(values.into(), entry);
    }

    pub(crate) fn remove(&mut self, values: &[u128], length: u32) {
        if let Ok(place) = self
            .lengths
            .binary_search_by(|probe| length.cmp(&probe.length))
        {
            self.lengths[place].entries.remove(values);
            if self.lengths[place].entries.is_empty() {
                self.lengths.remove(place);
            }
        }
    }

    /// The entry with the longest prefix of `key[field]`; the other fields match exactly.
    pub(crate) fn lookup(&mut self, key: &[u128], field: usize) -> Option<u32> {
        self.scratch.clear();
        self.scratch.extend_from_slice(key);
        for candidate in &self.lengths {
            self.scratch[field] = key[field] & candidate.mask;
            if let Some(entry) = candidate.entries.get(self.scratch.as_slice()) {
                return Some(*entry);
            }
        }
        None
    }
}
