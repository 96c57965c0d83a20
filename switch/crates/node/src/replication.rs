//! Who gets copies of a packet: multicast groups and clone sessions.

use std::collections::HashMap;
use std::sync::Arc;

use phb_network::Port;

use crate::switch::SwitchNode;

/// One member of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Replica {
    /// The port that the copy leaves by.
    pub port: Port,
    /// What tells it from other copies for the same port: `standard_metadata.egress_rid`.
    pub instance: u16,
}

/// What happens to packets that a program clones to a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CloneSession {
    /// A copy goes to each of them.
    pub replicas: Vec<Replica>,
    /// The copies' priority, unless 0: then it is what the copy's own metadata say. It counts where packets have no
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
    pub(crate) fn group(&self, group: u16) -> Option<Arc<[Replica]>> {
        self.groups.get(&group).map(Arc::clone)
    }

    pub(crate) fn session(&self, session: u16) -> Option<Arc<CloneSession>> {
        self.sessions.get(&session).map(Arc::clone)
    }
}

impl SwitchNode {
    /// Makes or replaces a multicast group; without `replicas`, removes it. Group 0 stands for "no multicast" in
    /// programs.
    pub fn set_multicast_group(&mut self, group: u16, replicas: Option<Vec<Replica>>) {
        match replicas {
            Some(replicas) => self.replication.groups.insert(group, replicas.into()),
            None => self.replication.groups.remove(&group),
        };
    }

    /// The members of a multicast group.
    #[must_use]
    pub fn multicast_group(&self, group: u16) -> Option<&[Replica]> {
        self.replication.groups.get(&group).map(|group| &**group)
    }

    /// All multicast groups, in the order of their numbers.
    #[must_use]
    pub fn multicast_groups(&self) -> Vec<u16> {
        sorted(self.replication.groups.keys())
    }

    /// Makes or replaces a clone session; without `value`, removes it.
    pub fn set_clone_session(&mut self, session: u16, value: Option<CloneSession>) {
        match value {
            Some(value) => self.replication.sessions.insert(session, value.into()),
            None => self.replication.sessions.remove(&session),
        };
    }

    /// A clone session.
    #[must_use]
    pub fn clone_session(&self, session: u16) -> Option<&CloneSession> {
        self.replication
            .sessions
            .get(&session)
            .map(|value| &**value)
    }

    /// All clone sessions, in the order of their numbers.
    #[must_use]
    pub fn clone_sessions(&self) -> Vec<u16> {
        sorted(self.replication.sessions.keys())
    }

    /// All groups and sessions, to be kept beyond the program that they were made for.
    #[must_use]
    pub fn replication(&self) -> &Replication {
        &self.replication
    }

    /// Replaces all groups and sessions.
    pub fn set_replication(&mut self, replication: Replication) {
        self.replication = replication;
    }
}

fn sorted<'a>(numbers: impl Iterator<Item = &'a u16>) -> Vec<u16> {
    let mut numbers: Vec<u16> = numbers.copied().collect();
    numbers.sort_unstable();
    numbers
}
