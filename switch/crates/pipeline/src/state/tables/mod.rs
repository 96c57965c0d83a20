//! Match-action tables: entries of the program and the control plane, and the look-up per packet.
//!
//! ```text
//!   packet --key--> words --exact | lpm | classifier--> number of an entry --store--> action, parameters
//!                                                                         '--profile--> member --> action, parameters
//! ```

mod change;
mod classifier;
mod entry;
mod exact;
mod key;
mod lpm;
mod pool;
pub(crate) mod profile;
pub(crate) mod seen;
mod site;
mod store;

use std::sync::Arc;

use classifier::{Classifier, Matches, Test};
pub(crate) use exact::MULTIPLIER;
use exact::{Exact, NumberSet};
use key::Extractor;
use lpm::LongestPrefix;
use profile::Profile;
use store::{GROUP, MEMBER, Store, StoreLayout};

use crate::packet::Packet;
use crate::program::{
    ActionChoice, Address, DirectMeter, Key, MatchKind, TableShape, column_mask, columns_of,
};
use crate::state::externs::counter::Count;
use crate::state::externs::meter::Meter;
use crate::time::Time;

pub(crate) use entry::{Choice, SetMember, TableEntry, WeightedMember};
pub(crate) use key::{ALWAYS, Piece};
pub(crate) use lpm::{Node, PATHS, ROOT_BITS, STRIDE, Slot, TOGETHER};
pub(crate) use seen::Seen;
pub(crate) use site::{Search, Site};

/// Entries from which on a table does not fit the processor's caches.
const LARGE: usize = 1 << 16;

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

#[derive(Debug)]
pub(crate) struct Table {
    pub(crate) shape: Arc<TableShape>,
    /// The result of a packet that needs no look-up.
    pub(crate) site: Site,
    default: Option<ActionChoice>,
    /// Where control goes on, if every packet misses and there is nothing to do, count and meter.
    passed: Option<Address>,
    /// Entries count their packets, and the default entry those that miss.
    counts: bool,
    /// Packets and bytes that have missed.
    missed_count: Count,
    /// Of the default entry: there once it has been configured.
    missed_meter: Option<Box<Meter>>,
    pub(crate) profile: Option<Box<Profile>>,
    extractor: Extractor,
    index: Index,
    store: Store,
    columns: usize,
    /// The search key of the present packet.
    key: Vec<u64>,
}

#[derive(Debug)]
pub(crate) struct Taken<'a> {
    /// Number of the action in the program; none on a miss of a table without a default action.
    pub(crate) action: Option<u32>,
    /// The same and whether it is a hit, in one number.
    pub(crate) outcome: u32,
    pub(crate) parameters: &'a [u64],
    /// Where control goes next.
    pub(crate) next: u32,
}

impl Table {
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
            site: Site::default(),
            default: None,
            passed: None,
            counts: shape.direct_counter.is_some(),
            missed_count: (0, 0),
            missed_meter: None,
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

    pub(crate) fn set_default(&mut self, choice: Option<ActionChoice>) {
        self.default = choice;
        self.refresh_site();
    }

    /// Where control goes on, if every packet misses and there is nothing to do, count and meter.
    #[inline(always)]
    pub(crate) fn passed(&self) -> Option<Address> {
        self.passed
    }

    /// Counts a packet of so many bytes that misses, if every one does and none is metered.
    #[inline(always)]
    pub(crate) fn miss(&mut self, length: u32) -> Option<Taken<'_>> {
        if self.site.state == Site::LOOK_UP {
            return None;
        }
        self.count_miss(length);
        Some(self.missed())
    }

    #[inline(always)]
    fn count_miss(&mut self, length: u32) {
        if self.counts {
            count(&mut self.missed_count, length);
        }
    }

    #[inline(always)]
    fn missed(&self) -> Taken<'_> {
        let default = self.default.as_ref();
        let choice = default.map(|default| (default.action, &*default.parameters));
        self.shape.taken(choice, false)
    }

    /// Looks the packet up; counts, meters and notes the hit.
    pub(crate) fn apply(&mut self, packet: &mut Packet, now: Time) -> Taken<'_> {
        let found = self.lookup(packet);
        self.take(found, packet, now)
    }

    /// As [`Self::apply`], for a search key made of the packet already.
    pub(crate) fn apply_key(&mut self, key: &[u64], packet: &mut Packet, now: Time) -> Taken<'_> {
        let found = self.search(key);
        self.take(found, packet, now)
    }

    #[inline]
    fn take(&mut self, found: Option<u32>, packet: &mut Packet, now: Time) -> Taken<'_> {
        self.note(found, packet, now);
        self.choose(found, packet)
    }

    /// Counts and meters a packet.
    #[inline(always)]
    fn note(&mut self, found: Option<u32>, packet: &mut Packet, now: Time) {
        match found {
            None => self.note_miss(packet, now),
            Some(number) => self.note_hit(number, packet, now),
        }
    }

    /// What an entry, or a miss, leads to.
    #[inline(always)]
    fn choose(&mut self, found: Option<u32>, packet: &Packet) -> Taken<'_> {
        let choice = match found {
            None => {
                let default = self.default.as_ref();
                default.map(|default| (default.action, &*default.parameters))
            }
            Some(number) => match self.store.choice(number) {
                action @ ..MEMBER => Some((action, self.store.parameters(number))),
                indirect => self.profile.as_mut().and_then(|profile| {
                    let member = if indirect >= GROUP {
                        profile.pick(indirect - GROUP, packet)
                    } else {
                        profile.member(indirect - MEMBER)
                    };
                    member.map(|member| (member.action, &*member.parameters))
                }),
            },
        };
        self.shape.taken(choice, found.is_some())
    }

    #[inline]
    fn note_hit(&mut self, number: u32, packet: &mut Packet, now: Time) {
        if let Some(cell) = self.store.count_mut(number) {
            count(cell, packet.received_length);
        }
        if let Some(meter) = self.store.meter_mut(number)
            && let Some(direct) = &self.shape.direct_meter
        {
            direct.mark(meter, packet, now);
        }
        self.store.hit(number, now);
    }

    #[inline]
    fn note_miss(&mut self, packet: &mut Packet, now: Time) {
        self.count_miss(packet.received_length);
        if let Some(meter) = &mut self.missed_meter
            && meter.rates().is_some()
            && let Some(direct) = &self.shape.direct_meter
        {
            direct.mark(meter, packet, now);
        }
    }

    #[inline]
    pub(crate) fn lookup(&mut self, packet: &Packet) -> Option<u32> {
        if self.store.length() == 0 {
            return None;
        }
        self.extractor.extract(packet, &mut self.key);
        self.search(&self.key)
    }

    /// The number of the entry that a search key finds.
    #[inline(always)]
    pub(crate) fn search(&self, key: &[u64]) -> Option<u32> {
        match &self.index {
            Index::Exact(exact) => exact.get(key),
            Index::Lpm(prefixes) => prefixes.lookup(key),
            Index::Priority { classifier, .. } => {
                let matches = Matches {
                    words: &self.store.words,
                    columns: self.columns,
                };
                classifier.lookup(key, matches)
            }
        }
    }

    /// Words of runtime data of each entry.
    pub(crate) fn parameter_words(&self) -> usize {
        self.store.parameter_words()
    }

    /// Whether entries count their packets, and the default entry those that miss.
    pub(crate) fn counts(&self) -> bool {
        self.counts
    }

    /// The word of a packet that the table's only key is, a prefix of up to 64 bits, and its mask.
    pub(crate) fn prefix_word(&self) -> Option<(u32, u64)> {
        match (&self.index, self.extractor.pieces()) {
            (Index::Lpm(_), &[piece]) => Some((piece.from, piece.mask)),
            _ => None,
        }
    }

    /// Whether a look-up is likely to wait for memory.
    pub(crate) fn is_large(&self) -> bool {
        self.store.length() >= LARGE
    }

    /// Reads what look-ups of these keys will read; gives a number that depends on all of it.
    pub(crate) fn look_ahead(&self, keys: &[u64]) -> u64 {
        let Index::Lpm(prefixes) = &self.index else {
            return 0;
        };
        let mut found = [None; TOGETHER];
        let found = &mut found[..keys.len()];
        prefixes.lookup_together(keys, found);
        let read = found.iter().flatten().map(|&number| {
            let first = self.store.parameters(number).first();
            u64::from(self.store.choice(number)) ^ first.copied().unwrap_or(0)
        });
        read.fold(0, |all, read| all ^ read)
    }

    /// The columns of a search key, and the words that they go to.
    pub(crate) fn pieces(&self) -> (&[Piece], usize) {
        (self.extractor.pieces(), self.extractor.words())
    }
}

#[inline(always)]
fn count((packets, bytes): &mut Count, length: u32) {
    *packets = packets.wrapping_add(1);
    *bytes = bytes.wrapping_add(length.into());
}

impl DirectMeter {
    /// Meters the packet, and gives it its colour.
    fn mark(&self, meter: &mut Meter, packet: &mut Packet, now: Time) {
        let colour = meter.execute(now, self.unit, packet.received_length);
        let number = self.colours[colour as usize % 3];
        packet.set_field(Some(self.target), number);
    }
}

impl TableShape {
    /// Where an action of the table (by its position) and its runtime data lead.
    #[inline(always)]
    fn taken<'a>(&self, choice: Option<(u32, &'a [u64])>, hit: bool) -> Taken<'a> {
        let decided = if hit { self.hit } else { self.miss };
        match choice {
            Some((position, parameters)) => {
                let taken = self.actions[position as usize];
                Taken {
                    action: Some(taken.action),
                    outcome: outcome(position, hit),
                    parameters,
                    next: decided.unwrap_or(taken.next),
                }
            }
            None => Taken {
                action: None,
                outcome: outcome(self.actions.len() as u32, hit),
                parameters: &[],
                next: decided.unwrap_or(self.otherwise),
            },
        }
    }
}

impl TableShape {
    /// Where control goes on after an outcome of this table.
    pub(crate) fn next(&self, outcome: u32) -> Address {
        let decided = if outcome & 1 == 1 {
            self.hit
        } else {
            self.miss
        };
        let action = self.actions.get((outcome >> 1) as usize);
        decided.unwrap_or(action.map_or(self.otherwise, |action| action.next))
    }
}

/// An action by its position, or the number of actions for none, and whether it is a hit.
#[inline(always)]
pub(crate) fn outcome(position: u32, hit: bool) -> u32 {
    position << 1 | u32::from(hit)
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
