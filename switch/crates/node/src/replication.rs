//! Receivers of copies: multicast groups and clone sessions.

use std::collections::{BTreeMap, BTreeSet, HashMap};
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
    /// Of each receiver in turn, who has its copy while its port is down, the preferred one first; fewer where the last
    /// receivers have none. If all are down, the receiver itself.
    pub backups: Vec<Vec<Replica>>,
    /// The copies' priority; 0: that of their metadata. It counts for packets without rank, and
    /// stands for the highest queue if the port lacks it.
    pub class_of_service: u8,
    /// Bytes to which copies are cut when leaving.
    pub packet_length_bytes: Option<u32>,
    /// A multicast group whose members get copies, too, as it is at any time.
    pub group: Option<u16>,
}

impl CloneSession {
    /// `PSA_CLONE_SESSION_TO_CPU`.
    pub(crate) const TO_CPU: u16 = 0;

    /// The session that every switch for PSA begins with: one copy for controllers.
    pub(crate) fn to_controllers(port: Port) -> Self {
        Self {
            replicas: vec![Replica { port, instance: 0 }],
            ..Self::default()
        }
    }
}

/// All groups and sessions of a switch.
#[derive(Clone, Debug, Default)]
pub struct Replication {
    /// The members at present.
    groups: HashMap<u16, Arc<[Replica]>>,
    /// Of groups with backups, each member with its own behind it.
    preferences: BTreeMap<u16, Vec<Vec<Replica>>>,
    /// Ports that are down.
    down: BTreeSet<Port>,
    /// Each with the receivers at present, those of its group among them.
    sessions: HashMap<u16, Arc<CloneSession>>,
    /// Those that have a group or backups, as they were given.
    changing: BTreeMap<u16, CloneSession>,
}

impl Replication {
    /// Makes or replaces a multicast group; `None` removes it. Group 0 means "no multicast".
    pub fn set_group(&mut self, group: u16, replicas: Option<Vec<Replica>>) {
        self.preferences.remove(&group);
        self.put_group(group, replicas.map(Into::into));
    }

    /// Makes or replaces a multicast group whose members have backups: the first of each whose port is up has the copy;
    /// if none is, the member itself.
    pub fn set_group_with_backups(&mut self, group: u16, members: Vec<Vec<Replica>>) {
        self.put_group(group, Some(present_of(&members, &self.down)));
        self.preferences.insert(group, members);
    }

    /// The members of a multicast group with backups, each with its own behind it.
    #[must_use]
    pub fn preferences(&self, group: u16) -> Option<&Vec<Vec<Replica>>> {
        self.preferences.get(&group)
    }

    pub(crate) fn set_down(&mut self, down: &BTreeSet<Port>) {
        self.down.clone_from(down);
        let present = self.preferences.iter();
        let present: Vec<_> = present
            .map(|(group, members)| (*group, present_of(members, down)))
            .collect();
        for (group, members) in present {
            self.put_group(group, Some(members));
        }
        self.refresh_sessions(|given| !given.backups.is_empty());
    }

    fn refresh_sessions(&mut self, which: impl Fn(&CloneSession) -> bool) {
        for (session, given) in self.changing.iter().filter(|(_, given)| which(given)) {
            let present = present_session(given, &self.groups, &self.down);
            self.sessions.insert(*session, present);
        }
    }

    fn put_group(&mut self, group: u16, replicas: Option<Arc<[Replica]>>) {
        match replicas {
            Some(replicas) => self.groups.insert(group, replicas),
            None => self.groups.remove(&group),
        };
        self.refresh_sessions(|given| given.group == Some(group));
    }

    /// The numbers of all multicast groups, in order.
    #[must_use]
    pub fn groups(&self) -> Vec<u16> {
        let mut numbers: Vec<u16> = self.groups.keys().copied().collect();
        numbers.sort_unstable();
        numbers
    }

    /// Removes all multicast groups.
    pub fn clear_groups(&mut self) {
        for group in self.groups() {
            self.set_group(group, None);
        }
    }

    /// The members of a multicast group.
    #[must_use]
    pub fn group(&self, group: u16) -> Option<&Arc<[Replica]>> {
        self.groups.get(&group)
    }

    /// Makes or replaces a clone session; `None` removes it.
    pub fn set_session(&mut self, session: u16, value: Option<CloneSession>) {
        self.changing.remove(&session);
        match value {
            Some(value) => {
                let present = present_session(&value, &self.groups, &self.down);
                self.sessions.insert(session, present);
                if value.group.is_some() || !value.backups.is_empty() {
                    self.changing.insert(session, value);
                }
            }
            None => {
                self.sessions.remove(&session);
            }
        }
    }

    /// A clone session; the members of its group are among its replicas.
    #[must_use]
    pub fn session(&self, session: u16) -> Option<&Arc<CloneSession>> {
        self.sessions.get(&session)
    }

    /// A clone session as it was given.
    #[must_use]
    pub fn given_session(&self, session: u16) -> Option<&CloneSession> {
        let given = self.changing.get(&session);
        given.or_else(|| self.sessions.get(&session).map(Arc::as_ref))
    }

    /// The numbers of the sessions that copy to a multicast group.
    pub fn sessions_of(&self, group: u16) -> impl Iterator<Item = u16> + '_ {
        let changing = self.changing.iter();
        let of_group = move |(_, given): &(&u16, &CloneSession)| given.group == Some(group);
        changing.filter(of_group).map(|(session, _)| *session)
    }
}

/// The first of each member's replicas whose port is not down.
fn present_of(members: &[Vec<Replica>], down: &BTreeSet<Port>) -> Arc<[Replica]> {
    let present = members.iter().filter_map(|replicas| {
        let (first, backups) = replicas.split_first()?;
        Some(*first_up(first, backups, down))
    });
    present.collect()
}

fn first_up<'r>(first: &'r Replica, backups: &'r [Replica], down: &BTreeSet<Port>) -> &'r Replica {
    let mut all = std::iter::once(first).chain(backups);
    let up = all.find(|replica| !down.contains(&replica.port));
    up.unwrap_or(first)
}

/// A session with the receivers at present.
fn present_session(
    given: &CloneSession,
    groups: &HashMap<u16, Arc<[Replica]>>,
    down: &BTreeSet<Port>,
) -> Arc<CloneSession> {
    let mut session = given.clone();
    for (replica, backups) in session.replicas.iter_mut().zip(&given.backups) {
        *replica = *first_up(replica, backups, down);
    }
    let members = given.group.and_then(|group| groups.get(&group));
    session
        .replicas
        .extend(members.into_iter().flat_map(|all| all.iter()));
    session.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replica(port: Port) -> Replica {
        Replica { port, instance: 0 }
    }

    #[test]
    fn a_session_goes_to_its_backups_while_ports_are_down() {
        let mut replication = Replication::default();
        let given = CloneSession {
            replicas: vec![replica(1), replica(2), replica(3)],
            backups: vec![vec![], vec![replica(4), replica(5)]],
            ..CloneSession::default()
        };
        replication.set_down(&BTreeSet::from([4]));
        replication.set_session(7, Some(given.clone()));
        for (down, expected) in [
            (&[][..], [1, 2, 3]),
            (&[1, 2], [1, 4, 3]),
            (&[2, 4], [1, 5, 3]),
            (&[2, 4, 5], [1, 2, 3]),
            (&[4], [1, 2, 3]),
        ] {
            replication.set_down(&down.iter().copied().collect());
            let session = replication.session(7).expect("it is there");
            let ports: Vec<Port> = session.replicas.iter().map(|each| each.port).collect();
            assert_eq!(ports, expected, "{down:?}");
            assert_eq!(replication.given_session(7), Some(&given));
        }
        replication.set_session(7, None);
        replication.set_down(&BTreeSet::from([1]));
        assert_eq!(replication.session(7), None);
    }

    #[test]
    fn a_session_follows_its_group() {
        let mut replication = Replication::default();
        let given = CloneSession {
            replicas: vec![replica(9)],
            group: Some(4),
            ..CloneSession::default()
        };
        replication.set_session(7, Some(given.clone()));
        let ports = |replication: &Replication| -> Vec<Port> {
            let session = replication.session(7).expect("it is there");
            session
                .replicas
                .iter()
                .map(|replica| replica.port)
                .collect()
        };
        assert_eq!(ports(&replication), [9]);
        replication.set_group(4, Some(vec![replica(1), replica(2)]));
        replication.set_group(5, Some(vec![replica(3)]));
        assert_eq!(ports(&replication), [9, 1, 2]);
        assert_eq!(replication.given_session(7), Some(&given));
        assert_eq!(replication.sessions_of(4).collect::<Vec<_>>(), [7]);
        replication.clear_groups();
        assert_eq!(ports(&replication), [9]);
        replication.set_session(7, None);
        replication.set_group(4, Some(vec![replica(1)]));
        assert_eq!(replication.session(7), None);
    }
}
