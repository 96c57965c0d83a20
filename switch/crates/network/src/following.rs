//! Packets followed from where they are sent to where they end, over every wire.
//!
//! Routers write new addresses of Ethernet, hop counts, type of service and windows of TCP, so a packet is known by what
//! they leave as it is ([`content`]). Two packets of the same content, such as a segment that is sent again, have one
//! number; whoever reads the sightings matches them in order.

use std::collections::{BTreeSet, HashMap};

use crate::node::{Port, Time};
use crate::world::NodeId;

/// Bytes of a frame that a sighting keeps: all headers of common packets.
const HEAD: usize = 128;
/// Sightings per packet that may be kept, on average: a path of some 30 nodes.
const SIGHTINGS_PER_PACKET: usize = 64;

/// What a frame does at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// It leaves the node.
    Left,
    /// It leaves the node and is lost on the wire.
    Lost,
    /// It arrives.
    Arrived,
}

/// A followed packet at a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// When, in ns.
    pub at: Time,
    /// The node.
    pub node: NodeId,
    /// Its port.
    pub port: Port,
    /// What it does.
    pub way: Way,
    /// The number of its content, from 0 in the order in which they were first sent.
    pub content: usize,
    /// Bytes of the frame.
    pub length: usize,
    /// The first of them.
    pub head: Vec<u8>,
}

/// Which frames are followed: by port and bytes where they are sent.
pub type Wanted = Box<dyn FnMut(Port, &[u8]) -> bool + Send + Sync>;

struct Open {
    content: usize,
    /// Packets of this content that have neither arrived nor been lost.
    packets: usize,
}

/// Follows the first packets that are wanted.
pub struct Following {
    wanted: Wanted,
    ends: BTreeSet<NodeId>,
    most: usize,
    started: usize,
    left_out: u64,
    open: HashMap<Vec<u8>, Open>,
    under_way: usize,
    sightings: Vec<Sighting>,
    /// Filled anew for each frame.
    content: Vec<u8>,
}

impl Following {
    /// Follows the first `most` of the wanted packets that nodes of `ends` send, until one of `ends` has them.
    #[must_use]
    pub fn new(ends: BTreeSet<NodeId>, most: usize, wanted: Wanted) -> Self {
        Self {
            wanted,
            ends,
            most,
            started: 0,
            left_out: 0,
            open: HashMap::new(),
            under_way: 0,
            sightings: Vec::new(),
            content: Vec::new(),
        }
    }

    /// What was seen so far, in order of time.
    #[must_use]
    pub fn sightings(&self) -> &[Sighting] {
        &self.sightings
    }

    /// Packets that are followed, so far.
    #[must_use]
    pub fn started(&self) -> usize {
        self.started
    }

    /// Packets that were wanted, too, but beyond the number that is followed.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// Followed packets that have neither arrived nor been lost on a wire: under way, or dropped by a node.
    #[must_use]
    pub fn under_way(&self) -> usize {
        self.under_way
    }

    pub(crate) fn pass(&mut self, at: Time, node: NodeId, port: Port, way: Way, frame: &[u8]) {
        let at_end = self.ends.contains(&node);
        let begins = at_end && way != Way::Arrived;
        if begins {
            if !(self.wanted)(port, frame) {
                return;
            }
            if self.started == self.most {
                self.left_out += 1;
                return;
            }
        } else if self.under_way == 0 {
            return;
        }
        content(frame, &mut self.content);
        if begins {
            self.started += 1;
            self.under_way += 1;
            let next = self.open.len();
            let open = self.open.entry(self.content.clone()).or_insert(Open {
                content: next,
                packets: 0,
            });
            open.packets += 1;
        }
        let Some(open) = self.open.get_mut(&self.content) else {
            return;
        };
        if open.packets == 0 || self.sightings.len() >= self.most * SIGHTINGS_PER_PACKET {
            return;
        }
        self.sightings.push(Sighting {
            at,
            node,
            port,
            way,
            content: open.content,
            length: frame.len(),
            head: frame[..frame.len().min(HEAD)].to_vec(),
        });
        if way == Way::Lost || (at_end && way == Way::Arrived) {
            open.packets -= 1;
            self.under_way -= 1;
        }
    }
}

impl std::fmt::Debug for Following {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("Following")
            .field("most", &self.most)
            .field("started", &self.started)
            .field("left_out", &self.left_out)
            .field("sightings", &self.sightings.len())
            .finish_non_exhaustive()
    }
}

const ETHERNET_TYPE: usize = 12;
const TYPE_IPV4: [u8; 2] = [0x08, 0x00];
const TYPE_IPV6: [u8; 2] = [0x86, 0xdd];
const TYPES_VLAN: [[u8; 2]; 2] = [[0x81, 0x00], [0x88, 0xa8]];
const PROTOCOL_TCP: u8 = 6;
const PROTOCOL_UDP: u8 = 17;

/// Fills `into` with what routers leave unchanged.
///
/// Of IPv4 (RFC 791) and IPv6 (RFC 8200): addresses, protocol, identification and payload; of TCP (RFC 9293) all but
/// window, checksum and options; of UDP (RFC 768) all but the checksum. Of other frames everything behind the addresses of
/// Ethernet and tags of VLANs.
fn content(frame: &[u8], into: &mut Vec<u8>) {
    into.clear();
    let mut at = ETHERNET_TYPE;
    let two = |at: usize| frame.get(at..at + 2);
    while two(at).is_some_and(|found| TYPES_VLAN.iter().any(|tag| found == tag)) {
        at += 4;
    }
    let packet = frame.get(at + 2..).unwrap_or_default();
    let done = match two(at) {
        Some(found) if found == TYPE_IPV4 => ipv4(packet, into),
        Some(found) if found == TYPE_IPV6 => ipv6(packet, into),
        _ => None,
    };
    if done.is_none() {
        into.clear();
        into.extend_from_slice(frame.get(at..).unwrap_or_default());
    }
}

fn ipv4(packet: &[u8], into: &mut Vec<u8>) -> Option<()> {
    let header = usize::from(packet.first()? & 0x0f) * 4;
    let total = usize::from(u16::from_be_bytes([*packet.get(2)?, *packet.get(3)?]));
    // Not the padding of Ethernet.
    let packet = packet.get(..total)?;
    let fragment = packet.get(4..8)?;
    into.extend_from_slice(packet.get(12..20)?);
    into.extend_from_slice(fragment);
    let is_whole = u16::from_be_bytes([fragment[2], fragment[3]]) & 0x1fff == 0;
    payload(packet[9], is_whole, packet.get(header..)?, into);
    Some(())
}

fn ipv6(packet: &[u8], into: &mut Vec<u8>) -> Option<()> {
    let length = usize::from(u16::from_be_bytes([*packet.get(4)?, *packet.get(5)?]));
    into.extend_from_slice(packet.get(8..40)?);
    payload(packet[6], true, packet.get(40..40 + length)?, into);
    Some(())
}

fn payload(protocol: u8, is_whole: bool, payload: &[u8], into: &mut Vec<u8>) {
    into.push(protocol);
    let (kept, rest) = match (protocol, is_whole) {
        (PROTOCOL_TCP, true) if payload.len() >= 20 => {
            (14, usize::from(payload[12] >> 4).max(5) * 4)
        }
        (PROTOCOL_UDP, true) if payload.len() >= 8 => (6, 8),
        _ => (0, 0),
    };
    into.extend_from_slice(&payload[..kept]);
    into.extend_from_slice(payload.get(rest..).unwrap_or_default());
}

#[cfg(test)]
mod tests;
