/// Nanoseconds since the start of the run.
pub type Time = u64;
