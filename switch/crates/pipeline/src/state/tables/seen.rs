//! Look-ups of packets that are traced: the key, all entries that match it, and what the hit changes.
//!
//! What is seen is a row of words: entries in all and flags; the key, column by column; the number of
//! entries told and of those left out; of each its number and choice, priority and prefix, the columns of
//! each field's values and then of its masks or upper ends, and its runtime data. Then, where the flags say
//! so: the counter's packets and bytes before and after; the meter's colour, whether it has rates, and
//! the tokens of both buckets before and after; the action profile's member.

use super::classifier::Matches;
use super::store::{GROUP, MEMBER};
use super::{Index, Table, Taken};
use crate::packet::Packet;
use crate::program::{Slot, columns_of};
use crate::time::Time;

/// Entries that are told of each look-up, the one that won included.
pub(crate) const MOST_TOLD: usize = 16;

pub(crate) const HIT: u64 = 1;
pub(crate) const COUNTED: u64 = 2;
pub(crate) const METERED: u64 = 4;
pub(crate) const HAS_MEMBER: u64 = 8;

/// What a look-up has shown, with memory that the next one uses again.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) words: Vec<u64>,
    matching: Vec<u32>,
}

impl Table {
    /// As [`Table::apply`], and tells what was seen.
    pub(crate) fn apply_seen(
        &mut self,
        packet: &mut Packet,
        now: Time,
        seen: &mut Seen,
    ) -> Taken<'_> {
        let found = self.lookup(packet);
        seen.words.clear();
        seen.words.push(0);
        self.tell_key(packet, &mut seen.words);
        self.find_matching(found, &mut seen.matching);
        let told = seen.matching.len().min(MOST_TOLD);
        let left = (seen.matching.len() - told) as u64;
        seen.words.push((told as u64) << 32 | left);
        for &number in &seen.matching[..told] {
            self.tell_entry(number, &mut seen.words);
        }
        let member = found.and_then(|number| self.member_id(number, packet));
        let (count, tokens) = (self.counted(found), self.metered(found, now));
        self.note(found, packet, now);
        let mut flags = if found.is_some() { HIT } else { 0 };
        if let Some((packets, bytes)) = count {
            flags |= COUNTED;
            let after = self.counted(found).unwrap_or_default();
            seen.words.extend([packets, bytes, after.0, after.1]);
        }
        if let Some(before) = tokens {
            flags |= METERED;
            let after = self.metered(found, now).unwrap_or_default();
            let tokens = before.zip(after);
            let (before, after) = tokens.unwrap_or_default();
            seen.words
                .extend([self.colour_of(packet), tokens.is_some().into()]);
            seen.words
                .extend([before[0], after[0], before[1], after[1]]);
        }
        if let Some(member) = member {
            flags |= HAS_MEMBER;
            seen.words.push(member.into());
        }
        seen.words[0] = (self.store.length() as u64) << 32 | flags;
        self.choose(found, packet)
    }

    /// The key's columns; fields of an invalid header are zero.
    fn tell_key(&self, packet: &Packet, words: &mut Vec<u64>) {
        for key in &self.shape.keys {
            let valid = key.valid.is_none_or(|valid| packet.word(valid) != 0);
            let (Slot::Word { word: first } | Slot::Wide { word: first, .. }) = key.slot else {
                continue;
            };
            words.extend((first..).zip(&key.mask).map(|(word, mask)| match valid {
                true => packet.word(word) & mask,
                false => 0,
            }));
        }
    }

    /// The entries that match the key of the last look-up, the best first.
    fn find_matching(&self, found: Option<u32>, matching: &mut Vec<u32>) {
        matching.clear();
        match &self.index {
            Index::Exact(_) => matching.extend(found),
            Index::Lpm(prefixes) => {
                if found.is_some() {
                    prefixes.all(&self.key, matching);
                    matching.sort_by_key(|&number| std::cmp::Reverse(self.store.prefix(number)));
                }
            }
            Index::Priority { classifier, .. } => {
                if found.is_some() {
                    let matches = Matches {
                        words: &self.store.words,
                        columns: self.columns,
                    };
                    classifier.all(&self.key, matches, matching);
                }
            }
        }
    }

    fn tell_entry(&self, number: u32, words: &mut Vec<u64>) {
        let store = &self.store;
        words.push(u64::from(number) << 32 | u64::from(store.choice(number)));
        let priority = store.priority(number) as u32;
        words.push(u64::from(priority) << 32 | u64::from(store.prefix(number)));
        let of_entry = store.words_of(number);
        match self.index {
            Index::Priority { .. } => {
                let mut column = 0;
                for key in &self.shape.keys {
                    let columns = columns_of(key.bits);
                    let of_key = &of_entry[2 * column..2 * (column + columns)];
                    words.extend(of_key.iter().step_by(2));
                    words.extend(of_key.iter().skip(1).step_by(2));
                    column += columns;
                }
            }
            Index::Exact(_) | Index::Lpm(_) => words.extend_from_slice(of_entry),
        }
        words.extend_from_slice(store.parameters(number));
    }

    /// The counter that the packet is about to be counted by.
    fn counted(&self, found: Option<u32>) -> Option<(u64, u64)> {
        match found {
            Some(number) => self.store.count(number),
            None => self.counts.then_some(self.missed_count),
        }
    }

    /// Tokens of the meter that the packet passes; the inner `None` has no rates.
    fn metered(&self, found: Option<u32>, now: Time) -> Option<Option<[u64; 2]>> {
        self.shape.direct_meter.as_ref()?;
        match found {
            Some(number) => self.store.meter(number).map(|meter| meter.tokens(now)),
            None => {
                let meter = self.missed_meter.as_ref()?;
                meter.rates().map(|_| meter.tokens(now))
            }
        }
    }

    /// The colour that the direct meter gave: green 0, yellow 1, red 2.
    fn colour_of(&self, packet: &Packet) -> u64 {
        let direct = self.shape.direct_meter.as_ref();
        let colour = direct.and_then(|direct| {
            let given = packet.word(direct.target.word);
            let mut colours = direct.colours.iter();
            colours.position(|colour| direct.target.fit.word(*colour) == given)
        });
        colour.unwrap_or(0) as u64
    }

    fn member_id(&mut self, number: u32, packet: &Packet) -> Option<u32> {
        let choice = self.store.choice(number);
        let profile = self.profile.as_mut()?;
        match choice {
            ..MEMBER => None,
            indirect if indirect >= GROUP => profile.picked_id(indirect - GROUP, packet),
            indirect => profile.id_of(indirect - MEMBER),
        }
    }
}
