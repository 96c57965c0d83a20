//! Receivers of copies: multicast groups and clone sessions.

use std::collections::HashMap;
use std::sync::Arc;

use phb_network::Port;

/// One member of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Replica {
    /// The port by which the copy leaves.
    pub port: Port,
    /// Tells copies for the same port apart: `standard_metadata.egress_rid`.
    pub instance: u16,
}

/// The copies of packets that a program clones to a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CloneSession {
    /// The receivers, one copy each.
    pub replicas: Vec<Replica>,
    /// The copies' priority; 0: that of their metadata. It counts for packets without rank, and
    /// stands for the highest queue if the port lacks it.
    pub class_of_service: u8,
    /// Bytes to which copies are cut when leaving.
    pub packet_length_bytes: Option<u32>,
}

/// All groups and sessions of a switch.
#[derive(Clone, Debug, Default)]
pub struct Replication {
    groups: HashMap<u16, Arc<[Replica]>>,
    sessions: HashMap<u16, Arc<CloneSession>>,
}

impl Replication {
    /// Makes or replaces a multicast group; `None` removes it. Group 0 means "no multicast".
    pub fn set_group(&mut self, group: u16, replicas: Option<Vec<Replica>>) {
        match replicas {
            Some(replicas) => self.groups.insert(group, replicas.into()),
            None => self.groups.remove(&group),
        };
    }

    /// The members of a multicast group.
    #[must_use]
    pub fn group(&self, group: u16) -> Option<&Arc<[Replica]>> {
        self.groups.get(&group)
    }

    /// Makes or replaces a clone session; `None` removes it.
    pub fn set_session(&mut self, session: u16, value: Option<CloneSession>) {
        match value {
            Some(value) => self.sessions.insert(session, value.into()),
            None => self.sessions.remove(&session),
        };
    }

    /// A clone session.
    #[must_use]
    pub fn session(&self, session: u16) -> Option<&Arc<CloneSession>> {
        self.sessions.get(&session)
    }
}
