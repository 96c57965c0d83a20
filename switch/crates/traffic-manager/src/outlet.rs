//! What takes the frames behind a port's line.

/// Whether frames may leave. In virtual time, and at most interfaces, they always may.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Outlet {
    /// Every frame may.
    #[default]
    Always,
    /// One frame may, and closes the outlet: its driver opens it again as soon as the interface has
    /// taken that frame and has room for the next.
    Open,
    /// No frame may: the interface holds frames back.
    Closed,
}
