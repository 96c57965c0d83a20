//! gNMI paths as text and as patterns with wildcards.
//!
//! gNMI specification, 2.2.2 and "gNMI path conventions": `*` stands for any name or key, `...` for any number of
//! elements, and a key that is left out for any value of it.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

pub(crate) const ANY: &str = "*";
pub(crate) const ANY_DEPTH: &str = "...";

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

pub(crate) fn text(path: &[Element]) -> String {
    let elements: Vec<String> = path.iter().map(ToString::to_string).collect();
    format!("/{}", elements.join("/"))
}

/// Reads a path as people write it; in a key, a backslash stands before `]` and itself (gNMI path conventions).
pub(crate) fn parsed(text: &str) -> Option<Path> {
    let mut rest = text.strip_prefix('/')?;
    let mut elements = Vec::new();
    loop {
        let end = rest.find(['/', '[']).unwrap_or(rest.len());
        let mut element = Element::new(&rest[..end]);
        rest = &rest[end..];
        while let Some(key) = rest.strip_prefix('[') {
            let (name, value) = key.split_once('=')?;
            let (value, behind) = key_value(value)?;
            element.keys.push((name.to_owned(), value));
            rest = behind;
        }
        if element.name.is_empty() {
            return None;
        }
        element.keys.sort();
        elements.push(element);
        if rest.is_empty() {
            return Some(elements.into_iter().collect());
        }
        rest = rest.strip_prefix('/')?;
    }
}

/// A key's value up to its bracket, and what is behind that.
fn key_value(text: &str) -> Option<(String, &str)> {
    let mut value = String::new();
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            ']' => return Some((value, &text[at + 1..])),
            '\\' => value.push(characters.next()?.1),
            other => value.push(other),
        }
    }
    None
}

pub(crate) fn is_pattern(path: &[Element]) -> bool {
    path.iter().any(|element| {
        element.name == ANY
            || element.name == ANY_DEPTH
            || element.keys.iter().any(|(_, value)| value == ANY)
    })
}

/// As [`covers`], given which pairs of elements match.
/// Keeps the set of depths of `path` where the pattern so far may end: the work is the product of
/// the lengths, however many `...` there are.
pub(crate) fn covers_by<P, E>(
    pattern: &[P],
    path: &[E],
    any_depth: impl Fn(&P) -> bool,
    matches: impl Fn(&P, &E) -> bool,
) -> bool {
    // Bit n stands for depth n. The models' paths are less than 64 deep.
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

#[cfg(test)]
pub(crate) mod tests;
