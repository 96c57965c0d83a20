//! Lowered arithmetic against the same expression computed with more bits than any result has.

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::expression::Scope;
use crate::load::ast::{Number, NumberKind, Operator, Range, Truth};
use crate::load::headers::Field;
use crate::load::json::Integer;
use crate::packet::{Fit, Packet};

/// Fields of the packet: width, signed, first word.
const FIELDS: [(u32, bool, u32); 6] = [
    (8, false, 0),
    (8, true, 1),
    (32, false, 2),
    (33, true, 3),
    (20, true, 4),
    (1, false, 5),
];

fn field(index: usize) -> Number {
    let (bits, signed, word) = FIELDS[index];
    Number::field(Field {
        slot: Slot::Word { word },
        bits,
        signed,
        valid: None,
    })
}

fn constant(value: i128) -> Number {
    let magnitude = Integer::small(value.unsigned_abs() as u64).magnitude;
    Number::constant(Integer {
        negative: value < 0,
        magnitude,
    })
}

fn wrapped(operand: Number, bits: u32) -> Number {
    Number {
        range: Range::signed(bits),
        kind: NumberKind::Wrap(Box::new(operand), bits),
    }
}

fn saturated(operand: Number, bits: u32, signed: bool) -> Number {
    let range = if signed {
        Range::signed(bits)
    } else {
        Range::unsigned(bits)
    };
    Number {
        range,
        kind: NumberKind::Saturate {
            operand: Box::new(operand),
            bits,
            signed,
        },
    }
}

fn number() -> impl Strategy<Value = Number> {
    let leaf = prop_oneof![
        (0..FIELDS.len()).prop_map(field),
        (-300i128..300).prop_map(constant)
    ];
    leaf.prop_recursive(3, 24, 3, |inner| {
        let operator = prop_oneof![
            Just(Operator::Add),
            Just(Operator::Subtract),
            Just(Operator::Multiply),
            Just(Operator::And),
            Just(Operator::Or),
            Just(Operator::Xor),
        ];
        // p4c cuts every result to a width; here now and then, so that both cut and uncut operands occur.
        let cut = prop_oneof![Just(8u32), Just(16), Just(31), Just(32)];
        prop_oneof![
            (operator, inner.clone(), inner.clone())
                .prop_map(|(operator, a, b)| Number::binary(operator, a, b)),
            (inner.clone(), 0i128..12).prop_map(|(a, by)| Number::binary(
                Operator::ShiftRight,
                a,
                constant(by)
            )),
            (inner.clone(), 0i128..12).prop_map(|(a, by)| Number::binary(
                Operator::ShiftLeft,
                a,
                constant(by)
            )),
            inner.clone().prop_map(Number::inverted),
            (inner.clone(), cut.clone()).prop_map(|(a, bits)| Number::binary(
                Operator::And,
                a,
                constant((1 << bits) - 1)
            )),
            (inner.clone(), cut.clone()).prop_map(|(a, bits)| wrapped(a, bits)),
            (inner.clone(), cut, any::<bool>())
                .prop_map(|(a, bits, signed)| saturated(a, bits, signed)),
            (inner.clone(), inner.clone(), inner.clone(), inner).prop_map(|(a, b, yes, no)| {
                Number::choose(Truth::Compare(Comparison::Less, Box::new((a, b))), yes, no)
            }),
        ]
    })
}

/// The value by the rules of bmv2: unlimited precision. `None` where even this model's 128 bits may be too few.
fn model(number: &Number, packet: &Packet) -> Option<i128> {
    let two = |operands: &(Number, Number)| {
        Some((model(&operands.0, packet)?, model(&operands.1, packet)?))
    };
    Some(match &number.kind {
        NumberKind::Constant(value) => value.low() as i128,
        NumberKind::Field(field) => match field.slot {
            Slot::Word { word } if field.signed => i128::from(packet.word(word) as i64),
            Slot::Word { word } => i128::from(packet.word(word)),
            _ => return None,
        },
        NumberKind::Binary(operator, operands) => {
            let (left, right) = two(operands)?;
            match operator {
                Operator::Add => left.checked_add(right)?,
                Operator::Subtract => left.checked_sub(right)?,
                Operator::Multiply => left.checked_mul(right)?,
                Operator::And => left & right,
                Operator::Or => left | right,
                Operator::Xor => left ^ right,
                Operator::ShiftLeft => left.checked_mul(1 << right)?,
                Operator::ShiftRight => left >> right,
                Operator::Divide | Operator::Modulo => return None,
            }
        }
        NumberKind::Not(operand) => !model(operand, packet)?,
        NumberKind::Wrap(operand, bits) => {
            let value = model(operand, packet)?.rem_euclid(1 << bits);
            if value >= 1 << (bits - 1) {
                value - (1 << bits)
            } else {
                value
            }
        }
        NumberKind::Saturate {
            operand,
            bits,
            signed: true,
        } => model(operand, packet)?.clamp(-(1 << (bits - 1)), (1 << (bits - 1)) - 1),
        NumberKind::Saturate {
            operand,
            bits,
            signed: false,
        } => model(operand, packet)?.clamp(0, (1 << bits) - 1),
        NumberKind::Choose(parts) => {
            let Truth::Compare(Comparison::Less, operands) = &parts.0 else {
                return None;
            };
            let (left, right) = two(operands)?;
            let (yes, no) = (model(&parts.1, packet)?, model(&parts.2, packet)?);
            if left < right { yes } else { no }
        }
        _ => return None,
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn lowered_is_exact(number in number(), values in prop::array::uniform6(any::<u64>())) {
        let mut packet = Packet::default();
        packet.reset(FIELDS.len(), 0, 0);
        for ((bits, signed, word), value) in FIELDS.into_iter().zip(values) {
            packet.set_word(word, Fit::new(bits, signed).word(value));
        }
        let document = json!({});
        let at = Json::root(&document);
        let lowering = Lowering { at: &at };
        let scope = Scope { packet: &packet, parameters: &[] };
        let Some(expected) = model(&number, &packet) else { return Ok(()) };
        // Refused is allowed, and only where something may need more than 128 bits; wrong is not.
        if let Ok(word) = lowering.word(&number) {
            prop_assert_eq!(word.evaluate(scope), expected as u64);
        } else {
            prop_assert!(wide(&number));
        }
        if let Ok(double) = lowering.double(&number) {
            prop_assert_eq!(double.evaluate(scope), expected as u128);
        }
        let zero = Truth::Compare(Comparison::LessOrEqual, Box::new((number.clone(), constant(0))));
        if let Ok(condition) = lowering.condition(&zero) {
            prop_assert_eq!(condition.evaluate(scope), expected <= 0);
        }
    }
}

/// Whether any part may need more than 127 bits.
fn wide(number: &Number) -> bool {
    let below = match &number.kind {
        NumberKind::Binary(_, operands) => wide(&operands.0) || wide(&operands.1),
        NumberKind::Not(operand)
        | NumberKind::Wrap(operand, _)
        | NumberKind::Saturate { operand, .. } => wide(operand),
        NumberKind::Choose(parts) => {
            let Truth::Compare(_, operands) = &parts.0 else {
                return false;
            };
            wide(&operands.0) || wide(&operands.1) || wide(&parts.1) || wide(&parts.2)
        }
        _ => false,
    };
    below || !number.range.fits(127)
}

#[test]
fn wide_fields() {
    let mut packet = Packet::default();
    packet.reset(8, 0, 0);
    packet.set_double(0, u128::MAX - 5);
    packet.set_double(2, 7);
    let wide = |word| {
        Number::field(Field {
            slot: Slot::Wide { word, words: 2 },
            bits: 128,
            signed: false,
            valid: None,
        })
    };
    let document = json!({});
    let at = Json::root(&document);
    let lowering = Lowering { at: &at };
    let scope = Scope {
        packet: &packet,
        parameters: &[],
    };
    let sum = Number::binary(Operator::Add, wide(0), wide(2));
    assert_eq!(
        lowering.double(&sum).unwrap().evaluate(scope),
        1,
        "modulo 2^128"
    );
    assert_eq!(lowering.word(&sum).unwrap().evaluate(scope), 1);
    let shifted = Number::binary(Operator::ShiftRight, wide(0), constant(64));
    assert_eq!(lowering.word(&shifted).unwrap().evaluate(scope), u64::MAX);
    let less = Truth::Compare(Comparison::Less, Box::new((wide(2), wide(0))));
    assert!(lowering.condition(&less).unwrap().evaluate(scope));
    let high = Number::binary(Operator::ShiftRight, sum, constant(1));
    let error = lowering.double(&high).unwrap_err();
    assert!(
        error.message.contains("more than 128 bits"),
        "the carry counts here: {error}"
    );
}
