//! The input queues of an interface.

/// Input queues of an interface with IWQ.
pub const QUEUES: usize = 4;

/// An input queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueKind {
    /// RD/1: all others.
    Primary,
    /// RD/2: registered streaming connections.
    Bulk,
    /// RD/3: packets that the sysplex distributor forwards.
    SysplexDistributor,
    /// RD/4: Enterprise Extender.
    EnterpriseExtender,
}

impl QueueKind {
    /// All, by read queue number.
    pub const ALL: [Self; QUEUES] = [
        Self::Primary,
        Self::Bulk,
        Self::SysplexDistributor,
        Self::EnterpriseExtender,
    ];

    /// Its name in VTAM's display of a TRLE, in lower case.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Primary => "primary",
            Self::Bulk => "bulkdata",
            Self::SysplexDistributor => "sysdist",
            Self::EnterpriseExtender => "ee",
        }
    }
}
