//! What a trace tells of a packet: names, values, the entries that lost, and what state was before and after.

use phb_pipeline::trace::{Matched, Record, Step, TableStep, Tracer, Value, What};
use phb_pipeline::{Match, Pipeline};

use crate::common::{entry, exact, lpm, optional, options, range, ternary, text};

/// A program of `tests/programs` that can be traced.
fn traced(name: &str) -> Pipeline {
    let artifact = text(name);
    let mut pipeline = Pipeline::load(&artifact, options()).unwrap();
    let tracer = Tracer::load(&artifact).unwrap();
    pipeline.set_tracer(Some(Box::new(tracer)));
    pipeline
}

/// The record of a frame's ingress.
fn record(pipeline: &mut Pipeline, frame: &[u8]) -> Record {
    let mut processed = pipeline.ingress_traced(1_000, 3, frame, Box::default());
    let record = processed.packet.set_record(None).unwrap();
    pipeline.recycle(processed.packet);
    *record
}

fn number(value: Value<'_>) -> u128 {
    value
        .bytes()
        .fold(0, |sum, byte| sum << 8 | u128::from(byte))
}

/// `what`, `address`, `port`, `tos`, `wide` of the program `matching`.
fn key(what: u8, address: u32, port: u16, tos: u8) -> Vec<u8> {
    let mut frame = vec![what];
    frame.extend(address.to_be_bytes());
    frame.extend(port.to_be_bytes());
    frame.push(tos);
    frame.extend([0; 16]);
    frame
}

fn tables<'a>(steps: &'a [Step<'a>]) -> Vec<&'a TableStep<'a>> {
    let of = |step: &'a Step<'a>| match &step.what {
        What::Table(table) => Some(&**table),
        _ => None,
    };
    steps.iter().filter_map(of).collect()
}

#[test]
fn entries_that_lost_are_told_in_the_order_of_their_priority() {
    let mut pipeline = traced("matching");
    let table = "IngressControl.priority_table";
    let set = |matches: &[(&str, Match)], priority, value| {
        entry(matches, priority, "IngressControl.set", &[("value", value)])
    };
    for (matches, priority, value) in [
        (vec![("hdr.key.port", range(10, 20))], 5, 1),
        (vec![("hdr.key.tos", ternary(0x80, 0xf0))], 30, 2),
        (vec![("standard.ingress_port", optional(3))], 20, 3),
        (vec![("hdr.key.port", range(16, 20))], 40, 4),
    ] {
        let entry = set(&matches, priority, value);
        pipeline.table_insert(table, &entry).unwrap();
    }
    let record = record(&mut pipeline, &key(3, 0, 15, 0x8f));
    let dictionary = pipeline.dictionary().unwrap();
    let steps = dictionary.steps(&record);
    let tables = tables(&steps);
    let [step] = tables[..] else {
        panic!("{tables:?}");
    };
    assert_eq!((step.name, step.entries), (table, 4));
    let key: Vec<_> = (step.key.iter())
        .map(|field| (field.name, number(field.value)))
        .collect();
    assert_eq!(
        key,
        [
            ("standard.ingress_port", 3),
            ("hdr.key.port", 15),
            ("hdr.key.tos", 0x8f),
            ("hdr.key.wide", 0)
        ]
    );
    let hit = step.hit.as_ref().unwrap();
    assert_eq!(hit.priority, Some(30));
    let Matched::Ternary(value, mask) = hit.matches[2] else {
        panic!("{hit:?}");
    };
    assert_eq!((number(value), number(mask)), (0x80, 0xf0));
    let others: Vec<_> = step.others.iter().map(|other| other.priority).collect();
    assert_eq!(others, [Some(20), Some(5)], "the fourth doesn't match");
    let Matched::Range(low, high) = step.others[1].matches[1] else {
        panic!("{step:?}");
    };
    assert_eq!((number(low), number(high)), (10, 20));
    assert_eq!(step.action, Some("IngressControl.set"));
    assert_eq!(number(step.parameters[0].value), 2);
    assert_eq!(step.others_left, 0);
}

#[test]
fn more_entries_than_are_told_are_counted() {
    let mut pipeline = traced("matching");
    for priority in 1..=300 {
        let entry = entry(&[], priority, "IngressControl.drop", &[]);
        let table = "IngressControl.priority_table";
        pipeline.table_insert(table, &entry).unwrap();
    }
    let record = record(&mut pipeline, &key(3, 0, 0, 0));
    let steps = pipeline.dictionary().unwrap().steps(&record);
    let step = tables(&steps)[0];
    let told: Vec<_> = step.others.iter().map(|other| other.priority).collect();
    let expected: Vec<_> = (285..300).rev().map(Some).collect();
    assert_eq!(step.hit.as_ref().unwrap().priority, Some(300));
    assert_eq!((told, step.others_left), (expected, 284));
}

#[test]
fn shorter_prefixes_have_lost() {
    let mut pipeline = traced("matching");
    let rows = [
        (0x0a00_0000, 8),
        (0x0a01_0000, 16),
        (0x0a01_0200, 24),
        (0, 0),
        (0x0b00_0000, 8),
    ];
    for (value, length) in rows {
        let mut matches = vec![("hdr.key.tos", exact(7))];
        if length > 0 {
            matches.push(("hdr.key.address", lpm(value, length)));
        }
        let entry = entry(
            &matches,
            0,
            "IngressControl.set",
            &[("value", length.into())],
        );
        pipeline
            .table_insert("IngressControl.lpm_table", &entry)
            .unwrap();
    }
    let record = record(&mut pipeline, &key(2, 0x0a01_0203, 0, 7));
    let steps = pipeline.dictionary().unwrap().steps(&record);
    let step = tables(&steps)[0];
    let length = |matches: &[Matched<'_>]| match matches[0] {
        Matched::Prefix(_, length) => length,
        ref other => panic!("{other:?}"),
    };
    assert_eq!(length(&step.hit.as_ref().unwrap().matches), 24);
    let others: Vec<_> = step
        .others
        .iter()
        .map(|other| length(&other.matches))
        .collect();
    assert_eq!(others, [16, 8, 0]);
}

#[test]
fn a_direct_counter_is_told_before_and_after() {
    let mut pipeline = traced("matching");
    let matches = [
        ("hdr.key.isValid()", exact(1)),
        ("address", exact(5)),
        ("hdr.key.wide", exact(0)),
    ];
    let entry = entry(&matches, 0, "IngressControl.set", &[("value", 1)]);
    let table = "IngressControl.exact_table";
    pipeline.table_insert(table, &entry).unwrap();
    let frame = key(1, 5, 0, 0);
    record(&mut pipeline, &frame);
    let hit = record(&mut pipeline, &frame);
    let missed = record(&mut pipeline, &key(1, 6, 0, 0));
    let dictionary = pipeline.dictionary().unwrap();
    let length = frame.len() as u64;
    for (record, counts, is_hit) in [
        (&hit, [(1, length), (2, 2 * length)], true),
        (&missed, [(0, 0), (1, length)], false),
    ] {
        let steps = dictionary.steps(record);
        let step = tables(&steps)[0];
        assert_eq!((step.counter, step.hit.is_some()), (Some(counts), is_hit));
    }
}

/// What happened, as a reader would have it, of a program with registers, counters and meters.
#[test]
fn steps_of_a_packet_in_order() {
    let mut pipeline = traced("matching");
    let record = record(&mut pipeline, &key(9, 0, 15, 0x81));
    let steps = pipeline.dictionary().unwrap().steps(&record);
    let told = |step: &Step<'_>| {
        let part = step.part.name();
        match &step.what {
            What::State { name } => format!("{part} state {name}"),
            What::Extract {
                header,
                offset,
                length,
                ..
            } => format!("{part} extract {header} {offset}+{length}"),
            What::Select { keys, next } => format!("{part} select {} -> {next}", keys.len()),
            What::Condition { holds, .. } => format!("{part} condition {holds}"),
            What::Table(table) => {
                let entry = table.hit.as_ref().and_then(|hit| hit.priority);
                format!("{part} table {} {entry:?} {:?}", table.name, table.action)
            }
            What::Statement { primitive } => format!("{part} {primitive}"),
            What::Assign { field, value } => format!("{part} {field} = {}", number(*value)),
            What::Header { name, valid, .. } => format!("{part} header {name} {valid}"),
            What::Call { action } => format!("{part} call {action}"),
            other => format!("{part} {other:?}"),
        }
    };
    let lines: Vec<_> = steps.iter().map(told).collect();
    let has = |line: &str| lines.iter().any(|known| known.contains(line));
    for line in [
        "parser state start",
        "parser select 1 -> key",
        "parser extract key 0+24",
        "parser select 0 -> accept",
        "ingress header result true",
        "ingress condition false",
        "ingress table IngressControl.constant_table Some(3) Some(\"IngressControl.set\")",
        "ingress result.value = 1",
    ] {
        assert!(has(line), "{line:?} is not among\n{}", lines.join("\n"));
    }
}
