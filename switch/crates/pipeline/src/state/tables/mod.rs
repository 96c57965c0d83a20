//! Match-action tables: what the program fixes, the entries the control plane gives, and the lookup per packet.
//!
//! ```text
//!   packet --key--> words --exact | lpm | classifier--> number of an entry --store--> action, parameters
//!                                                                         '--profile--> member --> action, parameters
//! ```

mod classifier;
mod entry;
mod exact;
mod key;
mod lpm;
mod pool;
pub(crate) mod profile;
mod store;

use classifier::{Classifier, Matches, Test};
use exact::{Exact, NumberSet, hash};
use key::Extractor;
use lpm::LongestPrefix;
use profile::Profile;
use store::{GROUP, MEMBER, Store, StoreLayout};

use std::sync::Arc;

use crate::error::{Code, WriteError};
use crate::packet::Packet;
use crate::program::{
    ActionChoice, Address, Key, MatchKind, TableShape, Unit, column_mask, columns_of,
};
use crate::time::Time;

pub(crate) use entry::{Choice, SetMember, TableEntry, WeightedMember};

#[derive(Debug)]
enum Index {
    Exact(Exact),
    Lpm(Box<LongestPrefix>),
    Priority {
        classifier: Box<Classifier>,
        /// By match and priority.
        identities: NumberSet,
    },
}

/// A table with its entries.
#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) shape: Arc<TableShape>,
    default: Option<ActionChoice>,
    /// Where control goes on, if a packet that misses finds nothing to do.
    passed: Option<Address>,
    pub(crate) profile: Option<Box<Profile>>,
    extractor: Extractor,
    index: Index,
    store: Store,
    columns: usize,
    /// The search key of the present packet.
    key: Vec<u64>,
}

/// What a packet gets from a table.
#[derive(Debug)]
pub(crate) struct Taken<'a> {
    /// Number of the action in the program; none on a miss of a table without a default action.
    pub(crate) action: Option<u32>,
    pub(crate) parameters: &'a [u64],
    /// Where control goes next.
    pub(crate) next: u32,
}

impl Table {
    /// A table with the entries that the program gives.
    pub(crate) fn new(shape: Arc<TableShape>) -> Self {
        let keys = &shape.keys;
        let has = |kind| keys.iter().any(|key| key.kind == kind);
        let columns = keys.iter().map(|key| columns_of(key.bits)).sum();
        let (extractor, index);
        if has(MatchKind::Ternary) || has(MatchKind::Range) || has(MatchKind::Optional) {
            extractor = Extractor::columns(keys);
            let (tests, full) = tests(keys);
            index = Index::Priority {
                classifier: Box::new(Classifier::new(tests, full)),
                identities: NumberSet::default(),
            };
        } else if let Some(field) = keys.iter().position(|key| key.kind == MatchKind::Lpm) {
            extractor = Extractor::prefix_first(keys, field);
            let bits = keys[field].bits;
            let words = columns_of(bits);
            let others = extractor.words() - words;
            let prefixes = LongestPrefix::new(bits, words, others);
            index = Index::Lpm(Box::new(prefixes));
        } else {
            let (packed, bits) = Extractor::packed(keys);
            index = Index::Exact(Exact::new(bits, packed.words()));
            extractor = packed;
        }
        let priorities = shape.has_priorities();
        let layout = StoreLayout {
            words: if priorities { columns * 2 } else { columns },
            values_only: !priorities,
            parameters: if shape.profile.is_some() {
                0
            } else {
                shape.parameter_words as usize
            },
            prefixes: matches!(index, Index::Lpm(_)),
            priorities,
            counters: shape.direct_counter.is_some(),
            meters: shape.direct_meter.is_some(),
            timeouts: shape.timeouts,
        };
        let mut table = Self {
            default: None,
            passed: None,
            key: vec![0; extractor.words()],
            store: Store::new(layout),
            profile: shape.profile.clone().map(Profile::new).map(Box::new),
            extractor,
            index,
            columns,
            shape: Arc::clone(&shape),
        };
        table.set_default(shape.default.clone());
        for entry in &shape.entries {
            let inserted = table.insert(TableEntry {
                words: entry.words.clone(),
                prefix: entry.prefix,
                priority: entry.priority,
                choice: Choice::Action(entry.choice.clone()),
                idle_timeout: 0,
            });
            debug_assert!(inserted.is_ok(), "the loader lets through: {inserted:?}");
        }
        table.settle();
        table
    }

    /// Whether every packet misses.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.store.length() == 0
    }

    pub(crate) fn default(&self) -> Option<&ActionChoice> {
        self.default.as_ref()
    }

    /// Sets the default action.
    pub(crate) fn set_default(&mut self, choice: Option<ActionChoice>) {
        self.default = choice;
        let idle = |choice: &ActionChoice| self.shape.actions[choice.action as usize].idle;
        let missed = self.default.as_ref().is_none_or(idle);
        self.passed = missed.then(|| self.missed().next);
    }

    /// Where control goes on, if the table is empty and its default action does nothing.
    #[inline(always)]
    pub(crate) fn passed(&self) -> Option<Address> {
        self.passed.filter(|_| self.is_empty())
    }

    /// What a packet gets that matches no entry.
    #[inline(always)]
    pub(crate) fn missed(&self) -> Taken<'_> {
        let shape = &self.shape;
        match &self.default {
            Some(default) => {
                let taken = shape.actions[default.action as usize];
                Taken {
                    action: Some(taken.action),
                    parameters: &default.parameters,
                    next: shape.miss.unwrap_or(taken.next),
                }
            }
            None => Taken {
                action: None,
                parameters: &[],
                next: shape.miss.unwrap_or(shape.otherwise),
            },
        }
    }

    /// Looks the packet up; counts, meters and notes the hit.
    pub(crate) fn apply(&mut self, packet: &mut Packet, now: Time) -> Taken<'_> {
        let found = self.lookup(packet);
        let choice = match found {
            None => self
                .default
                .as_ref()
                .map(|default| (default.action, &*default.parameters)),
            Some(number) => {
                self.note_hit(number, packet, now);
                match self.store.choice(number) {
                    action @ ..MEMBER => Some((action, self.store.parameters(number))),
                    indirect => self.profile.as_mut().and_then(|profile| {
                        let member = if indirect >= GROUP {
                            profile.pick(indirect - GROUP, packet)
                        } else {
                            profile.member(indirect - MEMBER)
                        };
                        member.map(|member| (member.action, &*member.parameters))
                    }),
                }
            }
        };
        let shape = &self.shape;
        let decided = if found.is_some() {
            shape.hit
        } else {
            shape.miss
        };
        match choice {
            Some((action, parameters)) => {
                let taken = shape.actions[action as usize];
                Taken {
                    action: Some(taken.action),
                    parameters,
                    next: decided.unwrap_or(taken.next),
                }
            }
            None => Taken {
                action: None,
                parameters: &[],
                next: decided.unwrap_or(shape.otherwise),
            },
        }
    }

    #[inline]
    fn note_hit(&mut self, number: u32, packet: &mut Packet, now: Time) {
        if let Some((packets, bytes)) = self.store.count_mut(number) {
            *packets = packets.wrapping_add(1);
            *bytes = bytes.wrapping_add(packet.received_length.into());
        }
        if let Some(meter) = self.store.meter_mut(number)
            && let Some(direct) = &self.shape.direct_meter
        {
            let amount = match direct.unit {
                Unit::Packets => 1,
                Unit::Bytes => packet.received_length,
            };
            let colour = meter.colour(now, amount);
            packet.set_field(Some(direct.target), colour);
        }
        self.store.hit(number, now);
    }

    /// The number of the entry that matches the packet.
    #[inline]
    pub(crate) fn lookup(&mut self, packet: &Packet) -> Option<u32> {
        if self.store.length() == 0 {
            return None;
        }
        self.extractor.extract(packet, &mut self.key);
        match &self.index {
            Index::Exact(exact) => exact.get(&self.key),
            Index::Lpm(prefixes) => prefixes.lookup(&self.key),
            Index::Priority { classifier, .. } => {
                let matches = Matches {
                    words: &self.store.words,
                    columns: self.columns,
                };
                classifier.lookup(&self.key, matches)
            }
        }
    }

    /// The words an entry goes by in an exact or prefix index.
    fn key_of(&self, entry: &TableEntry) -> Vec<u64> {
        let values: Vec<u64> = entry.words.iter().copied().step_by(2).collect();
        let mut key = vec![0; self.extractor.words()];
        self.extractor.of_columns(&values, &mut key);
        key
    }

    /// The number of the entry with this match and priority.
    pub(crate) fn find(&self, entry: &TableEntry) -> Option<u32> {
        match &self.index {
            Index::Exact(exact) => exact.get(&self.key_of(entry)),
            Index::Lpm(prefixes) => prefixes.find(&self.key_of(entry), entry.prefix),
            Index::Priority { identities, .. } => {
                let same = |number: u32| {
                    self.store.priority(number) == entry.priority
                        && self.store.words_of(number) == &*entry.words
                };
                identities.find(identity(&entry.words, entry.priority), same)
            }
        }
    }

    pub(crate) fn insert(&mut self, entry: TableEntry) -> Result<(), WriteError> {
        let name = &self.shape.name;
        if self.find(&entry).is_some() {
            return Err(self.shape.exists());
        }
        if self.store.length() >= self.shape.size as usize {
            let message = format!("table {name} is full: it holds {} entries", self.shape.size);
            return Err(WriteError::new(Code::ResourceExhausted, message));
        }
        let choice = self.use_choice(&entry.choice)?;
        let number = self.store.add(&entry, choice);
        let key = match self.index {
            Index::Priority { .. } => Vec::new(),
            _ => self.key_of(&entry),
        };
        let store = &self.store;
        match &mut self.index {
            Index::Exact(exact) => exact.insert(&key, number),
            Index::Lpm(prefixes) => prefixes.insert(&key, entry.prefix, number),
            Index::Priority {
                classifier,
                identities,
            } => {
                let hash_of =
                    |number: u32| identity(store.words_of(number), store.priority(number));
                identities.insert(hash_of(number), number, hash_of);
                let matches = Matches {
                    words: &store.words,
                    columns: self.columns,
                };
                classifier.insert(order(entry.priority, number), matches);
            }
        }
        Ok(())
    }

    /// Gives the entry of this match and priority another action; its counter and meter go on.
    pub(crate) fn modify(&mut self, entry: TableEntry) -> Result<(), WriteError> {
        let Some(number) = self.find(&entry) else {
            return Err(self.not_found());
        };
        let choice = self.use_choice(&entry.choice)?;
        self.release_choice(self.store.choice(number));
        self.store
            .choose(number, choice, &entry.choice, entry.idle_timeout);
        Ok(())
    }

    pub(crate) fn delete(&mut self, entry: &TableEntry) -> Result<(), WriteError> {
        let Some(number) = self.find(entry) else {
            return Err(self.not_found());
        };
        let key = match self.index {
            Index::Priority { .. } => Vec::new(),
            _ => self.key_of(entry),
        };
        let store = &self.store;
        match &mut self.index {
            Index::Exact(exact) => exact.remove(&key),
            Index::Lpm(prefixes) => prefixes.remove(&key, entry.prefix),
            Index::Priority {
                classifier,
                identities,
            } => {
                let hash_of =
                    |number: u32| identity(store.words_of(number), store.priority(number));
                identities.remove(hash_of(number), number, hash_of);
                let matches = Matches {
                    words: &store.words,
                    columns: self.columns,
                };
                classifier.remove(order(entry.priority, number), matches);
            }
        }
        self.release_choice(self.store.choice(number));
        self.store.remove(number);
        Ok(())
    }

    /// Makes look-ups as fast as they can be after a number of changes; cheap if there were few.
    pub(crate) fn settle(&mut self) {
        if let Index::Priority { classifier, .. } = &mut self.index {
            classifier.settle(Matches {
                words: &self.store.words,
                columns: self.columns,
            });
        }
    }

    /// What the store keeps of a choice, counted in its profile.
    fn use_choice(&mut self, choice: &Choice) -> Result<u32, WriteError> {
        let profile = match (choice, &mut self.profile) {
            (Choice::Action(choice), None) => return Ok(choice.action),
            (Choice::None, _) => return Ok(0),
            (Choice::Action(_), Some(profile)) => {
                return Err(self.shape.needs_member(&profile.shape));
            }
            (_, None) => {
                let message = format!("table {} has no action profile", self.shape.name);
                return Err(WriteError::new(Code::InvalidArgument, message));
            }
            (_, Some(profile)) => profile,
        };
        Ok(match choice {
            Choice::Member(id) => {
                let place = profile.member_place(*id)?;
                profile.use_member(place, true);
                MEMBER + place
            }
            Choice::Group(id) => {
                let place = profile.group_place(*id)?;
                profile.use_group(place, true);
                GROUP + place
            }
            Choice::Set(set) => {
                let place = profile.add_set(set)?;
                profile.use_group(place, true);
                GROUP + place
            }
            Choice::Action(_) | Choice::None => 0,
        })
    }

    fn release_choice(&mut self, choice: u32) {
        if let Some(profile) = &mut self.profile {
            match choice {
                ..MEMBER => {}
                MEMBER..GROUP => profile.use_member(choice - MEMBER, false),
                GROUP.. => profile.use_group(choice - GROUP, false),
            }
        }
    }

    /// What an entry takes, as it was given.
    pub(crate) fn choice_of(&self, number: u32) -> Choice {
        let choice = self.store.choice(number);
        match (&self.profile, choice) {
            (Some(profile), MEMBER..GROUP) => match profile.member_id(choice - MEMBER) {
                Some(id) => Choice::Member(id),
                None => Choice::None,
            },
            (Some(profile), GROUP..) => match profile.group_id(choice - GROUP) {
                Some(id) => Choice::Group(id),
                None => Choice::Set(profile.action_set(choice - GROUP)),
            },
            _ => Choice::Action(ActionChoice {
                action: choice,
                parameters: self.store.parameters(number).into(),
            }),
        }
    }

    pub(crate) fn store(&self) -> &Store {
        &self.store
    }

    pub(crate) fn store_mut(&mut self) -> &mut Store {
        &mut self.store
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
        self.set_default(self.shape.default.clone());
        if self.shape.constant_entries {
            self.store.reset_state();
            return;
        }
        self.store.clear();
        if let Some(profile) = &mut self.profile {
            profile.clear();
        }
        match &mut self.index {
            Index::Exact(exact) => exact.clear(),
            Index::Lpm(prefixes) => prefixes.clear(),
            Index::Priority {
                classifier,
                identities,
            } => {
                classifier.clear();
                identities.clear();
            }
        }
    }
}

/// The larger priority comes first, then the smaller number.
fn order(priority: i32, number: u32) -> u64 {
    let rank = i64::from(i32::MAX) - i64::from(priority);
    (rank as u64) << 32 | u64::from(number)
}

fn identity(words: &[u64], priority: i32) -> usize {
    hash(words) ^ hash(&[priority as u64])
}

/// How each key field is compared, and the bits of each column.
fn tests(keys: &[Key]) -> (Vec<Test>, Vec<u64>) {
    let (mut tests, mut full) = (Vec::new(), Vec::new());
    for key in keys {
        let (column, columns) = (full.len(), columns_of(key.bits));
        full.extend((0..columns).map(|index| column_mask(key.bits, index)));
        match key.kind {
            MatchKind::Range if columns > 1 => tests.push(Test::Wide { column, columns }),
            MatchKind::Range => tests.push(Test::Range { column }),
            _ => tests.extend((column..column + columns).map(|column| Test::Masked { column })),
        }
    }
    (tests, full)
}

#[cfg(test)]
mod tests;
