//! Arithmetic on numbers of more than a word becomes code, word by word; what is rare or long is
//! called.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};

use super::lower::Lower;
use super::memory::Callback;
use crate::program::{Comparison, Fit, Span, Wide, WideOperation};

impl Lower<'_, '_> {
    pub(super) fn wide(&mut self, number: u32) {
        let source = self.source;
        let operation = &source.program.wide[number as usize];
        let (left, right) = (Side::Left, Side::Right);
        match &operation.kind {
            Wide::Copy => self.each(operation, |_, left, _| left),
            Wide::Not => self.each(operation, |lower, left, _| lower.builder.ins().bnot(left)),
            Wide::And => self.each(operation, |lower, left, right| {
                lower.builder.ins().band(left, right)
            }),
            Wide::Or => self.each(operation, |lower, left, right| {
                lower.builder.ins().bor(left, right)
            }),
            Wide::Xor => self.each(operation, |lower, left, right| {
                lower.builder.ins().bxor(left, right)
            }),
            Wide::Fit { bits, signed } => {
                self.each(operation, |_, left, _| left);
                self.fit_wide(operation.to, *bits, *signed);
            }
            Wide::Compare(comparison @ (Comparison::Equal | Comparison::NotEqual)) => {
                let words = operation.left.words.max(operation.right.words);
                let mut different = self.constant(0);
                // The word above both is only sign.
                for index in 0..=words {
                    let left = self.wide_word(operation, left, index);
                    let right = self.wide_word(operation, right, index);
                    let bits = self.builder.ins().bxor(left, right);
                    different = self.builder.ins().bor(different, bits);
                }
                let code = match comparison {
                    Comparison::Equal => IntCC::Equal,
                    _ => IntCC::NotEqual,
                };
                let holds = self.compared(code, different, 0);
                let holds = self.as_word(holds);
                self.set(operation.to.first, holds);
            }
            Wide::Amount => {
                let zero = self.constant(0);
                let high = (1..operation.left.words).fold(zero, |bits, index| {
                    let word = self.wide_word(operation, left, index);
                    self.builder.ins().bor(bits, word)
                });
                let low = self.wide_word(operation, left, 0);
                let most = self.constant(u64::MAX);
                let amount = self.builder.ins().select(high, most, low);
                self.set(operation.to.first, amount);
            }
            _ => {
                let number = self.constant(number.into());
                self.call(Callback::Wide, &[number]);
            }
        }
    }

    fn each(
        &mut self,
        operation: &WideOperation,
        operator: impl Fn(&mut Self, Value, Value) -> Value,
    ) {
        for index in 0..operation.to.words {
            let left = self.wide_word(operation, Side::Left, index);
            let right = self.wide_word(operation, Side::Right, index);
            let value = operator(self, left, right);
            self.set(operation.to.first + index, value);
        }
    }

    /// Word `index` of an operand that is extended to any length.
    fn wide_word(&mut self, operation: &WideOperation, side: Side, index: u16) -> Value {
        let (span, signed) = match side {
            Side::Left => (operation.left, operation.left_signed),
            Side::Right => (operation.right, operation.right_signed),
        };
        if index < span.words {
            self.get(span.first + index)
        } else if signed && span.words > 0 {
            let last = self.get(span.first + span.words - 1);
            self.sign(last)
        } else {
            self.constant(0)
        }
    }

    fn sign(&mut self, word: Value) -> Value {
        let by = self.constant(63);
        self.builder.ins().sshr(word, by)
    }

    /// As [`crate::program::fit`].
    fn fit_wide(&mut self, to: Span, bits: u32, signed: bool) {
        let top = ((bits.max(1) - 1) / 64) as u16;
        if top >= to.words {
            return;
        }
        let last = self.get(to.first + top);
        let last = self.fit(last, Fit::new((bits.max(1) - 1) % 64 + 1, signed));
        self.set(to.first + top, last);
        let fill = if signed {
            self.sign(last)
        } else {
            self.constant(0)
        };
        for index in top + 1..to.words {
            self.set(to.first + index, fill);
        }
    }
}

#[derive(Clone, Copy)]
enum Side {
    Left,
    Right,
}
