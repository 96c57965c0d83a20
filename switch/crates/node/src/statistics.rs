//! The counters of a switch, and their conservation law, at every moment for the whole switch:
//!
//! ```text
//! received + injected + copied = transmitted + to_cpu + dropped (all reasons) + queued
//! ```
//!
//! `queued` is counted where packets wait (queues, transmit ring, line, packet-outs not yet taken),
//! not derived. A packet that is resubmitted or recirculated stays the same. One member of a
//! multicast group gets the packet itself, the others copies. A clone without a session counts as
//! copied and dropped.

use phb_network::{Port, Time};

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// No program is loaded.
    NoPipeline,
    /// The program's ingress dropped it.
    Ingress,
    /// The program's egress dropped it.
    Egress,
    /// The egress port's buffer was full.
    Buffer,
    /// Its strict-priority queue was full.
    Queue,
    /// The egress port has no queue for its priority.
    Priority,
    /// It waited, last in rank, and had to make room for one before it.
    PushedOut,
    /// It came from or was sent to an unknown port; if sent, after egress, as in simple_switch.
    UnknownPort,
    /// It was sent to a multicast group that is unknown or empty.
    Multicast,
    /// It was cloned to a session that is unknown or empty.
    CloneSession,
    /// Too many passes or copies ([`PASSES`](crate::path::PASSES), [`BUDGET`](crate::path::BUDGET))
    /// or steps of the program's loops ([`STEPS`](phb_pipeline::STEPS)).
    Passes,
    /// It waited in a queue when another program was loaded, which cannot read it.
    Reloaded,
    /// It was for a controller, and too many waited, or none took it.
    CpuBuffer,
}

impl DropReason {
    /// Every reason, in the order of [`Drops::iter`].
    pub const ALL: [Self; 13] = [
        Self::NoPipeline,
        Self::Ingress,
        Self::Egress,
        Self::Buffer,
        Self::Queue,
        Self::Priority,
        Self::PushedOut,
        Self::UnknownPort,
        Self::Multicast,
        Self::CloneSession,
        Self::Passes,
        Self::Reloaded,
        Self::CpuBuffer,
    ];

    /// The reason's name in reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::NoPipeline => "no_pipeline",
            Self::Ingress => "ingress",
            Self::Egress => "egress",
            Self::Buffer => "buffer",
            Self::Queue => "queue",
            Self::Priority => "priority",
            Self::PushedOut => "pushed_out",
            Self::UnknownPort => "unknown_port",
            Self::Multicast => "multicast",
            Self::CloneSession => "clone_session",
            Self::Passes => "passes",
            Self::Reloaded => "reloaded",
            Self::CpuBuffer => "cpu_buffer",
        }
    }
}

/// Dropped packets by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drops([u64; DropReason::ALL.len()]);

impl Drops {
    /// Counts one.
    pub fn count(&mut self, reason: DropReason) {
        self.add(reason, 1);
    }

    /// Counts several.
    pub fn add(&mut self, reason: DropReason, count: u64) {
        self.0[reason as usize] += count;
    }

    /// How many were dropped for `reason`.
    #[must_use]
    pub fn of(&self, reason: DropReason) -> u64 {
        self.0[reason as usize]
    }

    /// How many were dropped.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Each reason with its count.
    pub fn iter(&self) -> impl Iterator<Item = (DropReason, u64)> + '_ {
        DropReason::ALL.into_iter().zip(self.0)
    }
}

/// Counters of one port. Lengths are those of Ethernet frames without frame check sequence.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortStatistics {
    /// Packets that arrived here.
    pub received_packets: u64,
    /// Their bytes.
    pub received_bytes: u64,
    /// Packets whose transmission here has ended.
    pub transmitted_packets: u64,
    /// Their bytes.
    pub transmitted_bytes: u64,
    /// Dropped packets: before the queue at the port they came from, afterwards at the egress port.
    pub dropped: Drops,
    /// Packets here now: in the queues, in the transmit ring, on the line.
    pub queued: u64,
    /// The most packets that ever waited in the queues.
    pub queue_depth_max: u64,
    /// Packets that have left the queues.
    pub queue_delay_packets: u64,
    /// The sum of the times they spent there, in ns.
    pub queue_delay_sum: Time,
    /// The longest of those times, in ns.
    pub queue_delay_max: Time,
}

/// Counters of one queue of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueStatistics {
    /// Packets that wait here now.
    pub depth: u64,
    /// The most packets that ever waited here.
    pub depth_max: u64,
    /// Bytes of the packets that wait here now, as they were before egress.
    pub waiting_bytes: u64,
    /// The most bytes that ever waited here.
    pub waiting_bytes_max: u64,
    /// Packets that have left it for egress.
    pub passed_packets: u64,
    /// Their bytes, as they were before egress.
    pub passed_bytes: u64,
    /// Packets that found no room, or made room for others.
    pub dropped_packets: u64,
    /// Their bytes, as they were before egress.
    pub dropped_bytes: u64,
}

impl QueueStatistics {
    pub(crate) fn came(&mut self, bytes: u64) {
        self.waiting_bytes += bytes;
        self.waiting_bytes_max = self.waiting_bytes_max.max(self.waiting_bytes);
    }

    pub(crate) fn went(&mut self, bytes: u64) {
        self.waiting_bytes -= bytes;
    }
}

/// Counters of a switch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Packets that arrived at ports.
    pub received: u64,
    /// Packets that a controller sent (packet-out).
    pub injected: u64,
    /// Packets made here: clones, and all but one of the copies for a multicast group.
    pub copied: u64,
    /// Times a packet was resubmitted: it stays the same packet.
    pub resubmitted: u64,
    /// Times a packet was recirculated: it stays the same packet.
    pub recirculated: u64,
    /// Messages of the program for controllers.
    pub digests: u64,
    /// Those of them that found no room.
    pub digests_lost: u64,
    /// Packets whose transmission has ended, except at the CPU port.
    pub transmitted: u64,
    /// Packets given to a controller (packet-in).
    pub to_cpu: u64,
    /// Packets dropped.
    pub dropped: Drops,
    /// Packets in the switch now.
    pub queued: u64,
    /// Counters by port, in the order of port numbers.
    pub ports: Vec<(Port, PortStatistics)>,
}

impl Statistics {
    /// Left side minus right side of the conservation law; not 0 is a bug in the switch.
    #[must_use]
    pub fn imbalance(&self) -> i128 {
        let came = i128::from(self.received) + i128::from(self.injected) + i128::from(self.copied);
        let went = i128::from(self.transmitted)
            + i128::from(self.to_cpu)
            + i128::from(self.dropped.total())
            + i128::from(self.queued);
        came - went
    }
}
