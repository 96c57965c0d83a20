//! Tables: keys, actions, entries of the program and the default action.

use super::control::Control;
use super::json::Json;
use crate::bits::mask_double;
use crate::error::LoadError;
use crate::packet::Slot;
use crate::program::{Node, Program};
use crate::tables::{Check, Choice, Entry, Key, MatchKind, Shape, Table, TableAction, prefix_mask};

/// Entries a table may announce; what it really holds is memory.
const LARGEST_TABLE: u32 = 1 << 24;

impl<'a> Control<'a, '_> {
    pub(super) fn load_table(
        &self,
        item: &Json<'a>,
        program: &Program,
        tables: &mut Vec<Table>,
    ) -> Result<Node, LoadError> {
        let kind = item.get("type")?;
        if kind.text()? != "simple" {
            return kind.refuse("action profiles and selectors are not supported");
        }
        if item
            .find("support_timeout")
            .map_or(Ok(false), |flag| flag.boolean())?
        {
            return item.refuse("idle timeouts are not supported");
        }
        if let Some(meter) = item.find("direct_meters") {
            return meter.refuse("direct meters are not supported");
        }
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
        let size = item.get("max_size")?.number()?.min(LARGEST_TABLE);
        let mut shape = Shape {
            name,
            keys,
            actions,
            hit,
            miss,
            otherwise,
            size,
            constant_entries: item.find("entries").is_some(),
            constant_default: false,
            direct_counter,
            default: None,
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
            // What p4c makes of a plain action call: nothing to look up, nothing to change.
            let taken = shape.actions[choice.action as usize];
            if program.actions[taken.action as usize].words == 0 {
                return Ok(Node::Action {
                    action: taken.action,
                    next: shape.miss.unwrap_or(taken.next),
                });
            }
        }
        let entries = item.list("entries")?;
        shape.size = shape.size.max(entries.len() as u32);
        let mut table = Table::new(shape);
        for entry in entries {
            let loaded = self.load_entry(&entry, item, &table, program)?;
            if let Err(error) = table.insert(loaded) {
                return entry.refuse(error.message);
            }
        }
        tables.push(table);
        Ok(Node::Table {
            table: tables.len() as u32 - 1,
        })
    }

    fn load_keys(&self, json: &Json<'_>) -> Result<Vec<Key>, LoadError> {
        let mut keys: Vec<Key> = Vec::new();
        for item in json.items()? {
            let kind = item.get("match_type")?;
            let kind = match kind.text()? {
                "exact" => MatchKind::Exact,
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
            let field = self.names.headers.field(&target)?;
            if !matches!(field.slot, Slot::Word { .. } | Slot::Wide { words: 2, .. }) {
                return target.refuse("a key field of more than 128 bits is not supported");
            }
            let mut key_mask = mask_double(field.bits);
            if let Some(mask) = item.find("mask") {
                key_mask &= mask.hexadecimal_within(128)?;
            }
            let name = match item.find("name") {
                Some(name) => name.text()?.to_owned(),
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
                mask: key_mask,
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
        for id in item.get("action_ids")?.items()? {
            let action = self.action(&id)?;
            let name = program.actions[action as usize].name.as_str();
            actions.push(TableAction {
                action,
                next: next(name)?.unwrap_or(otherwise),
            });
        }
        Ok((actions, next("__HIT__")?, next("__MISS__")?))
    }

    fn load_choice(
        &self,
        entry: &Json<'_>,
        table: &Json<'_>,
        shape: &Shape,
        program: &Program,
    ) -> Result<Choice, LoadError> {
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
            let value = value.hexadecimal_within(parameter.bits)?;
            parameters.push(value as u64);
            if parameter.bits > 64 {
                parameters.push((value >> 64) as u64);
            }
        }
        Ok(Choice {
            action: action as u32,
            parameters: parameters.into(),
        })
    }

    fn load_entry(
        &self,
        json: &Json<'_>,
        table_json: &Json<'_>,
        table: &Table,
        program: &Program,
    ) -> Result<Entry, LoadError> {
        let keys = &table.shape.keys;
        let items = json.get("match_key")?.items()?;
        if items.len() != keys.len() {
            return json.refuse(format!(
                "{} match fields for {} key fields",
                items.len(),
                keys.len()
            ));
        }
        let mut checks = Vec::new();
        let mut prefix = 0;
        for (item, key) in items.iter().zip(keys) {
            let full = mask_double(key.bits);
            let number = |name: &str| {
                item.get(name)?
                    .hexadecimal_within(key.bits.next_multiple_of(8))
            };
            let kind = item.get("match_type")?;
            checks.push(match (kind.text()?, key.kind) {
                ("exact", MatchKind::Exact) => Check::masked(number("key")? & key.mask, full),
                ("lpm", MatchKind::Lpm) => {
                    let length = item.get("prefix_length")?;
                    prefix = length.number()?;
                    if prefix > key.bits {
                        return length
                            .refuse(format!("longer than the {} bits of the field", key.bits));
                    }
                    Check::masked(number("key")?, prefix_mask(prefix, key.bits))
                }
                ("ternary" | "optional", MatchKind::Ternary | MatchKind::Optional) => {
                    Check::masked(number("key")?, number("mask")? & full)
                }
                ("range", MatchKind::Range) => {
                    let (low, high) = (number("start")?, number("end")?);
                    if low > high {
                        return item.refuse("the range is empty");
                    }
                    Check::range(low, high.min(full))
                }
                (found, expected) => {
                    return kind.refuse(format!(
                        "a match of kind {found:?} for a key field of kind {expected:?}"
                    ));
                }
            });
        }
        let priority = match json.find("priority") {
            Some(priority) => -i64::from(priority.number()?),
            None => 0,
        };
        let choice = self.load_choice(
            &json.get("action_entry")?,
            table_json,
            &table.shape,
            program,
        )?;
        Ok(Entry {
            checks: checks.into(),
            prefix,
            priority,
            choice,
            packets: 0,
            bytes: 0,
        })
    }
}
