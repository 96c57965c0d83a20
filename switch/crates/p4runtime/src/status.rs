//! Refusals: a canonical code with a message.

use phb_node::Failure;
use phb_pipeline::WriteError;

pub use phb_pipeline::Code;

/// Why an update or a request is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// The canonical code.
    pub code: Code,
    /// Which object is wrong, and why.
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

/// The outcome of an update or a request.
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
        Self::new(error.code, error.message)
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
