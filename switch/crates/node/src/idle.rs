//! Entries that no packet has met for as long as their timeout says.

use phb_network::Time;
use phb_pipeline::{Entry, Pipeline};

use crate::switch::SwitchNode;

/// How often the tables are searched, in ns: how late an entry may be reported.
const PERIOD: Time = 100_000_000;

/// Entries that wait to be taken; further ones are not reported.
const CAPACITY: usize = 1 << 16;

/// When the tables were searched, and what was found.
#[derive(Debug, Default)]
pub(crate) struct Idle {
    searched: Time,
    found: Vec<(String, Entry)>,
}

impl SwitchNode {
    /// The entries (and their tables) that have become idle since last asked, each again after another timeout.
    /// They are looked for on ticks.
    pub fn take_idle(&mut self) -> Vec<(String, Entry)> {
        std::mem::take(&mut self.idle.found)
    }

    /// When the tables are to be searched, while there are entries with a timeout.
    pub(crate) fn next_search(&self) -> Option<Time> {
        let timed = self.pipeline().is_some_and(Pipeline::has_idle_timeouts);
        timed.then(|| self.idle.searched.saturating_add(PERIOD))
    }

    pub(crate) fn search_idle(&mut self, now: Time) {
        if self.next_search().is_none_or(|due| due > now) {
            return;
        }
        self.idle.searched = now;
        if let Some(pipeline) = &mut self.pipeline {
            pipeline.sweep_idle(now, &mut self.idle.found);
            self.idle.found.truncate(CAPACITY);
        }
    }
}
