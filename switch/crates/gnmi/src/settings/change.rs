//! The settings after a request.

use super::{Settings, add_interfaces, at_or_below, set};
use crate::flatten::flattened;
use crate::message::{Path as GivenPath, SetRequest, TypedValue, Update};
use crate::path_message::read;
use crate::paths::{ANY, Element, Path, is_pattern};
use crate::pattern::Pattern;
use crate::refusal::{Result, invalid, quoted, wrong};
use crate::schema::{self, Kind};
use crate::value::Value;

const MOST_OPERATIONS: usize = 1024;

/// Bytes of any name.
const LONGEST_NAME: usize = 256;

const MOST_POLICIES: usize = 1024;

/// A port has one, so policies with more are useless.
const MOST_SCHEDULERS: usize = 1024;

/// Checked after each operation, to limit the copy that a request works on.
const MOST_LEAVES: usize = 65_536;

pub(crate) fn check_size(request: &SetRequest) -> Result<()> {
    let operations = request.delete.len()
        + request.replace.len()
        + request.update.len()
        + request.union_replace.len();
    if operations > MOST_OPERATIONS {
        return Err(invalid(format!(
            "a Set of {operations} operations; no more than {MOST_OPERATIONS} are done at once"
        )));
    }
    Ok(())
}

/// The settings after a request: deletes, replaces, then updates (gNMI specification, 3.4.3).
/// `InvalidArgument` has the path.
pub(crate) fn changed<'a>(
    settings: &Settings,
    request: &SetRequest,
    interfaces: impl Iterator<Item = &'a String>,
) -> Result<Settings> {
    check_size(request)?;
    if !request.union_replace.is_empty() {
        return Err(invalid("union_replace is not supported"));
    }
    let mut result = settings.clone();
    let prefix = request.prefix.as_ref();
    for deleted in &request.delete {
        delete(&mut result, read(Some(deleted), prefix)?)?;
    }
    for replaced in &request.replace {
        let path = concrete(replaced, prefix)?;
        delete(&mut result, path.clone())?;
        update(&mut result, &path, replaced.val.as_ref())?;
    }
    for updated in &request.update {
        let path = concrete(updated, prefix)?;
        update(&mut result, &path, updated.val.as_ref())?;
    }
    add_interfaces(&mut result, interfaces);
    check_numbers(&result)?;
    Ok(result)
}

/// The path of an update: one place in the tree, or a whole list.
fn concrete(update: &Update, prefix: Option<&GivenPath>) -> Result<Path> {
    let path = read(update.path.as_ref(), prefix)?;
    if is_pattern(&path) {
        return Err(wrong(&path, "a wildcard can't be set"));
    }
    let mut node = Some(schema::root());
    for (at, element) in path.iter().enumerate() {
        node = node.and_then(|node| node.child(&element.name));
        let key = node.and_then(|node| node.key);
        let given = element.keys.iter().map(|(name, _)| name.as_str());
        let is_whole_list = at + 1 == path.len() && element.keys.is_empty();
        if !given.eq(key) && !is_whole_list {
            let expected = key.map_or_else(|| "no key".to_owned(), |key| format!("the key {key}"));
            let message = format!("{}: expected {expected}", element.name);
            return Err(wrong(&path, message));
        }
    }
    Ok(path)
}

fn delete(settings: &mut Settings, path: Path) -> Result<()> {
    if !is_pattern(&path) {
        let Some(node) = schema::find(&path) else {
            return Err(wrong(&path, "the models here have no such node"));
        };
        if node.leaf().is_some_and(|leaf| !leaf.writable) {
            return Err(wrong(&path, "can't be set"));
        }
    }
    let pattern = Pattern::new(path);
    let literal = literal(pattern.path());
    let gone: Vec<Path> = at_or_below(settings, literal)
        .filter(|(each, _)| schema::leaf(each).is_some_and(|leaf| pattern.covers(each, leaf)))
        .map(|(each, _)| each.clone())
        .collect();
    for each in &gone {
        settings.remove(each);
    }
    for each in &gone {
        restore_keys(settings, each);
    }
    Ok(())
}

/// Restores the keys of the entry that `gone` was in, unless the whole entry has gone.
fn restore_keys(settings: &mut Settings, gone: &Path) {
    let keyed = gone.iter().rposition(|element| !element.keys.is_empty());
    let Some(entry) = keyed.and_then(|last| gone.get(..=last)) else {
        return;
    };
    let left = at_or_below(settings, entry).next();
    if let Some((path, value)) = left.map(|(path, value)| (path.clone(), value.clone())) {
        set(settings, path, value);
    }
}

/// The first elements without wildcards: all matches lie below them.
fn literal(pattern: &[Element]) -> &[Element] {
    let mut node = Some(schema::root());
    let differs = pattern.iter().position(|element| {
        node = node.and_then(|node| node.child(&element.name));
        let Some(node) = node else {
            return true;
        };
        let keys = element.keys.iter().map(|(name, _)| name.as_str());
        !keys.eq(node.key) || element.keys.iter().any(|(_, value)| value == ANY)
    });
    &pattern[..differs.unwrap_or(pattern.len())]
}

fn update(settings: &mut Settings, path: &Path, value: Option<&TypedValue>) -> Result<()> {
    for (place, leaf, content) in flattened(path, value)? {
        if !leaf.writable {
            return Err(wrong(&place, "can't be set"));
        }
        check_keys(&place)?;
        if let Value::Text(text) = &content {
            check_name(&place, text)?;
        }
        set(settings, place.clone(), content.clone());
        if settings.get(&place) != Some(&content) {
            let message = format!("found {content}, which is not the key");
            return Err(wrong(&place, message));
        }
    }
    if settings.len() > MOST_LEAVES {
        let message = format!("there would be more than {MOST_LEAVES} settings");
        return Err(wrong(path, message));
    }
    Ok(())
}

fn check_keys(path: &Path) -> Result<()> {
    let mut node = Some(schema::root());
    for element in path.iter() {
        node = node.and_then(|node| node.child(&element.name));
        for (key, text) in &element.keys {
            check_name(path, text)?;
            let leaf = node.and_then(|node| node.child(key)?.leaf());
            if leaf.is_some_and(|leaf| leaf.kind == Kind::Uint32) && !is_uint32(text) {
                let expected = Kind::Uint32.words();
                let message = format!("{key}: expected {expected}, found {}", quoted(text));
                return Err(wrong(path, message));
            }
        }
    }
    Ok(())
}

/// Whether it is a 32-bit number in its canonical form.
fn is_uint32(text: &str) -> bool {
    let number: Option<u32> = text.parse().ok();
    number.is_some_and(|number| number.to_string() == text)
}

fn check_name(path: &Path, text: &str) -> Result<()> {
    let length = text.len();
    if length > LONGEST_NAME {
        let message = format!("a name of {length} bytes; no more than {LONGEST_NAME} are kept");
        return Err(wrong(path, message));
    }
    Ok(())
}

fn check_numbers(settings: &Settings) -> Result<()> {
    let policies = Path::from_iter(["qos", "scheduler-policies"].map(Element::new));
    let (mut names, mut sequences) = (0, 0);
    for (path, _) in at_or_below(settings, &policies) {
        match (path.len(), path.last().map(|last| last.name.as_str())) {
            (4, Some("name")) => names += 1,
            (6, Some("sequence")) => sequences += 1,
            _ => {}
        }
    }
    for (what, found, most) in [
        ("scheduler policies", names, MOST_POLICIES),
        ("schedulers", sequences, MOST_SCHEDULERS),
    ] {
        if found > most {
            let message = format!("there would be {found} {what}; no more than {most} are kept");
            return Err(wrong(&policies, message));
        }
    }
    Ok(())
}
