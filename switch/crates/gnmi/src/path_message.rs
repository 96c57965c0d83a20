//! Paths of the protocol's messages: checked, and brought into the form of [`paths`](crate::paths) and back.

use crate::message;
use crate::paths::{ANY_DEPTH, Element, Path};
use crate::refusal::{Result, invalid, quoted};
use crate::schema;

const ORIGIN: &str = "openconfig";

const MOST_ELEMENTS: usize = 32;

/// A request's path behind its prefix; `InvalidArgument` for other origins or invalid elements.
pub(crate) fn read(path: Option<&message::Path>, prefix: Option<&message::Path>) -> Result<Path> {
    let parts = [prefix, path].into_iter().flatten();
    let mut result: Vec<Element> = Vec::new();
    let mut length = 0;
    for part in parts {
        if !part.origin.is_empty() {
            check_origin(&part.origin)?;
        }
        for element in elements(part)? {
            // Several in a row mean the same as one.
            let merged = element.name == ANY_DEPTH
                && result.last().is_some_and(|last| last.name == ANY_DEPTH);
            if !merged {
                length += 1;
                if length <= MOST_ELEMENTS {
                    result.push(element);
                }
            }
        }
    }
    if length > MOST_ELEMENTS {
        return Err(invalid(format!(
            "a path of {length} elements; no more than {MOST_ELEMENTS} make sense"
        )));
    }
    Ok(result.into_iter().collect())
}

/// Some clients give a module's name for the origin: pygnmi does with `openconfig-interfaces:interfaces`.
fn check_origin(origin: &str) -> Result<()> {
    if origin == ORIGIN || schema::has_model(origin) {
        return Ok(());
    }
    Err(invalid(format!(
        "there is no origin {} here, only '{ORIGIN}'",
        quoted(origin)
    )))
}

fn elements(path: &message::Path) -> Result<Vec<Element>> {
    if path.elem.is_empty() {
        // As before gNMI 0.4; the specification keeps it for older clients.
        let names = without_origin(&path.element, |name| Some(name))?;
        return names.iter().map(|name| element(name, [])).collect();
    }
    let named = without_origin(&path.elem, |each| {
        each.key.is_empty().then_some(each.name.as_str())
    })?;
    named
        .iter()
        .map(|each| element(&each.name, &each.key))
        .collect()
}

/// Drops a first element that is only an origin with a colon: `openconfig:/interfaces`.
fn without_origin<T>(parts: &[T], bare: impl Fn(&T) -> Option<&str>) -> Result<&[T]> {
    if let Some((first, rest)) = parts.split_first()
        && let Some(origin) = bare(first).and_then(|name| name.strip_suffix(':'))
        && !origin.is_empty()
    {
        check_origin(origin)?;
        return Ok(rest);
    }
    Ok(parts)
}

fn element<'a>(
    name: &str,
    keys: impl IntoIterator<Item = (&'a String, &'a String)>,
) -> Result<Element> {
    let name = bare(name);
    if name.is_empty() {
        return Err(invalid("an element of the path has no name"));
    }
    let keys = keys.into_iter();
    let mut keys: Vec<_> = keys
        .map(|(name, value)| (bare(name).to_owned(), value.clone()))
        .collect();
    keys.sort();
    Ok(Element {
        name: name.to_owned(),
        keys,
    })
}

/// Without the module that some clients put before a name.
pub(crate) fn bare(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, bare)| bare)
}

pub(crate) fn write(path: &[Element]) -> message::Path {
    message::Path {
        elem: path
            .iter()
            .map(|element| message::PathElem {
                name: element.name.clone(),
                key: element.keys.iter().cloned().collect(),
            })
            .collect(),
        ..message::Path::default()
    }
}

#[cfg(test)]
#[path = "path_message_tests.rs"]
mod tests;
