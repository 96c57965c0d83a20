//! Match-action tables: what the program fixes, the entries the control plane gives, and the lookup per packet.

mod classifier;
mod hash;
mod lpm;

use classifier::Classifier;
use hash::KeyMap;
use lpm::LongestPrefix;

use crate::bits::mask_double;
use crate::error::{Code, WriteError};
use crate::packet::{Packet, Slot};

/// How a key field is matched. p4c turns `optional` into ternary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchKind {
    /// The whole value.
    Exact,
    /// The longest prefix wins.
    Lpm,
    /// Value under a mask.
    Ternary,
    /// From low to high, both included.
    Range,
    /// Exactly one value or any.
    Optional,
}

/// One field of a table's key.
#[derive(Debug, Clone)]
pub(crate) struct Key {
    pub(crate) name: String,
    pub(crate) kind: MatchKind,
    pub(crate) bits: u32,
    pub(crate) slot: Slot,
    /// Validity of the field's header: an invalid header's fields are matched as zero, as bmv2 does.
    pub(crate) valid: Option<u32>,
    /// Applied to the field before it is matched.
    pub(crate) mask: u128,
}

/// A condition on one key field: `low <= value & mask <= high`. Value under a mask has `low == high`; a range, an
/// all-ones mask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Check {
    pub(crate) mask: u128,
    pub(crate) low: u128,
    pub(crate) high: u128,
}

impl Check {
    pub(crate) fn masked(value: u128, mask: u128) -> Self {
        Self {
            mask,
            low: value & mask,
            high: value & mask,
        }
    }

    pub(crate) fn range(low: u128, high: u128) -> Self {
        Self {
            mask: u128::MAX,
            low,
            high,
        }
    }

    pub(crate) fn holds(&self, value: u128) -> bool {
        let value = value & self.mask;
        self.low <= value && value <= self.high
    }
}

/// What an entry or a miss does: an action of the table (by position in its list) and the runtime data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) action: u32,
    pub(crate) parameters: Box<[u64]>,
}

/// An action a table may take, and where control goes afterwards.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TableAction {
    pub(crate) action: u32,
    pub(crate) next: u32,
}

/// What a table is, as the program has it.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) name: String,
    pub(crate) keys: Vec<Key>,
    pub(crate) actions: Vec<TableAction>,
    /// Where control goes after a hit and a miss, if the program asks for that.
    pub(crate) hit: Option<u32>,
    pub(crate) miss: Option<u32>,
    /// Where control goes when there is no action to take.
    pub(crate) otherwise: u32,
    pub(crate) size: u32,
    pub(crate) constant_entries: bool,
    pub(crate) constant_default: bool,
    pub(crate) direct_counter: Option<String>,
    pub(crate) default: Option<Choice>,
}

/// One entry.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) checks: Box<[Check]>,
    /// Prefix length of the table's LPM field.
    pub(crate) prefix: u32,
    /// The larger wins. Entries of the program itself have the negative of bmv2's number, of which the smaller wins.
    pub(crate) priority: i64,
    pub(crate) choice: Choice,
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
}

#[derive(Debug)]
enum Index {
    /// By the identity of entries.
    Exact,
    Lpm {
        field: usize,
        prefixes: LongestPrefix,
    },
    /// `None` after a change, until the next lookup builds it.
    Priority(Option<Classifier>),
}

/// A table with its entries.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) shape: Shape,
    pub(crate) default: Option<Choice>,
    entries: Vec<Option<Entry>>,
    free: Vec<u32>,
    /// Match, and priority if the table has priorities, to entry number.
    identities: KeyMap,
    index: Index,
    key: Vec<u128>,
}

impl Table {
    pub(crate) fn new(shape: Shape) -> Self {
        let has = |kind| shape.keys.iter().any(|key| key.kind == kind);
        let index = if has(MatchKind::Ternary) || has(MatchKind::Range) || has(MatchKind::Optional)
        {
            Index::Priority(None)
        } else {
            match shape.keys.iter().position(|key| key.kind == MatchKind::Lpm) {
                Some(field) => Index::Lpm {
                    field,
                    prefixes: LongestPrefix::default(),
                },
                None => Index::Exact,
            }
        };
        let default = shape.default.clone();
        Self {
            shape,
            default,
            entries: Vec::new(),
            free: Vec::new(),
            identities: KeyMap::default(),
            index,
            key: Vec::new(),
        }
    }

    /// Whether overlapping entries are ordered by a priority.
    pub(crate) fn has_priorities(&self) -> bool {
        matches!(self.index, Index::Priority(_))
    }

    /// The number of the entry that matches the packet.
    pub(crate) fn lookup(&mut self, packet: &Packet) -> Option<u32> {
        if self.identities.is_empty() {
            return None;
        }
        self.key.clear();
        for key in &self.shape.keys {
            let visible = key.valid.is_none_or(|valid| packet.word(valid) != 0);
            let value = match key.slot {
                Slot::Word { word } if visible => u128::from(packet.word(word)),
                Slot::Wide { word, words: 2 } if visible => packet.double(word),
                _ => 0,
            };
            self.key.push(value & key.mask);
        }
        match &mut self.index {
            Index::Exact => self.identities.get(self.key.as_slice()).copied(),
            Index::Lpm { field, prefixes } => prefixes.lookup(&self.key, *field),
            Index::Priority(classifier) => {
                let (entries, keys) = (&self.entries, &self.shape.keys);
                classifier
                    .get_or_insert_with(|| classify(entries, keys))
                    .lookup(&self.key)
            }
        }
    }

    /// The entry a lookup found.
    pub(crate) fn entry(&self, number: u32) -> Option<&Entry> {
        self.entries.get(number as usize).and_then(Option::as_ref)
    }

    pub(crate) fn entry_mut(&mut self, number: u32) -> Option<&mut Entry> {
        self.entries
            .get_mut(number as usize)
            .and_then(Option::as_mut)
    }

    /// Every entry, in the order of their numbers.
    pub(crate) fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().flatten()
    }

    fn identity(&self, entry: &Entry) -> Vec<u128> {
        match self.index {
            Index::Exact => entry.checks.iter().map(|check| check.low).collect(),
            Index::Lpm { .. } => entry
                .checks
                .iter()
                .map(|check| check.low)
                .chain([u128::from(entry.prefix)])
                .collect(),
            Index::Priority(_) => entry
                .checks
                .iter()
                .flat_map(|check| [check.mask, check.low, check.high])
                .chain([entry.priority as u128])
                .collect(),
        }
    }

    /// The number of the entry with this match and priority.
    pub(crate) fn find(&self, entry: &Entry) -> Option<u32> {
        self.identities
            .get(self.identity(entry).as_slice())
            .copied()
    }

    pub(crate) fn insert(&mut self, entry: Entry) -> Result<(), WriteError> {
        let identity = self.identity(&entry);
        let name = &self.shape.name;
        if self.identities.contains_key(identity.as_slice()) {
            let message = format!("table {name}: an entry with this match and priority exists");
            return Err(WriteError::new(Code::AlreadyExists, message));
        }
        if self.identities.len() >= self.shape.size as usize {
            let message = format!("table {name} is full: it holds {} entries", self.shape.size);
            return Err(WriteError::new(Code::ResourceExhausted, message));
        }
        let number = self.free.pop().unwrap_or_else(|| {
            self.entries.push(None);
            self.entries.len() as u32 - 1
        });
        match &mut self.index {
            Index::Exact => {}
            Index::Lpm { field, prefixes } => {
                prefixes.insert(
                    &values(&entry),
                    entry.checks[*field].mask,
                    entry.prefix,
                    number,
                );
            }
            Index::Priority(classifier) => *classifier = None,
        }
        self.identities.insert(identity.into(), number);
        self.entries[number as usize] = Some(entry);
        Ok(())
    }

    /// Gives the entry of this match and priority another action; its counter goes on.
    pub(crate) fn modify(&mut self, entry: Entry) -> Result<(), WriteError> {
        let number = self.find(&entry);
        match number.and_then(|number| self.entry_mut(number)) {
            Some(present) => {
                present.choice = entry.choice;
                Ok(())
            }
            None => Err(self.not_found()),
        }
    }

    pub(crate) fn delete(&mut self, entry: &Entry) -> Result<(), WriteError> {
        let identity = self.identity(entry);
        let Some(number) = self.identities.remove(identity.as_slice()) else {
            return Err(self.not_found());
        };
        match &mut self.index {
            Index::Exact => {}
            Index::Lpm { prefixes, .. } => prefixes.remove(&values(entry), entry.prefix),
            Index::Priority(classifier) => *classifier = None,
        }
        self.entries[number as usize] = None;
        self.free.push(number);
        Ok(())
    }

    pub(crate) fn not_found(&self) -> WriteError {
        let message = format!(
            "table {}: no entry with this match and priority",
            self.shape.name
        );
        WriteError::new(Code::NotFound, message)
    }

    /// Drops every entry but the program's own, and restores the program's default action.
    pub(crate) fn clear(&mut self) {
        self.default = self.shape.default.clone();
        if self.shape.constant_entries {
            for entry in self.entries.iter_mut().flatten() {
                (entry.packets, entry.bytes) = (0, 0);
            }
            return;
        }
        self.entries.clear();
        self.free.clear();
        self.identities.clear();
        match &mut self.index {
            Index::Exact => {}
            Index::Lpm { prefixes, .. } => *prefixes = LongestPrefix::default(),
            Index::Priority(classifier) => *classifier = None,
        }
    }
}

fn values(entry: &Entry) -> Vec<u128> {
    entry.checks.iter().map(|check| check.low).collect()
}

fn classify(entries: &[Option<Entry>], keys: &[Key]) -> Classifier {
    let mut order: Vec<(u32, &Entry)> = Vec::with_capacity(entries.len());
    for (number, entry) in entries.iter().enumerate() {
        if let Some(entry) = entry {
            order.push((number as u32, entry));
        }
    }
    order.sort_by_key(|(number, entry)| (std::cmp::Reverse(entry.priority), *number));
    let bits: Vec<u32> = keys.iter().map(|key| key.bits).collect();
    Classifier::build(
        &bits,
        order
            .into_iter()
            .map(|(number, entry)| (number, &*entry.checks)),
    )
}

/// The mask of a prefix of `length` bits in a field of `bits`.
pub(crate) fn prefix_mask(length: u32, bits: u32) -> u128 {
    mask_double(bits) & !mask_double(bits.saturating_sub(length))
}

#[cfg(test)]
mod tests;
