//! Reads the artifact's expressions.

use super::ast::{Number, NumberKind, Operator, Range, Truth};
use super::headers::{Field, Headers, Instance};
use super::json::{Integer, Json};
use super::lower::Lowering;
use crate::error::LoadError;
use crate::expression::{Comparison, Condition, Element, Word};
use crate::packet::Slot;
use crate::program::{HeaderReference, Parameter, Program, Target};

/// What names mean while an expression is read.
#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) headers: &'a Headers,
    pub(crate) program: &'a Program,
    /// Runtime data of the action the expression is in.
    pub(crate) parameters: &'a [Parameter],
}

/// A header or the element of a stack.
#[derive(Clone)]
pub(crate) struct HeaderTerm {
    pub(crate) instance: Instance,
    element: Option<(Number, u32, u32)>,
}

pub(crate) enum Expression {
    Number(Number),
    Truth(Truth),
    Header(HeaderTerm),
    Stack(u32),
}

impl Context<'_> {
    /// A value object that must be a number.
    pub(crate) fn number(&self, json: &Json<'_>) -> Result<Number, LoadError> {
        match self.expression(json)? {
            Expression::Number(number) => Ok(number),
            Expression::Truth(truth) => Ok(Number {
                range: Range::unsigned(1),
                kind: NumberKind::FromTruth(Box::new(truth)),
            }),
            Expression::Header(_) | Expression::Stack(_) => {
                json.refuse("expected a number, found a header")
            }
        }
    }

    /// A value object that must be a boolean.
    pub(crate) fn truth(&self, json: &Json<'_>) -> Result<Truth, LoadError> {
        match self.expression(json)? {
            Expression::Truth(truth) => Ok(truth),
            Expression::Number(number) => Ok(Truth::NonZero(Box::new(number))),
            Expression::Header(_) | Expression::Stack(_) => {
                json.refuse("expected a boolean, found a header")
            }
        }
    }

    /// A value object as a lowered word; it must not need more than 64 bits.
    pub(crate) fn word(&self, json: &Json<'_>) -> Result<Word, LoadError> {
        Lowering { at: json }.exact_word(&self.number(json)?)
    }

    /// A value object as a lowered condition.
    pub(crate) fn condition(&self, json: &Json<'_>) -> Result<Condition, LoadError> {
        Lowering { at: json }.condition(&self.truth(json)?)
    }

    /// Any value object: `{"type": ..., "value": ...}`.
    pub(crate) fn expression(&self, json: &Json<'_>) -> Result<Expression, LoadError> {
        let Some(kind) = json.find("type") else {
            return self.operation(json);
        };
        let value = json.get("value")?;
        match kind.text()? {
            "expression" => self.expression(&value),
            "field" => self.field(&value),
            "hexstr" => Ok(Expression::Number(Number::constant(value.hexadecimal()?))),
            "bool" => Ok(Expression::Truth(Truth::Constant(value.boolean()?))),
            "local" | "runtime_data" => match self.parameters.get(value.number()? as usize) {
                Some(parameter) => Ok(Expression::Number(Number {
                    range: Range::unsigned(parameter.bits),
                    kind: NumberKind::Parameter(parameter.word),
                })),
                None => value.refuse("the action has fewer parameters"),
            },
            "header" => Ok(Expression::Header(HeaderTerm {
                instance: self.headers.instance(&value)?,
                element: None,
            })),
            "header_stack" => Ok(Expression::Stack(self.headers.stack(&value)?)),
            "stack_field" => {
                let [stack, field] = value.tuple()?;
                let stack = self.headers.stack(&stack)?;
                let header = self.stack_element(stack, self.last_index(stack));
                let field = self.headers.field_of(header.instance, &field)?;
                Ok(Expression::Number(field_of(&header, field)))
            }
            other => kind.refuse(format!("{other:?} is not supported in an expression")),
        }
    }

    /// A pair of header and field. p4c writes `stack[index].isValid()` as one whose header is an expression.
    fn field(&self, pair: &Json<'_>) -> Result<Expression, LoadError> {
        let [header, name] = pair.tuple()?;
        if !header.value.is_object() {
            return Ok(Expression::Number(Number::field(self.headers.field(pair)?)));
        }
        let header = self.header(&header)?;
        let field = self.headers.field_of(header.instance, &name)?;
        Ok(Expression::Number(field_of(&header, field)))
    }

    /// The index of the last element extracted: `next` minus one, as bit<32>. Undefined before the first; here it is
    /// beyond the end then.
    fn last_index(&self, stack: u32) -> Number {
        let next = self.next_index(stack);
        let last = Number::binary(
            Operator::Subtract,
            next,
            Number::constant(Integer::small(1)),
        );
        Number::binary(
            Operator::And,
            last,
            Number::constant(Integer::small(u32::MAX.into())),
        )
    }

    fn next_index(&self, stack: u32) -> Number {
        let slot = Slot::Word {
            word: self.program.stacks[stack as usize].next,
        };
        Number::field(Field {
            slot,
            bits: 32,
            signed: false,
            valid: None,
        })
    }

    fn stack_element(&self, stack: u32, index: Number) -> HeaderTerm {
        let stack = &self.program.stacks[stack as usize];
        let stride = self.program.layouts[stack.first.layout as usize].words;
        let instance = Instance {
            span: stack.first,
            metadata: false,
        };
        HeaderTerm {
            instance,
            element: Some((index, stride, stack.size)),
        }
    }

    /// `{"op": ..., "left": ..., "right": ...}`.
    fn operation(&self, json: &Json<'_>) -> Result<Expression, LoadError> {
        let operator = json.get("op")?;
        let left = || json.get("left");
        let right = || json.get("right");
        let binary = |operator| -> Result<Expression, LoadError> {
            let left = match json.find("left") {
                Some(left) => self.number(&left)?,
                None => Number::constant(Integer::small(0)),
            };
            Ok(Expression::Number(Number::binary(
                operator,
                left,
                self.number(&right()?)?,
            )))
        };
        let truths = || -> Result<_, LoadError> {
            Ok(Box::new((self.truth(&left()?)?, self.truth(&right()?)?)))
        };
        match operator.text()? {
            "+" => binary(Operator::Add),
            "-" => binary(Operator::Subtract),
            "*" => binary(Operator::Multiply),
            "/" => binary(Operator::Divide),
            "%" => binary(Operator::Modulo),
            "&" => binary(Operator::And),
            "|" => binary(Operator::Or),
            "^" => binary(Operator::Xor),
            "<<" => binary(Operator::ShiftLeft),
            ">>" => binary(Operator::ShiftRight),
            "~" => Ok(Expression::Number(self.number(&right()?)?.inverted())),
            "==" => self.compare(json, Comparison::Equal, false),
            "!=" => self.compare(json, Comparison::NotEqual, false),
            "<" => self.compare(json, Comparison::Less, false),
            "<=" => self.compare(json, Comparison::LessOrEqual, false),
            ">" => self.compare(json, Comparison::Less, true),
            ">=" => self.compare(json, Comparison::LessOrEqual, true),
            "and" => Ok(Expression::Truth(Truth::And(truths()?))),
            "or" => Ok(Expression::Truth(Truth::Or(truths()?))),
            "not" => Ok(Expression::Truth(Truth::Not(Box::new(
                self.truth(&right()?)?,
            )))),
            "d2b" => Ok(Expression::Truth(Truth::NonZero(Box::new(
                self.number(&right()?)?,
            )))),
            "b2d" => {
                let kind = NumberKind::FromTruth(Box::new(self.truth(&right()?)?));
                Ok(Expression::Number(Number {
                    range: Range::unsigned(1),
                    kind,
                }))
            }
            "two_comp_mod" => {
                let (operand, bits) = self.cast(json)?;
                Ok(Expression::Number(Number {
                    range: Range::signed(bits),
                    kind: NumberKind::Wrap(Box::new(operand), bits),
                }))
            }
            name @ ("usat_cast" | "sat_cast") => {
                let (operand, bits) = self.cast(json)?;
                let signed = name == "sat_cast";
                let range = if signed {
                    Range::signed(bits)
                } else {
                    Range::unsigned(bits)
                };
                let kind = NumberKind::Saturate {
                    operand: Box::new(operand),
                    bits,
                    signed,
                };
                Ok(Expression::Number(Number { range, kind }))
            }
            "?" => self.choose(json),
            "valid" => {
                let header = self.header(&right()?)?;
                let slot = Slot::Word {
                    word: header.instance.span.word,
                };
                let valid = Field {
                    slot,
                    bits: 1,
                    signed: false,
                    valid: None,
                };
                Ok(Expression::Truth(Truth::NonZero(Box::new(field_of(
                    &header, valid,
                )))))
            }
            "dereference_header_stack" => {
                let stack = self.stack(&left()?)?;
                let index = self.number(&right()?)?;
                Ok(Expression::Header(self.stack_element(stack, index)))
            }
            "last_stack_index" => Ok(Expression::Number(self.last_index(self.stack(&right()?)?))),
            "size_stack" => Ok(Expression::Number(self.next_index(self.stack(&right()?)?))),
            "access_field" => {
                let header = self.header(&left()?)?;
                let field = self.headers.field_at(header.instance, &right()?)?;
                Ok(Expression::Number(field_of(&header, field)))
            }
            other => operator.refuse(format!("operator {other:?} is not supported")),
        }
    }

    fn cast(&self, json: &Json<'_>) -> Result<(Number, u32), LoadError> {
        let right = json.get("right")?;
        match self.number(&right)?.as_u32() {
            Some(bits) if (1..=128).contains(&bits) => Ok((self.number(&json.get("left")?)?, bits)),
            Some(bits) => right.refuse(format!("a width of {bits} bits; 1 to 128 are supported")),
            None => right.refuse("expected a constant width"),
        }
    }

    fn choose(&self, json: &Json<'_>) -> Result<Expression, LoadError> {
        let condition = self.truth(&json.get("cond")?)?;
        let (left, right) = (json.get("left")?, json.get("right")?);
        match (self.expression(&left)?, self.expression(&right)?) {
            (Expression::Truth(yes), Expression::Truth(no)) => Ok(Expression::Truth(
                Truth::Choose(Box::new((condition, yes, no))),
            )),
            (Expression::Number(yes), Expression::Number(no)) => {
                Ok(Expression::Number(Number::choose(condition, yes, no)))
            }
            _ => json.refuse("expected two numbers or two booleans to choose from"),
        }
    }

    fn compare(
        &self,
        json: &Json<'_>,
        comparison: Comparison,
        exchanged: bool,
    ) -> Result<Expression, LoadError> {
        let (left, right) = (json.get("left")?, json.get("right")?);
        let (left, right) = if exchanged {
            (right, left)
        } else {
            (left, right)
        };
        match (self.expression(&left)?, self.expression(&right)?) {
            (Expression::Number(left), Expression::Number(right)) => Ok(Expression::Truth(
                Truth::Compare(comparison, Box::new((left, right))),
            )),
            (Expression::Truth(left), Expression::Truth(right)) => {
                let same = Truth::Same(Box::new((left, right)));
                match comparison {
                    Comparison::Equal => Ok(Expression::Truth(same)),
                    Comparison::NotEqual => Ok(Expression::Truth(Truth::Not(Box::new(same)))),
                    Comparison::Less | Comparison::LessOrEqual => {
                        json.refuse("booleans have no order")
                    }
                }
            }
            _ => json.refuse("only numbers and booleans can be compared"),
        }
    }

    pub(crate) fn header(&self, json: &Json<'_>) -> Result<HeaderTerm, LoadError> {
        match self.expression(json)? {
            Expression::Header(header) => Ok(header),
            _ => json.refuse("expected a header"),
        }
    }

    pub(crate) fn stack(&self, json: &Json<'_>) -> Result<u32, LoadError> {
        match self.expression(json)? {
            Expression::Stack(stack) => Ok(stack),
            _ => json.refuse("expected a header stack"),
        }
    }

    pub(crate) fn header_reference(&self, json: &Json<'_>) -> Result<HeaderReference, LoadError> {
        let header = self.header(json)?;
        let element = match &header.element {
            Some((index, _, size)) => {
                Some(Box::new((Lowering { at: json }.exact_word(index)?, *size)))
            }
            None => None,
        };
        Ok(HeaderReference {
            first: header.instance.span,
            element,
        })
    }

    /// Where an assignment goes: a field, fixed or of a stack element.
    pub(crate) fn place(&self, json: &Json<'_>) -> Result<Place, LoadError> {
        match self.expression(json)? {
            Expression::Number(Number {
                kind: NumberKind::Field(field),
                ..
            }) => Ok(Place::Field(field)),
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
                let (word, wide) = match first.slot {
                    Slot::Word { word } => (word, false),
                    Slot::Wide { word, words: 2 } => (word, true),
                    Slot::Wide { .. } | Slot::Variable { .. } => {
                        return json.refuse("assigning a stack element's field of more than 128 bits is not supported");
                    }
                };
                let index = Lowering { at: json }.exact_word(&index)?;
                let element = Box::new(Element {
                    word,
                    stride,
                    size,
                    index,
                });
                Ok(Place::Element(Target::Element {
                    element,
                    wide,
                    fit: first.fit(),
                }))
            }
            _ => json.refuse("expected a field to assign to"),
        }
    }

    /// A target of at most 128 bits.
    pub(crate) fn target(&self, json: &Json<'_>) -> Result<Target, LoadError> {
        match self.place(json)? {
            Place::Element(target) => Ok(target),
            Place::Field(field) => match field.slot {
                Slot::Word { word } => Ok(Target::Word {
                    word,
                    fit: field.fit(),
                }),
                Slot::Wide { word, words: 2 } => Ok(Target::Double {
                    word,
                    fit: field.fit(),
                }),
                Slot::Wide { .. } | Slot::Variable { .. } => {
                    json.refuse("a field of more than 128 bits is not supported here")
                }
            },
        }
    }
}

pub(crate) enum Place {
    Field(Field),
    Element(Target),
}

/// A field of a header that may be a stack element.
fn field_of(header: &HeaderTerm, field: Field) -> Number {
    let plain = Number::field(field);
    match &header.element {
        None => plain,
        Some((index, stride, size)) => {
            let index = Box::new(index.clone());
            let kind = NumberKind::Element {
                first: field,
                stride: *stride,
                size: *size,
                index,
            };
            Number {
                range: plain.range,
                kind,
            }
        }
    }
}
