//! Actions: validated, brought into their canonical form, and translated for the switch.

use phb_pipeline::{Indirect, Param, WeightedAction};

use crate::bytestring::of_number;
use crate::message::entity::{
    Action, ActionProfileActionSet, TableAction, TableActionKind, WatchKind,
};
use crate::schema::{self, Naming, Profile, Schema, Scope, Table};
use crate::status::{Code, Refusal, Result, invalid, unimplemented};
use crate::store::Store;

/// An action's name and parameters.
pub(crate) type Call = (String, Vec<Param>);

pub(crate) enum Choice {
    Direct(Call),
    Indirect(Indirect),
}

pub(crate) fn of_entry(
    given: &mut TableAction,
    table: &Table,
    schema: &Schema,
    store: &Store,
) -> Result<Choice> {
    let Some(profile) = table.profile else {
        let (action, scope, given) = direct(given, table, schema)?;
        in_entry(action, scope, table)?;
        return call(given, action).map(Choice::Direct);
    };
    let profile = schema.profile_in_use(profile)?;
    let styles = store
        .rest
        .styles
        .get(&profile.id)
        .copied()
        .unwrap_or_default();
    match &mut given.kind {
        Some(TableActionKind::Member(_) | TableActionKind::Group(_)) if styles.one_shot > 0 => {
            invalid(format!(
                "table {}: its action profile is programmed with action sets, so entries take no members and groups",
                table.name
            ))
        }
        Some(TableActionKind::Member(id)) => Ok(Choice::Indirect(Indirect::Member(*id))),
        Some(TableActionKind::Group(id)) if profile.with_selector => {
            Ok(Choice::Indirect(Indirect::Group(*id)))
        }
        Some(TableActionKind::Set(set)) if profile.with_selector => {
            let members = (profile.id, 0)..=(profile.id, u32::MAX);
            if styles.by_number > 0 || store.rest.members.range(members).next().is_some() {
                return invalid(format!(
                    "table {}: its action profile is programmed with members and groups, so entries take no action sets",
                    table.name
                ));
            }
            action_set(set, table, profile, schema)
        }
        other => invalid(format!(
            "table {}: expected a member{} of its action profile, got {}",
            table.name,
            if profile.with_selector {
                ", a group or an action set"
            } else {
                ""
            },
            other.as_ref().map_or("nothing", kind)
        )),
    }
}

fn in_entry(action: &schema::Action, scope: Scope, table: &Table) -> Result<()> {
    let place = match scope {
        Scope::DefaultOnly => "its default action",
        Scope::GroupOnly => "a group action",
        Scope::Anywhere | Scope::EntryOnly => return Ok(()),
    };
    denied(format!(
        "table {}: {} can only be {place}",
        table.name, action.name
    ))
}

/// Values of ActionSelectionMode and SizeSemantics.
const HASH: i32 = 1;
const SUM_OF_WEIGHTS: i32 = 1;
const SUM_OF_MEMBERS: i32 = 2;

fn action_set(
    set: &mut ActionProfileActionSet,
    table: &Table,
    profile: &Profile,
    schema: &Schema,
) -> Result<Choice> {
    let name = &profile.name;
    if set.group_action.is_some() {
        return unimplemented(format!(
            "action profile {name}: group actions are not supported"
        ));
    }
    if !matches!(set.action_selection_mode, 0 | HASH) {
        return unimplemented(format!(
            "action profile {name}: its selector hashes and nothing else"
        ));
    }
    let declared = match profile.max_member_weight {
        None => SUM_OF_WEIGHTS,
        Some(_) => SUM_OF_MEMBERS,
    };
    if set.size_semantics != 0 && set.size_semantics != declared {
        return unimplemented(format!(
            "action profile {name}: the meaning of sizes is that of the p4info for all groups"
        ));
    }
    let mut actions = Vec::with_capacity(set.actions.len());
    let mut size: i64 = 0;
    for given in &mut set.actions {
        let weight = weight(given.weight, profile)?;
        size += if declared == SUM_OF_WEIGHTS {
            i64::from(weight)
        } else {
            1
        };
        let watch_port = watch_port(&mut given.watch, profile, schema)?;
        let Some(given) = &mut given.action else {
            return invalid(format!(
                "action profile {name}: a member of the set has no action"
            ));
        };
        let (action, scope) = schema.action_of(table, given.action_id)?;
        in_entry(action, scope, table)?;
        let (action, params) = call(given, action)?;
        actions.push(WeightedAction {
            action,
            params,
            weight,
            watch_port,
        });
    }
    if profile.max_group_size > 0 && size > i64::from(profile.max_group_size) {
        return invalid(format!(
            "action profile {name}: a set of size {size}; at most {} is allowed",
            profile.max_group_size
        ));
    }
    Ok(Choice::Indirect(Indirect::ActionSet(actions)))
}

/// A member's weight for the switch: 1 if the program disallows weights.
pub(crate) fn weight(given: i32, profile: &Profile) -> Result<u32> {
    let name = &profile.name;
    if profile.weights_disallowed {
        return match given {
            0 => Ok(1),
            _ => invalid(format!(
                "action profile {name}: the program disallows weights"
            )),
        };
    }
    match u32::try_from(given) {
        Ok(weight @ 1..) => match profile.max_member_weight {
            Some(most) if most > 0 && given > most => invalid(format!(
                "action profile {name}: weight {given}; at most {most} is allowed"
            )),
            _ => Ok(weight),
        },
        _ => invalid(format!(
            "action profile {name}: weight {given}; expected 1 or more"
        )),
    }
}

/// The port to watch, in the newer of its two forms.
pub(crate) fn watch_port(
    given: &mut Option<WatchKind>,
    profile: &Profile,
    schema: &Schema,
) -> Result<Vec<u8>> {
    match given {
        None => Ok(Vec::new()),
        Some(WatchKind::Watch(port)) => match u32::try_from(*port) {
            Ok(port) => Ok(of_number(port.into())),
            Err(_) => invalid(format!(
                "action profile {}: watch {port} is negative",
                profile.name
            )),
        },
        Some(WatchKind::WatchPort(port)) if port.is_empty() => Ok(Vec::new()),
        Some(WatchKind::WatchPort(port)) => {
            let what = format_args!("action profile {}, watch_port", profile.name);
            schema.port(port, 32, what)
        }
    }
}

pub(crate) fn of_default(given: &mut TableAction, table: &Table, schema: &Schema) -> Result<Call> {
    let (action, scope, given) = direct(given, table, schema)?;
    if matches!(scope, Scope::EntryOnly | Scope::GroupOnly) {
        let name = &action.name;
        return denied(format!(
            "table {}: {name} can not be its default action",
            table.name
        ));
    }
    call(given, action)
}

fn denied<T>(message: String) -> Result<T> {
    Err(Refusal::new(Code::PermissionDenied, message))
}

fn direct<'a, 'b>(
    given: &'b mut TableAction,
    table: &Table,
    schema: &'a Schema,
) -> Result<(&'a schema::Action, Scope, &'b mut Action)> {
    match &mut given.kind {
        Some(TableActionKind::Action(given)) => {
            let (action, scope) = schema.action_of(table, given.action_id)?;
            Ok((action, scope, given))
        }
        other => invalid(format!(
            "table {}: expected an action, got {}",
            table.name,
            other.as_ref().map_or("nothing", kind)
        )),
    }
}

/// The protocol's name of a kind of action.
pub(crate) fn kind(given: &TableActionKind) -> &'static str {
    match given {
        TableActionKind::Action(_) => "action",
        TableActionKind::Member(_) => "action_profile_member_id",
        TableActionKind::Group(_) => "action_profile_group_id",
        TableActionKind::Set(_) => "action_profile_action_set",
    }
}

/// Validates an action's parameters and sorts them in the p4info's order.
pub(crate) fn call(given: &mut Action, action: &schema::Action) -> Result<Call> {
    let params = &mut given.params;
    let mut translated = Vec::with_capacity(params.len());
    for (position, known) in action.params.iter().enumerate() {
        let place = params
            .iter()
            .skip(position)
            .position(|param| param.param_id == known.id);
        let Some(place) = place.map(|place| place + position) else {
            return invalid(format!(
                "action {}: parameter {} is missing",
                action.name, known.name
            ));
        };
        params.swap(position, place);
        let value = &mut params[position].value;
        let number = known.form.receive(
            value,
            known.bits,
            Naming::New,
            format_args!("action {}, parameter {}", action.name, known.name),
        )?;
        if !known.absent {
            translated.push((known.name.clone(), number));
        }
    }
    match params.get(action.params.len()) {
        None => Ok((action.name.clone(), translated)),
        Some(rest) => match action.params.iter().find(|known| known.id == rest.param_id) {
            Some(known) => invalid(format!(
                "action {}: parameter {} is given twice",
                action.name, known.name
            )),
            None => invalid(format!(
                "action {} has no parameter with id {}",
                action.name, rest.param_id
            )),
        },
    }
}
