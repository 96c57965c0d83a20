//! The time that packets and timeouts go by.

/// Nanoseconds since the start of the run.
pub type Time = u64;
