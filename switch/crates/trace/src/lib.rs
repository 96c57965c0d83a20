//! What traces of packets look like: protobuf messages (`trace.proto`), lines of JSON, and which packets are wanted.
//!
//! ```text
//!   Record --Dictionary--> steps --of--> message::Trace --write--> a line of JSON, or protobuf
//!   Filter: which packets get a record, and which records become traces
//! ```

mod filter;
pub mod message;
mod of;
mod write;

pub use filter::{Filter, FilterError};
pub use of::About;

/// The text of `trace.proto`.
pub const PROTO: &str = include_str!("../trace.proto");
