//! A switch that runs `steered.p4`, and frames that ask it for copies and passes.

use crate::common;
use phb_network::{Output, Port, Time, Transmission};
use phb_node::{CloneSession, Replica, SwitchNode, unlimited};
use phb_traffic_manager::PortConfig;

pub(crate) const STEERED: &str = include_str!("../programs/steered.json");
pub(crate) const STEERED_RANKED: &str = include_str!("../programs/steered_ranked.json");
pub(crate) const CPU_PORT: Port = 510;
/// A port that the switch does not have.
pub(crate) const NOWHERE: Port = 300;

pub(crate) const DROP: u8 = 1;
pub(crate) const MULTICAST: u8 = 2;
pub(crate) const CLONE: u8 = 4;
pub(crate) const AGAIN: u8 = 8;
pub(crate) const DIGEST: u8 = 16;

pub(crate) fn switch(
    artifact: &str,
    ports: impl IntoIterator<Item = (Port, PortConfig)>,
) -> SwitchNode {
    common::switch(artifact, Some(CPU_PORT), ports)
}

pub(crate) fn three_ports(artifact: &str) -> SwitchNode {
    switch(artifact, (0..3).map(|port| (port, unlimited())))
}

/// 8 Mbit/s: a byte takes a microsecond.
pub(crate) fn line() -> PortConfig {
    PortConfig {
        rate_bps: Some(8_000_000),
        ..unlimited()
    }
}

/// The requests of a frame.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Steering {
    pub(crate) ingress: u8,
    pub(crate) egress: u8,
    pub(crate) times: u8,
    pub(crate) priority: u8,
    pub(crate) port: u16,
    pub(crate) group: u16,
    pub(crate) session: u16,
    pub(crate) rank: u32,
}

impl Steering {
    pub(crate) fn frame(self) -> Vec<u8> {
        let mut bytes = vec![self.ingress, self.egress, self.times, self.priority];
        bytes.extend(self.port.to_be_bytes());
        bytes.extend(self.group.to_be_bytes());
        bytes.extend(self.session.to_be_bytes());
        bytes.extend(self.rank.to_be_bytes());
        bytes.resize(100, 0);
        bytes
    }
}

/// The report that egress has written into a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) port: Port,
    pub(crate) length: usize,
    pub(crate) passes: u8,
    pub(crate) instance_type: u8,
    pub(crate) egress_rid: u16,
}

pub(crate) fn seen(sent: &Transmission) -> Seen {
    let bytes = &sent.frame.bytes;
    assert_eq!(bytes[16..18], sent.port.to_be_bytes(), "egress_port");
    Seen {
        port: sent.port,
        length: bytes.len(),
        passes: bytes[14],
        instance_type: bytes[15],
        egress_rid: u16::from_be_bytes([bytes[18], bytes[19]]),
    }
}

pub(crate) fn receive(switch: &mut SwitchNode, now: Time, steering: Steering) -> Vec<Transmission> {
    let mut out = Output::new();
    out.begin(now);
    switch.receive_frame(now, 0, &steering.frame(), &mut out);
    assert_eq!(switch.check(), 0);
    out.drain().collect()
}

pub(crate) fn replicas(replicas: &[(Port, u16)]) -> Vec<Replica> {
    let replica = |(port, instance): &(Port, u16)| Replica {
        port: *port,
        instance: *instance,
    };
    replicas.iter().map(replica).collect()
}

pub(crate) fn session(members: &[(Port, u16)]) -> Option<CloneSession> {
    Some(CloneSession {
        replicas: replicas(members),
        ..CloneSession::default()
    })
}
