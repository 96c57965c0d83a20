//! TableEntry, and the direct resources of one.

use phb_node::Update as Change;
use phb_pipeline::Entry;

use super::cells::{counts, rates, resets};
use super::{Operation, Step};
use crate::actions::{self, Choice};
use crate::keys::{Matches, has_no_key, identity, key};
use crate::message::entity::{DirectCounterEntry, DirectMeterEntry, TableActionKind, TableEntry};
use crate::schema::{DIRECT_COUNTER, DIRECT_METER, IDLE_TIMEOUT, Naming, Schema, Table};
use crate::status::{Code, Refusal, Result, invalid};
use crate::store::Store;

/// An entry for the switch with only its key.
fn named(matches: Matches, priority: i32) -> Entry {
    Entry {
        matches,
        priority,
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
    let naming = match operation {
        Operation::Insert => Naming::New,
        _ => Naming::Known,
    };
    let matches = key(&mut entry, table, naming)?;
    let identity = identity(&entry);
    let only_resources = operation == Operation::Modify && entry.action.is_none();
    if !only_resources && (table.is_const || is_const(store, table, &identity)) {
        return Err(Refusal::new(
            Code::PermissionDenied,
            format!("table {name}: the program's constant entries can not be changed"),
        ));
    }
    if operation == Operation::Delete {
        return Ok(deletion(table, named(matches, entry.priority), identity));
    }
    if table.fields.is_empty() {
        return invalid(format!(
            "table {name} has no key, so it has only a default entry"
        ));
    }
    check_resources(&entry, table)?;
    let action = match &mut entry.action {
        Some(action) => Some(actions::of_entry(action, table, schema, store)?),
        None if operation == Operation::Insert => {
            return invalid(format!("table {name}: an entry to insert needs an action"));
        }
        None => None,
    };
    let mut changed = named(matches, entry.priority);
    let resources = direct_resources(operation, &mut entry, table, Some(&changed))?;
    let keeps_action = action.is_none();
    changed.idle_timeout_ns = entry.idle_timeout_ns.unsigned_abs();
    match action {
        Some(Choice::Direct(call)) => (changed.action, changed.params) = call,
        Some(Choice::Indirect(indirect)) => changed.indirect = Some(indirect),
        None => {}
    }
    let change = change_of(operation, table, changed, keeps_action);
    let changes = std::iter::once(change).chain(resources).collect();
    let profile = table.profile;
    Ok(Step::new(changes, move |store| {
        let mut before = None;
        if operation == Operation::Modify
            && let Some(known) = store.entry(entry.table_id, &identity)
        {
            entry.is_const = known.is_const;
            if keeps_action {
                entry.action.clone_from(&known.action);
            }
            before = Some(known);
        }
        count_style(store, profile, before.as_ref(), Some(&entry));
        store.put(identity, &entry);
    }))
}

fn change_of(operation: Operation, table: &Table, entry: Entry, keeps_action: bool) -> Change {
    let ages = table.idle_timeout;
    let table = table.name.clone();
    match operation {
        Operation::Insert => Change::Insert { table, entry },
        _ if keeps_action && ages => Change::IdleTimeout { table, entry },
        _ if keeps_action => Change::Find { table, entry },
        _ => Change::Modify { table, entry },
    }
}

fn deletion(table: &Table, entry: Entry, identity: Box<[u8]>) -> Step {
    let (id, profile) = (table.id, table.profile);
    let table = table.name.clone();
    Step::new(vec![Change::Delete { table, entry }], move |store| {
        let before = profile.and_then(|_| store.entry(id, &identity));
        store.remove(id, &identity);
        count_style(store, profile, before.as_ref(), None);
    })
}

/// Counts how entries of action profiles name their actions.
pub(crate) fn count_style(
    store: &mut Store,
    profile: Option<u32>,
    before: Option<&TableEntry>,
    after: Option<&TableEntry>,
) {
    let Some(profile) = profile else {
        return;
    };
    let one_shot = |entry: &TableEntry| {
        let kind = entry
            .action
            .as_ref()
            .and_then(|action| action.kind.as_ref());
        matches!(kind, Some(TableActionKind::Set(_)))
    };
    let styles = store.rest_mut().styles.entry(profile).or_default();
    if let Some(after) = after {
        *styles.of(one_shot(after)) += 1;
    }
    if let Some(before) = before {
        let count = styles.of(one_shot(before));
        *count = count.saturating_sub(1);
    }
}

/// Moves counter and meter out of an entry into changes: the switch holds their values. It is the entry `of` that key,
/// or the default one (`None`).
fn direct_resources(
    operation: Operation,
    entry: &mut TableEntry,
    table: &Table,
    of: Option<&Entry>,
) -> Result<Vec<Change>> {
    let mut changes = Vec::new();
    if let Some(data) = entry.counter_data.take() {
        changes.push(Change::DirectCounter {
            table: table.name.clone(),
            entry: of.cloned(),
            value: counts(&data)?,
        });
    }
    let config = entry.meter_config.take();
    // A new entry's meter is unconfigured anyway; a modified one's becomes so unless one is given.
    if let Some(kind) = table.direct_meter
        && (config.is_some() || operation == Operation::Modify)
    {
        let rates = config.map(|config| rates(&table.name, &config, kind));
        changes.push(Change::DirectMeter {
            table: table.name.clone(),
            entry: of.cloned(),
            rates: rates.transpose()?,
        });
    }
    let counts = entry.meter_counter_data.take();
    if resets(counts.as_ref(), &table.name)? {
        changes.push(no_counts(table, of.cloned()));
    }
    Ok(changes)
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
        return match table.left_out.contains(&IDLE_TIMEOUT) {
            true => table.lacks(IDLE_TIMEOUT),
            false => invalid(format!("table {name} does not support idle timeout")),
        };
    }
    if entry.idle_timeout_ns < 0 {
        return invalid(format!("table {name}: idle_timeout_ns can not be negative"));
    }
    if entry.counter_data.is_some() && !table.direct_counter {
        return table.lacks(DIRECT_COUNTER);
    }
    if (entry.meter_config.is_some() || entry.meter_counter_data.is_some())
        && table.direct_meter.is_none()
    {
        return table.lacks(DIRECT_METER);
    }
    Ok(())
}

fn no_counts(table: &Table, entry: Option<Entry>) -> Change {
    Change::DirectMeterCounts {
        table: table.name.clone(),
        entry,
        counts: Default::default(),
    }
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
    has_no_key(&entry, table)?;
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
    if table.profile.is_some() && entry.action.is_some() {
        return invalid(format!(
            "table {name}: the default action of a table with an action profile can not be changed"
        ));
    }
    let id = table.id;
    let action = match &mut entry.action {
        None => None,
        Some(action) => Some(actions::of_default(action, table, schema)?),
    };
    let reset = action.is_none();
    let resources = direct_resources(operation, &mut entry, table, None)?;
    let changed = Change::DefaultAction {
        table: name.clone(),
        action,
    };
    // No packet comes to a table that is not in the program.
    let changes = match table.absent {
        true => Vec::new(),
        false => std::iter::once(changed).chain(resources).collect(),
    };
    Ok(Step::new(changes, move |store| {
        let defaults = &mut store.rest_mut().defaults;
        if reset {
            defaults.remove(&id);
        } else {
            defaults.insert(id, entry);
        }
    }))
}

pub(super) fn direct_counter(entry: DirectCounterEntry, schema: &Schema) -> Result<Step> {
    let of = entry.table_entry.unwrap_or_default();
    let table = schema.table(of.table_id)?;
    let name = &table.name;
    if !table.direct_counter {
        return table.lacks(DIRECT_COUNTER);
    }
    let of = owner(of, table)?;
    let table = name.clone();
    Ok(Step::of(match (&entry.data, of) {
        (Some(data), entry) => vec![Change::DirectCounter {
            table,
            entry,
            value: counts(data)?,
        }],
        // Nothing to change, yet the entry must exist.
        (None, Some(entry)) => vec![Change::Find { table, entry }],
        (None, None) => Vec::new(),
    }))
}

pub(super) fn direct_meter(entry: DirectMeterEntry, schema: &Schema) -> Result<Step> {
    let of = entry.table_entry.unwrap_or_default();
    let table = schema.table(of.table_id)?;
    let name = &table.name;
    let Some(kind) = table.direct_meter else {
        return table.lacks(DIRECT_METER);
    };
    let resets = resets(entry.counter_data.as_ref(), name)?;
    let of = owner(of, table)?;
    let rates = entry.config.map(|config| rates(name, &config, kind));
    let counts = resets.then(|| no_counts(table, of.clone()));
    let configured = Change::DirectMeter {
        table: name.clone(),
        entry: of,
        rates: rates.transpose()?,
    };
    Ok(Step::of(
        std::iter::once(configured).chain(counts).collect(),
    ))
}

/// The entry that a direct resource belongs to; `None` is the default one.
fn owner(mut of: TableEntry, table: &Table) -> Result<Option<Entry>> {
    if of.is_default_action {
        has_no_key(&of, table)?;
        return Ok(None);
    }
    let matches = key(&mut of, table, Naming::Known)?;
    Ok(Some(named(matches, of.priority)))
}
