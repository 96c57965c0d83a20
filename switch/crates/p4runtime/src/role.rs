//! What a role may see and write.

use std::collections::BTreeSet;

use crate::message::entity::Kind;
use crate::schema::Schema;
use crate::status::{Code, Refusal, Result};

/// The p4info ids that are a role's; without a list, all.
#[derive(Clone, Debug, Default)]
pub struct Role(pub Option<BTreeSet<u32>>);

impl Role {
    pub(crate) fn has(&self, id: u32) -> bool {
        self.0.as_ref().is_none_or(|ids| ids.contains(&id))
    }

    /// Whether what an entity is about is the role's. An id that is not set names everything, of which a role sees its part.
    pub(crate) fn sees(&self, kind: &Kind) -> bool {
        matches!(id(kind), Some(0)) || self.may_write(kind).is_ok()
    }

    pub(crate) fn may_write(&self, kind: &Kind) -> Result<()> {
        if self.0.is_none() {
            return Ok(());
        }
        let message = match id(kind) {
            Some(id) if self.has(id) => return Ok(()),
            Some(id) => format!("id {id} is not among those of the role"),
            None => {
                "the packet replication engine has no id, so only roles with full access have it"
                    .to_owned()
            }
        };
        Err(Refusal::new(Code::PermissionDenied, message))
    }
}

/// The p4info id that an entity is about; None for the packet replication engine, which has none.
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

impl Schema {
    /// What a role sees of it.
    pub(crate) fn of_role(&self, role: &Role) -> Self {
        let mut schema = self.clone();
        schema.tables.retain(|id, _| role.has(*id));
        schema.counters.retain(|id, _| role.has(*id));
        schema.meters.retain(|id, _| role.has(*id));
        schema.registers.retain(|id, _| role.has(*id));
        schema
    }
}
