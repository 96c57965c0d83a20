//! Changes of a table: entries come and go.

use super::classifier::Matches;
use super::entry::{Choice, TableEntry};
use super::exact::hash;
use super::store::{GROUP, MEMBER, Store};
use super::{Index, Table};
use crate::error::{Code, WriteError};
use crate::program::ActionChoice;
use crate::state::externs::counter::Count;
use crate::state::externs::meter::Meter;

impl Table {
    /// The words an entry goes by in an exact or prefix index.
    fn key_of(&self, entry: &TableEntry) -> Vec<u64> {
        let values: Vec<u64> = entry.words.iter().copied().step_by(2).collect();
        let mut key = vec![0; self.extractor.words()];
        self.extractor.of_columns(&values, &mut key);
        key
    }

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
        self.refresh_site();
        Ok(())
    }

    /// Gives the entry of this match and priority another action; counter and meter go on.
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
        self.refresh_site();
        Ok(())
    }

    pub(crate) fn settle(&mut self) {
        if let Index::Priority { classifier, .. } = &mut self.index {
            classifier.settle(Matches {
                words: &self.store.words,
                columns: self.columns,
            });
        }
    }

    /// Counts a choice in its profile, and gives the number that the store keeps.
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

    /// Packets and bytes of an entry, or of the default entry (`None`); nothing if the table counts none.
    pub(crate) fn count_mut(&mut self, entry: Option<u32>) -> Option<&mut Count> {
        match entry {
            Some(number) => self.store.count_mut(number),
            None => self.counts.then_some(&mut self.missed_count),
        }
    }

    /// As [`Self::count_mut`].
    pub(crate) fn count(&self, entry: Option<u32>) -> Option<Count> {
        match entry {
            Some(number) => self.store.count(number),
            None => self.counts.then_some(self.missed_count),
        }
    }

    /// The meter of an entry, or of the default entry (`None`), which has none before one is made.
    pub(crate) fn meter(&self, entry: Option<u32>) -> Option<&Meter> {
        match entry {
            Some(number) => self.store.meter(number),
            None => self.missed_meter.as_deref(),
        }
    }

    /// Changes the meter of an entry, or of the default entry (`None`).
    pub(crate) fn change_meter(&mut self, entry: Option<u32>, change: impl FnOnce(&mut Meter)) {
        match entry {
            Some(number) => {
                if let Some(meter) = self.store.meter_mut(number) {
                    change(meter);
                }
            }
            None => {
                change(self.missed_meter.get_or_insert_default());
                self.refresh_site();
            }
        }
    }

    /// Whether packets that miss are metered.
    pub(super) fn meters_misses(&self) -> bool {
        let meter = self.missed_meter.as_deref();
        meter.is_some_and(|meter| meter.rates().is_some())
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

    /// Restores the program's own entries and default action.
    pub(crate) fn clear(&mut self) {
        self.missed_count = (0, 0);
        self.missed_meter = None;
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
        self.refresh_site();
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
