//! The operations that every executor performs the same way: headers and stacks, externs, numbers of
//! more than a word, hashes and checksums, and fields as they lie on the wire.

mod calculate;
mod effects;
mod extract;
mod observe;
mod parse;
mod wide;

pub(crate) use calculate::write_header;
pub(crate) use observe::{Observe, RequestKind, ResultKind, Unseen};

use crate::program::Program;
use crate::state::State;
use crate::state::externs::Externs;
use crate::state::tables::Table;

/// A program and its state while instructions run on a packet.
pub(crate) struct Machine<'a, O = Unseen> {
    pub(crate) program: &'a Program,
    pub(crate) externs: &'a mut Externs,
    /// Bytes a hash or checksum is computed over; kept so that its memory is reused.
    pub(crate) scratch: &'a mut Vec<u8>,
    /// Nanoseconds since the start of the run.
    pub(crate) now: u64,
    pub(crate) drop_port: u16,
    pub(crate) steps: &'a mut u32,
    pub(crate) observer: O,
}

impl<'a, O: Observe> Machine<'a, O> {
    /// A machine, apart from the tables: a table's result is borrowed while instructions run.
    #[inline]
    pub(crate) fn new(
        program: &'a Program,
        state: &'a mut State,
        scratch: &'a mut Vec<u8>,
        now: u64,
        drop_port: u16,
        steps: &'a mut u32,
        observer: O,
    ) -> (Self, &'a mut [Table]) {
        let machine = Self {
            program,
            externs: &mut state.externs,
            scratch,
            now,
            drop_port,
            steps,
            observer,
        };
        (machine, &mut state.tables)
    }
}
