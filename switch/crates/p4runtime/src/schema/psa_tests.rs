//! Programs for PSA: p4c names their externs by instance in the p4info, and digests not at all in the artifact.

#[path = "../../../pipeline/tests/common/psa.rs"]
mod program;

use phb_pipeline::{Options, Pipeline};
use serde_json::{Value, json};

use super::Schema;
use crate::message::p4info::{
    BitstringKind, BitstringType, DataType, DataTypeKind, Digest, NamedType, P4Info, Preamble,
    StructMember, StructType, TypeInfo, Width,
};
use crate::status::Result;
use prost::Message;

fn data(kind: DataTypeKind) -> Option<DataType> {
    Some(DataType { kind: Some(kind) })
}

/// A struct of numbers of these widths.
fn of_numbers(widths: &[i32]) -> StructType {
    let member = |(number, width): (usize, &i32)| StructMember {
        name: format!("member_{number}"),
        type_spec: data(DataTypeKind::Bitstring(BitstringType {
            kind: Some(BitstringKind::Bit(Width { bitwidth: *width })),
        })),
    };
    StructType {
        members: widths.iter().enumerate().map(member).collect(),
    }
}

/// Digests of structs, by the names of their instances.
fn info(digests: &[(&str, &str)]) -> P4Info {
    let structs = [
        ("short_t".to_owned(), of_numbers(&[8])),
        ("long_t".to_owned(), of_numbers(&[8, 32])),
    ];
    let digest = |(id, (name, of)): (u32, &(&str, &str))| Digest {
        preamble: Some(Preamble {
            id,
            name: (*name).to_owned(),
        }),
        type_spec: data(DataTypeKind::Struct(NamedType {
            name: (*of).to_owned(),
        })),
    };
    P4Info {
        digests: (1..).zip(digests).map(digest).collect(),
        type_info: Some(TypeInfo {
            structs: structs.into(),
            ..TypeInfo::default()
        }),
        ..P4Info::default()
    }
}

/// The lists that p4c makes of calls of `pack`: all of one name.
fn lists() -> Value {
    let field = program::field;
    let port = || field("psa_ingress_input_metadata", "ingress_port");
    json!([
        {"name": "digest", "id": 1, "elements": [field("ask", "class"), port()]},
        {"name": "digest", "id": 2, "elements": [field("ask", "class")]},
        {"name": "digest", "id": 3, "elements": [field("ask", "drop"), port()]},
    ])
}

fn bound(info: &P4Info) -> Result<Schema> {
    let mut artifact = program::paths();
    artifact["learn_lists"] = lists();
    let pipeline = Pipeline::load(&artifact.to_string(), Options::default()).expect("it loads");
    let mut schema = Schema::read(&info.encode_to_vec(), &Default::default())?;
    schema.bind(&pipeline)?;
    Ok(schema)
}

#[test]
fn digests_are_known_by_their_fields() {
    let digests = [("Ingress.short", "short_t"), ("Ingress.long", "long_t")];
    let schema = bound(&info(&digests)).unwrap();
    let native = |id: u32| schema.digests[&id].native.as_str();
    // Both calls with a port are the same digest's.
    assert_eq!((native(1), native(2)), ("digest.2", "digest"));
    assert!(schema.psa.is_some());
}

#[test]
fn a_digest_that_is_never_sent_is_no_disagreement() {
    let schema = bound(&info(&[("a", "long_t"), ("b", "long_t"), ("c", "long_t")])).unwrap();
    assert_eq!(schema.digests[&1].native, "digest");
    assert_eq!(schema.digests[&3].native, "c");
}
