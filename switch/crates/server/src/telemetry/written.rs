//! Writes by what was written: what a client was told last, and what has changed.

use phb_node::EntryWrites;
use phb_p4runtime::Configuration;

use super::message::Written;

/// Of each table, action profile and value set of a program.
pub struct Writes {
    /// Of all, as the client knows it; `None`: it has been told nothing.
    all: Option<u64>,
    of: Vec<Of>,
}

struct Of {
    name: String,
    told: Written,
}

impl Writes {
    /// Of a program, to a client that has been told nothing.
    pub fn new(configuration: &Configuration) -> Self {
        let holders = configuration.holders().map(|(id, name)| Of {
            name: name.to_owned(),
            told: Written { id, writes: 0 },
        });
        Self {
            all: None,
            of: holders.collect(),
        }
    }

    /// Has all told.
    pub fn forget(&mut self) {
        self.all = None;
    }

    /// What has changed since it was told, and is told by that. Where nothing was written nothing is looked up.
    pub fn take(&mut self, now: &EntryWrites) -> Vec<Written> {
        let before = self.all.replace(now.all());
        if before == Some(now.all()) {
            return Vec::new();
        }
        let changed = self.of.iter_mut().filter_map(|of| {
            let writes = now.of(&of.name);
            let known = std::mem::replace(&mut of.told.writes, writes);
            (before.is_none() || writes != known).then_some(of.told)
        });
        changed.collect()
    }
}
