//! Match fields: validated, brought into their canonical form, and translated for the switch.
//!
//! Omitted fields match anything; the canonical form omits them (specification, "Match Format").

use phb_pipeline::{Match, MatchKind};
use prost::Message;

use crate::bytestring::{canonical, exceeds, hexadecimal, less, ones, prefix_mask};
use crate::message::entity::{FieldMatch, FieldMatchKind, Prefix, TableEntry, TwoValues};
use crate::schema::{KeyField, Naming, Table};
use crate::status::{Result, invalid};

pub(crate) type Matches = Vec<(String, Match)>;

/// Bytes that are equal for equal keys of one table.
pub(crate) fn identity(entry: &TableEntry) -> Box<[u8]> {
    let mut bytes = Vec::with_capacity(32);
    for field in &entry.matches {
        // Infallible: a vector grows as needed.
        let _ = field.encode_length_delimited(&mut bytes);
    }
    bytes.extend(entry.priority.to_be_bytes());
    bytes.into_boxed_slice()
}

/// Validates the key of a non-default entry and makes it canonical.
pub(crate) fn key(entry: &mut TableEntry, table: &Table, naming: Naming) -> Result<Matches> {
    if entry.is_default_action {
        return invalid(format!(
            "table {}: the default entry has no key",
            table.name
        ));
    }
    if table.needs_priority && entry.priority <= 0 {
        return invalid(format!(
            "table {}: an entry with ternary, range or optional keys needs a priority above 0",
            table.name
        ));
    }
    if !table.needs_priority && entry.priority != 0 {
        return invalid(format!(
            "table {}: an entry without ternary, range or optional keys has priority 0",
            table.name
        ));
    }
    fields(&mut entry.matches, &table.fields, naming, || {
        format!("table {}", table.name)
    })
}

/// Refuses a default entry with a key or a priority.
pub(crate) fn has_no_key(entry: &TableEntry, table: &Table) -> Result<()> {
    if entry.matches.is_empty() && entry.priority == 0 {
        return Ok(());
    }
    invalid(format!(
        "table {}: the default entry has neither match fields nor a priority",
        table.name
    ))
}

/// As [`key`], for anything with match fields; sorts them in the p4info's order.
pub(crate) fn fields(
    given: &mut [FieldMatch],
    fields: &[KeyField],
    naming: Naming,
    owner: impl Fn() -> String,
) -> Result<Matches> {
    let mut matches = Vec::with_capacity(given.len());
    let mut found = 0;
    for field in fields {
        let place = given
            .iter()
            .skip(found)
            .position(|each| each.field_id == field.id);
        let Some(place) = place.map(|place| place + found) else {
            if field.kind == MatchKind::Exact {
                return invalid(format!(
                    "{}: exact match field {} is missing",
                    owner(),
                    field.name
                ));
            }
            continue;
        };
        given.swap(found, place);
        let what = || format!("{}, match field {}", owner(), field.name);
        matches.push((
            field.native.clone(),
            one(&mut given[found].kind, field, naming, what)?,
        ));
        found += 1;
    }
    match given.get(found) {
        None => Ok(matches),
        Some(rest) => match fields.iter().find(|field| field.id == rest.field_id) {
            Some(field) => invalid(format!(
                "{}: match field {} is given twice",
                owner(),
                field.name
            )),
            None => invalid(format!(
                "{} has no match field with id {}",
                owner(),
                rest.field_id
            )),
        },
    }
}

fn one(
    given: &mut Option<FieldMatchKind>,
    field: &KeyField,
    naming: Naming,
    what: impl Fn() -> String,
) -> Result<Match> {
    let bits = field.bits;
    match (field.kind, given) {
        (MatchKind::Exact, Some(FieldMatchKind::Exact(exact))) => {
            let number = field
                .form
                .receive(&mut exact.value, bits, naming, Words(&what, ""))?;
            Ok(Match::Exact(number))
        }
        (MatchKind::Optional, Some(FieldMatchKind::Optional(optional))) => {
            let value = &mut optional.value;
            let number = field.form.receive(value, bits, naming, Words(&what, ""))?;
            Ok(Match::Optional(Some(number)))
        }
        (MatchKind::Lpm, Some(FieldMatchKind::Lpm(given))) => lpm(given, bits, &what),
        (MatchKind::Ternary, Some(FieldMatchKind::Ternary(given))) => ternary(given, bits, &what),
        (MatchKind::Range, Some(FieldMatchKind::Range(given))) => range(given, bits, &what),
        (_, given) => invalid(format!(
            "{}: expected {}, got {}",
            what(),
            field.kind.name(),
            given.as_ref().map_or("nothing", name)
        )),
    }
}

fn lpm(given: &mut Prefix, bits: u32, what: impl Fn() -> String) -> Result<Match> {
    canonical(&mut given.value, bits, Words(&what, ""))?;
    let length = match u32::try_from(given.prefix_len) {
        Ok(0) => {
            return invalid(format!(
                "{}: a prefix of length 0 matches anything; leave the field out",
                what()
            ));
        }
        Ok(length) if length <= bits => length,
        _ => {
            return invalid(format!(
                "{}: prefix length {} of a field of {bits} bit",
                what(),
                given.prefix_len
            ));
        }
    };
    if exceeds(&given.value, &prefix_mask(length, bits)) {
        return invalid(format!(
            "{}: {} has bits outside its prefix of length {length}",
            what(),
            hexadecimal(&given.value)
        ));
    }
    Ok(Match::Lpm {
        value: given.value.clone(),
        prefix_len: length,
    })
}

fn ternary(given: &mut TwoValues, bits: u32, what: impl Fn() -> String) -> Result<Match> {
    let (value, mask) = (&mut given.first, &mut given.second);
    canonical(value, bits, Words(&what, ""))?;
    canonical(mask, bits, Words(&what, ", mask"))?;
    if mask == &[0] {
        return invalid(format!(
            "{}: a mask of zero matches anything; leave the field out",
            what()
        ));
    }
    if exceeds(value, mask) {
        return invalid(format!(
            "{}: the value {} has bits outside the mask {}",
            what(),
            hexadecimal(value),
            hexadecimal(mask)
        ));
    }
    Ok(Match::Ternary {
        value: value.clone(),
        mask: mask.clone(),
    })
}

fn range(given: &mut TwoValues, bits: u32, what: impl Fn() -> String) -> Result<Match> {
    let (low, high) = (&mut given.first, &mut given.second);
    canonical(low, bits, Words(&what, ", low"))?;
    canonical(high, bits, Words(&what, ", high"))?;
    if less(high, low) {
        return invalid(format!(
            "{}: low {} is above high {}",
            what(),
            hexadecimal(low),
            hexadecimal(high)
        ));
    }
    if low == &[0] && *high == ones(bits) {
        return invalid(format!(
            "{}: the whole range matches anything; leave the field out",
            what()
        ));
    }
    Ok(Match::Range {
        low: low.clone(),
        high: high.clone(),
    })
}

/// Words that are formatted only for a message.
struct Words<'a, F>(&'a F, &'static str);

impl<F: Fn() -> String> std::fmt::Display for Words<'_, F> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}{}", self.0(), self.1)
    }
}

fn name(given: &FieldMatchKind) -> &'static str {
    match given {
        FieldMatchKind::Exact(_) => "exact",
        FieldMatchKind::Ternary(_) => "ternary",
        FieldMatchKind::Lpm(_) => "lpm",
        FieldMatchKind::Range(_) => "range",
        FieldMatchKind::Optional(_) => "optional",
        FieldMatchKind::Other(_) => "other",
    }
}
