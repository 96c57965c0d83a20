//! Nodes of a network, and their kinds.

use std::sync::{Arc, Mutex};

use phb_adapters::{
    Cip, CipConfig, Line, Osa, Osa2, Osa2Config, OsaConfig, SnaHost, SnaHostConfig, Stations,
    StationsConfig,
};
use phb_hosts::{ConfigError, HostConfig, Replay, TcpHost};
use phb_network::{Frame, Node, Output, Port, Time, WireConfig};
use phb_node::{LiveNode, SwitchNode};
use serde::Deserialize;

/// Kinds of nodes with their parameters.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Described {
    /// Its port is 0.
    Host(HostConfig),
    Cip(CipConfig),
    Osa2(Osa2Config),
    Osa(OsaConfig),
    Line(WireConfig),
    /// Their port is 0.
    SnaStations(StationsConfig),
    SnaHost(SnaHostConfig),
}

pub(crate) enum Member {
    Switch(Arc<Mutex<SwitchNode>>),
    Host(Box<TcpHost>),
    Cip(Box<Cip>),
    Osa2(Box<Osa2>),
    Osa(Box<Osa>),
    Line(Box<Line>),
    Replay(Replay),
    Stations(Box<Stations>),
    SnaHost(SnaHost),
    /// Also for a runner by the clock.
    Shared(Arc<Mutex<SharedAdapter>>),
}

impl Member {
    pub fn new(described: Described) -> Result<Self, ConfigError> {
        Ok(match described {
            Described::Host(config) => Self::Host(Box::new(TcpHost::new(config)?)),
            Described::Cip(config) => Self::Cip(Box::new(Cip::new(config)?)),
            Described::Osa2(config) => Self::Osa2(Box::new(Osa2::new(config)?)),
            Described::Osa(config) => Self::Osa(Box::new(Osa::new(config)?)),
            Described::Line(config) => Self::Line(Box::new(Line::new(config)?)),
            Described::SnaStations(config) => Self::Stations(Box::new(Stations::new(config)?)),
            Described::SnaHost(config) => Self::SnaHost(SnaHost::new(config)),
        })
    }
}

macro_rules! delegate {
    ($member:expr, $node:ident => $call:expr) => {
        match $member {
            Member::Switch($node) => $call,
            Member::Host($node) => $call,
            Member::Cip($node) => $call,
            Member::Osa2($node) => $call,
            Member::Osa($node) => $call,
            Member::Line($node) => $call,
            Member::Replay($node) => $call,
            Member::Stations($node) => $call,
            Member::SnaHost($node) => $call,
            Member::Shared($node) => $call,
        }
    };
}

impl Node for Member {
    fn receive(&mut self, now: Time, port: Port, frame: Frame, out: &mut Output) {
        delegate!(self, node => node.receive(now, port, frame, out));
    }

    fn tick(&mut self, now: Time, out: &mut Output) {
        delegate!(self, node => node.tick(now, out));
    }

    fn next_tick(&self) -> Option<Time> {
        delegate!(self, node => node.next_tick())
    }
}

pub(crate) struct SharedAdapter {
    pub name: String,
    pub member: Member,
}

impl Node for SharedAdapter {
    fn receive(&mut self, now: Time, port: Port, frame: Frame, out: &mut Output) {
        self.member.receive(now, port, frame, out);
    }

    fn tick(&mut self, now: Time, out: &mut Output) {
        self.member.tick(now, out);
    }

    fn next_tick(&self) -> Option<Time> {
        self.member.next_tick()
    }
}

impl LiveNode for SharedAdapter {
    fn name(&self) -> &str {
        &self.name
    }
}
