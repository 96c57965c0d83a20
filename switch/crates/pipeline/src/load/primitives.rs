//! Primitives: the name and operands of each, and what it becomes.

use std::ops::RangeInclusive;

use super::actions::{Additions, Names};
use super::assemble::{Assembler, Jumps};
use super::ast::{Number, Operator};
use super::expressions::Context;
use super::json::Json;
use super::lower::Lowering;
use super::methods::METHODS;
use super::pna;
use crate::error::LoadError;
use crate::program::{ExternOperation, FieldList, HeaderReference, Instruction, LogMessage, Place};

/// What follows a primitive: the next one, or for a jump that it takes, also another.
pub(super) type Next = Option<(Jumps, usize)>;

pub(super) type Lower =
    for<'a, 'b, 'o, 'p> fn(&mut Primitive<'a, 'b, 'o, 'p>) -> Result<Next, LoadError>;

/// Name, number of operands, and what the primitive becomes.
pub(super) type Row = (&'static str, RangeInclusive<usize>, Lower);

/// P4_14's are those that p4c-bmv2 and p4c
/// wrote for it; bmv2 registers all of them by these names.
const PRIMITIVES: &[Row] = &[
    ("assign", 2..=2, |it| it.assign()),
    // Of deparsers.
    ("set", 2..=2, |it| it.assign()),
    ("assign_VL", 2..=2, |it| it.assign()),
    ("modify_field", 2..=2, |it| it.assign()),
    ("add_to_field", 2..=2, |it| it.compute(Operator::Add)),
    ("subtract_from_field", 2..=2, |it| {
        it.compute(Operator::Subtract)
    }),
    ("add", 3..=3, |it| it.compute(Operator::Add)),
    ("subtract", 3..=3, |it| it.compute(Operator::Subtract)),
    ("bit_and", 3..=3, |it| it.compute(Operator::And)),
    ("bit_or", 3..=3, |it| it.compute(Operator::Or)),
    ("bit_xor", 3..=3, |it| it.compute(Operator::Xor)),
    ("shift_left", 3..=3, |it| it.compute(Operator::ShiftLeft)),
    ("shift_right", 3..=3, |it| it.compute(Operator::ShiftRight)),
    ("assign_header", 2..=2, |it| it.assign_header()),
    ("copy_header", 2..=2, |it| it.assign_header()),
    ("assign_union", 2..=2, |it| it.assign_union().map(|()| None)),
    ("assign_header_stack", 2..=2, |it| {
        it.assign_stack().map(|()| None)
    }),
    ("assign_union_stack", 2..=2, |it| {
        it.assign_stack().map(|()| None)
    }),
    ("add_header", 1..=1, |it| it.add_header()),
    ("add_header_fast", 1..=1, |it| it.mark_valid()),
    ("remove_header", 1..=1, |it| {
        let header = it.header(0)?;
        it.external(ExternOperation::RemoveHeader(header))
    }),
    ("push", 2..=2, |it| {
        let (stacks, count) = it.moved()?;
        it.external(ExternOperation::PushFront { stacks, count })
    }),
    ("pop", 2..=2, |it| {
        let (stacks, count) = it.moved()?;
        it.external(ExternOperation::PopFront { stacks, count })
    }),
    ("drop", 0..=0, |it| it.mark_to_drop()),
    // PNA's.
    ("drop_packet", 0..=0, |it| it.mark_to_drop()),
    ("send_to_port", 1..=1, |it| it.send_to_port()),
    ("mark_to_drop", 0..=1, |it| it.mark_to_drop()),
    ("no_op", 0..=0, |_| Ok(None)),
    ("log_msg", 1..=2, |it| it.log()),
    ("assert", 1..=1, |it| it.assert()),
    ("assume", 1..=1, |it| it.assert()),
    ("exit", 0..=0, |it| {
        it.out.push(Instruction::End);
        Ok(None)
    }),
    ("truncate", 1..=1, |it| {
        let length = it.word(0)?;
        it.external(ExternOperation::Truncate(length))
    }),
    ("_jump", 1..=1, |it| {
        let to = it.constant(0)? as usize;
        Ok(Some((it.out.jump(Instruction::Jump(0)), to)))
    }),
    ("_jump_if_zero", 2..=2, |it| {
        let to = it.constant(1)? as usize;
        let jumps = it.context.unless(&it.argument(0)?, it.out)?;
        Ok(Some((jumps, to)))
    }),
    ("count", 2..=2, |it| it.count()),
    ("register_read", 3..=3, |it| {
        it.read_register().map(|()| None)
    }),
    ("register_write", 3..=3, |it| {
        it.write_register().map(|()| None)
    }),
    ("execute_meter", 3..=3, |it| it.execute_meter()),
    ("modify_field_with_hash_based_offset", 4..=4, |it| it.hash()),
    ("modify_field_rng_uniform", 3..=3, |it| it.random()),
    ("clone_ingress_pkt_to_egress", 2..=2, |it| it.clone_packet()),
    ("clone_egress_pkt_to_egress", 2..=2, |it| it.clone_packet()),
    ("resubmit", 1..=1, |it| {
        let fields = it.field_list(0)?;
        it.external(ExternOperation::Resubmit(fields))
    }),
    ("recirculate", 1..=1, |it| {
        let fields = it.field_list(0)?;
        it.external(ExternOperation::Recirculate(fields))
    }),
    ("generate_digest", 1..=2, |it| it.digest()),
];

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

    pub(super) fn named(&self, index: usize, kind: &str) -> Result<Json<'a>, LoadError> {
        let argument = self.argument(index)?;
        let found = argument.get("type")?;
        if found.text()? == kind {
            argument.get("value")
        } else {
            found.refuse(format!("expected a {kind}"))
        }
    }

    pub(super) fn word(&mut self, index: usize) -> Result<Place, LoadError> {
        self.context.word(&self.argument(index)?, self.out)
    }

    /// An argument modulo 2^64 in a word, which is how bmv2 takes some.
    pub(super) fn low_word(&mut self, index: usize) -> Result<Place, LoadError> {
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
    pub(super) fn emit(&mut self) -> Result<Next, LoadError> {
        let name = self.json.get("op")?;
        let wanted = name.text()?;
        let mut all = PRIMITIVES.iter().chain(METHODS);
        let Some((_, operands, lower)) = all.find(|known| known.0 == wanted) else {
            return name.refuse(format!("primitive {wanted:?} is not supported"));
        };
        let found = self.arguments.len();
        if !operands.contains(&found) {
            let (least, most) = (operands.start(), operands.end());
            let expected = if least == most {
                least.to_string()
            } else {
                format!("{least} or {most}")
            };
            return self.json.refuse(format!(
                "{wanted} takes {expected} parameters; found {found}"
            ));
        }
        lower(self)
    }

    fn external(&mut self, operation: ExternOperation) -> Result<Next, LoadError> {
        self.out.external(operation);
        Ok(None)
    }

    fn assign(&mut self) -> Result<Next, LoadError> {
        let (target, source) = (self.argument(0)?, self.argument(1)?);
        let number = self.context.number(&source)?;
        self.context.assign(&target, &number, self.out)?;
        Ok(None)
    }

    /// The first operand becomes the result of an operator on the others, or on itself and the other.
    fn compute(&mut self, operator: Operator) -> Result<Next, LoadError> {
        let count = self.arguments.len();
        let (target, left, right) = (
            self.argument(0)?,
            self.argument(count - 2)?,
            self.argument(count - 1)?,
        );
        let (left, right) = (self.context.number(&left)?, self.context.number(&right)?);
        let number = Number::binary(operator, left, right);
        self.context.assign(&target, &number, self.out)?;
        Ok(None)
    }

    fn assign_header(&mut self) -> Result<Next, LoadError> {
        let (to, from) = (self.header(0)?, self.argument(1)?);
        let term = self.context.header(&from)?;
        self.copy_header(to, &term, &from)?;
        Ok(None)
    }

    fn add_header(&mut self) -> Result<Next, LoadError> {
        let header = self.header(0)?;
        self.out.external(ExternOperation::AddHeader(header));
        self.only_member(header);
        Ok(None)
    }

    /// Makes a header valid that keeps its fields, and the packet the length that it has.
    fn mark_valid(&mut self) -> Result<Next, LoadError> {
        let header = self.header(0)?;
        if header.element.is_some() {
            return self
                .json
                .refuse("add_header_fast of a computed element of a stack is not supported");
        }
        let to = header.first.word as Place;
        self.out.push(Instruction::Constant { to, value: 1 });
        self.only_member(header);
        Ok(None)
    }

    fn moved(&mut self) -> Result<(Box<[u32]>, u32), LoadError> {
        Ok((self.context.stacks(&self.argument(0)?)?, self.constant(1)?))
    }

    fn assert(&mut self) -> Result<Next, LoadError> {
        let at = self.argument(0)?;
        let truth = self.context.truth(&at)?;
        let holds = Lowering {
            at: &at,
            out: self.out,
        }
        .branch(&truth, true)?;
        self.out.external(ExternOperation::FailedAssertion);
        self.out.land(holds);
        Ok(None)
    }

    fn count(&mut self) -> Result<Next, LoadError> {
        let counter = self
            .names
            .externs
            .counter(&self.named(0, "counter_array")?)?;
        let index = self.word(1)?;
        self.out.push(Instruction::Count { counter, index });
        Ok(None)
    }

    fn execute_meter(&mut self) -> Result<Next, LoadError> {
        let meter = self.names.externs.meter(&self.named(0, "meter_array")?)?;
        let index = self.word(1)?;
        let target = self.argument(2)?;
        self.context
            .assign_result(&target, 2, self.out, |to, out| {
                out.external(ExternOperation::ExecuteMeter { meter, index, to });
            })?;
        Ok(None)
    }

    fn hash(&mut self) -> Result<Next, LoadError> {
        let base = self.low_word(1)?;
        let calculation = self
            .names
            .externs
            .calculation(&self.named(2, "calculation")?)?;
        // A modulus of more than 64 bits is taken modulo 2^64, as bmv2 does.
        let modulus = self.low_word(3)?;
        self.assign_hash(0, base, calculation, modulus)
    }

    /// Assigns a hash in the range from `base` on to the argument with this number.
    pub(super) fn assign_hash(
        &mut self,
        target: usize,
        base: Place,
        calculation: u32,
        modulus: Place,
    ) -> Result<Next, LoadError> {
        let target = self.argument(target)?;
        self.context
            .assign_result(&target, 64, self.out, |to, out| {
                out.external(ExternOperation::Hash {
                    to,
                    base,
                    calculation,
                    modulus,
                });
            })?;
        Ok(None)
    }

    fn random(&mut self) -> Result<Next, LoadError> {
        let (low, high) = (self.word(1)?, self.word(2)?);
        let target = self.argument(0)?;
        self.context
            .assign_result(&target, 64, self.out, |to, out| {
                out.external(ExternOperation::Random { to, low, high });
            })?;
        Ok(None)
    }

    fn clone_packet(&mut self) -> Result<Next, LoadError> {
        let session = self.low_word(0)?;
        let fields = self.field_list(1)?;
        self.external(ExternOperation::Clone { session, fields })
    }

    fn digest(&mut self) -> Result<Next, LoadError> {
        // In v1model a receiver comes before it.
        let last = self.arguments.len() - 1;
        let id = self.constant(last)?;
        let known = &self.context.program.digests;
        match known.iter().position(|list| list.id == id) {
            Some(list) => self.external(ExternOperation::Digest(list as u32)),
            None => self.argument(last)?.refuse("no learn list has this id"),
        }
    }

    fn send_to_port(&mut self) -> Result<Next, LoadError> {
        let port = self.argument(0)?;
        let Some(destination) = pna::destination(self.context.program) else {
            return self.json.refuse("send_to_port is PNA's");
        };
        let number = self.context.number(&port)?;
        Lowering {
            at: &port,
            out: self.out,
        }
        .assign(destination, &number)?;
        Ok(None)
    }

    /// The parameter is the program's standard metadata, or a copy of them that it may copy back.
    fn mark_to_drop(&mut self) -> Result<Next, LoadError> {
        let standard = &self.context.program.standard;
        if self.arguments.is_empty() {
            return self.external(ExternOperation::MarkToDrop {
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
        let mcast_grp = store("mcast_grp");
        self.external(ExternOperation::MarkToDrop {
            egress_spec,
            mcast_grp,
        })
    }

    /// `log_msg(text, {values})`: every `{}` in the text stands for a value.
    fn log(&mut self) -> Result<Next, LoadError> {
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
        self.external(ExternOperation::Log { message })
    }

    /// The list of fields that a copy of the packet keeps; number zero keeps none.
    fn field_list(&self, index: usize) -> Result<FieldList, LoadError> {
        match self.names.field_lists.get(&self.constant(index)?) {
            Some(list) => Ok(*list),
            None => self.argument(index)?.refuse("no field list has this id"),
        }
    }
}
