//! From Ethernet frames to TCP segments and back.

use std::net::Ipv4Addr;

use smoltcp::wire::{IpAddress, IpProtocol, Ipv4Packet, TcpPacket};

use crate::configuration::{HostConfig, is_unicast};
use crate::statistics::HostStatistics;

/// Destination, source and type.
pub(crate) const ETHERNET_HEADER: usize = 14;
const ETHERTYPE_IPV4: [u8; 2] = [0x08, 0x00];
const BROADCAST: [u8; 6] = [0xff; 6];

/// The two ends of a connection, seen from the host.
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

/// Why a host drops a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    OtherMac,
    OtherAddress,
    OtherProtocol,
    Malformed,
    TooLarge,
}

impl Refusal {
    pub fn count(self, statistics: &mut HostStatistics) {
        *match self {
            Self::OtherMac => &mut statistics.dropped_other_mac,
            Self::OtherAddress => &mut statistics.dropped_other_address,
            Self::OtherProtocol => &mut statistics.dropped_other_protocol,
            Self::Malformed => &mut statistics.dropped_malformed,
            Self::TooLarge => &mut statistics.dropped_too_large,
        } += 1;
    }
}

/// Reads the segment in a frame that has come to the host, or says why the host drops it.
pub(crate) fn accept(frame: &[u8], host: &HostConfig) -> Result<Segment, Refusal> {
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
    let is_fragment = packet.more_frags() || packet.frag_offset() != 0;
    if is_fragment || packet.next_header() != IpProtocol::Tcp {
        return Err(Refusal::OtherProtocol);
    }
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

/// Completes a frame that smoltcp has filled: Ethernet header, type of service. Gives what the segment in it does.
pub(crate) fn finish(frame: &mut [u8], host: &HostConfig) -> Option<Segment> {
    let (ethernet, datagram) = frame.split_at_mut_checked(ETHERNET_HEADER)?;
    ethernet[..6].copy_from_slice(&host.gateway_mac);
    ethernet[6..12].copy_from_slice(&host.mac);
    ethernet[12..].copy_from_slice(&ETHERTYPE_IPV4);
    let mut packet = Ipv4Packet::new_checked(datagram).ok()?;
    if host.tcp.tos != 0 {
        packet.set_dscp(host.tcp.tos >> 2);
        packet.set_ecn(host.tcp.tos & 3);
        packet.fill_checksum();
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
