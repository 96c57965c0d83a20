//! How a refusal is told: a canonical code with words.

use phb_node::Failure;
use phb_pipeline::WriteError;

/// Codes of google.rpc.Code that this crate answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Code {
    /// The request contradicts the specification or the p4info.
    InvalidArgument = 3,
    /// There is nothing with this key.
    NotFound = 5,
    /// There is something with this key already.
    AlreadyExists = 6,
    /// The program does not allow it.
    PermissionDenied = 7,
    /// A table or the like is full.
    ResourceExhausted = 8,
    /// The state does not allow it.
    FailedPrecondition = 9,
    /// Not done, since something else of an atomic batch failed.
    Aborted = 10,
    /// An index beyond the end.
    OutOfRange = 11,
    /// This switch does not do that.
    Unimplemented = 12,
    /// A bug.
    Internal = 13,
}

/// Why an update or a request is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The canonical code.
    pub code: Code,
    /// What is wrong and with which object.
    pub message: String,
}

impl Refusal {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }

    pub(crate) fn aborted() -> Self {
        let message = "not applied, since another update of the batch failed";
        Self::new(Code::Aborted, message)
    }
}

/// What became of an update or a request.
pub type Outcome = Result<()>;

/// A result or a refusal.
pub type Result<T> = std::result::Result<T, Refusal>;

pub(crate) fn invalid<T>(message: impl Into<String>) -> Result<T> {
    Err(Refusal::new(Code::InvalidArgument, message))
}

pub(crate) fn unimplemented<T>(message: impl Into<String>) -> Result<T> {
    Err(Refusal::new(Code::Unimplemented, message))
}

impl From<WriteError> for Refusal {
    fn from(error: WriteError) -> Self {
        let code = match error.code {
            phb_pipeline::Code::InvalidArgument => Code::InvalidArgument,
            phb_pipeline::Code::NotFound => Code::NotFound,
            phb_pipeline::Code::AlreadyExists => Code::AlreadyExists,
            phb_pipeline::Code::PermissionDenied => Code::PermissionDenied,
            phb_pipeline::Code::ResourceExhausted => Code::ResourceExhausted,
            phb_pipeline::Code::FailedPrecondition => Code::FailedPrecondition,
            phb_pipeline::Code::OutOfRange => Code::OutOfRange,
        };
        Self::new(code, error.message)
    }
}

impl From<Failure> for Refusal {
    fn from(failure: Failure) -> Self {
        match failure {
            Failure::Refused(error) => error.into(),
            Failure::NoPipeline => Self::new(Code::FailedPrecondition, "the switch has no program"),
            Failure::Aborted => Self::aborted(),
        }
    }
}
