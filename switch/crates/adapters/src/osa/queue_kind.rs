//! The input queues of an interface.

/// Input queues of an interface with IWQ.
pub const QUEUES: usize = 4;

/// An input queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QueueKind {
    /// RD/1: everything that no other queue takes.
    Primary,
    /// RD/2: connections registered as streaming.
    Bulk,
    /// RD/3: what the sysplex distributor forwards.
    SysplexDistributor,
    /// RD/4: Enterprise Extender.
    EnterpriseExtender,
}

impl QueueKind {
    /// All, in the order of their read queue numbers.
    pub const ALL: [Self; QUEUES] = [
        Self::Primary,
        Self::Bulk,
        Self::SysplexDistributor,
        Self::EnterpriseExtender,
    ];

    /// Its name in VTAM's display of a TRLE, in small letters.
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
