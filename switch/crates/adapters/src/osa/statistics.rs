//! The counters of an OSA-Express and its host's processors.

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
    /// How long packets waited for the wire, all together, in ns.
    pub delay_sum_ns: Time,
    /// The longest wait, in ns.
    pub delay_max_ns: Time,
}

/// One input queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InboundQueueStatistics {
    /// Packets that joined it.
    pub packets: u64,
    /// Packets for which its read storage had no room.
    pub dropped: u64,
    /// How often packets were handed over to the host.
    pub hand_overs: u64,
    /// How often that took an interrupt; it takes none while an SRB that serves the queue alone is at work.
    pub interrupts: u64,
    /// The present value of its LAN-idle timer, in ns.
    pub lan_idle_ns: Time,
}

/// The time that the processors spent, by purpose, in ns.
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

/// The counters of an OSA-Express. `held` counts the packets with the host's processors, too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OsaStatistics {
    /// From the host (or what it forwards) to the network. A large segment counts as what it is cut into.
    pub outbound: DirectionStatistics,
    /// From the network to the host (or to what it forwards).
    pub inbound: DirectionStatistics,
    /// The outbound queues, in order of priority.
    pub outbound_queues: [OutboundQueueStatistics; priorities::QUEUES],
    /// The input queues, in order of their read queue numbers.
    pub inbound_queues: [InboundQueueStatistics; queue_kind::QUEUES],
    /// The time that the processors spent.
    pub processors: ProcessorStatistics,
    /// Segments given to the host's TCP after a later one of the same connection.
    pub out_of_order: u64,
    /// Large segments that the adapter has cut.
    pub large_sends: u64,
    /// Packets forwarded to targets of a distributed address.
    pub forwarded: u64,
    /// Connections registered as streaming.
    pub streaming_connections: u64,
}
