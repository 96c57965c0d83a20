//! Entries and default actions that the program itself brings, so that clients can read them.

use phb_pipeline::{Entry, Match, MatchKind, Param, Pipeline};

use crate::bytestring::shorten;
use crate::keys::identity;
use crate::message::entity::{
    Action, ActionParam, FieldMatch, FieldMatchKind, OneValue, Prefix, TableAction,
    TableActionKind, TableEntry, TwoValues,
};
use crate::schema::{KeyField, Schema, Table};
use crate::store::Store;

pub(crate) fn fill(store: &mut Store, schema: &Schema, pipeline: &Pipeline) {
    let native = pipeline.tables();
    for table in schema.tables.values() {
        let fixed = native
            .iter()
            .any(|each| each.name == table.name && each.constant_entries);
        for entry in pipeline.table_entries(&table.name).unwrap_or_default() {
            let mut known = entry_of(&entry, table, schema);
            let identity = identity(&known);
            known.is_const = fixed;
            store.put(identity, &known);
            if fixed {
                store.tables_with_constants.insert(table.id);
            }
        }
        let action = match pipeline.default_action(&table.name) {
            Ok(Some((action, params))) => action_of(&action, &params, table, schema),
            Ok(None) => continue,
            // Only the p4info knows a table that p4c removed.
            Err(_) => table.initial_default.clone(),
        };
        let entry = TableEntry {
            table_id: table.id,
            is_default_action: true,
            action,
            ..TableEntry::default()
        };
        store.program_defaults.insert(table.id, entry);
    }
}

pub(crate) fn entry_of(entry: &Entry, table: &Table, schema: &Schema) -> TableEntry {
    let matches = table.fields.iter().filter_map(|field| {
        let (_, given) = entry
            .matches
            .iter()
            .find(|(name, _)| *name == field.native)?;
        Some(FieldMatch {
            field_id: field.id,
            kind: Some(match_of(given, field)?),
        })
    });
    TableEntry {
        table_id: table.id,
        matches: matches.collect(),
        action: action_of(&entry.action, &entry.params, table, schema),
        priority: entry.priority,
        ..TableEntry::default()
    }
}

fn short(value: &[u8]) -> Vec<u8> {
    let mut value = value.to_vec();
    shorten(&mut value);
    value
}

/// None for a match of anything.
pub(crate) fn match_of(given: &Match, field: &KeyField) -> Option<FieldMatchKind> {
    let one = |value: &[u8]| OneValue {
        value: field.form.keep(short(value)),
    };
    let two = |first: &[u8], second: &[u8]| TwoValues {
        first: short(first),
        second: short(second),
    };
    Some(match given {
        Match::Exact(value) => FieldMatchKind::Exact(one(value)),
        Match::Lpm { value, prefix_len } => FieldMatchKind::Lpm(Prefix {
            value: short(value),
            prefix_len: i32::try_from(*prefix_len).ok()?,
        }),
        Match::Ternary { value, .. } if field.kind == MatchKind::Optional => {
            FieldMatchKind::Optional(one(value))
        }
        Match::Ternary { value, mask } => FieldMatchKind::Ternary(two(value, mask)),
        Match::Range { low, high } => FieldMatchKind::Range(two(low, high)),
        Match::Optional(value) => FieldMatchKind::Optional(one(value.as_deref()?)),
    })
}

/// None for an action that the p4info does not know.
pub(crate) fn action_of(
    name: &str,
    params: &[Param],
    table: &Table,
    schema: &Schema,
) -> Option<TableAction> {
    let mut known = table
        .actions
        .iter()
        .filter_map(|(id, _)| schema.actions.get(id));
    let action = known.find(|action| action.name == name)?;
    let params = action.params.iter().filter_map(|field| {
        let value = match params.iter().find(|(name, _)| *name == field.name) {
            Some((_, value)) => field.form.keep(short(value)),
            None if field.absent => vec![0],
            None => return None,
        };
        Some(ActionParam {
            param_id: field.id,
            value,
        })
    });
    Some(TableAction {
        kind: Some(TableActionKind::Action(Action {
            action_id: action.id,
            params: params.collect(),
        })),
    })
}
