//! Actions: runtime data and primitives.

use std::collections::HashMap;

use super::assemble::{Assembler, Jumps, Pool};
use super::ast::{Number, NumberKind, Range};
use super::expressions::Context;
use super::externs::ExternNames;
use super::headers::Headers;
use super::json::Json;
use super::lower::Lowering;
use crate::error::LoadError;
use crate::program::{
    Action, Address, ExternOperation, FieldList, HeaderReference, Instruction, LogMessage,
    Parameter, Place, Program, Span,
};

/// The longest parameter of an action, in bits.
const WIDEST_PARAMETER: u32 = 1 << 16;

#[derive(Clone, Copy)]
pub(crate) struct Names<'a> {
    pub(crate) headers: &'a Headers,
    pub(crate) externs: &'a ExternNames,
    /// Field lists by their id in the artifact.
    pub(crate) field_lists: &'a HashMap<u32, FieldList>,
}

/// Additions of primitives to the program besides instructions.
#[derive(Default)]
pub(crate) struct Additions {
    pub(crate) messages: Vec<LogMessage>,
}

/// Words that the parameters of the largest action take.
pub(crate) fn parameter_words(root: &Json<'_>) -> Result<u32, LoadError> {
    let mut most = 0;
    for action in root.get("actions")?.items()? {
        let mut words = 0u32;
        for item in action.list("runtime_data")? {
            let width = item.get("bitwidth")?;
            let bits = width.number()?;
            if bits == 0 || bits > WIDEST_PARAMETER {
                return width.refuse(format!(
                    "an action parameter of {bits} bits; 1 to {WIDEST_PARAMETER} are supported"
                ));
            }
            words = words.saturating_add(bits.div_ceil(64));
        }
        most = most.max(words);
    }
    Ok(most)
}

pub(crate) fn load_action(
    json: &Json<'_>,
    names: Names<'_>,
    program: &Program,
    pool: &mut Pool,
    additions: &mut Additions,
) -> Result<(Action, Vec<Instruction>), LoadError> {
    let mut parameters = Vec::new();
    let mut words = 0;
    for item in json.list("runtime_data")? {
        let bits = item.get("bitwidth")?.number()?;
        parameters.push(Parameter {
            name: item.get("name")?.text()?.to_owned(),
            bits,
            word: words,
        });
        words += bits.div_ceil(64);
    }
    let context = Context {
        headers: names.headers,
        program,
        parameters: &parameters,
        parameters_at: pool.parameters,
    };
    let mut out = Assembler::new(pool);
    load_primitives(
        &json.get("primitives")?,
        context,
        names,
        &mut out,
        additions,
    )?;
    let code = out.code;
    let action = Action {
        name: json.get("name")?.text()?.to_owned(),
        parameters,
        words,
        start: None,
        settings: Box::default(),
        reads_parameters: true,
    };
    Ok((action, code))
}

/// Reads the primitives of an action, or of a parser state.
pub(crate) fn load_primitives(
    json: &Json<'_>,
    context: Context<'_>,
    names: Names<'_>,
    out: &mut Assembler<'_>,
    additions: &mut Additions,
) -> Result<(), LoadError> {
    let items = json.items()?;
    // Jumps by the primitive they lead to, and where the primitives begin.
    let mut waiting: HashMap<usize, Jumps> = HashMap::new();
    let mut starts: Vec<Address> = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        if let Some(jumps) = waiting.remove(&index) {
            out.land(jumps);
        }
        out.statement();
        starts.push(out.here());
        let mut primitive = Primitive {
            json: item,
            arguments: item.list("parameters")?,
            context,
            names,
            out,
            additions,
        };
        if let Some((jumps, to)) = primitive.emit()? {
            if to > items.len() {
                return item.refuse("jumps stay within the action");
            }
            match starts.get(to) {
                Some(start) => out.repeat(*start, jumps),
                None => {
                    let others = waiting.remove(&to).unwrap_or_default();
                    waiting.insert(to, others.and(jumps));
                }
            }
        }
    }
    if let Some(jumps) = waiting.remove(&items.len()) {
        out.land(jumps);
    }
    Ok(())
}

pub(super) struct Primitive<'a, 'b, 'o, 'p> {
    pub(super) json: &'b Json<'a>,
    pub(super) arguments: Vec<Json<'a>>,
    pub(super) context: Context<'b>,
    pub(super) names: Names<'b>,
    pub(super) out: &'o mut Assembler<'p>,
    pub(super) additions: &'o mut Additions,
}

impl<'a> Primitive<'a, '_, '_, '_> {
    pub(super) fn argument(&self, index: usize) -> Result<Json<'a>, LoadError> {
        match self.arguments.get(index) {
            Some(argument) => Ok(argument.clone()),
            None => self
                .json
                .refuse(format!("expected at least {} parameters", index + 1)),
        }
    }

    fn constant(&self, index: usize) -> Result<u32, LoadError> {
        let argument = self.argument(index)?;
        match self.context.number(&argument)?.as_u32() {
            Some(value) => Ok(value),
            None => argument.refuse("expected a constant"),
        }
    }

    fn named(&self, index: usize, kind: &str) -> Result<Json<'a>, LoadError> {
        let argument = self.argument(index)?;
        let found = argument.get("type")?;
        if found.text()? == kind {
            argument.get("value")
        } else {
            found.refuse(format!("expected a {kind}"))
        }
    }

    fn word(&mut self, index: usize) -> Result<Place, LoadError> {
        self.context.word(&self.argument(index)?, self.out)
    }

    /// An argument modulo 2^64 in a word, which is how bmv2 takes some.
    fn low_word(&mut self, index: usize) -> Result<Place, LoadError> {
        let at = self.argument(index)?;
        let number = self.context.number(&at)?;
        Lowering {
            at: &at,
            out: self.out,
        }
        .place(&number)
    }

    fn header(&mut self, index: usize) -> Result<HeaderReference, LoadError> {
        self.context
            .header_reference(&self.argument(index)?, self.out)
    }

    /// Appends the instructions of the primitive; for a jump, also where it leads.
    fn emit(&mut self) -> Result<Option<(Jumps, usize)>, LoadError> {
        let context = self.context;
        let name = self.json.get("op")?;
        let operation = match name.text()? {
            "assign" => {
                let (target, source) = (self.argument(0)?, self.argument(1)?);
                let number = context.number(&source)?;
                context.assign(&target, &number, self.out)?;
                return Ok(None);
            }
            "assign_VL" => {
                let (target, source) = (self.argument(0)?, self.argument(1)?);
                let number = context.number(&source)?;
                context.assign(&target, &number, self.out)?;
                return Ok(None);
            }
            "add_header" => {
                let header = self.header(0)?;
                self.out.external(ExternOperation::AddHeader(header));
                self.only_member(header);
                return Ok(None);
            }
            "remove_header" => ExternOperation::RemoveHeader(self.header(0)?),
            "assign_header" => {
                let (to, from) = (self.header(0)?, self.argument(1)?);
                let term = context.header(&from)?;
                self.copy_header(to, &term, &from)?;
                return Ok(None);
            }
            "assign_union" => return self.assign_union().map(|()| None),
            "assign_header_stack" | "assign_union_stack" => {
                return self.assign_stack().map(|()| None);
            }
            "push" => ExternOperation::PushFront {
                stacks: context.stacks(&self.argument(0)?)?,
                count: self.constant(1)?,
            },
            "pop" => ExternOperation::PopFront {
                stacks: context.stacks(&self.argument(0)?)?,
                count: self.constant(1)?,
            },
            "mark_to_drop" | "drop" => self.mark_to_drop()?,
            "no_op" => return Ok(None),
            "log_msg" => self.log()?,
            "assert" | "assume" => {
                let at = self.argument(0)?;
                let truth = context.truth(&at)?;
                let holds = Lowering {
                    at: &at,
                    out: self.out,
                }
                .branch(&truth, true)?;
                self.out.external(ExternOperation::FailedAssertion);
                self.out.land(holds);
                return Ok(None);
            }
            "exit" => {
                self.out.push(Instruction::End);
                return Ok(None);
            }
            "truncate" => ExternOperation::Truncate(self.word(0)?),
            "_jump" => {
                let to = self.constant(0)? as usize;
                return Ok(Some((self.out.jump(Instruction::Jump(0)), to)));
            }
            "_jump_if_zero" => {
                let to = self.constant(1)? as usize;
                let jumps = context.unless(&self.argument(0)?, self.out)?;
                return Ok(Some((jumps, to)));
            }
            "count" => {
                let counter = self
                    .names
                    .externs
                    .counter(&self.named(0, "counter_array")?)?;
                let index = self.word(1)?;
                self.out.push(Instruction::Count { counter, index });
                return Ok(None);
            }
            "register_read" => return self.read_register().map(|()| None),
            "register_write" => return self.write_register().map(|()| None),
            "execute_meter" => {
                let meter = self.names.externs.meter(&self.named(0, "meter_array")?)?;
                let index = self.word(1)?;
                let target = self.argument(2)?;
                context.assign_result(&target, 2, self.out, |to, out| {
                    out.external(ExternOperation::ExecuteMeter { meter, index, to });
                })?;
                return Ok(None);
            }
            "modify_field_with_hash_based_offset" => {
                let base = self.low_word(1)?;
                let calculation = self
                    .names
                    .externs
                    .calculation(&self.named(2, "calculation")?)?;
                // A modulus of more than 64 bits is taken modulo 2^64, as bmv2 does.
                let modulus = self.low_word(3)?;
                let target = self.argument(0)?;
                context.assign_result(&target, 64, self.out, |to, out| {
                    out.external(ExternOperation::Hash {
                        to,
                        base,
                        calculation,
                        modulus,
                    });
                })?;
                return Ok(None);
            }
            "modify_field_rng_uniform" => {
                let (low, high) = (self.word(1)?, self.word(2)?);
                let target = self.argument(0)?;
                context.assign_result(&target, 64, self.out, |to, out| {
                    out.external(ExternOperation::Random { to, low, high });
                })?;
                return Ok(None);
            }
            "clone_ingress_pkt_to_egress" | "clone_egress_pkt_to_egress" => {
                ExternOperation::Clone {
                    session: self.low_word(0)?,
                    fields: self.field_list(1)?,
                }
            }
            "resubmit" => ExternOperation::Resubmit(self.field_list(0)?),
            "recirculate" => ExternOperation::Recirculate(self.field_list(0)?),
            "generate_digest" => {
                let id = self.constant(1)?;
                let known = &context.program.digests;
                match known.iter().position(|list| list.id == id) {
                    Some(list) => ExternOperation::Digest(list as u32),
                    None => return self.argument(1)?.refuse("no learn list has this id"),
                }
            }
            other => return name.refuse(format!("primitive {other:?} is not supported")),
        };
        self.out.external(operation);
        Ok(None)
    }

    /// The parameter is the program's standard metadata, or a copy of them that it may copy back.
    fn mark_to_drop(&self) -> Result<ExternOperation, LoadError> {
        let standard = &self.context.program.standard;
        if self.arguments.is_empty() {
            return Ok(ExternOperation::MarkToDrop {
                egress_spec: standard.egress_spec,
                mcast_grp: standard.mcast_grp,
            });
        }
        let name = self.named(0, "header")?;
        let instance = self.names.headers.instance(&name)?;
        let store = |field: &str| self.names.headers.store(instance, field);
        let egress_spec = store("egress_spec");
        if egress_spec.is_none() {
            return name.refuse("standard metadata have a field egress_spec; these have none");
        }
        Ok(ExternOperation::MarkToDrop {
            egress_spec,
            mcast_grp: store("mcast_grp"),
        })
    }

    /// `log_msg(text, {values})`: every `{}` in the text stands for a value.
    fn log(&mut self) -> Result<ExternOperation, LoadError> {
        let text = self.argument(0)?.get("value")?;
        let mut rest = text.text()?;
        let mut parts = Vec::new();
        if let Some(values) = self.arguments.get(1).cloned() {
            let values = values.get("value")?;
            // p4c writes an empty vector as an object.
            let values = if values.value.is_object() {
                Vec::new()
            } else {
                values.items()?
            };
            for value in values {
                let (before, after) = rest.split_once("{}").unwrap_or((rest, ""));
                let number = self.context.number(&value)?;
                let (from, _) = Lowering {
                    at: &value,
                    out: self.out,
                }
                .exact_span(&number)?;
                parts.push((before.to_owned(), from));
                rest = after;
            }
        }
        let end = rest.to_owned();
        let message = self.additions.messages.len() as u32;
        self.additions.messages.push(LogMessage { parts, end });
        Ok(ExternOperation::Log { message })
    }

    /// The list of fields that a copy of the packet keeps; number zero keeps none.
    fn field_list(&self, index: usize) -> Result<FieldList, LoadError> {
        match self.names.field_lists.get(&self.constant(index)?) {
            Some(list) => Ok(*list),
            None => self.argument(index)?.refuse("no field list has this id"),
        }
    }

    fn read_register(&mut self) -> Result<(), LoadError> {
        let (register, bits) = self
            .names
            .externs
            .register(&self.named(1, "register_array")?)?;
        let index = self.word(2)?;
        let target = self.argument(0)?;
        if bits <= 64 {
            return self
                .context
                .assign_result(&target, bits, self.out, |to, out| {
                    out.push(Instruction::ReadRegister {
                        register,
                        index,
                        to,
                    });
                });
        }
        let to = self.out.temporary(bits.div_ceil(64), &target)?;
        self.out.external(ExternOperation::ReadWideRegister {
            register: register.into(),
            index,
            to,
        });
        let number = wide_number(to, bits);
        self.context.assign(&target, &number, self.out)
    }

    fn write_register(&mut self) -> Result<(), LoadError> {
        let (register, bits) = self
            .names
            .externs
            .register(&self.named(0, "register_array")?)?;
        let index = self.word(1)?;
        let at = self.argument(2)?;
        let number = self.context.number(&at)?;
        let mut lowering = Lowering {
            at: &at,
            out: self.out,
        };
        if bits <= 64 {
            let from = lowering.place(&number)?;
            self.out.push(Instruction::WriteRegister {
                register,
                index,
                from,
            });
            return Ok(());
        }
        let from = lowering.out.temporary(bits.div_ceil(64), &at)?;
        lowering.wide_to(&number, from)?;
        self.out.external(ExternOperation::WriteWideRegister {
            register: register.into(),
            index,
            from,
        });
        Ok(())
    }
}

pub(crate) fn wide_number(from: Span, bits: u32) -> Number {
    Number {
        range: Range::unsigned(bits),
        kind: NumberKind::Parameter(from.first.into()),
    }
}
