use super::assemble::Assembler;
use super::ast::{Number, NumberKind, Range};
use super::expressions::{Context, Expression};
use super::fields::Field;
use super::json::Json;
use super::lower::Lowering;
use crate::error::LoadError;
use crate::program::{Element, ExternOperation, Place, Slot, Span};

impl Context<'_> {
    /// `place = number`, where the place is a field, of a stack element or not.
    pub(crate) fn assign(
        &self,
        place: &Json<'_>,
        number: &Number,
        out: &mut Assembler<'_>,
    ) -> Result<(), LoadError> {
        match self.expression(place)? {
            Expression::Number(Number {
                kind: NumberKind::Field(field),
                ..
            }) => Lowering { at: place, out }.assign(field, number),
            Expression::Number(Number {
                kind:
                    NumberKind::Element {
                        first,
                        stride,
                        size,
                        index,
                    },
                ..
            }) => {
                let (word, words) = match first.slot {
                    Slot::Word { word } => (word, 1),
                    Slot::Wide { word, words } => (word, words),
                    Slot::Variable { .. } => {
                        return place
                            .refuse("assigning the varbit of a stack element is not supported");
                    }
                };
                // Computed as for a field of the same type that is not in a stack.
                let from = out.temporary(words, place)?;
                let slot = if words == 1 {
                    Slot::Word {
                        word: from.first.into(),
                    }
                } else {
                    Slot::Wide {
                        word: from.first.into(),
                        words,
                    }
                };
                let field = Field { slot, ..first };
                Lowering { at: place, out }.assign(field, number)?;
                let index = Lowering { at: place, out }.exact_place(&index)?;
                let first = Span {
                    first: word as Place,
                    words: words as u16,
                };
                let element = Element {
                    first,
                    stride,
                    size,
                    index,
                };
                out.external(ExternOperation::StoreElement { element, from });
                Ok(())
            }
            _ => place.refuse("expected a field to assign to"),
        }
    }

    /// Assigns a result of at most `bits` bits; `emit` is given the word for the instruction.
    pub(crate) fn assign_result(
        &self,
        place: &Json<'_>,
        bits: u32,
        out: &mut Assembler<'_>,
        instruction: impl FnOnce(Place, &mut Assembler<'_>),
    ) -> Result<(), LoadError> {
        let target = self.expression(place)?;
        if let Expression::Number(Number {
            kind: NumberKind::Field(field),
            ..
        }) = &target
            && let Slot::Word { word } = field.slot
            && !field.signed
            && field.bits >= bits
        {
            instruction(word as Place, out);
            return Ok(());
        }
        // Without a result, such as a meter's beyond the end, the field stays as it was.
        let word = out.word(place)?;
        if let Expression::Number(number) = &target {
            Lowering { at: place, out }.word_to(number, word, 0)?;
        }
        instruction(word, out);
        let number = Number {
            range: Range::unsigned(bits),
            kind: NumberKind::Parameter(word.into()),
        };
        self.assign(place, &number, out)
    }
}
