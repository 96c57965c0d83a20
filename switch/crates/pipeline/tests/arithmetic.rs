//! Integer and boolean operators against Rust's own (programs/arithmetic.p4).

use crate::common::{load, run};
use phb_pipeline::Pipeline;
use proptest::prelude::*;

#[derive(Debug, Clone, Copy)]
struct Operands {
    a: u32,
    b: u32,
    c: i16,
    d: i16,
    e: u128,
    f: u128,
    g: u64,
    h: u64,
}

fn expected(operands: Operands) -> Vec<u8> {
    let Operands {
        a,
        b,
        c,
        d,
        e,
        f,
        g,
        h,
    } = operands;
    let shift = b & 0x3f;
    let mut out = Vec::new();
    for word in [
        a.wrapping_add(b),
        a.wrapping_sub(b),
        a.wrapping_mul(b),
        a.saturating_add(b),
        a.saturating_sub(b),
        !a,
        a.wrapping_neg(),
        a.checked_shl(shift).unwrap_or(0),
        a.checked_shr(shift).unwrap_or(0),
        (a & b) ^ (a | 0xff00),
    ] {
        out.extend_from_slice(&word.to_be_bytes());
    }
    for half in [
        c.wrapping_add(d),
        c.saturating_add(d),
        c.saturating_sub(d),
        c >> 3,
        i16::from(a as u8 as i8),
    ] {
        out.extend_from_slice(&half.to_be_bytes());
    }
    out.extend_from_slice(&(a << 24 | b >> 16 << 8 | a >> 24).to_be_bytes());
    out.extend_from_slice(&e.wrapping_add(f).to_be_bytes());
    out.extend_from_slice(&(e >> 60 ^ f << 3).to_be_bytes());
    out.extend_from_slice(&g.saturating_add(h).to_be_bytes());
    out.extend_from_slice(&g.wrapping_mul(h).to_be_bytes());
    let shift = a & 0xff;
    out.extend_from_slice(&g.checked_shl(shift).unwrap_or(0).to_be_bytes());
    out.extend_from_slice(&g.checked_shr(shift).unwrap_or(0).to_be_bytes());
    out.extend_from_slice(&e.checked_shl(shift).unwrap_or(0).to_be_bytes());
    out.extend_from_slice(&(c >> shift.min(15)).to_be_bytes());
    let flags = [
        a < b,
        a <= b,
        c < d,
        c >= -5 && d != 7,
        e > f,
        (a > b) == (c > d),
        g >= h || a != b,
    ];
    out.push(
        flags
            .iter()
            .enumerate()
            .map(|(bit, flag)| u8::from(*flag) << bit)
            .sum(),
    );
    let chosen = match (a > b, c < 0) {
        (true, _) => c,
        (false, true) => 1,
        (false, false) => 2,
    };
    out.extend_from_slice(&chosen.to_be_bytes());
    out
}

fn computed(pipeline: &mut Pipeline, operands: Operands) -> Vec<u8> {
    let Operands {
        a,
        b,
        c,
        d,
        e,
        f,
        g,
        h,
    } = operands;
    let frame = [
        &a.to_be_bytes()[..],
        &b.to_be_bytes(),
        &c.to_be_bytes(),
        &d.to_be_bytes(),
        &e.to_be_bytes(),
        &f.to_be_bytes(),
        &g.to_be_bytes(),
        &h.to_be_bytes(),
    ]
    .concat();
    run(pipeline, 0, 1, &frame).unwrap().1
}

fn operands() -> impl Strategy<Value = Operands> {
    let a = prop_oneof![any::<u32>(), 0u32..100, Just(u32::MAX)];
    let c = prop_oneof![any::<i16>(), -10i16..10, Just(i16::MIN), Just(i16::MAX)];
    let e = prop_oneof![any::<u128>(), 0u128..100, Just(u128::MAX)];
    let g = prop_oneof![any::<u64>(), 0u64..100, Just(u64::MAX)];
    (a.clone(), a, c.clone(), c, e.clone(), e, g.clone(), g).prop_map(|(a, b, c, d, e, f, g, h)| {
        Operands {
            a,
            b,
            c,
            d,
            e,
            f,
            g,
            h,
        }
    })
}

proptest! {
    #[test]
    fn operators_are_those_of_fixed_width_integers(cases in prop::collection::vec(operands(), 50)) {
        let mut pipeline = load("tests/programs/arithmetic.json");
        for operands in cases {
            prop_assert_eq!(computed(&mut pipeline, operands), expected(operands), "{:?}", operands);
        }
    }
}
