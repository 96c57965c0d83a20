//! The programmable part of the switch: loads the bmv2 JSON that p4c makes of a v1model program, and runs it.
//!
//! ```text
//!   artifact --load--> Program + tables + externs
//!
//!   frame -> parse -> verify checksums -> ingress --Verdict--> (traffic manager) -> egress -> update checksums -> deparse
//!            '----------------- Pipeline::ingress --------'                         ::egress   '---- ::deparse ------'
//! ```
//!
//! Everything a name or a width decides is decided once, at load: fields become words, expressions instructions on words,
//! tables, actions and parser states numbers. What this crate does not run is refused then, with its JSON pointer, never when
//! a packet meets it. The packet path does not allocate (but to grow a buffer once, and for digests and the messages of
//! `log_msg` if they are asked for), look up a name, lock, or read a clock.
//!
//! Modules, in the order a packet meets them: `parse` (with `extract`), `execute` (`instruction`, `wide` for numbers of
//! more than a word, `effects` for headers and externs, `tables`, `externs`), `checksum` (also the deparser), `pipeline` (the
//! path as a whole), `copies` (clones, multicast, packets that pass again), `digest`. Beside it, `runtime` and
//! `value_sets` are the control plane's side and `load` the loader, which turns an artifact into a `program`.
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
mod checksum;
mod copies;
mod digest;
mod effects;
mod error;
mod execute;
mod externs;
mod extract;
mod instruction;
mod load;
mod packet;
mod parse;
mod pipeline;
mod program;
mod runtime;
mod tables;
mod value_sets;
mod wide;

pub use digest::{Digest, DigestList};
pub use error::{Code, LoadError, WriteError};
pub use externs::counter::Count;
pub use externs::meter::MeterRates;
pub use packet::{CloneRequest, FieldList, Packet};
pub use pipeline::{
    Departing, EgressVerdict, Options, Pipeline, Processed, QueueMetadata, STEPS, Time, Verdict,
};
pub use runtime::{
    ActionInfo, Entry, Group, GroupMember, HeaderTypeInfo, Indirect, KeyInfo, Match, Member, Param,
    ProfileInfo, TableInfo, WeightedAction,
};
pub use tables::MatchKind;
pub use value_sets::ValueSetInfo;
