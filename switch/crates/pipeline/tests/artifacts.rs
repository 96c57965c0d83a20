//! Artifacts: the test programs' are what p4c makes of them, and what cannot be run is refused with its place.

mod common;

use std::process::Command;

use phb_pipeline::{LoadError, Options, Pipeline};
use proptest::prelude::*;
use serde_json::{Value, json};

const PROGRAMS: [&str; 5] = ["arithmetic", "checksums", "matching", "parsing", "state"];

fn folder() -> String {
    format!("{}/tests/programs", env!("CARGO_MANIFEST_DIR"))
}

fn artifact(name: &str) -> Value {
    let text = std::fs::read_to_string(format!("{}/{name}.json", folder())).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Where p4c is installed, compiling again gives the committed artifact.
#[test]
fn artifacts_are_fresh() {
    let out = std::env::temp_dir().join(format!("phb-pipeline-{}.json", std::process::id()));
    for name in PROGRAMS {
        let mut command = Command::new("p4c-bm2-ss");
        command
            .args(["--std", "p4-16", &format!("{name}.p4"), "-o"])
            .arg(&out)
            .current_dir(folder());
        let Ok(result) = command.output() else {
            println!("p4c-bm2-ss is not installed: not checked");
            return;
        };
        assert!(
            result.status.success(),
            "{}",
            String::from_utf8_lossy(&result.stderr)
        );
        let fresh: Value = serde_json::from_str(&std::fs::read_to_string(&out).unwrap()).unwrap();
        assert!(
            fresh == artifact(name),
            "{name}.json is not what p4c makes of {name}.p4"
        );
    }
    std::fs::remove_file(out).unwrap();
}

fn load(artifact: &Value) -> Result<Pipeline, LoadError> {
    Pipeline::load(&artifact.to_string(), Options::default())
}

fn refused(change: impl Fn(&mut Value)) -> String {
    let mut artifact = artifact("state");
    change(&mut artifact);
    load(&artifact).expect_err("refused").to_string()
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
        ("clone_ingress_pkt_to_egress", "clone is not supported"),
        ("resubmit", "resubmit is not supported"),
        ("recirculate", "recirculate is not supported"),
        ("generate_digest", "digest is not supported"),
        ("my_extern", "primitive \"my_extern\" is not supported"),
    ] {
        assert_eq!(
            refused(primitive(name)),
            format!("artifact /actions/0/primitives/0/op: {message}")
        );
    }
    assert_eq!(
        refused(|artifact| artifact["calculations"][0]["algo"] = json!("random")),
        "artifact /calculations/0/algo: hash algorithm \"random\" is not supported; expected crc16, crc32, csum16, \
         identity or xor16"
    );
    assert_eq!(
        refused(|artifact| artifact["register_arrays"][0]["size"] = json!(4_000_000_000u32)),
        "artifact /register_arrays/0/size: more than 67108864 cells in this program's arrays"
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
        Pipeline::load("not", Options::default())
            .unwrap_err()
            .to_string(),
        "artifact /: not JSON: expected ident at line 1 column 2"
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
    let _ = common::run(&mut pipeline, 0, 1, &[0; 40]);
    assert!(nested(260).unwrap_err().message.contains("levels deep"));
}

/// Every value in the document, by JSON pointer.
fn places(value: &Value, path: &str, found: &mut Vec<String>) {
    if path.contains("source_info") {
        return;
    }
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// A damaged artifact is refused or runs; it never brings the switch down.
    #[test]
    fn damage_never_panics(
        which in 0..PROGRAMS.len(),
        damages in prop::collection::vec((any::<prop::sample::Index>(), 0..9u8, 0u32..70_000), 1..4),
        frames in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..80), 8),
    ) {
        let mut artifact = artifact(PROGRAMS[which]);
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
                let _ = common::run(&mut pipeline, 5, 1, &frame);
            }
        }
    }
}
