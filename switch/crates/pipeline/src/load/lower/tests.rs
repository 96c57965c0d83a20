//! Lowered arithmetic against the same expression computed bit by bit, with more bits than any result has.

use std::cmp::Ordering;

use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::load::assemble::Pool;
use crate::load::json::Integer;
use crate::machine::{Machine, Unseen};
use crate::packet::Packet;
use crate::program::{Comparison, Fit, Program};
use crate::state::State;

/// Bits of the model.
const BITS: usize = 900;

/// Two's complement, least significant bit first.
type Model = Vec<bool>;

/// Fields of the packet: width, signed, first word.
const FIELDS: [(u32, bool, u32); 9] = [
    (8, false, 0),
    (8, true, 1),
    (32, false, 2),
    (33, true, 3),
    (64, false, 4),
    (1, false, 5),
    (100, false, 6),
    (128, true, 8),
    (150, false, 10),
];
const WORDS: u32 = 13;

fn field(index: usize) -> Field {
    let (bits, signed, word) = FIELDS[index];
    let words = bits.div_ceil(64);
    Field {
        slot: if words == 1 {
            Slot::Word { word }
        } else {
            Slot::Wide { word, words }
        },
        bits,
        signed,
        valid: None,
        saturating: false,
    }
}

fn constant(value: i128) -> Number {
    let magnitude = Integer::small(value.unsigned_abs() as u64).magnitude;
    Number::constant(Integer {
        negative: value < 0,
        magnitude,
    })
}

fn ones(bits: u32) -> Number {
    let mut magnitude = vec![0xff; bits as usize / 8];
    if !bits.is_multiple_of(8) {
        magnitude.insert(0, (1 << (bits % 8)) - 1);
    }
    Number::constant(Integer {
        negative: false,
        magnitude,
    })
}

fn range(bits: u32, signed: bool) -> Range {
    if signed {
        Range::signed(bits)
    } else {
        Range::unsigned(bits)
    }
}

fn wrapped(operand: Number, bits: u32) -> Number {
    Number {
        range: Range::signed(bits),
        kind: NumberKind::Wrap(Box::new(operand), bits),
    }
}

fn saturated(operand: Number, bits: u32, signed: bool) -> Number {
    Number {
        range: range(bits, signed),
        kind: NumberKind::Saturate {
            operand: Box::new(operand),
            bits,
            signed,
        },
    }
}

fn less(left: Number, right: Number) -> Truth {
    Truth::Compare(Comparison::Less, Box::new((left, right)))
}

fn number() -> impl Strategy<Value = Number> {
    let leaf = prop_oneof![
        3 => (0..FIELDS.len()).prop_map(|index| Number::field(field(index))),
        1 => (-300i128..300).prop_map(constant)
    ];
    leaf.prop_recursive(3, 16, 3, |inner| {
        let operator = prop_oneof![
            Just(Operator::Add),
            Just(Operator::Subtract),
            Just(Operator::Multiply),
            Just(Operator::And),
            Just(Operator::Or),
            Just(Operator::Xor),
        ];
        // p4c cuts every result to a width; here now and then, so that both cut and uncut operands occur.
        let cut = prop_oneof![
            Just(8u32),
            Just(16),
            Just(31),
            Just(32),
            Just(64),
            Just(70),
            Just(128),
            Just(140)
        ];
        let by = prop_oneof![0i128..12, 50i128..80, 120i128..135];
        prop_oneof![
            4 => (operator, inner.clone(), inner.clone())
                .prop_map(|(operator, a, b)| Number::binary(operator, a, b)),
            1 => (inner.clone(), by.clone())
                .prop_map(|(a, by)| Number::binary(Operator::ShiftRight, a, constant(by))),
            1 => (inner.clone(), by)
                .prop_map(|(a, by)| Number::binary(Operator::ShiftLeft, a, constant(by))),
            1 => (inner.clone())
                .prop_map(|a| Number::binary(Operator::ShiftRight, a, Number::field(field(0)))),
            1 => (inner.clone(), 1u32..8).prop_map(|(a, bits)| {
                let amount = Number::binary(Operator::And, Number::field(field(0)), ones(bits));
                Number::binary(Operator::ShiftLeft, a, amount)
            }),
            1 => inner.clone().prop_map(Number::inverted),
            2 => (inner.clone(), cut.clone())
                .prop_map(|(a, bits)| Number::binary(Operator::And, a, ones(bits))),
            1 => (inner.clone(), cut.clone()).prop_map(|(a, bits)| wrapped(a, bits)),
            1 => (inner.clone(), cut, any::<bool>())
                .prop_map(|(a, bits, signed)| saturated(a, bits, signed)),
            1 => (inner.clone(), inner.clone(), inner.clone(), inner)
                .prop_map(|(a, b, yes, no)| Number::choose(less(a, b), yes, no)),
        ]
    })
}

fn bits_of(words: impl Iterator<Item = u64>) -> Model {
    let bits = words.flat_map(|word| (0..64).map(move |bit| word >> bit & 1 == 1));
    bits.collect()
}

/// Extends the low `bits` of a number.
fn extended(mut model: Model, bits: u32, signed: bool) -> Model {
    let sign = signed && model[bits as usize - 1];
    model.resize(BITS, false);
    model[bits as usize..].fill(sign);
    model
}

fn add(a: &Model, b: &Model, mut carry: bool) -> Model {
    let mut sum = Vec::with_capacity(BITS);
    for (&a, &b) in a.iter().zip(b) {
        sum.push(a ^ b ^ carry);
        carry = a && b || carry && (a || b);
    }
    sum
}

fn inverted(a: &Model) -> Model {
    a.iter().map(|bit| !bit).collect()
}

fn shifted(a: &Model, by: usize) -> Model {
    let zeros = std::iter::repeat_n(false, by.min(BITS));
    zeros.chain(a.iter().copied()).take(BITS).collect()
}

fn compared(a: &Model, b: &Model) -> Ordering {
    let sign = |model: &Model| !model[BITS - 1];
    sign(a)
        .cmp(&sign(b))
        .then_with(|| a.iter().rev().cmp(b.iter().rev()))
}

/// The value by the rules of bmv2: unlimited precision. `None` where even the model has too few bits.
fn model(number: &Number, packet: &Packet) -> Option<Model> {
    if number.range.bits as usize + 2 > BITS {
        return None;
    }
    Some(match &number.kind {
        NumberKind::Constant(value) => {
            let words = value.limbs(BITS.div_ceil(64));
            let mut bits = bits_of(words.iter().copied());
            bits.truncate(BITS);
            bits
        }
        NumberKind::Field(field) => {
            let (word, words) = field.slot.words()?;
            let words = packet.wide(word, words).iter().copied();
            extended(bits_of(words), field.bits, field.signed)
        }
        NumberKind::Binary(operator, operands) => {
            let (a, b) = (model(&operands.0, packet)?, model(&operands.1, packet)?);
            let each = |operator: fn(bool, bool) -> bool| {
                a.iter().zip(&b).map(|(a, b)| operator(*a, *b)).collect()
            };
            let amount = || -> usize {
                b.iter()
                    .rev()
                    .fold(0, |sum, bit| sum * 2 + usize::from(*bit))
            };
            match operator {
                Operator::Add => add(&a, &b, false),
                Operator::Subtract => add(&a, &inverted(&b), true),
                Operator::Multiply => {
                    let mut sum = vec![false; BITS];
                    for (place, _) in b.iter().enumerate().filter(|(_, bit)| **bit) {
                        sum = add(&sum, &shifted(&a, place), false);
                    }
                    sum
                }
                Operator::And => each(|a, b| a && b),
                Operator::Or => each(|a, b| a || b),
                Operator::Xor => each(|a, b| a ^ b),
                Operator::ShiftLeft => shifted(&a, amount()),
                Operator::ShiftRight => {
                    let sign = a[BITS - 1];
                    let bits = a.iter().copied().skip(amount());
                    bits.chain(std::iter::repeat(sign)).take(BITS).collect()
                }
                Operator::Divide | Operator::Modulo => return None,
            }
        }
        NumberKind::Not(operand) => inverted(&model(operand, packet)?),
        NumberKind::Wrap(operand, bits) => extended(model(operand, packet)?, *bits, true),
        NumberKind::Saturate {
            operand,
            bits,
            signed,
        } => {
            let value = model(operand, packet)?;
            let low = if *signed {
                shifted(&inverted(&vec![false; BITS]), *bits as usize - 1)
            } else {
                vec![false; BITS]
            };
            let high = model(&ones(bits - u32::from(*signed)), packet)?;
            if compared(&value, &low).is_lt() {
                low
            } else if compared(&value, &high).is_gt() {
                high
            } else {
                value
            }
        }
        NumberKind::Choose(parts) => {
            let Truth::Compare(Comparison::Less, operands) = &parts.0 else {
                return None;
            };
            let (a, b) = (model(&operands.0, packet)?, model(&operands.1, packet)?);
            let (yes, no) = (model(&parts.1, packet)?, model(&parts.2, packet)?);
            if compared(&a, &b).is_lt() { yes } else { no }
        }
        _ => return None,
    })
}

/// Lowers with `emit`, runs the instructions, and gives the packet.
fn run<T>(
    packet: &Packet,
    emit: impl FnOnce(&mut Lowering<'_, '_, '_, '_>) -> Result<T, LoadError>,
) -> Result<(T, Packet), LoadError> {
    let document = json!({});
    let at = Json::root(&document);
    let mut pool = Pool::new(WORDS, 0);
    let mut out = Assembler::new(&mut pool);
    let result = emit(&mut Lowering {
        at: &at,
        out: &mut out,
    })?;
    let mut code = out.code;
    code.push(Instruction::End);
    let program = Program {
        code,
        wide: pool.wide,
        operations: pool.externs,
        ..Program::default()
    };
    let mut packet = packet.clone();
    packet.words.resize(pool.words as usize, 0);
    let mut state = State::new(&program, 0);
    let (mut scratch, mut steps) = (Vec::new(), 0);
    let (mut machine, tables) =
        Machine::new(&program, &mut state, &mut scratch, 0, 0, &mut steps, Unseen);
    machine.apply(tables, &mut packet, 0);
    Ok((result, packet))
}

fn packet(values: &[u64]) -> Packet {
    let mut packet = Packet::default();
    packet.reset(WORDS as usize, 0, 0);
    for (word, value) in values.iter().enumerate() {
        packet.set_word(word as u32, *value);
    }
    for (bits, signed, word) in FIELDS {
        let last = word + bits.div_ceil(64) - 1;
        let fit = Fit::new((bits - 1) % 64 + 1, signed);
        packet.set_word(last, fit.word(packet.word(last)));
    }
    packet
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn lowered_is_exact(
        number in number(),
        target in 0..FIELDS.len(),
        values in prop::array::uniform13(prop_oneof![any::<u64>(), Just(0), Just(u64::MAX), 0u64..300]),
    ) {
        let packet = packet(&values);
        let Some(expected) = model(&number, &packet) else { return Ok(()) };
        let low = expected.iter().take(64).rev().fold(0u64, |sum, bit| sum << 1 | u64::from(*bit));
        let (place, after) = run(&packet, |lowering| lowering.place(&number)).unwrap();
        prop_assert_eq!(after.word(place.into()), low);

        let (_, after) = run(&packet, |lowering| lowering.assign(field(target), &number)).unwrap();
        let (bits, signed, word) = FIELDS[target];
        let words = after.wide(word, bits.div_ceil(64)).iter().copied();
        let mut stored = bits_of(words);
        stored.resize(BITS, signed && stored.last() == Some(&true));
        prop_assert_eq!(stored, extended(expected.clone(), bits, signed));

        let saturating = Field { saturating: true, ..field(target) };
        let (_, after) = run(&packet, |lowering| lowering.assign(saturating, &number)).unwrap();
        let limited = model(&saturated(number.clone(), bits, signed), &packet).unwrap();
        let words = after.wide(word, bits.div_ceil(64)).iter().copied();
        let mut stored = bits_of(words);
        stored.resize(BITS, signed && stored.last() == Some(&true));
        prop_assert_eq!(stored, limited);

        for (comparison, other) in [
            (Comparison::LessOrEqual, constant(0)),
            (Comparison::NotEqual, Number::field(field(target))),
            (Comparison::Less, Number::field(field(target))),
        ] {
            let right = model(&other, &packet).unwrap();
            let truth = Truth::Compare(comparison, Box::new((number.clone(), other)));
            let value = Number { range: Range::unsigned(1), kind: NumberKind::FromTruth(Box::new(truth)) };
            let (place, after) = run(&packet, |lowering| lowering.place(&value)).unwrap();
            let holds = comparison.holds(compared(&expected, &right), Ordering::Equal);
            prop_assert_eq!(after.word(place.into()), u64::from(holds));
        }
    }

    #[test]
    fn division_of_any_width(a in 0..FIELDS.len(), b in 0..FIELDS.len(), values in prop::array::uniform13(any::<u64>())) {
        let unsigned = |index: usize| Number::field(if FIELDS[index].1 { field(6) } else { field(index) });
        let (a, b) = (unsigned(a), unsigned(b));
        let packet = packet(&values);
        let [quotient, rest] = [Operator::Divide, Operator::Modulo]
            .map(|operator| Number::binary(operator, a.clone(), b.clone()));
        if model(&b, &packet).unwrap().iter().any(|bit| *bit) {
            // a = quotient * b + rest, and the rest is less than b.
            let product = Number::binary(Operator::Multiply, quotient, b.clone());
            let sum = Number::binary(Operator::Add, product, rest.clone());
            let equal = Truth::Compare(Comparison::Equal, Box::new((sum, a)));
            let both = Truth::And(Box::new((equal, less(rest, b))));
            let value = Number { range: Range::unsigned(1), kind: NumberKind::FromTruth(Box::new(both)) };
            let (place, after) = run(&packet, |lowering| lowering.place(&value)).unwrap();
            prop_assert_eq!(after.word(place.into()), 1);
        } else {
            for value in [quotient, rest] {
                let (place, after) = run(&packet, |lowering| lowering.place(&value)).unwrap();
                prop_assert_eq!(after.word(place.into()), 0, "division by zero");
            }
        }
    }
}

#[test]
fn what_cannot_be_held_is_refused() {
    let packet = packet(&[]);
    let shifted = Number::binary(
        Operator::ShiftLeft,
        Number::field(field(0)),
        Number::field(field(2)),
    );
    let high = Number::binary(Operator::ShiftRight, shifted, constant(1));
    let error = run(&packet, |lowering| lowering.place(&high)).unwrap_err();
    assert!(error.message.contains("more than 65536 bits"), "{error}");
    let signed = Number::binary(
        Operator::Divide,
        Number::field(field(1)),
        Number::field(field(0)),
    );
    let error = run(&packet, |lowering| lowering.place(&signed)).unwrap_err();
    assert!(error.message.contains("signed"), "{error}");
}
