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
mod reader;
mod recorder;
mod step;
mod tracer;

pub use step::{EntryStep, Matched, MeterStep, Named, Step, TableStep, Value, What};
pub use tracer::Tracer;

pub use crate::program::{Dictionary, Source};
pub use crate::record::{Ahead, Carried, CopyKind, HAPPENINGS, Happening, Part, Record};

pub(crate) use recorder::Recorder;
