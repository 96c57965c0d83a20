//! Refusals of artifacts and of control-plane calls.

/// An artifact that this crate does not run, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("artifact {path}: {message}")]
pub struct LoadError {
    /// JSON pointer (RFC 6901) into the artifact; `/` alone is the whole document.
    pub path: String,
    /// The construct that was found, and the expected one.
    pub message: String,
}

/// The canonical codes of a refused control-plane call, named and numbered as gRPC's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(i32)]
pub enum Code {
    /// A name, width or value that the program does not know.
    InvalidArgument = 3,
    /// No such entry, table, counter, register or meter.
    NotFound = 5,
    /// An entry with the same match and priority is there.
    AlreadyExists = 6,
    /// The program makes the entry or default action constant.
    PermissionDenied = 7,
    /// The table holds as many entries as its size allows.
    ResourceExhausted = 8,
    /// The state does not allow it: a member or group of an action profile is in use.
    FailedPrecondition = 9,
    /// Another change of an atomic batch failed. For callers: this crate has no batches.
    Aborted = 10,
    /// An index beyond the end of a counter, register or meter array.
    OutOfRange = 11,
    /// Not supported by the switch. For callers: this crate does not use it.
    Unimplemented = 12,
    /// A bug of a caller.
    Internal = 13,
}

/// A refused control-plane call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct WriteError {
    /// The kind of refusal.
    pub code: Code,
    /// Names the object, the field, and what was expected.
    pub message: String,
}

pub(crate) type Result<T> = std::result::Result<T, WriteError>;

pub(crate) fn invalid<T>(message: String) -> Result<T> {
    Err(WriteError::new(Code::InvalidArgument, message))
}

impl WriteError {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }
}
