//! From unlimited precision to 64 and 128 bits.
//!
//! Addition, subtraction, multiplication, and the bitwise operators are the same modulo any power of two, so where only
//! the low bits of a result are used they are computed in words whatever the operands are. Everything that looks at
//! a whole value (comparison, right shift, division, saturation) is computed in the narrowest type that, by the ranges of
//! its operands, holds it exactly; a value that 128 bits may not hold is refused.

use super::ast::{Number, NumberKind, Operator, Range, Truth};
use super::json::Json;
use crate::error::LoadError;
use crate::expression::{Comparison, Condition, Double, Element, Word};
use crate::packet::Slot;

/// Lowers expressions; complaints name the place of `at`.
pub(crate) struct Lowering<'a, 'b> {
    pub(crate) at: &'b Json<'a>,
}

impl Lowering<'_, '_> {
    fn too_wide<T>(&self) -> Result<T, LoadError> {
        self.at
            .refuse("this computes with numbers of more than 128 bits, which is not supported")
    }

    /// `number` modulo 2^64.
    pub(crate) fn word(&self, number: &Number) -> Result<Word, LoadError> {
        Ok(match &number.kind {
            NumberKind::Constant(value) => Word::Constant(value.low() as u64),
            NumberKind::Field(field) => match field.slot {
                Slot::Word { word } | Slot::Wide { word, .. } => Word::Slot(word),
                Slot::Variable { .. } => return self.too_wide(),
            },
            NumberKind::Parameter(word) => Word::Parameter(*word),
            NumberKind::Element {
                first,
                stride,
                size,
                index,
            } => match first.slot {
                Slot::Word { word } | Slot::Wide { word, .. } => {
                    Word::Element(Box::new(self.element(word, *stride, *size, index)?))
                }
                Slot::Variable { .. } => return self.too_wide(),
            },
            NumberKind::Binary(operator, operands) => {
                return self.binary_word(*operator, &operands.0, &operands.1);
            }
            NumberKind::Not(operand) => Word::Not(Box::new(self.word(operand)?)),
            NumberKind::Wrap(operand, bits) => {
                if operand.range.fits(*bits)
                    && (operand.range.negative || operand.range.bits < *bits)
                {
                    return self.word(operand);
                }
                match bits {
                    1..64 => Word::SignExtend(Box::new(self.word(operand)?), *bits),
                    _ => return self.word(operand),
                }
            }
            NumberKind::Saturate {
                operand,
                bits,
                signed,
            } => {
                if operand.range.fits(64) && *bits <= 64 {
                    let (low, high) = limits(*bits, *signed);
                    let source = Box::new(self.word(operand)?);
                    let (low, high) = (low as i64, high as u64);
                    Word::Clamp {
                        signed: operand.range.negative,
                        low,
                        high,
                        operand: source,
                    }
                } else {
                    Word::Truncate(Box::new(self.saturated(operand, *bits, *signed)?))
                }
            }
            NumberKind::Choose(parts) => {
                let (condition, yes, no) = &**parts;
                Word::Choose(Box::new((
                    self.condition(condition)?,
                    self.word(yes)?,
                    self.word(no)?,
                )))
            }
            NumberKind::FromTruth(truth) => match self.condition(truth)? {
                // The bit a boolean is made from, where it is one already.
                Condition::NonZero(word) if is_bit(truth) => word,
                condition => Word::Condition(Box::new(condition)),
            },
        })
    }

    fn binary_word(
        &self,
        operator: Operator,
        left: &Number,
        right: &Number,
    ) -> Result<Word, LoadError> {
        let pair =
            || -> Result<_, LoadError> { Ok(Box::new((self.word(left)?, self.word(right)?))) };
        Ok(match operator {
            Operator::Add => Word::Add(pair()?),
            Operator::Subtract => Word::Subtract(pair()?),
            Operator::Multiply => Word::Multiply(pair()?),
            Operator::Or => Word::Or(pair()?),
            Operator::Xor => Word::Xor(pair()?),
            Operator::And => match (constant(left), constant(right)) {
                (_, Some(mask)) => self.masked(left, mask)?,
                (Some(mask), _) => self.masked(right, mask)?,
                _ => Word::And(pair()?),
            },
            Operator::ShiftLeft => {
                Word::ShiftLeft(Box::new((self.word(left)?, self.amount(right)?)))
            }
            Operator::ShiftRight if left.range.fits(64) => Word::ShiftRight {
                signed: left.range.negative,
                operands: Box::new((self.word(left)?, self.amount(right)?)),
            },
            Operator::Divide | Operator::Modulo
                if left.range.fits(64)
                    && right.range.fits(64)
                    && !left.range.negative
                    && !right.range.negative =>
            {
                if operator == Operator::Divide {
                    Word::Divide(pair()?)
                } else {
                    Word::Modulo(pair()?)
                }
            }
            Operator::ShiftRight | Operator::Divide | Operator::Modulo => {
                Word::Truncate(Box::new(self.binary_double(operator, left, right)?))
            }
        })
    }

    /// `number & mask`; nothing to do where no bit beyond the mask can be set.
    fn masked(&self, number: &Number, mask: u128) -> Result<Word, LoadError> {
        let operand = self.word(number)?;
        let covered = mask & mask.wrapping_add(1) == 0
            && !number.range.negative
            && number.range.bits <= mask.count_ones();
        let mask = mask as u64;
        Ok(if covered || mask == u64::MAX {
            operand
        } else {
            Word::Mask(Box::new(operand), mask)
        })
    }

    /// A shift amount: what does not fit a word, or is negative, shifts everything out.
    fn amount(&self, number: &Number) -> Result<Word, LoadError> {
        if number.range.fits(64) {
            self.word(number)
        } else {
            self.at.refuse("a shift amount of more than 64 bits")
        }
    }

    fn element(
        &self,
        word: u32,
        stride: u32,
        size: u32,
        index: &Number,
    ) -> Result<Element, LoadError> {
        // A negative index becomes a huge one, which is beyond the end as well.
        Ok(Element {
            word,
            stride,
            size,
            index: self.exact_word(index)?,
        })
    }

    /// `number` as it is, which must fit 64 bits.
    pub(crate) fn exact_word(&self, number: &Number) -> Result<Word, LoadError> {
        if number.range.fits(64) {
            self.word(number)
        } else {
            self.at
                .refuse("a number of more than 64 bits where only 64 are supported")
        }
    }

    /// `number` modulo 2^128.
    pub(crate) fn double(&self, number: &Number) -> Result<Double, LoadError> {
        if number.range.fits(64) {
            return Ok(match constant(number) {
                Some(value) => Double::Constant(value),
                None => Double::Extend {
                    signed: number.range.negative,
                    operand: Box::new(self.word(number)?),
                },
            });
        }
        Ok(match &number.kind {
            NumberKind::Constant(value) => Double::Constant(value.low()),
            NumberKind::Field(field) => match field.slot {
                Slot::Wide { word, words: 2 } => Double::Slot(word),
                _ => return self.too_wide(),
            },
            NumberKind::Parameter(word) => Double::Parameter(*word),
            NumberKind::Element {
                first,
                stride,
                size,
                index,
            } => match first.slot {
                Slot::Wide { word, words: 2 } => {
                    Double::Element(Box::new(self.element(word, *stride, *size, index)?))
                }
                _ => return self.too_wide(),
            },
            NumberKind::Binary(operator, operands) => {
                return self.binary_double(*operator, &operands.0, &operands.1);
            }
            NumberKind::Not(operand) => Double::Not(Box::new(self.double(operand)?)),
            NumberKind::Wrap(operand, bits) => match bits {
                1..128 => Double::SignExtend(Box::new(self.double(operand)?), *bits),
                _ => return self.double(operand),
            },
            NumberKind::Saturate {
                operand,
                bits,
                signed,
            } => return self.saturated(operand, *bits, *signed),
            NumberKind::Choose(parts) => {
                let (condition, yes, no) = &**parts;
                Double::Choose(Box::new((
                    self.condition(condition)?,
                    self.double(yes)?,
                    self.double(no)?,
                )))
            }
            NumberKind::FromTruth(_) => Double::Extend {
                signed: false,
                operand: Box::new(self.word(number)?),
            },
        })
    }

    fn saturated(&self, operand: &Number, bits: u32, signed: bool) -> Result<Double, LoadError> {
        if !operand.range.fits(128) {
            return self.too_wide();
        }
        let (low, high) = limits(bits, signed);
        let source = Box::new(self.double(operand)?);
        Ok(Double::Clamp {
            signed: operand.range.negative,
            low,
            high,
            operand: source,
        })
    }

    fn binary_double(
        &self,
        operator: Operator,
        left: &Number,
        right: &Number,
    ) -> Result<Double, LoadError> {
        let pair =
            || -> Result<_, LoadError> { Ok(Box::new((self.double(left)?, self.double(right)?))) };
        Ok(match operator {
            Operator::Add => Double::Add(pair()?),
            Operator::Subtract => Double::Subtract(pair()?),
            Operator::Multiply => Double::Multiply(pair()?),
            Operator::And => Double::And(pair()?),
            Operator::Or => Double::Or(pair()?),
            Operator::Xor => Double::Xor(pair()?),
            Operator::ShiftLeft => {
                Double::ShiftLeft(Box::new((self.double(left)?, self.amount(right)?)))
            }
            Operator::ShiftRight => {
                if !left.range.fits(128) {
                    return self.too_wide();
                }
                let operands = Box::new((self.double(left)?, self.amount(right)?));
                Double::ShiftRight {
                    signed: left.range.negative,
                    operands,
                }
            }
            Operator::Divide | Operator::Modulo => {
                if left.range.negative || right.range.negative {
                    return self
                        .at
                        .refuse("division of signed numbers is not supported");
                }
                if !left.range.fits(128) || !right.range.fits(128) {
                    return self.too_wide();
                }
                if operator == Operator::Divide {
                    Double::Divide(pair()?)
                } else {
                    Double::Modulo(pair()?)
                }
            }
        })
    }

    /// A boolean.
    pub(crate) fn condition(&self, truth: &Truth) -> Result<Condition, LoadError> {
        let pair = |parts: &(Truth, Truth)| -> Result<_, LoadError> {
            Ok(Box::new((
                self.condition(&parts.0)?,
                self.condition(&parts.1)?,
            )))
        };
        Ok(match truth {
            Truth::Constant(value) => Condition::Constant(*value),
            Truth::NonZero(number) => {
                if let NumberKind::FromTruth(inner) = &number.kind {
                    return self.condition(inner);
                }
                if number.range.fits(64) {
                    Condition::NonZero(self.word(number)?)
                } else if number.range.fits(128) {
                    Condition::NonZeroDouble(self.double(number)?)
                } else {
                    return self.too_wide();
                }
            }
            Truth::Not(operand) => Condition::Not(Box::new(self.condition(operand)?)),
            Truth::And(parts) => Condition::And(pair(parts)?),
            Truth::Or(parts) => Condition::Or(pair(parts)?),
            Truth::Same(parts) => Condition::Same(pair(parts)?),
            Truth::Choose(parts) => Condition::Choose(Box::new((
                self.condition(&parts.0)?,
                self.condition(&parts.1)?,
                self.condition(&parts.2)?,
            ))),
            Truth::Compare(comparison, operands) => {
                return self.compare(*comparison, &operands.0, &operands.1);
            }
        })
    }

    fn compare(
        &self,
        comparison: Comparison,
        left: &Number,
        right: &Number,
    ) -> Result<Condition, LoadError> {
        if let Some(condition) = self.compare_bytes(comparison, left, right)? {
            return Ok(condition);
        }
        let signed = left.range.negative || right.range.negative;
        // Both in one representation: two's complement as soon as one may be negative.
        let fits = |range: Range, width: u32| range.bits + u32::from(signed) <= width;
        if fits(left.range, 64) && fits(right.range, 64) {
            Ok(match (comparison, self.word(left)?, self.word(right)?) {
                (
                    Comparison::Equal | Comparison::NotEqual,
                    Word::Slot(word),
                    Word::Constant(constant),
                ) => Condition::SlotIs {
                    word,
                    constant,
                    equal: comparison == Comparison::Equal,
                },
                (_, left, right) => Condition::Compare {
                    comparison,
                    signed,
                    operands: Box::new((left, right)),
                },
            })
        } else if fits(left.range, 128) && fits(right.range, 128) {
            let operands = Box::new((self.double(left)?, self.double(right)?));
            Ok(Condition::CompareDouble {
                comparison,
                signed,
                operands,
            })
        } else {
            self.too_wide()
        }
    }

    /// Fields of more than 128 bits can be compared for equality.
    fn compare_bytes(
        &self,
        comparison: Comparison,
        left: &Number,
        right: &Number,
    ) -> Result<Option<Condition>, LoadError> {
        let equal = match (&left.kind, &right.kind) {
            (NumberKind::Field(left), NumberKind::Field(right)) => match (left.slot, right.slot) {
                (Slot::Wide { word: a, words: m }, Slot::Wide { word: b, words: n })
                    if m == n && m > 2 && left.signed == right.signed =>
                {
                    Condition::EqualWide {
                        left: a,
                        right: b,
                        words: m,
                    }
                }
                _ => return Ok(None),
            },
            (NumberKind::Field(field), NumberKind::Constant(value))
            | (NumberKind::Constant(value), NumberKind::Field(field)) => match field.slot {
                Slot::Wide {
                    word,
                    words: words @ 3..,
                } => {
                    if value.negative || field.signed || value.bits() > field.bits {
                        return self
                            .at
                            .refuse("a comparison of a wide field with a number it does not hold");
                    }
                    Condition::EqualConstant {
                        word,
                        constant: limbs(&value.magnitude, words as usize),
                    }
                }
                _ => return Ok(None),
            },
            _ => return Ok(None),
        };
        match comparison {
            Comparison::Equal => Ok(Some(equal)),
            Comparison::NotEqual => Ok(Some(Condition::Not(Box::new(equal)))),
            Comparison::Less | Comparison::LessOrEqual => self.too_wide(),
        }
    }
}

/// `magnitude` with zero bytes before it.
pub(crate) fn padded(magnitude: &[u8], length: usize) -> Box<[u8]> {
    let mut bytes = vec![0; length.saturating_sub(magnitude.len())];
    bytes.extend_from_slice(magnitude);
    bytes.into()
}

/// A magnitude as words, least significant first.
pub(crate) fn limbs(magnitude: &[u8], words: usize) -> Box<[u64]> {
    let mut limbs = vec![0; words];
    for (limb, chunk) in limbs.iter_mut().zip(magnitude.rchunks(8)) {
        *limb = chunk
            .iter()
            .fold(0, |value, byte| value << 8 | u64::from(*byte));
    }
    limbs.into()
}

fn constant(number: &Number) -> Option<u128> {
    match &number.kind {
        NumberKind::Constant(value) if number.range.fits(128) => Some(value.low()),
        _ => None,
    }
}

/// Whether the truth is that of a number that is zero or one.
fn is_bit(truth: &Truth) -> bool {
    matches!(truth, Truth::NonZero(number) if number.range == Range::unsigned(1))
}

/// The least and the greatest number of a width.
fn limits(bits: u32, signed: bool) -> (i128, u128) {
    if signed {
        let high = crate::bits::mask_double(bits.saturating_sub(1));
        (-(high as i128) - 1, high)
    } else {
        (0, crate::bits::mask_double(bits))
    }
}

#[cfg(test)]
mod tests;
