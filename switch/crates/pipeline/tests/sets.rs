//! Value sets, header unions and stacks of them, varbits compared, log messages, numbers of 2048 bits
//! (programs/sets.p4).

use crate::common::{load, number, run};
use phb_pipeline::{Code, Match, Pipeline};

/// Kind, key and the wide field; `rest` is 5.
fn frame(kind: u8, key: u16, wide: u128, rest: &[u8]) -> Vec<u8> {
    let mut frame = vec![kind];
    frame.extend_from_slice(&key.to_be_bytes());
    frame.extend_from_slice(&(wide << 4 | 5).to_be_bytes()[3..]);
    frame.extend_from_slice(rest);
    frame
}

/// The fields `seen`, `same` and `chosen`, and the bytes after the first header.
fn report(pipeline: &mut Pipeline, frame: &[u8]) -> (u8, u8, u32, Vec<u8>) {
    let (_, out) = run(pipeline, 0, 1, frame).unwrap();
    let chosen = u32::from_be_bytes(out[2..6].try_into().unwrap());
    assert_eq!(out[6..22], frame[..16]);
    (out[0], out[1], chosen, out[22..].to_vec())
}

#[test]
fn members_of_value_sets_are_the_control_planes() {
    let mut pipeline = load("tests/programs/sets.json");
    let sets = pipeline.value_sets();
    let described: Vec<_> = sets
        .iter()
        .map(|set| (set.name.as_str(), set.size, set.bits.as_slice()))
        .collect();
    assert_eq!(
        described,
        [
            ("SetsParser.keys", 4, &[16][..]),
            ("SetsParser.pairs", 2, &[16, 100])
        ]
    );
    let wide = 0xf_0123_4567_89ab_cdef_0123_4567_u128;
    let seen = |pipeline: &mut Pipeline, key, wide| report(pipeline, &frame(0, key, wide, &[])).0;
    assert_eq!(seen(&mut pipeline, 7, wide), 0, "empty sets");

    let ternary = |value: u128, mask: u128| Match::Ternary {
        value: number(value),
        mask: number(mask),
    };
    let keys = vec![
        vec![Match::Exact(vec![7])],
        vec![ternary(0x1200, 0xff00)],
        vec![Match::Lpm {
            value: vec![0x80, 0],
            prefix_len: 1,
        }],
    ];
    pipeline.value_set_write("SetsParser.keys", &keys).unwrap();
    for (key, expected) in [(7, 1), (0x12ab, 1), (0xffff, 1), (8, 0), (0x13ab, 0)] {
        assert_eq!(seen(&mut pipeline, key, wide), expected, "{key:#x}");
    }
    let pairs = vec![vec![Match::Exact(vec![0, 8]), Match::Exact(number(wide))]];
    pipeline
        .value_set_write("SetsParser.pairs", &pairs)
        .unwrap();
    assert_eq!(seen(&mut pipeline, 8, wide), 2);
    assert_eq!(seen(&mut pipeline, 8, wide ^ 1 << 99), 0);
    assert_eq!(seen(&mut pipeline, 8, wide ^ 1), 0);
    assert_eq!(
        pipeline.value_set_read("SetsParser.pairs").unwrap(),
        [vec![
            Match::Exact(vec![0, 8]),
            Match::Exact(number(wide)[3..].to_vec())
        ]]
    );

    // What is refused changes nothing.
    let mut refused = |name: &str, members: &[Vec<Match>]| {
        pipeline.value_set_write(name, members).unwrap_err().code
    };
    assert_eq!(refused("SetsParser.other", &[]), Code::NotFound);
    assert_eq!(
        refused("SetsParser.keys", &vec![keys[0].clone(); 5]),
        Code::ResourceExhausted
    );
    for member in [
        vec![],
        vec![Match::Exact(vec![1, 0, 0])],
        vec![ternary(3, 1)],
        vec![Match::Range {
            low: vec![1],
            high: vec![2],
        }],
        vec![Match::Lpm {
            value: vec![0],
            prefix_len: 17,
        }],
    ] {
        assert_eq!(
            refused("SetsParser.keys", &[keys[0].clone(), member]),
            Code::InvalidArgument
        );
    }
    assert_eq!(pipeline.value_set_read("SetsParser.keys").unwrap().len(), 3);
    pipeline.value_set_write("SetsParser.keys", &[]).unwrap();
    assert_eq!(seen(&mut pipeline, 7, wide), 0);
}

#[test]
fn one_member_of_a_union_is_valid() {
    let mut pipeline = load("tests/programs/sets.json");
    assert_eq!(
        report(&mut pipeline, &frame(1, 0, 0, &[0x77, 9])),
        (0, 0, 0x77, vec![1, 2, 3, 9]),
        "the other one, when that is made valid"
    );
    assert_eq!(
        report(&mut pipeline, &frame(2, 0, 0, &[1, 2, 3, 9])),
        (0, 0, 0x01_0203, vec![9]),
        "none"
    );
    let many = [0xaa, 1, 2, 3, 0xbb, 9];
    assert_eq!(
        report(&mut pipeline, &frame(3, 0, 0, &many)),
        (0, 0, 0x01_0203, many.to_vec()),
        "a stack of unions, each of its own kind"
    );
}

#[test]
fn varbits_are_equal_with_their_lengths() {
    let mut pipeline = load("tests/programs/sets.json");
    let text = |left: &[u8], right: &[u8]| {
        let length = |text: &[u8]| text.len() as u8;
        let sized = |text: &[u8]| [&[length(text)], text].concat();
        frame(4, 0, 0, &[sized(left), sized(right)].concat())
    };
    pipeline.set_logging(true);
    for (left, right, same) in [
        (&b"abc"[..], &b"abc"[..], 1),
        (b"abc", b"abd", 0),
        (b"abc", b"ab", 0),
        (b"", b"", 1),
        (b"", b"abcdefgh", 0),
    ] {
        let (_, found, _, rest) = report(&mut pipeline, &text(left, right));
        assert_eq!(found, same, "{left:?} {right:?}");
        assert_eq!(rest, text(right, right)[16..], "the right one, twice");
    }
    assert_eq!(pipeline.logged(), 5);
    assert_eq!(
        pipeline.take_log()[1..3],
        ["lengths 3 and 3", "lengths 2 and 2"]
    );
    pipeline.set_logging(false);
    report(&mut pipeline, &text(b"a", b"b"));
    assert_eq!((pipeline.logged(), pipeline.take_log()), (6, vec![]));
    assert_eq!(pipeline.failed_assertions(), 0);
}

/// Big-endian bytes, modulo their length.
fn sum(left: &[u8], right: &[u8]) -> Vec<u8> {
    let mut carry = 0u16;
    let digits = left.iter().zip(right).rev().map(|(left, right)| {
        carry += u16::from(*left) + u16::from(*right);
        let digit = carry as u8;
        carry >>= 8;
        digit
    });
    let mut digits: Vec<u8> = digits.collect();
    digits.reverse();
    digits
}

#[test]
fn numbers_of_2048_bits() {
    let mut pipeline = load("tests/programs/sets.json");
    let mut before = vec![0; 256];
    for seed in 1..6u8 {
        let big: Vec<u8> = (0..=255u8)
            .map(|index| index.wrapping_mul(seed).wrapping_mul(73) ^ seed)
            .collect();
        let (_, same, chosen, rest) = report(&mut pipeline, &frame(5, 0, 0, &big));
        let tripled = sum(&sum(&big, &big), &sum(&big, &before));
        // 65 bits: eight bytes and one bit.
        let shifted: Vec<u8> = (0..256)
            .map(|at: usize| {
                let byte = |at: Option<usize>| at.map_or(0, |at| u16::from(big[at]));
                let pair = byte(at.checked_sub(9)) << 8 | byte(at.checked_sub(8));
                (pair >> 1) as u8
            })
            .collect();
        let expected: Vec<u8> = tripled.iter().zip(&shifted).map(|(a, b)| a ^ b).collect();
        assert_eq!(rest, expected, "{seed}");
        assert_eq!(same, u8::from(big > before) * 2);
        // Bits 1040 to 1009: the byte of bit 1040 is number 125 from the left.
        let part = big[125..130]
            .iter()
            .fold(0u64, |part, byte| part << 8 | u64::from(*byte));
        assert_eq!(chosen, (part >> 1) as u32);
        assert_eq!(pipeline.register_read(NUMBERS, 1).unwrap(), big);
        before = big;
    }
    // The control plane's side of it.
    let three = pipeline.register_write(NUMBERS, 0, &[0, 3]);
    assert_eq!(three, Ok(()));
    let read = pipeline.register_read(NUMBERS, 0).unwrap();
    assert_eq!((read.len(), read[255], read[254]), (256, 3, 0));
    let refused = |result: Result<(), phb_pipeline::WriteError>| result.unwrap_err().code;
    let long = [&[1][..], &[0; 256]].concat();
    assert_eq!(
        refused(pipeline.register_write(NUMBERS, 0, &long)),
        Code::InvalidArgument
    );
    assert_eq!(
        refused(pipeline.register_write(NUMBERS, 2, &[1])),
        Code::OutOfRange
    );
    assert_eq!(
        refused(pipeline.register_read("other", 0).map(|_| ())),
        Code::NotFound
    );
}

const NUMBERS: &str = "SetsIngress.numbers";
