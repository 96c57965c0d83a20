//! What artifacts of the first compilers have otherwise in tables and value sets (switch/programs/older/tables.json).

use crate::common::{entry, exact, load, number, options, run, ternary};
use phb_pipeline::{Entry, Group, GroupMember, Indirect, Match, MeterRates, Pipeline};
use serde_json::{Value, json};

const TABLES: &str = "../../programs/older/tables.json";

fn tables() -> Pipeline {
    let mut pipeline = load(TABLES);
    let port = [("port".to_owned(), number(1))];
    pipeline
        .set_default_action("leave", Some(("stamp", &port)))
        .unwrap();
    pipeline
}

/// `chosen`, `seen` and `colour` of the answer to a frame.
fn answer(pipeline: &mut Pipeline, kind: u16, flow: u8, rest: &[u8]) -> [u8; 3] {
    let mut frame = kind.to_be_bytes().to_vec();
    frame.extend([flow, 0, 0, 0]);
    frame.extend_from_slice(rest);
    let (_, out) = run(pipeline, 0, 1, &frame).unwrap();
    assert_eq!(out[6..], *rest);
    out[3..6].try_into().unwrap()
}

#[test]
fn a_table_has_an_action_profile_and_a_selector_of_its_own() {
    let mut pipeline = tables();
    let profiles = pipeline.action_profiles();
    assert_eq!(profiles.len(), 1);
    assert_eq!(
        (profiles[0].name.as_str(), profiles[0].has_selector),
        ("choices", true)
    );
    assert_eq!(profiles[0].tables, ["choose"]);
    for id in 1..=2 {
        let value = [("value".to_owned(), number(id.into()))];
        pipeline
            .profile_member_insert("choices", id, "report", &value)
            .unwrap();
    }
    let members = [1, 2].map(|member| GroupMember {
        member,
        weight: 1,
        watch_port: Vec::new(),
    });
    let group = Group {
        id: 7,
        members: members.to_vec(),
        max_size: 0,
    };
    pipeline.profile_group_insert("choices", &group).unwrap();
    let to = |kind, indirect| Entry {
        indirect: Some(indirect),
        ..entry(&[("h.kind", exact(kind))], 0, "", &[])
    };
    pipeline
        .table_insert("choose", &to(5, Indirect::Member(2)))
        .unwrap();
    pipeline
        .table_insert("choose", &to(6, Indirect::Group(7)))
        .unwrap();
    assert_eq!(answer(&mut pipeline, 5, 0, &[])[0], 2);
    assert_eq!(answer(&mut pipeline, 4, 0, &[])[0], 0);
    // The selector hashes both fields.
    let mut chosen: Vec<u8> = (0..16)
        .map(|flow| answer(&mut pipeline, 6, flow, &[])[0])
        .collect();
    chosen.sort_unstable();
    chosen.dedup();
    assert_eq!(chosen, [1, 2]);
}

#[test]
fn a_value_set_without_a_size_is_seen_by_states_in_other_fields_and_through_masks() {
    let mut pipeline = tables();
    let sets = pipeline.value_sets();
    assert_eq!(sets.len(), 1);
    assert_eq!((sets[0].size, sets[0].bits.as_slice()), (1024, &[16][..]));
    let seen = |pipeline: &mut Pipeline, kind, rest: &[u8]| answer(pipeline, kind, 0, rest)[1];
    assert_eq!(seen(&mut pipeline, 0xa123, &[]), 0);
    let members = [
        vec![Match::Exact(number(0xa123))],
        vec![ternary(0x4050, 0xf0f0)],
    ];
    pipeline.value_set_write("known", &members).unwrap();
    // The whole field; one byte of it, where the member counts all bits of the other; three and thirteen bits.
    for (kind, rest, expected) in [
        (0xa123, &[0, 0][..], 1),
        (0xa124, &[], 3),
        (0x4f5f, &[0, 0], 1),
        (0x4fef, &[], 3),
        (0xb123, &[], 0),
        (0xa123, &[0xa1, 0x23], 2),
        (0xa123, &[0xa1, 0x22], 1),
        (0xa123, &[0x4a, 0x5a], 2),
        (0xa123, &[0x4a, 0xfa], 1),
    ] {
        assert_eq!(
            seen(&mut pipeline, kind, rest),
            expected,
            "{kind:#x} {rest:x?}"
        );
    }
    assert_eq!(pipeline.value_set_read("known").unwrap().len(), 2);
    pipeline.value_set_write("known", &[]).unwrap();
    assert_eq!(seen(&mut pipeline, 0xa124, &[]), 0);
}

#[test]
fn a_table_names_its_meters() {
    let mut pipeline = tables();
    let measured = entry(&[("h.kind", ternary(0, 0))], 1, "pass", &[]);
    pipeline.table_insert("measure", &measured).unwrap();
    let rates = MeterRates {
        committed_rate: 1,
        committed_burst: 1,
        peak_rate: 1,
        peak_burst: 2,
        ..MeterRates::default()
    };
    pipeline
        .direct_meter_configure("measure", Some(&measured), Some(rates))
        .unwrap();
    let colours: Vec<u8> = (0..3)
        .map(|_| answer(&mut pipeline, 0, 0, &[])[2])
        .collect();
    assert_eq!(colours, [0, 1, 2]);
    assert_eq!(
        pipeline
            .direct_counter_read("measure", Some(&measured))
            .unwrap()
            .0,
        3
    );
    let known = pipeline.tables();
    assert_eq!(known[1].direct_meter.as_deref(), Some("colours"));
    assert_eq!(known[1].direct_counter.as_deref(), Some("measured"));
}

/// A failed `verify` ends parsing: what follows is payload.
#[test]
fn an_error_may_be_a_number() {
    let mut pipeline = tables();
    pipeline
        .value_set_write("known", &[vec![Match::Exact(number(9))]])
        .unwrap();
    assert_eq!(answer(&mut pipeline, 9, 0, &[0, 0])[1], 1);
    assert_eq!(answer(&mut pipeline, 9, 0xff, &[0, 0])[1], 0);
}

#[test]
fn what_is_wrong_is_refused_with_its_place() {
    let path = format!("{}/{TABLES}", env!("CARGO_MANIFEST_DIR"));
    let artifact: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let table = |number: usize, key: &'static str, value: Value| {
        move |artifact: &mut Value| artifact["pipelines"][0]["tables"][number][key] = value.clone()
    };
    let state = |number: usize, key: &'static str, value: Value| {
        move |artifact: &mut Value| {
            artifact["parsers"][0]["parse_states"][number][key] = value.clone()
        }
    };
    let checksum = json!([{"name": "sum", "id": 0, "type": "ipv4", "target": ["h", "kind"]}]);
    type Change = Box<dyn Fn(&mut Value)>;
    let cases: [(Change, &str); 7] = [
        (
            Box::new(table(0, "actions", json!(["reports"]))),
            "/pipelines/0/tables/0/actions/0: no action is called \"reports\"",
        ),
        (
            Box::new(table(1, "direct_meters", json!("color"))),
            "/pipelines/0/tables/1/direct_meters: no direct meter is called \"color\"",
        ),
        (
            Box::new(table(0, "act_prof_name", Value::Null)),
            "/pipelines/0/tables/0: no \"action_profile\" here",
        ),
        (
            Box::new(table(2, "max_size", Value::Null)),
            "/pipelines/0/tables/2/max_size: expected a number from 0 to 4294967295",
        ),
        (
            Box::new(state(
                1,
                "transition_key",
                json!([{"type": "field", "value": ["pair", "b"]}]),
            )),
            "/parsers/0/parse_states/1/transitions/0/value: two states select on this value set by keys of different widths",
        ),
        (
            Box::new(move |artifact: &mut Value| artifact["checksums"] = checksum.clone()),
            "/checksums/0/target: a checksum of type \"ipv4\" is 16 bits at byte 10 of its header",
        ),
        (
            Box::new(|artifact: &mut Value| {
                artifact["actions"][0]["primitives"] = json!([{"op": "add", "parameters": []}]);
            }),
            "/actions/0/primitives/0: add takes 3 parameters; found 0",
        ),
    ];
    for (change, expected) in cases {
        let mut changed = artifact.clone();
        change(&mut changed);
        let error = Pipeline::load(&changed.to_string(), options()).unwrap_err();
        assert_eq!(error.to_string(), format!("artifact {expected}"));
    }
}
