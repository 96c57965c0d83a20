//! gNMI paths: as the protocol carries them, as text, and as patterns with wildcards.
//!
//! gNMI specification, 2.2.2 and "gNMI path conventions": `*` stands for any name or key, `...` for any number of
//! elements, and a key that is left out for any value of it.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::message;
use crate::refusal::{Result, invalid, quoted};
use crate::schema;

pub(crate) const ANY: &str = "*";
pub(crate) const ANY_DEPTH: &str = "...";

const ORIGIN: &str = "openconfig";

const MOST_ELEMENTS: usize = 32;

/// One level of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Element {
    /// The name of the node.
    pub name: String,
    /// Name and value of each key, ordered by name.
    pub keys: Vec<(String, String)>,
}

impl Element {
    pub(crate) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            keys: Vec::new(),
        }
    }

    pub(crate) fn with_key(name: &str, key: &str, value: &str) -> Self {
        Self {
            name: name.to_owned(),
            keys: vec![(key.to_owned(), value.to_owned())],
        }
    }

    /// Whether this, as a pattern, covers `other`.
    fn matches(&self, other: &Self) -> bool {
        (self.name == ANY || self.name == other.name)
            && self.keys.iter().all(|(name, value)| {
                let known = other.keys.iter().find(|(known, _)| known == name);
                known.is_some_and(|(_, known)| value == ANY || value == known)
            })
    }
}

impl fmt::Display for Element {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.name)?;
        for (name, value) in &self.keys {
            write!(formatter, "[{name}={value}]")?;
        }
        Ok(())
    }
}

/// A path from the root. Its text is what people write: `/interfaces/interface[name=eth0]`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Path(Arc<[Element]>);

impl Path {
    /// This path with further elements without keys.
    pub(crate) fn below(&self, names: &str) -> Self {
        let further = names.split('/').map(Element::new);
        self.iter().cloned().chain(further).collect()
    }

    pub(crate) fn with(&self, element: Element) -> Self {
        self.iter().cloned().chain([element]).collect()
    }
}

impl Deref for Path {
    type Target = [Element];

    fn deref(&self) -> &[Element] {
        &self.0
    }
}

impl std::borrow::Borrow<[Element]> for Path {
    fn borrow(&self) -> &[Element] {
        &self.0
    }
}

impl FromIterator<Element> for Path {
    fn from_iter<T: IntoIterator<Item = Element>>(elements: T) -> Self {
        Self(elements.into_iter().collect())
    }
}

impl fmt::Display for Path {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&text(self))
    }
}

/// A path for people.
pub(crate) fn text(path: &[Element]) -> String {
    let elements: Vec<String> = path.iter().map(ToString::to_string).collect();
    format!("/{}", elements.join("/"))
}

/// Whether it may stand for several paths.
pub(crate) fn is_pattern(path: &[Element]) -> bool {
    path.iter().any(|element| {
        element.name == ANY
            || element.name == ANY_DEPTH
            || element.keys.iter().any(|(_, value)| value == ANY)
    })
}

/// Whether a path is at or below what a pattern stands for, given which pairs of elements match.
///
/// It keeps the set of all depths of `path` that the pattern up to some element may end at: the work is the product of
/// the lengths, however many `...` there are.
pub(crate) fn covers_by<P, E>(
    pattern: &[P],
    path: &[E],
    any_depth: impl Fn(&P) -> bool,
    matches: impl Fn(&P, &E) -> bool,
) -> bool {
    // Bit n stands for depth n. Paths of the models are less than 64 deep; a deeper one is not covered.
    if path.len() >= 64 {
        return false;
    }
    let mut ends = 1_u64;
    for part in pattern {
        if any_depth(part) {
            // From the first end on, any depth.
            let first = ends.trailing_zeros();
            let all = (1_u64 << path.len() << 1).wrapping_sub(1);
            ends = all & (u64::MAX << first);
            continue;
        }
        let mut next = 0;
        for (depth, element) in path.iter().enumerate() {
            if ends >> depth & 1 == 1 && matches(part, element) {
                next |= 1 << (depth + 1);
            }
        }
        if next == 0 {
            return false;
        }
        ends = next;
    }
    true
}

/// Whether a path is at or below what a pattern stands for.
pub(crate) fn covers(pattern: &[Element], path: &[Element]) -> bool {
    covers_by(
        pattern,
        path,
        |part| part.name == ANY_DEPTH,
        Element::matches,
    )
}

/// Brings a path of a request, behind the request's prefix, into our form.
///
/// # Errors
///
/// `InvalidArgument` for an origin that is not ours, or elements that make no sense.
pub(crate) fn read(path: Option<&message::Path>, prefix: Option<&message::Path>) -> Result<Path> {
    let parts = [prefix, path].into_iter().flatten();
    let mut result: Vec<Element> = Vec::new();
    let mut length = 0;
    for part in parts {
        if !part.origin.is_empty() {
            check_origin(&part.origin)?;
        }
        for element in elements(part)? {
            // One after the other they mean no more than one.
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
        // The form of before gNMI 0.4, which the specification keeps for older clients.
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

/// Leaves out a first element that is an origin with a colon, and nothing else: `openconfig:/interfaces`.
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

/// A path as the protocol carries it.
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
mod tests;
