//! The counters of a host.

use phb_network::Time;

/// The counters of a host. `frames_received = segments_received + datagrams_received + dropped()`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HostStatistics {
    /// Ethernet frames received.
    pub frames_received: u64,
    /// Ethernet frames sent; each has one TCP segment or one UDP datagram.
    pub frames_sent: u64,
    /// Valid TCP segments for one of the host's addresses.
    pub segments_received: u64,
    /// UDP datagrams taken by the host's sinks, reflectors and sessions of test packets.
    pub datagrams_received: u64,
    /// Frames dropped: other Ethernet address.
    pub dropped_other_mac: u64,
    /// Frames dropped: other IPv4 address.
    pub dropped_other_address: u64,
    /// Frames dropped: no IPv4 datagram with TCP or UDP, or only a fragment.
    pub dropped_other_protocol: u64,
    /// Frames dropped: wrong length, address or checksum.
    pub dropped_malformed: u64,
    /// Frames dropped: datagram larger than the MTU.
    pub dropped_too_large: u64,
    /// Frames dropped: nothing here for UDP datagrams of this sender on this port.
    pub dropped_no_listener: u64,
    /// Segments sent whose sequence numbers were all sent before.
    pub segments_retransmitted: u64,
    /// Segments sent with the RST flag.
    pub resets_sent: u64,
    /// Segments received with the RST flag.
    pub resets_received: u64,
    /// Connections opened by the host's clients.
    pub connections_opened: u64,
    /// Connections accepted by the host's services.
    pub connections_accepted: u64,
    /// Connections that ended without a close, or that the peer closed too early.
    pub connections_failed: u64,
    /// Connections in any state of TCP.
    pub connections_open: u64,
    /// Bytes of requests, messages and streams received by services.
    pub request_bytes_received: u64,
    /// Bytes of replies and answers that services handed to TCP.
    pub reply_bytes_sent: u64,
    /// Bytes of requests, messages and streams that clients handed to TCP.
    pub request_bytes_sent: u64,
    /// Bytes of replies and answers received by clients.
    pub reply_bytes_received: u64,
    /// Received bytes that differ from the sent ones. Always 0, unless TCP is broken.
    pub bytes_corrupted: u64,
}

impl HostStatistics {
    /// Frames dropped for any reason.
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

/// The counters of one client of a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowStatistics {
    /// Connections opened.
    pub connections: u64,
    /// Connections failed.
    pub failures: u64,
    /// Transactions completed; of messages, those answered.
    pub transactions: u64,
    /// Datagrams sent; 0 for TCP.
    pub packets_sent: u64,
    /// Payload handed to TCP or UDP, in bytes.
    pub bytes_sent: u64,
}

const SECOND: Time = 1_000_000_000;

/// The delivery of one flow at its sink.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Received {
    /// Datagrams, each counted once; 0 for a stream, whose packets are TCP's.
    pub packets: u64,
    /// Payload in bytes, in order for a stream.
    pub bytes: u64,
    /// Payload in each second of the run, from second 0 to the last one with any.
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

/// A test packet that came back, with its times in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probe {
    /// The sender's number, from 0.
    pub sequence: u32,
    /// The reflector's own number.
    pub reflector_sequence: u32,
    /// When the sender sent it.
    pub sent: Time,
    /// When the reflector got it.
    pub received: Time,
    /// When the reflector sent it back.
    pub reflected: Time,
    /// When it was back.
    pub returned: Time,
}

/// A completed request and reply, or message and answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transaction {
    /// The client's number on its host, in the order of adding.
    pub flow: usize,
    /// When the client handed the request to TCP or submitted the message, in ns.
    pub start: Time,
    /// When the client had received the whole reply, in ns.
    pub end: Time,
}

#[derive(Debug, Default)]
pub(crate) struct Books {
    pub host: HostStatistics,
    /// By flow number.
    pub flows: Vec<FlowStatistics>,
    /// By sink number.
    pub sinks: Vec<Received>,
    /// In order of their ends.
    pub transactions: Vec<Transaction>,
}
