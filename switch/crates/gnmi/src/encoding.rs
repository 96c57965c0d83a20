//! Values as gNMI carries them: typed scalars, JSON, and JSON by RFC 7951 (gNMI specification, 2.3).

use phb_p4runtime::status::Code;
use serde_json::{Map, Value as Json};

use crate::json;
use crate::message::encoding::{ASCII, BYTES, JSON, JSON_IETF, PROTO};
use crate::message::typed_value::Value as Typed;
use crate::message::{ScalarArray, TypedValue};
use crate::refusal::{Result, refusal};
use crate::schema::{Kind, Leaf, Node};
use crate::snapshot::Datum;
use crate::value::Value;

pub(crate) const ENCODINGS: [i32; 3] = [JSON, JSON_IETF, PROTO];

/// `Unimplemented` for unsupported encodings (as specified), `InvalidArgument` for unknown ones.
pub(crate) fn check(encoding: i32) -> Result<()> {
    let (code, name) = match encoding {
        JSON | JSON_IETF | PROTO => return Ok(()),
        BYTES => (Code::Unimplemented, "BYTES".to_owned()),
        ASCII => (Code::Unimplemented, "ASCII".to_owned()),
        unknown => (Code::InvalidArgument, unknown.to_string()),
    };
    Err(refusal(code, format!("encoding {name} is not supported")))
}

pub(crate) fn typed(leaf: &Leaf, value: &Value, encoding: i32) -> TypedValue {
    if encoding != PROTO {
        return document(&scalar(leaf, value, encoding), encoding);
    }
    let value = match value {
        Value::Unsigned(number) => Typed::UintVal(*number),
        Value::Signed(number) => Typed::IntVal(i64::from(*number)),
        Value::Text(text) => Typed::StringVal(text.as_ref().to_owned()),
        Value::Boolean(value) => Typed::BoolVal(*value),
        Value::Numbers(numbers) => Typed::LeaflistVal(ScalarArray {
            element: numbers
                .iter()
                .map(|number| Typed::UintVal(*number).into())
                .collect(),
        }),
    };
    value.into()
}

pub(crate) fn document(content: &Json, encoding: i32) -> TypedValue {
    let data = json::written(content).into_bytes();
    let value = if encoding == JSON_IETF {
        Typed::JsonIetfVal(data)
    } else {
        Typed::JsonVal(data)
    };
    value.into()
}

fn scalar(leaf: &Leaf, value: &Value, encoding: i32) -> Json {
    let by_rfc = encoding == JSON_IETF;
    match value {
        // 64 bits are more than JavaScript's numbers hold (RFC 7951, 6.1).
        Value::Unsigned(number) if by_rfc && leaf.kind == Kind::Uint64 => number.to_string().into(),
        Value::Text(text) if by_rfc && leaf.kind == Kind::Identity => {
            format!("{}:{text}", leaf.identity_module).into()
        }
        Value::Unsigned(number) => (*number).into(),
        Value::Signed(number) => (*number).into(),
        Value::Text(text) => text.as_ref().into(),
        Value::Boolean(value) => (*value).into(),
        Value::Numbers(numbers) => numbers.as_ref().into(),
    }
}

/// The JSON document of `node`, to which the paths' first `depth` elements lead. `data` is in a
/// snapshot's order.
pub(crate) fn nested(data: &[Datum<'_>], node: &Node, depth: usize, encoding: i32) -> Json {
    below(data, node, depth, encoding, true)
}

fn below(data: &[Datum<'_>], node: &Node, depth: usize, encoding: i32, top: bool) -> Json {
    if let [only] = data
        && only.path.len() == depth
    {
        return scalar(only.leaf, only.value, encoding);
    }
    let mut result = Map::new();
    for members in data.chunk_by(|one, next| one.path.get(depth) == next.path.get(depth)) {
        let element = members.first().and_then(|datum| datum.path.get(depth));
        let Some(child) = element.and_then(|element| node.child(&element.name)) else {
            continue;
        };
        let inherited = !top && child.module == node.module;
        let name = if encoding != JSON_IETF || inherited {
            child.name.clone()
        } else {
            // RFC 7951, 4: names at the top, or not of the parent's module, carry their module.
            format!("{}:{}", child.module, child.name)
        };
        let content = below(members, child, depth + 1, encoding, false);
        if child.key.is_none() {
            result.insert(name, content);
        } else if let Json::Array(entries) = result
            .entry(name)
            .or_insert_with(|| Json::Array(Vec::new()))
        {
            entries.push(content);
        }
    }
    Json::Object(result)
}
