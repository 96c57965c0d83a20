//! Who gets copies of a packet: multicast groups and clone sessions.

use std::collections::HashMap;
use std::sync::Arc;

use phb_network::Port;

/// One member of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Replica {
    /// The port that the copy leaves by.
    pub port: Port,
    /// The number that tells it from other copies for the same port: `standard_metadata.egress_rid`.
    pub instance: u16,
}

/// The fate of packets that a program clones to a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CloneSession {
    /// A copy goes to each of them.
    pub replicas: Vec<Replica>,
    /// The copies' priority; with 0 they have that of their own metadata. It counts where packets have no
    /// rank, and stands for the highest queue if the port has no such one.
    pub class_of_service: u8,
    /// Bytes to which copies are cut when they leave.
    pub packet_length_bytes: Option<u32>,
}

/// All groups and sessions of a switch.
#[derive(Clone, Debug, Default)]
pub struct Replication {
    groups: HashMap<u16, Arc<[Replica]>>,
    sessions: HashMap<u16, Arc<CloneSession>>,
}

impl Replication {
    /// Makes or replaces a multicast group; without `replicas`, removes it. Group 0 stands for "no multicast" in
    /// programs.
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

    /// Makes or replaces a clone session; without `value`, removes it.
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
