//! Strings whose entities are gone give the numbers back that stood for them.

use std::collections::HashSet;

use prost::Message;

use crate::message::entity::{
    Action, FieldMatch, FieldMatchKind, TableAction, TableActionKind, TableEntry,
};
use crate::schema::{Form, KeyField, Names, Schema};
use crate::store::Store;

/// Forgets the strings of crowded types that no entity has. Between writes, the store has all that are in use.
pub(crate) fn forget_unused(schema: &Schema, store: &Store) {
    let crowded = schema.names.values().filter(|names| names.is_crowded());
    let mut used = Used {
        schema,
        strings: crowded.map(|names| (names, HashSet::new())).collect(),
    };
    if used.strings.is_empty() {
        return;
    }
    for table in schema.tables.values() {
        let entries = store.entries(table.id);
        let mut place = 0;
        while let Some((serialized, next)) = entries.from(place) {
            place = next;
            // Serialized here, so it can be decoded.
            if let Ok(entry) = TableEntry::decode(serialized) {
                used.matches(&entry.matches, &table.fields);
                used.table_action(entry.action.as_ref());
            }
        }
    }
    let defaults = store.rest.defaults.values();
    for entry in defaults.chain(store.program_defaults.values()) {
        used.table_action(entry.action.as_ref());
    }
    for member in store.rest.members.values() {
        used.action(member.action.as_ref());
    }
    for (id, members) in &store.rest.value_sets {
        if let Some(set) = schema.value_sets.get(id) {
            for member in members {
                used.matches(&member.matches, &set.fields);
            }
        }
    }
    for (names, strings) in used.strings {
        names.retain(&strings);
    }
}

struct Used<'a> {
    schema: &'a Schema,
    strings: Vec<(&'a Names, HashSet<Vec<u8>>)>,
}

impl Used<'_> {
    fn add(&mut self, form: &Form, value: &[u8]) {
        let Form::Text(names) = form else { return };
        let of_type = self.strings.iter_mut().find(|(known, _)| *known == names);
        if let Some((_, strings)) = of_type {
            strings.insert(value.to_vec());
        }
    }

    fn matches(&mut self, given: &[FieldMatch], fields: &[KeyField]) {
        for each in given {
            let field = fields.iter().find(|field| field.id == each.field_id);
            if let Some(field) = field
                && let Some(FieldMatchKind::Exact(one) | FieldMatchKind::Optional(one)) = &each.kind
            {
                self.add(&field.form, &one.value);
            }
        }
    }

    fn table_action(&mut self, action: Option<&TableAction>) {
        match action.and_then(|action| action.kind.as_ref()) {
            Some(TableActionKind::Action(action)) => self.action(Some(action)),
            Some(TableActionKind::Set(set)) => {
                for each in &set.actions {
                    self.action(each.action.as_ref());
                }
            }
            Some(TableActionKind::Member(_) | TableActionKind::Group(_)) | None => {}
        }
    }

    fn action(&mut self, given: Option<&Action>) {
        let Some(given) = given else { return };
        let schema = self.schema;
        let Some(action) = schema.actions.get(&given.action_id) else {
            return;
        };
        for param in &given.params {
            if let Some(field) = action
                .params
                .iter()
                .find(|field| field.id == param.param_id)
            {
                self.add(&field.form, &param.value);
            }
        }
    }
}
