//! Artifacts: what cannot be run is refused with its place.

use std::sync::OnceLock;

use crate::common::{artifact, options, repository, run};
use phb_pipeline::{LoadError, Pipeline};
use proptest::prelude::*;
use serde_json::{Value, json};

fn load(artifact: &Value) -> Result<Pipeline, LoadError> {
    Pipeline::load(&artifact.to_string(), options())
}

fn refused(change: impl Fn(&mut Value)) -> String {
    let mut artifact = artifact("state");
    change(&mut artifact);
    load(&artifact).expect_err("refused").to_string()
}

/// p4c wrote default transitions without a type once.
#[test]
fn transitions_without_a_type_are_values_or_defaults() {
    let changed = |value: &str| {
        let mut artifact = artifact("state");
        for state in artifact["parsers"][0]["parse_states"]
            .as_array_mut()
            .unwrap()
        {
            for transition in state["transitions"].as_array_mut().unwrap() {
                let transition = transition.as_object_mut().unwrap();
                if transition["type"] == "default" {
                    transition.remove("type");
                    transition.insert("value".into(), value.into());
                }
            }
        }
        artifact
    };
    let error = |value| {
        load(&changed(value))
            .map(|_| ())
            .map_err(|error| error.to_string())
    };
    assert_eq!(error("default"), Ok(()));
    assert_eq!(error("other"), Err("artifact /parsers/0/parse_states/0/transitions/1/value: expected a hexadecimal number, found \"other\"".into()));
}

#[test]
fn what_is_not_supported_is_refused_with_its_place() {
    assert!(load(&artifact("state")).is_ok());
    let primitive = |name: &'static str| {
        move |artifact: &mut Value| {
            artifact["actions"][0]["primitives"] = json!([{"op": name, "parameters": []}])
        }
    };
    for (name, message) in [
        (
            "modify_header",
            "primitive \"modify_header\" is not supported",
        ),
        ("my_extern", "primitive \"my_extern\" is not supported"),
    ] {
        assert_eq!(
            refused(primitive(name)),
            format!("artifact /actions/0/primitives/0/op: {message}")
        );
    }
    let mark =
        json!([{"op": "mark_to_drop", "parameters": [{"type": "header", "value": "request"}]}]);
    assert_eq!(
        refused(|artifact| artifact["actions"][0]["primitives"] = mark.clone()),
        "artifact /actions/0/primitives/0/parameters/0/value: standard metadata have a field egress_spec; these have none"
    );
    assert_eq!(
        refused(|artifact| artifact["calculations"][0]["algo"] = json!("md5")),
        "artifact /calculations/0/algo: hash algorithm \"md5\" is not supported; expected csum16, identity, xor16, \
         xor32, xxh64, random or a CRC"
    );
    assert_eq!(
        refused(|artifact| artifact["register_arrays"][0]["size"] = json!(4_000_000_000u32)),
        format!("artifact /register_arrays/0/size: {TOO_LARGE}")
    );
    assert_eq!(
        refused(|artifact| artifact["header_types"][2]["fields"][0][1] = json!(0)),
        "artifact /header_types/2/fields/0/1: a field of 0 bits"
    );
    assert_eq!(
        refused(|artifact| artifact["parsers"] = json!([])),
        "artifact /parsers: expected exactly one parser"
    );
    assert_eq!(
        refused(|artifact| artifact["__meta__"]["version"] = json!([3, 0])),
        "artifact /__meta__/version: bmv2 JSON version 3; expected 2"
    );
    assert_eq!(
        refused(|artifact| {
            let table = artifact["pipelines"][0]["tables"][0]["name"].clone();
            let next = &mut artifact["pipelines"][0]["tables"][0]["next_tables"];
            let names: Vec<String> = next.as_object().unwrap().keys().cloned().collect();
            next[&names[0]] = table;
        }),
        "artifact /pipelines/0: the control has a loop"
    );
    assert_eq!(
        Pipeline::load("not", options()).unwrap_err().to_string(),
        "artifact /: not JSON: expected ident at line 1 column 2"
    );
}

const TOO_LARGE: &str =
    "this program's counters, registers and meters take more than 268435456 bytes";

/// The limit is on the memory of all arrays together.
#[test]
fn arrays_are_bounded_by_the_memory_they_take() {
    for (array, largest) in [
        ("counter_arrays", 16_700_000),
        ("register_arrays", 33_500_000),
        ("meter_arrays", 1_800_000),
    ] {
        let sized = |size: Value| {
            let mut artifact = artifact("state");
            artifact[array][0]["size"] = size;
            load(&artifact)
                .map(|_| ())
                .map_err(|error| error.to_string())
        };
        assert_eq!(sized(json!(largest)), Ok(()), "{array}");
        for size in [largest * 2, u32::MAX] {
            let expected = format!("artifact /{array}/0/size: {TOO_LARGE}");
            assert_eq!(sized(json!(size)), Err(expected));
        }
        for size in [json!(4_294_967_296u64), json!(-1), json!(1.5), json!("9")] {
            let expected =
                format!("artifact /{array}/0/size: expected a number from 0 to 4294967295");
            assert_eq!(sized(size), Err(expected));
        }
    }
    let together = refused(|artifact| {
        for array in artifact["register_arrays"].as_array_mut().unwrap() {
            array["size"] = json!(12_000_000);
        }
    });
    assert_eq!(
        together,
        format!("artifact /register_arrays/1/size: {TOO_LARGE}")
    );
}

/// A field's third item says whether it is signed: p4c writes false, true, or 0 for a boolean.
#[test]
fn flags_of_a_field() {
    let with = |item: usize, flag: Value| {
        let mut artifact = artifact("state");
        let field = artifact["header_types"][2]["fields"][0]
            .as_array_mut()
            .unwrap();
        field.truncate(2);
        field.resize(item, json!(false));
        field.push(flag);
        load(&artifact)
            .map(|_| ())
            .map_err(|error| error.to_string())
    };
    for signed in [json!(false), json!(true), json!(0), json!(1)] {
        assert_eq!(with(2, signed), Ok(()));
    }
    for other in [json!(2), json!(-1), json!("false"), json!(null)] {
        let expected = "artifact /header_types/2/fields/0/2: expected true or false";
        assert_eq!(with(2, other), Err(expected.to_owned()));
    }
    assert_eq!(with(3, json!(false)), Ok(()));
    assert_eq!(with(3, json!(true)), Ok(()), "a field that saturates");
    let expected = "artifact /header_types/2/fields/0/3: expected true or false";
    assert_eq!(with(3, json!(7)), Err(expected.to_owned()));
}

/// A parser without a first state takes nothing, as in bmv2: the whole frame is payload.
#[test]
fn a_parser_without_a_first_state_extracts_nothing() {
    let frame = [0, 0, 0, 0, 0, 7, 7];
    for change in [
        |parser: &mut Value| drop(parser.as_object_mut().unwrap().remove("init_state")),
        |parser: &mut Value| parser["init_state"] = Value::Null,
        |parser: &mut Value| *parser = json!({"name": "parser", "id": 0, "parse_states": []}),
    ] {
        let mut artifact = artifact("parsing");
        change(&mut artifact["parsers"][0]);
        let mut pipeline = load(&artifact).unwrap();
        let (_, out) = run(&mut pipeline, 0, 1, &frame).unwrap();
        // Before it stands only the header the program adds: no error, no path.
        assert_eq!(out, [&[0; 7][..], &frame].concat());
    }
    let unknown = refused(|artifact| artifact["parsers"][0]["init_state"] = json!("nowhere"));
    assert_eq!(
        unknown,
        "artifact /parsers/0/init_state: no parser state is called \"nowhere\""
    );
}

/// As deep as the loader reads, in a thread with as little stack as tests have.
#[test]
fn deep_expressions_load_and_deeper_are_refused() {
    let nested = |depth: usize| {
        let mut artifact = artifact("state");
        let mut expression = json!({"type": "field", "value": ["request", "index"]});
        for _ in 0..depth {
            expression = json!({"type": "expression", "value": {"op": "~", "left": null, "right": expression}});
        }
        let zero = json!({"type": "hexstr", "value": "0x0"});
        artifact["pipelines"][0]["conditionals"][0]["expression"] =
            json!({"type": "expression", "value": {"op": "==", "left": expression, "right": zero}});
        load(&artifact)
    };
    let mut pipeline = nested(250).unwrap();
    let _ = run(&mut pipeline, 0, 1, &[0; 40]);
    assert!(nested(260).unwrap_err().message.contains("levels deep"));
}

/// Every value in the document, by JSON pointer.
fn places(value: &Value, path: &str, found: &mut Vec<String>) {
    found.push(path.to_owned());
    match value {
        Value::Object(members) => members
            .iter()
            .for_each(|(key, value)| places(value, &format!("{path}/{key}"), found)),
        Value::Array(items) => {
            items
                .iter()
                .enumerate()
                .for_each(|(index, value)| places(value, &format!("{path}/{index}"), found));
        }
        _ => {}
    }
}

/// Every artifact of the repository.
fn all_artifacts() -> &'static [Value] {
    static ALL: OnceLock<Vec<Value>> = OnceLock::new();
    ALL.get_or_init(|| {
        let read = |path| std::fs::read_to_string(path).unwrap();
        repository::artifacts()
            .into_iter()
            .map(|path| serde_json::from_str(&read(path)).unwrap())
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// A damaged artifact is refused or runs; it never brings the switch down.
    #[test]
    fn damage_never_panics(
        which in any::<prop::sample::Index>(),
        damages in prop::collection::vec((any::<prop::sample::Index>(), 0..9u8, 0u32..70_000), 1..4),
        frames in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 8),
    ) {
        let mut artifact = which.get(all_artifacts()).clone();
        for (place, kind, number) in damages {
            let mut found = Vec::new();
            places(&artifact, "", &mut found);
            let other = artifact.pointer(&found[(number as usize * 7919) % found.len()]).cloned();
            let Some(target) = artifact.pointer_mut(place.get(found.as_slice()).as_str()) else { continue };
            *target = match kind {
                0 => Value::Null,
                1 => json!(number % 300),
                2 => json!(number),
                3 => json!(format!("0x{number:x}")),
                4 => json!([]),
                5 => json!({}),
                6 => json!(true),
                7 => json!("-0x3"),
                _ => other.unwrap_or(Value::Null),
            };
        }
        if let Ok(mut pipeline) = load(&artifact) {
            for frame in frames {
                let _ = run(&mut pipeline, 5, 1, &frame);
            }
        }
    }
}
