//! Programs for PSA: externs with methods, and artifacts that lack what PSA has. Paths of packets are in the tests of
//! the node.

use phb_pipeline::{MeterRates, Pipeline};
use serde_json::{Value, json};

use crate::common::psa::{artifact, assign, field, header, header_type, paths};
use crate::common::{options, run};

/// The header of a frame: what it is computed of, and what egress or a deparser writes into it.
const WORK: [(&str, u32); 15] = [
    ("a", 8),
    ("b", 8),
    ("c", 16),
    ("first", 4),
    ("second", 4),
    ("crc", 32),
    ("limited", 16),
    ("nibble", 8),
    ("random", 8),
    ("colour", 8),
    ("beyond", 8),
    ("read", 16),
    ("sum", 16),
    ("less", 16),
    ("verified", 8),
];

fn work(name: &str) -> Value {
    field("work", name)
}

fn hexadecimal(value: u64) -> Value {
    json!({"type": "hexstr", "value": format!("0x{value:08x}")})
}

fn call(op: &str, instance: &str, parameters: &[Value]) -> Value {
    let kind = if op.starts_with("register") {
        "register_array"
    } else {
        "extern"
    };
    let first = json!({"type": kind, "value": instance});
    let all: Vec<_> = [first].iter().chain(parameters).cloned().collect();
    json!({"op": op, "parameters": all})
}

fn list(fields: &[&str]) -> Value {
    let fields: Vec<_> = fields.iter().map(|name| work(name)).collect();
    json!({"type": "field_list", "value": fields})
}

fn parser(name: &str, primitives: &[Value]) -> Value {
    let mut operations =
        vec![json!({"op": "extract", "parameters": [{"type": "regular", "value": "work"}]})];
    let wrapped = primitives
        .iter()
        .map(|each| json!({"op": "primitive", "parameters": [each]}));
    operations.extend(wrapped);
    json!({"name": name, "id": 0, "init_state": "start", "parse_states": [{
        "name": "start", "id": 0, "parser_ops": operations, "transition_key": [],
        "transitions": [{"type": "default", "value": null, "mask": null, "next_state": null}],
    }]})
}

fn control(name: &str, action: u32) -> Value {
    let call = json!({"name": "call", "id": 0, "action_id": action, "next_node": null});
    json!({
        "name": name, "id": 0, "init_table": "call", "tables": [], "action_profiles": [], "conditionals": [],
        "action_calls": [call],
    })
}

fn action(id: u32, primitives: Value) -> Value {
    json!({"name": format!("action_{id}"), "id": id, "runtime_data": [], "primitives": primitives})
}

fn instance(name: &str, kind: &str, attributes: Value) -> Value {
    json!({"name": name, "id": 0, "type": kind, "attribute_values": attributes})
}

fn hash(name: &str, algorithm: &str) -> Value {
    let attributes = json!([{"name": "algo", "type": "string", "value": algorithm}]);
    instance(name, "Hash", attributes)
}

/// Ingress calls every extern; the deparsers add up checksums, and the egress parser verifies one.
fn externs() -> Value {
    let out = |name: &str| field("psa_ingress_output_metadata", name);
    let ingress = json!([
        assign(out("drop"), hexadecimal(0)),
        assign(out("egress_port"), hexadecimal(2)),
        call("_Hash_get_hash", "crc32", &[work("crc"), list(&["a", "b", "c"])]),
        call(
            "_Hash_get_hash_mod",
            "crc16",
            &[work("limited"), hexadecimal(100), list(&["a", "b", "c"]), hexadecimal(10)],
        ),
        call("_Hash_get_hash", "identity", &[work("nibble"), list(&["second"])]),
        {"op": "modify_field_rng_uniform", "parameters": [work("random"), hexadecimal(3), hexadecimal(4)]},
        call("_Counter_count", "counter", &[work("a")]),
        call("_Meter_execute", "meter", &[hexadecimal(1), work("colour")]),
        call("_Meter_execute", "meter", &[hexadecimal(9), work("beyond")]),
        {"op": "register_read", "parameters": [
            work("read"), {"type": "register_array", "value": "register"}, hexadecimal(5),
        ]},
        call("register_write", "register", &[hexadecimal(5), work("c")]),
        {"op": "generate_digest", "parameters": [hexadecimal(1)]},
        {"op": "generate_digest", "parameters": [hexadecimal(2)]},
    ]);
    let sum = "_InternetChecksum_add";
    let deparse = json!([
        call("_InternetChecksum_clear", "sum", &[]),
        call(sum, "sum", &[list(&["a", "b", "c"])]),
        call("_InternetChecksum_get", "sum", &[work("sum")]),
        call("_InternetChecksum_get_state", "sum", &[work("less")]),
        call("_InternetChecksum_set_state", "other", &[work("less")]),
        call("_InternetChecksum_subtract", "other", &[list(&["c"])]),
        call("_InternetChecksum_get", "other", &[work("less")]),
        {"op": "set", "parameters": [work("second"), hexadecimal(7)]},
    ]);
    let verify = [
        call(sum, "verified", &[list(&["a", "b", "c"])]),
        call(
            "_InternetChecksum_get_verify",
            "verified",
            &[work("verified"), work("sum")],
        ),
    ];
    let mut made = artifact(
        vec![header_type("work", &WORK)],
        vec![header(0, "work", false)],
        [
            parser("ingress_parser", &[]),
            parser("egress_parser", &verify),
        ],
        [
            json!({"name": "ingress_deparser", "id": 0, "order": ["work"], "primitives": deparse}),
            json!({"name": "egress_deparser", "id": 1, "order": ["work"], "primitives": []}),
        ],
        vec![action(0, ingress), action(1, json!([]))],
        [control("ingress", 0), control("egress", 1)],
    );
    made["counter_arrays"] = json!([{"name": "counter", "id": 0, "size": 256, "is_direct": false}]);
    made["register_arrays"] = json!([{"name": "register", "id": 0, "size": 8, "bitwidth": 16}]);
    made["learn_lists"] = json!([
        {"name": "told", "id": 1, "elements": [work("a"), field("psa_ingress_input_metadata", "ingress_port")]},
        {"name": "told", "id": 2, "elements": [work("b")]},
    ]);
    made["extern_instances"] = json!([
        instance("counter", "Counter", json!([])),
        hash("crc32", "crc32"),
        hash("crc16", "crc16"),
        hash("identity", "identity"),
        instance("meter", "Meter", json!([
            {"name": "is_direct", "type": "hexstr", "value": 0},
            {"name": "n_meters", "type": "hexstr", "value": "0x00000004"},
            {"name": "rate_count", "type": "hexstr", "value": 2},
            {"name": "type", "type": "string", "value": "packets"},
        ])),
        {"name": "sum", "id": 5, "type": "InternetChecksum"},
        {"name": "other", "id": 6, "type": "InternetChecksum"},
        {"name": "verified", "id": 7, "type": "InternetChecksum"},
    ]);
    made
}

/// `1234`, then nibbles; what is written lies behind.
fn frame() -> Vec<u8> {
    let mut frame = vec![0x31, 0x32, 0x33, 0x34, 0x5c];
    frame.resize(5 + 20 + 3, 0xee);
    frame
}

#[test]
fn externs_give_what_the_specification_says() {
    let mut pipeline = Pipeline::load(&externs().to_string(), options()).expect("it loads");
    let rates = MeterRates {
        committed_rate: 1,
        committed_burst: 1,
        peak_rate: 2,
        peak_burst: 2,
        ..MeterRates::default()
    };
    pipeline
        .meter_configure("meter", 1, Some(rates))
        .expect("a meter");
    // Green, yellow, red are 1, 2, 0; so many packets fit the bursts.
    for (number, colour) in [1, 2, 0, 0].into_iter().enumerate() {
        let (port, sent) = run(&mut pipeline, 0, 9, &frame()).expect("it is sent");
        assert_eq!((port, &sent[..4]), (2, &b"1234"[..]));
        assert_eq!(sent[4], 0x57, "a constant that the deparser sets");
        assert_eq!(sent[5..9], 0x9be3_e0a3u32.to_be_bytes(), "CRC-32 of 1234");
        assert_eq!(sent[9..11], 106u16.to_be_bytes(), "100 + CRC-16 modulo 10");
        assert_eq!(sent[11], 0xc, "bits are filled up from the left");
        assert!((3..=4).contains(&sent[12]), "a random number");
        assert_eq!(sent[13], colour);
        assert_eq!(sent[14], 1, "a meter that isn't there is green");
        let before = if number == 0 { 0 } else { 0x3334u16 };
        assert_eq!(sent[15..17], before.to_be_bytes(), "a register");
        assert_eq!(sent[17..19], (!0x6466u16).to_be_bytes());
        assert_eq!(sent[19..21], (!0x3132u16).to_be_bytes(), "less 3334");
        assert_eq!(sent[21], 1, "verified by egress's parser");
        assert_eq!(sent[22..], [0xee; 6]);
    }
    let counts = pipeline.counter_read("counter", 0x31).expect("a counter");
    assert_eq!(counts, (4, 4 * 28));
    let digests = pipeline.take_digests().expect("digests");
    assert_eq!(digests.len(), 2 * 4);
    assert_eq!(digests[0].fields, [vec![0x31], vec![0, 0, 0, 9]]);
    assert_eq!(digests[1].fields, [vec![0x32]]);
    let names: Vec<_> = pipeline
        .digest_lists()
        .into_iter()
        .map(|list| list.name)
        .collect();
    assert_eq!(names, ["told", "told.2"]);
}

#[test]
fn what_psa_has_and_an_artifact_lacks_is_named_with_its_place() {
    type Row<'a> = (&'a str, fn(&mut Value), &'a str);
    let rows: [Row<'_>; 7] = [
        (
            "/parsers",
            |artifact| artifact["parsers"][1]["name"] = json!("parser"),
            "nothing here is called \"egress_parser\", which PSA has",
        ),
        (
            "/deparsers",
            |artifact| artifact["deparsers"][0]["name"] = json!("deparser"),
            "nothing here is called \"ingress_deparser\", which PSA has",
        ),
        (
            "/headers",
            |artifact| artifact["header_types"][5]["fields"][3][0] = json!("dropped"),
            "no metadata psa_ingress_output_metadata with a field drop, which PSA has",
        ),
        (
            "/extern_instances/0",
            |artifact| {
                artifact["extern_instances"] = json!([{"name": "x", "id": 0, "type": "Checksum"}])
            },
            "an extern of type \"Checksum\" is not supported",
        ),
        (
            "/actions/0/primitives/0/op",
            |artifact| artifact["actions"][0]["primitives"][0]["op"] = json!("_Hash_get"),
            "primitive \"_Hash_get\" is not supported",
        ),
        (
            "/extern_instances/0/attribute_values",
            |artifact| {
                artifact["extern_instances"] =
                    json!([{"name": "x", "id": 0, "type": "Meter", "attribute_values": []}]);
            },
            "no attribute \"n_meters\" here",
        ),
        (
            "/extern_instances/0/attribute_values/0/value",
            |artifact| artifact["extern_instances"] = json!([hash("x", "md5")]),
            "hash algorithm \"md5\" is not supported; expected csum16, identity, xor16, xor32, xxh64, random or a CRC",
        ),
    ];
    for (place, change, message) in rows {
        let mut changed = paths();
        change(&mut changed);
        let error = Pipeline::load(&changed.to_string(), options()).expect_err(message);
        assert_eq!(
            (error.path.as_str(), error.message.as_str()),
            (place, message)
        );
    }
}

#[test]
fn native_code_says_why_it_does_not_run_it() {
    let pipeline = Pipeline::load(&paths().to_string(), options()).expect("it loads");
    let told = pipeline.execution().to_string();
    let expected = [
        "interpreted, as asked",
        "interpreted: it is a program for PSA",
    ];
    assert!(expected.contains(&&*told), "{told}");
}

#[test]
fn frames_of_any_length_pass() {
    // What egress puts before a frame; a header that is cut short stays in the frame as it came.
    for (artifact, before) in [(externs(), 0), (paths(), 13)] {
        let mut pipeline = Pipeline::load(&artifact.to_string(), options()).expect("it loads");
        for length in 0..40 {
            // These ask for port 0.
            let frame = vec![0; length];
            let (_, sent) = run(&mut pipeline, 0, 1, &frame).expect("it is sent");
            assert_eq!(sent.len(), before + length);
            if before > 0 {
                assert_eq!(sent[before..], frame);
            }
        }
    }
}
