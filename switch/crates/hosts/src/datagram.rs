//! From Ethernet frames to TCP segments and UDP datagrams, and back.

use std::net::Ipv4Addr;

use smoltcp::wire::{IpAddress, IpProtocol, Ipv4Packet, TcpPacket};

use crate::configuration::{HostConfig, is_unicast};
use crate::statistics::HostStatistics;
use crate::udp;

/// Destination, source and type.
pub(crate) const ETHERNET_HEADER: usize = 14;
const ETHERTYPE_IPV4: [u8; 2] = [0x08, 0x00];
const BROADCAST: [u8; 6] = [0xff; 6];

/// The two ends of a connection or of a flow of datagrams, seen from the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Endpoints {
    pub local: Ipv4Addr,
    pub local_port: u16,
    pub remote: Ipv4Addr,
    pub remote_port: u16,
}

/// What a host looks at in a segment before its TCP does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    pub endpoints: Endpoints,
    /// SYN without ACK and RST: the wish to open a connection.
    pub opens: bool,
    pub resets: bool,
    /// The first sequence number, and the one after the last.
    pub sequence: (u32, u32),
}

/// What a frame brings to a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Brought {
    Segment(Segment),
    Datagram(udp::Datagram),
}

/// Why a host drops a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    OtherMac,
    OtherAddress,
    OtherProtocol,
    Malformed,
    TooLarge,
    NoListener,
}

impl Refusal {
    pub fn count(self, statistics: &mut HostStatistics) {
        *match self {
            Self::OtherMac => &mut statistics.dropped_other_mac,
            Self::OtherAddress => &mut statistics.dropped_other_address,
            Self::OtherProtocol => &mut statistics.dropped_other_protocol,
            Self::Malformed => &mut statistics.dropped_malformed,
            Self::TooLarge => &mut statistics.dropped_too_large,
            Self::NoListener => &mut statistics.dropped_no_listener,
        } += 1;
    }
}

/// Reads what is in a frame that has come to the host, or says why the host drops it.
pub(crate) fn accept(frame: &[u8], host: &HostConfig) -> Result<Brought, Refusal> {
    let datagram = frame.get(ETHERNET_HEADER..).ok_or(Refusal::Malformed)?;
    if !host.any_mac && frame[..6] != host.mac && frame[..6] != BROADCAST {
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
    if usize::from(packet.total_len()) > host.tcp.mtu {
        return Err(Refusal::TooLarge);
    }
    if packet.more_frags() || packet.frag_offset() != 0 {
        return Err(Refusal::OtherProtocol);
    }
    match packet.next_header() {
        IpProtocol::Tcp => segment(&packet).map(Brought::Segment),
        IpProtocol::Udp => udp::read(&packet).map(Brought::Datagram),
        _ => Err(Refusal::OtherProtocol),
    }
}

fn segment(packet: &Ipv4Packet<&[u8]>) -> Result<Segment, Refusal> {
    let tcp = TcpPacket::new_checked(packet.payload()).map_err(|_| Refusal::Malformed)?;
    let (source, destination) = (
        IpAddress::Ipv4(packet.src_addr()),
        IpAddress::Ipv4(packet.dst_addr()),
    );
    if !tcp.verify_checksum(&source, &destination) || tcp.src_port() == 0 || tcp.dst_port() == 0 {
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

/// Fills in the Ethernet header of a frame of the host.
pub(crate) fn address_frame(ethernet: &mut [u8], host: &HostConfig) {
    ethernet[..6].copy_from_slice(&host.gateway_mac);
    ethernet[6..12].copy_from_slice(&host.mac);
    ethernet[12..ETHERNET_HEADER].copy_from_slice(&ETHERTYPE_IPV4);
}

/// Sets the type-of-service byte, whose fields are DSCP and ECN today.
pub(crate) fn set_tos(packet: &mut Ipv4Packet<&mut [u8]>, tos: u8) {
    packet.set_dscp(tos >> 2);
    packet.set_ecn(tos & 3);
    packet.fill_checksum();
}

/// Completes a frame that smoltcp has filled: Ethernet header, type of service. Gives what the segment in it does.
pub(crate) fn finish(frame: &mut [u8], host: &HostConfig, tos: u8) -> Option<Segment> {
    let (ethernet, datagram) = frame.split_at_mut_checked(ETHERNET_HEADER)?;
    address_frame(ethernet, host);
    let mut packet = Ipv4Packet::new_checked(datagram).ok()?;
    if tos != 0 {
        set_tos(&mut packet, tos);
    }
    let (local, remote) = (packet.src_addr(), packet.dst_addr());
    let tcp = TcpPacket::new_checked(&*packet.payload_mut()).ok()?;
    let endpoints = Endpoints {
        local,
        local_port: tcp.src_port(),
        remote,
        remote_port: tcp.dst_port(),
    };
    Some(describe(endpoints, &tcp))
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
