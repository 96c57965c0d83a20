use super::assemble::{Assembler, Jumps};
use super::ast::{Number, NumberKind, Operator, Range, Truth};
use super::fields::{Field, Instance};
use super::headers::Headers;
use super::json::{Integer, Json};
use super::lower::Lowering;
use crate::error::LoadError;
use crate::program::{Comparison, HeaderReference, Parameter, Place, Program, Slot, VariablePlace};

/// The widest cast, in bits.
const WIDEST_CAST: u32 = 1 << 16;

#[derive(Clone, Copy)]
pub(crate) struct Context<'a> {
    pub(crate) headers: &'a Headers,
    pub(crate) program: &'a Program,
    /// Runtime data of the action the expression is in.
    pub(crate) parameters: &'a [Parameter],
    /// The word of the first of them.
    pub(crate) parameters_at: u32,
}

#[derive(Clone)]
pub(crate) enum HeaderTerm {
    Fixed(Instance),
    /// An element of a stack: the first one, the index, the distance in words, their number.
    Element {
        first: Instance,
        index: Number,
        stride: u32,
        size: u32,
    },
    Choose(Box<(Truth, HeaderTerm, HeaderTerm)>),
}

impl HeaderTerm {
    pub(crate) fn instance(&self) -> Instance {
        match self {
            Self::Fixed(instance)
            | Self::Element {
                first: instance, ..
            } => *instance,
            Self::Choose(parts) => parts.1.instance(),
        }
    }
}

pub(crate) enum Expression {
    Number(Number),
    Truth(Truth),
    Header(HeaderTerm),
    Stack(u32),
    Union(u32),
    UnionStack(u32),
}

impl Context<'_> {
    pub(crate) fn number(&self, json: &Json<'_>) -> Result<Number, LoadError> {
        match self.expression(json)? {
            Expression::Number(number) => Ok(number),
            Expression::Truth(truth) => Ok(Number {
                range: Range::unsigned(1),
                kind: NumberKind::FromTruth(Box::new(truth)),
            }),
            _ => json.refuse("expected a number, found a header"),
        }
    }

    pub(crate) fn truth(&self, json: &Json<'_>) -> Result<Truth, LoadError> {
        match self.expression(json)? {
            Expression::Truth(truth) => Ok(truth),
            Expression::Number(number) => Ok(Truth::NonZero(Box::new(number))),
            _ => json.refuse("expected a boolean, found a header"),
        }
    }

    /// A value object in a word; it must not need more than 64 bits.
    pub(crate) fn word(
        &self,
        json: &Json<'_>,
        out: &mut Assembler<'_>,
    ) -> Result<Place, LoadError> {
        let number = self.number(json)?;
        Lowering { at: json, out }.exact_place(&number)
    }

    /// Code that jumps unless a value object is true.
    pub(crate) fn unless(
        &self,
        json: &Json<'_>,
        out: &mut Assembler<'_>,
    ) -> Result<Jumps, LoadError> {
        let truth = self.truth(json)?;
        Lowering { at: json, out }.branch(&truth, false)
    }

    /// Any value object, `{"type": ..., "value": ...}`.
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
                    kind: NumberKind::Parameter(self.parameters_at + parameter.word),
                })),
                None => value.refuse("the action has fewer parameters"),
            },
            "header" => Ok(Expression::Header(HeaderTerm::Fixed(
                self.headers.instance(&value)?,
            ))),
            "header_stack" => Ok(Expression::Stack(self.headers.stack(&value)?)),
            "header_union" => Ok(Expression::Union(self.headers.unions().union(&value)?)),
            "header_union_stack" => {
                Ok(Expression::UnionStack(self.headers.unions().stack(&value)?))
            }
            "stack_field" => {
                let [stack, field] = value.tuple()?;
                let stack = self.headers.stack(&stack)?;
                let header = self.stack_element(stack, self.last_index(stack));
                // p4c writes the element itself like this.
                if field.text()? == "last" && !self.headers.has_field(header.instance(), "last") {
                    return Ok(Expression::Header(header));
                }
                let field = self.headers.field_of(header.instance(), &field)?;
                Ok(Expression::Number(field_of(&header, field)))
            }
            "union_stack_field" => {
                let [stack, member, field] = value.tuple()?;
                let (stack, _) = self.headers.unions().member(&stack, &member)?;
                let header = self.stack_element(stack, self.last_index(stack));
                let field = self.headers.field_of(header.instance(), &field)?;
                Ok(Expression::Number(field_of(&header, field)))
            }
            other => kind.refuse(format!("{other:?} is not supported in an expression")),
        }
    }

    /// A header and a field. p4c writes `stack[index].isValid()` with an expression as header.
    fn field(&self, pair: &Json<'_>) -> Result<Expression, LoadError> {
        let [header, name] = pair.tuple()?;
        if !header.value.is_object() {
            return Ok(Expression::Number(Number::field(self.headers.field(pair)?)));
        }
        let header = self.header(&header)?;
        let field = self.headers.field_of(header.instance(), &name)?;
        Ok(Expression::Number(field_of(&header, field)))
    }

    /// The index of the last element extracted: `next` minus one, as bit<32>. Before the first,
    /// where P4 leaves it undefined, it is beyond the end.
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
            saturating: false,
        })
    }

    fn stack_element(&self, stack: u32, index: Number) -> HeaderTerm {
        let stack = &self.program.stacks[stack as usize];
        let stride = self.program.layouts[stack.first.layout as usize].words;
        let instance = Instance {
            span: stack.first,
            metadata: false,
        };
        HeaderTerm::Element {
            first: instance,
            index,
            stride,
            size: stack.size,
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
                Ok(Expression::Truth(self.is_valid(&header)))
            }
            "valid_union" => match self.expression(&right()?)? {
                Expression::Union(union) => {
                    let members = self.headers.unions().members(union).iter();
                    let any = members.fold(Truth::Constant(false), |any, member| {
                        let valid = self.is_valid(&HeaderTerm::Fixed(*member));
                        Truth::Or(Box::new((any, valid)))
                    });
                    Ok(Expression::Truth(any))
                }
                _ => right()?.refuse("expected a header union"),
            },
            "dereference_header_stack" => {
                let stack = self.stack(&left()?)?;
                let index = self.number(&right()?)?;
                Ok(Expression::Header(self.stack_element(stack, index)))
            }
            "last_stack_index" => Ok(Expression::Number(self.last_index(self.stack(&right()?)?))),
            "size_stack" => Ok(Expression::Number(self.next_index(self.stack(&right()?)?))),
            "access_field" => {
                let header = self.header(&left()?)?;
                let field = self.headers.field_at(header.instance(), &right()?)?;
                Ok(Expression::Number(field_of(&header, field)))
            }
            other => operator.refuse(format!("operator {other:?} is not supported")),
        }
    }

    fn cast(&self, json: &Json<'_>) -> Result<(Number, u32), LoadError> {
        let right = json.get("right")?;
        match self.number(&right)?.as_u32() {
            Some(bits) if (1..=WIDEST_CAST).contains(&bits) => {
                Ok((self.number(&json.get("left")?)?, bits))
            }
            Some(bits) => right.refuse(format!(
                "a width of {bits} bits; 1 to {WIDEST_CAST} are supported"
            )),
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
            (Expression::Truth(yes), Expression::Number(no)) => Ok(Expression::Truth(
                Truth::Choose(Box::new((condition, yes, Truth::NonZero(Box::new(no))))),
            )),
            (Expression::Number(yes), Expression::Truth(no)) => Ok(Expression::Truth(
                Truth::Choose(Box::new((condition, Truth::NonZero(Box::new(yes)), no))),
            )),
            (Expression::Header(yes), Expression::Header(no)) => {
                if yes.instance().span.layout != no.instance().span.layout {
                    return json.refuse("the two headers are of different types");
                }
                Ok(Expression::Header(HeaderTerm::Choose(Box::new((
                    condition, yes, no,
                )))))
            }
            _ => json.refuse("expected two numbers, two booleans or two headers to choose from"),
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
            (
                Expression::Number(Number {
                    kind: NumberKind::Field(left),
                    ..
                }),
                Expression::Number(Number {
                    kind: NumberKind::Field(right),
                    ..
                }),
            ) if let (Some(left), Some(right)) =
                (VariablePlace::of(left.slot), VariablePlace::of(right.slot)) =>
            {
                let same = Truth::SameVariable(left, right);
                match comparison {
                    Comparison::Equal => Ok(Expression::Truth(same)),
                    Comparison::NotEqual => Ok(Expression::Truth(Truth::Not(Box::new(same)))),
                    _ => json.refuse("varbits have no order"),
                }
            }
            (Expression::Number(left), Expression::Number(right)) => Ok(Expression::Truth(
                Truth::Compare(comparison, Box::new((left, right))),
            )),
            (Expression::Truth(left), Expression::Truth(right)) => {
                let same = Truth::Same(Box::new((left, right)));
                match comparison {
                    Comparison::Equal => Ok(Expression::Truth(same)),
                    Comparison::NotEqual => Ok(Expression::Truth(Truth::Not(Box::new(same)))),
                    _ => json.refuse("booleans have no order"),
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

    pub(crate) fn stacks(&self, json: &Json<'_>) -> Result<Box<[u32]>, LoadError> {
        match self.expression(json)? {
            Expression::Stack(stack) => Ok([stack].into()),
            Expression::UnionStack(stack) => Ok(self.headers.unions().member_stacks(stack)),
            _ => json.refuse("expected a header stack"),
        }
    }

    fn is_valid(&self, header: &HeaderTerm) -> Truth {
        let slot = Slot::Word {
            word: header.instance().span.word,
        };
        let valid = Field {
            slot,
            bits: 1,
            signed: false,
            valid: None,
            saturating: false,
        };
        Truth::NonZero(Box::new(field_of(header, valid)))
    }

    pub(crate) fn header_reference(
        &self,
        json: &Json<'_>,
        out: &mut Assembler<'_>,
    ) -> Result<HeaderReference, LoadError> {
        let header = self.header(json)?;
        self.reference(&header, json, out)
    }

    pub(crate) fn reference(
        &self,
        header: &HeaderTerm,
        json: &Json<'_>,
        out: &mut Assembler<'_>,
    ) -> Result<HeaderReference, LoadError> {
        match header {
            HeaderTerm::Fixed(instance) => Ok(HeaderReference {
                first: instance.span,
                element: None,
            }),
            HeaderTerm::Element {
                first, index, size, ..
            } => {
                let index = Lowering { at: json, out }.exact_place(index)?;
                Ok(HeaderReference {
                    first: first.span,
                    element: Some((index, *size)),
                })
            }
            HeaderTerm::Choose(_) => json.refuse("expected one header, found two to choose from"),
        }
    }
}

/// A field of a header that may be a stack element or one of two.
fn field_of(header: &HeaderTerm, field: Field) -> Number {
    let plain = Number::field(field);
    match header {
        HeaderTerm::Fixed(_) => plain,
        HeaderTerm::Element {
            index,
            stride,
            size,
            ..
        } => {
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
        HeaderTerm::Choose(parts) => {
            let (condition, yes, no) = &**parts;
            // The field is in the first header; the others have it at the same distance.
            let base = header.instance().span;
            let moved = |term: &HeaderTerm| {
                let span = term.instance().span;
                field_of(term, field.moved(base, span))
            };
            Number::choose(condition.clone(), moved(yes), moved(no))
        }
    }
}
