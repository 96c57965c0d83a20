//! Rights of a role: those of its `role.config`, as far as the switch grants them.
//!
//! The specification leaves the message to server and client; this server takes `stratum.P4RoleConfig`.

use std::collections::BTreeSet;
use std::sync::Arc;

use phb_p4runtime::{Code, Configuration, PacketIn, Role};
use prost::Message;

use super::message::{Any, RoleConfig as Wanted};
use crate::authorization::{Result, ids_of, refuse};
use crate::config::RoleRights;
use crate::limits;

const TYPE: &str = "stratum.P4RoleConfig";

fn invalid<T>(message: impl Into<String>) -> Result<T> {
    refuse(Code::InvalidArgument, message)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoleConfig {
    /// As the client sent it, for notifications.
    pub message: Any,
    exclusive: BTreeSet<u32>,
    shared: BTreeSet<u32>,
    receives_packets: bool,
    /// Id and canonical value of the metadata that its packet-ins must have, if any.
    packet_filter: Option<(u32, Vec<u8>)>,
    pushes_pipelines: bool,
}

impl RoleConfig {
    pub fn read(role: &str, config: &Any) -> Result<Self> {
        if role.is_empty() {
            return invalid("role.config: the default role has full access, and takes no config");
        }
        let name = config.type_url.rsplit('/').next().unwrap_or_default();
        if name != TYPE {
            let found = if name.is_empty() {
                "an empty message"
            } else {
                name
            };
            return invalid(format!("role.config: expected {TYPE}, got {found}"));
        }
        if config.value.len() > limits::ROLE_CONFIG_BYTES {
            return invalid(format!(
                "role.config has {} bytes; the most is {}",
                config.value.len(),
                limits::ROLE_CONFIG_BYTES
            ));
        }
        let Ok(wanted) = Wanted::decode(config.value.clone()) else {
            return invalid("role.config can not be read");
        };
        let packet_filter = match wanted.packet_in_filter {
            None => None,
            Some(_) if !wanted.receives_packet_ins => {
                return invalid(
                    "role.config has a packet_in_filter, but receives_packet_ins is not set",
                );
            }
            Some(filter) if filter.value.is_empty() => {
                return invalid("role.config: the packet_in_filter has no value");
            }
            Some(filter) => {
                let zeros = filter.value.iter().take_while(|byte| **byte == 0).count();
                let kept = zeros.min(filter.value.len() - 1);
                Some((filter.metadata_id, filter.value[kept..].to_vec()))
            }
        };
        Ok(Self {
            message: config.clone(),
            exclusive: wanted.exclusive_p4_ids.into_iter().collect(),
            shared: wanted.shared_p4_ids.into_iter().collect(),
            receives_packets: wanted.receives_packet_ins,
            packet_filter,
            pushes_pipelines: wanted.can_push_pipeline,
        })
    }

    fn ids(&self) -> BTreeSet<u32> {
        self.exclusive.union(&self.shared).copied().collect()
    }

    /// Checks that no object is exclusive to one and also in the other.
    pub fn require_disjoint(&self, other: &Self, role: &str) -> Result<()> {
        let both = [
            self.exclusive.intersection(&other.exclusive).next(),
            self.exclusive.intersection(&other.shared).next(),
            self.shared.intersection(&other.exclusive).next(),
        ];
        match both.into_iter().flatten().min() {
            None => Ok(()),
            Some(id) => invalid(format!(
                "role.config: id {id} is exclusive, and role '{role}' has it too"
            )),
        }
    }
}

#[derive(Clone, Debug, Default)]
pub struct Access {
    config: Option<Arc<RoleConfig>>,
    /// None: the switch leaves it to the config.
    rights: Option<RoleRights>,
    described: bool,
}

impl Access {
    /// `described` is whether the switch's own configuration names the role.
    pub fn new(
        config: Option<Arc<RoleConfig>>,
        rights: Option<RoleRights>,
        described: bool,
    ) -> Self {
        Self {
            config,
            rights,
            described,
        }
    }

    pub fn role(&self, configuration: &Configuration) -> Role {
        let wanted = self.config.as_ref().map(|config| config.ids());
        let Some(rights) = &self.rights else {
            return Role {
                replication: wanted.is_none(),
                ids: wanted,
            };
        };
        let granted = match &rights.objects {
            Some(objects) => Some(ids_of(objects, |name| configuration.ids_named(name))),
            None if self.described => None,
            // Not described: the objects that its config names, none without a config.
            None => Some(wanted.clone().unwrap_or_default()),
        };
        let ids = match (wanted, granted) {
            (Some(wanted), Some(granted)) => Some(wanted.intersection(&granted).copied().collect()),
            (wanted, granted) => wanted.or(granted),
        };
        Role {
            ids,
            replication: rights.replication && self.config.is_none(),
        }
    }

    /// Whether it has a digest or table, for notifications.
    pub fn has(&self, id: u32, configuration: &Configuration) -> bool {
        let ids = self.role(configuration).ids;
        ids.is_none_or(|ids| ids.contains(&id))
    }

    pub fn takes(&self, packet: &PacketIn) -> bool {
        if self.rights.as_ref().is_some_and(|rights| !rights.packet_in) {
            return false;
        }
        let Some(config) = &self.config else {
            return self.rights.is_none() || self.described;
        };
        let filter = config.packet_filter.as_ref();
        config.receives_packets && filter.is_none_or(|(id, value)| packet.has(*id, value))
    }

    pub fn require_packet_out(&self, role: &str) -> Result<()> {
        match &self.rights {
            Some(rights) if !rights.packet_out => refuse(
                Code::PermissionDenied,
                format!("role '{role}' may not send packets here"),
            ),
            _ => Ok(()),
        }
    }

    pub fn require_pipeline(&self, role: &str) -> Result<()> {
        let denied = |why: &str| {
            refuse(
                Code::PermissionDenied,
                format!("role '{role}' may not set the pipeline config{why}"),
            )
        };
        if self
            .config
            .as_ref()
            .is_some_and(|config| !config.pushes_pipelines)
        {
            return denied(" (can_push_pipeline)");
        }
        match &self.rights {
            Some(rights) if !rights.pipeline => denied(" here"),
            _ => Ok(()),
        }
    }
}
