//! The headers of a packet that an OSA and its host read.

use std::net::Ipv4Addr;

use smoltcp::wire::{IpProtocol, Ipv4Packet, TcpPacket, UdpPacket};

use phb_hosts::frame::{ETHERNET_HEADER, Endpoints};

const ETHERTYPE_IPV4: [u8; 2] = [0x08, 0x00];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    pub sequence: u32,
    pub payload: usize,
    /// FIN or RST.
    pub ends: bool,
}

impl Segment {
    pub fn after(&self) -> u32 {
        self.sequence
            .wrapping_add(u32::try_from(self.payload).unwrap_or(0))
    }
}

/// The headers of an IPv4 packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Packet {
    pub tos: u8,
    pub protocol: u8,
    pub source: Ipv4Addr,
    pub destination: Ipv4Addr,
    /// Of TCP and UDP, except in later fragments; otherwise 0.
    pub source_port: u16,
    pub destination_port: u16,
    pub tcp: Option<Segment>,
}

impl Packet {
    /// The connection from its receiver's side.
    pub fn inbound(&self) -> Endpoints {
        Endpoints {
            local: self.destination,
            local_port: self.destination_port,
            remote: self.source,
            remote_port: self.source_port,
        }
    }

    /// The connection from its sender's side.
    pub fn outbound(&self) -> Endpoints {
        Endpoints {
            local: self.source,
            local_port: self.source_port,
            remote: self.destination,
            remote_port: self.destination_port,
        }
    }
}

/// Reads the headers of an IPv4 frame; checks no checksum.
pub(super) fn parse(frame: &[u8]) -> Option<Packet> {
    let datagram = frame.get(ETHERNET_HEADER..)?;
    if frame[12..ETHERNET_HEADER] != ETHERTYPE_IPV4 {
        return None;
    }
    let ip = Ipv4Packet::new_checked(datagram).ok()?;
    if ip.version() != 4 {
        return None;
    }
    let mut packet = Packet {
        tos: datagram[1],
        protocol: ip.next_header().into(),
        source: ip.src_addr(),
        destination: ip.dst_addr(),
        source_port: 0,
        destination_port: 0,
        tcp: None,
    };
    if ip.frag_offset() != 0 {
        return Some(packet);
    }
    match ip.next_header() {
        IpProtocol::Tcp => {
            if let Ok(tcp) = TcpPacket::new_checked(ip.payload()) {
                packet.source_port = tcp.src_port();
                packet.destination_port = tcp.dst_port();
                packet.tcp = Some(Segment {
                    sequence: u32::from_be_bytes(tcp.seq_number().0.to_be_bytes()),
                    payload: tcp.payload().len(),
                    ends: tcp.fin() || tcp.rst(),
                });
            }
        }
        IpProtocol::Udp => {
            if let Ok(udp) = UdpPacket::new_checked(ip.payload()) {
                packet.source_port = udp.src_port();
                packet.destination_port = udp.dst_port();
            }
        }
        _ => {}
    }
    Some(packet)
}
