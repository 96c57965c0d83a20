//! The outcome of a step of a script.

/// The outcome of a step of a script, for its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nothing more to do until a segment or a timer comes.
    Waits,
    /// The script has closed the connection as it should; TCP still says goodbye.
    Ended,
    /// The connection is lost to the script.
    Failed,
}
