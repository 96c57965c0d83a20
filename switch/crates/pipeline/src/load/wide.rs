//! Numbers of more than a word become wide operations.

use super::ast::{Number, NumberKind, Operator};
use super::fields::Field;
use super::lower::Lowering;
use crate::error::LoadError;
use crate::program::{self, ExternOperation, Instruction, Place, Slot, Span, Wide, WideOperation};

/// Bits an exact intermediate result may need.
const WIDEST: u32 = 1 << 16;

/// Words of the widest number that is divided.
const WIDEST_DIVISION: u16 = 64;

impl Lowering<'_, '_, '_, '_> {
    /// A shift amount: one that does not fit a word, or is negative, shifts everything out.
    pub(super) fn amount(&mut self, number: &Number) -> Result<Place, LoadError> {
        if number.range.fits(64) {
            return self.place(number);
        }
        let (from, signed) = self.exact_span(number)?;
        let to = self.out.temporary(1, self.at)?;
        self.out.wide_of(Wide::Amount, to, from, signed);
        Ok(to.first)
    }

    /// `number` in as many words as it takes; whether a longer one is extended by its sign.
    pub(crate) fn exact_span(&mut self, number: &Number) -> Result<(Span, bool), LoadError> {
        let bits = number.range.bits + u32::from(number.range.negative);
        if bits > WIDEST {
            return self.at.refuse(format!(
                "this computes with numbers of more than {WIDEST} bits"
            ));
        }
        self.span(number, bits.div_ceil(64).max(1))
    }

    /// `number` modulo 2^(64 `words`), or exact; whether a longer one is extended by its sign.
    fn span(&mut self, number: &Number, words: u32) -> Result<(Span, bool), LoadError> {
        let signed = number.range.negative;
        if number.range.fits(64) {
            let first = self.place(number)?;
            return Ok((Span { first, words: 1 }, signed));
        }
        let bits = number.range.bits + u32::from(signed);
        let held = match number.kind {
            NumberKind::Field(Field {
                slot: Slot::Wide { word, words: has },
                ..
            }) => Some((word, has)),
            NumberKind::Parameter(word) => Some((word, bits.div_ceil(64))),
            _ => None,
        };
        if let Some((word, has)) = held {
            let first = word as Place;
            let words = words.min(has) as u16;
            return Ok((Span { first, words }, signed));
        }
        let to = self.out.temporary(words.min(bits.div_ceil(64)), self.at)?;
        self.wide_to(number, to)?;
        Ok((to, signed))
    }

    /// Computes `number` into `to`, modulo its words; no operand is there unless that is harmless.
    pub(crate) fn wide_to(&mut self, number: &Number, to: Span) -> Result<(), LoadError> {
        let mark = self.out.mark();
        self.emit_wide(number, to)?;
        self.out.release(mark);
        Ok(())
    }

    fn emit_wide(&mut self, number: &Number, to: Span) -> Result<(), LoadError> {
        let words = u32::from(to.words);
        if self.put_together(number, to)? {
            return Ok(());
        }
        match &number.kind {
            NumberKind::Constant(value) => {
                for (to, &value) in (to.first..).zip(&value.limbs(to.words.into())) {
                    self.out.push(Instruction::Constant { to, value });
                }
            }
            NumberKind::Field(_) | NumberKind::Parameter(_) => {
                let (from, signed) = self.span(number, words)?;
                if signed {
                    self.out.wide_of(Wide::Copy, to, from, signed);
                } else if from != to {
                    for index in 0..to.words {
                        let to = to.first + index;
                        self.out.push(if index < from.words {
                            let from = from.first + index;
                            Instruction::Copy { from, to }
                        } else {
                            Instruction::Constant { to, value: 0 }
                        });
                    }
                }
            }
            NumberKind::Element {
                first,
                stride,
                size,
                index,
            } => {
                let (has, fit) = match first.slot {
                    Slot::Word { .. } => (1, first.signed),
                    Slot::Wide { words, .. } => (words, first.signed),
                    Slot::Variable { .. } => return self.at.refuse("a varbit is not a number"),
                };
                let element = program::Element {
                    first: Span {
                        first: self.low_word(first)?,
                        words: has as u16,
                    },
                    stride: *stride,
                    size: *size,
                    // A negative index becomes a huge one, which is beyond the end as well.
                    index: self.exact_place(index)?,
                };
                let from = if has == words {
                    to
                } else {
                    self.out.temporary(has, self.at)?
                };
                self.out
                    .external(ExternOperation::LoadElement { element, to: from });
                if from != to {
                    self.out.wide_of(Wide::Copy, to, from, fit);
                }
            }
            NumberKind::Binary(operator, operands) => {
                return self.wide_binary(*operator, &operands.0, &operands.1, to);
            }
            NumberKind::Not(inner) => {
                let (from, signed) = self.span(inner, words)?;
                self.out.wide_of(Wide::Not, to, from, signed);
            }
            NumberKind::Wrap(inner, bits) => {
                let (from, signed) = self.span(inner, words.min(bits.div_ceil(64)))?;
                let kind = if *bits >= words * 64 {
                    Wide::Copy
                } else {
                    Wide::Fit {
                        bits: *bits,
                        signed: true,
                    }
                };
                self.out.wide_of(kind, to, from, signed);
            }
            NumberKind::Saturate {
                operand,
                bits,
                signed,
            } => {
                let (from, negative) = self.exact_span(operand)?;
                let (bits, signed) = (*bits, *signed);
                self.out
                    .wide_of(Wide::Clamp { bits, signed }, to, from, negative);
            }
            NumberKind::Choose(parts) => {
                let (condition, yes, no) = &**parts;
                let other = self.branch(condition, false)?;
                self.wide_to(yes, to)?;
                let end = self.out.jump(Instruction::Jump(0));
                self.out.land(other);
                self.wide_to(no, to)?;
                self.out.land(end);
            }
            NumberKind::FromTruth(_) => {
                let first = self.place(number)?;
                let from = Span { first, words: 1 };
                self.out.wide_of(Wide::Copy, to, from, false);
            }
        }
        Ok(())
    }

    fn wide_binary(
        &mut self,
        operator: Operator,
        left: &Number,
        right: &Number,
        to: Span,
    ) -> Result<(), LoadError> {
        let words = u32::from(to.words);
        let one = |first| Span { first, words: 1 };
        let ((left, left_signed), (right, right_signed), kind) = match operator {
            Operator::ShiftLeft => {
                let left = self.span(left, words)?;
                (left, (one(self.amount(right)?), false), Wide::ShiftLeft)
            }
            Operator::ShiftRight => {
                let left = self.exact_span(left)?;
                (left, (one(self.amount(right)?), false), Wide::ShiftRight)
            }
            Operator::Divide | Operator::Modulo => {
                if left.range.negative || right.range.negative {
                    return self
                        .at
                        .refuse("division of signed numbers is not supported");
                }
                let (left, right) = (self.exact_span(left)?, self.exact_span(right)?);
                // Division takes a step per bit and word.
                if left.0.words.max(right.0.words) > WIDEST_DIVISION {
                    return self
                        .at
                        .refuse("division of numbers of more than 4096 bits is not supported");
                }
                // One bit more than the divisor: the remainder is shifted before it is compared.
                let room = u32::from(left.0.words.max(right.0.words)) + 1;
                let remainder = self.out.temporary(room, self.at)?;
                let kind = if operator == Operator::Divide {
                    Wide::Divide(remainder)
                } else {
                    Wide::Modulo(remainder)
                };
                (left, right, kind)
            }
            Operator::Add
            | Operator::Subtract
            | Operator::Multiply
            | Operator::And
            | Operator::Or
            | Operator::Xor => {
                let kind = match operator {
                    Operator::Add => Wide::Add,
                    Operator::Subtract => Wide::Subtract,
                    Operator::Multiply => Wide::Multiply,
                    Operator::And => Wide::And,
                    Operator::Or => Wide::Or,
                    _ => Wide::Xor,
                };
                (self.span(left, words)?, self.span(right, words)?, kind)
            }
        };
        self.out.wide(WideOperation {
            kind,
            to,
            left,
            left_signed,
            right,
            right_signed,
        });
        Ok(())
    }
}
