#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nothing to do until a segment or a timer comes.
    Waits,
    /// The script has closed the connection; TCP still has to finish.
    Ended,
    /// The connection is lost.
    Failed,
}
