//! TN3270 server: the CIP ends the TCP connections of the clients and takes what they say to VTAM as SNA.
//!
//! The TCP of the server is that of the host behind the adapter, at whose side of the channel it stands; all its
//! segments cost the adapter's CPU. Only segments with payload cross the channel, where they stand for the SNA messages
//! that the server makes of them.

use smoltcp::wire::{IpProtocol, Ipv4Packet, TcpPacket};

use crate::datagram::ETHERNET_HEADER;

/// Whether a frame holds a TCP segment with payload.
pub(crate) fn has_payload(frame: &[u8]) -> bool {
    let datagram = frame.get(ETHERNET_HEADER..).unwrap_or_default();
    let Ok(packet) = Ipv4Packet::new_checked(datagram) else {
        return false;
    };
    packet.next_header() == IpProtocol::Tcp
        && TcpPacket::new_checked(packet.payload())
            .is_ok_and(|segment| !segment.payload().is_empty())
}
