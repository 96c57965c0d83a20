//! Actions: runtime data and primitives.

use std::collections::HashMap;

use super::ast::Number;
use super::expressions::{Context, Place};
use super::externs::ExternNames;
use super::headers::{Field, Headers};
use super::json::Json;
use super::lower::{Lowering, limbs};
use crate::error::LoadError;
use crate::expression::Word;
use crate::packet::{FieldList, Slot};
use crate::program::{Action, Operation, Parameter, Program, Target};

/// The names primitives refer to.
#[derive(Clone, Copy)]
pub(crate) struct Names<'a> {
    pub(crate) headers: &'a Headers,
    pub(crate) externs: &'a ExternNames,
    /// Field lists by their id in the artifact.
    pub(crate) field_lists: &'a HashMap<u32, FieldList>,
}

/// Reads one action.
pub(crate) fn load_action(
    json: &Json<'_>,
    names: Names<'_>,
    program: &Program,
) -> Result<Action, LoadError> {
    let mut parameters = Vec::new();
    let mut words = 0;
    for item in json.list("runtime_data")? {
        let width = item.get("bitwidth")?;
        let bits = width.number()?;
        if bits == 0 || bits > 128 {
            return width.refuse(format!(
                "an action parameter of {bits} bits; 1 to 128 are supported"
            ));
        }
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
    };
    let operations = load_primitives(&json.get("primitives")?, context, names)?;
    Ok(Action {
        name: json.get("name")?.text()?.to_owned(),
        parameters,
        words,
        operations,
    })
}

/// Reads the primitives of an action, or of a parser state.
pub(crate) fn load_primitives(
    json: &Json<'_>,
    context: Context<'_>,
    names: Names<'_>,
) -> Result<Vec<Operation>, LoadError> {
    let items = json.items()?;
    let mut operations = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let operation = match Primitive::read(item, context, names)?.operation()? {
            // One operation per primitive keeps the indices that jumps refer to.
            None => Operation::Jump(index as u32 + 1),
            Some(operation) => operation,
        };
        if let Operation::Jump(to) | Operation::JumpUnless { to, .. } = operation
            && (to as usize <= index || to as usize > items.len())
        {
            return item.refuse("jumps lead forward, within the action");
        }
        operations.push(operation);
    }
    while matches!(operations.last(), Some(Operation::Jump(_)))
        && !operations
            .iter()
            .any(|operation| matches!(operation, Operation::JumpUnless { .. }))
    {
        operations.pop();
    }
    Ok(operations)
}

struct Primitive<'a, 'b> {
    json: &'b Json<'a>,
    arguments: Vec<Json<'a>>,
    context: Context<'b>,
    names: Names<'b>,
}

impl<'a, 'b> Primitive<'a, 'b> {
    fn read(json: &'b Json<'a>, context: Context<'b>, names: Names<'b>) -> Result<Self, LoadError> {
        Ok(Self {
            json,
            arguments: json.list("parameters")?,
            context,
            names,
        })
    }

    fn argument(&self, index: usize) -> Result<&Json<'a>, LoadError> {
        match self.arguments.get(index) {
            Some(argument) => Ok(argument),
            None => self
                .json
                .refuse(format!("expected at least {} parameters", index + 1)),
        }
    }

    fn constant(&self, index: usize) -> Result<u32, LoadError> {
        let argument = self.argument(index)?;
        match self.context.number(argument)?.as_u32() {
            Some(value) => Ok(value),
            None => argument.refuse("expected a constant"),
        }
    }

    /// The name of an extern instance of the given JSON type.
    fn named(&self, index: usize, kind: &str) -> Result<Json<'a>, LoadError> {
        let argument = self.argument(index)?;
        let found = argument.get("type")?;
        if found.text()? == kind {
            argument.get("value")
        } else {
            found.refuse(format!("expected a {kind}"))
        }
    }

    /// `None` for a primitive without effect here.
    fn operation(&self) -> Result<Option<Operation>, LoadError> {
        let context = &self.context;
        let name = self.json.get("op")?;
        Ok(Some(match name.text()? {
            "assign" => self.assign()?,
            "assign_VL" => self.assign_variable()?,
            "add_header" => Operation::AddHeader(context.header_reference(self.argument(0)?)?),
            "remove_header" => {
                Operation::RemoveHeader(context.header_reference(self.argument(0)?)?)
            }
            "assign_header" => self.assign_header()?,
            "assign_header_stack" => self.assign_stack()?,
            "push" => Operation::PushFront {
                stack: context.stack(self.argument(0)?)?,
                count: self.constant(1)?,
            },
            "pop" => Operation::PopFront {
                stack: context.stack(self.argument(0)?)?,
                count: self.constant(1)?,
            },
            "mark_to_drop" | "drop" => self.mark_to_drop()?,
            "no_op" | "log_msg" => return Ok(None),
            "assert" | "assume" => Operation::Assert(context.condition(self.argument(0)?)?),
            "exit" => Operation::Exit,
            "truncate" => Operation::Truncate(context.word(self.argument(0)?)?),
            "_jump" => Operation::Jump(self.constant(0)?),
            "_jump_if_zero" => Operation::JumpUnless {
                condition: context.condition(self.argument(0)?)?,
                to: self.constant(1)?,
            },
            "count" => {
                let counter = self
                    .names
                    .externs
                    .counter(&self.named(0, "counter_array")?)?;
                Operation::Count {
                    counter,
                    index: self.index(1)?,
                }
            }
            "register_read" => self.read_register()?,
            "register_write" => self.write_register()?,
            "execute_meter" => Operation::ExecuteMeter {
                meter: self.names.externs.meter(&self.named(0, "meter_array")?)?,
                index: self.index(1)?,
                target: context.target(self.argument(2)?)?,
            },
            "modify_field_with_hash_based_offset" => Operation::Hash {
                target: context.target(self.argument(0)?)?,
                base: context.word(self.argument(1)?)?,
                calculation: self
                    .names
                    .externs
                    .calculation(&self.named(2, "calculation")?)?,
                // A modulus of more than 64 bits is taken modulo 2^64, as bmv2 does.
                modulus: self.low_word(3)?,
            },
            "modify_field_rng_uniform" => Operation::Random {
                target: context.target(self.argument(0)?)?,
                low: context.word(self.argument(1)?)?,
                high: context.word(self.argument(2)?)?,
            },
            "clone_ingress_pkt_to_egress" | "clone_egress_pkt_to_egress" => Operation::Clone {
                session: context.word(self.argument(0)?)?,
                fields: self.field_list(1)?,
            },
            "resubmit" => Operation::Resubmit(self.field_list(0)?),
            "recirculate" => Operation::Recirculate(self.field_list(0)?),
            "generate_digest" => {
                let argument = self.argument(1)?;
                let id = self.constant(1)?;
                let known = &self.context.program.digests;
                match known.iter().position(|list| list.id == id) {
                    Some(list) => Operation::Digest(list as u32),
                    None => return argument.refuse("no learn list has this id"),
                }
            }
            other => return name.refuse(format!("primitive {other:?} is not supported")),
        }))
    }

    /// The parameter is the program's standard metadata, or a copy of them that it may copy back.
    fn mark_to_drop(&self) -> Result<Operation, LoadError> {
        let standard = &self.context.program.standard;
        if self.arguments.is_empty() {
            return Ok(Operation::MarkToDrop {
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
        Ok(Operation::MarkToDrop {
            egress_spec,
            mcast_grp: store("mcast_grp"),
        })
    }

    /// The list of fields that a copy of the packet keeps; number zero keeps none.
    fn field_list(&self, index: usize) -> Result<FieldList, LoadError> {
        match self.names.field_lists.get(&self.constant(index)?) {
            Some(list) => Ok(*list),
            None => self.argument(index)?.refuse("no field list has this id"),
        }
    }

    fn low_word(&self, index: usize) -> Result<Word, LoadError> {
        let argument = self.argument(index)?;
        Lowering { at: argument }.word(&self.context.number(argument)?)
    }

    /// The index into an array of counters, registers or meters.
    fn index(&self, index: usize) -> Result<Word, LoadError> {
        self.context.word(self.argument(index)?)
    }

    fn assign(&self) -> Result<Operation, LoadError> {
        let (target, source) = (self.argument(0)?, self.argument(1)?);
        match self.context.place(target)? {
            Place::Field(field) => assign_field(field, &self.context.number(source)?, source),
            Place::Element(target) => {
                let value = Lowering { at: source }.double(&self.context.number(source)?)?;
                Ok(Operation::Set { target, value })
            }
        }
    }

    fn assign_variable(&self) -> Result<Operation, LoadError> {
        let slot = |index: usize| -> Result<Slot, LoadError> {
            match self.context.place(self.argument(index)?)? {
                Place::Field(field) => Ok(field.slot),
                Place::Element(_) => self
                    .json
                    .refuse("assigning the varbit of a stack element is not supported"),
            }
        };
        copy_variable(slot(0)?, slot(1)?, self.json)
    }

    fn assign_header(&self) -> Result<Operation, LoadError> {
        let to = self.context.header_reference(self.argument(0)?)?;
        let from = self.context.header_reference(self.argument(1)?)?;
        if to.first.layout != from.first.layout {
            return self.json.refuse("the two headers are of different types");
        }
        Ok(Operation::CopyHeader { from, to })
    }

    fn assign_stack(&self) -> Result<Operation, LoadError> {
        let to = self.context.stack(self.argument(0)?)?;
        let from = self.context.stack(self.argument(1)?)?;
        let shape = |stack: u32| {
            let stack = &self.context.program.stacks[stack as usize];
            (stack.size, stack.first.layout)
        };
        if shape(to) != shape(from) {
            return self
                .json
                .refuse("the two header stacks are of different types");
        }
        Ok(Operation::CopyStack { from, to })
    }

    fn read_register(&self) -> Result<Operation, LoadError> {
        let target = self.context.target(self.argument(0)?)?;
        let (register, bits) = self
            .names
            .externs
            .register(&self.named(1, "register_array")?)?;
        let index = self.index(2)?;
        Ok(match target {
            Target::Word { word, fit } if bits <= 64 => Operation::ReadNarrowRegister {
                register,
                index,
                word,
                fit,
            },
            target => Operation::ReadRegister {
                register,
                index,
                target,
            },
        })
    }

    fn write_register(&self) -> Result<Operation, LoadError> {
        let (register, bits) = self
            .names
            .externs
            .register(&self.named(0, "register_array")?)?;
        let index = self.index(1)?;
        let argument = self.argument(2)?;
        let value = self.context.number(argument)?;
        let lowering = Lowering { at: argument };
        Ok(if bits <= 64 {
            Operation::WriteNarrowRegister {
                register,
                index,
                value: lowering.word(&value)?,
            }
        } else {
            Operation::WriteRegister {
                register,
                index,
                value: lowering.double(&value)?,
            }
        })
    }
}

/// `field = value`.
pub(crate) fn assign_field(
    field: Field,
    value: &Number,
    at: &Json<'_>,
) -> Result<Operation, LoadError> {
    use super::ast::NumberKind;
    let lowering = Lowering { at };
    Ok(match field.slot {
        Slot::Word { word } => {
            let held = if field.signed {
                value.range.bits < field.bits
            } else {
                !value.range.negative && value.range.bits <= field.bits
            };
            match lowering.word(value)? {
                Word::Constant(value) => Operation::SetConstant {
                    word,
                    value: field.fit().word(value),
                },
                Word::Slot(from) if held => Operation::CopyWord { from, to: word },
                value => Operation::SetWord {
                    word,
                    fit: field.fit(),
                    value,
                },
            }
        }
        Slot::Wide { word, words: 2 } => Operation::Set {
            target: Target::Double {
                word,
                fit: field.fit(),
            },
            value: lowering.double(value)?,
        },
        Slot::Wide { word, words } => match &value.kind {
            NumberKind::Constant(value) if !value.negative && value.bits() <= field.bits => {
                Operation::SetWide {
                    word,
                    value: limbs(&value.magnitude, words as usize),
                }
            }
            NumberKind::Field(Field {
                slot: Slot::Wide { word: from, .. },
                bits,
                ..
            }) if *bits == field.bits => Operation::CopyWide {
                from: *from,
                to: word,
                words,
            },
            _ => {
                return at.refuse("a field of more than 128 bits takes a constant or a field of its own width, nothing computed");
            }
        },
        Slot::Variable { .. } => match &value.kind {
            NumberKind::Field(source) => copy_variable(field.slot, source.slot, at)?,
            _ => return at.refuse("a varbit takes only another varbit"),
        },
    })
}

fn copy_variable(to: Slot, from: Slot, at: &Json<'_>) -> Result<Operation, LoadError> {
    match (to, from) {
        (
            Slot::Variable {
                byte: to,
                capacity: room,
                length_word: to_length,
            },
            Slot::Variable {
                byte: from,
                capacity,
                length_word: from_length,
            },
        ) if room == capacity => Ok(Operation::CopyVariable {
            from,
            to,
            capacity,
            from_length,
            to_length,
        }),
        _ => at.refuse("expected two varbits of the same greatest length"),
    }
}
