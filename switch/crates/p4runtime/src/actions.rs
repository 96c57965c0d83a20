//! Actions: validated, brought into their canonical form, and translated for the switch.

use phb_pipeline::Param;

use crate::bytestring::canonical;
use crate::message::entity::{Action, TableAction, TableActionKind};
use crate::schema::{self, Schema, Scope, Table};
use crate::status::{Code, Refusal, Result, invalid, unimplemented};

/// An action's name and parameters.
pub(crate) type Call = (String, Vec<Param>);

/// The action of an entry of a table without action profile.
pub(crate) fn of_entry(given: &mut TableAction, table: &Table, schema: &Schema) -> Result<Call> {
    if table.profile.is_some() {
        return unimplemented(format!(
            "table {}: action profiles are not supported",
            table.name
        ));
    }
    let (action, scope, given) = direct(given, table, schema)?;
    if matches!(scope, Scope::DefaultOnly | Scope::GroupOnly) {
        let place = if scope == Scope::DefaultOnly {
            "its default action"
        } else {
            "a group action"
        };
        return denied(format!(
            "table {}: {} can only be {place}",
            table.name, action.name
        ));
    }
    call(given, action)
}

/// The default action of a table.
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

/// The name of a kind of action in the protocol.
pub(crate) fn kind(given: &TableActionKind) -> &'static str {
    match given {
        TableActionKind::Action(_) => "action",
        TableActionKind::Member(_) => "action_profile_member_id",
        TableActionKind::Group(_) => "action_profile_group_id",
        TableActionKind::Set(_) => "action_profile_action_set",
    }
}

/// The parameters of an action, which end up in the order of the p4info.
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
        canonical(
            value,
            known.bits,
            format_args!("action {}, parameter {}", action.name, known.name),
        )?;
        translated.push((known.name.clone(), value.clone()));
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
