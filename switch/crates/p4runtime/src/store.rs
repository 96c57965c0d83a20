//! Entities as clients wrote them, to be read back.
//!
//! The switch holds what packets need; this holds the rest (metadata, order of writing) and answers
//! reads without the switch. Entries are kept serialized. A read keeps a table as it was at one
//! moment: a write during the read copies it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use prost::Message;

use crate::message::entity::{
    ActionProfileGroup, ActionProfileMember, CloneSessionEntry, DigestConfig, MulticastGroupEntry,
    TableEntry, ValueSetMember,
};

/// The entries of one table in the order of their insertion.
#[derive(Clone, Default)]
pub(crate) struct Entries {
    by_key: HashMap<Box<[u8]>, u64>,
    in_order: BTreeMap<u64, Box<[u8]>>,
    next: u64,
}

impl Entries {
    pub fn get(&self, identity: &[u8]) -> Option<&[u8]> {
        self.in_order
            .get(self.by_key.get(identity)?)
            .map(AsRef::as_ref)
    }

    /// The first entry at or after a place, and the place after it.
    pub fn from(&self, place: u64) -> Option<(&[u8], u64)> {
        let (place, entry) = self.in_order.range(place..).next()?;
        Some((entry, place + 1))
    }

    pub fn only(entry: Option<TableEntry>) -> Arc<Self> {
        let entries = entry.map(|entry| (0, entry.encode_to_vec().into_boxed_slice()));
        Arc::new(Self {
            in_order: entries.into_iter().collect(),
            ..Self::default()
        })
    }

    fn put(&mut self, identity: Box<[u8]>, entry: Box<[u8]>) -> Option<Box<[u8]>> {
        let next = self.next;
        let place = *self.by_key.entry(identity).or_insert(next);
        if place == next {
            self.next += 1;
        }
        self.in_order.insert(place, entry)
    }

    fn remove(&mut self, identity: &[u8]) -> Option<Box<[u8]>> {
        let place = self.by_key.remove(identity)?;
        self.in_order.remove(&place)
    }
}

/// State small enough to be copied as a whole when a batch may have to be undone.
#[derive(Clone, Default)]
pub(crate) struct Rest {
    /// Default entries that clients have set.
    pub defaults: BTreeMap<u32, TableEntry>,
    pub members: BTreeMap<(u32, u32), ActionProfileMember>,
    pub groups: BTreeMap<(u32, u32), ActionProfileGroup>,
    /// How often each action profile's entries are one-shot sets, and how often they are not.
    pub styles: BTreeMap<u32, Styles>,
    pub multicast: BTreeMap<u32, MulticastGroupEntry>,
    pub clones: BTreeMap<u32, CloneSessionEntry>,
    pub value_sets: BTreeMap<u32, Vec<ValueSetMember>>,
    pub digests: BTreeMap<u32, DigestConfig>,
}

/// Counts of an action profile's entries by the way they name actions.
#[derive(Clone, Copy, Default)]
pub(crate) struct Styles {
    pub one_shot: usize,
    pub by_number: usize,
}

impl Styles {
    pub fn of(&mut self, one_shot: bool) -> &mut usize {
        if one_shot {
            &mut self.one_shot
        } else {
            &mut self.by_number
        }
    }
}

#[derive(Default)]
pub(crate) struct Store {
    tables: BTreeMap<u32, Arc<Entries>>,
    pub program_defaults: BTreeMap<u32, TableEntry>,
    pub tables_with_constants: BTreeSet<u32>,
    pub rest: Arc<Rest>,
    undo: Option<Undo>,
}

/// Table, key, and the entry before.
type Before = (u32, Box<[u8]>, Option<Box<[u8]>>);

struct Undo {
    rest: Arc<Rest>,
    /// Each entry before its change, in the order of the changes.
    entries: Vec<Before>,
}

impl Store {
    pub fn entries(&self, table: u32) -> Arc<Entries> {
        self.tables.get(&table).cloned().unwrap_or_default()
    }

    pub fn entry(&self, table: u32, identity: &[u8]) -> Option<TableEntry> {
        // Serialized here, so it can be decoded.
        TableEntry::decode(self.tables.get(&table)?.get(identity)?).ok()
    }

    pub fn put(&mut self, identity: Box<[u8]>, entry: &TableEntry) {
        let serialized = entry.encode_to_vec().into_boxed_slice();
        let table = entry.table_id;
        let entries = Arc::make_mut(self.tables.entry(table).or_default());
        match &mut self.undo {
            None => {
                entries.put(identity, serialized);
            }
            Some(undo) => {
                let before = entries.put(identity.clone(), serialized);
                undo.entries.push((table, identity, before));
            }
        }
    }

    pub fn remove(&mut self, table: u32, identity: &[u8]) {
        let Some(entries) = self.tables.get_mut(&table) else {
            return;
        };
        let before = Arc::make_mut(entries).remove(identity);
        if let Some(undo) = &mut self.undo {
            undo.entries.push((table, identity.into(), before));
        }
    }

    pub fn rest_mut(&mut self) -> &mut Rest {
        Arc::make_mut(&mut self.rest)
    }

    /// The default entry of a table; without an action where there is none.
    pub fn default_entry(&self, table: u32) -> TableEntry {
        let known = self.rest.defaults.get(&table);
        let known = known.or_else(|| self.program_defaults.get(&table));
        known.cloned().unwrap_or_else(|| TableEntry {
            table_id: table,
            is_default_action: true,
            ..TableEntry::default()
        })
    }

    /// From here on changes can be undone, until [`Store::keep`] or [`Store::undo`].
    pub fn begin(&mut self) {
        self.undo = Some(Undo {
            rest: Arc::clone(&self.rest),
            entries: Vec::new(),
        });
    }

    pub fn keep(&mut self) {
        self.undo = None;
    }

    pub fn undo(&mut self) {
        let Some(undo) = self.undo.take() else {
            return;
        };
        self.rest = undo.rest;
        for (table, identity, before) in undo.entries.into_iter().rev() {
            let entries = Arc::make_mut(self.tables.entry(table).or_default());
            match before {
                Some(before) => {
                    entries.put(identity, before);
                }
                None => {
                    entries.remove(&identity);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(priority: i32, metadata: &[u8]) -> TableEntry {
        TableEntry {
            table_id: 1,
            priority,
            metadata: metadata.to_vec(),
            ..TableEntry::default()
        }
    }

    fn all(store: &Store) -> Vec<TableEntry> {
        let entries = store.entries(1);
        let mut place = 0;
        let mut found = Vec::new();
        while let Some((serialized, next)) = entries.from(place) {
            found.push(TableEntry::decode(serialized).unwrap());
            place = next;
        }
        found
    }

    fn put(store: &mut Store, key: u8, entry: &TableEntry) {
        store.put(Box::new([key]), entry);
    }

    #[test]
    fn entries_keep_the_order_of_their_insertion() {
        let mut store = Store::default();
        put(&mut store, 9, &entry(1, b"a"));
        put(&mut store, 3, &entry(2, b"b"));
        put(&mut store, 9, &entry(1, b"c"));
        assert_eq!(all(&store), [entry(1, b"c"), entry(2, b"b")]);
        store.remove(1, &[9]);
        put(&mut store, 9, &entry(1, b"d"));
        assert_eq!(all(&store), [entry(2, b"b"), entry(1, b"d")]);
    }

    #[test]
    fn a_reader_sees_one_moment() {
        let mut store = Store::default();
        put(&mut store, 1, &entry(1, b"a"));
        let moment = store.entries(1);
        put(&mut store, 2, &entry(2, b"b"));
        assert!(moment.from(1).is_none());
        assert_eq!(all(&store).len(), 2);
    }

    #[test]
    fn undo_restores_everything() {
        let mut store = Store::default();
        put(&mut store, 1, &entry(1, b"a"));
        put(&mut store, 2, &entry(2, b"b"));
        let before = all(&store);
        store.begin();
        store.remove(1, &[1]);
        put(&mut store, 1, &entry(1, b"x"));
        put(&mut store, 2, &entry(2, b"y"));
        put(&mut store, 3, &entry(3, b"z"));
        store.rest_mut().digests.insert(1, DigestConfig::default());
        store.undo();
        let mut after = all(&store);
        after.sort_by_key(|entry| entry.priority);
        assert_eq!(after, before);
        assert!(store.rest.digests.is_empty());
        store.begin();
        store.remove(1, &[1]);
        store.keep();
        store.undo();
        assert_eq!(all(&store).len(), 1);
    }
}
