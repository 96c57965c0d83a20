//! UDP as MGEN uses it: a source sends datagrams at a fixed rate, each with its number and time of
//! sending, from which the sink knows losses and delays.
//!
//! The payload starts with number and time in ns (eight bytes each, big-endian); the rest is 0.

use phb_network::random::SplitMix64;
use phb_network::{Frame, Time};
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{
    IPV4_HEADER_LEN, IpAddress, IpProtocol, Ipv4Packet, Ipv4Repr, UDP_HEADER_LEN, UdpPacket,
    UdpRepr,
};

use crate::configuration::HostConfig;
use crate::frame::{ETHERNET_HEADER, Endpoints, Refusal, address_frame, set_tos};
use crate::traffic::{Flow, Pattern, Traffic};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    pub sequence: u64,
    pub sent: Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Datagram {
    pub endpoints: Endpoints,
    pub payload_bytes: u64,
    /// `None` if the payload is too short.
    pub stamp: Option<Stamp>,
}

pub(crate) fn read(packet: &Ipv4Packet<&[u8]>) -> Result<Datagram, Refusal> {
    let (remote, local) = (packet.src_addr(), packet.dst_addr());
    let udp = UdpPacket::new_checked(packet.payload()).map_err(|_| Refusal::Malformed)?;
    let is_right = udp.verify_checksum(&IpAddress::Ipv4(remote), &IpAddress::Ipv4(local));
    if !is_right || udp.dst_port() == 0 {
        return Err(Refusal::Malformed);
    }
    let payload = udp.payload();
    let word = |at: usize| {
        let bytes = payload.get(at..at + 8)?;
        Some(u64::from_be_bytes(bytes.try_into().ok()?))
    };
    Ok(Datagram {
        endpoints: Endpoints {
            local,
            local_port: udp.dst_port(),
            remote,
            remote_port: udp.src_port(),
        },
        payload_bytes: payload.len() as u64,
        stamp: word(0)
            .zip(word(8))
            .map(|(sequence, sent)| Stamp { sequence, sent }),
    })
}

/// Frames of datagrams from one socket to another, all of one length.
pub(crate) struct Datagrams {
    pub endpoints: Endpoints,
    pub payload_bytes: usize,
    /// Each frame without its payload and checksum.
    template: Vec<u8>,
}

impl Datagrams {
    /// Those of a client.
    pub fn of(flow: &Flow, port: u16, payload_bytes: usize, host: &HostConfig) -> Self {
        let endpoints = Endpoints {
            local: flow.ends.client_address,
            local_port: port,
            remote: flow.ends.server_address,
            remote_port: flow.ends.server_port,
        };
        let tos = flow.ends.tos.unwrap_or(host.tos);
        Self {
            endpoints,
            payload_bytes,
            template: template(endpoints, payload_bytes, tos, host),
        }
    }

    /// One with these parts of its payload, by place, in the memory of `buffer`; the rest is 0.
    pub fn frame(&self, mut buffer: Vec<u8>, parts: &[(usize, &[u8])]) -> Frame {
        buffer.extend_from_slice(&self.template);
        fill(&mut buffer, self.endpoints, parts);
        Frame::new(buffer)
    }
}

pub(crate) struct Source {
    datagrams: Datagrams,
    interval: Time,
    poisson: Option<SplitMix64>,
    sequence: u64,
}

impl Source {
    /// `None` for a flow without datagrams.
    pub fn new(flow: &Flow, port: u16, host: &HostConfig) -> Option<Self> {
        let Traffic::Datagrams {
            payload_bytes,
            interval_ns,
            pattern,
            seed,
        } = flow.traffic
        else {
            return None;
        };
        Some(Self {
            datagrams: Datagrams::of(flow, port, payload_bytes, host),
            interval: interval_ns,
            poisson: (pattern == Pattern::Poisson).then(|| SplitMix64::new(seed)),
            sequence: 0,
        })
    }

    pub fn payload_bytes(&self) -> u64 {
        self.datagrams.payload_bytes as u64
    }

    /// The datagram sent at `now`, in the memory of `buffer`.
    pub fn frame(&mut self, now: Time, buffer: Vec<u8>) -> Frame {
        let (number, sent) = (self.sequence.to_be_bytes(), now.to_be_bytes());
        self.sequence += 1;
        self.datagrams.frame(buffer, &[(0, &number), (8, &sent)])
    }

    pub fn next(&mut self, now: Time) -> Time {
        let gap = match &mut self.poisson {
            Some(random) => random.exponential(self.interval),
            None => self.interval,
        };
        now.saturating_add(gap)
    }
}

/// Puts parts of a payload into a frame, by place, and completes the checksum.
pub(crate) fn fill(frame: &mut [u8], endpoints: Endpoints, parts: &[(usize, &[u8])]) {
    let mut udp = UdpPacket::new_unchecked(&mut frame[ETHERNET_HEADER + IPV4_HEADER_LEN..]);
    let payload = udp.payload_mut();
    for (at, bytes) in parts {
        payload[*at..*at + bytes.len()].copy_from_slice(bytes);
    }
    udp.fill_checksum(
        &IpAddress::Ipv4(endpoints.local),
        &IpAddress::Ipv4(endpoints.remote),
    );
}

/// A frame whose payload is 0, without checksum.
pub(crate) fn template(
    endpoints: Endpoints,
    payload_bytes: usize,
    tos: u8,
    host: &HostConfig,
) -> Vec<u8> {
    let udp = UdpRepr {
        src_port: endpoints.local_port,
        dst_port: endpoints.remote_port,
    };
    let ip = Ipv4Repr {
        src_addr: endpoints.local,
        dst_addr: endpoints.remote,
        next_header: IpProtocol::Udp,
        payload_len: UDP_HEADER_LEN + payload_bytes,
        hop_limit: host.ttl,
    };
    let mut frame = vec![0; ETHERNET_HEADER + IPV4_HEADER_LEN + ip.payload_len];
    let (ethernet, datagram) = frame.split_at_mut(ETHERNET_HEADER);
    address_frame(ethernet, host);
    let mut packet = Ipv4Packet::new_unchecked(datagram);
    ip.emit(&mut packet, &ChecksumCapabilities::default());
    set_tos(&mut packet, tos);
    udp.emit(
        &mut UdpPacket::new_unchecked(packet.payload_mut()),
        &IpAddress::Ipv4(endpoints.local),
        &IpAddress::Ipv4(endpoints.remote),
        payload_bytes,
        |_| {},
        &ChecksumCapabilities::default(),
    );
    frame
}

/// Numbers that a sink remembers. A datagram overtaken by as many others counts as a repetition.
const WINDOW: u64 = 1 << 16;

/// Takes the datagrams of one source in any order.
pub(crate) struct Sink {
    pub number: usize,
    /// The number after the highest received.
    end: u64,
    /// Received numbers of the last window: a bit each, by number modulo the window.
    seen: Vec<u64>,
}

impl Sink {
    pub fn new(number: usize) -> Self {
        Self {
            number,
            end: 0,
            seen: vec![0; WINDOW as usize / 64],
        }
    }

    /// Notes a datagram; `true` if it is new.
    pub fn is_new(&mut self, sequence: u64) -> bool {
        if sequence >= self.end {
            let skipped = (sequence - self.end).min(WINDOW);
            for number in sequence - skipped..sequence {
                let (word, bit) = place(number);
                self.seen[word] &= !bit;
            }
            self.end = sequence.saturating_add(1);
        } else if self.end - sequence > WINDOW || self.has(sequence) {
            return false;
        }
        let (word, bit) = place(sequence);
        self.seen[word] |= bit;
        true
    }

    fn has(&self, sequence: u64) -> bool {
        let (word, bit) = place(sequence);
        self.seen[word] & bit != 0
    }
}

fn place(number: u64) -> (usize, u64) {
    let word = number % WINDOW / 64;
    (usize::try_from(word).unwrap_or(0), 1 << (number % 64))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_sink_knows_what_it_has_seen(numbers in prop::collection::vec(0..3 * WINDOW, 0..200)) {
            let mut sink = Sink::new(0);
            let (mut seen, mut highest) = (HashSet::new(), 0);
            for number in numbers {
                let too_old = !seen.is_empty() && highest >= number + WINDOW;
                let expected = !too_old && !seen.contains(&number);
                prop_assert_eq!(sink.is_new(number), expected);
                seen.insert(number);
                highest = highest.max(number);
            }
        }

        #[test]
        fn a_sink_knows_close_numbers_too(numbers in prop::collection::vec(0..200u64, 0..400)) {
            let mut sink = Sink::new(0);
            let mut seen = HashSet::new();
            for number in numbers {
                prop_assert_eq!(sink.is_new(number), seen.insert(number));
            }
        }
    }
}
