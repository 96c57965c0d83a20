//! Idle entries: those that no packet has hit for their timeout.

use phb_network::Time;
use phb_pipeline::{Entry, Pipeline};

/// How often the tables are searched, in ns: how late an entry may be reported.
const PERIOD: Time = 100_000_000;

/// Entries that wait to be taken; further ones are not reported.
const CAPACITY: usize = 1 << 16;

#[derive(Debug, Default)]
pub(crate) struct Idle {
    searched: Time,
    found: Vec<(String, Entry)>,
}

impl Idle {
    pub(crate) fn take(&mut self) -> Vec<(String, Entry)> {
        std::mem::take(&mut self.found)
    }

    /// When the tables are to be searched, while there are entries with a timeout.
    pub(crate) fn next_search(&self, pipeline: &Pipeline) -> Option<Time> {
        let timed = pipeline.has_idle_timeouts();
        timed.then(|| self.searched.saturating_add(PERIOD))
    }

    pub(crate) fn search(&mut self, now: Time, pipeline: &mut Pipeline) {
        if self.next_search(pipeline).is_none_or(|due| due > now) {
            return;
        }
        self.searched = now;
        pipeline.sweep_idle(now, &mut self.found);
        self.found.truncate(CAPACITY);
    }
}
