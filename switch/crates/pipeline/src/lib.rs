//! The programmable part of the switch: loads and runs the bmv2 JSON of a program by p4c, for v1model
//! or PSA.
//!
//! ```text
//!   artifact --load--> Program --> State
//!
//!   frame -> parse -> verify checksums -> ingress --Verdict--> (traffic manager) -> egress -> update checksums -> deparse
//!            '----------------- Pipeline::ingress --------'                         ::egress   '---- ::deparse ------'
//! ```
//!
//! A program for PSA parses and deparses in both halves (`psa`).
//!
//! Names and widths are resolved once, at load: fields become words, expressions instructions on
//! words, tables, actions and parser states numbers. A construct that this crate does not run is
//! refused then, with its JSON pointer. The packet path looks up no name, takes no lock, reads no
//! clock, and allocates only to grow a buffer once, for digests, and for a `log_msg` that is kept.
//!
//! The parts and their imports, which form no cycle:
//!
//! ```text
//!   control ----> pipeline (a program with its state) <---- path, psa, copies ----> trace (sees executors)
//!      |            |                                         |
//!      |            +---> load                     interpreter, native
//!      |            |      |                                  |
//!      |            |      |                               machine
//!      v            |      |                                  |
//!    state <--------+------|----------------------------------+
//!      |                   v                                  |
//!      +--------------> program <-----------------------------+   (packet, record: beside the program, under the state)
//! ```
//!
//! - `program`: an artifact as plain data: instructions, headers, parser states, tables, externs.
//! - `load` makes a program of an artifact.
//! - `state`: entries, cells of arrays, members of value sets, waiting messages, with the look-ups.
//! - `machine`: the operations that every executor performs the same way.
//! - `interpreter` and `native` run a program on a packet with the state. They are called by `path`.
//! - `pipeline` holds a program and its state; `path` takes packets through it, `psa` those of a program
//!   for PSA, and `copies` makes clones, multicast replicas, and packets that pass again.
//! - [`trace`] sees what the interpreter does with packets that have a record, and reads records.
//! - `control` is the control plane's side: it writes to the state by the names of the program.
//!
//! Semantics are simple_switch's, with these differences:
//!
//! - A `select` without a matching case ends in the error NoMatch, as the P4_16 specification says;
//!   bmv2 accepts.
//! - Header fields start as zero for every packet. Registers read zero and ignore writes beyond
//!   their end, counters and meters ignore such an index. An element beyond the end of a header
//!   stack reads zero and ignores writes, where bmv2 ends the process.
//! - `assert` and `assume` count failures and go on.
//! - A parser that passes 4096 states ends in ParserTimeout. Loops in actions take at most
//!   [`STEPS`], then the packet is dropped.
//! - The `random` hash is a random number, and custom CRCs have the standard ones' parameters.

// What only native code asks of the other parts.
#![cfg_attr(not(feature = "native"), allow(dead_code, unused_imports))]

mod ahead;
mod bits;
mod control;
mod copies;
mod error;
mod interpreter;
mod load;
mod machine;
#[cfg(feature = "native")]
mod native;
#[cfg(not(feature = "native"))]
#[path = "without_native.rs"]
mod native;
mod packet;
mod path;
mod pipeline;
mod program;
mod psa;
mod record;
mod state;
mod time;
pub mod trace;

pub use control::{
    ActionInfo, DigestList, Entry, Group, GroupMember, Indirect, KeyInfo, Match, Member, Param,
    ProfileInfo, TableInfo, ValueSetInfo, WeightedAction, WithHandle,
};
pub use error::{Code, LoadError, WriteError};
pub use packet::{CloneRequest, Packet};
pub use path::{Departing, EgressVerdict, Processed, QueueMetadata, Verdict};
pub use pipeline::{Execution, Executor, Options, Pipeline, STEPS};
pub use program::{CrcParameters, FieldList, HeaderTypeInfo, MatchKind};
pub use psa::{PsaPorts, RECIRCULATE_PORT};
pub use state::Digest;
pub use state::externs::counter::Count;
pub use state::externs::meter::MeterRates;
pub use time::Time;
