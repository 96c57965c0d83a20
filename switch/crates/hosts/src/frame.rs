//! Ethernet and IPv4 headers of a host's frames, and reasons to drop one.

use std::hash::{Hash, Hasher};
use std::net::Ipv4Addr;

use smoltcp::wire::Ipv4Packet;

use crate::configuration::HostConfig;
use crate::statistics::HostStatistics;

/// Destination, source and type.
pub const ETHERNET_HEADER: usize = 14;
pub(crate) const ETHERTYPE_IPV4: [u8; 2] = [0x08, 0x00];

/// The two ends of a connection or a flow of datagrams, as the host sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoints {
    /// Own address.
    pub local: Ipv4Addr,
    /// Own port.
    pub local_port: u16,
    /// Address of the other end.
    pub remote: Ipv4Addr,
    /// Port of the other end.
    pub remote_port: u16,
}

impl Hash for Endpoints {
    /// Two words instead of six parts.
    fn hash<H: Hasher>(&self, state: &mut H) {
        let end =
            |address: Ipv4Addr, port: u16| u64::from(address.to_bits()) << 16 | u64::from(port);
        state.write_u64(end(self.local, self.local_port));
        state.write_u64(end(self.remote, self.remote_port));
    }
}

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

pub(crate) fn address_frame(ethernet: &mut [u8], host: &HostConfig) {
    ethernet[..6].copy_from_slice(&host.next_mac());
    ethernet[6..12].copy_from_slice(&host.own_mac());
    ethernet[12..ETHERNET_HEADER].copy_from_slice(&ETHERTYPE_IPV4);
}

pub(crate) fn set_tos(packet: &mut Ipv4Packet<&mut [u8]>, tos: u8) {
    packet.set_dscp(tos >> 2);
    packet.set_ecn(tos & 3);
    packet.fill_checksum();
}
