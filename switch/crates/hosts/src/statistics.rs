//! What hosts and adapters count.

use phb_network::Time;

use crate::script::Transaction;

/// What a host has seen and done. `frames_received = segments_received + datagrams_received + dropped()`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostStatistics {
    /// Ethernet frames that reached the host.
    pub frames_received: u64,
    /// Ethernet frames that the host has sent; each carries one TCP segment or one UDP datagram.
    pub frames_sent: u64,
    /// Valid TCP segments for one of the host's addresses.
    pub segments_received: u64,
    /// UDP datagrams that one of the host's sinks has taken.
    pub datagrams_received: u64,
    /// Frames dropped because they are for another Ethernet address.
    pub dropped_other_mac: u64,
    /// Frames dropped because their datagram is for another IPv4 address.
    pub dropped_other_address: u64,
    /// Frames dropped because they hold no IPv4 datagram with TCP or UDP in it, or only a fragment of one.
    pub dropped_other_protocol: u64,
    /// Frames dropped because a length, address or checksum in them is wrong.
    pub dropped_malformed: u64,
    /// Frames dropped because their datagram is larger than the MTU.
    pub dropped_too_large: u64,
    /// Frames dropped because no sink takes UDP datagrams of this sender on this port.
    pub dropped_no_listener: u64,
    /// Segments sent that carry nothing new: sequence numbers that have been sent before.
    pub segments_retransmitted: u64,
    /// Segments sent with the RST flag.
    pub resets_sent: u64,
    /// Segments received with the RST flag.
    pub resets_received: u64,
    /// Connections that clients of the host have opened.
    pub connections_opened: u64,
    /// Connections that the host's services have accepted.
    pub connections_accepted: u64,
    /// Connections that ended without either side having closed them, or that the peer closed too early.
    pub connections_failed: u64,
    /// Connections that exist, in any state of TCP.
    pub connections_open: u64,
    /// Bytes of requests, messages and streams that services have received.
    pub request_bytes_received: u64,
    /// Bytes of replies and answers that services have handed to TCP.
    pub reply_bytes_sent: u64,
    /// Bytes of requests, messages and streams that clients have handed to TCP.
    pub request_bytes_sent: u64,
    /// Bytes of replies and answers that clients have received.
    pub reply_bytes_received: u64,
    /// Bytes of either kind that were received but are not those that were sent. Always 0, unless TCP is broken.
    pub bytes_corrupted: u64,
}

impl HostStatistics {
    /// Frames dropped, for whatever reason.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped_other_mac
            + self.dropped_other_address
            + self.dropped_other_protocol
            + self.dropped_malformed
            + self.dropped_too_large
            + self.dropped_no_listener
    }
}

/// What one client of a host has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowStatistics {
    /// Connections it has opened.
    pub connections: u64,
    /// Those of them that failed.
    pub failures: u64,
    /// Transactions it has completed; of messages, those that were answered.
    pub transactions: u64,
    /// Datagrams it has sent; 0 for what travels by TCP.
    pub packets_sent: u64,
    /// Payload it has handed to TCP or UDP, in bytes.
    pub bytes_sent: u64,
}

/// Nanoseconds in a second.
const SECOND: Time = 1_000_000_000;

/// What a sink has received of one flow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// Datagrams, each counted once; 0 for a stream, whose packets are TCP's.
    pub packets: u64,
    /// Payload in bytes, in order for a stream.
    pub bytes: u64,
    /// Payload in each second of the run, from second 0 to the last one in which something came.
    pub by_second: Vec<u64>,
    /// Time of arrival and one-way delay of each datagram, in ns, in order of arrival.
    pub delays: Vec<(Time, Time)>,
}

impl Received {
    pub(crate) fn add(&mut self, now: Time, bytes: u64) {
        let second = usize::try_from(now / SECOND).unwrap_or(usize::MAX);
        if second >= self.by_second.len() {
            self.by_second.resize(second + 1, 0);
        }
        self.by_second[second] += bytes;
        self.bytes += bytes;
    }
}

/// What a host's scripts write down.
#[derive(Debug, Default)]
pub(crate) struct Books {
    pub host: HostStatistics,
    /// By number of the flow.
    pub flows: Vec<FlowStatistics>,
    /// By number of the sink.
    pub sinks: Vec<Received>,
    /// In order of their ends.
    pub transactions: Vec<Transaction>,
}

/// One direction of an adapter. `received = sent + dropped() + held`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DirectionStatistics {
    /// Frames that reached the adapter.
    pub received: u64,
    /// Their bytes.
    pub received_bytes: u64,
    /// Frames that left it.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Frames dropped because the queue in front of the channel or the wire was full.
    pub dropped_queue_full: u64,
    /// Frames dropped because the queue in front of the CPU was full.
    pub dropped_cpu_full: u64,
    /// Frames dropped because their datagram is larger than the MTU.
    pub dropped_too_large: u64,
    /// SNA frames dropped because their station has no LLC2 connection (CIP only).
    pub dropped_no_session: u64,
    /// Frames lost on the way (a line only).
    pub dropped_loss: u64,
    /// Frames inside.
    pub held: u64,
}

impl DirectionStatistics {
    /// Frames dropped, for whatever reason.
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

/// What an adapter has seen and done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AdapterStatistics {
    /// From the host to the network.
    pub outbound: DirectionStatistics,
    /// From the network to the host.
    pub inbound: DirectionStatistics,
    /// Blocks that the channel has moved (CIP only).
    pub channel_blocks: u64,
    /// How long the channel was busy, in ns (CIP only).
    pub channel_busy: Time,
    /// How long the CPU was busy, in ns (CIP only).
    pub cpu_busy: Time,
    /// LLC2 connections that are open (CIP in CSNA mode only).
    pub llc2_sessions: u64,
    /// LLC2 connections that were refused because the adapter had no memory for them (same).
    pub llc2_refused: u64,
}
