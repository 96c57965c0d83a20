//! From Ethernet frames to TCP segments and UDP datagrams, and back.

use smoltcp::wire::{IpProtocol, Ipv4Packet, TcpPacket};

use crate::checksum;
use crate::configuration::{HostConfig, is_unicast};
use crate::frame::{ETHERNET_HEADER, ETHERTYPE_IPV4, Endpoints, Refusal, address_frame, set_tos};
use crate::udp;

const BROADCAST: [u8; 6] = [0xff; 6];

/// The fields of a TCP segment that the host reads itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub endpoints: Endpoints,
    /// SYN without ACK and RST.
    pub opens: bool,
    pub resets: bool,
    /// First sequence number, and the one after the last.
    pub sequence: (u32, u32),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Content {
    Segment(Segment),
    Datagram(udp::Datagram),
}

pub(crate) fn accept(frame: &[u8], host: &HostConfig) -> Result<Content, Refusal> {
    let datagram = frame.get(ETHERNET_HEADER..).ok_or(Refusal::Malformed)?;
    let is_other = |mac: [u8; 6]| frame[..6] != mac && frame[..6] != BROADCAST;
    if host.mac.is_some_and(is_other) {
        return Err(Refusal::OtherMac);
    }
    if frame[12..14] != ETHERTYPE_IPV4 {
        return Err(Refusal::OtherProtocol);
    }
    let packet = Ipv4Packet::new_checked(datagram).map_err(|_| Refusal::Malformed)?;
    if packet.version() != 4 || !packet.verify_checksum() || !is_unicast(packet.src_addr()) {
        return Err(Refusal::Malformed);
    }
    if !host.addresses.contains(&packet.dst_addr()) {
        return Err(Refusal::OtherAddress);
    }
    if usize::from(packet.total_len()) > host.mtu_bytes {
        return Err(Refusal::TooLarge);
    }
    if packet.more_frags() || packet.frag_offset() != 0 {
        return Err(Refusal::OtherProtocol);
    }
    match packet.next_header() {
        IpProtocol::Tcp => segment(&packet).map(Content::Segment),
        IpProtocol::Udp => udp::read(&packet).map(Content::Datagram),
        _ => Err(Refusal::OtherProtocol),
    }
}

fn segment(packet: &Ipv4Packet<&[u8]>) -> Result<Segment, Refusal> {
    let tcp = TcpPacket::new_checked(packet.payload()).map_err(|_| Refusal::Malformed)?;
    let is_right = checksum::is_right(packet.src_addr(), packet.dst_addr(), packet.payload());
    if !is_right || tcp.src_port() == 0 || tcp.dst_port() == 0 {
        return Err(Refusal::Malformed);
    }
    let endpoints = Endpoints {
        local: packet.dst_addr(),
        local_port: tcp.dst_port(),
        remote: packet.src_addr(),
        remote_port: tcp.src_port(),
    };
    Ok(describe(endpoints, &tcp))
}

/// Completes a frame from smoltcp (Ethernet header, type of service, TCP checksum); gives the segment in it.
pub(crate) fn finish(frame: &mut [u8], host: &HostConfig, tos: u8) -> Option<Segment> {
    let (ethernet, datagram) = frame.split_at_mut_checked(ETHERNET_HEADER)?;
    address_frame(ethernet, host);
    let mut packet = Ipv4Packet::new_checked(datagram).ok()?;
    if tos != 0 {
        set_tos(&mut packet, tos);
    }
    let (local, remote) = (packet.src_addr(), packet.dst_addr());
    let segment = packet.payload_mut();
    let tcp = TcpPacket::new_checked(&*segment).ok()?;
    let endpoints = Endpoints {
        local,
        local_port: tcp.src_port(),
        remote,
        remote_port: tcp.dst_port(),
    };
    let described = describe(endpoints, &tcp);
    checksum::fill(local, remote, segment);
    Some(described)
}

fn describe(endpoints: Endpoints, tcp: &TcpPacket<&[u8]>) -> Segment {
    let first = u32::from_be_bytes(tcp.seq_number().0.to_be_bytes());
    let length = u32::try_from(tcp.segment_len()).unwrap_or(0);
    Segment {
        endpoints,
        opens: tcp.syn() && !tcp.ack() && !tcp.rst(),
        resets: tcp.rst(),
        sequence: (first, first.wrapping_add(length)),
    }
}
