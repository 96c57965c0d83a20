//! Traces: what happened to single packets, step by step.
//!
//! ```text
//!   packet path --numbers--> Record --Dictionary (names, sources)--> Step, Step, ...
//!   (no names, bounded)              (any thread, later)
//! ```
//!
//! The packet thread writes numbers into a [`Record`] that goes with the packet; whoever shows a
//! trace reads it with the [`Dictionary`] of the program that made it.

mod dictionary;
mod record;
mod step;
mod tracer;

pub use dictionary::Dictionary;
pub use record::{Carried, HAPPENINGS, Record};
pub use step::{
    Ahead, CopyKind, EntryStep, Happening, Matched, MeterStep, Named, Part, Source, Step,
    TableStep, Value, What,
};
pub use tracer::Tracer;
