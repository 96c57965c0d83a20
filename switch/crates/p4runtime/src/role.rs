//! The objects that a role may see and write.

use std::collections::{BTreeMap, BTreeSet};

use crate::Configuration;
use crate::message::entity::Kind;
use crate::schema::Schema;
use crate::status::{Code, Refusal, Result};

/// The part of a switch that belongs to a role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Role {
    /// The p4info ids that it sees and writes; without a list, all.
    pub ids: Option<BTreeSet<u32>>,
    /// Whether it has multicast groups and clone sessions, which have no ids.
    pub replication: bool,
}

impl Default for Role {
    fn default() -> Self {
        Self {
            ids: None,
            replication: true,
        }
    }
}

impl Role {
    pub(crate) fn has(&self, id: u32) -> bool {
        self.ids.as_ref().is_none_or(|ids| ids.contains(&id))
    }

    pub(crate) fn sees_all(&self) -> bool {
        self.ids.is_none()
    }

    /// Whether an entity's object is the role's. An unset id names all objects; a role sees its own among them.
    pub(crate) fn sees(&self, kind: &Kind) -> bool {
        matches!(id(kind), Some(0)) || self.may_write(kind).is_ok()
    }

    pub(crate) fn may_write(&self, kind: &Kind) -> Result<()> {
        let message = match id(kind) {
            Some(id) if self.has(id) => return Ok(()),
            None if self.replication => return Ok(()),
            Some(id) => format!("id {id} is not among those of the role"),
            None => {
                "the packet replication engine has no id, so only roles with full access have it"
                    .to_owned()
            }
        };
        Err(Refusal::new(Code::PermissionDenied, message))
    }
}

/// None for the packet replication engine, which has no id.
fn id(kind: &Kind) -> Option<u32> {
    Some(match kind {
        Kind::Extern(entry) => entry.extern_id,
        Kind::Table(entry) => entry.table_id,
        Kind::Member(entry) => entry.action_profile_id,
        Kind::Group(entry) => entry.action_profile_id,
        Kind::Meter(entry) => entry.meter_id,
        Kind::DirectMeter(entry) => entry.table_entry.as_ref().map_or(0, |of| of.table_id),
        Kind::Counter(entry) => entry.counter_id,
        Kind::DirectCounter(entry) => entry.table_entry.as_ref().map_or(0, |of| of.table_id),
        Kind::Replication(_) => return None,
        Kind::ValueSet(entry) => entry.value_set_id,
        Kind::Register(entry) => entry.register_id,
        Kind::Digest(entry) => entry.digest_id,
    })
}

impl Configuration {
    /// The p4info ids of this name's objects: table, counter, meter, register, action profile, value set or digest.
    #[must_use]
    pub fn ids_named(&self, name: &str) -> BTreeSet<u32> {
        let schema = &self.schema;
        let names = [
            named(&schema.tables, |each| &each.name, name),
            named(&schema.counters, |each| &each.name, name),
            named(&schema.meters, |each| &each.name, name),
            named(&schema.registers, |each| &each.name, name),
            named(&schema.profiles, |each| &each.name, name),
            named(&schema.value_sets, |each| &each.name, name),
            named(&schema.digests, |each| &each.name, name),
        ];
        names.into_iter().flatten().collect()
    }
}

fn named<T>(all: &BTreeMap<u32, T>, name_of: impl Fn(&T) -> &String, name: &str) -> Vec<u32> {
    let fitting = all.iter().filter(|(_, each)| name_of(each) == name);
    fitting.map(|(id, _)| *id).collect()
}

impl Schema {
    pub(crate) fn of_role(&self, role: &Role) -> Self {
        let mut schema = self.clone();
        schema.tables.retain(|id, _| role.has(*id));
        schema.counters.retain(|id, _| role.has(*id));
        schema.meters.retain(|id, _| role.has(*id));
        schema.registers.retain(|id, _| role.has(*id));
        schema
    }
}
