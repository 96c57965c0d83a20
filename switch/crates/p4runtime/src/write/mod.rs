//! Write: a batch of updates, each checked, translated and applied.
//!
//! Every update becomes a [`Step`]: changes of the switch, all or none, and then of the store.

mod cells;
mod digest;
mod profile;
mod replication;
mod table;
mod value_set;

pub(crate) use cells::{cells, config};
pub(crate) use table::count_style;

use std::sync::{Mutex, MutexGuard, PoisonError};

use phb_node::SwitchNode;
use phb_node::Update as Change;

use crate::message::entity::Kind;
use crate::message::request::Update;
use crate::role::Role;
use crate::schema::Schema;
use crate::status::{Outcome, Refusal, Result, invalid, unimplemented};
use crate::store::Store;

/// Updates applied at a time if they need not be atomic: packets must not wait for long.
const AT_A_TIME: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Insert,
    Modify,
    Delete,
}

type Memory = Box<dyn FnOnce(&mut Store)>;

/// The effect of one update on the switch and, if that succeeds, on the store.
pub(crate) struct Step {
    pub changes: Vec<Change>,
    pub remember: Option<Memory>,
}

impl Step {
    /// Changes of the switch only.
    fn of(changes: Vec<Change>) -> Self {
        Self {
            changes,
            remember: None,
        }
    }

    fn new(changes: Vec<Change>, remember: impl FnOnce(&mut Store) + 'static) -> Self {
        Self {
            changes,
            remember: Some(Box::new(remember)),
        }
    }
}

pub(crate) fn lock(node: &Mutex<SwitchNode>) -> MutexGuard<'_, SwitchNode> {
    node.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Applies updates in order; a failed one does not stop the others.
pub(crate) fn one_by_one(
    schema: &Schema,
    store: &mut Store,
    node: &Mutex<SwitchNode>,
    role: &Role,
    updates: impl ExactSizeIterator<Item = Result<Update>>,
) -> Vec<Outcome> {
    let mut outcomes = Vec::with_capacity(updates.len());
    let mut updates = updates.peekable();
    while updates.peek().is_some() {
        let mut node = lock(node);
        for update in updates.by_ref().take(AT_A_TIME) {
            let step = update.and_then(|update| plan(update, schema, store, role));
            outcomes.push(step.and_then(|step| {
                for result in node.write_unsettled(&step.changes, step.changes.len() > 1) {
                    match result {
                        Ok(()) | Err(phb_node::Failure::Aborted) => {}
                        Err(failure) => return Err(failure.into()),
                    }
                }
                if let Some(remember) = step.remember {
                    remember(store);
                }
                Ok(())
            }));
        }
        node.settle_tables();
    }
    outcomes
}

/// Applies updates all or none; packets see no state in between.
pub(crate) fn all_or_none(
    schema: &Schema,
    store: &mut Store,
    node: &Mutex<SwitchNode>,
    role: &Role,
    updates: impl ExactSizeIterator<Item = Result<Update>>,
) -> Vec<Outcome> {
    store.begin();
    let mut outcomes: Vec<Outcome> = Vec::with_capacity(updates.len());
    let mut changes = Vec::with_capacity(updates.len());
    let mut owners = Vec::with_capacity(updates.len());
    for update in updates {
        let step = update.and_then(|update| plan(update, schema, store, role));
        outcomes.push(step.map(|step| {
            owners.extend(step.changes.iter().map(|_| outcomes.len()));
            changes.extend(step.changes);
            if let Some(remember) = step.remember {
                remember(store);
            }
        }));
    }
    if outcomes.iter().all(Result::is_ok) {
        let results = lock(node).write(&changes, true);
        for (result, owner) in results.into_iter().zip(owners) {
            match result {
                Ok(()) | Err(phb_node::Failure::Aborted) => {}
                Err(failure) => outcomes[owner] = Err(failure.into()),
            }
        }
    }
    if outcomes.iter().all(Result::is_ok) {
        store.keep();
        return outcomes;
    }
    store.undo();
    for outcome in &mut outcomes {
        if outcome.is_ok() {
            *outcome = Err(Refusal::aborted());
        }
    }
    outcomes
}

fn plan(update: Update, schema: &Schema, store: &Store, role: &Role) -> Result<Step> {
    let operation = match update.kind {
        1 => Operation::Insert,
        2 => Operation::Modify,
        3 => Operation::Delete,
        _ => return invalid("the update's type is not set: expected INSERT, MODIFY or DELETE"),
    };
    let Some(kind) = update.entity.and_then(|entity| entity.kind) else {
        return invalid("the update has no entity");
    };
    role.may_write(&kind)?;
    match kind {
        Kind::Table(entry) if entry.is_default_action => {
            table::default_entry(operation, entry, schema)
        }
        Kind::Table(entry) => table::entry(operation, entry, schema, store),
        Kind::Counter(entry) => {
            only_modify(operation, "counter_entry")?;
            cells::counter(&entry, schema)
        }
        Kind::DirectCounter(entry) => {
            only_modify(operation, "direct_counter_entry")?;
            table::direct_counter(entry, schema)
        }
        Kind::Register(entry) => {
            only_modify(operation, "register_entry")?;
            cells::register(entry, schema)
        }
        Kind::Meter(entry) => {
            only_modify(operation, "meter_entry")?;
            cells::meter(&entry, schema)
        }
        Kind::DirectMeter(entry) => {
            only_modify(operation, "direct_meter_entry")?;
            table::direct_meter(entry, schema)
        }
        Kind::Digest(entry) => digest::digest(operation, entry, schema, store),
        Kind::Member(entry) => profile::member(operation, entry, schema, store),
        Kind::Group(entry) => profile::group(operation, entry, schema, store),
        Kind::Replication(entry) => replication::entry(operation, entry, schema, store),
        Kind::ValueSet(entry) => {
            only_modify(operation, "value_set_entry")?;
            value_set::entry(entry, schema)
        }
        Kind::Extern(_) => {
            unimplemented("extern_entry is not supported: v1model has no such externs")
        }
    }
}

fn only_modify(operation: Operation, what: &str) -> Result<()> {
    if operation == Operation::Modify {
        return Ok(());
    }
    invalid(format!("{what} can only be modified"))
}
