//! TableEntry, and the direct resources of one.

use phb_node::Update as Change;
use phb_pipeline::{Entry, Param};

use super::cells::counts;
use super::{Operation, Step};
use crate::actions;
use crate::keys::{Matches, identity, key};
use crate::message::entity::{DirectCounterEntry, TableEntry};
use crate::schema::{Schema, Table};
use crate::status::{Code, Refusal, Result, invalid, unimplemented};
use crate::store::Store;

/// An entry for the switch, which has no action where it only identifies.
fn native(matches: Matches, priority: i32, action: Option<(String, Vec<Param>)>) -> Entry {
    let (action, params) = action.unwrap_or_default();
    Entry {
        matches,
        priority,
        action,
        params,
        ..Entry::default()
    }
}

pub(super) fn entry(
    operation: Operation,
    mut entry: TableEntry,
    schema: &Schema,
    store: &Store,
) -> Result<Step> {
    let table = schema.table(entry.table_id)?;
    let name = &table.name;
    if entry.is_const {
        return invalid(format!("table {name}: is_const can not be written"));
    }
    let matches = key(&mut entry, table)?;
    let identity = identity(&entry);
    let only_resources = operation == Operation::Modify && entry.action.is_none();
    if !only_resources && (table.is_const || is_const(store, table, &identity)) {
        return Err(Refusal::new(
            Code::PermissionDenied,
            format!("table {name}: the program's constant entries can not be changed"),
        ));
    }
    if operation == Operation::Delete {
        let change = Change::Delete {
            table: name.clone(),
            entry: native(matches, entry.priority, None),
        };
        let id = table.id;
        return Ok(Step::new(vec![change], move |store| {
            store.remove(id, &identity)
        }));
    }
    if table.fields.is_empty() {
        return invalid(format!(
            "table {name} has no key, so it has only a default entry"
        ));
    }
    check_resources(&entry, table)?;
    let action = match &mut entry.action {
        Some(action) => Some(actions::of_entry(action, table, schema)?),
        None if operation == Operation::Insert => {
            return invalid(format!("table {name}: an entry to insert needs an action"));
        }
        None => None,
    };
    let counter_data = entry.counter_data.take();
    let counter = counter_data
        .map(|data| {
            counts(&data).map(|value| Change::DirectCounter {
                table: name.clone(),
                entry: native(matches.clone(), entry.priority, None),
                value,
            })
        })
        .transpose()?;
    let keeps_action = action.is_none();
    let changed = native(matches, entry.priority, action);
    let table_name = name.clone();
    let mut changes = vec![match operation {
        Operation::Insert => Change::Insert {
            table: table_name,
            entry: changed,
        },
        _ if keeps_action => Change::Find {
            table: table_name,
            entry: changed,
        },
        _ => Change::Modify {
            table: table_name,
            entry: changed,
        },
    }];
    changes.extend(counter);
    Ok(Step::new(changes, move |store| {
        if operation == Operation::Modify
            && let Some(before) = store.entry(entry.table_id, &identity)
        {
            entry.is_const = before.is_const;
            if keeps_action {
                entry.action = before.action;
            }
        }
        store.put(identity, &entry);
    }))
}

fn is_const(store: &Store, table: &Table, identity: &[u8]) -> bool {
    store.tables_with_constants.contains(&table.id)
        && store
            .entry(table.id, identity)
            .is_some_and(|known| known.is_const)
}

fn check_resources(entry: &TableEntry, table: &Table) -> Result<()> {
    let name = &table.name;
    if entry.time_since_last_hit.is_some() {
        return invalid(format!(
            "table {name}: time_since_last_hit can not be written"
        ));
    }
    if entry.idle_timeout_ns != 0 && !table.idle_timeout {
        return invalid(format!("table {name} does not support idle timeout"));
    }
    if entry.idle_timeout_ns < 0 {
        return invalid(format!("table {name}: idle_timeout_ns can not be negative"));
    }
    if entry.idle_timeout_ns != 0 {
        return unimplemented(format!("table {name}: idle timeout is not supported"));
    }
    if entry.counter_data.is_some() && !table.direct_counter {
        return invalid(format!("table {name} has no direct counter"));
    }
    if entry.meter_config.is_some() || entry.meter_counter_data.is_some() {
        if table.direct_meter.is_none() {
            return invalid(format!("table {name} has no direct meter"));
        }
        return unimplemented(format!("table {name}: direct meters are not supported"));
    }
    Ok(())
}

pub(super) fn default_entry(
    operation: Operation,
    mut entry: TableEntry,
    schema: &Schema,
) -> Result<Step> {
    let table = schema.table(entry.table_id)?;
    let name = &table.name;
    if operation != Operation::Modify {
        return invalid(format!(
            "table {name}: the default entry can only be modified"
        ));
    }
    if !entry.matches.is_empty() || entry.priority != 0 {
        return invalid(format!(
            "table {name}: the default entry has neither match fields nor a priority"
        ));
    }
    if entry.is_const {
        return invalid(format!("table {name}: is_const can not be written"));
    }
    if entry.idle_timeout_ns != 0 {
        return invalid(format!(
            "table {name}: the default entry has no idle timeout"
        ));
    }
    if table.const_default {
        return Err(Refusal::new(
            Code::PermissionDenied,
            format!("table {name}: the program's default action is constant"),
        ));
    }
    check_resources(&entry, table)?;
    if entry.counter_data.is_some() {
        return unimplemented(format!(
            "table {name}: the default entry has no counter of its own"
        ));
    }
    let id = table.id;
    let action = match &mut entry.action {
        None => None,
        Some(action) => Some(actions::of_default(action, table, schema)?),
    };
    let reset = action.is_none();
    let change = Change::DefaultAction {
        table: name.clone(),
        action,
    };
    Ok(Step::new(vec![change], move |store| {
        let defaults = &mut store.rest_mut().defaults;
        if reset {
            defaults.remove(&id);
        } else {
            defaults.insert(id, entry);
        }
    }))
}

pub(super) fn direct_counter(entry: DirectCounterEntry, schema: &Schema) -> Result<Step> {
    let mut of = entry.table_entry.unwrap_or_default();
    let table = schema.table(of.table_id)?;
    let name = &table.name;
    if !table.direct_counter {
        return invalid(format!("table {name} has no direct counter"));
    }
    if of.is_default_action {
        return unimplemented(format!(
            "table {name}: the default entry has no counter of its own"
        ));
    }
    let matches = key(&mut of, table)?;
    let of = native(matches, of.priority, None);
    let table = name.clone();
    Ok(Step::of(vec![match &entry.data {
        // Nothing to change, yet the entry must exist.
        None => Change::Find { table, entry: of },
        Some(data) => Change::DirectCounter {
            table,
            entry: of,
            value: counts(data)?,
        },
    }]))
}
