//! The entries of a table, column by column: an entry takes only the memory that its table needs.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::entry::{Choice, TableEntry};
use crate::state::externs::counter::Count;
use crate::state::externs::meter::Meter;
use crate::time::Time;

/// No entry has this number.
const FREE: u32 = u32::MAX;

/// Taken instead of an action of the table: a member, or a group, of its action profile.
pub(crate) const MEMBER: u32 = 1 << 30;
pub(crate) const GROUP: u32 = 1 << 31;

/// When an entry was last hit, or first looked at: not yet.
const NEVER: Time = Time::MAX;

/// How long an entry may be idle (zero: for ever), and since when it may be.
#[derive(Debug, Clone, Copy)]
struct Idle {
    timeout: u64,
    /// The last hit; before the first one, when the entry was first looked at.
    last: Time,
    reported: Time,
}

impl Idle {
    fn new(timeout: u64) -> Self {
        Self {
            timeout,
            last: NEVER,
            reported: 0,
        }
    }
}

/// The columns that a table keeps of each entry.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct StoreLayout {
    /// Words of match: two per column, or only the first of them.
    pub(super) words: usize,
    pub(super) values_only: bool,
    pub(super) parameters: usize,
    pub(super) prefixes: bool,
    pub(super) priorities: bool,
    pub(super) counters: bool,
    pub(super) meters: bool,
    pub(super) timeouts: bool,
}

#[derive(Debug, Default)]
pub(crate) struct Store {
    layout: StoreLayout,
    /// `layout.words` words of match per entry.
    pub(crate) words: Vec<u64>,
    /// The action's position in the table's list, or a member or group.
    choices: Vec<u32>,
    /// `layout.parameters` words per entry.
    parameters: Vec<u64>,
    prefixes: Vec<u16>,
    priorities: Vec<i32>,
    counts: Vec<Count>,
    meters: Vec<Meter>,
    idle: Vec<Idle>,
    /// Entries with a timeout.
    timed: usize,
    /// How often each number was given back, modulo 256.
    freed: Vec<u8>,
    /// The least is given out first.
    free: BinaryHeap<Reverse<u32>>,
    length: usize,
}

impl Store {
    pub(super) fn new(layout: StoreLayout) -> Self {
        Self {
            layout,
            ..Self::default()
        }
    }

    pub(crate) fn length(&self) -> usize {
        self.length
    }

    /// Where the entries' choices, parameters and counts are, until entries come or go.
    pub(super) fn places(&mut self) -> (usize, usize, usize) {
        (
            self.choices.as_ptr().expose_provenance(),
            self.parameters.as_ptr().expose_provenance(),
            self.counts.as_mut_ptr().expose_provenance(),
        )
    }

    /// Words of runtime data of each entry.
    pub(super) fn parameter_words(&self) -> usize {
        self.layout.parameters
    }

    /// The numbers in use from `first` on.
    pub(crate) fn numbers(&self, first: u32) -> impl Iterator<Item = u32> + '_ {
        let numbers = first..self.choices.len() as u32;
        numbers.filter(|&number| self.choices[number as usize] != FREE)
    }

    /// Stores an entry and gives its number.
    pub(crate) fn add(&mut self, entry: &TableEntry, choice: u32) -> u32 {
        let layout = self.layout;
        let free = self.free.pop().map(|Reverse(number)| number);
        let number = free.unwrap_or_else(|| {
            let length = self.choices.len() + 1;
            self.choices.push(FREE);
            self.freed.push(0);
            self.words.resize(length * layout.words, 0);
            self.parameters.resize(length * layout.parameters, 0);
            if layout.prefixes {
                self.prefixes.push(0);
            }
            if layout.priorities {
                self.priorities.push(0);
            }
            if layout.counters {
                self.counts.push((0, 0));
            }
            if layout.meters {
                self.meters.push(Meter::default());
            }
            if layout.timeouts {
                self.idle.push(Idle::new(0));
            }
            length as u32 - 1
        });
        let at = number as usize;
        let step = if layout.values_only { 2 } else { 1 };
        let words = self.words[at * layout.words..][..layout.words].iter_mut();
        for (word, &given) in words.zip(entry.words.iter().step_by(step)) {
            *word = given;
        }
        if layout.prefixes {
            self.prefixes[at] = entry.prefix as u16;
        }
        if layout.priorities {
            self.priorities[at] = entry.priority;
        }
        if layout.counters {
            self.counts[at] = (0, 0);
        }
        if layout.meters {
            self.meters[at] = Meter::default();
        }
        self.choose(number, choice, &entry.choice, entry.idle_timeout);
        self.length += 1;
        number
    }

    pub(crate) fn choose(&mut self, number: u32, choice: u32, given: &Choice, idle_timeout: u64) {
        let at = number as usize;
        self.choices[at] = choice;
        let width = self.layout.parameters;
        let parameters = &mut self.parameters[at * width..][..width];
        parameters.fill(0);
        for (word, &given) in parameters.iter_mut().zip(given.parameters()) {
            *word = given;
        }
        if let Some(idle) = self.idle.get_mut(at) {
            self.timed -= usize::from(idle.timeout != 0);
            self.timed += usize::from(idle_timeout != 0);
            *idle = Idle::new(idle_timeout);
        }
    }

    pub(crate) fn remove(&mut self, number: u32) {
        let at = number as usize;
        if let Some(idle) = self.idle.get_mut(at) {
            self.timed -= usize::from(idle.timeout != 0);
            idle.timeout = 0;
        }
        self.choices[at] = FREE;
        self.freed[at] = self.freed[at].wrapping_add(1);
        self.free.push(Reverse(number));
        self.length -= 1;
    }

    /// How often a number was given back, modulo 256; `None` for a number that is not in use.
    pub(crate) fn freed(&self, number: u32) -> Option<u8> {
        let choice = self.choices.get(number as usize)?;
        (*choice != FREE).then(|| self.freed[number as usize])
    }

    pub(crate) fn clear(&mut self) {
        *self = Self::new(self.layout);
    }

    /// As if no packet had come.
    pub(crate) fn reset_state(&mut self) {
        self.counts.fill((0, 0));
        self.meters.fill(Meter::default());
    }

    #[inline]
    pub(crate) fn words_of(&self, number: u32) -> &[u64] {
        &self.words[number as usize * self.layout.words..][..self.layout.words]
    }

    #[inline]
    pub(crate) fn choice(&self, number: u32) -> u32 {
        self.choices[number as usize]
    }

    #[inline]
    pub(crate) fn parameters(&self, number: u32) -> &[u64] {
        &self.parameters[number as usize * self.layout.parameters..][..self.layout.parameters]
    }

    pub(crate) fn prefix(&self, number: u32) -> u32 {
        self.prefixes
            .get(number as usize)
            .copied()
            .unwrap_or(0)
            .into()
    }

    pub(crate) fn priority(&self, number: u32) -> i32 {
        self.priorities.get(number as usize).copied().unwrap_or(0)
    }

    #[inline]
    pub(crate) fn count_mut(&mut self, number: u32) -> Option<&mut Count> {
        self.counts.get_mut(number as usize)
    }

    pub(crate) fn count(&self, number: u32) -> Option<Count> {
        self.counts.get(number as usize).copied()
    }

    #[inline]
    pub(crate) fn meter_mut(&mut self, number: u32) -> Option<&mut Meter> {
        self.meters.get_mut(number as usize)
    }

    pub(crate) fn meter(&self, number: u32) -> Option<&Meter> {
        self.meters.get(number as usize)
    }

    pub(crate) fn idle_timeout(&self, number: u32) -> u64 {
        let idle = self.idle.get(number as usize);
        idle.map_or(0, |idle| idle.timeout)
    }

    /// When the entry was last hit, or first looked at by [`Store::sweep`].
    pub(crate) fn last_hit(&self, number: u32) -> Option<Time> {
        let idle = self.idle.get(number as usize)?;
        (idle.last != NEVER).then_some(idle.last)
    }

    #[inline]
    pub(crate) fn hit(&mut self, number: u32, now: Time) {
        if let Some(idle) = self.idle.get_mut(number as usize) {
            idle.last = now;
        }
    }

    pub(crate) fn has_timeouts(&self) -> bool {
        self.timed > 0
    }

    /// Reports entries that have become idle, each again after another timeout without a hit.
    pub(crate) fn sweep(&mut self, now: Time, mut report: impl FnMut(u32)) {
        if self.timed == 0 {
            return;
        }
        for (number, idle) in self.idle.iter_mut().enumerate() {
            match idle.last.max(idle.reported) {
                _ if idle.timeout == 0 => {}
                // Time starts when it is first looked at, because the control plane has no clock.
                NEVER => idle.last = now,
                since if now.saturating_sub(since) >= idle.timeout => {
                    idle.reported = now;
                    report(number as u32);
                }
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_least_number_is_given_out_first_and_how_often_it_came_back_is_counted() {
        let mut store = Store::default();
        let entry = TableEntry {
            words: Box::new([]),
            prefix: 0,
            priority: 0,
            choice: Choice::None,
            idle_timeout: 0,
        };
        let added: Vec<u32> = (0..4).map(|_| store.add(&entry, 0)).collect();
        assert_eq!(added, [0, 1, 2, 3]);
        for number in [3, 0, 2] {
            store.remove(number);
        }
        assert_eq!(
            (store.freed(0), store.freed(1), store.freed(9)),
            (None, Some(0), None)
        );
        let added: Vec<u32> = (0..4).map(|_| store.add(&entry, 0)).collect();
        assert_eq!(added, [0, 2, 3, 4]);
        assert_eq!((store.freed(0), store.freed(4)), (Some(1), Some(0)));
        store.clear();
        assert_eq!(store.add(&entry, 0), 0);
        assert_eq!(store.freed(0), Some(0));
    }
}
