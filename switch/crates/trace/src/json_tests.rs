//! Lines of JSON: the names of `trace.proto`, without what is zero, empty or false.

use phb_pipeline::trace::{Ahead, CopyKind, Part, Tracer};
use phb_pipeline::{Options, Pipeline, QueueMetadata};
use prost::Message as _;

use super::*;
use crate::message::Trace;

fn about() -> About<'static> {
    About {
        switch: "s1",
        frame_bytes: 4,
        left_out: 3,
    }
}

fn line(dictionary: &Dictionary, record: &Record) -> String {
    let mut line = Vec::new();
    append_json(dictionary, record, &about(), &mut line);
    String::from_utf8(line).expect("JSON is text")
}

/// The same by way of its message.
fn line_of_message(dictionary: &Dictionary, record: &Record) -> String {
    let trace = Trace::of(dictionary, record, &about());
    serde_json::to_string(&trace).expect("it is JSON") + "\n"
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
    let dictionary = Dictionary::default();
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
    assert_eq!(line(&dictionary, &record), expected);
    assert_eq!(line_of_message(&dictionary, &record), expected);
}

/// One step as JSON, which has to be what its message says.
fn json_of(what: What<'_>) -> String {
    let step = Step {
        time: 0,
        part: Part::Ingress,
        source: None,
        what,
    };
    let kept = Kept::of(&Record::new(1, 0), 4);
    let mut line = Vec::new();
    self::step(&step, &kept, &mut line);
    let line = String::from_utf8(line).expect("JSON is text");
    let message = crate::of::step_of(&step, &kept);
    assert_eq!(line, serde_json::to_string(&message).expect("it is JSON"));
    line.replace(r#""part":"ingress","#, "")
}

fn value(bits: u32, words: &[u64]) -> Value<'_> {
    Value { bits, words }
}

#[test]
fn numbers_of_the_program_are_hexadecimal() {
    let select = What::Select {
        keys: vec![value(16, &[0x800]), value(9, &[u64::MAX]), value(0, &[])],
        next: "parse_\"ipv4\"\n",
    };
    assert_eq!(
        json_of(select),
        r#"{"select":{"keys":["0x0800","0x01ff","0x00"],"next":"parse_\"ipv4\"\n"}}"#
    );
    let checksum = What::Checksum {
        field: "ipv4.checksum",
        computed: value(16, &[1]),
        carried: value(72, &[2, 3]),
    };
    assert_eq!(
        json_of(checksum),
        r#"{"checksum":{"field":"ipv4.checksum","computed":"0x0001","carried":"0x030000000000000002"}}"#
    );
}

fn entry_of(matches: Vec<Matched<'_>>, priority: Option<i32>) -> EntryStep<'_> {
    EntryStep {
        number: 3,
        priority,
        matches,
        action: Some("route"),
        parameters: vec![named()],
    }
}

fn named() -> Named<'static> {
    Named {
        name: "a",
        value: value(8, &[7]),
    }
}

fn meter_of(committed: Option<[u64; 2]>, colour: u64) -> MeterStep<'static> {
    MeterStep {
        name: "m",
        index: 2,
        colour,
        committed,
        second: committed,
    }
}

#[test]
fn every_step_is_what_its_message_says() {
    let (one, two) = (value(8, &[1]), value(8, &[2]));
    let matches = vec![
        Matched::Exact(one),
        Matched::Prefix(two, 5),
        Matched::Ternary(one, two),
        Matched::Range(one, two),
    ];
    let applied = TableStep {
        name: "t",
        key: vec![named(), named()],
        entries: 9,
        hit: Some(entry_of(matches, Some(-4))),
        others: vec![entry_of(vec![], Some(0)), entry_of(vec![], None)],
        others_left: 6,
        member: Some(0),
        action: Some("route"),
        parameters: vec![named()],
        counter: Some([(1, 2), (3, 4)]),
        meter: Some(meter_of(Some([5, 6]), 1)),
    };
    let missed = TableStep {
        hit: None,
        others: vec![],
        member: None,
        action: None,
        counter: None,
        meter: None,
        ..applied.clone()
    };
    let all = [
        What::State { name: "start" },
        What::Extract {
            header: "ipv4",
            offset: 14,
            length: 20,
            fields: vec![named()],
        },
        What::ParserError { error: "NoMatch" },
        What::Condition {
            name: "node_2",
            holds: true,
        },
        What::Condition {
            name: "node_2",
            holds: false,
        },
        What::Table(Box::new(applied)),
        What::Table(Box::new(missed)),
        What::Call { action: "act" },
        What::Statement {
            primitive: "assign",
        },
        What::Assign {
            field: "a.b",
            value: one,
        },
        What::Header {
            name: "ipv4",
            valid: true,
            fields: vec![named()],
        },
        What::Header {
            name: "ipv4",
            valid: false,
            fields: vec![],
        },
        What::Register {
            name: "r",
            index: u64::MAX,
            before: one,
            after: two,
            written: true,
        },
        What::Counter {
            name: "c",
            index: 1,
            counts: Some([(0, 0), (1, 60)]),
        },
        What::Counter {
            name: "c",
            index: 7,
            counts: None,
        },
        What::Meter(meter_of(None, 0)),
        What::Meter(meter_of(Some([0, 1]), 2)),
        What::Extern {
            name: "hash",
            result: two,
        },
        What::Request {
            name: "clone",
            number: 5,
        },
        What::Emit {
            header: "ipv4",
            offset: 14,
            length: 20,
        },
    ];
    for what in all {
        assert!(json_of(what).len() > 10);
    }
}

/// The artifacts of our own programs.
fn artifacts() -> Vec<std::path::PathBuf> {
    let programs = concat!(env!("CARGO_MANIFEST_DIR"), "/../../programs");
    let folders = ["build", "psa/build", "pna/build"].map(|name| format!("{programs}/{name}"));
    let listed = folders.iter().flat_map(|folder| {
        let entries = std::fs::read_dir(folder).expect("programs are there");
        entries.map(|entry| entry.expect("it can be read").path())
    });
    let mut found: Vec<_> = listed
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect();
    found.sort();
    found
}

#[test]
fn lines_of_programs_are_what_their_messages_say() {
    let mut compared = 0;
    for path in artifacts() {
        let artifact = std::fs::read_to_string(&path).expect("it can be read");
        let Ok(mut pipeline) = Pipeline::load(&artifact, Options::default()) else {
            continue;
        };
        let tracer = Tracer::load(&artifact).expect("what loads can be traced");
        let dictionary = std::sync::Arc::clone(tracer.dictionary());
        pipeline.set_tracer(Some(Box::new(tracer)));
        for seed in 0..8_u8 {
            let mut frame: Vec<u8> = (0..90).map(|at: u8| at.wrapping_mul(seed)).collect();
            frame[12..15].copy_from_slice(&[8, 0, 0x45]);
            let record = Box::new(Record::new(1, 0));
            let mut packet = pipeline.ingress_traced(1000, 1, &frame, record).packet;
            let queue = QueueMetadata::default();
            pipeline.egress(2000, &mut packet, &queue);
            pipeline.deparse(&mut packet, &mut Vec::new());
            let record = packet.set_record(None).expect("it was traced");
            let line = line(&dictionary, &record);
            assert_eq!(line, line_of_message(&dictionary, &record), "{path:?}");
            compared += usize::from(line.contains("\"part\":\"parser\""));
        }
    }
    assert!(compared > 100, "{compared}");
}

#[test]
fn a_stream_of_messages_is_read_back() {
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
