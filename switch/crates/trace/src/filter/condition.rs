//! What can be asked of a frame, and of what became of its packet.

use std::net::IpAddr;
use std::ops::RangeInclusive;

use phb_pipeline::Time;
use phb_pipeline::trace::{Happening, Record};

use super::frame::{Frame, Network};

#[derive(Debug, Clone)]
pub(super) enum Condition {
    AtArrival(AtArrival),
    AtEnd(AtEnd),
    Every(u64),
}

/// Which end of the packet's way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Source,
    Destination,
    Either,
}

impl Side {
    fn holds<T>(self, ends: Option<(T, T)>, is: impl Fn(T) -> bool) -> bool {
        ends.is_some_and(|(source, destination)| match self {
            Self::Source => is(source),
            Self::Destination => is(destination),
            Self::Either => is(source) || is(destination),
        })
    }
}

/// Addresses that begin with the same bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Prefix {
    pub(super) address: IpAddr,
    pub(super) length: u32,
}

impl Prefix {
    fn has(&self, address: IpAddr) -> bool {
        // Without any bit there is nothing to differ; a shift by all bits would be none.
        match (self.address, address) {
            (IpAddr::V4(ours), IpAddr::V4(theirs)) => {
                let differing = u32::from(ours) ^ u32::from(theirs);
                differing.checked_shr(32 - self.length).unwrap_or(0) == 0
            }
            (IpAddr::V6(ours), IpAddr::V6(theirs)) => {
                let differing = u128::from(ours) ^ u128::from(theirs);
                differing.checked_shr(128 - self.length).unwrap_or(0) == 0
            }
            _ => false,
        }
    }
}

#[derive(Debug, Clone)]
pub(super) enum AtArrival {
    IngressPort(u16),
    Host(Side, Prefix),
    EtherHost(Side, [u8; 6]),
    Protocol(u8),
    Icmp,
    Network(Network),
    Port(Side, RangeInclusive<u16>),
    Tos(u8),
    Dscp(u8),
    Vlan(u16),
}

impl AtArrival {
    pub(super) fn holds(&self, frame: &Frame) -> bool {
        match self {
            Self::IngressPort(port) => frame.ingress_port == *port,
            Self::Host(side, prefix) => side.holds(frame.hosts, |host| prefix.has(host)),
            Self::EtherHost(side, address) => {
                side.holds(frame.ether_hosts, |host| host == *address)
            }
            Self::Protocol(number) => frame.protocol == Some(*number),
            Self::Icmp => match frame.network {
                Some(Network::Ip) => frame.protocol == Some(1),
                Some(Network::Ip6) => frame.protocol == Some(58),
                _ => false,
            },
            Self::Network(network) => frame.network == Some(*network),
            Self::Port(side, ports) => side.holds(frame.ports, |port| ports.contains(&port)),
            Self::Tos(byte) => frame.tos == Some(*byte),
            Self::Dscp(number) => frame.tos.is_some_and(|byte| byte >> 2 == *number),
            Self::Vlan(number) => frame.vlan == Some(*number),
        }
    }
}

#[derive(Debug, Clone)]
pub(super) enum AtEnd {
    Dropped,
    Waited(Time),
    EgressPort(u16),
}

impl AtEnd {
    pub(super) fn holds(&self, record: &Record) -> bool {
        let mut happened = record.happened().map(|(_, happening)| happening);
        match self {
            Self::Dropped => happened.any(|it| matches!(it, Happening::Dropped { .. })),
            Self::Waited(least) => {
                let waits = happened.filter_map(|happening| match happening {
                    Happening::Dequeued { waited_ns, .. } => Some(*waited_ns),
                    _ => None,
                });
                waits.fold(0, Time::saturating_add) >= *least
            }
            Self::EgressPort(wanted) => happened.any(|happening| match happening {
                Happening::Enqueued { port, .. } | Happening::Departed { port, .. } => {
                    port == wanted
                }
                Happening::Dropped { reason, port } => {
                    AT_EGRESS.contains(reason) && *port == Some(*wanted)
                }
                _ => false,
            }),
        }
    }
}

/// Reasons of drops that are counted where the packet would have left.
const AT_EGRESS: [&str; 7] = [
    "buffer",
    "cpu_buffer",
    "egress",
    "priority",
    "pushed_out",
    "queue",
    "reloaded",
];
