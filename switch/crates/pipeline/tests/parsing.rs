//! The parser: what it extracts, and how each error ends it (programs/parsing.p4).

use crate::common::{load, run};
use phb_pipeline::Pipeline;

/// Error, tags, ahead, last value, change, path; and what follows the report.
fn parse(pipeline: &mut Pipeline, frame: &[u8]) -> ([u8; 5], u16, Vec<u8>) {
    let (_, out) = run(pipeline, 0, 3, frame).unwrap();
    (
        [out[0], out[1], out[2], out[5], out[6]],
        u16::from_be_bytes([out[3], out[4]]),
        out[7..].to_vec(),
    )
}

#[test]
fn selections() {
    let mut pipeline = load("tests/programs/parsing.json");
    let mut path = |frame: &[u8]| {
        let (report, _, rest) = parse(&mut pipeline, frame);
        assert_eq!(rest, frame);
        (report[0], report[4])
    };
    assert_eq!(path(&[0, 9]), (0, 0));
    assert_eq!(path(&[0x4f, 0x1f]), (0, 4), "value and mask");
    assert_eq!(path(&[0x4f, 0x2f]), (2, 0), "no match");
    assert_eq!(path(&[0x50, 0]), (0, 5), "range");
    assert_eq!(path(&[0x57, 0]), (0, 5));
    assert_eq!(path(&[0x58, 0]), (2, 0));
    assert_eq!(path(&[0]), (1, 0), "lookahead beyond the end");
    assert_eq!(path(&[]), (1, 0));
}

#[test]
fn stacks() {
    let mut pipeline = load("tests/programs/parsing.json");
    let tags = [1, 0x1a, 0xbc, 0x05, 0x0d, 0xef, 0xfd, 0x77];
    assert_eq!(
        parse(&mut pipeline, &tags),
        ([0, 2, 0, 2, 0], 0xdef, tags.to_vec()),
        "changes by 5 and -3"
    );
    let four = [1, 0x10, 1, 1, 0x10, 2, 1, 0x10, 3, 1, 0x00, 4, 1, 9];
    assert_eq!(
        parse(&mut pipeline, &four),
        ([3, 3, 0, 3, 0], 3, four.to_vec()),
        "StackOutOfBounds"
    );
    let short = [1, 0x10, 1, 1, 0x10, 2];
    assert_eq!(
        parse(&mut pipeline, &short),
        ([1, 1, 0, 1, 0], 1, short.to_vec()),
        "PacketTooShort"
    );
}

#[test]
fn varbits() {
    let mut pipeline = load("tests/programs/parsing.json");
    let options = [2, 0b0100_0010, 1, 2, 3, 4, 5, 6, 7, 8, 0xaa, 0xbb, 0xcc];
    assert_eq!(
        parse(&mut pipeline, &options),
        ([0, 0, 0x42, 0, 0], 0, options.to_vec())
    );
    let none = [2, 0, 0xaa];
    assert_eq!(parse(&mut pipeline, &none).0[0], 0, "a varbit of no bits");
    let mut error = |frame: &[u8]| {
        let (report, _, rest) = parse(&mut pipeline, frame);
        assert_eq!(rest, frame);
        report[0]
    };
    assert_eq!(error(&[2, 0x1f, 0]), 4, "verify");
    assert_eq!(error(&[2, 0xf0, 0]), 2, "verify");
    assert_eq!(error(&[2, 2, 1, 2, 3, 4, 5, 6, 7, 8]), 1, "one byte short");
    assert_eq!(
        error(&[2, 0x80, 1, 2]),
        6,
        "one bit is no byte: ParserInvalidArgument"
    );
    assert_eq!(
        error(&[[2, 4].as_slice(), &[0; 40]].concat()),
        4,
        "128 bits where 120 are the most: HeaderTooShort"
    );
}

#[test]
fn wide_fields() {
    let mut pipeline = load("tests/programs/parsing.json");
    let mut frame = vec![3];
    let number = 0x1_2345_6789_abcd_ef01_2345_6789_u128;
    let head = (0xd_u128 << 100 | number).to_be_bytes();
    frame.extend_from_slice(&head[3..]);
    frame.extend((0..20).map(|byte| byte * 3));
    frame.extend_from_slice(b"rest");
    assert_eq!(
        parse(&mut pipeline, &frame),
        ([0, 0, 0, 0, 3], 0, frame.clone())
    );
    frame[13] ^= 1;
    assert_eq!(
        parse(&mut pipeline, &frame),
        ([0, 0, 0, 0, 0], 0, frame.clone())
    );
}

#[test]
fn advance_and_loops() {
    let mut pipeline = load("tests/programs/parsing.json");
    // The bytes skipped are gone, as in bmv2: the payload begins behind them.
    assert_eq!(
        parse(&mut pipeline, &[6, 0, 24, 0xee, 0x55]),
        ([0, 0, 0x55, 0, 6], 0, vec![6, 0x55])
    );
    assert_eq!(parse(&mut pipeline, &[6, 0, 25, 0xee, 0x55]).0[0], 6);
    assert_eq!(parse(&mut pipeline, &[6, 0, 40, 0xee, 0x55]).0[0], 1);
    assert_eq!(
        parse(&mut pipeline, &[6, 0, 32, 0xee, 0x55]).0,
        [1, 0, 0, 0, 6]
    );
    assert_eq!(
        parse(&mut pipeline, &[7, 1, 2]).0,
        [5, 0, 0, 0, 7],
        "ParserTimeout"
    );
}
