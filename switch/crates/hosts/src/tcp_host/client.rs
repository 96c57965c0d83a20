//! A client: when it opens a connection or sends a datagram.

use phb_network::Time;

use crate::configuration::HostConfig;
use crate::frame::Endpoints;
use crate::traffic::{Flow, Traffic};
use crate::{stamp, udp};

pub(super) struct Client {
    pub flow: Flow,
    pub datagrams: Option<udp::Source>,
    pub stamps: Option<stamp::Session>,
}

impl Client {
    pub fn new(flow: Flow, datagram_port: u16, host: &HostConfig) -> Self {
        Self {
            datagrams: udp::Source::new(&flow, datagram_port, host),
            stamps: stamp::Session::new(&flow, datagram_port, host),
            flow,
        }
    }

    /// Whether it sends UDP, from a port of its own.
    pub fn is_udp(&self) -> bool {
        self.datagrams.is_some() || self.stamps.is_some()
    }

    /// When it starts; `None` if it has nothing to do.
    pub fn first(&self) -> Option<Time> {
        match &self.flow.traffic {
            Traffic::Messages { .. } => self.next_opening(0, 0),
            _ => Some(self.flow.ends.start_ns),
        }
    }

    /// When it opens a connection after `answered` transactions, not before `now`; `None` is never.
    pub fn next_opening(&self, answered: u64, now: Time) -> Option<Time> {
        let Traffic::Messages {
            permanent,
            schedule,
            ..
        } = &self.flow.traffic
        else {
            return Some(now);
        };
        let earliest = now.max(self.flow.ends.start_ns);
        if *permanent {
            return Some(earliest);
        }
        let (submitted, _) = schedule.get(usize::try_from(answered).ok()?)?;
        Some(earliest.max(*submitted))
    }

    pub fn is_over(&self, now: Time) -> bool {
        self.flow.ends.stop_ns.is_some_and(|stop| now >= stop)
    }

    pub fn endpoints(&self, local_port: u16) -> Endpoints {
        let ends = &self.flow.ends;
        Endpoints {
            local: ends.client_address,
            local_port,
            remote: ends.server_address,
            remote_port: ends.server_port,
        }
    }
}
