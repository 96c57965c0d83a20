//! Entries as the control plane writes them become entries of a table, and back.

use super::entry::{Entry, Indirect, Match, Param, WeightedAction};
use crate::bits::magnitude;
use crate::error::{Result, invalid};
use crate::pipeline::Pipeline;
use crate::program::{
    ActionChoice, Key, MatchKind, Parameter, TableAction, TableShape, column_mask, columns_of,
    prefix_words, words_of,
};
use crate::state::tables::{Choice, SetMember, Table, TableEntry};

impl Pipeline {
    pub(super) fn resolve(
        &self,
        number: usize,
        entry: &Entry,
        with_action: bool,
    ) -> Result<TableEntry> {
        let table = &self.state.tables[number];
        let name = &table.shape.name;
        check_fields(&table.shape, entry)?;
        let mut words = Vec::with_capacity(table.shape.keys.len() * 2);
        let mut prefix = 0;
        for key in &table.shape.keys {
            let given = entry
                .matches
                .iter()
                .find(|(field, _)| same_field(&key.name, field))
                .map(|(_, given)| given);
            let (first, second) = resolve_match(name, key, given, &mut prefix)?;
            words.extend(first.into_iter().zip(second).flat_map(|(a, b)| [a, b]));
        }
        match (table.shape.has_priorities(), entry.priority) {
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
        if entry.idle_timeout_ns != 0 && with_action && !table.shape.timeouts {
            return invalid(format!("table {name} has no idle timeouts"));
        }
        let choice = if with_action {
            self.resolve_choice(number, entry)?
        } else {
            Choice::None
        };
        Ok(TableEntry {
            words: words.into(),
            prefix,
            priority: entry.priority,
            choice,
            idle_timeout: entry.idle_timeout_ns,
        })
    }

    fn resolve_choice(&self, number: usize, entry: &Entry) -> Result<Choice> {
        Ok(match &entry.indirect {
            None => Choice::Action(self.resolve_action(number, &entry.action, &entry.params)?),
            Some(Indirect::Member(id)) => Choice::Member(*id),
            Some(Indirect::Group(id)) => Choice::Group(*id),
            Some(Indirect::ActionSet(set)) => {
                let member = |given: &WeightedAction| -> Result<SetMember> {
                    Ok(SetMember {
                        choice: self.resolve_action(number, &given.action, &given.params)?,
                        weight: given.weight,
                        watch: given.watch_port.clone(),
                    })
                };
                Choice::Set(set.iter().map(member).collect::<Result<_>>()?)
            }
        })
    }

    pub(super) fn resolve_action(
        &self,
        number: usize,
        name: &str,
        params: &[Param],
    ) -> Result<ActionChoice> {
        let shape = &self.state.tables[number].shape;
        let known = |taken: &TableAction| &self.program.actions[taken.action as usize];
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
            words[parameter.word as usize..][..value.len()].copy_from_slice(&value);
        }
        Ok(ActionChoice {
            action: position as u32,
            parameters: words.into(),
        })
    }

    pub(super) fn describe_choice(
        &self,
        table: &Table,
        choice: &ActionChoice,
    ) -> (String, Vec<Param>) {
        let action =
            &self.program.actions[table.shape.actions[choice.action as usize].action as usize];
        let value = |parameter: &Parameter| {
            let word = parameter.word as usize;
            let words = choice
                .parameters
                .get(word..word + columns_of(parameter.bits));
            bytes_of(words.unwrap_or_default(), parameter.bits)
        };
        let params = action
            .parameters
            .iter()
            .map(|parameter| (parameter.name.clone(), value(parameter)));
        (action.name.clone(), params.collect())
    }

    pub(super) fn describe_entry(&self, table: &Table, number: u32) -> Entry {
        let store = table.store();
        let words = store.words_of(number);
        // Tables without priorities keep only the values; their masks are known.
        let pairs = table.shape.has_priorities();
        let mut matches = Vec::with_capacity(table.shape.keys.len());
        let mut column = 0;
        for key in &table.shape.keys {
            let columns = columns_of(key.bits);
            let pick = |offset: usize| -> Vec<u64> {
                let step = if pairs { 2 } else { 1 };
                (column..column + columns)
                    .map(|column| words[column * step + offset])
                    .collect()
            };
            let first = pick(0);
            let second = if pairs { pick(1) } else { Vec::new() };
            column += columns;
            let bytes = |words: &[u64]| bytes_of(words, key.bits);
            let open = |words: &[u64]| words.iter().all(|&word| word == 0);
            let prefix_len = if pairs {
                second.iter().map(|word| word.count_ones()).sum()
            } else {
                store.prefix(number)
            };
            let described = match key.kind {
                MatchKind::Exact => Match::Exact(bytes(&first)),
                MatchKind::Lpm if prefix_len != 0 => Match::Lpm {
                    value: bytes(&first),
                    prefix_len,
                },
                MatchKind::Ternary if !open(&second) => Match::Ternary {
                    value: bytes(&first),
                    mask: bytes(&second),
                },
                MatchKind::Optional if !open(&second) => Match::Optional(Some(bytes(&first))),
                MatchKind::Range if !open(&first) || second != prefix_words(key.bits, key.bits) => {
                    Match::Range {
                        low: bytes(&first),
                        high: bytes(&second),
                    }
                }
                _ => continue,
            };
            matches.push((key.name.clone(), described));
        }
        let mut entry = Entry {
            matches,
            priority: store.priority(number),
            idle_timeout_ns: store.idle_timeout(number),
            ..Entry::default()
        };
        match table.choice_of(number) {
            Choice::None => {}
            Choice::Action(choice) => {
                (entry.action, entry.params) = self.describe_choice(table, &choice);
            }
            Choice::Member(id) => entry.indirect = Some(Indirect::Member(id)),
            Choice::Group(id) => entry.indirect = Some(Indirect::Group(id)),
            Choice::Set(set) => {
                let member = |member: SetMember| {
                    let (action, params) = self.describe_choice(table, &member.choice);
                    WeightedAction {
                        action,
                        params,
                        weight: member.weight,
                        watch_port: member.watch,
                    }
                };
                let set = set.into_iter().map(member).collect();
                entry.indirect = Some(Indirect::ActionSet(set));
            }
        }
        entry
    }
}

/// Refuses entries that name a key field the table does not have, or one twice.
fn check_fields(table: &TableShape, entry: &Entry) -> Result<()> {
    let name = &table.name;
    if table.keys.is_empty() {
        return invalid(format!(
            "table {name} has no key and so no entries, only a default action"
        ));
    }
    for (position, (field, _)) in entry.matches.iter().enumerate() {
        if !table.keys.iter().any(|key| same_field(&key.name, field)) {
            let known: Vec<&str> = table.keys.iter().map(|key| key.name.as_str()).collect();
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
    Ok(())
}

/// p4c's artifact calls `h.isValid()` `h.$valid$`; its P4Info does not.
fn same_field(known: &str, given: &str) -> bool {
    known == given
        || known
            .strip_suffix("$valid$")
            .is_some_and(|header| given.strip_suffix("isValid()") == Some(header))
}

/// The condition on the columns of a field: value and mask, or the least and the greatest value.
type Condition = (Vec<u64>, Vec<u64>);

fn resolve_match(
    table: &str,
    key: &Key,
    given: Option<&Match>,
    prefix: &mut u32,
) -> Result<Condition> {
    let field = &key.name;
    let place = || format!("table {table}, field {field}");
    let number = |bytes: &[u8]| number_of(bytes, key.bits, place);
    let full = || prefix_words(key.bits, key.bits);
    let none = || vec![0; columns_of(key.bits)];
    match (key.kind, given) {
        (MatchKind::Exact, None) => invalid(format!("{}: an exact field needs a value", place())),
        (MatchKind::Lpm | MatchKind::Ternary | MatchKind::Optional, None)
        | (MatchKind::Ternary | MatchKind::Optional, Some(Match::Optional(None))) => {
            Ok((none(), none()))
        }
        (MatchKind::Range, None) => Ok((none(), full())),
        (MatchKind::Exact, Some(Match::Exact(value))) => {
            let value = number(value)?;
            let visible = value
                .iter()
                .zip(&key.mask)
                .map(|(value, mask)| value & mask);
            Ok((visible.collect(), full()))
        }
        (MatchKind::Ternary | MatchKind::Optional, Some(Match::Optional(Some(value)))) => {
            Ok((number(value)?, full()))
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
            let mask = prefix_words(*prefix_len, key.bits);
            under_mask(number(value)?, mask, place)
        }
        (MatchKind::Ternary, Some(Match::Ternary { value, mask })) => {
            under_mask(number(value)?, number(mask)?, place)
        }
        (MatchKind::Range, Some(Match::Range { low, high })) => {
            let (first, last) = (number(low)?, number(high)?);
            if first.iter().rev().gt(last.iter().rev()) {
                let (low, high) = (digits(&first), digits(&last));
                return invalid(format!(
                    "{}: the range from {low} to {high} is empty",
                    place()
                ));
            }
            Ok((first, last))
        }
        (kind, Some(_)) => invalid(format!("{}: expected a match of kind {kind:?}", place())),
    }
}

/// P4Runtime specification, 9.1.1: bits outside the mask or prefix must be zero.
fn under_mask(value: Vec<u64>, mask: Vec<u64>, place: impl Fn() -> String) -> Result<Condition> {
    if value
        .iter()
        .zip(&mask)
        .any(|(value, mask)| value & !mask != 0)
    {
        return invalid(format!(
            "{}: value {} has bits outside its mask {}",
            place(),
            digits(&value),
            digits(&mask)
        ));
    }
    Ok((value, mask))
}

fn digits(words: &[u64]) -> String {
    let mut text = String::new();
    for word in words.iter().rev() {
        if text.is_empty() && *word != 0 {
            text = format!("{word:#x}");
        } else if !text.is_empty() {
            text += &format!("{word:016x}");
        }
    }
    if text.is_empty() { "0x0".into() } else { text }
}

/// A big-endian value of at most `bits` bits, as columns.
fn number_of(bytes: &[u8], bits: u32, place: impl Fn() -> String) -> Result<Vec<u64>> {
    if bytes.is_empty() {
        return invalid(format!("{}: an empty value; expected {bits} bits", place()));
    }
    let (magnitude, width) = magnitude(bytes);
    if width > bits as usize {
        let digits: String = magnitude.iter().map(|byte| format!("{byte:02x}")).collect();
        return invalid(format!(
            "{}: value 0x{digits} does not fit {bits} bits",
            place()
        ));
    }
    Ok(words_of(magnitude, bits))
}

fn bytes_of(words: &[u64], bits: u32) -> Vec<u8> {
    let length = bits.div_ceil(8) as usize;
    let mut bytes = Vec::with_capacity(words.len() * 8);
    for (column, word) in words.iter().enumerate().rev() {
        bytes.extend((word & column_mask(bits, column)).to_be_bytes());
    }
    bytes.drain(..bytes.len().saturating_sub(length));
    bytes
}
