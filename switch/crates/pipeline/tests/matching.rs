//! Tables through the runtime interface (programs/matching.p4).

use crate::common::{artifact, entry, exact, load, lpm, number, options, range, run, ternary};
use phb_pipeline::{Code, Entry, Match, MatchKind, Pipeline, Verdict};
use serde_json::json;

const EXACT: &str = "IngressControl.exact_table";
const LPM: &str = "IngressControl.lpm_table";
const PRIORITY: &str = "IngressControl.priority_table";
const CONSTANT: &str = "IngressControl.constant_table";
const SET: &str = "IngressControl.set";

fn pipeline() -> Pipeline {
    load("tests/programs/matching.json")
}

fn frame(what: u8, address: u32, port: u16, tos: u8, wide: u128) -> Vec<u8> {
    [
        &[what][..],
        &address.to_be_bytes(),
        &port.to_be_bytes(),
        &[tos],
        &wide.to_be_bytes(),
    ]
    .concat()
}

/// Value, path, data.
fn look(pipeline: &mut Pipeline, ingress_port: u16, frame: &[u8]) -> (u8, u8, u128) {
    let (_, out) = run(pipeline, 0, ingress_port, frame).unwrap();
    (
        out[0],
        out[1],
        u128::from_be_bytes(out[2..18].try_into().unwrap()),
    )
}

fn set(matches: &[(&str, Match)], priority: i32, value: u128) -> Entry {
    entry(matches, priority, SET, &[("value", value)])
}

#[test]
fn exact_match_with_direct_counter() {
    let mut pipeline = pipeline();
    let matches = [
        ("hdr.key.isValid()", exact(1)),
        ("address", exact(0x02_0304)),
        ("hdr.key.wide", exact(1 << 127)),
    ];
    let data = entry(
        &matches,
        0,
        "IngressControl.set_data",
        &[("data", 0xabcd << 100)],
    );
    pipeline.table_insert(EXACT, &data).unwrap();
    assert_eq!(
        look(&mut pipeline, 1, &frame(1, 0x0102_0304, 0, 0, 1 << 127)),
        (0, 0x81, 0xabcd << 100)
    );
    assert_eq!(
        look(&mut pipeline, 1, &frame(1, 0x0102_0304, 0, 0, 1 << 126)),
        (0, 0x82, 0)
    );
    pipeline.table_modify(EXACT, &set(&matches, 0, 9)).unwrap();
    assert_eq!(
        look(&mut pipeline, 1, &frame(1, 0x0102_0304, 0, 0, 1 << 127)),
        (9, 0x81, 0)
    );
    assert_eq!(
        pipeline.direct_counter_read(EXACT, Some(&data)).unwrap(),
        (2, 48)
    );
    pipeline
        .direct_counter_write(EXACT, Some(&data), (7, 8))
        .unwrap();
    assert_eq!(
        pipeline.direct_counter_read(EXACT, Some(&data)).unwrap(),
        (7, 8)
    );
    // The default entry counts what misses: one packet before the entry was modified.
    assert_eq!(pipeline.direct_counter_read(EXACT, None).unwrap(), (1, 24));
    pipeline.direct_counter_write(EXACT, None, (5, 6)).unwrap();
    // Without the header its fields are matched as zero.
    let absent = [
        ("hdr.key.$valid$", exact(0)),
        ("address", exact(0)),
        ("hdr.key.wide", exact(0)),
    ];
    pipeline.table_insert(EXACT, &set(&absent, 0, 5)).unwrap();
    assert_eq!(look(&mut pipeline, 1, &[0xff]), (5, 0x81, 0));
    assert_eq!(
        look(&mut pipeline, 1, &frame(5, 1, 0, 0, 1)),
        (5, 0x81, 0),
        "made invalid"
    );
    assert_eq!(pipeline.table_entries(EXACT).unwrap().len(), 2);
    pipeline.table_delete(EXACT, &data).unwrap();
    assert_eq!(
        look(&mut pipeline, 1, &frame(1, 0x0102_0304, 0, 0, 1 << 127)).1,
        0x82
    );
    assert_eq!(pipeline.direct_counter_read(EXACT, None).unwrap(), (6, 30));
    pipeline.clear();
    assert_eq!(pipeline.direct_counter_read(EXACT, None).unwrap(), (0, 0));
    assert_eq!(look(&mut pipeline, 1, &[0xff]).1, 0x82);
    assert_eq!(pipeline.direct_counter_read(EXACT, None).unwrap(), (1, 1));
}

#[test]
fn longest_prefix_and_what_follows_an_action() {
    let mut pipeline = pipeline();
    let mut insert = |prefix: Match, action: &str, params: &[(&str, u128)]| {
        let entry = entry(
            &[("hdr.key.address", prefix), ("hdr.key.tos", exact(3))],
            0,
            action,
            params,
        );
        pipeline.table_insert(LPM, &entry).unwrap();
    };
    insert(lpm(0x0a00_0000, 8), SET, &[("value", 1)]);
    insert(lpm(0x0a01_0000, 16), SET, &[("value", 2)]);
    insert(lpm(0x0a01_0203, 32), "IngressControl.drop", &[]);
    insert(lpm(0, 0), SET, &[("value", 77)]);
    assert_eq!(
        look(&mut pipeline, 1, &frame(2, 0x0a02_0000, 0, 3, 0)),
        (1, 0x83, 0)
    );
    assert_eq!(
        look(&mut pipeline, 1, &frame(2, 0x0a01_0000, 0, 3, 0)),
        (2, 0x83, 0)
    );
    assert_eq!(
        run(&mut pipeline, 0, 1, &frame(2, 0x0a01_0203, 0, 3, 0)),
        Err(Verdict::Drop)
    );
    assert_eq!(
        run(&mut pipeline, 0, 1, &frame(2, 0x0b01_0203, 0, 3, 0)),
        Err(Verdict::Drop),
        "dropped in egress"
    );
    assert_eq!(
        look(&mut pipeline, 1, &frame(2, 0x0a01_0203, 0, 4, 0)),
        (99, 0x83, 0),
        "default action"
    );
    pipeline
        .set_default_action(LPM, Some((SET, &[("value".into(), vec![55])])))
        .unwrap();
    assert_eq!(
        look(&mut pipeline, 1, &frame(2, 0x0a01_0203, 0, 4, 0)).0,
        55
    );
    assert_eq!(pipeline.default_action(LPM).unwrap().unwrap().1[0].1, [55]);
    pipeline.set_default_action(LPM, None).unwrap();
    assert_eq!(
        look(&mut pipeline, 1, &frame(2, 0x0a01_0203, 0, 4, 0)).0,
        99
    );
}

#[test]
fn the_larger_priority_wins() {
    let mut pipeline = pipeline();
    let mut insert = |matches: &[(&str, Match)], priority, value| {
        pipeline
            .table_insert(PRIORITY, &set(matches, priority, value))
            .unwrap();
    };
    insert(&[], 1, 1);
    insert(&[("hdr.key.port", range(100, 199))], 2, 2);
    insert(
        &[
            ("hdr.key.port", range(150, 150)),
            ("hdr.key.tos", ternary(0x20, 0xe0)),
        ],
        3,
        3,
    );
    insert(
        &[("standard.ingress_port", Match::Optional(Some(number(7))))],
        4,
        4,
    );
    insert(&[("hdr.key.wide", ternary(5 << 120, 0xff << 120))], 5, 5);
    let mut value = |port, frame: &[u8]| look(&mut pipeline, port, frame).0;
    assert_eq!(value(1, &frame(3, 0, 99, 0, 0)), 1);
    assert_eq!(value(1, &frame(3, 0, 100, 0, 0)), 2);
    assert_eq!(value(1, &frame(3, 0, 150, 0x3f, 0)), 3);
    assert_eq!(value(1, &frame(3, 0, 150, 0x4f, 0)), 2);
    assert_eq!(value(7, &frame(3, 0, 150, 0x3f, 0)), 4);
    assert_eq!(value(7, &frame(3, 0, 150, 0x3f, 5 << 120 | 9)), 5);
    assert_eq!(
        pipeline.table_entries(PRIORITY).unwrap()[2].matches.len(),
        2
    );
    pipeline.table_delete(PRIORITY, &set(&[], 1, 0)).unwrap();
    assert_eq!(look(&mut pipeline, 1, &frame(3, 0, 99, 0, 0)).0, 98);
}

#[test]
fn constant_entries_are_in_program_order() {
    let mut pipeline = pipeline();
    let mut value = |port, tos| look(&mut pipeline, 1, &frame(4, 0, port, tos, 0));
    assert_eq!(value(15, 0x80), (1, 0x80, 0));
    assert_eq!(value(15, 0), (2, 0x80, 0));
    assert_eq!(value(16, 0), (3, 0x80, 0));
    assert_eq!(value(31, 0), (0, 0x85, 0));
    let error = pipeline
        .table_insert(CONSTANT, &set(&[], 1, 1))
        .unwrap_err();
    assert_eq!(error.code, Code::PermissionDenied);
    pipeline.clear();
    assert_eq!(look(&mut pipeline, 1, &frame(4, 0, 15, 0, 0)).0, 2);
}

#[test]
fn refusals_say_what_was_expected() {
    let mut pipeline = pipeline();
    let mut refusal = |table: &str, entry: Entry| {
        let error = pipeline.table_insert(table, &entry).unwrap_err();
        (error.code, error.message)
    };
    let tos = || ("hdr.key.tos", exact(1));
    let cases = [
        (
            refusal("nowhere", set(&[], 0, 1)),
            Code::NotFound,
            "no table is called nowhere",
        ),
        (
            refusal(LPM, set(&[("hdr.key.address", lpm(0, 33)), tos()], 0, 1)),
            Code::InvalidArgument,
            "table IngressControl.lpm_table, field hdr.key.address: a prefix of 33 bits in a field of 32",
        ),
        (
            refusal(LPM, set(&[("hdr.key.address", lpm(1, 8)), tos()], 0, 1)),
            Code::InvalidArgument,
            "table IngressControl.lpm_table, field hdr.key.address: value 0x1 has bits outside its mask 0xff000000",
        ),
        (
            refusal(LPM, set(&[("hdr.key.tos", exact(256))], 0, 1)),
            Code::InvalidArgument,
            "table IngressControl.lpm_table, field hdr.key.tos: value 0x0100 does not fit 8 bits",
        ),
        (
            refusal(LPM, set(&[("hdr.key.address", lpm(0, 8))], 0, 1)),
            Code::InvalidArgument,
            "table IngressControl.lpm_table, field hdr.key.tos: an exact field needs a value",
        ),
        (
            refusal(LPM, set(&[tos(), ("port", exact(1))], 0, 1)),
            Code::InvalidArgument,
            "table IngressControl.lpm_table has no key field port; it has hdr.key.address, hdr.key.tos",
        ),
        (
            refusal(LPM, set(&[tos(), tos()], 0, 1)),
            Code::InvalidArgument,
            "table IngressControl.lpm_table, field hdr.key.tos: given twice",
        ),
        (
            refusal(LPM, set(&[tos()], 3, 1)),
            Code::InvalidArgument,
            "table IngressControl.lpm_table: priority 3 in a table without priorities",
        ),
        (
            refusal(PRIORITY, set(&[], 0, 1)),
            Code::InvalidArgument,
            "table IngressControl.priority_table: priority 0 where one above zero is needed",
        ),
        (
            refusal(PRIORITY, set(&[("hdr.key.port", range(2, 1))], 1, 1)),
            Code::InvalidArgument,
            "table IngressControl.priority_table, field hdr.key.port: the range from 0x2 to 0x1 is empty",
        ),
        (
            refusal(PRIORITY, set(&[("hdr.key.port", exact(2))], 1, 1)),
            Code::InvalidArgument,
            "table IngressControl.priority_table, field hdr.key.port: expected a match of kind Range",
        ),
        (
            refusal(
                PRIORITY,
                set(
                    &[(
                        "hdr.key.tos",
                        Match::Ternary {
                            value: vec![],
                            mask: vec![1],
                        },
                    )],
                    1,
                    1,
                ),
            ),
            Code::InvalidArgument,
            "table IngressControl.priority_table, field hdr.key.tos: an empty value; expected 8 bits",
        ),
        (
            refusal(PRIORITY, entry(&[], 1, "nothing", &[])),
            Code::InvalidArgument,
            "table IngressControl.priority_table has no action nothing; it has IngressControl.set, \
             IngressControl.set_data, IngressControl.drop",
        ),
        (
            refusal(PRIORITY, entry(&[], 1, SET, &[("value", 256)])),
            Code::InvalidArgument,
            "table IngressControl.priority_table, action IngressControl.set, parameter value: value 0x0100 does not fit \
             8 bits",
        ),
        (
            refusal(PRIORITY, entry(&[], 1, SET, &[])),
            Code::InvalidArgument,
            "table IngressControl.priority_table, action IngressControl.set: expected parameter value once",
        ),
        (
            refusal(PRIORITY, entry(&[], 1, SET, &[("value", 1), ("more", 1)])),
            Code::InvalidArgument,
            "table IngressControl.priority_table, action IngressControl.set: no parameter more",
        ),
    ];
    for ((code, message), expected_code, expected) in cases {
        assert_eq!((code, message.as_str()), (expected_code, expected));
    }
    let first = set(&[("hdr.key.port", range(1, 2))], 1, 1);
    pipeline.table_insert(PRIORITY, &first).unwrap();
    assert_eq!(
        pipeline.table_insert(PRIORITY, &first).unwrap_err().code,
        Code::AlreadyExists
    );
    assert_eq!(
        pipeline
            .table_delete(
                PRIORITY,
                &Entry {
                    priority: 2,
                    ..first
                }
            )
            .unwrap_err()
            .code,
        Code::NotFound
    );
    assert_eq!(
        pipeline
            .set_default_action(PRIORITY, None)
            .unwrap_err()
            .code,
        Code::PermissionDenied,
        "its default action is const"
    );
    let exact = |value| {
        set(
            &[
                ("hdr.key.isValid()", exact(1)),
                ("address", exact(value)),
                ("hdr.key.wide", exact(0)),
            ],
            0,
            1,
        )
    };
    for value in 0..4 {
        pipeline.table_insert(EXACT, &exact(value)).unwrap();
    }
    assert_eq!(
        pipeline.table_insert(EXACT, &exact(4)).unwrap_err().code,
        Code::ResourceExhausted
    );
}

#[test]
fn tables_describe_themselves() {
    let tables = pipeline().tables();
    let table = tables.iter().find(|table| table.name == EXACT).unwrap();
    assert_eq!(
        table.direct_counter.as_deref(),
        Some("IngressControl.exact_counter")
    );
    assert_eq!(
        (table.size, table.has_priorities, table.constant_entries),
        (4, false, false)
    );
    assert_eq!(
        (
            table.keys[1].name.as_str(),
            table.keys[1].kind,
            table.keys[1].bits
        ),
        ("address", MatchKind::Exact, 32)
    );
    let action = table
        .actions
        .iter()
        .find(|action| action.name == "IngressControl.set_data")
        .unwrap();
    assert_eq!(action.params, [("data".to_owned(), 128)]);
    assert!(
        tables
            .iter()
            .find(|table| table.name == CONSTANT)
            .unwrap()
            .constant_entries
    );
}

/// A key field that is chosen between two values takes jumps to compute.
#[test]
fn a_key_that_takes_a_decision() {
    let mut artifact = artifact("matching");
    let field = |name: &str| json!({"type": "field", "value": ["key", name]});
    let low =
        json!({"op": "<", "left": field("port"), "right": {"type": "hexstr", "value": "0x0a"}});
    let chosen = json!({"op": "?", "cond": low, "left": field("tos"), "right": {"type": "hexstr", "value": "0x63"}});
    let tables = artifact["pipelines"][0]["tables"].as_array_mut().unwrap();
    let table = tables.iter_mut().find(|table| table["name"] == LPM);
    table.unwrap()["key"][1]["target"] = json!({"type": "expression", "value": chosen});
    let mut pipeline = Pipeline::load(&artifact.to_string(), options()).unwrap();
    for (tos, value) in [(5, 50), (0x63, 60)] {
        let matches = [("hdr.key.address", lpm(0, 0)), ("hdr.key.tos", exact(tos))];
        pipeline
            .table_insert(LPM, &set(&matches, 0, value))
            .unwrap();
    }
    let mut value = |port, tos| look(&mut pipeline, 1, &frame(2, 1, port, tos, 0)).0;
    assert_eq!([value(9, 5), value(10, 5), value(10, 7)], [50, 60, 60]);
    assert_eq!(value(9, 6), 99, "no entry");
}
