//! Expressions as the artifact writes them, with what the loader knows about their values.

use super::fields::Field;
use super::json::Integer;
use crate::program::{Comparison, VariablePlace};

/// Bounds of a value: from -2^bits if `negative`, else from zero, to 2^bits - 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Range {
    pub(crate) negative: bool,
    pub(crate) bits: u32,
}

/// Wider than anything that is computed with; additions to it cannot overflow.
const UNBOUNDED: u32 = 1 << 24;

impl Range {
    pub(crate) fn unsigned(bits: u32) -> Self {
        Self {
            negative: false,
            bits,
        }
    }

    pub(crate) fn signed(bits: u32) -> Self {
        Self {
            negative: true,
            bits: bits.saturating_sub(1),
        }
    }

    /// Whether `width` bits hold every value, unsigned or as two's complement.
    pub(crate) fn fits(self, width: u32) -> bool {
        self.bits + u32::from(self.negative) <= width
    }

    fn union(self, other: Self) -> Self {
        Self {
            negative: self.negative || other.negative,
            bits: self.bits.max(other.bits),
        }
    }

    fn wider(self, by: u32) -> Self {
        Self {
            bits: self.bits.saturating_add(by).min(UNBOUNDED),
            ..self
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRight,
}

#[derive(Debug, Clone)]
pub(crate) struct Number {
    pub(crate) range: Range,
    pub(crate) kind: NumberKind,
}

#[derive(Debug, Clone)]
pub(crate) enum NumberKind {
    Constant(Integer),
    Field(Field),
    Parameter(u32),
    /// A field of a stack element: that of element 0, distance in words, number of elements, index.
    Element {
        first: Field,
        stride: u32,
        size: u32,
        index: Box<Number>,
    },
    Binary(Operator, Box<(Number, Number)>),
    Not(Box<Number>),
    /// Two's complement of the given width (`two_comp_mod`).
    Wrap(Box<Number>, u32),
    /// Limited to an unsigned or signed number of the given width (`usat_cast`, `sat_cast`).
    Saturate {
        operand: Box<Number>,
        bits: u32,
        signed: bool,
    },
    Choose(Box<(Truth, Number, Number)>),
    FromTruth(Box<Truth>),
}

#[derive(Debug, Clone)]
pub(crate) enum Truth {
    Constant(bool),
    NonZero(Box<Number>),
    Not(Box<Truth>),
    And(Box<(Truth, Truth)>),
    Or(Box<(Truth, Truth)>),
    Same(Box<(Truth, Truth)>),
    Choose(Box<(Truth, Truth, Truth)>),
    Compare(Comparison, Box<(Number, Number)>),
    SameVariable(VariablePlace, VariablePlace),
}

impl Number {
    pub(crate) fn constant(value: Integer) -> Self {
        let range = Range {
            negative: value.negative,
            bits: value.bits(),
        };
        Self {
            range,
            kind: NumberKind::Constant(value),
        }
    }

    pub(crate) fn field(field: Field) -> Self {
        let range = if field.signed {
            Range::signed(field.bits)
        } else {
            Range::unsigned(field.bits)
        };
        Self {
            range,
            kind: NumberKind::Field(field),
        }
    }

    pub(crate) fn binary(operator: Operator, left: Number, right: Number) -> Self {
        let (a, b) = (left.range, right.range);
        let range = match operator {
            Operator::Add => a.union(b).wider(1),
            Operator::Subtract if !a.negative && !b.negative => Range {
                negative: true,
                ..a.union(b)
            },
            Operator::Subtract => Range {
                negative: true,
                ..a.union(b).wider(1)
            },
            Operator::Multiply => {
                let negative = a.negative || b.negative;
                Range {
                    negative,
                    ..a.wider(b.bits + u32::from(a.negative && b.negative))
                }
            }
            Operator::Divide => a.union(b).wider(u32::from(a.negative)),
            Operator::Modulo => a.union(b),
            Operator::And => match (a.negative, b.negative) {
                (false, false) => Range::unsigned(a.bits.min(b.bits)),
                (false, true) => a,
                (true, false) => b,
                (true, true) => a.union(b),
            },
            Operator::Or | Operator::Xor => a.union(b),
            Operator::ShiftLeft => a.wider(most_shifted(&right)),
            Operator::ShiftRight => Range {
                bits: a.bits.saturating_sub(shift_amount(&right).unwrap_or(0)),
                ..a
            },
        };
        Self {
            range,
            kind: NumberKind::Binary(operator, Box::new((left, right))),
        }
    }

    /// Inverts every bit: -value - 1.
    pub(crate) fn inverted(self) -> Self {
        let range = Range {
            negative: true,
            ..self.range
        };
        Self {
            range,
            kind: NumberKind::Not(Box::new(self)),
        }
    }

    pub(crate) fn choose(condition: Truth, yes: Number, no: Number) -> Self {
        Self {
            range: yes.range.union(no.range),
            kind: NumberKind::Choose(Box::new((condition, yes, no))),
        }
    }

    pub(crate) fn as_u32(&self) -> Option<u32> {
        match &self.kind {
            NumberKind::Constant(value) => value.as_u32(),
            _ => None,
        }
    }
}

/// The largest amount of a shift.
fn most_shifted(right: &Number) -> u32 {
    let by_width = match right.range {
        Range {
            negative: false,
            bits: bits @ ..24,
        } => (1 << bits) - 1,
        _ => UNBOUNDED,
    };
    shift_amount(right).unwrap_or(by_width)
}

fn shift_amount(right: &Number) -> Option<u32> {
    right.as_u32().map(|amount| amount.min(UNBOUNDED))
}

/// The width of a constant whose bits are all ones.
pub(super) fn low_mask(number: &Number) -> Option<u32> {
    match &number.kind {
        NumberKind::Constant(value) if !value.negative => value.is_low_mask(),
        _ => None,
    }
}

/// The number and the width that a mask of low bits leaves of it, of an `and` with one; `of` tells what is asked for.
pub(super) fn masked(
    operands: &(Number, Number),
    of: impl Fn(&Number) -> bool,
) -> Option<(&Number, u32)> {
    let (left, right) = operands;
    let kept = |number, mask| Some((number, low_mask(mask)?));
    let either = [kept(left, right), kept(right, left)];
    either.into_iter().flatten().find(|(number, _)| of(number))
}

/// Whether a part of a number is one of a word, or can be taken apart itself.
pub(super) fn is_part(number: &Number) -> bool {
    let Range { negative, bits } = number.range;
    let parted = matches!(number.kind, NumberKind::Field(_) | NumberKind::Parameter(_));
    !negative && (bits <= 64 || parted || is_put_together(number))
}

/// Whether `pieces` can take a number apart, of more than a word or with an operand that is.
pub(super) fn is_put_together(number: &Number) -> bool {
    match &number.kind {
        NumberKind::Binary(operator, operands) => {
            let (left, right) = &**operands;
            match operator {
                Operator::Or => is_part(left) && is_part(right),
                Operator::And => masked(operands, is_part).is_some(),
                Operator::ShiftLeft | Operator::ShiftRight => {
                    right.as_u32().is_some() && is_part(left)
                }
                _ => false,
            }
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn constant(value: i64) -> Number {
        let magnitude = Integer::small(value.unsigned_abs()).magnitude;
        Number::constant(Integer {
            negative: value < 0,
            magnitude,
        })
    }

    fn holds(range: Range, value: i128) -> bool {
        value < 1 << range.bits
            && value
                >= if range.negative {
                    -(1 << range.bits)
                } else {
                    0
                }
    }

    proptest! {
        #[test]
        fn results_stay_within_their_range(a in any::<i32>(), b in any::<i32>(), shift in 0u32..20) {
            let (left, right) = (i128::from(a), i128::from(b));
            let check = |operator, result| {
                let number = Number::binary(operator, constant(a.into()), constant(b.into()));
                prop_assert!(holds(number.range, result), "{operator:?} {a} {b}: {result} not in {:?}", number.range);
                Ok(())
            };
            check(Operator::Add, left + right)?;
            check(Operator::Subtract, left - right)?;
            check(Operator::Multiply, left * right)?;
            check(Operator::And, left & right)?;
            check(Operator::Or, left | right)?;
            check(Operator::Xor, left ^ right)?;
            if b != 0 {
                check(Operator::Divide, left / right)?;
                check(Operator::Modulo, left % right)?;
            }
            let shifted = |operator| Number::binary(operator, constant(a.into()), constant(shift.into())).range;
            prop_assert!(holds(shifted(Operator::ShiftLeft), left << shift));
            prop_assert!(holds(shifted(Operator::ShiftRight), left >> shift));
            prop_assert!(holds(constant(a.into()).inverted().range, !left));
        }
    }
}
