//! Tables: keys, actions, entries of the program and the default action.

use std::collections::HashSet;

use super::control::{Control, Node};
use super::json::Json;
use crate::error::LoadError;
use crate::program::{
    ActionChoice, END, Key, MatchKind, Program, ProgramEntry, Slot, TableAction, TableShape,
    column_mask, columns_of, prefix_words, words_of,
};

/// The largest size of a table. Memory is taken only for entries that are there.
pub(super) const LARGEST_TABLE: u32 = 1 << 24;

impl<'a> Control<'a, '_> {
    pub(super) fn load_table(
        &self,
        item: &Json<'a>,
        program: &Program,
        tables: &mut Vec<TableShape>,
    ) -> Result<Node<'a>, LoadError> {
        let profile = self.load_profile(item)?;
        let timeouts = item
            .find("support_timeout")
            .map_or(Ok(false), |flag| flag.boolean())?;
        let name = item.get("name")?.text()?.to_owned();
        let keys = self.load_keys(&item.get("key")?)?;
        let direct_counter = if item
            .find("with_counters")
            .map_or(Ok(false), |flag| flag.boolean())?
        {
            let counter = self.names.externs.direct_counter(&name);
            Some(counter.map_or_else(|| name.clone(), str::to_owned))
        } else {
            None
        };
        let (actions, hit, miss) = self.load_next(item, program)?;
        let otherwise = self.next(item.find("base_default_next"))?;
        // Where the program fixes the entries, their number is size enough.
        let size = match item.find("max_size") {
            None if item.find("entries").is_some() => 0,
            _ => item.get("max_size")?.number()?.min(LARGEST_TABLE),
        };
        let words = |known: &TableAction| program.actions[known.action as usize].words;
        let direct_meter = self.names.externs.direct_meter(&name, item)?;
        let mut shape = TableShape {
            name,
            keys,
            parameter_words: actions.iter().map(words).max().unwrap_or(0),
            actions,
            hit,
            miss,
            otherwise,
            size,
            constant_entries: item.find("entries").is_some(),
            constant_default: false,
            direct_counter,
            direct_meter,
            timeouts,
            default: None,
            profile,
            entries: Vec::new(),
        };
        if let Some(entry) = item.find("default_entry") {
            shape.constant_default = ["action_const", "action_entry_const"]
                .iter()
                .map(|key| entry.find(key).map_or(Ok(false), |flag| flag.boolean()))
                .try_fold(false, |any, flag| flag.map(|flag| any || flag))?;
            shape.default = Some(self.load_choice(&entry, item, &shape, program)?);
        }
        if let (true, true, Some(choice)) = (
            shape.keys.is_empty(),
            shape.constant_default,
            &shape.default,
        ) && shape.direct_counter.is_none()
        {
            // p4c makes such a table of a plain action call: no look-up, no change.
            let taken = shape.actions[choice.action as usize];
            if program.actions[taken.action as usize].words == 0 {
                let call = Node::Action {
                    action: taken.action,
                    json: item.clone(),
                    next: shape.miss.unwrap_or(taken.next),
                };
                // The control plane still sees a table of the sources, but no packet comes to it.
                if !is_made_up(&shape.name) {
                    (shape.hit, shape.miss, shape.otherwise) = (None, None, END);
                    shape.actions.iter_mut().for_each(|known| known.next = END);
                    tables.push(shape);
                }
                return Ok(call);
            }
        }
        let entries = item.list("entries")?;
        shape.size = shape.size.max(entries.len() as u32);
        // In the artifact the smaller number comes first, for the control plane the larger one.
        let mut last = 0;
        for entry in &entries {
            last = last.max(priority(entry)?);
        }
        let mut known = HashSet::new();
        for entry in entries {
            let mut loaded = self.load_entry(&entry, item, &shape, program)?;
            if shape.has_priorities() {
                loaded.priority = last - priority(&entry)? + 1;
            }
            if !known.insert((loaded.words.clone(), loaded.prefix, loaded.priority)) {
                return entry.refuse(shape.exists().message);
            }
            if let Some(profile) = &shape.profile {
                return entry.refuse(shape.needs_member(profile).message);
            }
            shape.entries.push(loaded);
        }
        tables.push(shape);
        Ok(Node::Table {
            table: tables.len() as u32 - 1,
        })
    }

    fn load_keys(&self, json: &Json<'_>) -> Result<Vec<Key>, LoadError> {
        let mut keys: Vec<Key> = Vec::new();
        for item in json.items()? {
            let kind = item.get("match_type")?;
            // P4_14's match on whether a header is there: exact, on that bit.
            let valid = kind.text()? == "valid";
            let kind = match kind.text()? {
                "exact" | "valid" => MatchKind::Exact,
                "lpm" => MatchKind::Lpm,
                "ternary" => MatchKind::Ternary,
                "range" => MatchKind::Range,
                "optional" => MatchKind::Optional,
                other => return kind.refuse(format!("a match of kind {other:?} is not supported")),
            };
            if kind == MatchKind::Lpm && keys.iter().any(|key| key.kind == MatchKind::Lpm) {
                return item.refuse("a table has at most one lpm field");
            }
            let target = item.get("target")?;
            let field = if valid {
                self.names.headers.validity(&target)?
            } else {
                self.key_field(&target)?
            };
            if matches!(field.slot, Slot::Variable { .. }) {
                return target.refuse("a varbit cannot be a key field");
            }
            let mut mask: Box<[u64]> = (0..columns_of(field.bits))
                .map(|column| column_mask(field.bits, column))
                .collect();
            if let Some(given) = item.find("mask") {
                let given = words_within(&given, field.bits.next_multiple_of(8))?;
                for (word, given) in mask.iter_mut().zip(given) {
                    *word &= given;
                }
            }
            let name = match item.find("name") {
                Some(name) => name.text()?.to_owned(),
                None if valid => target.text()?.to_owned(),
                None => target
                    .tuple::<2>()?
                    .iter()
                    .map(Json::text)
                    .collect::<Result<Vec<_>, _>>()?
                    .join("."),
            };
            keys.push(Key {
                name,
                kind,
                bits: field.bits,
                slot: field.slot,
                valid: field.valid,
                mask,
            });
        }
        Ok(keys)
    }

    /// The table's actions with where each leads, and where a hit and a miss lead.
    #[expect(
        clippy::type_complexity,
        reason = "three results of one reading, used once"
    )]
    fn load_next(
        &self,
        item: &Json<'_>,
        program: &Program,
    ) -> Result<(Vec<TableAction>, Option<u32>, Option<u32>), LoadError> {
        let next_tables = item.get("next_tables")?;
        let next = |key: &str| -> Result<Option<u32>, LoadError> {
            match next_tables.value.get(key) {
                None => Ok(None),
                Some(_) => self.next(next_tables.find(key)).map(Some),
            }
        };
        let otherwise = self.next(item.find("base_default_next"))?;
        let mut actions = Vec::new();
        // Older artifacts have only names, each of one action.
        let taken = match item.find("action_ids") {
            Some(ids) => ids.items()?.iter().map(|id| self.action(id)).collect(),
            None => item
                .list("actions")?
                .iter()
                .map(|name| action_named(name, program))
                .collect::<Result<Vec<_>, _>>(),
        }?;
        for action in taken {
            let name = program.actions[action as usize].name.as_str();
            actions.push(TableAction {
                action,
                next: next(name)?.unwrap_or(otherwise),
                idle: false,
            });
        }
        Ok((actions, next("__HIT__")?, next("__MISS__")?))
    }

    fn load_choice(
        &self,
        entry: &Json<'_>,
        table: &Json<'_>,
        shape: &TableShape,
        program: &Program,
    ) -> Result<ActionChoice, LoadError> {
        let id = entry.get("action_id")?;
        let global = self.action(&id)?;
        let Some(action) = shape
            .actions
            .iter()
            .position(|known| known.action == global)
        else {
            return id.refuse(format!("not an action of the table at {}", table.path));
        };
        let known = &program.actions[global as usize].parameters;
        let data = entry.list("action_data")?;
        if data.len() != known.len() {
            return entry.refuse(format!(
                "{} values for {} action parameters",
                data.len(),
                known.len()
            ));
        }
        let mut parameters = Vec::new();
        for (value, parameter) in data.iter().zip(known) {
            parameters.extend(words_within(value, parameter.bits)?);
        }
        Ok(ActionChoice {
            action: action as u32,
            parameters: parameters.into(),
        })
    }

    fn load_entry(
        &self,
        json: &Json<'_>,
        table_json: &Json<'_>,
        table: &TableShape,
        program: &Program,
    ) -> Result<ProgramEntry, LoadError> {
        let keys = &table.keys;
        let items = json.get("match_key")?.items()?;
        if items.len() != keys.len() {
            return json.refuse(format!(
                "{} match fields for {} key fields",
                items.len(),
                keys.len()
            ));
        }
        let mut words = Vec::new();
        let mut prefix = 0;
        for (item, key) in items.iter().zip(keys) {
            let number = |name: &str| words_within(&item.get(name)?, key.bits.next_multiple_of(8));
            let full = |column| column_mask(key.bits, column);
            let kind = item.get("match_type")?;
            // Value and mask, or the least and the greatest value.
            let (first, second) = match (kind.text()?, key.kind) {
                ("exact", MatchKind::Exact) => {
                    let value = number("key")?
                        .iter()
                        .zip(&key.mask)
                        .map(|(a, b)| a & b)
                        .collect();
                    (value, prefix_words(key.bits, key.bits))
                }
                ("valid", MatchKind::Exact) => {
                    let is_there = item.get("key")?.flag()?;
                    (vec![is_there.into()], prefix_words(key.bits, key.bits))
                }
                ("lpm", MatchKind::Lpm) => {
                    let length = item.get("prefix_length")?;
                    prefix = length.number()?;
                    if prefix > key.bits {
                        return length
                            .refuse(format!("longer than the {} bits of the field", key.bits));
                    }
                    (number("key")?, prefix_words(prefix, key.bits))
                }
                ("ternary" | "optional", MatchKind::Ternary | MatchKind::Optional) => {
                    (number("key")?, number("mask")?)
                }
                ("range", MatchKind::Range) => {
                    let (low, mut high) = (number("start")?, number("end")?);
                    if low.iter().rev().gt(high.iter().rev()) {
                        return item.refuse("the range is empty");
                    }
                    // As in bmv2, which accepts an end that does not fit the field.
                    let beyond = |(column, word): (usize, &u64)| word & !full(column) != 0;
                    if high.iter().enumerate().any(beyond) {
                        high = prefix_words(key.bits, key.bits);
                    }
                    (low, high)
                }
                (found, expected) => {
                    return kind.refuse(format!(
                        "a match of kind {found:?} for a key field of kind {expected:?}"
                    ));
                }
            };
            for (column, (first, second)) in first.into_iter().zip(second).enumerate() {
                match key.kind {
                    MatchKind::Range => words.extend([first, second]),
                    _ => {
                        let mask = second & full(column);
                        words.extend([first & mask, mask]);
                    }
                }
            }
        }
        let choice = self.load_choice(&json.get("action_entry")?, table_json, table, program)?;
        Ok(ProgramEntry {
            words: words.into(),
            prefix,
            priority: 0,
            choice,
        })
    }
}

fn action_named(name: &Json<'_>, program: &Program) -> Result<u32, LoadError> {
    let wanted = name.text()?;
    let mut actions = program.actions.iter();
    match actions.position(|action| action.name == wanted) {
        Some(action) => Ok(action as u32),
        None => name.refuse(format!("no action is called {wanted:?}")),
    }
}

/// Whether p4c made the table, for a plain action call: it has no control before its name.
fn is_made_up(name: &str) -> bool {
    name.starts_with("tbl_") && !name.contains('.')
}

fn priority(entry: &Json<'_>) -> Result<i32, LoadError> {
    let Some(json) = entry.find("priority") else {
        return Ok(0);
    };
    match i32::try_from(json.number()?) {
        Ok(priority) if priority < i32::MAX => Ok(priority),
        _ => json.refuse("a priority of more than 31 bits"),
    }
}

/// A hexadecimal number of at most `bits` bits, two's complement if negative, low word first.
pub(super) fn words_within(json: &Json<'_>, bits: u32) -> Result<Vec<u64>, LoadError> {
    let integer = json.hexadecimal()?;
    let width = integer.bits() + u32::from(integer.negative);
    if width > bits {
        return json.refuse(format!(
            "a number of {width} bits where {bits} are expected"
        ));
    }
    let mut words = words_of(&integer.magnitude, bits);
    if integer.negative {
        let mut carry = true;
        for word in &mut words {
            (*word, carry) = (!*word).overflowing_add(u64::from(carry));
        }
        for (column, word) in words.iter_mut().enumerate() {
            *word &= column_mask(bits, column);
        }
    }
    Ok(words)
}
