//! The state of a program: entries, cells of arrays, members of value sets, and waiting messages.
//! Executors read and change it for packets, the control plane writes to it between packets.

mod digests;
pub(crate) mod externs;
pub(crate) mod tables;

pub use digests::Digest;
use digests::Digests;
use externs::Externs;
use tables::Table;

use crate::program::Program;

#[derive(Debug)]
pub(crate) struct State {
    pub(crate) tables: Vec<Table>,
    /// The tables whose entries may have idle timeouts; runners ask after every event.
    pub(crate) timed: Box<[usize]>,
    pub(crate) externs: Externs,
    pub(crate) digests: Digests,
}

impl State {
    /// The state before the first packet. `seed` is that of the program's random numbers.
    pub(crate) fn new(program: &Program, seed: u64) -> Self {
        let tables = program.tables.iter().enumerate();
        let timed = tables.filter_map(|(place, table)| table.timeouts.then_some(place));
        Self {
            timed: timed.collect(),
            tables: program.tables.iter().cloned().map(Table::new).collect(),
            externs: Externs::new(program, seed),
            digests: Digests::default(),
        }
    }
}
