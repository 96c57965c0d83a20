//! Programs for PNA (switch/programs/pna): where packets go, and artifacts that lack what PNA has. Whole runs are in its STF file.

use phb_pipeline::{Entry, Executor, Match, Pipeline, Verdict};
use serde_json::{Value, json};

use crate::common::{artifact, load, options, run};

const NIC: &str = "../../programs/pna/build/pna_nic.json";

fn nic() -> Value {
    let path = format!("{}/{NIC}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// An operation, a port that it may send to, and room for the answer.
fn request(operation: u8, port: u32) -> Vec<u8> {
    let mut frame = vec![operation];
    frame.extend(port.to_be_bytes());
    frame.extend([0; 11]);
    frame
}

#[test]
fn a_packet_goes_where_the_last_call_says() {
    let mut pipeline = load(NIC);
    let rows: [(&str, Vec<_>, u32, Result<u16, Verdict>); 6] = [
        ("send", vec![("port".to_owned(), vec![2])], 0, Ok(2)),
        ("send_as_asked", vec![], 5, Ok(5)),
        ("send_as_asked", vec![], 0x0001_0005, Ok(0xffff)),
        ("send_and_discard", vec![], 0, Err(Verdict::Drop)),
        ("discard_and_send", vec![], 0, Ok(1)),
        ("nothing", vec![], 0, Err(Verdict::Drop)),
    ];
    for (operation, (action, params, port, expected)) in (0..).zip(rows) {
        let key = Match::Exact(vec![operation]);
        let entry = Entry {
            matches: vec![("hdr.request.operation".to_owned(), key)],
            action: format!("NicControl.{action}"),
            params,
            ..Entry::default()
        };
        pipeline
            .table_insert("NicControl.operations", &entry)
            .unwrap();
        let sent = run(&mut pipeline, 0, 9, &request(operation, port));
        assert_eq!(sent.map(|(to, _)| to), expected, "{action}");
    }
}

#[test]
fn native_code_runs_it() {
    let told = load(NIC).execution().to_string();
    assert_eq!(
        told.starts_with("native code"),
        crate::EXECUTOR == Executor::Native,
        "{told}"
    );
}

#[test]
fn what_pna_has_and_an_artifact_lacks_is_named_with_its_place() {
    type Row<'a> = (&'a str, fn(&mut Value), &'a str);
    let rows: [Row<'_>; 3] = [
        (
            "/headers",
            |artifact| {
                let headers = artifact["headers"].as_array_mut().unwrap();
                headers.retain(|header| header["name"] != "pna_main_output_metadata");
            },
            "no metadata pna_main_output_metadata with a field class_of_service, which PNA has",
        ),
        (
            "/pipelines/0/name",
            |artifact| artifact["pipelines"][0]["name"] = json!("main"),
            "a control called \"main\"; expected ingress or egress",
        ),
        (
            "/actions/1/primitives/0/op",
            |artifact| artifact["actions"][1]["primitives"][0]["op"] = json!("mirror_packet"),
            "primitive \"mirror_packet\" is not supported",
        ),
    ];
    for (place, change, message) in rows {
        let mut changed = nic();
        change(&mut changed);
        let error = Pipeline::load(&changed.to_string(), options()).expect_err(message);
        assert_eq!(
            (error.path.as_str(), error.message.as_str()),
            (place, message)
        );
    }
}

#[test]
fn other_programs_send_by_their_metadata() {
    let mut changed = artifact("entries");
    changed["actions"][0]["primitives"] =
        json!([{"op": "send_to_port", "parameters": [{"type": "hexstr", "value": "0x01"}]}]);
    let error = Pipeline::load(&changed.to_string(), options()).expect_err("it is refused");
    assert_eq!(error.message, "send_to_port is PNA's");
}
