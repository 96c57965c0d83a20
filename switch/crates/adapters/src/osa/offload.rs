//! Segmentation offload: TCP hands over large segments, and the adapter cuts them.
//!
//! Our hosts' TCP makes segments of the path's size. Where a real stack would build one large
//! segment, consecutive segments of one time are joined here, cost the host one send, and are cut
//! by the adapter. Large segments of a host (a kernel) are taken as they are.

use phb_hosts::frame::ETHERNET_HEADER;
use phb_network::Frame;
use phb_ports::segment;
use smoltcp::wire::{Ipv4Packet, TcpPacket};

/// The largest IPv4 datagram.
const MAX_DATAGRAM: usize = 65_535;
const IPV4_HEADER: usize = 20;
/// TCP over IPv4, in the numbering of phb-ports and virtio.
const KIND_TCP_IPV4: u8 = 1;

struct Parts {
    transport: usize,
    payload: usize,
    end: usize,
    sequence: u32,
}

fn parts(frame: &[u8]) -> Option<Parts> {
    let datagram = frame.get(ETHERNET_HEADER..)?;
    if frame[12..ETHERNET_HEADER] != [0x08, 0x00] {
        return None;
    }
    let ip = Ipv4Packet::new_checked(datagram).ok()?;
    let whole = ip.frag_offset() == 0 && !ip.more_frags();
    if ip.version() != 4 || usize::from(ip.header_len()) != IPV4_HEADER || !whole {
        return None;
    }
    if u8::from(ip.next_header()) != 6 {
        return None;
    }
    let tcp = TcpPacket::new_checked(ip.payload()).ok()?;
    if tcp.syn() || tcp.fin() || tcp.rst() || tcp.urg() || tcp.payload().is_empty() {
        return None;
    }
    let transport = ETHERNET_HEADER + IPV4_HEADER;
    Some(Parts {
        transport,
        payload: transport + usize::from(tcp.header_len()),
        end: ETHERNET_HEADER + usize::from(ip.total_len()),
        sequence: u32::from_be_bytes(tcp.seq_number().0.to_be_bytes()),
    })
}

pub(super) struct LargeSend {
    pub frame: Frame,
    /// Payload of each segment; the last may have less.
    pub segment_bytes: usize,
    /// Segments in it.
    pub segments: u64,
}

impl LargeSend {
    pub fn new(frame: Frame) -> Self {
        let segment_bytes = parts(&frame.bytes).map_or(0, |parts| parts.end - parts.payload);
        Self {
            frame,
            segment_bytes,
            segments: 1,
        }
    }

    /// Appends the next segment, if it follows with the same headers; `false` changes nothing.
    pub fn append(&mut self, next: &Frame) -> bool {
        let (Some(mine), Some(others)) = (parts(&self.frame.bytes), parts(&next.bytes)) else {
            return false;
        };
        let have = mine.end - mine.payload;
        let more = others.end - others.payload;
        let whole = have == self.segment_bytes * usize::try_from(self.segments).unwrap_or(0);
        let follows = u32::try_from(have)
            .is_ok_and(|have| mine.sequence.wrapping_add(have) == others.sequence);
        let fits = mine.end - ETHERNET_HEADER + more <= MAX_DATAGRAM;
        if !whole || !follows || !fits || more > self.segment_bytes {
            return false;
        }
        if !same_headers(
            &self.frame.bytes[..mine.payload],
            &next.bytes[..others.payload],
        ) {
            return false;
        }
        self.frame.bytes.truncate(mine.end);
        let payload = &next.bytes[others.payload..others.end];
        self.frame.bytes.extend_from_slice(payload);
        let length = self.frame.len() - ETHERNET_HEADER;
        let mut ip = Ipv4Packet::new_unchecked(&mut self.frame.bytes[ETHERNET_HEADER..]);
        ip.set_total_len(u16::try_from(length).unwrap_or(u16::MAX));
        // The cutter gives the last segment's PSH to its last one.
        let flags = ETHERNET_HEADER + IPV4_HEADER + 13;
        self.frame.bytes[flags] = next.bytes[flags];
        self.segments += 1;
        true
    }
}

/// Whether headers are equal but for length, identification, checksums, sequence number, PSH.
fn same_headers(one: &[u8], other: &[u8]) -> bool {
    const PSH: u8 = 0x08;
    let ip = ETHERNET_HEADER;
    let tcp = ip + IPV4_HEADER;
    let differs = |place: usize| {
        (ip + 2..ip + 6).contains(&place)
            || (ip + 10..ip + 12).contains(&place)
            || (tcp + 4..tcp + 8).contains(&place)
            || (tcp + 16..tcp + 18).contains(&place)
    };
    one.len() == other.len()
        && one.iter().zip(other).enumerate().all(|(place, (a, b))| {
            let mask = if place == tcp + 13 { !PSH } else { 0xff };
            differs(place) || a & mask == b & mask
        })
}

/// Cuts a large segment into frames of `segment_bytes` of payload; gives other frames back.
pub(super) fn cut(frame: Frame, segment_bytes: usize) -> Vec<Frame> {
    let Some(parts) = parts(&frame.bytes) else {
        return vec![frame];
    };
    if segment_bytes == 0 || parts.end - parts.payload <= segment_bytes {
        return vec![frame];
    }
    let mut pieces = Vec::new();
    let mut scratch = Vec::new();
    let done = segment::segment(
        KIND_TCP_IPV4,
        segment_bytes,
        parts.transport,
        &frame.bytes[..parts.end],
        None,
        &mut scratch,
        &mut |piece| pieces.push(Frame::new(piece.to_vec())),
    );
    if done.is_some() { pieces } else { vec![frame] }
}

/// Payload in a segment whose datagram has at most `mtu` bytes, with the headers of `frame`.
pub(super) fn room(frame: &Frame, mtu: usize) -> usize {
    parts(&frame.bytes).map_or(0, |parts| {
        mtu.saturating_sub(parts.payload - ETHERNET_HEADER)
    })
}
