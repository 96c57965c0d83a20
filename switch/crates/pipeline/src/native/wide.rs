//! Arithmetic on numbers of more than a word becomes code, word by word; what is rare or long is
//! called.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};

use super::lower::{Lower, condition};
use super::memory::Callback;
use crate::bits::mask;
use crate::program::{Comparison, Fit, Span, Wide, WideOperation};

/// Words of numbers whose arithmetic becomes code: 512 bits, and 256 for products, whose code grows with the square.
const MOST_WORDS: u16 = 8;
const MOST_FACTOR_WORDS: u16 = 4;

/// Whether a function of the switch does an operation.
pub(super) fn is_called(operation: &WideOperation) -> bool {
    let words = longest(operation);
    match operation.kind {
        Wide::Divide(_) | Wide::Modulo(_) => true,
        Wide::Multiply => words > MOST_FACTOR_WORDS,
        Wide::Add
        | Wide::Subtract
        | Wide::ShiftLeft
        | Wide::ShiftRight
        | Wide::Clamp { .. }
        | Wide::Compare(
            Comparison::Less
            | Comparison::LessOrEqual
            | Comparison::Greater
            | Comparison::GreaterOrEqual,
        ) => words > MOST_WORDS,
        Wide::Copy
        | Wide::Not
        | Wide::And
        | Wide::Or
        | Wide::Xor
        | Wide::Fit { .. }
        | Wide::Compare(Comparison::Equal | Comparison::NotEqual)
        | Wide::Amount => false,
    }
}

/// The compiler's instructions for an operation, never less than there will be.
pub(super) fn size(operation: &WideOperation) -> usize {
    let words = usize::from(longest(operation));
    match operation.kind {
        _ if is_called(operation) => 8,
        Wide::Multiply => 16 + 16 * words * words,
        // A choice for each power of two of words.
        Wide::ShiftLeft | Wide::ShiftRight => 32 + 20 * words + words * words.ilog2() as usize * 2,
        Wide::Add | Wide::Subtract | Wide::Clamp { .. } | Wide::Compare(_) => 32 + 20 * words,
        _ => 16 + 12 * words,
    }
}

fn longest(operation: &WideOperation) -> u16 {
    let operands = operation.left.words.max(operation.right.words);
    operation.to.words.max(operands)
}

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
            _ if is_called(operation) => {
                let number = self.constant(number.into());
                self.call(Callback::Wide, &[number]);
            }
            Wide::Add => self.with_carries(operation, Lower::add),
            Wide::Subtract => self.with_carries(operation, Lower::subtract),
            Wide::Multiply => self.multiply(operation),
            Wide::ShiftLeft => self.shift_left(operation),
            Wide::ShiftRight => self.shift_right(operation),
            Wide::Clamp { bits, signed } => self.clamp(operation, *bits, *signed),
            Wide::Compare(comparison) => self.compare(operation, *comparison),
            // Always called.
            Wide::Divide(_) | Wide::Modulo(_) => {}
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

    /// The first words of an operand.
    fn wide_words(&mut self, operation: &WideOperation, side: Side, words: u16) -> Vec<Value> {
        (0..words)
            .map(|index| self.wide_word(operation, side, index))
            .collect()
    }

    fn set_words(&mut self, to: Span, values: &[Value]) {
        for (place, value) in (to.first..to.first + to.words).zip(values) {
            self.set(place, *value);
        }
    }

    /// Each word of the result, of two words and the carry of those before.
    fn with_carries(
        &mut self,
        operation: &WideOperation,
        operator: fn(&mut Self, Value, Value) -> (Value, Value),
    ) {
        let mut carry = None;
        for index in 0..operation.to.words {
            let left = self.wide_word(operation, Side::Left, index);
            let right = self.wide_word(operation, Side::Right, index);
            let (mut value, mut over) = operator(self, left, right);
            if let Some(carry) = carry {
                let again;
                (value, again) = operator(self, value, carry);
                over = self.builder.ins().bor(over, again);
            }
            carry = Some(over);
            self.set(operation.to.first + index, value);
        }
    }

    /// The low word of a sum, and its carry.
    fn add(&mut self, left: Value, right: Value) -> (Value, Value) {
        let sum = self.builder.ins().iadd(left, right);
        let over = self.builder.ins().icmp(IntCC::UnsignedLessThan, sum, right);
        (sum, self.as_word(over))
    }

    /// The low word of a difference, and what it borrows.
    fn subtract(&mut self, left: Value, right: Value) -> (Value, Value) {
        let rest = self.builder.ins().isub(left, right);
        let under = self
            .builder
            .ins()
            .icmp(IntCC::UnsignedLessThan, left, right);
        (rest, self.as_word(under))
    }

    fn multiply(&mut self, operation: &WideOperation) {
        let words = operation.to.words;
        let left = self.wide_words(operation, Side::Left, words);
        let right = self.wide_words(operation, Side::Right, words);
        let zero = self.constant(0);
        let mut product = vec![zero; left.len()];
        for (place, factor) in left.iter().enumerate() {
            // Words above an unsigned operand are zero.
            if !operation.left_signed && place >= usize::from(operation.left.words) {
                break;
            }
            let mut carry = zero;
            for (word, other) in product[place..].iter_mut().zip(&right) {
                let low = self.builder.ins().imul(*factor, *other);
                let high = self.builder.ins().umulhi(*factor, *other);
                let (sum, over) = self.add(*word, low);
                let (sum, again) = self.add(sum, carry);
                *word = sum;
                let high = self.builder.ins().iadd(high, over);
                carry = self.builder.ins().iadd(high, again);
            }
        }
        self.set_words(operation.to, &product);
    }

    /// Shifts whole words by the bits of their number, and makes what an amount beyond all words leaves.
    /// `from` tells where a word comes from that moves by some words, if it comes from any.
    fn move_words(
        &mut self,
        mut values: Vec<Value>,
        amount: Value,
        fill: Value,
        from: impl Fn(usize, usize) -> Option<usize>,
    ) -> Vec<Value> {
        let mut words = 1;
        while words < values.len() {
            let bit = self.constant(words as u64 * 64);
            let moves = self.builder.ins().band(amount, bit);
            let moved = |index| from(index, words).and_then(|from| values.get(from).copied());
            let moved: Vec<Value> = (0..values.len())
                .map(|index| moved(index).unwrap_or(fill))
                .collect();
            for (value, moved) in values.iter_mut().zip(moved) {
                *value = self.builder.ins().select(moves, moved, *value);
            }
            words *= 2;
        }
        let bits = values.len() as u64 * 64;
        let beyond = self.compared(IntCC::UnsignedGreaterThanOrEqual, amount, bits);
        for value in &mut values {
            *value = self.builder.ins().select(beyond, fill, *value);
        }
        values
    }

    fn shift_left(&mut self, operation: &WideOperation) {
        let amount = self.get(operation.right.first);
        let left = self.wide_words(operation, Side::Left, operation.to.words);
        let zero = self.constant(0);
        let rest = self.builder.ins().bnot(amount);
        let mut below = zero;
        let mut shifted = Vec::with_capacity(left.len());
        for word in left {
            let own = self.builder.ins().ishl(word, amount);
            // In two steps: the processor takes an amount of 64 for none.
            let from_below = self.shifted_down(below, 1);
            let from_below = self.builder.ins().ushr(from_below, rest);
            shifted.push(self.builder.ins().bor(own, from_below));
            below = word;
        }
        let moved = self.move_words(shifted, amount, zero, usize::checked_sub);
        self.set_words(operation.to, &moved);
    }

    fn shift_right(&mut self, operation: &WideOperation) {
        let amount = self.get(operation.right.first);
        let length = operation.left.words;
        let left = self.wide_words(operation, Side::Left, length + 1);
        let rest = self.builder.ins().bnot(amount);
        let mut shifted = Vec::with_capacity(left.len());
        for pair in left.windows(2) {
            let own = self.builder.ins().ushr(pair[0], amount);
            let from_above = self.shifted(pair[1], 1);
            let from_above = self.builder.ins().ishl(from_above, rest);
            shifted.push(self.builder.ins().bor(own, from_above));
        }
        let fill = left[usize::from(length)];
        let mut moved = self.move_words(shifted, amount, fill, |index, by| Some(index + by));
        moved.resize(moved.len().max(operation.to.words.into()), fill);
        self.set_words(operation.to, &moved);
    }

    fn clamp(&mut self, operation: &WideOperation, bits: u32, signed: bool) {
        let most = operation.left.words.max(operation.to.words);
        let left = self.wide_words(operation, Side::Left, most + 1);
        let fill = left[usize::from(most)];
        // Bits that the value may use besides its sign.
        let room = bits - u32::from(signed);
        let kept = |index: usize| mask(room.saturating_sub(index as u32 * 64));
        let mut over = self.constant(0);
        for (index, word) in left[..usize::from(most)].iter().enumerate() {
            let beyond = self.builder.ins().bxor(*word, fill);
            let beyond = self.masked(beyond, !kept(index));
            over = self.builder.ins().bor(over, beyond);
        }
        for (index, word) in left[..operation.to.words.into()].iter().enumerate() {
            let limit = self.constant(kept(index));
            let limit = self.builder.ins().bxor(limit, fill);
            let mut value = self.builder.ins().select(over, limit, *word);
            if !signed && operation.left_signed {
                value = self.builder.ins().band_not(value, fill);
            }
            self.set(operation.to.first + index as u16, value);
        }
    }

    /// An order of two numbers, from their low words on.
    fn compare(&mut self, operation: &WideOperation, comparison: Comparison) {
        let exchanged = matches!(comparison, Comparison::Greater | Comparison::LessOrEqual);
        let (less, more) = if exchanged {
            (Side::Right, Side::Left)
        } else {
            (Side::Left, Side::Right)
        };
        let length = operation.left.words.max(operation.right.words);
        let mut holds = None;
        for index in 0..=length {
            let left = self.wide_word(operation, less, index);
            let right = self.wide_word(operation, more, index);
            // The word above both is only sign.
            let order = condition(Comparison::Less, index == length);
            let mut own = self.builder.ins().icmp(order, left, right);
            if let Some(lower) = holds {
                let same = self.builder.ins().icmp(IntCC::Equal, left, right);
                let lower = self.builder.ins().band(same, lower);
                own = self.builder.ins().bor(own, lower);
            }
            holds = Some(own);
        }
        let Some(holds) = holds else { return };
        let negated = matches!(
            comparison,
            Comparison::LessOrEqual | Comparison::GreaterOrEqual
        );
        let value = self.as_word(holds);
        let one = self.constant(u64::from(negated));
        let value = self.builder.ins().bxor(value, one);
        self.set(operation.to.first, value);
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
