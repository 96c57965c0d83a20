//! Changes that come by another way than P4Runtime. The switch has the truth: what it has after a change becomes
//! what clients read back.

use std::sync::Mutex;

use phb_node::{
    CloneSession, Done, Failure, Plan, Replica, Replication, SwitchNode, Update as Change,
};
use phb_pipeline::{Entry, Group, Indirect, Match, Pipeline};

use crate::Configuration;
use crate::bytestring::of_number;
use crate::initial::{self, action_of, entry_of, match_of};
use crate::keys::identity;
use crate::message::entity::{
    self, ActionProfileGroup, ActionProfileMember, CloneSessionEntry, FieldMatch, GroupMember,
    MulticastGroupEntry, ReplicaPort, TableAction, TableActionKind, TableEntry, ValueSetMember,
    WatchKind,
};
use crate::schema::{Profile, Schema, ValueSet};
use crate::store::Store;
use crate::write::{count_style, lock};

impl Configuration {
    /// Makes changes that another control plane plans, all or none, as [`phb_node::Control`] says.
    pub fn write_natively(
        &self,
        node: &Mutex<SwitchNode>,
        plan: Plan<'_>,
        done: Done<'_>,
    ) -> Vec<Result<(), Failure>> {
        let mut store = self.store();
        let mut node = lock(node);
        let changes = plan(&node);
        let results = node.write(&changes, true);
        if let Some(pipeline) = node.pipeline()
            && results.iter().all(Result::is_ok)
        {
            for change in &changes {
                note(
                    change,
                    &self.schema,
                    &mut store,
                    pipeline,
                    node.replication(),
                );
            }
        }
        done(&node);
        results
    }

    /// As [`SwitchNode::clear`].
    pub fn clear(&self, node: &Mutex<SwitchNode>) {
        let mut store = self.store();
        let mut node = lock(node);
        node.clear();
        let before = std::mem::take(&mut *store);
        if let Some(pipeline) = node.pipeline() {
            initial::fill(&mut store, &self.schema, pipeline);
        }
        let rest = store.rest_mut();
        rest.clones.clone_from(&before.rest.clones);
        rest.value_sets.clone_from(&before.rest.value_sets);
        rest.digests.clone_from(&before.rest.digests);
    }
}

fn note(
    change: &Change,
    schema: &Schema,
    store: &mut Store,
    pipeline: &Pipeline,
    replication: &Replication,
) {
    match change {
        Change::Insert { table, entry }
        | Change::Modify { table, entry }
        | Change::IdleTimeout { table, entry }
        | Change::Delete { table, entry } => note_entry(table, entry, schema, store, pipeline),
        Change::DefaultAction { table, action } => {
            let Some(table) = schema.table_named(table) else {
                return;
            };
            let known = action.as_ref();
            let action = known.and_then(|(name, params)| action_of(name, params, table, schema));
            let defaults = &mut store.rest_mut().defaults;
            match action {
                None => defaults.remove(&table.id),
                Some(action) => defaults.insert(
                    table.id,
                    TableEntry {
                        table_id: table.id,
                        is_default_action: true,
                        action: Some(action),
                        ..TableEntry::default()
                    },
                ),
            };
        }
        Change::InsertMember(member) | Change::ModifyMember(member) => {
            note_member(&member.profile, member.id, schema, store, pipeline);
        }
        Change::DeleteMember { profile, id } => {
            note_member(profile, *id, schema, store, pipeline);
        }
        Change::InsertGroup { profile, group } | Change::ModifyGroup { profile, group } => {
            note_group(profile, group.id, schema, store, pipeline);
        }
        Change::DeleteGroup { profile, id } => note_group(profile, *id, schema, store, pipeline),
        Change::ValueSet { name, .. } => {
            let mut sets = schema.value_sets.values();
            if let Some(set) = sets.find(|set| set.name == *name) {
                let members = pipeline.value_set_read(name).unwrap_or_default();
                let members = members.iter().map(|member| member_of(member, set));
                store
                    .rest_mut()
                    .value_sets
                    .insert(set.id, members.collect());
            }
        }
        Change::MulticastGroup { group, .. } | Change::MulticastWithBackups { group, .. } => {
            note_multicast(*group, schema, store, replication);
            for session in replication.sessions_of(*group) {
                note_session(session, schema, store, replication);
            }
        }
        Change::CloneSession { session, .. } => note_session(*session, schema, store, replication),
        // The switch is asked for these whenever they are read.
        Change::Find { .. }
        | Change::Counter { .. }
        | Change::Counters { .. }
        | Change::DirectCounter { .. }
        | Change::Register { .. }
        | Change::Registers { .. }
        | Change::Meter { .. }
        | Change::Meters { .. }
        | Change::DirectMeter { .. }
        | Change::MeterCounts { .. }
        | Change::MetersCounts { .. }
        | Change::DirectMeterCounts { .. }
        | Change::Crc { .. } => {}
    }
}

fn note_entry(name: &str, entry: &Entry, schema: &Schema, store: &mut Store, pipeline: &Pipeline) {
    // The p4info may not know a table that p4c made.
    let Some(table) = schema.table_named(name) else {
        return;
    };
    let Ok(native) = pipeline.table_entry(name, entry) else {
        let identity = identity(&entry_of(entry, table, schema));
        let before = store.entry(table.id, &identity);
        store.remove(table.id, &identity);
        return count_style(store, table.profile, before.as_ref(), None);
    };
    let mut known = entry_of(&native, table, schema);
    known.idle_timeout_ns = i64::try_from(native.idle_timeout_ns).unwrap_or(i64::MAX);
    let identity = identity(&known);
    let before = store.entry(table.id, &identity);
    match &native.indirect {
        None => {}
        Some(Indirect::Member(id)) => known.action = by_number(TableActionKind::Member(*id)),
        Some(Indirect::Group(id)) => known.action = by_number(TableActionKind::Group(*id)),
        // Only P4Runtime writes sets, so it knows this one.
        Some(Indirect::ActionSet(_)) => {
            known.action = before.as_ref().and_then(|before| before.action.clone());
        }
    }
    if let Some(before) = &before {
        known.controller_metadata = before.controller_metadata;
        known.metadata.clone_from(&before.metadata);
        known.is_const = before.is_const;
    }
    count_style(store, table.profile, before.as_ref(), Some(&known));
    store.put(identity, &known);
}

fn by_number(kind: TableActionKind) -> Option<TableAction> {
    Some(TableAction { kind: Some(kind) })
}

fn profile_named<'a>(name: &str, schema: &'a Schema) -> Option<&'a Profile> {
    let mut profiles = schema.profiles.values();
    profiles.find(|profile| profile.name == name)
}

fn note_member(name: &str, id: u32, schema: &Schema, store: &mut Store, pipeline: &Pipeline) {
    let Some(profile) = profile_named(name, schema) else {
        return;
    };
    let action = pipeline
        .profile_member(name, id)
        .ok()
        .map(|(action, params)| {
            let table = profile.tables.first().and_then(|id| schema.tables.get(id));
            match action_of(&action, &params, table?, schema)?.kind? {
                TableActionKind::Action(action) => Some(action),
                _ => None,
            }
        });
    let members = &mut store.rest_mut().members;
    match action {
        None => members.remove(&(profile.id, id)),
        Some(action) => members.insert(
            (profile.id, id),
            ActionProfileMember {
                action_profile_id: profile.id,
                member_id: id,
                action,
            },
        ),
    };
}

fn note_group(name: &str, id: u32, schema: &Schema, store: &mut Store, pipeline: &Pipeline) {
    let Some(profile) = profile_named(name, schema) else {
        return;
    };
    let key = (profile.id, id);
    let groups = &mut store.rest_mut().groups;
    match pipeline.profile_group(name, id) {
        Err(_) => groups.remove(&key),
        Ok(group) => {
            let most = groups.get(&key).map(|known| known.max_size);
            let max_size = most.unwrap_or(profile.max_group_size);
            groups.insert(key, group_of(&group, profile, schema, max_size))
        }
    };
}

fn group_of(
    group: &Group,
    profile: &Profile,
    schema: &Schema,
    max_size: i32,
) -> ActionProfileGroup {
    let members = group.members.iter().map(|member| GroupMember {
        member_id: member.member,
        weight: match profile.weights_disallowed {
            true => 0,
            false => i32::try_from(member.weight).unwrap_or(i32::MAX),
        },
        watch: (!member.watch_port.is_empty())
            .then(|| WatchKind::WatchPort(schema.port_given(member.watch_port.clone()))),
    });
    ActionProfileGroup {
        action_profile_id: profile.id,
        group_id: group.id,
        members: members.collect(),
        max_size,
    }
}

fn member_of(member: &[Match], set: &ValueSet) -> ValueSetMember {
    let fields = member.iter().zip(&set.fields);
    let matches = fields.filter_map(|(given, field)| {
        let open =
            matches!(given, Match::Ternary { mask, .. } if mask.iter().all(|byte| *byte == 0));
        let kind = match_of(given, field).filter(|_| !open)?;
        Some(FieldMatch {
            field_id: field.id,
            kind: Some(kind),
        })
    });
    ValueSetMember {
        matches: matches.collect(),
    }
}

fn note_multicast(group: u16, schema: &Schema, store: &mut Store, replication: &Replication) {
    let id = u32::from(group);
    let groups = &mut store.rest_mut().multicast;
    match replication.group(group) {
        None => groups.remove(&id),
        Some(members) => groups.insert(
            id,
            MulticastGroupEntry {
                multicast_group_id: id,
                replicas: replicas(members, schema),
                metadata: groups
                    .get(&id)
                    .map_or_else(Vec::new, |known| known.metadata.clone()),
            },
        ),
    };
}

fn note_session(session: u16, schema: &Schema, store: &mut Store, replication: &Replication) {
    let sessions = &mut store.rest_mut().clones;
    let id = u32::from(session);
    match replication.session(session) {
        None => sessions.remove(&id),
        Some(value) => sessions.insert(id, session_of(id, value, schema)),
    };
}

fn session_of(id: u32, session: &CloneSession, schema: &Schema) -> CloneSessionEntry {
    let length = session.packet_length_bytes.unwrap_or(0);
    CloneSessionEntry {
        session_id: id,
        replicas: replicas(&session.replicas, schema),
        class_of_service: session.class_of_service.into(),
        packet_length_bytes: i32::try_from(length).unwrap_or(i32::MAX),
    }
}

fn replicas(replicas: &[Replica], schema: &Schema) -> Vec<entity::Replica> {
    let replicas = replicas.iter().map(|replica| entity::Replica {
        port: Some(ReplicaPort::Port(
            schema.port_given(of_number(replica.port.into())),
        )),
        instance: replica.instance.into(),
        backup_replicas: Vec::new(),
    });
    replicas.collect()
}
