//! Lists of fields: those that copies of a packet keep, and those that digest messages carry.

use std::collections::HashMap;

use super::fields::Field;
use super::headers::Headers;
use super::json::Json;
use crate::error::LoadError;
use crate::program::{DigestFields, FieldList, Program, Slot};

/// Reads `field_lists` by id. Number zero, which p4c gives to copies that keep nothing, is empty.
pub(crate) fn load_field_lists(
    root: &Json<'_>,
    headers: &Headers,
    program: &mut Program,
) -> Result<HashMap<u32, FieldList>, LoadError> {
    program.field_lists.push(Vec::new());
    let mut ids = HashMap::from([(0, FieldList(0))]);
    for item in root.list("field_lists")? {
        let mut slots = Vec::new();
        for element in item.get("elements")?.items()? {
            // A constant in a list says nothing about a copy.
            if let Some((_, field)) = field(&element, headers)? {
                slots.push(field.slot);
            }
        }
        ids.insert(
            item.get("id")?.number()?,
            FieldList(program.field_lists.len() as u32),
        );
        program.field_lists.push(slots);
    }
    Ok(ids)
}

pub(crate) fn load_digests(
    root: &Json<'_>,
    headers: &Headers,
    program: &mut Program,
) -> Result<(), LoadError> {
    for item in root.list("learn_lists")? {
        let mut fields = Vec::new();
        for element in item.get("elements")?.items()? {
            match field(&element, headers)? {
                Some((_, field)) if matches!(field.slot, Slot::Variable { .. }) => {
                    return element.refuse("a varbit in a digest is not supported");
                }
                Some((name, field)) => fields.push((name, field.slot, field.bits)),
                None => return element.refuse("a constant in a digest is not supported"),
            }
        }
        program.digests.push(DigestFields {
            name: item.get("name")?.text()?.to_owned(),
            id: item.get("id")?.number()?,
            fields,
        });
    }
    if program.psa.is_some() {
        if program.digests.len() > MOST_OF_PSA {
            let lists = root.get("learn_lists")?;
            return lists.refuse(format!(
                "more than {MOST_OF_PSA} digests of a program for PSA"
            ));
        }
        tell_apart(&mut program.digests);
    }
    Ok(())
}

/// Digests of a program for PSA: a packet notes by a bit each which it sends.
const MOST_OF_PSA: usize = 64;

/// Gives digests of different fields different names: p4c-bm2-psa has one name for all, and a list for
/// each call of a digest.
fn tell_apart(digests: &mut [DigestFields]) {
    let mut known: Vec<(Vec<u32>, String)> = Vec::new();
    for digest in digests {
        let bits: Vec<u32> = digest.fields.iter().map(|(_, _, bits)| *bits).collect();
        if let Some((_, name)) = known.iter().find(|(fields, _)| *fields == bits) {
            digest.name.clone_from(name);
            continue;
        }
        if known.iter().any(|(_, name)| *name == digest.name) {
            digest.name = format!("{}.{}", digest.name, digest.id);
        }
        known.push((bits, digest.name.clone()));
    }
}

/// A field with its name; none for a constant.
fn field(element: &Json<'_>, headers: &Headers) -> Result<Option<(String, Field)>, LoadError> {
    let kind = element.get("type")?;
    match kind.text()? {
        "field" => {
            let pair = element.get("value")?;
            let field = headers.field(&pair)?;
            let [header, name] = pair.tuple()?;
            Ok(Some((
                format!("{}.{}", header.text()?, name.text()?),
                field,
            )))
        }
        "hexstr" => Ok(None),
        other => kind.refuse(format!("{other:?} is not supported in a list of fields")),
    }
}
