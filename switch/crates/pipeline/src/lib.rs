//! The programmable part of the switch: loads the bmv2 JSON that p4c makes of a v1model program, and runs it.
//!
//! ```text
//!   artifact --load--> Program --> State
//!
//!   frame -> parse -> verify checksums -> ingress --Verdict--> (traffic manager) -> egress -> update checksums -> deparse
//!            '----------------- Pipeline::ingress --------'                         ::egress   '---- ::deparse ------'
//! ```
//!
//! Everything a name or a width decides is decided once, at load: fields become words, expressions instructions on words,
//! tables, actions and parser states numbers. A construct that this crate does not run is refused then, with its JSON
//! pointer, never when a packet meets it. The packet path does not allocate (but to grow a buffer once, and for digests and the messages of
//! `log_msg` if they are asked for), look up a name, lock, or read a clock.
//!
//! The parts, and who imports whom; no arrow points back:
//!
//! ```text
//!   control ----> pipeline (a program with its state) <---- path, copies
//!      |            |                                         |
//!      |            +---> load ---------+                interpreter
//!      v            v                   |                     |
//!    state <------- | ------------------|---------------------+
//!      |            v                   v
//!      +------> program <---------------+        (packet: beside the program, under the state)
//! ```
//!
//! - `program`: what an artifact says, as plain data: instructions, layouts of headers, parser states, tables, externs,
//!   checksums. It imports none of the others.
//! - `load` makes a program of an artifact, and imports nothing but it.
//! - `state`: entries of tables, cells of counters, registers and meters, members of value sets, waiting messages. It is made
//!   for a program, and has the look-ups that executors share.
//! - `interpreter` executes: it runs a program on a packet with the state, in the order `parse` (with `extract`), `execute`
//!   (with `effects` for headers and externs, and `wide` for numbers of more than a word), `checksum` (also the deparser).
//!   Another executor is a folder beside it: it reads the same program, uses the same state, and `path` calls it.
//! - `pipeline` holds a program and its state; `path` takes packets through it, and `copies` makes clones, multicast
//!   replicas, and packets that pass again.
//! - `control` is the control plane's side: it writes to the state by the names of the program, and knows no executor.
//!
//! Semantics are simple_switch's, with these differences:
//!
//! - A `select` without a matching case ends in the error NoMatch, as the P4_16 specification says; bmv2 accepts.
//! - Header fields start as zero for every packet. Registers read zero and ignore writes beyond their end, counters and
//!   meters ignore such an index. An element beyond the end of a header stack reads zero and ignores writes, where bmv2
//!   ends the process.
//! - `assert` and `assume` count failures and go on.
//! - A parser that passes 4096 states ends in ParserTimeout. Loops in actions take [`STEPS`] at most, then the packet is
//!   dropped.
//! - The `random` hash is a random number, and the custom CRCs have the standard ones' parameters.

mod bits;
mod control;
mod copies;
mod error;
mod interpreter;
mod load;
mod packet;
mod path;
mod pipeline;
mod program;
mod state;
mod time;

pub use control::{
    ActionInfo, DigestList, Entry, Group, GroupMember, Indirect, KeyInfo, Match, Member, Param,
    ProfileInfo, TableInfo, ValueSetInfo, WeightedAction,
};
pub use error::{Code, LoadError, WriteError};
pub use packet::{CloneRequest, Packet};
pub use path::{Departing, EgressVerdict, Processed, QueueMetadata, Verdict};
pub use pipeline::{Options, Pipeline, STEPS};
pub use program::{FieldList, HeaderTypeInfo, MatchKind};
pub use state::Digest;
pub use state::externs::counter::Count;
pub use state::externs::meter::MeterRates;
pub use time::Time;
