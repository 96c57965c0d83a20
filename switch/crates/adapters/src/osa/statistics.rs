//! Counters of an OSA-Express and its host's processors.

use phb_network::Time;

use super::{priorities, queue_kind};
use crate::statistics::DirectionStatistics;

/// One outbound priority queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OutboundQueueStatistics {
    /// Packets that joined it.
    pub packets: u64,
    /// Packets that found it full.
    pub dropped: u64,
    /// Waits for the wire, summed, in ns.
    pub delay_sum_ns: Time,
    /// The longest wait, in ns.
    pub delay_max_ns: Time,
}

/// One input queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InboundQueueStatistics {
    /// Packets that joined it.
    pub packets: u64,
    /// Packets without room in read storage.
    pub dropped: u64,
    /// Hand-overs of packets to the host.
    pub hand_overs: u64,
    /// Hand-overs with an interrupt; none is needed while the queue's only SRB works.
    pub interrupts: u64,
    /// The present value of its LAN-idle timer, in ns.
    pub lan_idle_ns: Time,
}

/// Processor time by purpose, in ns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProcessorStatistics {
    /// Interrupts.
    pub interrupt_ns: Time,
    /// Packets on their way up.
    pub receive_ns: Time,
    /// Segments on their way down.
    pub send_ns: Time,
    /// Applications that exchange messages.
    pub application_ns: Time,
    /// Packets forwarded.
    pub forward_ns: Time,
}

/// Counters of an OSA-Express. `held` includes packets with the host's processors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OsaStatistics {
    /// From the host (or forwarded) to the network. Counts the pieces of large segments.
    pub outbound: DirectionStatistics,
    /// From the network to the host (or forwarded).
    pub inbound: DirectionStatistics,
    /// In order of priority.
    pub outbound_queues: [OutboundQueueStatistics; priorities::QUEUES],
    /// By read queue number.
    pub inbound_queues: [InboundQueueStatistics; queue_kind::QUEUES],
    /// Processor time.
    pub processors: ProcessorStatistics,
    /// Segments given to the host's TCP after a later one of the same connection.
    pub out_of_order: u64,
    /// Large segments cut by the adapter.
    pub large_sends: u64,
    /// Packets forwarded to targets of a distributed address.
    pub forwarded: u64,
    /// Connections registered as streaming.
    pub streaming_connections: u64,
}
