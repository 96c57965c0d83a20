//! Counters of SNA.

/// Counters of stations or their host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SnaStatistics {
    /// Frames sent.
    pub frames_sent: u64,
    /// Frames received.
    pub frames_received: u64,
    /// LLC2 connections that are open.
    pub sessions: u64,
    /// LLC2 connections that were refused.
    pub refused: u64,
    /// Answers without a request; always 0, unless something is broken.
    pub unexpected: u64,
}
