//! What traces of packets look like: protobuf messages (`trace.proto`), lines of JSON, and which packets are wanted.
//!
//! ```text
//!   Record --Dictionary--> steps --json--> a line of JSON
//!                                --of----> message::Trace --write--> protobuf
//!   Filter: which packets get a record, and which records become traces
//! ```

mod filter;
mod json;
pub mod message;
mod of;
mod write;

pub use filter::{Filter, FilterError};
pub use json::append_json;
pub use of::About;

/// The text of `trace.proto`.
pub const PROTO: &str = include_str!("../trace.proto");
