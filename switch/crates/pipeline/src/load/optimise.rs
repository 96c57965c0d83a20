//! Removes superfluous instructions of p4c and the loader.
//!
//! p4c gives a field to each parameter of an inlined control and to each intermediate result, so
//! many instructions only move words; and a hit becomes a field to test. Until nothing changes:
//!
//! 1. jumps to jumps, or to tests of known outcome, lead to where those lead;
//! 2. reads of a copy or constant are replaced, up to where jumps meet; no value is computed twice;
//! 3. an instruction goes if its result is overwritten unread.

use crate::program::{
    Address, Instruction, ParserOperation, Place, Program, TableShape, observed, reads,
};

use super::liveness;
use super::propagate::propagate;

/// More rounds than any program has needed.
const ROUNDS: usize = 8;

/// Jumps followed from one place, to bound the loader's time: no jumps make a loop.
const HOPS: usize = 64;

/// Improves the program. Nothing outside it reads the `private` words, p4c's own fields.
pub(crate) fn optimise(
    program: &mut Program,
    tables: &mut [TableShape],
    private: impl Fn(Place) -> bool,
) {
    let observed = observed(program, tables);
    for _ in 0..ROUNDS {
        let mut changed = thread_jumps(program, tables);
        let targets = targets(program, tables);
        let single = single(program, tables);
        changed |= propagate(&mut program.code, &targets, &single);
        let unread = |place: Place, reads: &[bool]| {
            private(place)
                && !observed.get(usize::from(place)).is_some_and(|seen| *seen)
                && !reads.get(usize::from(place)).is_some_and(|read| *read)
        };
        let reads = reads(program);
        let mut entries = Vec::new();
        for_each_entry(program, tables, |entry| entries.push(*entry));
        let seen = |place: Place| {
            !private(place) || observed.get(usize::from(place)).is_some_and(|seen| *seen)
        };
        let dead = liveness::dead(&program.code, &targets, &entries, seen);
        let kept: Vec<bool> = program
            .code
            .iter()
            .enumerate()
            .map(|(at, instruction)| match instruction {
                Instruction::Jump(to) => *to as usize != at + 1,
                Instruction::Copy { from, to } if from == to => false,
                instruction => {
                    !dead[at]
                        && !instruction
                            .pure_result()
                            .is_some_and(|to| unread(to, &reads))
                }
            })
            .collect();
        if kept.iter().all(|kept| *kept) && !changed {
            return;
        }
        compact(program, tables, &kept);
    }
}

/// Visits every address that something else than an instruction leads to.
fn for_each_entry(
    program: &mut Program,
    tables: &mut [TableShape],
    mut change: impl FnMut(&mut Address),
) {
    change(&mut program.ingress);
    change(&mut program.egress);
    let of_ingress = program.psa.as_mut().map(|psa| &mut psa.ingress_deparser);
    for deparser in of_ingress.into_iter().chain([&mut program.deparser]) {
        deparser.start.iter_mut().for_each(&mut change);
    }
    for action in &mut program.actions {
        if let Some(start) = &mut action.start {
            change(start);
        }
    }
    for state in &mut program.states {
        for operation in &mut state.operations {
            if let ParserOperation::Code(start) = operation {
                change(start);
            }
        }
    }
    for checksum in program.verified.iter_mut().chain(&mut program.updated) {
        if let Some(start) = checksum
            .condition
            .as_mut()
            .and_then(|guard| guard.start.as_mut())
        {
            change(start);
        }
    }
    for shape in tables {
        for next in [&mut shape.hit, &mut shape.miss].into_iter().flatten() {
            change(next);
        }
        change(&mut shape.otherwise);
        for action in &mut shape.actions {
            change(&mut action.next);
        }
    }
}

/// Tells for each address whether anything but the instruction before leads to it.
fn targets(program: &mut Program, tables: &mut [TableShape]) -> Vec<bool> {
    let mut targets = vec![false; program.code.len()];
    let mut mark = |address: Address| {
        if let Some(target) = targets.get_mut(address as usize) {
            *target = true;
        }
    };
    for_each_entry(program, tables, |entry| mark(*entry));
    for instruction in &program.code {
        instruction
            .addresses()
            .into_iter()
            .flatten()
            .for_each(&mut mark);
    }
    targets
}

/// Tells for each address whether only one jump leads to it.
fn single(program: &mut Program, tables: &mut [TableShape]) -> Vec<bool> {
    let mut ways = vec![0u32; program.code.len()];
    // A place that something else than an instruction leads to counts twice.
    let mut add = |address: Address, count: u32| {
        if let Some(ways) = ways.get_mut(address as usize) {
            *ways = ways.saturating_add(count);
        }
    };
    for_each_entry(program, tables, |entry| add(*entry, 2));
    for (at, instruction) in program.code.iter().enumerate() {
        let call = matches!(instruction, Instruction::Call { .. });
        for address in instruction.addresses().into_iter().flatten() {
            add(address, 1 + u32::from(call));
        }
        if !matches!(
            instruction,
            Instruction::Jump(_)
                | Instruction::Repeat { .. }
                | Instruction::Return
                | Instruction::End
                | Instruction::Table(_)
                | Instruction::Call { .. }
        ) {
            add(at as Address + 1, 1);
        }
    }
    ways.iter().map(|ways| *ways == 1).collect()
}

/// The address where control goes on from `address`, if a word was just set to the `known` value.
fn follow(code: &[Instruction], mut address: Address, known: Option<(Place, u64)>) -> Address {
    for _ in 0..HOPS {
        let next = match (code.get(address as usize), known) {
            (Some(Instruction::Jump(to)), _) => *to,
            (Some(Instruction::JumpIfEqual { left, to, value }), Some((place, constant)))
                if *left == place =>
            {
                if *value == constant {
                    *to
                } else {
                    address + 1
                }
            }
            (Some(Instruction::JumpIfNotEqual { left, to, value }), Some((place, constant)))
                if *left == place =>
            {
                if *value == constant {
                    address + 1
                } else {
                    *to
                }
            }
            _ => return address,
        };
        address = next;
    }
    address
}

fn thread_jumps(program: &mut Program, tables: &mut [TableShape]) -> bool {
    let mut changed = false;
    let code = std::mem::take(&mut program.code);
    for_each_entry(program, tables, |entry| {
        let to = follow(&code, *entry, None);
        changed |= to != *entry;
        *entry = to;
    });
    program.code = code;
    let targets = targets(program, tables);
    let code = std::mem::take(&mut program.code);
    let mut threaded = code.clone();
    for (at, instruction) in threaded.iter_mut().enumerate() {
        let known = match at.checked_sub(1).and_then(|before| code.get(before)) {
            // Only if no jump leads here.
            Some(Instruction::Constant { to, value }) if !targets[at] => Some((*to, *value)),
            _ => None,
        };
        match *instruction {
            Instruction::Jump(to) => {
                let end = follow(&code, to, known);
                *instruction = match code.get(end as usize) {
                    Some(done @ (Instruction::End | Instruction::Return)) => *done,
                    _ => Instruction::Jump(end),
                };
                changed |= end != to;
            }
            mut jump => {
                let [Some(to), None] = jump.addresses() else {
                    continue;
                };
                let end = follow(&code, to, None);
                if end != to {
                    jump.lead(end);
                    *instruction = jump;
                    changed = true;
                }
            }
        }
    }
    program.code = threaded;
    changed
}

/// Takes out the instructions that are not kept; jumps to them lead to the next one.
fn compact(program: &mut Program, tables: &mut [TableShape], kept: &[bool]) {
    let mut moved = Vec::with_capacity(kept.len() + 1);
    let mut next = 0;
    for kept in kept {
        moved.push(next);
        next += Address::from(*kept);
    }
    moved.push(next);
    let place = |address: Address| moved.get(address as usize).copied().unwrap_or(next);
    for_each_entry(program, tables, |entry| *entry = place(*entry));
    let code = std::mem::take(&mut program.code);
    let left = code.into_iter().zip(kept).filter(|(_, kept)| **kept);
    program.code = left
        .map(|(mut instruction, _)| {
            instruction.change_addresses(place);
            instruction
        })
        .collect();
}
