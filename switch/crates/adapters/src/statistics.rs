//! Counters of an adapter.

use phb_network::Time;

/// One direction of an adapter. `received = sent + dropped() + held`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectionStatistics {
    /// Frames received.
    pub received: u64,
    /// Their bytes.
    pub received_bytes: u64,
    /// Frames sent.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Frames dropped: queue before channel or wire full.
    pub dropped_queue_full: u64,
    /// Frames dropped: queue before the CPU full.
    pub dropped_cpu_full: u64,
    /// Frames dropped: datagram larger than the MTU.
    pub dropped_too_large: u64,
    /// SNA frames dropped: station without an LLC2 connection (CIP only).
    pub dropped_no_session: u64,
    /// Frames lost on the way (a line only).
    pub dropped_loss: u64,
    /// Frames inside.
    pub held: u64,
}

impl DirectionStatistics {
    /// Frames dropped for any reason.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped_queue_full
            + self.dropped_cpu_full
            + self.dropped_too_large
            + self.dropped_no_session
            + self.dropped_loss
    }

    pub(crate) fn receive(&mut self, length: usize) {
        self.received += 1;
        self.received_bytes += length as u64;
        self.held += 1;
    }

    pub(crate) fn send(&mut self, length: usize) {
        self.sent += 1;
        self.sent_bytes += length as u64;
        self.held -= 1;
    }
}

/// Counters of an adapter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AdapterStatistics {
    /// From the host to the network.
    pub outbound: DirectionStatistics,
    /// From the network to the host.
    pub inbound: DirectionStatistics,
    /// Blocks moved by the channel (CIP only).
    pub channel_blocks: u64,
    /// Busy time of the channel, in ns (CIP only).
    pub channel_busy_ns: Time,
    /// Busy time of the CPU, in ns (CIP only).
    pub cpu_busy_ns: Time,
    /// Open LLC2 connections (CIP in CSNA mode only).
    pub llc2_sessions: u64,
    /// LLC2 connections refused for lack of memory (same).
    pub llc2_refused: u64,
}
