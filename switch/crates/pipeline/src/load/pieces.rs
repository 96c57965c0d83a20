//! Numbers put together of fields of more than a word: concatenations, slices, constant shifts. No
//! bit depends on another, so each word is made by itself, by an instruction per field in it. p4c
//! writes `a ++ b` as `(a << n & mask) | b`, many times the cost on whole numbers.

use super::ast::{Number, NumberKind, Operator, is_part, is_put_together, masked};
use super::lower::Lowering;
use crate::bits::mask;
use crate::error::LoadError;
use crate::program::{Instruction, Place, Slot, Span};

/// Pieces of one number; more than any program has needed.
const MOST: usize = 64;

/// Some bits of a word at some place of a number.
#[derive(Debug, Clone, Copy)]
struct Piece {
    from: Place,
    /// The first of its `bits` bits in the word.
    by: u32,
    bits: u32,
    /// Whether the word has bits above those.
    more: bool,
    /// Where they stand in the number.
    at: u32,
}

impl Piece {
    /// This piece's part of the number's bits from `first` on, at most `bits`; `first` is bit 0.
    fn part(self, first: u32, bits: u32) -> Option<Self> {
        let end = (self.at + self.bits).min(first + bits);
        let start = self.at.max(first);
        (start < end).then(|| Self {
            by: self.by + (start - self.at),
            bits: end - start,
            more: self.more || end < self.at + self.bits,
            at: start - first,
            ..self
        })
    }
}

impl Lowering<'_, '_, '_, '_> {
    /// Computes `number` into `to`, modulo its words, if put together of fields; gives whether.
    pub(super) fn put_together(&mut self, number: &Number, to: Span) -> Result<bool, LoadError> {
        if !is_put_together(number) || number.range.negative {
            return Ok(false);
        }
        let bits = u32::from(to.words) * 64;
        let mut pieces = self.pieces(number, bits)?;
        if pieces.len() > MOST {
            return Ok(false);
        }
        let words = usize::from(to.first)..usize::from(to.first) + usize::from(to.words);
        // A word of the result may overwrite a word that the next one needs.
        for piece in &mut pieces {
            if words.contains(&piece.from.into()) {
                let (from, to) = (piece.from, self.out.word(self.at)?);
                self.out.push(Instruction::Copy { from, to });
                piece.from = to;
            }
        }
        for index in 0..to.words {
            let parts: Vec<Piece> = pieces
                .iter()
                .filter_map(|piece| piece.part(u32::from(index) * 64, 64))
                .collect();
            self.word_of(&parts, to.first + index)?;
        }
        Ok(true)
    }

    fn word_of(&mut self, parts: &[Piece], to: Place) -> Result<(), LoadError> {
        let Some((first, others)) = parts.split_first() else {
            self.out.push(Instruction::Constant { to, value: 0 });
            return Ok(());
        };
        self.place_part(*first, to)?;
        for part in others {
            let mark = self.out.mark();
            let right = if part.by == 0 && part.at == 0 && !part.more {
                part.from
            } else {
                let right = self.out.word(self.at)?;
                self.place_part(*part, right)?;
                right
            };
            let left = to;
            self.out.push(Instruction::Or { left, right, to });
            self.out.release(mark);
        }
        Ok(())
    }

    /// Brings the bits of a piece to their place in a word of zeros.
    fn place_part(&mut self, part: Piece, to: Place) -> Result<(), LoadError> {
        let Piece { from, by, bits, .. } = part;
        // A shift to the left cuts the bits above the word.
        let cut = part.more && part.at + bits < 64;
        let left = match (by, part.at) {
            (0, 0) => {
                self.copy(from, to, if part.more { 64 - bits as u8 } else { 0 });
                return Ok(());
            }
            (0, _) => from,
            _ => {
                self.out.push(Instruction::Slice {
                    from,
                    to,
                    by: by as u8,
                    mask: mask(if part.more { bits } else { 64 }),
                });
                to
            }
        };
        if part.at > 0 {
            self.out.push(Instruction::ShiftLeftConstant {
                left,
                to,
                by: part.at as u8,
                cut: if cut { 64 - (part.at + bits) as u8 } else { 0 },
            });
        }
        Ok(())
    }

    /// The pieces of a number that is put together, modulo 2^`bits`.
    fn pieces(&mut self, number: &Number, bits: u32) -> Result<Vec<Piece>, LoadError> {
        if bits == 0 {
            return Ok(Vec::new());
        }
        let whole = |from: Place, bits: u32, at: u32| Piece {
            from,
            by: 0,
            bits,
            more: false,
            at,
        };
        let mut pieces = match &number.kind {
            NumberKind::Field(field) if field.bits > 64 => match field.slot {
                Slot::Wide { word, words } => (0..words)
                    .map(|index| {
                        let bits = (field.bits - index * 64).min(64);
                        whole((word + index) as Place, bits, index * 64)
                    })
                    .collect(),
                _ => return self.at.refuse("a field of more than a word in a word"),
            },
            NumberKind::Parameter(word) if number.range.bits > 64 => {
                let words = number.range.bits.div_ceil(64);
                (0..words)
                    .map(|index| {
                        let bits = (number.range.bits - index * 64).min(64);
                        whole((word + index) as Place, bits, index * 64)
                    })
                    .collect()
            }
            NumberKind::Binary(operator, operands) if is_of_long_parts(number) => {
                let (left, right) = &**operands;
                let by = right.as_u32().unwrap_or(u32::MAX);
                match (operator, masked(operands, is_part)) {
                    (Operator::And, Some((number, kept))) => self.pieces(number, bits.min(kept))?,
                    (Operator::ShiftLeft, _) => {
                        let mut pieces = self.pieces(left, bits.saturating_sub(by))?;
                        pieces.iter_mut().for_each(|piece| piece.at += by);
                        pieces
                    }
                    (Operator::ShiftRight, _) => {
                        let pieces = self.pieces(left, bits.saturating_add(by))?;
                        let pieces = pieces.into_iter();
                        pieces.filter_map(|piece| piece.part(by, bits)).collect()
                    }
                    _ => {
                        let mut pieces = self.pieces(left, bits)?;
                        pieces.extend(self.pieces(right, bits)?);
                        pieces
                    }
                }
            }
            // A part of at most a word, computed in any way.
            _ => vec![whole(self.place(number)?, number.range.bits, 0)],
        };
        pieces = pieces
            .into_iter()
            .filter_map(|piece| piece.part(0, bits))
            .collect();
        Ok(pieces)
    }
}

/// Whether a number can be taken apart, and has to be: it or an operand is of more than a word.
pub(super) fn is_of_long_parts(number: &Number) -> bool {
    let long = |number: &Number| number.range.bits > 64;
    match &number.kind {
        NumberKind::Binary(_, operands) => {
            (long(number) || long(&operands.0) || long(&operands.1)) && is_put_together(number)
        }
        _ => false,
    }
}
