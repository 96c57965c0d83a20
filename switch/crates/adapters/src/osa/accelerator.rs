//! Forwarding of a sysplex distributor's packets by the stack or the QDIO accelerator.
//!
//! A distributing stack owns the distributed addresses and sends their packets to target stacks,
//! each inside another for the target's own address (VIPAROUTE: GRE, RFC 2784). In the stack this
//! costs a processor the path up through IP and down again; the accelerator forwards in the device
//! driver. Targets reply to clients directly.

use std::net::Ipv4Addr;

use phb_hosts::frame::ETHERNET_HEADER;
use phb_network::Frame;
use smoltcp::wire::Ipv4Packet;

use super::headers::{Packet, parse};

const IPV4_HEADER: usize = 20;
/// Flags and version 0, and the inner type: IPv4 (RFC 2784, section 2).
const GRE_HEADER: [u8; 4] = [0, 0, 0x08, 0x00];
const PROTOCOL_GRE: u8 = 47;
pub(super) const OVERHEAD: usize = IPV4_HEADER + GRE_HEADER.len();
const TTL: u8 = 64;

pub(super) struct Distributor {
    distributions: Vec<(Ipv4Addr, Vec<Ipv4Addr>)>,
}

impl Distributor {
    pub fn new(distributions: Vec<(Ipv4Addr, Vec<Ipv4Addr>)>) -> Self {
        Self { distributions }
    }

    /// The target, always the same for a connection.
    pub fn target(&self, packet: &Packet) -> Option<Ipv4Addr> {
        let (_, targets) = self
            .distributions
            .iter()
            .find(|(address, _)| *address == packet.destination)?;
        let client = u64::from(u32::from(packet.source)) << 16 | u64::from(packet.source_port);
        let place = usize::try_from(client.checked_rem(targets.len() as u64)?).ok()?;
        targets.get(place).copied()
    }
}

/// Encapsulates a datagram for `target`; the outer type of service is the inner one's.
pub(super) fn encapsulate(frame: &Frame, target: Ipv4Addr) -> Option<Frame> {
    let packet = parse(&frame.bytes)?;
    let inner = &frame.bytes[ETHERNET_HEADER..];
    let length = u16::try_from(inner.len() + OVERHEAD).ok()?;
    let mut bytes = Vec::with_capacity(frame.len() + OVERHEAD);
    bytes.extend_from_slice(&frame.bytes[..ETHERNET_HEADER]);
    bytes.resize(ETHERNET_HEADER + IPV4_HEADER, 0);
    let mut outer = Ipv4Packet::new_unchecked(&mut bytes[ETHERNET_HEADER..]);
    outer.set_version(4);
    outer.set_header_len(20);
    outer.set_dscp(packet.tos >> 2);
    outer.set_ecn(packet.tos & 3);
    outer.set_total_len(length);
    outer.set_hop_limit(TTL);
    outer.set_next_header(PROTOCOL_GRE.into());
    outer.set_src_addr(packet.destination);
    outer.set_dst_addr(target);
    outer.fill_checksum();
    bytes.extend_from_slice(&GRE_HEADER);
    bytes.extend_from_slice(inner);
    Some(Frame::new(bytes))
}

/// The datagram in a GRE packet; `None` in any other.
pub(super) fn decapsulate(frame: &Frame) -> Option<Frame> {
    let datagram = frame.bytes.get(ETHERNET_HEADER..)?;
    if frame.bytes[12..ETHERNET_HEADER] != [0x08, 0x00] {
        return None;
    }
    let outer = Ipv4Packet::new_checked(datagram).ok()?;
    if u8::from(outer.next_header()) != PROTOCOL_GRE || outer.frag_offset() != 0 {
        return None;
    }
    let inner = outer.payload().strip_prefix(&GRE_HEADER)?;
    let mut bytes = Vec::with_capacity(ETHERNET_HEADER + inner.len());
    bytes.extend_from_slice(&frame.bytes[..ETHERNET_HEADER]);
    bytes.extend_from_slice(inner);
    Some(Frame::new(bytes))
}
