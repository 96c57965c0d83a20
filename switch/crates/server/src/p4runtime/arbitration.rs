//! Client arbitration (specification, "Client Arbitration and Controller Replication").
//!
//! The primary of a role is the client with the highest election id that the role has ever seen.
//! After it has left there is none until a client comes with that id or a higher one. With bmv2's
//! manners the next client is promoted then, and a missing election id is 0.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use phb_p4runtime::Code;
use prost::Message;

use super::message::{Arbitration as Update, Role, Status, StreamAnswer, StreamResponse};
use super::outbox::Outbox;
use super::role::RoleConfig;
use crate::authorization::{Permit, Result, refuse};
use crate::config::Manners;
use crate::limits;

/// The role with full access.
pub const DEFAULT_ROLE: &str = "";

/// A stream that takes part.
pub struct Client {
    pub stream: u64,
    pub outbox: Arc<Outbox>,
    pub permit: Permit,
    election_id: Option<u128>,
}

#[derive(Default)]
struct Members {
    clients: Vec<Client>,
    highest: Option<u128>,
    config: Option<Arc<RoleConfig>>,
}

impl Members {
    fn primary(&self) -> Option<&Client> {
        let highest = self.highest?;
        let mut clients = self.clients.iter();
        clients.find(|client| client.election_id == Some(highest))
    }

    fn is_primary(&self, stream: u64) -> bool {
        self.primary().is_some_and(|client| client.stream == stream)
    }
}

pub struct Arbitration {
    device_id: u64,
    manners: Manners,
    roles: BTreeMap<String, Members>,
    /// The role of each stream that has arbitrated.
    role_of: BTreeMap<u64, String>,
    /// The highest election ids of roles without streams, the one left last at the end.
    left: VecDeque<(String, u128)>,
}

impl Arbitration {
    pub fn new(device_id: u64, manners: Manners) -> Self {
        Self {
            device_id,
            manners,
            roles: BTreeMap::from([(DEFAULT_ROLE.to_owned(), Members::default())]),
            role_of: BTreeMap::new(),
            left: VecDeque::new(),
        }
    }

    /// Takes a stream's arbitration message, notifies its role. After a refusal the stream must
    /// end.
    pub fn update(
        &mut self,
        stream: u64,
        outbox: &Arc<Outbox>,
        permit: &Permit,
        message: &Update,
    ) -> Result<()> {
        let wanted = message.role.clone().unwrap_or_default();
        let name = wanted.name;
        let is_new = self.require_place(stream, message.device_id, &name)?;
        let config = wanted.config.map(|config| RoleConfig::read(&name, &config));
        let config = config.transpose()?.map(Arc::new);
        if let Some(config) = &config {
            for (other, members) in &self.roles {
                if let Some(others) = members.config.as_ref().filter(|_| *other != name) {
                    config.require_disjoint(others, other)?;
                }
            }
        }
        let mut election_id = message.election_id.map(u128::from);
        if self.manners == Manners::Bmv2 {
            election_id = Some(election_id.unwrap_or(0));
        }
        self.require_room(&name, stream, election_id)?;
        let members = self.join(&name);
        let was_primary = members.is_primary(stream);
        if is_new {
            members.clients.push(Client {
                stream,
                outbox: Arc::clone(outbox),
                permit: permit.clone(),
                election_id: None,
            });
        }
        for client in &mut members.clients {
            if client.stream == stream {
                client.election_id = election_id;
            }
        }
        let takes_over = election_id.is_some() && members.highest <= election_id;
        if takes_over {
            members.highest = election_id;
            members.config = config;
        }
        self.role_of.insert(stream, name.clone());
        let promoted = self.promote(&name);
        if takes_over || was_primary || promoted {
            self.notify(&name, |client| client.stream != stream);
        }
        self.notify(&name, |client| client.stream == stream);
        Ok(())
    }

    /// Checks that a stream may ask for this device and role; whether it has none yet.
    fn require_place(&self, stream: u64, device_id: u64, name: &str) -> Result<bool> {
        let known = self.role_of.get(&stream);
        if device_id != self.device_id {
            return match known {
                None => refuse(
                    Code::NotFound,
                    format!(
                        "there is no device {} here, only {}",
                        device_id, self.device_id
                    ),
                ),
                Some(_) => refuse(
                    Code::FailedPrecondition,
                    format!("this stream belongs to device {}", self.device_id),
                ),
            };
        }
        if let Some(role) = known.filter(|role| *role != name) {
            return refuse(
                Code::FailedPrecondition,
                format!("this stream belongs to role '{role}'; open another one"),
            );
        }
        if name.len() > limits::ROLE_NAME_BYTES {
            return refuse(
                Code::InvalidArgument,
                format!(
                    "a role's name has {} bytes at most",
                    limits::ROLE_NAME_BYTES
                ),
            );
        }
        Ok(known.is_none())
    }

    fn require_room(&self, name: &str, stream: u64, election_id: Option<u128>) -> Result<()> {
        let Some(members) = self.roles.get(name) else {
            if self.roles.len() > limits::ROLES {
                return refuse(
                    Code::ResourceExhausted,
                    format!("there are {} roles, which is the limit", limits::ROLES),
                );
            }
            return Ok(());
        };
        let mut others = members
            .clients
            .iter()
            .filter(|other| other.stream != stream);
        if let Some(id) = election_id
            && others.any(|other| other.election_id == election_id)
        {
            return refuse(
                Code::InvalidArgument,
                format!("election id {id} is already used by another client of role '{name}'"),
            );
        }
        if !self.role_of.contains_key(&stream) && members.clients.len() >= limits::STREAMS_OF_A_ROLE
        {
            return refuse(
                Code::ResourceExhausted,
                format!(
                    "role '{name}' has {} clients, which is the limit",
                    members.clients.len()
                ),
            );
        }
        Ok(())
    }

    fn join(&mut self, name: &str) -> &mut Members {
        if !self.roles.contains_key(name) {
            let place = self.left.iter().position(|(left, _)| left == name);
            let highest = place.and_then(|place| self.left.remove(place));
            let members = Members {
                highest: highest.map(|(_, highest)| highest),
                ..Members::default()
            };
            self.roles.insert(name.to_owned(), members);
        }
        self.roles.entry(name.to_owned()).or_default()
    }

    /// With bmv2's manners, makes the client with the highest id primary; whether that has changed anything.
    fn promote(&mut self, name: &str) -> bool {
        let Some(members) = self.roles.get_mut(name) else {
            return false;
        };
        if self.manners != Manners::Bmv2 || members.primary().is_some() {
            return false;
        }
        members.highest = members
            .clients
            .iter()
            .filter_map(|client| client.election_id)
            .max();
        members.highest.is_some()
    }

    /// Forgets a stream that has ended; tells backups if it was primary. Roles without streams lose
    /// their config.
    pub fn leave(&mut self, stream: u64) {
        let Some(name) = self.role_of.remove(&stream) else {
            return;
        };
        let Some(members) = self.roles.get_mut(&name) else {
            return;
        };
        let was_primary = members.is_primary(stream);
        members.clients.retain(|client| client.stream != stream);
        if members.clients.is_empty() {
            members.config = None;
            if name != DEFAULT_ROLE {
                let highest = members.highest;
                self.roles.remove(&name);
                self.left.extend(highest.map(|highest| (name, highest)));
                if self.left.len() > limits::ROLES_REMEMBERED {
                    self.left.pop_front();
                }
            } else if self.manners == Manners::Bmv2 {
                members.highest = None;
            }
            return;
        }
        if was_primary {
            self.promote(&name);
            self.notify(&name, |_| true);
        }
    }

    pub fn primaries(&self) -> impl Iterator<Item = (&str, &Client)> {
        let roles = self.roles.iter();
        roles.filter_map(|(name, members)| Some((name.as_str(), members.primary()?)))
    }

    pub fn config(&self, role: &str) -> Option<&Arc<RoleConfig>> {
        self.roles.get(role)?.config.as_ref()
    }

    pub fn require_primary(&self, role: &str, election_id: Option<u128>) -> Result<()> {
        let denied = |message: String| refuse(Code::PermissionDenied, message);
        if self.manners == Manners::Bmv2 {
            let fits = match self.roles.get(role).and_then(Members::primary) {
                Some(primary) => primary.election_id == Some(election_id.unwrap_or(0)),
                None => election_id.is_none() && self.role_of.is_empty(),
            };
            return if fits {
                Ok(())
            } else {
                denied("Not primary".to_owned())
            };
        }
        let Some(members) = self.roles.get(role) else {
            return match self.left.iter().find(|(left, _)| left == role) {
                Some((_, highest)) => denied(no_primary(role, Some(*highest))),
                None => refuse(
                    Code::NotFound,
                    format!("device {} has no role '{role}'", self.device_id),
                ),
            };
        };
        match members.primary() {
            None => denied(no_primary(role, members.highest)),
            Some(primary) if election_id.is_none() || election_id != primary.election_id => {
                denied(format!("only the primary of role '{role}' may do this"))
            }
            Some(_) => Ok(()),
        }
    }

    fn notify(&self, name: &str, whom: impl Fn(&Client) -> bool) {
        let Some(members) = self.roles.get(name) else {
            return;
        };
        let primary = members.primary().map(|client| client.stream);
        let config = members.config.as_ref().map(|config| config.message.clone());
        let role = (name != DEFAULT_ROLE).then(|| Role {
            id: 0,
            config,
            name: name.to_owned(),
        });
        for client in members.clients.iter().filter(|client| whom(client)) {
            let (code, words) = match primary {
                None => (
                    Code::NotFound as i32,
                    format!("there is no primary: {}", advice(members.highest)),
                ),
                Some(stream) if stream == client.stream => {
                    (0, self.words("you are the primary", "Is primary"))
                }
                Some(_) => (
                    Code::AlreadyExists as i32,
                    self.words("another client is the primary", "Is backup"),
                ),
            };
            let update = Update {
                device_id: self.device_id,
                role: role.clone(),
                election_id: members.highest.map(Into::into),
                status: Some(Status {
                    code,
                    message: words,
                }),
            };
            let update = Some(StreamAnswer::Arbitration(update));
            let response = StreamResponse { update }.encode_to_vec();
            client.outbox.tell_standing(response.into());
        }
    }

    fn words(&self, own: &str, of_bmv2: &str) -> String {
        match self.manners {
            Manners::Specification => own.to_owned(),
            Manners::Bmv2 => of_bmv2.to_owned(),
        }
    }
}

fn no_primary(role: &str, highest: Option<u128>) -> String {
    format!("role '{role}' has no primary: {}", advice(highest))
}

/// Tells a client how to become primary.
fn advice(highest: Option<u128>) -> String {
    match highest {
        None => "open a stream and arbitrate first".to_owned(),
        Some(highest) => format!(
            "the one before has left; arbitrate with its election id {highest} or a higher one \
             (lower ones stay backups)"
        ),
    }
}
