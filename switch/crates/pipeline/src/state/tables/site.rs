//! The places of a table that native code reads: the result of a packet that finds nothing, and where
//! the index and the entries lie. Each write refreshes them, so no write makes code anew.

use std::mem::offset_of;

use super::exact::Exact;
use super::{Index, Table};
use crate::program::ActionChoice;

/// A table's state for native code.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Site {
    /// [`Site::LOOK_UP`], [`Site::MISSED`] or [`Site::PASSED`].
    pub(crate) state: u32,
    /// The outcome of a miss.
    pub(crate) outcome: u32,
    /// Address of the runtime data of a miss.
    pub(crate) parameters: usize,
    /// Addresses of the entries' actions, runtime data and counters, by number.
    pub(crate) choices: usize,
    pub(crate) entries: usize,
    pub(crate) counts: usize,
    /// Address of the slots of an index, and the number of them less one (exact).
    pub(crate) slots: usize,
    pub(crate) last: usize,
    /// Addresses of an index of prefixes: nodes, and the numbers of entries.
    pub(crate) nodes: usize,
    pub(crate) numbers: usize,
}

impl Site {
    /// There are entries, or packets that miss are metered.
    pub(crate) const LOOK_UP: u32 = 0;
    /// No entries: every packet takes the default action.
    pub(crate) const MISSED: u32 = 1;
    /// No entries, and a default action that does nothing, or none.
    pub(crate) const PASSED: u32 = 2;
}

/// How native code searches a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Search {
    /// The key is the position of a 32-bit cell: one more than the number, zero for none.
    Array { size: u64 },
    /// Slots of one more word than the key has, as in [`super::exact::FlatMap`].
    Slots,
    /// Slots and nodes of [`super::lpm::LongestPrefix`], for a key of so many bits.
    Prefixes { bits: u32 },
    /// By a function of the table.
    Called,
}

impl Table {
    /// Where a table counts the packets that miss.
    pub(crate) const MISSED_COUNT: usize = offset_of!(Table, missed_count);

    /// How native code searches it; `None` if a hit has effects that are left to
    /// [`Table::apply_key`]: members of a profile, meters, idle timeouts.
    pub(crate) fn native_search(&self) -> Option<Search> {
        let shape = &self.shape;
        if shape.profile.is_some() || shape.direct_meter.is_some() || shape.timeouts {
            return None;
        }
        Some(match &self.index {
            Index::Exact(Exact::Direct { size, .. }) => Search::Array { size: *size as u64 },
            Index::Exact(Exact::Map(_)) => Search::Slots,
            Index::Lpm(prefixes) => prefixes
                .word_bits()
                .map_or(Search::Called, |bits| Search::Prefixes { bits }),
            Index::Priority { .. } => Search::Called,
        })
    }

    /// Writes the site anew, after entries came or went or the default entry changed.
    pub(super) fn refresh_site(&mut self) {
        let idle = |choice: &ActionChoice| self.shape.actions[choice.action as usize].idle;
        let state = match self.default().is_none_or(idle) {
            _ if !self.is_empty() || self.meters_misses() => Site::LOOK_UP,
            true => Site::PASSED,
            false => Site::MISSED,
        };
        let passed = state == Site::PASSED && !self.counts;
        self.passed = passed.then(|| self.missed().next);
        let missed = self.missed();
        let (outcome, parameters) = (missed.outcome, missed.parameters.as_ptr());
        let (mut nodes, mut numbers) = (0, 0);
        let (slots, last) = match &self.index {
            Index::Exact(Exact::Direct { size, numbers }) => {
                (numbers.as_ptr().expose_provenance(), *size - 1)
            }
            Index::Exact(Exact::Map(map)) => map.place(),
            Index::Lpm(prefixes) => {
                let slots;
                [slots, nodes, numbers] = prefixes.places();
                (slots, 0)
            }
            Index::Priority { .. } => (0, 0),
        };
        let (choices, entries, counts) = self.store.places();
        self.site = Site {
            outcome,
            parameters: parameters.expose_provenance(),
            state,
            choices,
            entries,
            counts,
            slots,
            last,
            nodes,
            numbers,
        };
    }
}
