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
