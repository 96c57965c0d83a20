//! Traces: what happens to packets that somebody wants to see.
//!
//! ```text
//!   arrival -> Filter -> Record, which goes with the packet -> its end -> Watch -> reader
//!                        (at most OPEN, OPEN_BYTES)                      (bounded)
//! ```
//!
//! Each reader has a filter and a [`Watch`]. The switch never waits for one: what finds no room is left out,
//! and the next trace says how many were.

mod pool;
mod programs;
mod records;
mod served;
mod watch;

pub use programs::{equip, install, prepare, unwatch, watch};
pub(crate) use records::{Tracing, note_program};
pub use served::NAMED;
pub use watch::{BYTES, Finished, TRACES, Traced, Watch};

/// Most readers at once.
pub const WATCHERS: usize = 64;

/// Packets with a record that may be in the switch; further ones are not traced.
pub const OPEN: usize = 65_536;

/// Bytes of memory that records of waiting packets may take.
pub const OPEN_BYTES: usize = 256 << 20;

/// Packets that are looked at, of those that wait, to find out which are ahead of one that comes. Of the copies that one
/// event causes each next one has a smaller share of these, so that all of them do not take long.
pub const LOOKED_AT: usize = 16_384;

/// Bytes of a frame that a record keeps for a reader who wants its headers.
pub const HEADER_BYTES: usize = 512;
