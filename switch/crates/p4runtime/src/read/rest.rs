//! Entities that are few: all of them are collected when the read begins.

use std::collections::BTreeMap;

use crate::message::entity::{
    ActionProfileGroup, ActionProfileMember, DigestEntry, Entity, Kind,
    PacketReplicationEngineEntry, ReplicationKind, ValueSetEntry,
};
use crate::schema::{Schema, find};
use crate::status::{Result, invalid};
use crate::store::Store;

fn entity(kind: Kind) -> Entity {
    Entity { kind: Some(kind) }
}

pub(super) fn digests(schema: &Schema, store: &Store, wanted: DigestEntry) -> Result<Vec<Entity>> {
    let wanted = wanted.digest_id;
    if wanted != 0 {
        find(&schema.digests, wanted, "digest")?;
    }
    let enabled = store.rest.digests.iter();
    let found = enabled
        .filter(|(id, _)| wanted == 0 || **id == wanted)
        .map(|(id, config)| DigestEntry {
            digest_id: *id,
            config: Some(*config),
        });
    Ok(found.map(Kind::Digest).map(entity).collect())
}

/// Each value set has an entry, though it may have no members.
pub(super) fn value_sets(
    schema: &Schema,
    store: &Store,
    wanted: &ValueSetEntry,
) -> Result<Vec<Entity>> {
    let wanted = wanted.value_set_id;
    if wanted != 0 {
        find(&schema.value_sets, wanted, "value set")?;
    }
    let chosen = schema
        .value_sets
        .keys()
        .filter(|id| wanted == 0 || **id == wanted);
    let entries = chosen.map(|id| ValueSetEntry {
        value_set_id: *id,
        members: store.rest.value_sets.get(id).cloned().unwrap_or_default(),
    });
    Ok(entries.map(Kind::ValueSet).map(entity).collect())
}

pub(super) fn members(
    schema: &Schema,
    store: &Store,
    wanted: &ActionProfileMember,
) -> Result<Vec<Entity>> {
    let of = (wanted.action_profile_id, wanted.member_id);
    let found = of_profile(schema, &store.rest.members, of)?;
    Ok(found.cloned().map(Kind::Member).map(entity).collect())
}

pub(super) fn groups(
    schema: &Schema,
    store: &Store,
    wanted: &ActionProfileGroup,
) -> Result<Vec<Entity>> {
    let of = (wanted.action_profile_id, wanted.group_id);
    let found = of_profile(schema, &store.rest.groups, of)?;
    Ok(found.cloned().map(Kind::Group).map(entity).collect())
}

/// Members or groups: one by number, all of a profile, or all.
fn of_profile<'a, T>(
    schema: &Schema,
    known: &'a BTreeMap<(u32, u32), T>,
    (profile, number): (u32, u32),
) -> Result<impl Iterator<Item = &'a T>> {
    if profile != 0 {
        schema.profile(profile)?;
    } else if number != 0 {
        return invalid("a read of one member or group needs its action_profile_id");
    }
    Ok(known
        .iter()
        .filter(move |((of, id), _)| {
            (profile == 0 || *of == profile) && (number == 0 || *id == number)
        })
        .map(|(_, value)| value))
}

/// Groups or sessions: the one with the given number, or all.
pub(super) fn replication(
    store: &Store,
    wanted: PacketReplicationEngineEntry,
) -> Result<Vec<Entity>> {
    let rest = &store.rest;
    let kinds: Vec<ReplicationKind> = match wanted.kind {
        Some(ReplicationKind::Multicast(group)) => {
            chosen(&rest.multicast, group.multicast_group_id)
                .map(ReplicationKind::Multicast)
                .collect()
        }
        Some(ReplicationKind::Clone(session)) => chosen(&rest.clones, session.session_id)
            .map(ReplicationKind::Clone)
            .collect(),
        None => {
            let groups = chosen(&rest.multicast, 0).map(ReplicationKind::Multicast);
            groups
                .chain(chosen(&rest.clones, 0).map(ReplicationKind::Clone))
                .collect()
        }
    };
    let entries = kinds
        .into_iter()
        .map(|kind| PacketReplicationEngineEntry { kind: Some(kind) });
    Ok(entries.map(Kind::Replication).map(entity).collect())
}

fn chosen<T: Clone>(known: &BTreeMap<u32, T>, id: u32) -> impl Iterator<Item = T> {
    let chosen = known
        .iter()
        .filter(move |(known, _)| id == 0 || **known == id);
    chosen.map(|(_, value)| value.clone())
}
