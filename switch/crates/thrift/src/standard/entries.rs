//! Entries, keys and actions between Thrift's words and the pipeline's.

use phb_pipeline::{ActionInfo, Entry, Indirect, KeyInfo, Match, MatchKind, Param, TableInfo};

use super::table_code::{BAD_ACTION_DATA, BAD_MATCH_KEY, ERROR, INVALID_ACTION_NAME, NO_TABLE_KEY};
use crate::artifact::Artifact;
use crate::call::Fault;
use crate::wire::{Fields, Value};

/// Numbers of BmMatchParamType.
const EXACT: i32 = 0;
const LPM: i32 = 1;
const TERNARY: i32 = 2;
const VALID: i32 = 3;
const RANGE: i32 = 4;

/// Numbers of BmActionEntryType.
const NONE: i32 = 0;
const ACTION_DATA: i32 = 1;
const MBR_HANDLE: i32 = 2;
const GRP_HANDLE: i32 = 3;

const NANOSECONDS: u64 = 1_000_000;

/// bmv2 counts members and groups from 0; 0 is no member's id in P4Runtime, which the pipeline follows.
pub fn id_of(handle: i32) -> u32 {
    handle.cast_unsigned().wrapping_add(1)
}

pub fn handle_of(id: u32) -> i32 {
    id.wrapping_sub(1).cast_signed()
}

/// An action of a table with its data, in the order of its parameters.
pub fn action(
    table: &TableInfo,
    name: &str,
    data: &[Value],
) -> Result<(String, Vec<Param>), Fault> {
    let Some(action) = table.actions.iter().find(|action| action.name == name) else {
        return Err(Fault::Code(INVALID_ACTION_NAME));
    };
    Ok((name.to_owned(), params(action, data)?))
}

fn params(action: &ActionInfo, data: &[Value]) -> Result<Vec<Param>, Fault> {
    if data.len() != action.params.len() {
        return Err(Fault::Code(BAD_ACTION_DATA));
    }
    let given = action.params.iter().zip(data);
    let params = given.map(|((name, bits), value)| match value {
        Value::Bytes(bytes) if fits(bytes, *bits) => Ok((name.clone(), some(bytes))),
        _ => Err(Fault::Code(BAD_ACTION_DATA)),
    });
    params.collect()
}

/// The pipeline takes no value without bytes.
fn some(bytes: &[u8]) -> Vec<u8> {
    if bytes.is_empty() {
        vec![0]
    } else {
        bytes.to_vec()
    }
}

fn fits(bytes: &[u8], bits: u32) -> bool {
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    let first = bytes.get(zeros).map_or(0, |byte| 8 - byte.leading_zeros());
    let rest = (bytes.len() - zeros).saturating_sub(1) as u32;
    first + rest * 8 <= bits
}

/// An entry with its key and nothing else. In bmv2 the smaller priority wins, as P4Runtime's servers turn it round.
pub fn key(table: &TableInfo, given: &[Value], options: Fields<'_>) -> Result<Entry, Fault> {
    if table.keys.is_empty() {
        return Err(Fault::Code(NO_TABLE_KEY));
    }
    if given.len() != table.keys.len() {
        return Err(Fault::Code(BAD_MATCH_KEY));
    }
    let mut entry = Entry::default();
    if table.has_priorities {
        entry.priority = match options.int(1) {
            priority if (0..i32::MAX).contains(&priority) => i32::MAX - priority,
            _ => return Err(Fault::Code(ERROR)),
        };
    }
    for (key, param) in table.keys.iter().zip(given) {
        if let Some(given) = match_of(key, Fields::of(param))? {
            entry.matches.push((key.name.clone(), given));
        }
    }
    Ok(entry)
}

/// None for a match of anything.
fn match_of(key: &KeyInfo, param: Fields<'_>) -> Result<Option<Match>, Fault> {
    let bytes = |of: Fields<'_>, id: i16| match of.bytes(id) {
        bytes if fits(bytes, key.bits) => Ok(some(bytes)),
        _ => Err(Fault::Code(BAD_MATCH_KEY)),
    };
    Ok(match (key.kind, param.int(1)) {
        (MatchKind::Exact, EXACT) => Some(Match::Exact(bytes(param.fields(2), 1)?)),
        (MatchKind::Exact, VALID) if key.bits == 1 => {
            Some(Match::Exact(vec![u8::from(param.fields(5).flag(1))]))
        }
        (MatchKind::Lpm, LPM) => {
            let given = param.fields(3);
            let mut value = bytes(given, 1)?;
            let length = u32::try_from(given.int(2)).ok();
            let Some(prefix_len) = length.filter(|length| *length <= key.bits) else {
                return Err(Fault::Code(BAD_MATCH_KEY));
            };
            for bit in 0..key.bits - prefix_len {
                if let Some(place) = value.len().checked_sub(1 + bit as usize / 8) {
                    value[place] &= !(1 << (bit % 8));
                }
            }
            (prefix_len > 0).then_some(Match::Lpm { value, prefix_len })
        }
        (MatchKind::Ternary | MatchKind::Optional, TERNARY) => {
            let given = param.fields(4);
            let (mut value, mask) = (bytes(given, 1)?, bytes(given, 2)?);
            let masks = mask.iter().rev().copied().chain(std::iter::repeat(0));
            for (byte, mask) in value.iter_mut().rev().zip(masks) {
                *byte &= mask;
            }
            let open = mask.iter().all(|byte| *byte == 0);
            (!open).then_some(Match::Ternary { value, mask })
        }
        (MatchKind::Range, RANGE) => {
            let given = param.fields(6);
            Some(Match::Range {
                low: bytes(given, 1)?,
                high: bytes(given, 2)?,
            })
        }
        _ => return Err(Fault::Code(BAD_MATCH_KEY)),
    })
}

/// A whole entry, as clients read it; `idle_ns` is the time since its last hit.
pub fn entry_value(
    artifact: &Artifact,
    table: &TableInfo,
    handle: u32,
    entry: &Entry,
    idle_ns: u64,
) -> Value {
    let keys = table.keys.iter().enumerate();
    let params = keys.map(|(place, key)| {
        let mut matches = entry.matches.iter();
        let given = matches.find(|(name, _)| *name == key.name);
        let is_valid = artifact.is_valid(&table.name, place);
        param_value(key, given.map(|(_, given)| given), is_valid)
    });
    let priority = match table.has_priorities {
        true => i32::MAX - entry.priority,
        false => -1,
    };
    let mut fields = vec![
        (1, Value::List(params.collect())),
        (2, Value::Struct(vec![(1, Value::I32(priority))])),
        (3, Value::I32(handle.cast_signed())),
        (4, choice_value(entry)),
    ];
    if entry.idle_timeout_ns != 0 {
        let milliseconds = |ns: u64| {
            let milliseconds = i32::try_from(ns / NANOSECONDS);
            Value::I32(milliseconds.unwrap_or(i32::MAX))
        };
        let life = vec![
            (1, milliseconds(entry.idle_timeout_ns)),
            (2, milliseconds(idle_ns)),
        ];
        fields.push((5, Value::Struct(life)));
    }
    Value::Struct(fields)
}

fn param_value(key: &KeyInfo, given: Option<&Match>, is_valid: bool) -> Value {
    let length = key.bits.div_ceil(8) as usize;
    let zero = || vec![0; length];
    // The pipeline gives whole bytes of the field's width.
    let two = |first: Vec<u8>, second: Vec<u8>| {
        Value::Struct(vec![(1, Value::Bytes(first)), (2, Value::Bytes(second))])
    };
    let full = || {
        let mut bytes = vec![0xff; length];
        if let Some(first) = bytes.first_mut() {
            *first >>= length as u32 * 8 - key.bits;
        }
        bytes
    };
    let (kind, place, value) = match (key.kind, given) {
        (MatchKind::Exact, Some(Match::Exact(value))) if is_valid => {
            let valid = value.iter().any(|byte| *byte != 0);
            (VALID, 5, Value::Struct(vec![(1, Value::Bool(valid))]))
        }
        (MatchKind::Exact, Some(Match::Exact(value))) => {
            let value = Value::Struct(vec![(1, Value::Bytes(value.clone()))]);
            (EXACT, 2, value)
        }
        (MatchKind::Lpm, given) => {
            let (value, length) = match given {
                Some(Match::Lpm { value, prefix_len }) => (value.clone(), *prefix_len),
                _ => (zero(), 0),
            };
            let length = Value::I32(length.cast_signed());
            let value = Value::Struct(vec![(1, Value::Bytes(value)), (2, length)]);
            (LPM, 3, value)
        }
        (MatchKind::Range, given) => {
            let value = match given {
                Some(Match::Range { low, high }) => two(low.clone(), high.clone()),
                _ => two(zero(), full()),
            };
            (RANGE, 6, value)
        }
        (_, given) => {
            let value = match given {
                Some(Match::Ternary { value, mask }) => two(value.clone(), mask.clone()),
                Some(Match::Optional(Some(value))) => two(value.clone(), full()),
                _ => two(zero(), zero()),
            };
            (TERNARY, 4, value)
        }
    };
    Value::Struct(vec![(1, Value::I32(kind)), (place, value)])
}

fn choice_value(entry: &Entry) -> Value {
    match &entry.indirect {
        None => action_value(Some((&entry.action, &entry.params))),
        Some(Indirect::Member(id)) => member_value(*id),
        Some(Indirect::Group(id)) => Value::Struct(vec![
            (1, Value::I32(GRP_HANDLE)),
            (5, Value::I32(handle_of(*id))),
        ]),
        // P4Runtime's, which has no handle.
        Some(Indirect::ActionSet(_)) => action_value(None),
    }
}

pub fn member_value(id: u32) -> Value {
    Value::Struct(vec![
        (1, Value::I32(MBR_HANDLE)),
        (4, Value::I32(handle_of(id))),
    ])
}

/// An action with its data as a BmActionEntry.
pub fn action_value(action: Option<(&str, &[Param])>) -> Value {
    let Some((name, params)) = action else {
        return Value::Struct(vec![(1, Value::I32(NONE))]);
    };
    Value::Struct(vec![
        (1, Value::I32(ACTION_DATA)),
        (2, name.into()),
        (3, data_value(params)),
    ])
}

/// bmv2 gives numbers in as few bytes as they need, and one for 0.
pub fn data_value(params: &[Param]) -> Value {
    let data = params.iter().map(|(_, value)| {
        let zeros = value.iter().take_while(|byte| **byte == 0).count();
        Value::Bytes(value[zeros.min(value.len().saturating_sub(1))..].to_vec())
    });
    Value::List(data.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_fit() {
        for (bytes, bits) in [
            (&[][..], 1),
            (&[0, 0, 1], 1),
            (&[1, 0xff], 9),
            (&[0xff], 8),
            (&[0, 0], 1),
        ] {
            assert!(fits(bytes, bits), "{bytes:?} in {bits} bits");
        }
        for (bytes, bits) in [(&[2][..], 1), (&[2, 0xff], 9), (&[1, 0], 8)] {
            assert!(!fits(bytes, bits), "{bytes:?} in {bits} bits");
        }
    }

    #[test]
    fn handles_count_from_zero_and_ids_from_one() {
        for (handle, id) in [(0, 1), (7, 8), (-2, u32::MAX)] {
            assert_eq!((id_of(handle), handle_of(id)), (id, handle));
        }
    }
}
