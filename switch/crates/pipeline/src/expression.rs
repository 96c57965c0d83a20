//! Lowered expressions.
//!
//! bmv2 computes with unlimited precision and cuts at assignment. The loader proves from operand widths which results
//! 64 or 128 bits hold exactly, so evaluation here is plain wrapping arithmetic: [`Word`] modulo 2^64, [`Double`]
//! modulo 2^128, and no allocation.

use crate::packet::Packet;

/// What an expression may look at: the packet, and the runtime data of the entry whose action runs.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    pub(crate) packet: &'a Packet,
    pub(crate) parameters: &'a [u64],
}

/// A field of a stack element whose index is computed. Elements lie `stride` words apart.
#[derive(Debug, Clone)]
pub(crate) struct Element {
    pub(crate) word: u32,
    pub(crate) stride: u32,
    pub(crate) size: u32,
    pub(crate) index: Word,
}

impl Element {
    /// The slot, or `None` when the index is beyond the stack.
    pub(crate) fn resolve(&self, scope: Scope<'_>) -> Option<u32> {
        let index = self.index.evaluate(scope);
        (index < u64::from(self.size)).then(|| self.word + index as u32 * self.stride)
    }
}

/// An expression modulo 2^64.
#[derive(Debug, Clone)]
pub(crate) enum Word {
    Constant(u64),
    Slot(u32),
    Parameter(u32),
    Element(Box<Element>),
    Add(Box<(Word, Word)>),
    Subtract(Box<(Word, Word)>),
    Multiply(Box<(Word, Word)>),
    Divide(Box<(Word, Word)>),
    Modulo(Box<(Word, Word)>),
    And(Box<(Word, Word)>),
    Or(Box<(Word, Word)>),
    Xor(Box<(Word, Word)>),
    Not(Box<Word>),
    Mask(Box<Word>, u64),
    ShiftLeft(Box<(Word, Word)>),
    ShiftRight {
        signed: bool,
        operands: Box<(Word, Word)>,
    },
    SignExtend(Box<Word>, u32),
    Clamp {
        signed: bool,
        low: i64,
        high: u64,
        operand: Box<Word>,
    },
    Choose(Box<(Condition, Word, Word)>),
    Condition(Box<Condition>),
    Truncate(Box<Double>),
}

/// An expression modulo 2^128.
#[derive(Debug, Clone)]
pub(crate) enum Double {
    Constant(u128),
    Slot(u32),
    Parameter(u32),
    Element(Box<Element>),
    Extend {
        signed: bool,
        operand: Box<Word>,
    },
    Add(Box<(Double, Double)>),
    Subtract(Box<(Double, Double)>),
    Multiply(Box<(Double, Double)>),
    Divide(Box<(Double, Double)>),
    Modulo(Box<(Double, Double)>),
    And(Box<(Double, Double)>),
    Or(Box<(Double, Double)>),
    Xor(Box<(Double, Double)>),
    Not(Box<Double>),
    ShiftLeft(Box<(Double, Word)>),
    ShiftRight {
        signed: bool,
        operands: Box<(Double, Word)>,
    },
    SignExtend(Box<Double>, u32),
    Clamp {
        signed: bool,
        low: i128,
        high: u128,
        operand: Box<Double>,
    },
    Choose(Box<(Condition, Double, Double)>),
}

/// How two numbers are compared; greater-than is less-than with the operands exchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
}

impl Comparison {
    fn holds<T: Ord>(self, left: T, right: T) -> bool {
        match self {
            Comparison::Equal => left == right,
            Comparison::NotEqual => left != right,
            Comparison::Less => left < right,
            Comparison::LessOrEqual => left <= right,
        }
    }
}

/// A boolean expression. Operands have no side effects, so evaluation stops at the first that decides.
#[derive(Debug, Clone)]
pub(crate) enum Condition {
    Constant(bool),
    NonZero(Word),
    NonZeroDouble(Double),
    Not(Box<Condition>),
    And(Box<(Condition, Condition)>),
    Or(Box<(Condition, Condition)>),
    Same(Box<(Condition, Condition)>),
    Choose(Box<(Condition, Condition, Condition)>),
    Compare {
        comparison: Comparison,
        signed: bool,
        operands: Box<(Word, Word)>,
    },
    CompareDouble {
        comparison: Comparison,
        signed: bool,
        operands: Box<(Double, Double)>,
    },
    /// A slot and a constant: what most conditions of a program are.
    SlotIs {
        word: u32,
        constant: u64,
        equal: bool,
    },
    /// Two wide slots of the same length.
    EqualWide {
        left: u32,
        right: u32,
        words: u32,
    },
    /// A wide slot and a constant.
    EqualConstant {
        word: u32,
        constant: Box<[u64]>,
    },
}

#[inline(always)]
fn both(operands: &(Word, Word), scope: Scope<'_>) -> (u64, u64) {
    (operands.0.evaluate(scope), operands.1.evaluate(scope))
}

fn both_doubles(operands: &(Double, Double), scope: Scope<'_>) -> (u128, u128) {
    (operands.0.evaluate(scope), operands.1.evaluate(scope))
}

impl Word {
    /// The value; leaves, which are most of what is evaluated, without a call.
    #[inline(always)]
    pub(crate) fn evaluate(&self, scope: Scope<'_>) -> u64 {
        match self {
            Word::Constant(value) => *value,
            Word::Slot(word) => scope.packet.word(*word),
            Word::Parameter(word) => scope.parameters[*word as usize],
            _ => self.compute(scope),
        }
    }

    fn compute(&self, scope: Scope<'_>) -> u64 {
        match self {
            Word::Constant(value) => *value,
            Word::Slot(word) => scope.packet.word(*word),
            Word::Parameter(word) => scope.parameters[*word as usize],
            Word::Element(element) => element
                .resolve(scope)
                .map_or(0, |word| scope.packet.word(word)),
            Word::Add(operands) => {
                let (left, right) = both(operands, scope);
                left.wrapping_add(right)
            }
            Word::Subtract(operands) => {
                let (left, right) = both(operands, scope);
                left.wrapping_sub(right)
            }
            Word::Multiply(operands) => {
                let (left, right) = both(operands, scope);
                left.wrapping_mul(right)
            }
            Word::Divide(operands) => {
                let (left, right) = both(operands, scope);
                left.checked_div(right).unwrap_or(0)
            }
            Word::Modulo(operands) => {
                let (left, right) = both(operands, scope);
                left.checked_rem(right).unwrap_or(0)
            }
            Word::And(operands) => {
                let (left, right) = both(operands, scope);
                left & right
            }
            Word::Or(operands) => {
                let (left, right) = both(operands, scope);
                left | right
            }
            Word::Xor(operands) => {
                let (left, right) = both(operands, scope);
                left ^ right
            }
            Word::Not(operand) => !operand.evaluate(scope),
            Word::Mask(operand, mask) => operand.evaluate(scope) & mask,
            Word::ShiftLeft(operands) => {
                let (left, right) = both(operands, scope);
                if right < 64 { left << right } else { 0 }
            }
            Word::ShiftRight { signed, operands } => {
                let (left, right) = both(operands, scope);
                if *signed {
                    ((left as i64) >> right.min(63)) as u64
                } else if right < 64 {
                    left >> right
                } else {
                    0
                }
            }
            Word::SignExtend(operand, bits) => {
                let shift = 64 - bits;
                (((operand.evaluate(scope) << shift) as i64) >> shift) as u64
            }
            Word::Clamp {
                signed,
                low,
                high,
                operand,
            } => {
                let value = operand.evaluate(scope);
                if *signed && (value as i64) < *low {
                    *low as u64
                } else if (!*signed || value as i64 >= 0) && value > *high {
                    *high
                } else {
                    value
                }
            }
            Word::Choose(parts) => {
                if parts.0.evaluate(scope) {
                    parts.1.evaluate(scope)
                } else {
                    parts.2.evaluate(scope)
                }
            }
            Word::Condition(condition) => u64::from(condition.evaluate(scope)),
            Word::Truncate(operand) => operand.evaluate(scope) as u64,
        }
    }
}

impl Double {
    pub(crate) fn evaluate(&self, scope: Scope<'_>) -> u128 {
        match self {
            Double::Constant(value) => *value,
            Double::Slot(word) => scope.packet.double(*word),
            Double::Parameter(word) => {
                let word = *word as usize;
                u128::from(scope.parameters[word + 1]) << 64 | u128::from(scope.parameters[word])
            }
            Double::Element(element) => element
                .resolve(scope)
                .map_or(0, |word| scope.packet.double(word)),
            Double::Extend { signed, operand } => {
                let value = operand.evaluate(scope);
                if *signed {
                    i128::from(value as i64) as u128
                } else {
                    u128::from(value)
                }
            }
            Double::Add(operands) => {
                let (left, right) = both_doubles(operands, scope);
                left.wrapping_add(right)
            }
            Double::Subtract(operands) => {
                let (left, right) = both_doubles(operands, scope);
                left.wrapping_sub(right)
            }
            Double::Multiply(operands) => {
                let (left, right) = both_doubles(operands, scope);
                left.wrapping_mul(right)
            }
            Double::Divide(operands) => {
                let (left, right) = both_doubles(operands, scope);
                left.checked_div(right).unwrap_or(0)
            }
            Double::Modulo(operands) => {
                let (left, right) = both_doubles(operands, scope);
                left.checked_rem(right).unwrap_or(0)
            }
            Double::And(operands) => {
                let (left, right) = both_doubles(operands, scope);
                left & right
            }
            Double::Or(operands) => {
                let (left, right) = both_doubles(operands, scope);
                left | right
            }
            Double::Xor(operands) => {
                let (left, right) = both_doubles(operands, scope);
                left ^ right
            }
            Double::Not(operand) => !operand.evaluate(scope),
            Double::ShiftLeft(operands) => {
                let right = operands.1.evaluate(scope);
                if right < 128 {
                    operands.0.evaluate(scope) << right
                } else {
                    0
                }
            }
            Double::ShiftRight { signed, operands } => {
                let (left, right) = (operands.0.evaluate(scope), operands.1.evaluate(scope));
                if *signed {
                    ((left as i128) >> right.min(127)) as u128
                } else if right < 128 {
                    left >> right
                } else {
                    0
                }
            }
            Double::SignExtend(operand, bits) => {
                let shift = 128 - bits;
                (((operand.evaluate(scope) << shift) as i128) >> shift) as u128
            }
            Double::Clamp {
                signed,
                low,
                high,
                operand,
            } => {
                let value = operand.evaluate(scope);
                if *signed && (value as i128) < *low {
                    *low as u128
                } else if (!*signed || value as i128 >= 0) && value > *high {
                    *high
                } else {
                    value
                }
            }
            Double::Choose(parts) => {
                if parts.0.evaluate(scope) {
                    parts.1.evaluate(scope)
                } else {
                    parts.2.evaluate(scope)
                }
            }
        }
    }
}

impl Condition {
    pub(crate) fn evaluate(&self, scope: Scope<'_>) -> bool {
        match self {
            Condition::Constant(value) => *value,
            Condition::NonZero(operand) => operand.evaluate(scope) != 0,
            Condition::NonZeroDouble(operand) => operand.evaluate(scope) != 0,
            Condition::Not(operand) => !operand.evaluate(scope),
            Condition::And(operands) => operands.0.evaluate(scope) && operands.1.evaluate(scope),
            Condition::Or(operands) => operands.0.evaluate(scope) || operands.1.evaluate(scope),
            Condition::Same(operands) => operands.0.evaluate(scope) == operands.1.evaluate(scope),
            Condition::Choose(parts) => {
                if parts.0.evaluate(scope) {
                    parts.1.evaluate(scope)
                } else {
                    parts.2.evaluate(scope)
                }
            }
            Condition::SlotIs {
                word,
                constant,
                equal,
            } => (scope.packet.word(*word) == *constant) == *equal,
            Condition::Compare {
                comparison,
                signed,
                operands,
            } => {
                let (left, right) = (operands.0.evaluate(scope), operands.1.evaluate(scope));
                if *signed {
                    comparison.holds(left as i64, right as i64)
                } else {
                    comparison.holds(left, right)
                }
            }
            Condition::CompareDouble {
                comparison,
                signed,
                operands,
            } => {
                let (left, right) = (operands.0.evaluate(scope), operands.1.evaluate(scope));
                if *signed {
                    comparison.holds(left as i128, right as i128)
                } else {
                    comparison.holds(left, right)
                }
            }
            Condition::EqualWide { left, right, words } => {
                scope.packet.wide(*left, *words) == scope.packet.wide(*right, *words)
            }
            Condition::EqualConstant { word, constant } => {
                scope.packet.wide(*word, constant.len() as u32) == &**constant
            }
        }
    }
}
