//! Arithmetic on numbers of more than a word, in place, word by word.

use crate::bits::mask;
use crate::program::{Comparison, Span, Wide, WideOperation, fit};

/// Word `index` of a number that is extended to any length.
fn word(words: &[u64], span: Span, signed: bool, index: usize) -> u64 {
    let first = usize::from(span.first);
    let length = usize::from(span.words);
    if index < length {
        words[first + index]
    } else if signed && words[first + length - 1] >> 63 == 1 {
        u64::MAX
    } else {
        0
    }
}

impl WideOperation {
    fn left(&self, words: &[u64], index: usize) -> u64 {
        word(words, self.left, self.left_signed, index)
    }

    fn right(&self, words: &[u64], index: usize) -> u64 {
        word(words, self.right, self.right_signed, index)
    }

    pub(crate) fn perform(&self, words: &mut [u64]) {
        let first = usize::from(self.to.first);
        let length = usize::from(self.to.words);
        match &self.kind {
            Wide::Copy => self.each(words, |left, _| left),
            Wide::Not => self.each(words, |left, _| !left),
            Wide::And => self.each(words, |left, right| left & right),
            Wide::Or => self.each(words, |left, right| left | right),
            Wide::Xor => self.each(words, |left, right| left ^ right),
            Wide::Add => {
                let mut carry = false;
                for index in 0..length {
                    let (sum, over) = self
                        .left(words, index)
                        .overflowing_add(self.right(words, index));
                    let (sum, again) = sum.overflowing_add(carry.into());
                    words[first + index] = sum;
                    carry = over | again;
                }
            }
            Wide::Subtract => {
                let mut borrow = false;
                for index in 0..length {
                    let (rest, under) = self
                        .left(words, index)
                        .overflowing_sub(self.right(words, index));
                    let (rest, again) = rest.overflowing_sub(borrow.into());
                    words[first + index] = rest;
                    borrow = under | again;
                }
            }
            Wide::Multiply => self.multiply(words),
            Wide::ShiftLeft => self.shift_left(words),
            Wide::ShiftRight => self.shift_right(words),
            Wide::Divide(remainder) => self.divide(words, *remainder, true),
            Wide::Modulo(remainder) => self.divide(words, *remainder, false),
            Wide::Fit { bits, signed } => {
                self.each(words, |left, _| left);
                fit(&mut words[first..first + length], *bits, *signed);
            }
            Wide::Clamp { bits, signed } => self.clamp(words, *bits, *signed),
            Wide::Compare(comparison) => {
                words[first] = u64::from(self.compare(words, *comparison));
            }
            Wide::Amount => {
                let high =
                    (1..usize::from(self.left.words)).any(|index| self.left(words, index) != 0);
                words[first] = if high { u64::MAX } else { self.left(words, 0) };
            }
        }
    }

    fn each(&self, words: &mut [u64], operator: impl Fn(u64, u64) -> u64) {
        for index in 0..usize::from(self.to.words) {
            let value = operator(self.left(words, index), self.right(words, index));
            words[usize::from(self.to.first) + index] = value;
        }
    }

    /// Modulo the width of the result. This holds for extended operands in two's complement too.
    fn multiply(&self, words: &mut [u64]) {
        let (first, length) = (usize::from(self.to.first), usize::from(self.to.words));
        words[first..first + length].fill(0);
        for place in 0..length {
            let factor = u128::from(self.left(words, place));
            if factor == 0 {
                continue;
            }
            let mut carry = 0u128;
            for index in 0..length - place {
                let at = first + place + index;
                let sum =
                    factor * u128::from(self.right(words, index)) + u128::from(words[at]) + carry;
                words[at] = sum as u64;
                carry = sum >> 64;
            }
        }
    }

    /// The amount as words and bits; `None` if it shifts everything out of `length` words.
    fn amount(&self, words: &[u64], length: usize) -> Option<(usize, u32)> {
        let amount = words[usize::from(self.right.first)];
        (amount < length as u64 * 64).then_some(((amount / 64) as usize, (amount % 64) as u32))
    }

    fn shift_left(&self, words: &mut [u64]) {
        let (first, length) = (usize::from(self.to.first), usize::from(self.to.words));
        let Some((skip, bits)) = self.amount(words, length) else {
            return words[first..first + length].fill(0);
        };
        // From the top, for a number that is shifted where it is.
        for index in (0..length).rev() {
            let part = |down: usize| {
                index
                    .checked_sub(skip + down)
                    .map_or(0, |at| self.left(words, at))
            };
            let value = match bits {
                0 => part(0),
                bits => part(0) << bits | part(1) >> (64 - bits),
            };
            words[first + index] = value;
        }
    }

    fn shift_right(&self, words: &mut [u64]) {
        let (first, length) = (usize::from(self.to.first), usize::from(self.to.words));
        // Beyond the operand's own length only its extension follows.
        let most = usize::from(self.left.words);
        let (skip, bits) = self.amount(words, most).unwrap_or((most, 0));
        for index in 0..length {
            let part = |up: usize| self.left(words, index + skip + up);
            let value = match bits {
                0 => part(0),
                bits => part(0) >> bits | part(1) << (64 - bits),
            };
            words[first + index] = value;
        }
    }

    /// Bit by bit; operands are unsigned.
    fn divide(&self, words: &mut [u64], remainder: Span, quotient: bool) {
        let (first, length) = (usize::from(self.to.first), usize::from(self.to.words));
        let (rest, room) = (usize::from(remainder.first), usize::from(remainder.words));
        words[first..first + length].fill(0);
        words[rest..rest + room].fill(0);
        if (0..usize::from(self.right.words)).all(|index| self.right(words, index) == 0) {
            return;
        }
        for bit in (0..usize::from(self.left.words) * 64).rev() {
            let mut carry = self.left(words, bit / 64) >> (bit % 64) & 1;
            for word in &mut words[rest..rest + room] {
                let out = *word >> 63;
                *word = *word << 1 | carry;
                carry = out;
            }
            let less = (0..room)
                .rev()
                .map(|index| (words[rest + index], self.right(words, index)))
                .find(|(left, right)| left != right)
                .is_some_and(|(left, right)| left < right);
            if less {
                continue;
            }
            let mut borrow = false;
            for index in 0..room {
                let (value, under) = words[rest + index].overflowing_sub(self.right(words, index));
                let (value, again) = value.overflowing_sub(borrow.into());
                words[rest + index] = value;
                borrow = under | again;
            }
            if quotient && bit / 64 < length {
                words[first + bit / 64] |= 1 << (bit % 64);
            }
        }
        if !quotient {
            for index in 0..length {
                words[first + index] = if index < room { words[rest + index] } else { 0 };
            }
        }
    }

    fn clamp(&self, words: &mut [u64], bits: u32, signed: bool) {
        let (first, length) = (usize::from(self.to.first), usize::from(self.to.words));
        let most = usize::from(self.left.words).max(length);
        let negative = self.left_signed && self.left(words, most) != 0;
        // Bits that the value may use besides its sign.
        let room = bits - u32::from(signed);
        let fill = if negative { u64::MAX } else { 0 };
        let over = (0..most).any(|index| {
            let start = index as u32 * 64;
            let kept = mask(room.saturating_sub(start));
            (self.left(words, index) ^ fill) & !kept != 0
        });
        for index in 0..length {
            let start = index as u32 * 64;
            let kept = mask(room.saturating_sub(start));
            words[first + index] = match (negative, over) {
                (true, _) if !signed => 0,
                (_, false) => self.left(words, index),
                (false, true) => kept,
                (true, true) => !kept,
            };
        }
    }

    fn compare(&self, words: &[u64], comparison: Comparison) -> bool {
        let length = usize::from(self.left.words.max(self.right.words));
        // The word above both is only sign.
        let sign = |value: u64| (value as i64, 0u64);
        let top = (
            sign(self.left(words, length)),
            sign(self.right(words, length)),
        );
        let order = top.0.cmp(&top.1).then_with(|| {
            (0..length)
                .rev()
                .map(|index| self.left(words, index).cmp(&self.right(words, index)))
                .find(|order| order.is_ne())
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        comparison.holds(order, std::cmp::Ordering::Equal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number of too many words to be taken apart is shifted in the field where it is.
    #[test]
    fn shifts_a_number_where_it_is() {
        let cases = [
            (Wide::ShiftLeft, 4, [0x10, 0x20, 0x30]),
            (Wide::ShiftLeft, 64, [0, 1, 2]),
            (Wide::ShiftLeft, 68, [0, 0x10, 0x20]),
            (Wide::ShiftLeft, 192, [0, 0, 0]),
            (Wide::ShiftRight, 1, [0, 1 | 1 << 63, 1]),
            (Wide::ShiftRight, 128, [3, 0, 0]),
        ];
        for (kind, amount, expected) in cases {
            let name = format!("{kind:?} by {amount}");
            let span = |first, words| Span { first, words };
            let operation = WideOperation {
                kind,
                to: span(0, 3),
                left: span(0, 3),
                left_signed: false,
                right: span(3, 1),
                right_signed: false,
            };
            let mut words = [1, 2, 3, amount];
            operation.perform(&mut words);
            assert_eq!(words[..3], expected, "{name}");
        }
    }
}
