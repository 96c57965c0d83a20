//! Frames for tests.

use std::net::Ipv4Addr;

use phb_hosts::frame::ETHERNET_HEADER;
use phb_network::Frame;
use smoltcp::phy::ChecksumCapabilities;
use smoltcp::wire::{
    IpAddress, IpProtocol, Ipv4Packet, Ipv4Repr, TcpControl, TcpPacket, TcpRepr, TcpSeqNumber,
    UdpRepr,
};

type End = (Ipv4Addr, u16);

fn frame(
    source: Ipv4Addr,
    destination: Ipv4Addr,
    protocol: IpProtocol,
    length: usize,
    tos: u8,
) -> Vec<u8> {
    let ip = Ipv4Repr {
        src_addr: source,
        dst_addr: destination,
        next_header: protocol,
        payload_len: length,
        hop_limit: 64,
    };
    let mut bytes = vec![0; ETHERNET_HEADER + 20 + length];
    bytes[12] = 0x08;
    let mut packet = Ipv4Packet::new_unchecked(&mut bytes[ETHERNET_HEADER..]);
    ip.emit(&mut packet, &ChecksumCapabilities::default());
    packet.set_dscp(tos >> 2);
    packet.set_ecn(tos & 3);
    packet.fill_checksum();
    bytes
}

/// A TCP segment whose payload tells the place in the stream.
pub fn segment(source: End, destination: End, sequence: u32, length: usize, tos: u8) -> Frame {
    let payload: Vec<u8> = (sequence..)
        .take(length)
        .map(|place| place.to_le_bytes()[0])
        .collect();
    let tcp = TcpRepr {
        src_port: source.1,
        dst_port: destination.1,
        control: TcpControl::Psh,
        seq_number: TcpSeqNumber(sequence.cast_signed()),
        ack_number: Some(TcpSeqNumber(1)),
        window_len: 1000,
        window_scale: None,
        max_seg_size: None,
        sack_permitted: false,
        sack_ranges: [None; 3],
        timestamp: None,
        payload: &payload,
    };
    let mut bytes = frame(
        source.0,
        destination.0,
        IpProtocol::Tcp,
        tcp.buffer_len(),
        tos,
    );
    tcp.emit(
        &mut TcpPacket::new_unchecked(&mut bytes[ETHERNET_HEADER + 20..]),
        &IpAddress::Ipv4(source.0),
        &IpAddress::Ipv4(destination.0),
        &ChecksumCapabilities::default(),
    );
    Frame::new(bytes)
}

/// A UDP datagram with ten bytes of zeros.
pub fn datagram(source: End, destination: End) -> Frame {
    let udp = UdpRepr {
        src_port: source.1,
        dst_port: destination.1,
    };
    let mut bytes = frame(
        source.0,
        destination.0,
        IpProtocol::Udp,
        udp.header_len() + 10,
        0,
    );
    udp.emit(
        &mut smoltcp::wire::UdpPacket::new_unchecked(&mut bytes[ETHERNET_HEADER + 20..]),
        &IpAddress::Ipv4(source.0),
        &IpAddress::Ipv4(destination.0),
        10,
        |_| {},
        &ChecksumCapabilities::default(),
    );
    Frame::new(bytes)
}

/// Whether the IP and the TCP checksum of a frame are right.
pub fn checksums_are_right(frame: &Frame) -> bool {
    let ip = Ipv4Packet::new_checked(&frame.bytes[ETHERNET_HEADER..]).expect("IPv4");
    let tcp = TcpPacket::new_checked(ip.payload()).expect("TCP");
    let (source, destination) = (
        IpAddress::Ipv4(ip.src_addr()),
        IpAddress::Ipv4(ip.dst_addr()),
    );
    ip.verify_checksum() && tcp.verify_checksum(&source, &destination)
}
