//! ActionProfileMember and ActionProfileGroup.

use phb_node::{Member, Update as Change};
use phb_pipeline::{Group, GroupMember};

use super::{Operation, Step};
use crate::actions::{call, watch_port, weight};
use crate::message::entity::{ActionProfileGroup, ActionProfileMember};
use crate::schema::{Profile, Schema, Scope};
use crate::status::{Code, Refusal, Result, invalid};
use crate::store::Store;

pub(super) fn member(
    operation: Operation,
    mut entry: ActionProfileMember,
    schema: &Schema,
    store: &Store,
) -> Result<Step> {
    let profile = schema.profile_in_use(entry.action_profile_id)?;
    let key = (profile.id, entry.member_id);
    if entry.member_id == 0 {
        return invalid(format!(
            "action profile {}: member_id is not set",
            profile.name
        ));
    }
    let name = profile.name.clone();
    if operation == Operation::Delete {
        let change = Change::DeleteMember {
            profile: name,
            id: key.1,
        };
        return Ok(Step::new(vec![change], move |store| {
            store.rest_mut().members.remove(&key);
        }));
    }
    by_number(profile, store)?;
    let Some(given) = &mut entry.action else {
        return invalid(format!("action profile {name}: a member needs an action"));
    };
    let Some(table) = profile.tables.first() else {
        return invalid(format!("action profile {name} has no table"));
    };
    let table = schema.table(*table)?;
    let (action, scope) = schema.action_of(table, given.action_id)?;
    if scope == Scope::DefaultOnly {
        return Err(Refusal::new(
            Code::PermissionDenied,
            format!(
                "table {}: {} can only be its default action",
                table.name, action.name
            ),
        ));
    }
    let member = Member {
        profile: name,
        id: entry.member_id,
        action: call(given, action)?,
    };
    let change = match operation {
        Operation::Insert => Change::InsertMember(member),
        _ => Change::ModifyMember(member),
    };
    Ok(Step::new(vec![change], move |store| {
        store.rest_mut().members.insert(key, entry);
    }))
}

pub(super) fn group(
    operation: Operation,
    mut entry: ActionProfileGroup,
    schema: &Schema,
    store: &Store,
) -> Result<Step> {
    let profile = schema.profile_in_use(entry.action_profile_id)?;
    let key = (profile.id, entry.group_id);
    let name = profile.name.clone();
    if !profile.with_selector {
        return invalid(format!(
            "action profile {name} has no selector, and so no groups"
        ));
    }
    if entry.group_id == 0 {
        return invalid(format!("action profile {name}: group_id is not set"));
    }
    if operation == Operation::Delete {
        let change = Change::DeleteGroup {
            profile: name,
            id: key.1,
        };
        return Ok(Step::new(vec![change], move |store| {
            store.rest_mut().groups.remove(&key);
        }));
    }
    by_number(profile, store)?;
    check_size(operation, &entry, profile, store)?;
    let mut members = Vec::with_capacity(entry.members.len());
    for member in &mut entry.members {
        members.push(GroupMember {
            member: member.member_id,
            weight: weight(member.weight, profile)?,
            watch_port: watch_port(&mut member.watch, profile, schema)?,
        });
    }
    // If a group's size counts its members, the sum of their weights has no limit.
    let by_count = profile.max_member_weight.is_some();
    let max_size = if by_count {
        0
    } else {
        entry.max_size.unsigned_abs()
    };
    if by_count && entry.max_size > 0 && members.len() > entry.max_size.unsigned_abs() as usize {
        return Err(Refusal::new(
            Code::ResourceExhausted,
            format!(
                "action profile {name}, group {}: {} members are more than its max_size {}",
                entry.group_id,
                members.len(),
                entry.max_size
            ),
        ));
    }
    let group = Group {
        id: entry.group_id,
        members,
        max_size,
    };
    let change = match operation {
        Operation::Insert => Change::InsertGroup {
            profile: name,
            group,
        },
        _ => Change::ModifyGroup {
            profile: name,
            group,
        },
    };
    Ok(Step::new(vec![change], move |store| {
        store.rest_mut().groups.insert(key, entry);
    }))
}

/// Specification, "Rules on Setting max_size".
fn check_size(
    operation: Operation,
    entry: &ActionProfileGroup,
    profile: &Profile,
    store: &Store,
) -> Result<()> {
    let what = format!("action profile {}, group {}", profile.name, entry.group_id);
    let (size, most) = (entry.max_size, profile.max_group_size);
    if size < 0 {
        return invalid(format!("{what}: max_size {size} is negative"));
    }
    if most > 0 && !(1..=most).contains(&size) {
        return invalid(format!("{what}: max_size {size}; expected 1 to {most}"));
    }
    let known = store.rest.groups.get(&(profile.id, entry.group_id));
    match known {
        Some(known) if operation == Operation::Modify && known.max_size != size => {
            invalid(format!(
                "{what}: max_size {} can not be changed to {size}",
                known.max_size
            ))
        }
        _ => Ok(()),
    }
}

/// The entries of an action profile's tables are either all action sets or all members and groups.
fn by_number(profile: &Profile, store: &Store) -> Result<()> {
    match store.rest.styles.get(&profile.id) {
        Some(styles) if styles.one_shot > 0 => invalid(format!(
            "action profile {}: its tables are programmed with action sets, so it takes no members and groups",
            profile.name
        )),
        _ => Ok(()),
    }
}
