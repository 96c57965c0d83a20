//! Messages that a program sends: digests and the texts of `log_msg`.

use super::operation::Span;
use super::slot::Slot;

#[derive(Debug)]
pub(crate) struct DigestFields {
    pub(crate) name: String,
    pub(crate) id: u32,
    /// Name, where it is, and its width.
    pub(crate) fields: Vec<(String, Slot, u32)>,
}

/// The text of a `log_msg`: the text before each value, the value, and the text after the last.
#[derive(Debug)]
pub(crate) struct LogMessage {
    pub(crate) parts: Vec<(String, Span)>,
    pub(crate) end: String,
}
