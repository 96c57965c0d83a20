//! The leaves that a value of a Set sets.

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json};

use crate::json;
use crate::message::TypedValue;
use crate::message::typed_value::Value as Typed;
use crate::path_message::bare;
use crate::paths::{Element, Path};
use crate::refusal::{Result, wrong};
use crate::schema::{self, Kind, Leaf, Node};
use crate::value::Value;

const MOST_JSON: usize = 64 * 1024;

/// Text that is no JSON is taken as it is up to this length.
const MOST_UNQUOTED: usize = 256;

pub(crate) type Setting = (Path, &'static Leaf, Value);

/// The leaves that a value at a path sets; `InvalidArgument` has the path.
pub(crate) fn flattened(path: &Path, value: Option<&TypedValue>) -> Result<Vec<Setting>> {
    let node = schema::find(path);
    let kind = node.and_then(Node::leaf).map(|leaf| leaf.kind);
    let value = value.and_then(|value| value.value.as_ref());
    let content = match value {
        Some(Typed::JsonVal(data) | Typed::JsonIetfVal(data)) => parsed(path, kind, data)?,
        Some(Typed::StringVal(text) | Typed::AsciiVal(text)) => text.as_str().into(),
        Some(Typed::UintVal(number)) => (*number).into(),
        Some(Typed::IntVal(number)) => (*number).into(),
        Some(Typed::LeaflistVal(list)) if kind == Some(Kind::Uint8s) => {
            let elements = list.element.iter();
            let numbers = elements.map(|element| match element.value {
                Some(Typed::UintVal(number)) => number.into(),
                Some(Typed::IntVal(number)) => number.into(),
                _ => Json::Null,
            });
            numbers.collect()
        }
        Some(Typed::BoolVal(value)) if kind == Some(Kind::Boolean) => (*value).into(),
        other => {
            let field = other.map_or("nothing", Typed::field);
            let message = format!("a value of type {field} fits no leaf here");
            return Err(wrong(path, message));
        }
    };
    let mut found = Vec::new();
    below(path, node, &content, &mut found)?;
    Ok(found)
}

fn parsed(path: &Path, kind: Option<Kind>, data: &[u8]) -> Result<Json> {
    if data.len() > MOST_JSON {
        let length = data.len();
        let message = format!("a document of {length} bytes; no more than {MOST_JSON} are read");
        return Err(wrong(path, message));
    }
    if let Ok(content) = serde_json::from_slice(data) {
        return Ok(content);
    }
    // pygnmi sends text without the quotes that make it JSON.
    let is_text = matches!(
        kind,
        Some(Kind::Text | Kind::Enumeration | Kind::Identity | Kind::NumberOrText)
    );
    if is_text
        && let Ok(text) = std::str::from_utf8(data)
        && !text.is_empty()
        && text.chars().count() <= MOST_UNQUOTED
        && !text.chars().any(char::is_control)
    {
        return Ok(text.into());
    }
    Err(wrong(path, "the value is not JSON"))
}

fn below(
    path: &Path,
    node: Option<&'static Node>,
    content: &Json,
    found: &mut Vec<Setting>,
) -> Result<()> {
    let Some(node) = node else {
        return Err(wrong(path, "the models here have no such node"));
    };
    if let Some(leaf) = node.leaf() {
        found.push((path.clone(), leaf, coerced(path, leaf, content)?));
        return Ok(());
    }
    if let Some(key) = node.key
        && path.last().is_some_and(|last| last.keys.is_empty())
    {
        return entries(path, node, key, content, found);
    }
    let Json::Object(members) = content else {
        let message = format!("expected an object, found {}", words(content));
        return Err(wrong(path, message));
    };
    for (name, member) in members {
        let name = bare(name);
        let path = path.with(Element::new(name));
        below(&path, node.child(name), member, found)?;
    }
    Ok(())
}

fn entries(
    path: &Path,
    node: &'static Node,
    key: &str,
    content: &Json,
    found: &mut Vec<Setting>,
) -> Result<()> {
    let Json::Array(entries) = content else {
        let message = format!("expected a list, found {}", words(content));
        return Err(wrong(path, message));
    };
    for entry in entries {
        let Json::Object(members) = entry else {
            let message = format!("expected a list of objects, found {}", words(entry));
            return Err(wrong(path, message));
        };
        let Some(value) = key_of(members, key) else {
            return Err(wrong(path, format!("an entry has no key {key}")));
        };
        let (parents, element) = (path.iter().rev().skip(1).rev(), &node.name);
        let place: Path = parents
            .cloned()
            .chain([Element::with_key(element, key, &value)])
            .collect();
        below(&place, Some(node), entry, found)?;
    }
    Ok(())
}

/// The key of a list's entry, by its own member. The last of members that differ in module counts.
fn key_of(members: &Map<String, Json>, key: &str) -> Option<String> {
    let mut named = members.iter().filter(|(name, _)| bare(name) == key);
    match named.next_back()?.1 {
        Json::String(text) => Some(text.clone()),
        Json::Number(number) if !number.is_f64() => Some(number.to_string()),
        _ => None,
    }
}

fn coerced(path: &Path, leaf: &Leaf, content: &Json) -> Result<Value> {
    let value = match leaf.kind {
        Kind::Text | Kind::Enumeration => content.as_str().map(Value::text),
        Kind::Identity => content.as_str().map(|text| Value::text(bare(text))),
        Kind::Boolean => content.as_bool().map(Value::Boolean),
        Kind::Int32 => number(content)
            .and_then(|number| i32::try_from(number).ok())
            .map(Value::Signed),
        Kind::Uint8 => uint8(content).map(Value::Unsigned),
        Kind::Uint8s => content.as_array().and_then(|elements| {
            let numbers: Option<BTreeSet<u64>> = elements.iter().map(uint8).collect();
            Some(Value::Numbers(numbers?.into_iter().collect()))
        }),
        Kind::NumberOrText => match content {
            Json::String(text) => Some(Value::text(bare(text))),
            _ => number(content)
                .and_then(|number| u64::try_from(number).ok())
                .map(Value::Unsigned),
        },
        Kind::Uint32 => number(content)
            .and_then(|number| u32::try_from(number).ok())
            .map(|number| Value::Unsigned(u64::from(number))),
        Kind::Uint64 => number(content)
            .and_then(|number| u64::try_from(number).ok())
            .map(Value::Unsigned),
    };
    let expected = leaf.kind.words();
    value.ok_or_else(|| {
        wrong(
            path,
            format!("expected {expected}, found {}", words(content)),
        )
    })
}

fn uint8(content: &Json) -> Option<u64> {
    let number = u8::try_from(number(content)?).ok()?;
    Some(u64::from(number))
}

/// A number, or its text: RFC 7951 writes 64-bit numbers so.
fn number(content: &Json) -> Option<i128> {
    match content {
        Json::Number(number) => number
            .as_u64()
            .map(i128::from)
            .or_else(|| number.as_i64().map(i128::from)),
        Json::String(text) => {
            let digits = text.strip_prefix('-').unwrap_or(text);
            let digits_only = digits.bytes().all(|digit| digit.is_ascii_digit());
            // 64-bit numbers have 20 digits at most.
            (digits_only && digits.len() <= 20)
                .then(|| text.parse().ok())
                .flatten()
        }
        _ => None,
    }
}

fn words(content: &Json) -> String {
    const MOST: usize = 60;
    let mut words = json::written(content);
    if words.len() > MOST {
        words.truncate(MOST - 3);
        words.push_str("...");
    }
    words
}
