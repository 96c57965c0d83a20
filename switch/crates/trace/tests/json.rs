//! Lines of JSON: the names of `trace.proto`, without what is zero, empty or false.

use phb_pipeline::trace::{Ahead, CopyKind, Dictionary, Happening, Record};
use phb_trace::About;
use phb_trace::message::{Checksum, Counter, Field, Match, Select, Step, Trace, What};

fn about() -> About<'static> {
    About {
        switch: "s1",
        frame_bytes: 4,
        left_out: 3,
    }
}

fn line(trace: &Trace) -> String {
    let mut line = Vec::new();
    trace.append_json(&mut line);
    String::from_utf8(line).expect("JSON is text")
}

#[test]
fn what_the_switch_notes_is_a_line() {
    let mut record = Record::new(7, 2);
    let happened = [
        (
            1000,
            Happening::Arrived {
                port: 1,
                from_controller: false,
                length: 60,
                bytes: vec![0, 10, 255, 3, 4],
            },
        ),
        (
            1000,
            Happening::Enqueued {
                port: 2,
                rank: Some(0),
                queue: 0,
                depth: 1,
                ahead: 1,
                ahead_bytes: 1500,
                behind: vec![Ahead {
                    trace: 6,
                    rank: Some(u64::MAX),
                    queue: 0,
                    length: 1500,
                    ingress_port: 3,
                    since: 900,
                }],
            },
        ),
        (
            1500,
            Happening::Copied {
                kind: CopyKind::CloneEgress,
                trace: 8,
                group: 5,
            },
        ),
        (
            2000,
            Happening::Dropped {
                reason: "cpu_buffer",
                port: Some(0),
            },
        ),
    ];
    for (time, happening) in happened {
        record.note(time, happening);
    }
    let trace = Trace::of(&Dictionary::default(), &record, &about());
    let expected = concat!(
        r#"{"number":7,"of":2,"switch":"s1","time_ns":1000,"steps":["#,
        r#"{"time_ns":1000,"part":"port","arrived":{"port":1,"length":60,"frame":"000aff03"}},"#,
        r#"{"time_ns":1000,"part":"queue","enqueued":{"port":2,"rank":0,"depth":1,"ahead":1,"ahead_bytes":1500,"#,
        r#""behind":[{"trace":6,"rank":18446744073709551615,"length":1500,"ingress_port":3,"since_ns":900}]}},"#,
        r#"{"time_ns":1500,"part":"egress","copied":{"kind":"clone_egress","trace":8,"group":5}},"#,
        r#"{"time_ns":2000,"part":"port","dropped":{"reason":"cpu_buffer","port":0}}],"#,
        r#""traces_left_out":3}"#,
        "\n"
    );
    assert_eq!(line(&trace), expected);
}

#[test]
fn numbers_of_the_program_are_hexadecimal() {
    let steps = [
        What::Select(Select {
            keys: vec![vec![8, 0], vec![0]],
            next: "parse_\"ipv4\"".to_owned(),
        }),
        What::Checksum(Checksum {
            field: "ipv4.checksum".to_owned(),
            computed: vec![0, 1],
            carried: Vec::new(),
        }),
        What::Counter(Counter {
            beyond: true,
            ..Counter::default()
        }),
        What::Table(phb_trace::message::Table {
            key: vec![Field {
                name: "a".to_owned(),
                value: vec![0; 40],
            }],
            hit: Some(phb_trace::message::Entry {
                priority: Some(0),
                matches: vec![Match {
                    kind: "ternary".to_owned(),
                    value: vec![1],
                    second: vec![255],
                    length: 0,
                }],
                ..Default::default()
            }),
            ..Default::default()
        }),
    ];
    let steps = steps.into_iter().map(|what| Step {
        what: Some(what),
        ..Step::default()
    });
    let trace = Trace {
        steps: steps.collect(),
        ..Trace::default()
    };
    let zeros = "0".repeat(80);
    let expected = [
        r#"{"select":{"keys":["0x0800","0x00"],"next":"parse_\"ipv4\""}}"#,
        r#"{"checksum":{"field":"ipv4.checksum","computed":"0x0001"}}"#,
        r#"{"counter":{"beyond":true}}"#,
        &format!(
            r#"{{"table":{{"key":[{{"name":"a","value":"0x{zeros}"}}],"hit":{{"priority":0,"matches":[{{"kind":"ternary","value":"0x01","second":"0xff"}}]}}}}}}"#
        ),
    ];
    assert_eq!(
        line(&trace),
        format!("{{\"steps\":[{}]}}\n", expected.join(","))
    );
}

#[test]
fn a_stream_of_messages_is_read_back() {
    use prost::Message;
    let record = Record::new(9, 0);
    let trace = Trace::of(&Dictionary::default(), &record, &about());
    let mut bytes = Vec::new();
    trace.append_protobuf(&mut bytes);
    trace.append_protobuf(&mut bytes);
    let mut rest = &bytes[..];
    for _ in 0..2 {
        let read = Trace::decode_length_delimited(&mut rest);
        assert_eq!(read, Ok(trace.clone()));
    }
    assert!(rest.is_empty());
}
