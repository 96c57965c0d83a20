//! Cuts large frames into segments, as an interface with segmentation offload.

use crate::checksum;
use crate::tag::{Tag, append_tagged};

/// Kinds of segmentation (linux/virtio_net.h).
const TCP_IPV4: u8 = 1;
const TCP_IPV6: u8 = 4;
const UDP: u8 = 5;
/// A flag: the frame has CWR set, which only its first segment keeps, as for every frame here.
const ECN: u8 = 0x80;

const ETHERNET_HEADER: usize = 14;
const TAG: usize = 4;
const IPV4_HEADER: usize = 20;
const IPV6_HEADER: usize = 40;
const TCP_HEADER: usize = 20;
const UDP_HEADER: usize = 8;
const PROTOCOL_TCP: u8 = 6;
const PROTOCOL_UDP: u8 = 17;

/// TCP flags in their byte.
const FIN: u8 = 0x01;
const PUSH: u8 = 0x08;
const CWR: u8 = 0x80;

struct Headers {
    ipv6: bool,
    tcp: bool,
    network: usize,
    transport: usize,
    payload: usize,
}

impl Headers {
    fn find(kind: u8, transport: usize, frame: &[u8]) -> Option<Self> {
        let tcp = kind != UDP;
        let mut network = ETHERNET_HEADER;
        while let [0x81, 0x00] | [0x88, 0xa8] = frame.get(network - 2..network)? {
            network += TAG;
        }
        let ipv6 = match frame.get(network - 2..network)? {
            [0x08, 0x00] => false,
            [0x86, 0xdd] => true,
            _ => return None,
        };
        if (kind == TCP_IPV4 && ipv6) || (kind == TCP_IPV6 && !ipv6) {
            return None;
        }
        let header = if ipv6 { IPV6_HEADER } else { IPV4_HEADER };
        if transport < network + header {
            return None;
        }
        let (at_length, shortest) = if tcp {
            (12, TCP_HEADER)
        } else {
            (0, UDP_HEADER)
        };
        let length = if tcp {
            usize::from(frame.get(transport + at_length)? >> 4) * 4
        } else {
            UDP_HEADER
        };
        let payload = transport + length;
        (length >= shortest && payload < frame.len()).then_some(Self {
            ipv6,
            tcp,
            network,
            transport,
            payload,
        })
    }
}

/// Cuts `frame` (transport header at `transport`) into segments of `size` bytes of payload (the
/// last may be shorter); gives each to `take`, with `tag`. `None` if it can't be cut.
pub fn segment(
    kind: u8,
    size: usize,
    transport: usize,
    frame: &[u8],
    tag: Option<Tag>,
    scratch: &mut Vec<u8>,
    take: &mut dyn FnMut(&[u8]),
) -> Option<()> {
    let kind = kind & !ECN;
    if !matches!(kind, TCP_IPV4 | TCP_IPV6 | UDP) || size == 0 {
        return None;
    }
    let headers = Headers::find(kind, transport, frame)?;
    let (front, payload) = frame.split_at_checked(headers.payload)?;
    let last = payload.len().div_ceil(size) - 1;
    for (number, piece) in payload.chunks(size).enumerate() {
        scratch.clear();
        append_tagged(scratch, front, tag);
        scratch.extend_from_slice(piece);
        let shift = if tag.is_some() { TAG } else { 0 };
        let packet = scratch.get_mut(headers.network + shift..)?;
        let transport = headers.transport - headers.network;
        write_network_header(packet, headers.ipv6, transport, number);
        let pseudo = pseudo_header(packet, &headers, transport);
        let segment = packet.get_mut(transport..)?;
        if headers.tcp {
            write_tcp_header(segment, number * size, number == 0, number == last);
        } else {
            let length = segment.len() as u16;
            segment[4..6].copy_from_slice(&length.to_be_bytes());
        }
        let at = if headers.tcp { 16 } else { 6 };
        segment[at..at + 2].fill(0);
        let complement = checksum::complement(pseudo + checksum::sum(segment));
        segment[at..at + 2].copy_from_slice(&complement.to_be_bytes());
        take(scratch);
    }
    Some(())
}

fn write_network_header(packet: &mut [u8], ipv6: bool, transport: usize, number: usize) {
    if ipv6 {
        let length = (packet.len() - IPV6_HEADER) as u16;
        packet[4..6].copy_from_slice(&length.to_be_bytes());
        return;
    }
    let length = packet.len() as u16;
    packet[2..4].copy_from_slice(&length.to_be_bytes());
    let identification = u16::from_be_bytes([packet[4], packet[5]]).wrapping_add(number as u16);
    packet[4..6].copy_from_slice(&identification.to_be_bytes());
    packet[10..12].fill(0);
    let complement = !checksum::fold(checksum::sum(&packet[..transport]));
    packet[10..12].copy_from_slice(&complement.to_be_bytes());
}

/// The network header's part of a transport checksum (RFC 9293 section 3.1, RFC 8200 section 8.1).
fn pseudo_header(packet: &[u8], headers: &Headers, transport: usize) -> u64 {
    let addresses = if headers.ipv6 { 8..40 } else { 12..20 };
    let protocol = if headers.tcp {
        PROTOCOL_TCP
    } else {
        PROTOCOL_UDP
    };
    checksum::sum(&packet[addresses]) + u64::from(protocol) + (packet.len() - transport) as u64
}

fn write_tcp_header(segment: &mut [u8], offset: usize, first: bool, last: bool) {
    let sequence = u32::from_be_bytes([segment[4], segment[5], segment[6], segment[7]]);
    let sequence = sequence.wrapping_add(offset as u32);
    segment[4..8].copy_from_slice(&sequence.to_be_bytes());
    if !first {
        segment[13] &= !CWR;
    }
    if !last {
        segment[13] &= !(FIN | PUSH);
    }
}
