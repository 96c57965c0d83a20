//! Expressions of unlimited precision become instructions on words.
//!
//! Addition, subtraction, multiplication, and the bitwise operators are the same modulo any power
//! of two: where only low bits are used, they are computed in words for any operands. Operators on
//! a whole value (comparison, right shift, division, saturation) are computed in as many words as
//! hold it exactly, by the ranges of the operands.

use super::assemble::Assembler;
use super::ast::{Number, NumberKind, Operator, Range, Truth, is_put_together, low_mask};
use super::fields::Field;
use super::json::Json;
use super::pieces::is_of_long_parts;
use crate::bits::mask;
use crate::error::LoadError;
use crate::program::{self, ExternOperation, Instruction, Place, Slot, Span, VariablePlace, Wide};

#[derive(Debug, Clone, Copy)]
pub(crate) enum Operand {
    Place(Place),
    Constant(u64),
}

/// Lowers expressions; errors name the place of `at`.
pub(crate) struct Lowering<'j, 'v, 'o, 'p> {
    pub(crate) at: &'v Json<'j>,
    pub(crate) out: &'o mut Assembler<'p>,
}

impl Lowering<'_, '_, '_, '_> {
    /// `number` modulo 2^64.
    pub(crate) fn operand(&mut self, number: &Number) -> Result<Operand, LoadError> {
        match &number.kind {
            NumberKind::Constant(value) => return Ok(Operand::Constant(value.low() as u64)),
            NumberKind::Field(field) => return Ok(Operand::Place(self.low_word(field)?)),
            NumberKind::Parameter(word) => return Ok(Operand::Place(*word as Place)),
            NumberKind::Wrap(inner, bits) if is_whole(inner.range, *bits) => {
                return self.operand(inner);
            }
            NumberKind::Binary(Operator::And, operands) => {
                for (inner, other) in [(&operands.0, &operands.1), (&operands.1, &operands.0)] {
                    if low_mask(other).is_some_and(|bits| {
                        bits >= 64 || !inner.range.negative && inner.range.bits <= bits
                    }) {
                        return self.operand(inner);
                    }
                }
            }
            // The bit a boolean is made from, where it is one already.
            NumberKind::FromTruth(truth) => {
                if let Truth::NonZero(inner) = &**truth
                    && inner.range == Range::unsigned(1)
                {
                    return self.operand(inner);
                }
            }
            _ => {}
        }
        let to = self.out.word(self.at)?;
        self.word_to(number, to, 0)?;
        Ok(Operand::Place(to))
    }

    /// A word that holds `number` modulo 2^64.
    pub(crate) fn place(&mut self, number: &Number) -> Result<Place, LoadError> {
        let operand = self.operand(number)?;
        self.in_place(operand)
    }

    pub(crate) fn in_place(&mut self, operand: Operand) -> Result<Place, LoadError> {
        match operand {
            Operand::Place(place) => Ok(place),
            Operand::Constant(value) => {
                let to = self.out.word(self.at)?;
                self.out.push(Instruction::Constant { to, value });
                Ok(to)
            }
        }
    }

    /// A word that holds `number` as it is, which must fit 64 bits.
    pub(crate) fn exact_place(&mut self, number: &Number) -> Result<Place, LoadError> {
        if number.range.fits(64) {
            self.place(number)
        } else {
            self.at
                .refuse("a number of more than 64 bits where only 64 are supported")
        }
    }

    pub(super) fn low_word(&self, field: &Field) -> Result<Place, LoadError> {
        match field.slot {
            Slot::Word { word } | Slot::Wide { word, .. } => Ok(word as Place),
            Slot::Variable { .. } => self.at.refuse("a varbit is not a number"),
        }
    }

    /// Computes `number` modulo 2^64 into `to`, with the upper `cut` bits cleared.
    pub(crate) fn word_to(&mut self, number: &Number, to: Place, cut: u8) -> Result<(), LoadError> {
        let mark = self.out.mark();
        self.emit_word(number, to, cut)?;
        self.out.release(mark);
        Ok(())
    }

    fn emit_word(&mut self, number: &Number, to: Place, cut: u8) -> Result<(), LoadError> {
        match &number.kind {
            NumberKind::Constant(value) => {
                let value = value.low() as u64 & u64::MAX >> cut;
                self.out.push(Instruction::Constant { to, value });
            }
            NumberKind::Field(_) | NumberKind::Parameter(_) => {
                let from = self.place(number)?;
                self.copy(from, to, cut);
            }
            NumberKind::Binary(Operator::And, _) if is_of_long_parts(number) => {
                let held = number.range.bits <= 64 - u32::from(cut);
                return self.low_of_wide(number, to, if held { 0 } else { cut });
            }
            NumberKind::Binary(operator, operands) => {
                return self.binary(*operator, &operands.0, &operands.1, to, cut);
            }
            NumberKind::Not(inner) => {
                let from = self.place(inner)?;
                self.out.push(Instruction::Not { from, to, cut });
            }
            NumberKind::Wrap(inner, bits) => {
                if *bits >= 64 || is_whole(inner.range, *bits) {
                    return self.word_to(inner, to, cut);
                }
                let from = self.place(inner)?;
                let unused = 64 - *bits as u8;
                self.out.push(Instruction::SignExtend { from, to, unused });
                self.copy(to, to, cut);
            }
            NumberKind::Saturate {
                operand,
                bits,
                signed,
            } => {
                if !operand.range.fits(64) || *bits > 64 {
                    return self.low_of_wide(number, to, cut);
                }
                let from = self.place(operand)?;
                let negative = operand.range.negative;
                self.out.push(if *signed {
                    Instruction::ClampSigned {
                        from,
                        to,
                        signed: negative,
                        limit: mask(bits - 1),
                    }
                } else {
                    Instruction::ClampUnsigned {
                        from,
                        to,
                        signed: negative,
                        limit: mask(*bits),
                    }
                });
                self.copy(to, to, cut);
            }
            NumberKind::Choose(parts) => {
                let (condition, yes, no) = &**parts;
                let other = self.branch(condition, false)?;
                self.word_to(yes, to, cut)?;
                let end = self.out.jump(Instruction::Jump(0));
                self.out.land(other);
                self.word_to(no, to, cut)?;
                self.out.land(end);
            }
            NumberKind::FromTruth(truth) => {
                if let Truth::NonZero(inner) = &**truth
                    && inner.range == Range::unsigned(1)
                {
                    return self.word_to(inner, to, cut);
                }
                let other = self.branch(truth, false)?;
                self.out.push(Instruction::Constant { to, value: 1 });
                let end = self.out.jump(Instruction::Jump(0));
                self.out.land(other);
                self.out.push(Instruction::Constant { to, value: 0 });
                self.out.land(end);
            }
            NumberKind::Element { .. } => return self.low_of_wide(number, to, cut),
        }
        Ok(())
    }

    /// Copies a word without its upper `cut` bits.
    pub(crate) fn copy(&mut self, from: Place, to: Place, cut: u8) {
        if cut > 0 {
            let mask = u64::MAX >> cut;
            self.out.push(Instruction::Mask { from, to, mask });
        } else if from != to {
            self.out.push(Instruction::Copy { from, to });
        }
    }

    fn low_of_wide(&mut self, number: &Number, to: Place, cut: u8) -> Result<(), LoadError> {
        let span = Span {
            first: to,
            words: 1,
        };
        self.wide_to(number, span)?;
        self.copy(to, to, cut);
        Ok(())
    }

    fn binary(
        &mut self,
        operator: Operator,
        left: &Number,
        right: &Number,
        to: Place,
        cut: u8,
    ) -> Result<(), LoadError> {
        let exact = left.range.fits(64) && right.range.fits(64);
        let operator = match operator {
            Operator::Add => program::Operator::Add,
            Operator::Subtract => program::Operator::Subtract,
            Operator::Multiply => program::Operator::Multiply,
            Operator::Or => program::Operator::Or,
            Operator::Xor => program::Operator::Xor,
            Operator::And => {
                for (inner, other) in [(left, right), (right, left)] {
                    if let Some(bits) = low_mask(other) {
                        if bits == 0 {
                            self.out.push(Instruction::Constant { to, value: 0 });
                            return Ok(());
                        }
                        let held = !inner.range.negative && inner.range.bits <= bits;
                        let limit = if held { 0 } else { 64 - bits.min(64) as u8 };
                        return self.word_to(inner, to, cut.max(limit));
                    }
                }
                program::Operator::And
            }
            Operator::ShiftLeft => {
                return match right.as_u32() {
                    Some(by @ ..64) => {
                        let left = self.place(left)?;
                        let by = by as u8;
                        self.out
                            .push(Instruction::ShiftLeftConstant { left, to, by, cut });
                        Ok(())
                    }
                    _ => {
                        let left = self.place(left)?;
                        let right = self.amount(right)?;
                        let operator = program::Operator::ShiftLeft;
                        self.out.push(Instruction::Binary {
                            operator,
                            left,
                            right,
                            to,
                            cut,
                        });
                        Ok(())
                    }
                };
            }
            Operator::ShiftRight => return self.shift_right(left, right, to, cut),
            Operator::Divide if exact && !left.range.negative && !right.range.negative => {
                program::Operator::Divide
            }
            Operator::Modulo if exact && !left.range.negative && !right.range.negative => {
                program::Operator::Modulo
            }
            Operator::Divide | Operator::Modulo => {
                let operator_of = |operator| Number::binary(operator, left.clone(), right.clone());
                return self.low_of_wide(&operator_of(operator), to, cut);
            }
        };
        match (self.operand(left)?, self.operand(right)?) {
            (Operand::Place(left), Operand::Constant(value)) => {
                self.with_constant(operator, left, value, to, cut);
            }
            (Operand::Constant(value), Operand::Place(right))
                if !matches!(
                    operator,
                    program::Operator::Subtract
                        | program::Operator::Divide
                        | program::Operator::Modulo
                ) =>
            {
                self.with_constant(operator, right, value, to, cut);
            }
            (left, right) => {
                let (left, right) = (self.in_place(left)?, self.in_place(right)?);
                self.out.push(match operator {
                    program::Operator::Add => Instruction::Add {
                        left,
                        right,
                        to,
                        cut,
                    },
                    program::Operator::Or if cut == 0 => Instruction::Or { left, right, to },
                    operator => Instruction::Binary {
                        operator,
                        left,
                        right,
                        to,
                        cut,
                    },
                });
            }
        }
        Ok(())
    }

    fn with_constant(
        &mut self,
        operator: program::Operator,
        left: Place,
        value: u64,
        to: Place,
        cut: u8,
    ) {
        self.out.push(match operator {
            program::Operator::Add => Instruction::AddConstant {
                left,
                to,
                cut,
                value,
            },
            program::Operator::Subtract => Instruction::AddConstant {
                left,
                to,
                cut,
                value: value.wrapping_neg(),
            },
            program::Operator::And => Instruction::Mask {
                from: left,
                to,
                mask: value & u64::MAX >> cut,
            },
            operator => Instruction::BinaryConstant {
                operator,
                left,
                to,
                cut,
                value,
            },
        });
    }

    fn shift_right(
        &mut self,
        left: &Number,
        right: &Number,
        to: Place,
        cut: u8,
    ) -> Result<(), LoadError> {
        if let (NumberKind::Field(field), Some(by)) = (&left.kind, right.as_u32())
            && let Slot::Wide { word, words } = field.slot
            && by % 64 == 0
            && by / 64 < words
        {
            self.copy((word + by / 64) as Place, to, cut);
            return Ok(());
        }
        if !left.range.fits(64) {
            let shifted = Number::binary(Operator::ShiftRight, left.clone(), right.clone());
            return self.low_of_wide(&shifted, to, cut);
        }
        let from = self.place(left)?;
        let signed = left.range.negative;
        match right.as_u32() {
            Some(by @ ..64) if !signed => self.out.push(Instruction::Slice {
                from,
                to,
                by: by as u8,
                mask: u64::MAX >> cut,
            }),
            _ => {
                let right = self.amount(right)?;
                self.out.push(Instruction::Binary {
                    operator: if signed {
                        program::Operator::ShiftRightSigned
                    } else {
                        program::Operator::ShiftRight
                    },
                    left: from,
                    right,
                    to,
                    cut,
                });
            }
        }
        Ok(())
    }

    pub(crate) fn assign(&mut self, field: Field, number: &Number) -> Result<(), LoadError> {
        if field.saturating {
            let (bits, signed) = (field.bits, field.signed);
            let limited = Number {
                range: if signed {
                    Range::signed(bits)
                } else {
                    Range::unsigned(bits)
                },
                kind: NumberKind::Saturate {
                    operand: Box::new(number.clone()),
                    bits,
                    signed,
                },
            };
            let saturating = false;
            return self.assign(
                Field {
                    saturating,
                    ..field
                },
                &limited,
            );
        }
        let held = if field.signed {
            number.range.bits < field.bits
        } else {
            !number.range.negative && number.range.bits <= field.bits
        };
        match field.slot {
            Slot::Word { word } => {
                let to = word as Place;
                let unused = 64 - field.bits as u8;
                if held {
                    return self.word_to(number, to, 0);
                }
                if !field.signed {
                    return self.word_to(number, to, unused);
                }
                let from = self.place(number)?;
                self.out.push(Instruction::SignExtend { from, to, unused });
            }
            Slot::Wide { word, words } => {
                let to = Span {
                    first: word as Place,
                    words: words as u16,
                };
                let harmless = matches!(
                    &number.kind,
                    NumberKind::Constant(_)
                        | NumberKind::Field(_)
                        | NumberKind::Parameter(_)
                        | NumberKind::Not(_)
                        | NumberKind::Binary(
                            Operator::Add
                                | Operator::Subtract
                                | Operator::And
                                | Operator::Or
                                | Operator::Xor,
                            _
                        )
                );
                if harmless || is_put_together(number) {
                    self.wide_to(number, to)?;
                } else {
                    let from = self.out.temporary(words, self.at)?;
                    self.wide_to(number, from)?;
                    self.out.wide_of(Wide::Copy, to, from, false);
                }
                if !held {
                    let (bits, signed) = (field.bits, field.signed);
                    self.out.wide_of(Wide::Fit { bits, signed }, to, to, false);
                }
            }
            Slot::Variable { .. } => match &number.kind {
                NumberKind::Field(source) => return self.copy_variable(field.slot, source.slot),
                _ => return self.at.refuse("a varbit takes only another varbit"),
            },
        }
        Ok(())
    }

    pub(crate) fn copy_variable(&mut self, to: Slot, from: Slot) -> Result<(), LoadError> {
        let (Some(to), Some(from)) = (VariablePlace::of(to), VariablePlace::of(from)) else {
            return self.at.refuse("expected two varbits");
        };
        if to.capacity != from.capacity {
            return self
                .at
                .refuse("expected two varbits of the same greatest length");
        }
        self.out
            .external(ExternOperation::CopyVariable { from, to });
        Ok(())
    }
}

/// Whether all values of a range are the same as two's complement of `bits`.
fn is_whole(range: Range, bits: u32) -> bool {
    range.fits(bits) && (range.negative || range.bits < bits)
}

#[cfg(test)]
mod tests;
