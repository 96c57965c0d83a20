//! Operations of a parser state.

use std::collections::BTreeSet;

use serde_json::Value;

use super::actions::{Additions, Names, load_primitives};
use super::assemble::{Assembler, append};
use super::ast::{Number, NumberKind, Range};
use super::expressions::Context;
use super::json::Json;
use super::lower::Lowering;
use super::names;
use super::registers::wide_number;
use crate::error::LoadError;
use crate::program::{
    HeaderReference, HeaderSpan, Instruction, Parameter, ParserOperation, Place, Program, Slot,
};

/// A state being written: its operations, and the instructions since the last of them.
pub(super) struct Writing<'a, 'b> {
    pub(super) operations: Vec<ParserOperation>,
    pub(super) code: &'b mut Vec<Instruction>,
    pub(super) at: &'b Json<'a>,
}

impl Writing<'_, '_> {
    /// Makes the instructions written so far an operation.
    pub(super) fn flush(&mut self, out: &mut Assembler<'_>) -> Result<(), LoadError> {
        if out.code.is_empty() {
            return Ok(());
        }
        let copy = |instruction: &Instruction| match *instruction {
            Instruction::Copy { from, to } => Some(ParserOperation::Copy { from, to }),
            _ => None,
        };
        // Most states only copy besides extracting, which needs no instructions.
        if let Some(copies) = out.code.iter().map(copy).collect::<Option<Vec<_>>>() {
            out.code.clear();
            self.operations.extend(copies);
            return Ok(());
        }
        out.push(Instruction::End);
        let start = append(self.code, &std::mem::take(&mut out.code), self.at)?;
        self.operations.push(ParserOperation::Code(start));
        Ok(())
    }

    pub(super) fn push(
        &mut self,
        operation: ParserOperation,
        out: &mut Assembler<'_>,
    ) -> Result<(), LoadError> {
        self.flush(out)?;
        self.operations.push(operation);
        Ok(())
    }
}

pub(super) fn lookahead(pair: &Json<'_>) -> Result<(u32, u32), LoadError> {
    let [offset, bits] = pair.tuple()?;
    let (offset, bits) = (offset.number()?, bits.number()?);
    if offset > 1 << 20 || bits > 1 << 20 {
        return pair.refuse("a lookahead beyond any packet");
    }
    Ok((offset, bits))
}

pub(super) struct Operation<'a, 'b, 'c, 'o, 'p> {
    pub(super) json: &'o Json<'a>,
    pub(super) context: Context<'c>,
    pub(super) names: Names<'c>,
    pub(super) writing: &'o mut Writing<'a, 'b>,
    pub(super) out: &'o mut Assembler<'p>,
    pub(super) additions: &'o mut Additions,
}

impl Operation<'_, '_, '_, '_, '_> {
    pub(super) fn load(&mut self) -> Result<(), LoadError> {
        self.out.note(|| names::statement(self.json));
        let name = self.json.get("op")?;
        let parameters = self.json.get("parameters")?;
        match name.text()? {
            "extract" => {
                let [what] = parameters.tuple()?;
                self.extract(&what, None)
            }
            "extract_VL" => {
                let [what, length] = parameters.tuple()?;
                let length = self.context.word(&length, self.out)?;
                self.extract(&what, Some(length))
            }
            "set" => {
                let [target, source] = parameters.tuple()?;
                self.set(&target, &source)
            }
            "verify" => {
                let [condition, error] = parameters.tuple()?;
                let range = Range::unsigned(1);
                let kind = NumberKind::FromTruth(Box::new(self.context.truth(&condition)?));
                let flag = Lowering {
                    at: &condition,
                    out: self.out,
                }
                .place(&Number { range, kind })?;
                let error = self.error(&error)?;
                self.push(ParserOperation::Verify {
                    condition: flag,
                    error,
                })
            }
            "advance" => {
                let [bits] = parameters.tuple()?;
                let bits = self.context.word(&bits, self.out)?;
                self.push(ParserOperation::Advance { bits })
            }
            "shift" => {
                let [bytes] = parameters.tuple()?;
                let value = u64::from(bytes.number()?) * 8;
                let bits = self.out.word(&bytes)?;
                self.out.push(Instruction::Constant { to: bits, value });
                self.push(ParserOperation::Advance { bits })
            }
            "primitive" => {
                load_primitives(
                    &parameters,
                    self.context,
                    self.names,
                    self.out,
                    self.additions,
                )?;
                // Each in code of its own, so that an `exit` ends only that.
                self.writing.flush(self.out)
            }
            other => name.refuse(format!("parser operation {other:?} is not supported")),
        }
    }

    fn push(&mut self, operation: ParserOperation) -> Result<(), LoadError> {
        self.writing.push(operation, self.out)
    }

    /// The word with an error: an expression, or in older artifacts its number.
    fn error(&mut self, error: &Json<'_>) -> Result<Place, LoadError> {
        if !error.value.is_number() {
            return self.context.word(error, self.out);
        }
        let value = error.number()?.into();
        let to = self.out.word(error)?;
        self.out.push(Instruction::Constant { to, value });
        Ok(to)
    }

    fn set(&mut self, target: &Json<'_>, source: &Json<'_>) -> Result<(), LoadError> {
        if source.get("type")?.text()? == "lookahead" {
            let (offset, bits) = lookahead(&source.get("value")?)?;
            let to = self.out.temporary(bits.div_ceil(64).max(1), source)?;
            self.push(ParserOperation::Lookahead { to, offset, bits })?;
            let number = wide_number(to, bits);
            return self.context.assign(target, &number, self.out);
        }
        let number = self.context.number(source)?;
        self.context.assign(target, &number, self.out)
    }

    fn extract(&mut self, what: &Json<'_>, variable_bits: Option<Place>) -> Result<(), LoadError> {
        let kind = what.get("type")?;
        let name = what.get("value")?;
        let program = self.context.program;
        let headers = self.names.headers;
        match kind.text()? {
            "regular" => {
                // p4c writes an element whose index is computed as an expression.
                let header = if name.value.is_object() {
                    self.context.header_reference(&name, self.out)?
                } else {
                    HeaderReference {
                        first: headers.instance(&name)?.span,
                        element: None,
                    }
                };
                let variable_bits = match variable_bits {
                    None => self.length(what, header.first)?,
                    given => given,
                };
                check_extract(what, header.first, variable_bits.is_some(), program)?;
                let others = headers.unions().others(header.first.word);
                if header.element.is_none() && variable_bits.is_none() && others.is_empty() {
                    return self.push(ParserOperation::ExtractFixed(header.first));
                }
                self.push(ParserOperation::Extract {
                    header,
                    variable_bits,
                    others,
                })
            }
            "stack" => {
                let stack = headers.stack(&name)?;
                self.extract_next(what, stack, Box::default(), variable_bits)
            }
            "union_stack" => {
                let [stack, member] = name.tuple()?;
                let (stack, others) = headers.unions().member(&stack, &member)?;
                self.extract_next(what, stack, others, variable_bits)
            }
            other => kind.refuse(format!("extracting a {other:?} is not supported")),
        }
    }

    /// The bits of the varbit of a header that tells them by its own fields, which are read ahead.
    fn length(&mut self, what: &Json<'_>, header: HeaderSpan) -> Result<Option<Place>, LoadError> {
        let headers = self.names.headers;
        let Some(expression) = headers.length_expression(header) else {
            return Ok(None);
        };
        let mut used = BTreeSet::new();
        locals(expression.value, &mut used);
        let layout = &self.context.program.layouts[header.layout as usize];
        let mut parameters = Vec::new();
        let mut offset = 0;
        for field in &layout.fields {
            if matches!(field.slot, Slot::Variable { .. }) {
                break;
            }
            let bits = field.bits;
            let mut word = 0;
            if used.contains(&(parameters.len() as u64)) {
                let to = self.out.temporary(bits.div_ceil(64), what)?;
                self.push(ParserOperation::Lookahead { to, offset, bits })?;
                word = to.first.into();
            }
            let name = String::new();
            parameters.push(Parameter { name, bits, word });
            offset += bits;
        }
        let context = Context {
            parameters: &parameters,
            ..self.context
        };
        context.word(&expression, self.out).map(Some)
    }

    fn extract_next(
        &mut self,
        what: &Json<'_>,
        stack: u32,
        others: Box<[u32]>,
        variable_bits: Option<Place>,
    ) -> Result<(), LoadError> {
        let program = self.context.program;
        let first = program.stacks[stack as usize].first;
        let variable_bits = match variable_bits {
            None => self.length(what, first)?,
            given => given,
        };
        check_extract(what, first, variable_bits.is_some(), program)?;
        self.push(ParserOperation::ExtractNext {
            stack,
            variable_bits,
            others,
        })
    }
}

/// The numbers of the fields that an expression names as locals.
fn locals(json: &Value, found: &mut BTreeSet<u64>) {
    if json.get("type").and_then(Value::as_str) == Some("local") {
        found.extend(json.get("value").and_then(Value::as_u64));
    }
    match json {
        Value::Object(members) => members.values().for_each(|member| locals(member, found)),
        Value::Array(items) => items.iter().for_each(|item| locals(item, found)),
        _ => {}
    }
}

fn check_extract(
    what: &Json<'_>,
    span: HeaderSpan,
    with_length: bool,
    program: &Program,
) -> Result<(), LoadError> {
    let layout = &program.layouts[span.layout as usize];
    if layout.variable.is_some() != with_length {
        return what
            .refuse("a header with a varbit needs a length to extract, and only such a header");
    }
    let total: u32 = layout.fields.iter().map(|field| field.bits).sum();
    if !total.is_multiple_of(8) {
        return what.refuse("the header is not a whole number of bytes");
    }
    Ok(())
}
