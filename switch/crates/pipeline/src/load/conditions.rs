//! Booleans become jumps.

use super::assemble::Jumps;
use super::ast::{Number, NumberKind, Range, Truth};
use super::lower::{Lowering, Operand};
use crate::error::LoadError;
use crate::program::{Comparison, ExternOperation, Instruction, Place, Span, Wide, WideOperation};

impl Lowering<'_, '_, '_, '_> {
    /// Code that jumps if the truth is `when`, and falls through otherwise.
    pub(crate) fn branch(&mut self, truth: &Truth, when: bool) -> Result<Jumps, LoadError> {
        let mark = self.out.mark();
        let jumps = self.emit_branch(truth, when)?;
        self.out.release(mark);
        Ok(jumps)
    }

    fn emit_branch(&mut self, truth: &Truth, when: bool) -> Result<Jumps, LoadError> {
        Ok(match truth {
            Truth::Constant(value) if *value == when => self.out.jump(Instruction::Jump(0)),
            Truth::Constant(_) => Jumps::default(),
            Truth::NonZero(number) => return self.branch_non_zero(number, when),
            Truth::Not(inner) => return self.branch(inner, !when),
            Truth::And(parts) | Truth::Or(parts) => {
                // The value one part alone decides with.
                let deciding = matches!(truth, Truth::Or(_));
                let first = self.branch(&parts.0, deciding)?;
                if when == deciding {
                    return Ok(first.and(self.branch(&parts.1, when)?));
                }
                let second = self.branch(&parts.1, when)?;
                self.out.land(first);
                second
            }
            Truth::Same(parts) => {
                let (left, right) = (self.bit(&parts.0)?, self.bit(&parts.1)?);
                let comparison = if when {
                    Comparison::Equal
                } else {
                    Comparison::NotEqual
                };
                self.out.jump(Instruction::JumpIf {
                    comparison,
                    left,
                    right,
                    to: 0,
                })
            }
            Truth::Choose(parts) => {
                let other = self.branch(&parts.0, false)?;
                let yes = self.branch(&parts.1, when)?;
                let end = self.out.jump(Instruction::Jump(0));
                self.out.land(other);
                let no = self.branch(&parts.2, when)?;
                self.out.land(end);
                yes.and(no)
            }
            Truth::Compare(comparison, operands) => {
                let comparison = if when {
                    *comparison
                } else {
                    comparison.negated()
                };
                return self.compare(comparison, &operands.0, &operands.1);
            }
            Truth::SameVariable(left, right) => {
                let to = self.out.word(self.at)?;
                let (left, right) = (*left, *right);
                self.out
                    .external(ExternOperation::EqualVariable { left, right, to });
                self.jump_if(to, when)
            }
        })
    }

    fn bit(&mut self, truth: &Truth) -> Result<Place, LoadError> {
        let range = Range::unsigned(1);
        let kind = NumberKind::FromTruth(Box::new(truth.clone()));
        self.place(&Number { range, kind })
    }

    fn jump_if(&mut self, left: Place, when: bool) -> Jumps {
        self.out.jump(if when {
            Instruction::JumpIfNotEqual {
                left,
                to: 0,
                value: 0,
            }
        } else {
            Instruction::JumpIfEqual {
                left,
                to: 0,
                value: 0,
            }
        })
    }

    fn branch_non_zero(&mut self, number: &Number, when: bool) -> Result<Jumps, LoadError> {
        if let NumberKind::FromTruth(inner) = &number.kind {
            return self.branch(inner, when);
        }
        if number.range.fits(64) {
            return Ok(match self.operand(number)? {
                Operand::Place(place) => self.jump_if(place, when),
                Operand::Constant(value) if (value != 0) == when => {
                    self.out.jump(Instruction::Jump(0))
                }
                Operand::Constant(_) => Jumps::default(),
            });
        }
        let zero = Number::constant(super::json::Integer::small(0));
        let comparison = if when {
            Comparison::NotEqual
        } else {
            Comparison::Equal
        };
        self.compare(comparison, number, &zero)
    }

    fn compare(
        &mut self,
        comparison: Comparison,
        left: &Number,
        right: &Number,
    ) -> Result<Jumps, LoadError> {
        let signed = left.range.negative || right.range.negative;
        // In one representation: two's complement as soon as one may be negative.
        let fits = |range: Range| range.bits + u32::from(signed) <= 64;
        if !fits(left.range) || !fits(right.range) {
            return self.compare_wide(comparison, left, right);
        }
        let (left, right) = (self.operand(left)?, self.operand(right)?);
        let (comparison, left, right) = match (left, right) {
            (Operand::Constant(left), Operand::Constant(right)) => {
                let holds = if signed {
                    comparison.holds(left as i64, right as i64)
                } else {
                    comparison.holds(left, right)
                };
                return Ok(if holds {
                    self.out.jump(Instruction::Jump(0))
                } else {
                    Jumps::default()
                });
            }
            (Operand::Constant(value), Operand::Place(place)) => {
                (comparison.exchanged(), place, Operand::Constant(value))
            }
            (Operand::Place(place), right) => (comparison, place, right),
        };
        let to = 0;
        Ok(match (comparison, right) {
            (Comparison::Equal, Operand::Constant(value)) => {
                self.out.jump(Instruction::JumpIfEqual { left, to, value })
            }
            (Comparison::NotEqual, Operand::Constant(value)) => self
                .out
                .jump(Instruction::JumpIfNotEqual { left, to, value }),
            (_, Operand::Constant(value)) if !signed => {
                self.out.jump(Instruction::JumpIfConstant {
                    comparison,
                    left,
                    to,
                    value,
                })
            }
            (_, right) => {
                let right = self.in_place(right)?;
                self.out.jump(if signed {
                    Instruction::JumpIfSigned {
                        comparison,
                        left,
                        right,
                        to,
                    }
                } else {
                    Instruction::JumpIf {
                        comparison,
                        left,
                        right,
                        to,
                    }
                })
            }
        })
    }

    fn compare_wide(
        &mut self,
        comparison: Comparison,
        left: &Number,
        right: &Number,
    ) -> Result<Jumps, LoadError> {
        let (left, left_signed) = self.exact_span(left)?;
        let (right, right_signed) = self.exact_span(right)?;
        let first = self.out.word(self.at)?;
        self.out.wide(WideOperation {
            kind: Wide::Compare(comparison),
            to: Span { first, words: 1 },
            left,
            left_signed,
            right,
            right_signed,
        });
        Ok(self.jump_if(first, true))
    }
}
