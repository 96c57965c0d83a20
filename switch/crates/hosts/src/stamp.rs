//! STAMP (RFC 8762) in its mode without authentication: a client sends test packets, the server's
//! host sends each back with the times when it came and left, and counts them itself (stateful).
//!
//! Times on the wire are those of the network since 1970, in NTP's form. A reply has its request's
//! type of service, as it came, and its length.

use std::collections::HashMap;
use std::net::Ipv4Addr;

use phb_network::{Frame, Time};
use smoltcp::wire::{Ipv4Packet, UdpPacket};

use crate::configuration::HostConfig;
use crate::frame::{ETHERNET_HEADER, Endpoints};
use crate::statistics::Probe;
use crate::traffic::{Flow, STAMP_PACKET_BYTES, Traffic};
use crate::udp;

const SECOND: Time = 1_000_000_000;
/// Seconds from 1900 to 1970.
const NTP_EPOCH: u64 = 2_208_988_800;
/// Its clock follows the network's, which is exact: S, and the least multiplier.
const EXACT: u16 = 0x8001;

fn to_ntp(time: Time) -> u64 {
    // Rounded to the nearest, so that reading it gives the same nanosecond.
    let fraction = (((time % SECOND) << 32) + SECOND / 2) / SECOND;
    ((time / SECOND + NTP_EPOCH) << 32).wrapping_add(fraction)
}

fn from_ntp(stamp: u64) -> Time {
    let (seconds, fraction) = (stamp >> 32, stamp & 0xffff_ffff);
    seconds.saturating_sub(NTP_EPOCH) * SECOND + ((fraction * SECOND + (1 << 31)) >> 32)
}

/// A test packet in a frame, and what its IPv4 header says.
struct Test<'a> {
    payload: &'a [u8],
    tos: u8,
    ttl: u8,
}

impl<'a> Test<'a> {
    /// Reads one; `None` if it is too short. The frame is one that [`crate::datagram::accept`] took.
    fn of(frame: &'a [u8]) -> Option<Self> {
        let packet = Ipv4Packet::new_checked(frame.get(ETHERNET_HEADER..)?).ok()?;
        let (tos, ttl) = (packet.dscp() << 2 | packet.ecn(), packet.hop_limit());
        let payload = UdpPacket::new_checked(packet.payload()).ok()?.payload();
        (payload.len() >= STAMP_PACKET_BYTES).then_some(Self { payload, tos, ttl })
    }

    fn word(&self, at: usize) -> u32 {
        let mut bytes = [0; 4];
        bytes.copy_from_slice(&self.payload[at..at + 4]);
        u32::from_be_bytes(bytes)
    }

    fn time(&self, at: usize) -> Time {
        from_ntp(u64::from(self.word(at)) << 32 | u64::from(self.word(at + 4)))
    }
}

/// A client's session.
pub(crate) struct Session {
    datagrams: udp::Datagrams,
    interval: Time,
    sequence: u32,
    answered: udp::Sink,
    pub probes: Vec<Probe>,
}

impl Session {
    /// `None` for a flow without test packets.
    pub fn new(flow: &Flow, port: u16, host: &HostConfig) -> Option<Self> {
        let Traffic::Stamp {
            payload_bytes,
            interval_ns,
        } = flow.traffic
        else {
            return None;
        };
        Some(Self {
            datagrams: udp::Datagrams::of(flow, port, payload_bytes, host),
            interval: interval_ns,
            sequence: 0,
            answered: udp::Sink::new(0),
            probes: Vec::new(),
        })
    }

    pub fn endpoints(&self) -> Endpoints {
        self.datagrams.endpoints
    }

    pub fn payload_bytes(&self) -> u64 {
        self.datagrams.payload_bytes as u64
    }

    /// The test packet sent at `now`, in the memory of `buffer`.
    pub fn frame(&mut self, now: Time, buffer: Vec<u8>) -> Frame {
        let number = self.sequence.to_be_bytes();
        self.sequence += 1;
        let parts: [(usize, &[u8]); 4] = [
            (0, &number),
            (4, &to_ntp(now).to_be_bytes()),
            (12, &EXACT.to_be_bytes()),
            (14, &self.datagrams.endpoints.local_port.to_be_bytes()),
        ];
        self.datagrams.frame(buffer, &parts)
    }

    pub fn next(&self, now: Time) -> Time {
        now.saturating_add(self.interval)
    }

    /// Notes a reply; `false` if it is none. One that comes again changes nothing.
    pub fn take(&mut self, now: Time, frame: &[u8]) -> bool {
        let Some(reply) = Test::of(frame) else {
            return false;
        };
        let sequence = reply.word(24);
        let probe = Probe {
            sequence,
            reflector_sequence: reply.word(0),
            sent: reply.time(28),
            received: reply.time(16),
            reflected: reply.time(4),
            returned: now,
        };
        if sequence >= self.sequence || probe.sent > now {
            return false;
        }
        if self.answered.is_new(u64::from(sequence)) {
            self.probes.push(probe);
        }
        true
    }
}

/// A server's reflector: how many test packets each session has sent that came.
#[derive(Default)]
pub(crate) struct Reflector {
    sessions: HashMap<((Ipv4Addr, u16), u16), u32>,
}

impl Reflector {
    /// The reply to a test packet, sent at once; `None` if it is too short.
    pub fn reply(
        &mut self,
        now: Time,
        frame: &[u8],
        endpoints: Endpoints,
        host: &HostConfig,
    ) -> Option<Frame> {
        let test = Test::of(frame)?;
        let identifier = u16::from_be_bytes([test.payload[14], test.payload[15]]);
        let sender = (endpoints.remote, endpoints.remote_port);
        let count = self.sessions.entry((sender, identifier)).or_default();
        let stamp = to_ntp(now).to_be_bytes();
        let mut reply = udp::template(endpoints, test.payload.len(), test.tos, host);
        udp::fill(
            &mut reply,
            endpoints,
            &[
                (0, &count.to_be_bytes()),
                (4, &stamp),
                (12, &EXACT.to_be_bytes()),
                (14, &test.payload[14..16]),
                (16, &stamp),
                (24, &test.payload[..14]),
                (40, &[test.ttl]),
                (STAMP_PACKET_BYTES, &test.payload[STAMP_PACKET_BYTES..]),
            ],
        );
        *count = count.wrapping_add(1);
        Some(Frame::new(reply))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn times_on_the_wire_are_exact(time in 0..(1u64 << 60)) {
            // The first era of NTP ends in 2036; no network runs for so long.
            let time = time % (2_085_978_496 * SECOND);
            prop_assert_eq!(from_ntp(to_ntp(time)), time);
        }
    }

    #[test]
    fn times_are_those_of_ntp() {
        assert_eq!(to_ntp(0), NTP_EPOCH << 32);
        assert_eq!(to_ntp(SECOND / 2), NTP_EPOCH << 32 | 1 << 31);
    }
}
