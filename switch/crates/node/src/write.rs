//! Batches of control-plane changes, all or nothing where asked.
//!
//! While an atomic batch is applied, what would undo each change is noted before it is made; the notes are carried out
//! in reverse order if a later change is refused.

use std::borrow::Borrow;
use std::collections::HashMap;

use phb_pipeline::{
    Code, Count, Entry, Match, MatchKind, MeterRates, Param, Pipeline, TableInfo, WriteError,
};

use crate::switch::SwitchNode;

/// One change. Tables, counters, registers and meters go by their full names.
#[derive(Clone, Debug, PartialEq)]
pub enum Update {
    /// Adds an entry.
    Insert {
        /// The table.
        table: String,
        /// The entry.
        entry: Entry,
    },
    /// Gives an entry another action.
    Modify {
        /// The table.
        table: String,
        /// The entry as it is to be.
        entry: Entry,
    },
    /// Only checks that an entry is there.
    Find {
        /// The table.
        table: String,
        /// The entry; its action does not matter.
        entry: Entry,
    },
    /// Removes an entry.
    Delete {
        /// The table.
        table: String,
        /// The entry; its action does not matter.
        entry: Entry,
    },
    /// Sets what happens to a packet that no entry matches; without an action, what the program says.
    DefaultAction {
        /// The table.
        table: String,
        /// The action and its parameters.
        action: Option<(String, Vec<Param>)>,
    },
    /// Sets a cell of an indirect counter.
    Counter {
        /// The counter.
        name: String,
        /// The cell.
        index: usize,
        /// Packets and bytes.
        value: Count,
    },
    /// Sets the direct counter of an entry.
    DirectCounter {
        /// The table.
        table: String,
        /// The entry; its action does not matter.
        entry: Entry,
        /// Packets and bytes.
        value: Count,
    },
    /// Sets a cell of a register.
    Register {
        /// The register.
        name: String,
        /// The cell.
        index: usize,
        /// The value.
        value: u128,
    },
    /// Sets the rates of a cell of an indirect meter; without rates every packet is green.
    Meter {
        /// The meter.
        name: String,
        /// The cell.
        index: usize,
        /// The rates.
        rates: Option<MeterRates>,
    },
}

/// Why a change of a batch was not made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The pipeline refused it.
    Refused(WriteError),
    /// The switch has no program.
    NoPipeline,
    /// Another change of an atomic batch was refused.
    Aborted,
}

impl SwitchNode {
    /// Applies a batch in order, between two packets.
    ///
    /// With `atomic` the first refusal undoes everything before it; the others then fail with [`Failure::Aborted`].
    /// Without, every change is tried.
    pub fn write<U: Borrow<Update>>(
        &mut self,
        updates: &[U],
        atomic: bool,
    ) -> Vec<Result<(), Failure>> {
        let Some(pipeline) = self.pipeline_mut() else {
            return vec![Err(Failure::NoPipeline); updates.len()];
        };
        if !atomic {
            let mut known = Known::default();
            let apply =
                |update: &U| apply(update.borrow(), pipeline, &mut known).map_err(Failure::Refused);
            let results = updates.iter().map(apply).collect();
            pipeline.settle();
            return results;
        }
        let applied = apply_all(updates, pipeline);
        pipeline.settle();
        match applied {
            Ok(()) => vec![Ok(()); updates.len()],
            Err((place, refusal)) => {
                let mut results = vec![Err(Failure::Aborted); updates.len()];
                results[place] = Err(Failure::Refused(refusal));
                results
            }
        }
    }
}

/// Applies everything, or nothing and says which change was refused.
fn apply_all<U: Borrow<Update>>(
    updates: &[U],
    pipeline: &mut Pipeline,
) -> Result<(), (usize, WriteError)> {
    let mut known = Known::default();
    let mut undo: Vec<Undo<'_>> = Vec::new();
    for (place, update) in updates.iter().map(Borrow::borrow).enumerate() {
        // Nothing comes after the last change that could make it necessary to undo it.
        let inverse = match update {
            _ if place + 1 == updates.len() => Undo::Changes(Vec::new()),
            Update::Insert { table, entry } => Undo::Delete { table, entry },
            _ => Undo::Changes(inverse(update, pipeline, &mut known)),
        };
        if let Err(refusal) = apply(update, pipeline, &mut known) {
            for inverse in undo.into_iter().rev() {
                let undone = inverse.apply(pipeline, &mut known);
                debug_assert!(undone.is_ok(), "a change could not be undone: {undone:?}");
            }
            return Err((place, refusal));
        }
        undo.push(inverse);
    }
    Ok(())
}

/// What undoes a change. Inserting is by far the most frequent one, so its inverse copies nothing.
enum Undo<'a> {
    Delete { table: &'a str, entry: &'a Entry },
    Changes(Vec<Update>),
}

impl Undo<'_> {
    fn apply(self, pipeline: &mut Pipeline, known: &mut Known) -> Result<(), WriteError> {
        match self {
            Self::Delete { table, entry } => {
                pipeline.table_delete(table, entry)?;
                known.remove(table, entry);
                Ok(())
            }
            Self::Changes(changes) => changes
                .iter()
                .try_for_each(|change| apply(change, pipeline, known)),
        }
    }
}

fn apply(update: &Update, pipeline: &mut Pipeline, known: &mut Known) -> Result<(), WriteError> {
    match update {
        Update::Insert { table, entry } => {
            pipeline.table_insert(table, entry)?;
            known.put(table, entry);
            Ok(())
        }
        Update::Modify { table, entry } => {
            pipeline.table_modify(table, entry)?;
            known.put(table, entry);
            Ok(())
        }
        Update::Find { table, entry } => {
            known
                .get(table, entry, pipeline)
                .map(|_| ())
                .ok_or_else(|| WriteError {
                    code: Code::NotFound,
                    message: format!("table {table}: no entry with this match and priority"),
                })
        }
        Update::Delete { table, entry } => {
            pipeline.table_delete(table, entry)?;
            known.remove(table, entry);
            Ok(())
        }
        Update::DefaultAction { table, action } => {
            let action = action
                .as_ref()
                .map(|(name, params)| (name.as_str(), params.as_slice()));
            pipeline.set_default_action(table, action)
        }
        Update::Counter { name, index, value } => pipeline.counter_write(name, *index, *value),
        Update::DirectCounter {
            table,
            entry,
            value,
        } => pipeline.direct_counter_write(table, entry, *value),
        Update::Register { name, index, value } => pipeline.register_write(name, *index, *value),
        Update::Meter { name, index, rates } => pipeline.meter_configure(name, *index, *rates),
    }
}

/// What undoes a change other than an insertion, in the order in which to do it. Nothing for a change that will be
/// refused.
fn inverse(update: &Update, pipeline: &Pipeline, known: &mut Known) -> Vec<Update> {
    match update {
        Update::Modify { table, entry } => known
            .get(table, entry, pipeline)
            .map(|before| Update::Modify {
                table: table.clone(),
                entry: before,
            })
            .into_iter()
            .collect(),
        Update::Delete { table, entry } => {
            let Some(before) = known.get(table, entry, pipeline) else {
                return Vec::new();
            };
            let count = pipeline.direct_counter_read(table, entry).ok();
            let counted = count.map(|value| Update::DirectCounter {
                table: table.clone(),
                entry: entry.clone(),
                value,
            });
            let mut changes = vec![Update::Insert {
                table: table.clone(),
                entry: before,
            }];
            changes.extend(counted);
            changes
        }
        Update::Insert { .. } | Update::Find { .. } => Vec::new(),
        Update::DefaultAction { table, .. } => pipeline
            .default_action(table)
            .map(|action| Update::DefaultAction {
                table: table.clone(),
                action,
            })
            .into_iter()
            .collect(),
        Update::Counter { name, index, .. } => pipeline
            .counter_read(name, *index)
            .map(|value| Update::Counter {
                name: name.clone(),
                index: *index,
                value,
            })
            .into_iter()
            .collect(),
        Update::DirectCounter { table, entry, .. } => pipeline
            .direct_counter_read(table, entry)
            .map(|value| Update::DirectCounter {
                table: table.clone(),
                entry: entry.clone(),
                value,
            })
            .into_iter()
            .collect(),
        Update::Register { name, index, .. } => pipeline
            .register_read(name, *index)
            .map(|value| Update::Register {
                name: name.clone(),
                index: *index,
                value,
            })
            .into_iter()
            .collect(),
        Update::Meter { name, index, .. } => pipeline
            .meter_rates(name, *index)
            .map(|rates| Update::Meter {
                name: name.clone(),
                index: *index,
                rates,
            })
            .into_iter()
            .collect(),
    }
}

/// An entry's key in a form that is equal for equal keys: two numbers for each key field, and the priority.
type Identity = (Vec<(u128, u128)>, i32);

/// The entries of the tables whose former state a batch has to know, read at first need and kept up to date.
#[derive(Default)]
struct Known {
    tables: HashMap<String, (TableInfo, HashMap<Identity, Entry>)>,
}

impl Known {
    fn get(&mut self, table: &str, entry: &Entry, pipeline: &Pipeline) -> Option<Entry> {
        if !self.tables.contains_key(table) {
            let info = pipeline
                .tables()
                .into_iter()
                .find(|info| info.name == table)?;
            let entries = pipeline.table_entries(table).ok()?;
            let entries = entries
                .into_iter()
                .map(|entry| (identity(&info, &entry), entry))
                .collect();
            self.tables.insert(table.to_owned(), (info, entries));
        }
        let (info, entries) = self.tables.get(table)?;
        entries.get(&identity(info, entry)).cloned()
    }

    fn put(&mut self, table: &str, entry: &Entry) {
        if let Some((info, entries)) = self.tables.get_mut(table) {
            entries.insert(identity(info, entry), entry.clone());
        }
    }

    fn remove(&mut self, table: &str, entry: &Entry) {
        if let Some((info, entries)) = self.tables.get_mut(table) {
            entries.remove(&identity(info, entry));
        }
    }
}

fn identity(info: &TableInfo, entry: &Entry) -> Identity {
    let conditions = info.keys.iter().map(|key| {
        let ones = if key.bits >= u128::BITS {
            u128::MAX
        } else {
            (1 << key.bits) - 1
        };
        let given = entry
            .matches
            .iter()
            .find(|(name, _)| *name == key.name)
            .map(|(_, given)| given);
        match given {
            Some(Match::Exact(value)) => (number(value), ones),
            Some(Match::Lpm { value, prefix_len }) => (number(value), u128::from(*prefix_len)),
            Some(Match::Ternary { value, mask }) => (number(value), number(mask)),
            Some(Match::Range { low, high }) => (number(low), number(high)),
            Some(Match::Optional(Some(value))) => (number(value), ones),
            Some(Match::Optional(None)) | None if key.kind == MatchKind::Range => (0, ones),
            Some(Match::Optional(None)) | None => (0, 0),
        }
    });
    (conditions.collect(), entry.priority)
}

fn number(bytes: &[u8]) -> u128 {
    bytes
        .iter()
        .fold(0, |number, byte| number << 8 | u128::from(*byte))
}
