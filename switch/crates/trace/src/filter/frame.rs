//! The fields of a frame that filters ask for, as far as it has them. They are read from the bytes, whatever the
//! program's parser makes of these.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Network {
    Ip,
    Ip6,
    Arp,
}

/// Pairs are source and destination.
#[derive(Debug, Default)]
pub(super) struct Frame {
    pub(super) ingress_port: u16,
    pub(super) ether_hosts: Option<([u8; 6], [u8; 6])>,
    /// Of the outer tag.
    pub(super) vlan: Option<u16>,
    pub(super) network: Option<Network>,
    pub(super) hosts: Option<(IpAddr, IpAddr)>,
    /// The whole byte: DSCP and ECN.
    pub(super) tos: Option<u8>,
    pub(super) protocol: Option<u8>,
    pub(super) ports: Option<(u16, u16)>,
}

/// EtherTypes of tags, IEEE 802.1Q.
const TAGS: [u16; 2] = [0x8100, 0x88a8];

/// Most tags, and most extension headers of IPv6, that are looked past.
const NESTED: usize = 8;

const TCP: u8 = 6;
const UDP: u8 = 17;
const SCTP: u8 = 132;

/// Extension headers of IPv6 that say in units of 8 bytes, less the first, how long they are: hop-by-hop options,
/// routing, destination options (RFC 8200).
const EXTENSIONS: [u8; 3] = [0, 43, 60];
const FRAGMENT: u8 = 44;
/// The authentication header counts in units of 4 bytes, less the first two (RFC 4302).
const AUTHENTICATION: u8 = 51;

fn word(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

impl Frame {
    pub(super) fn of(ingress_port: u16, bytes: &[u8]) -> Self {
        let mut frame = Self {
            ingress_port,
            ..Self::default()
        };
        // Where it ends early, what is missing stays unknown.
        let _ = frame.read(bytes);
        frame
    }

    fn read(&mut self, bytes: &[u8]) -> Option<()> {
        let destination = *bytes.first_chunk()?;
        let source = *bytes.get(6..)?.first_chunk()?;
        self.ether_hosts = Some((source, destination));
        let mut at = 12;
        for _ in 0..NESTED {
            if !TAGS.contains(&word(bytes, at)?) {
                break;
            }
            let tag = word(bytes, at + 2)?;
            self.vlan = self.vlan.or(Some(tag & 0xfff));
            at += 4;
        }
        let payload = bytes.get(at + 2..)?;
        match word(bytes, at)? {
            0x0800 => self.ip(payload),
            0x86dd => self.ip6(payload),
            0x0806 => self.arp(payload),
            _ => None,
        }
    }

    fn ip(&mut self, bytes: &[u8]) -> Option<()> {
        self.network = Some(Network::Ip);
        self.tos = Some(*bytes.get(1)?);
        let fragment = word(bytes, 6)? & 0x1fff;
        let protocol = *bytes.get(9)?;
        self.protocol = Some(protocol);
        self.hosts = Some((v4(bytes, 12)?, v4(bytes, 16)?));
        let length = usize::from(bytes[0] & 0x0f) * 4;
        // Only the first fragment has ports.
        (fragment == 0).then(|| self.transport(protocol, bytes.get(length..)?))?
    }

    fn ip6(&mut self, bytes: &[u8]) -> Option<()> {
        self.network = Some(Network::Ip6);
        self.tos = Some((word(bytes, 0)? >> 4) as u8);
        self.hosts = Some((v6(bytes, 8)?, v6(bytes, 24)?));
        let (mut next, mut at) = (*bytes.get(6)?, 40);
        for _ in 0..NESTED {
            let length = match next {
                FRAGMENT if word(bytes, at + 2)? >> 3 != 0 => {
                    self.protocol = Some(*bytes.get(at)?);
                    return None;
                }
                FRAGMENT => 8,
                AUTHENTICATION => (usize::from(*bytes.get(at + 1)?) + 2) * 4,
                _ if EXTENSIONS.contains(&next) => (usize::from(*bytes.get(at + 1)?) + 1) * 8,
                _ => break,
            };
            (next, at) = (*bytes.get(at)?, at + length);
        }
        self.protocol = Some(next);
        self.transport(next, bytes.get(at..)?)
    }

    fn arp(&mut self, bytes: &[u8]) -> Option<()> {
        self.network = Some(Network::Arp);
        // Addresses of Ethernet and IPv4: six and four bytes each, of the sender and of the target.
        if bytes.get(4..6)? == [6, 4] {
            self.hosts = Some((v4(bytes, 14)?, v4(bytes, 24)?));
        }
        Some(())
    }

    fn transport(&mut self, protocol: u8, bytes: &[u8]) -> Option<()> {
        if [TCP, UDP, SCTP].contains(&protocol) {
            self.ports = Some((word(bytes, 0)?, word(bytes, 2)?));
        }
        Some(())
    }
}

fn v4(bytes: &[u8], at: usize) -> Option<IpAddr> {
    let address: [u8; 4] = *bytes.get(at..)?.first_chunk()?;
    Some(Ipv4Addr::from(address).into())
}

fn v6(bytes: &[u8], at: usize) -> Option<IpAddr> {
    let address: [u8; 16] = *bytes.get(at..)?.first_chunk()?;
    Some(Ipv6Addr::from(address).into())
}
