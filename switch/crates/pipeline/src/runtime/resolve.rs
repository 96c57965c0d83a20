//! Entries as the control plane writes them become entries of a table, and back.

use super::{Entry, Match, Param, Result, invalid};
use crate::bits::mask_double;
use crate::pipeline::Pipeline;
use crate::tables::{self, Check, Choice, Key, MatchKind, Table, prefix_mask};

impl Pipeline {
    pub(super) fn resolve(
        &self,
        number: usize,
        entry: &Entry,
        with_action: bool,
    ) -> Result<tables::Entry> {
        let table = &self.tables[number];
        let name = &table.shape.name;
        if table.shape.keys.is_empty() {
            return invalid(format!(
                "table {name} has no key and so no entries, only a default action"
            ));
        }
        for (position, (field, _)) in entry.matches.iter().enumerate() {
            if !table
                .shape
                .keys
                .iter()
                .any(|key| same_field(&key.name, field))
            {
                let known: Vec<&str> = table
                    .shape
                    .keys
                    .iter()
                    .map(|key| key.name.as_str())
                    .collect();
                return invalid(format!(
                    "table {name} has no key field {field}; it has {}",
                    known.join(", ")
                ));
            }
            if entry.matches[..position]
                .iter()
                .any(|(earlier, _)| earlier == field)
            {
                return invalid(format!("table {name}, field {field}: given twice"));
            }
        }
        let mut checks = Vec::with_capacity(table.shape.keys.len());
        let mut prefix = 0;
        for key in &table.shape.keys {
            let given = entry
                .matches
                .iter()
                .find(|(field, _)| same_field(&key.name, field))
                .map(|(_, given)| given);
            checks.push(resolve_match(name, key, given, &mut prefix)?);
        }
        match (table.has_priorities(), entry.priority) {
            (true, ..=0) => {
                return invalid(format!(
                    "table {name}: priority {} where one above zero is needed",
                    entry.priority
                ));
            }
            (false, priority) if priority != 0 => {
                return invalid(format!(
                    "table {name}: priority {priority} in a table without priorities"
                ));
            }
            _ => {}
        }
        let choice = if with_action {
            self.resolve_action(number, &entry.action, &entry.params)?
        } else {
            Choice {
                action: 0,
                parameters: Box::default(),
            }
        };
        let priority = entry.priority.into();
        Ok(tables::Entry {
            checks: checks.into(),
            prefix,
            priority,
            choice,
            packets: 0,
            bytes: 0,
        })
    }

    pub(super) fn resolve_action(
        &self,
        number: usize,
        name: &str,
        params: &[Param],
    ) -> Result<Choice> {
        let shape = &self.tables[number].shape;
        let known = |taken: &tables::TableAction| &self.program().actions[taken.action as usize];
        let Some(position) = shape
            .actions
            .iter()
            .position(|taken| known(taken).name == name)
        else {
            let names: Vec<&str> = shape
                .actions
                .iter()
                .map(|taken| known(taken).name.as_str())
                .collect();
            return invalid(format!(
                "table {} has no action {name}; it has {}",
                shape.name,
                names.join(", ")
            ));
        };
        let action = known(&shape.actions[position]);
        if let Some((unknown, _)) = params.iter().find(|(given, _)| {
            !action
                .parameters
                .iter()
                .any(|parameter| parameter.name == *given)
        }) {
            return invalid(format!(
                "table {}, action {name}: no parameter {unknown}",
                shape.name
            ));
        }
        let mut words = vec![0; action.words as usize];
        for parameter in &action.parameters {
            let mut given = params.iter().filter(|(given, _)| *given == parameter.name);
            let (Some((_, bytes)), None) = (given.next(), given.next()) else {
                let wanted = &parameter.name;
                return invalid(format!(
                    "table {}, action {name}: expected parameter {wanted} once",
                    shape.name
                ));
            };
            let place = || {
                format!(
                    "table {}, action {name}, parameter {}",
                    shape.name, parameter.name
                )
            };
            let value = number_of(bytes, parameter.bits, place)?;
            words[parameter.word as usize] = value as u64;
            if parameter.bits > 64 {
                words[parameter.word as usize + 1] = (value >> 64) as u64;
            }
        }
        Ok(Choice {
            action: position as u32,
            parameters: words.into(),
        })
    }

    pub(super) fn describe_choice(&self, table: &Table, choice: &Choice) -> (String, Vec<Param>) {
        let action =
            &self.program().actions[table.shape.actions[choice.action as usize].action as usize];
        let value = |parameter: &crate::program::Parameter| {
            let word = |offset: usize| {
                choice
                    .parameters
                    .get(parameter.word as usize + offset)
                    .copied()
                    .unwrap_or(0)
            };
            let high = if parameter.bits > 64 { word(1) } else { 0 };
            bytes_of(u128::from(high) << 64 | u128::from(word(0)), parameter.bits)
        };
        let params = action
            .parameters
            .iter()
            .map(|parameter| (parameter.name.clone(), value(parameter)));
        (action.name.clone(), params.collect())
    }

    pub(super) fn describe_entry(&self, table: &Table, entry: &tables::Entry) -> Entry {
        let mut matches = Vec::new();
        for (key, check) in table.shape.keys.iter().zip(&entry.checks) {
            let bytes = |value| bytes_of(value, key.bits);
            let described = match key.kind {
                MatchKind::Exact => Match::Exact(bytes(check.low)),
                MatchKind::Lpm if check.mask != 0 => Match::Lpm {
                    value: bytes(check.low),
                    prefix_len: check.mask.count_ones(),
                },
                MatchKind::Ternary if check.mask != 0 => Match::Ternary {
                    value: bytes(check.low),
                    mask: bytes(check.mask),
                },
                MatchKind::Optional if check.mask != 0 => Match::Optional(Some(bytes(check.low))),
                MatchKind::Range if (check.low, check.high) != (0, mask_double(key.bits)) => {
                    Match::Range {
                        low: bytes(check.low),
                        high: bytes(check.high),
                    }
                }
                _ => continue,
            };
            matches.push((key.name.clone(), described));
        }
        let (action, params) = self.describe_choice(table, &entry.choice);
        let priority = if table.shape.constant_entries {
            0
        } else {
            entry.priority as i32
        };
        Entry {
            matches,
            priority,
            action,
            params,
        }
    }
}

/// p4c's artifact calls `h.isValid()` `h.$valid$`; its P4Info does not.
fn same_field(known: &str, given: &str) -> bool {
    known == given
        || known
            .strip_suffix("$valid$")
            .is_some_and(|header| given.strip_suffix("isValid()") == Some(header))
}

fn resolve_match(table: &str, key: &Key, given: Option<&Match>, prefix: &mut u32) -> Result<Check> {
    let field = &key.name;
    let place = || format!("table {table}, field {field}");
    let number = |bytes: &[u8]| number_of(bytes, key.bits, place);
    let full = mask_double(key.bits);
    match (key.kind, given) {
        (MatchKind::Exact, None) => invalid(format!("{}: an exact field needs a value", place())),
        (MatchKind::Lpm | MatchKind::Ternary | MatchKind::Optional, None)
        | (MatchKind::Ternary | MatchKind::Optional, Some(Match::Optional(None))) => {
            Ok(Check::masked(0, 0))
        }
        (MatchKind::Range, None) => Ok(Check::range(0, full)),
        (MatchKind::Exact, Some(Match::Exact(value))) => {
            Ok(Check::masked(number(value)? & key.mask, full))
        }
        (MatchKind::Ternary | MatchKind::Optional, Some(Match::Optional(Some(value)))) => {
            Ok(Check::masked(number(value)?, full))
        }
        (MatchKind::Lpm, Some(Match::Lpm { value, prefix_len })) => {
            if *prefix_len > key.bits {
                return invalid(format!(
                    "{}: a prefix of {prefix_len} bits in a field of {}",
                    place(),
                    key.bits
                ));
            }
            *prefix = *prefix_len;
            under_mask(number(value)?, prefix_mask(*prefix_len, key.bits), place)
        }
        (MatchKind::Ternary, Some(Match::Ternary { value, mask })) => {
            under_mask(number(value)?, number(mask)?, place)
        }
        (MatchKind::Range, Some(Match::Range { low, high })) => {
            let (low, high) = (number(low)?, number(high)?);
            if low > high {
                return invalid(format!(
                    "{}: the range from {low} to {high} is empty",
                    place()
                ));
            }
            Ok(Check::range(low, high))
        }
        (kind, Some(_)) => invalid(format!("{}: expected a match of kind {kind:?}", place())),
    }
}

/// P4Runtime specification, 9.1.1: bits outside the mask or prefix must be zero.
fn under_mask(value: u128, mask: u128, place: impl Fn() -> String) -> Result<Check> {
    if value & !mask != 0 {
        return invalid(format!(
            "{}: value {value:#x} has bits outside its mask {mask:#x}",
            place()
        ));
    }
    Ok(Check::masked(value, mask))
}

fn number_of(bytes: &[u8], bits: u32, place: impl Fn() -> String) -> Result<u128> {
    if bytes.is_empty() {
        return invalid(format!("{}: an empty value; expected {bits} bits", place()));
    }
    let start = bytes.iter().take_while(|&&byte| byte == 0).count();
    let magnitude = &bytes[start..];
    let value = magnitude
        .iter()
        .take(16)
        .fold(0u128, |sum, byte| sum << 8 | u128::from(*byte));
    if magnitude.len() > 16 || value & !mask_double(bits) != 0 {
        let digits: String = magnitude.iter().map(|byte| format!("{byte:02x}")).collect();
        return invalid(format!(
            "{}: value 0x{digits} does not fit {bits} bits",
            place()
        ));
    }
    Ok(value)
}

fn bytes_of(value: u128, bits: u32) -> Vec<u8> {
    value.to_be_bytes()[16 - bits.div_ceil(8) as usize..].to_vec()
}
