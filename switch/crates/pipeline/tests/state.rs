//! Registers, counters, meters, hashes, stacks and metadata (programs/state.p4).

use crate::common::{load, options, run, text};
use phb_pipeline::{
    Code, EgressVerdict, Entry, MeterRates, Options, Pipeline, Processed, QueueMetadata, Verdict,
};

fn pipeline() -> Pipeline {
    load("tests/programs/state.json")
}

fn request(what: u8, index: u32, value: u128, items: &[u8]) -> Vec<u8> {
    let mut frame = vec![what];
    frame.extend_from_slice(&index.to_be_bytes());
    frame.extend_from_slice(&(value << 4 | u128::from(!items.is_empty())).to_be_bytes()[3..]);
    frame.extend_from_slice(items);
    frame.extend_from_slice(b"the rest");
    frame
}

/// `old` and colour together, hash, drawn, length, time, queue, and what follows.
#[derive(Debug, PartialEq)]
struct Answer {
    old: u128,
    colour: u8,
    hash: u32,
    drawn: u8,
    length: u32,
    time: u64,
    queue: [u8; 2],
    rest: Vec<u8>,
}

fn ask(pipeline: &mut Pipeline, now: u64, frame: &[u8]) -> Answer {
    let (_, out) = run(pipeline, now, 1, frame).unwrap();
    let number = |from: usize, to: usize| {
        out[from..to]
            .iter()
            .fold(0u128, |sum, byte| sum << 8 | u128::from(*byte))
    };
    Answer {
        old: number(0, 13) >> 4,
        colour: out[12] & 15,
        hash: number(13, 17) as u32,
        drawn: out[17],
        length: number(18, 22) as u32,
        time: number(22, 28) as u64,
        queue: [out[28], out[29]],
        rest: out[30..].to_vec(),
    }
}

/// It is the program's, with nothing to look up and nothing to change; packets do without it.
#[test]
fn a_table_that_is_only_a_call_stays_known() {
    let mut pipeline = pipeline();
    let name = "IngressControl.drop_copied";
    let known = pipeline.tables();
    let table = known.iter().find(|table| table.name == name).unwrap();
    assert!(table.keys.is_empty() && table.constant_default);
    // p4c's own are nobody's business.
    assert!(known.iter().all(|table| !table.name.starts_with("tbl_")));
    let default = pipeline.default_action(name).unwrap();
    assert_eq!(default, Some(("drop".to_owned(), Vec::new())));
    let written = pipeline.set_default_action(name, Some(("drop", &[])));
    assert_eq!(written.unwrap_err().code, Code::PermissionDenied);
    let entry = Entry {
        action: "drop".to_owned(),
        ..Entry::default()
    };
    let inserted = pipeline.table_insert(name, &entry);
    assert_eq!(inserted.unwrap_err().code, Code::InvalidArgument);
    assert_eq!(pipeline.table_entries(name), Ok(Vec::new()));
}

#[test]
fn registers() {
    let mut pipeline = pipeline();
    let big = (1u128 << 100) - 7;
    assert_eq!(ask(&mut pipeline, 0, &request(0, 2, big, &[])).old, 0);
    assert_eq!(ask(&mut pipeline, 0, &request(0, 2, 5, &[])).old, big);
    let read = |pipeline: &Pipeline, name: &str| pipeline.register_read(name, 2).unwrap();
    assert_eq!(
        read(&pipeline, "IngressControl.wide"),
        [[0; 12].as_slice(), &[5]].concat()
    );
    assert_eq!(read(&pipeline, "IngressControl.narrow"), [0, 2]);
    pipeline
        .register_write("IngressControl.wide", 2, &[9])
        .unwrap();
    assert_eq!(ask(&mut pipeline, 0, &request(0, 2, 5, &[])).old, 9);
    assert_eq!(
        ask(&mut pipeline, 0, &request(0, 4, 5, &[])).old,
        0,
        "beyond the end"
    );
    assert_eq!(ask(&mut pipeline, 0, &request(0, u32::MAX, 5, &[])).old, 0);
    assert_eq!(
        pipeline
            .register_read("IngressControl.wide", 4)
            .unwrap_err()
            .code,
        Code::OutOfRange
    );
    let error = pipeline
        .register_write("IngressControl.narrow", 0, &[2, 0])
        .unwrap_err();
    assert_eq!(
        error.message,
        "register IngressControl.narrow: a value of 10 bits does not fit 9"
    );
    assert_eq!(
        pipeline.register_read("nothing", 0).unwrap_err().code,
        Code::NotFound
    );
    pipeline.clear();
    assert!(
        read(&pipeline, "IngressControl.wide")
            .iter()
            .all(|byte| *byte == 0)
    );
}

#[test]
fn counters_and_meters() {
    let mut pipeline = pipeline();
    let frame = request(1, 1, 0, &[]);
    let length = frame.len() as u64;
    assert_eq!(
        ask(&mut pipeline, 0, &frame).colour,
        8,
        "green while not configured"
    );
    let rates = MeterRates {
        committed_rate: length,
        committed_burst: length,
        peak_rate: 2 * length,
        peak_burst: 2 * length,
        ..MeterRates::default()
    };
    pipeline
        .meter_configure("IngressControl.metered", 1, Some(rates))
        .unwrap();
    let second = 1_000_000_000;
    let colours: Vec<u8> = [second, second, second, second * 3 / 2, second * 2]
        .map(|now| ask(&mut pipeline, now, &frame).colour - 8)
        .to_vec();
    assert_eq!(colours, [0, 1, 2, 1, 0]);
    assert_eq!(
        pipeline.counter_read("IngressControl.seen", 1).unwrap(),
        (6, 6 * length)
    );
    ask(&mut pipeline, 0, &request(1, 4, 0, &[]));
    assert_eq!(
        pipeline
            .counter_read("IngressControl.seen", 4)
            .unwrap_err()
            .code,
        Code::OutOfRange
    );
    pipeline
        .counter_write("IngressControl.seen", 1, (3, 4))
        .unwrap();
    assert_eq!(
        pipeline.counter_read_all("IngressControl.seen").unwrap(),
        [(0, 0), (3, 4), (0, 0), (0, 0)]
    );
    assert_eq!(pipeline.counter_size("IngressControl.seen").unwrap(), 4);
    let wrong = MeterRates {
        peak_rate: 1,
        ..rates
    };
    let error = pipeline
        .meter_configure("IngressControl.metered", 1, Some(wrong))
        .unwrap_err();
    assert_eq!(error.code, Code::InvalidArgument);
    assert_eq!(
        pipeline.meter_rates("IngressControl.metered", 1).unwrap(),
        Some(rates)
    );
}

#[test]
fn hashes() {
    let mut pipeline = pipeline();
    // CRC-32 over 36 bits, the last byte filled with zeros: 00 00 30 39 10.
    let mut crc = u32::MAX;
    for byte in [0, 0, 0x30, 0x39, 0x10] {
        crc ^= u32::from(byte as u8);
        for _ in 0..8 {
            crc = if crc & 1 == 1 {
                crc >> 1 ^ 0xedb8_8320
            } else {
                crc >> 1
            };
        }
    }
    assert_eq!(
        ask(&mut pipeline, 0, &request(2, 12_345, 0, &[0])).hash,
        (!crc).wrapping_add(100)
    );
    let mut crc = 0u16;
    for byte in [0, 0, 0x30, 0x39, 0xab] {
        crc ^= u16::from(byte as u8);
        for _ in 0..8 {
            crc = if crc & 1 == 1 {
                crc >> 1 ^ 0xa001
            } else {
                crc >> 1
            };
        }
    }
    assert_eq!(
        ask(&mut pipeline, 0, &request(3, 12_345, 0, &[])).hash,
        u32::from(crc) % 1000
    );
}

#[test]
fn random_numbers_repeat_with_the_seed() {
    let draw = |seed| {
        let options = Options { seed, ..options() };
        let mut pipeline = Pipeline::load(&text("state"), options).unwrap();
        let drawn: Vec<u8> = (0..200)
            .map(|_| ask(&mut pipeline, 0, &request(4, 0, 0, &[])).drawn)
            .collect();
        pipeline.clear();
        assert_eq!(
            ask(&mut pipeline, 0, &request(4, 0, 0, &[])).drawn,
            drawn[0],
            "cleared"
        );
        drawn
    };
    assert_eq!(draw(1), draw(1));
    assert_ne!(draw(1), draw(2));
    assert!(draw(3).iter().all(|drawn| (10..20).contains(drawn)));
    assert!((10..20).all(|value| draw(3).contains(&value)));
}

#[test]
fn header_stacks() {
    let mut pipeline = pipeline();
    let mut rest =
        |what, index, items: &[u8]| ask(&mut pipeline, 0, &request(what, index, 0, items)).rest;
    assert_eq!(rest(5, 0, &[1, 2, 0]), b"\xee\x01\x02\0the rest");
    assert_eq!(
        rest(5, 0, &[1, 2, 3, 0]),
        b"\xee\x01\x02\x03the rest",
        "the last falls off"
    );
    assert_eq!(rest(6, 0, &[1, 2, 3, 0]), b"\x03\0the rest");
    assert_eq!(rest(6, 0, &[0]), b"the rest");
    assert_eq!(rest(7, 2, &[1, 2, 3, 0]), b"\x01\x02\x77\0\x02the rest");
    assert_eq!(
        rest(7, 4, &[1, 2, 3, 0]),
        b"\x01\x02\x03\0\x02the rest",
        "beyond the end"
    );
    assert_eq!(
        rest(7, u32::MAX, &[0]),
        b"\0the rest",
        "an invalid header is copied as invalid"
    );
}

#[test]
fn verdicts() {
    let mut pipeline = pipeline();
    assert_eq!(
        run(&mut pipeline, 0, 1, &request(8, 0x1_0007, 0, &[])),
        Err(Verdict::Multicast {
            group: 7,
            rank: Some(0),
            priority: 5
        })
    );
    assert_eq!(
        run(&mut pipeline, 0, 1, &request(9, 0, 0, &[])),
        Err(Verdict::Drop)
    );
    assert_eq!(
        run(&mut pipeline, 0, 1, &[0, 1, 2]),
        Err(Verdict::Drop),
        "33 bytes with the answer: dropped in egress"
    );
    let Processed { verdict, .. } =
        pipeline.ingress(0, 1, &request(14, 0, 0x1_2345_6789_abcd_ef01, &[]));
    assert_eq!(
        verdict,
        Verdict::Unicast {
            port: 1,
            rank: Some(0x2345_6789_abcd_ef01),
            priority: 5
        }
    );
}

/// `mark_to_drop` marks the metadata given, which may be a copy.
#[test]
fn drop_marks_the_metadata_it_is_given() {
    let mut pipeline = pipeline();
    assert_eq!(
        run(&mut pipeline, 0, 1, &request(15, 0, 0, &[])),
        Err(Verdict::Drop),
        "copied back, the multicast group as well"
    );
    let marked = ask(&mut pipeline, 0, &request(16, 0, 0, &[]));
    assert_eq!(marked.drawn, 0xff, "only the copy");
}

#[test]
fn the_rest() {
    let mut pipeline = pipeline();
    let (_, out) = run(&mut pipeline, 0, 1, &request(10, 21, 0, &[])).unwrap();
    assert_eq!(out.len(), 21, "truncate");
    ask(&mut pipeline, 0, &request(11, 0, 0, &[]));
    assert_eq!(pipeline.failed_assertions(), 0);
    ask(&mut pipeline, 0, &request(11, 1, 0, &[]));
    assert_eq!(pipeline.failed_assertions(), 1);
    let taken = ask(&mut pipeline, 0, &request(12, 0, 6, &[]));
    assert_eq!((taken.drawn, taken.hash), (1, 5));
    let returned = ask(&mut pipeline, 0, &request(12, 0, 5, &[]));
    assert_eq!(
        (returned.drawn, returned.hash),
        (2, 0),
        "return in an action"
    );
    let exited = ask(&mut pipeline, 0, &request(13, 0, 0, &[]));
    assert_eq!(
        (exited.colour, exited.rest.as_slice()),
        (0, b"the rest".as_slice()),
        "exit ends ingress, not egress"
    );
}

#[test]
fn standard_metadata() {
    let mut pipeline = pipeline();
    let frame = request(14, 0, 0, &[]);
    let Processed { mut packet, .. } = pipeline.ingress(7_654_321_000, 1, &frame);
    assert_eq!(packet.received_length(), frame.len() as u32);
    let queue = QueueMetadata {
        egress_port: 1,
        enq_timestamp_ns: 7_654_321_000,
        enq_qdepth: 3,
        deq_qdepth: 2,
        deq_timedelta_ns: 0x12_345_000,
    };
    assert_eq!(
        pipeline.egress(7_700_000_000, &mut packet, &queue).verdict,
        EgressVerdict::Transmit
    );
    let mut out = vec![1, 2, 3];
    pipeline.deparse(&mut packet, &mut out);
    assert_eq!(out[18..22], (frame.len() as u32).to_be_bytes());
    assert_eq!(out[22..28], 7_654_321u64.to_be_bytes()[2..]);
    assert_eq!(out[28..30], [(0x12_345_000u64 / 1000) as u8, 3]);
}
