//! Reads through copies and constants.

use std::collections::{BTreeMap, HashMap};

use super::values::Values;
use crate::program::{Address, Instruction, Place};

/// The most words known at a time, so that the loader's time is linear in the program's length.
const MOST_FACTS: usize = 256;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Value {
    Copy(Place),
    Constant(u64),
}

/// Reads through copies and constants; conditions that are known become jumps or nothing.
pub(super) fn propagate(code: &mut [Instruction], targets: &[bool], single: &[bool]) -> bool {
    let mut changed = false;
    let mut facts: BTreeMap<Place, Value> = BTreeMap::new();
    let mut values = Values::default();
    // The facts at addresses that only one jump leads to.
    let mut known = HashMap::new();
    for at in 0..code.len() {
        if let Some(before) = known.remove(&(at as Address)) {
            (facts, values) = before;
        } else if targets[at] || facts.len() >= MOST_FACTS {
            facts.clear();
            values.clear();
        }
        let mut instruction = code[at];
        instruction.read_through(|place| match facts.get(&place) {
            Some(Value::Copy(from)) => *from,
            _ => place,
        });
        let constant = |place: Place| match facts.get(&place) {
            Some(Value::Constant(value)) => Some(*value),
            _ => None,
        };
        instruction = values.pass(folded(instruction, constant, at as Address));
        if instruction != code[at] {
            code[at] = instruction;
            changed = true;
        }
        if let [Some(to), None] = instruction.addresses()
            && to as usize > at
            && single.get(to as usize).is_some_and(|single| *single)
        {
            known.insert(to, (facts.clone(), values.clone()));
        }
        match instruction {
            Instruction::Jump(_)
            | Instruction::Repeat { .. }
            | Instruction::Return
            | Instruction::End
            | Instruction::Table(_)
            | Instruction::Call { .. }
            | Instruction::Wide(_)
            | Instruction::Extern(_)
            | Instruction::Mark(_) => {
                facts.clear();
                values.clear();
            }
            instruction => {
                if let Some(to) = instruction.pure_result() {
                    facts.remove(&to);
                    facts.retain(|_, value| *value != Value::Copy(to));
                    match instruction {
                        Instruction::Copy { from, to } if from != to => {
                            facts.insert(to, Value::Copy(from));
                        }
                        Instruction::Constant { to, value } => {
                            facts.insert(to, Value::Constant(value));
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    changed
}

/// The instruction with known words replaced.
fn folded(
    instruction: Instruction,
    constant: impl Fn(Place) -> Option<u64>,
    at: Address,
) -> Instruction {
    let jump = |holds: bool, to: Address| Instruction::Jump(if holds { to } else { at + 1 });
    let result = |to: Place, value: u64| Instruction::Constant { to, value };
    let replaced = match instruction {
        Instruction::Copy { from, to } => constant(from).map(|value| result(to, value)),
        Instruction::Mask { from, to, mask } => {
            constant(from).map(|value| result(to, value & mask))
        }
        Instruction::AddConstant {
            left,
            to,
            cut,
            value,
        } => constant(left).map(|left| result(to, left.wrapping_add(value) & u64::MAX >> cut)),
        Instruction::Add {
            left,
            right,
            to,
            cut,
        } => match (constant(left), constant(right)) {
            (Some(value), _) => Some(Instruction::AddConstant {
                left: right,
                to,
                cut,
                value,
            }),
            (_, Some(value)) => Some(Instruction::AddConstant {
                left,
                to,
                cut,
                value,
            }),
            _ => None,
        },
        Instruction::JumpIfEqual { left, to, value } => {
            constant(left).map(|left| jump(left == value, to))
        }
        Instruction::JumpIfNotEqual { left, to, value } => {
            constant(left).map(|left| jump(left != value, to))
        }
        Instruction::JumpIfConstant {
            comparison,
            left,
            to,
            value,
        } => constant(left).map(|left| jump(comparison.holds(left, value), to)),
        Instruction::JumpIf {
            comparison,
            left,
            right,
            to,
        } => match (constant(left), constant(right)) {
            (Some(left), Some(right)) => Some(jump(comparison.holds(left, right), to)),
            (Some(value), _) => Some(Instruction::JumpIfConstant {
                comparison: comparison.exchanged(),
                left: right,
                to,
                value,
            }),
            (_, Some(value)) => Some(Instruction::JumpIfConstant {
                comparison,
                left,
                to,
                value,
            }),
            _ => None,
        },
        _ => None,
    };
    replaced.unwrap_or(instruction)
}
