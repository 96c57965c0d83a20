//! Takes out of the instructions what p4c and the loader leave in them.
//!
//! p4c gives the parameters of inlined controls and every intermediate result a field, so many instructions only move
//! words; and a table's hit or miss becomes a field that the next instruction tests. Three steps, until nothing changes:
//!
//! 1. jumps that lead to jumps, or to tests whose outcome is known, lead to where those lead;
//! 2. a word that is the copy of another, or a constant, is replaced where it is read, up to where jumps meet; what a
//!    word holds already is not computed again;
//! 3. what writes a word that nothing reads, or nothing before it is overwritten, goes.

use std::collections::{BTreeMap, HashMap};

use crate::program::{
    Address, CalculationInput, ExternOperation, Instruction, ParserOperation, Place, Program, Slot,
    Span, TableShape,
};

use super::liveness;
use super::values::Values;

/// More rounds than any program has needed.
const ROUNDS: usize = 8;

/// Words known at a time; so that the loader's time grows with the program's length only.
const MOST_FACTS: usize = 256;

/// Jumps followed from one place: none of them makes a loop, so this is only to bound the loader's time.
const HOPS: usize = 64;

/// Improves the program. `private` are the words of p4c's own fields, which only instructions and what is seen here may
/// read.
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

/// Every place where control comes to not from the instruction before.
fn for_each_entry(
    program: &mut Program,
    tables: &mut [TableShape],
    mut change: impl FnMut(&mut Address),
) {
    change(&mut program.ingress);
    change(&mut program.egress);
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

/// The addresses that control comes to from one jump only.
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

/// Where control that comes to `address` goes on, if `known` is what the word was just set to.
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
            // Only if nobody else comes here.
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

/// What is known of a word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Value {
    Copy(Place),
    Constant(u64),
}

/// Reads through copies and constants; conditions that are known become jumps or nothing.
fn propagate(code: &mut [Instruction], targets: &[bool], single: &[bool]) -> bool {
    let mut changed = false;
    let mut facts: BTreeMap<Place, Value> = BTreeMap::new();
    let mut values = Values::default();
    // What is known where only one jump leads to.
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
            | Instruction::Extern(_) => {
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

/// The instruction where the words of known value are replaced.
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

/// Which words any instruction reads.
fn reads(program: &Program) -> Vec<bool> {
    let mut reads = vec![false; 1 << 16];
    for instruction in &program.code {
        let mut instruction = *instruction;
        instruction.read_through(|place| {
            reads[usize::from(place)] = true;
            place
        });
    }
    reads
}

/// Which words something other than a plain instruction reads, or reads and writes.
fn observed(program: &Program, tables: &[TableShape]) -> Vec<bool> {
    let mut seen = vec![false; 1 << 16];
    let mut word = |word: u32| {
        if let Some(seen) = seen.get_mut(word as usize) {
            *seen = true;
        }
    };
    fn slot(slot: Slot, word: &mut impl FnMut(u32)) {
        match slot {
            Slot::Word { word: first } => word(first),
            Slot::Wide { word: first, words } => (first..first + words).for_each(word),
            Slot::Variable { length_word, .. } => word(length_word),
        }
    }
    fn span(span: Span, word: &mut impl FnMut(u32)) {
        (u32::from(span.first)..u32::from(span.first) + u32::from(span.words)).for_each(word);
    }
    for table in tables {
        for read in table.slots() {
            slot(read, &mut word);
        }
    }
    for state in &program.states {
        state.keys.iter().for_each(|key| word((*key).into()));
        for operation in &state.operations {
            match operation {
                ParserOperation::Extract {
                    header,
                    variable_bits,
                    ..
                } => {
                    let index = header.element.map(|(index, _)| index);
                    index
                        .into_iter()
                        .chain(*variable_bits)
                        .for_each(|place| word(place.into()));
                }
                ParserOperation::ExtractNext { variable_bits, .. } => {
                    variable_bits.iter().for_each(|place| word((*place).into()));
                }
                ParserOperation::Verify { condition, error } => {
                    word((*condition).into());
                    word((*error).into());
                }
                ParserOperation::Advance { bits } => word((*bits).into()),
                ParserOperation::Copy { from, .. } => word((*from).into()),
                ParserOperation::Lookahead { to, .. } => span(*to, &mut word),
                ParserOperation::ExtractFixed(_) | ParserOperation::Code(_) => {}
            }
        }
    }
    for calculation in &program.calculations {
        for input in &calculation.inputs {
            if let CalculationInput::Field {
                slot: field, valid, ..
            } = input
            {
                slot(*field, &mut word);
                valid.iter().for_each(|valid| word(*valid));
            }
        }
    }
    for checksum in program.verified.iter().chain(&program.updated) {
        word(checksum.target.word);
        checksum
            .condition
            .iter()
            .for_each(|guard| word(guard.word.into()));
    }
    for list in &program.field_lists {
        list.iter().for_each(|field| slot(*field, &mut word));
    }
    for digest in &program.digests {
        digest
            .fields
            .iter()
            .for_each(|(_, field, _)| slot(*field, &mut word));
    }
    for message in &program.messages {
        message
            .parts
            .iter()
            .for_each(|(_, value)| span(*value, &mut word));
    }
    let shaping = program.shaping.iter().flatten();
    let of_traffic_manager = program.rank.iter().chain(shaping).chain(&program.push_out);
    of_traffic_manager.for_each(|field| word(*field));
    for operation in &program.wide {
        span(operation.left, &mut word);
        span(operation.right, &mut word);
    }
    for operation in &program.operations {
        extern_reads(operation, &mut word, span);
    }
    seen
}

fn extern_reads<F: FnMut(u32)>(
    operation: &ExternOperation,
    word: &mut F,
    span: impl Fn(Span, &mut F),
) {
    match operation {
        ExternOperation::LoadElement { element, .. } => word(element.index.into()),
        ExternOperation::StoreElement { element, from } => {
            word(element.index.into());
            span(*from, word);
        }
        ExternOperation::CopyVariable { from, .. } => word(from.length_word),
        ExternOperation::EqualVariable { left, right, .. } => {
            word(left.length_word);
            word(right.length_word);
        }
        ExternOperation::AddHeader(header) | ExternOperation::RemoveHeader(header) => {
            header
                .element
                .iter()
                .for_each(|(index, _)| word((*index).into()));
        }
        ExternOperation::CopyHeader { from, to } => {
            for header in [from, to] {
                header
                    .element
                    .iter()
                    .for_each(|(index, _)| word((*index).into()));
            }
        }
        ExternOperation::ReadWideRegister { index, .. } => word((*index).into()),
        ExternOperation::WriteWideRegister { index, from, .. } => {
            word((*index).into());
            span(*from, word);
        }
        // A result that is not given leaves the word as it was.
        ExternOperation::ExecuteMeter { index, to, .. } => {
            word((*index).into());
            word((*to).into());
        }
        ExternOperation::Hash {
            base, modulus, to, ..
        } => [*base, *modulus, *to]
            .into_iter()
            .for_each(|place| word(place.into())),
        ExternOperation::Random { to, low, high } => [*to, *low, *high]
            .into_iter()
            .for_each(|place| word(place.into())),
        ExternOperation::Truncate(place) => word((*place).into()),
        ExternOperation::Clone { session, .. } => word((*session).into()),
        ExternOperation::CopyStack { .. }
        | ExternOperation::PushFront { .. }
        | ExternOperation::PopFront { .. }
        | ExternOperation::OnlyMember { .. }
        | ExternOperation::MarkToDrop { .. }
        | ExternOperation::FailedAssertion
        | ExternOperation::Log { .. }
        | ExternOperation::Resubmit(_)
        | ExternOperation::Recirculate(_)
        | ExternOperation::Digest(_) => {}
    }
}

/// Takes out what is not kept; jumps to it lead to what follows.
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
