//! Runs controls, actions and expressions on a packet.

use crate::machine::{Machine, Observe};
use crate::packet::Packet;
use crate::program::{Address, END, Instruction, Operator, Place, Program, Setting};
use crate::state::externs::counter::CounterArray;
use crate::state::tables::Table;

/// An instruction that needs more of a packet than its words.
enum Pending {
    Table(u32),
    Extern(u32),
    /// A register or a counter, where that is seen.
    Cell(Instruction),
    /// A loop that may not go on.
    Exhausted,
}

impl<O: Observe> Machine<'_, O> {
    /// Runs instructions from `start` to an `End`. This ends: every loop takes from the steps left.
    pub(crate) fn apply(&mut self, tables: &mut [Table], packet: &mut Packet, start: Address) {
        let program = self.program;
        let mut at = start;
        let mut back = END;
        while let Some(pending) = self.run(tables, packet, &mut at, &mut back) {
            match pending {
                Pending::Table(table) => {
                    let applied = &mut tables[table as usize];
                    let taken = self.observer.table(table, applied, packet, self.now);
                    back = taken.next;
                    at = match taken.action {
                        Some(action) => {
                            let parameters = taken.parameters;
                            enter(program, &mut packet.words, action, parameters).unwrap_or(back)
                        }
                        None => taken.next,
                    };
                }
                Pending::Extern(number) => {
                    let operation = &program.operations[number as usize];
                    if O::ON {
                        self.observer.before(packet);
                        self.perform(operation, packet);
                        self.observer.changed(packet);
                    } else {
                        self.perform(operation, packet);
                    }
                }
                Pending::Cell(instruction) => self.use_cell(instruction, packet),
                Pending::Exhausted => {
                    packet.exhausted = true;
                    break;
                }
            }
        }
    }

    /// Runs instructions that work on words, up to one that does not; `None` at the end.
    #[inline(always)]
    fn run(
        &mut self,
        tables: &mut [Table],
        packet: &mut Packet,
        at: &mut Address,
        back: &mut Address,
    ) -> Option<Pending> {
        let program = self.program;
        let observer = &mut self.observer;
        let length = packet.received_length;
        let words = &mut packet.words[..];
        let code = &program.code[..];
        // The rest of the code instead of an index: one addition less per instruction.
        let from = |address: Address| code.get(address as usize..).unwrap_or_default();
        let mut rest = from(*at);
        let pending = loop {
            let Some((instruction, after)) = rest.split_first() else {
                break None;
            };
            rest = after;
            match *instruction {
                Instruction::Constant { to, value } => observer.set(words, to, value),
                Instruction::Copy { from, to } => observer.set(words, to, get(words, from)),
                Instruction::Mask { from, to, mask } => {
                    observer.set(words, to, get(words, from) & mask)
                }
                Instruction::Slice { from, to, by, mask } => {
                    observer.set(words, to, get(words, from) >> (by & 63) & mask);
                }
                Instruction::Add {
                    left,
                    right,
                    to,
                    cut: upper,
                } => {
                    let sum = get(words, left).wrapping_add(get(words, right));
                    observer.set(words, to, cut(sum, upper));
                }
                Instruction::AddConstant {
                    left,
                    to,
                    cut: upper,
                    value,
                } => {
                    let sum = get(words, left).wrapping_add(value);
                    observer.set(words, to, cut(sum, upper));
                }
                Instruction::ShiftLeftConstant {
                    left,
                    to,
                    by,
                    cut: upper,
                } => observer.set(words, to, cut(get(words, left) << (by & 63), upper)),
                Instruction::Or { left, right, to } => {
                    observer.set(words, to, get(words, left) | get(words, right));
                }
                Instruction::Binary {
                    operator,
                    left,
                    right,
                    to,
                    cut: upper,
                } => {
                    let value = binary(operator, get(words, left), get(words, right));
                    observer.set(words, to, cut(value, upper));
                }
                Instruction::BinaryConstant {
                    operator,
                    left,
                    to,
                    cut: upper,
                    value,
                } => {
                    let value = binary(operator, get(words, left), value);
                    observer.set(words, to, cut(value, upper));
                }
                Instruction::Not {
                    from,
                    to,
                    cut: upper,
                } => observer.set(words, to, cut(!get(words, from), upper)),
                Instruction::SignExtend { from, to, unused } => {
                    let shift = u32::from(unused & 63);
                    let value = ((get(words, from) << shift) as i64) >> shift;
                    observer.set(words, to, value as u64);
                }
                Instruction::ClampUnsigned {
                    from,
                    to,
                    signed,
                    limit,
                } => {
                    let value = get(words, from);
                    let negative = signed && (value as i64) < 0;
                    observer.set(words, to, if negative { 0 } else { value.min(limit) });
                }
                Instruction::ClampSigned {
                    from,
                    to,
                    signed,
                    limit,
                } => {
                    let value = get(words, from);
                    let limited = if signed {
                        (value as i64).clamp(!limit as i64, limit as i64) as u64
                    } else {
                        value.min(limit)
                    };
                    observer.set(words, to, limited);
                }
                Instruction::Jump(to) => rest = from(to),
                Instruction::Repeat { to, steps } => match self.steps.checked_sub(steps) {
                    Some(left) => {
                        *self.steps = left;
                        rest = from(to);
                    }
                    None => break Some(Pending::Exhausted),
                },
                Instruction::JumpIfEqual { left, to, value } => {
                    if get(words, left) == value {
                        rest = from(to);
                    }
                }
                Instruction::JumpIfNotEqual { left, to, value } => {
                    if get(words, left) != value {
                        rest = from(to);
                    }
                }
                Instruction::JumpIfConstant {
                    comparison,
                    left,
                    to,
                    value,
                } => {
                    if comparison.holds(get(words, left), value) {
                        rest = from(to);
                    }
                }
                Instruction::JumpIf {
                    comparison,
                    left,
                    right,
                    to,
                } => {
                    if comparison.holds(get(words, left), get(words, right)) {
                        rest = from(to);
                    }
                }
                Instruction::JumpIfSigned {
                    comparison,
                    left,
                    right,
                    to,
                } => {
                    if comparison.holds(get(words, left) as i64, get(words, right) as i64) {
                        rest = from(to);
                    }
                }
                Instruction::ReadRegister { .. }
                | Instruction::WriteRegister { .. }
                | Instruction::Count { .. }
                    if O::ON =>
                {
                    break Some(Pending::Cell(*instruction));
                }
                Instruction::ReadRegister {
                    register,
                    index,
                    to,
                } => {
                    let register = &self.externs.registers[usize::from(register)];
                    observer.set(words, to, register.read_word(get(words, index)));
                }
                Instruction::WriteRegister {
                    register,
                    index,
                    from,
                } => {
                    let register = &mut self.externs.registers[usize::from(register)];
                    register.write_word(get(words, index), get(words, from));
                }
                Instruction::Count { counter, index } => {
                    let index = get(words, index);
                    self.externs.counters[usize::from(counter)].count(index, length);
                }
                Instruction::Wide(number) => {
                    let operation = &program.wide[number as usize];
                    operation.perform(words);
                    if O::ON {
                        observer.span(operation.to, words);
                    }
                }
                Instruction::Return => rest = from(*back),
                Instruction::Call { to, back: returns } => {
                    *back = returns;
                    rest = from(to);
                }
                Instruction::End => break None,
                Instruction::Table(number) => {
                    let Some(table) = tables.get_mut(number as usize) else {
                        break None;
                    };
                    if O::ON {
                        break Some(Pending::Table(number));
                    }
                    if let Some(next) = table.passed() {
                        rest = from(next);
                    } else if let Some(taken) = table.miss(length) {
                        *back = taken.next;
                        rest = from(match taken.action {
                            Some(action) => enter(program, words, action, taken.parameters)
                                .unwrap_or(taken.next),
                            None => taken.next,
                        });
                    } else {
                        break Some(Pending::Table(number));
                    }
                }
                Instruction::Mark(number) => observer.mark(number),
                Instruction::Extern(number) => break Some(Pending::Extern(number)),
            }
        };
        *at = (code.len() - rest.len()) as Address;
        pending
    }
    /// Reads or writes a cell, which is seen.
    fn use_cell(&mut self, instruction: Instruction, packet: &mut Packet) {
        let word = |place: Place| packet.word(place.into());
        match instruction {
            Instruction::ReadRegister {
                register,
                index,
                to,
            } => {
                let (number, index) = (register.into(), word(index));
                let value = self.externs.registers[usize::from(register)].read_word(index);
                self.observer
                    .register(number, index, &[value], &[value], false);
                self.observer.set(&mut packet.words, to, value);
            }
            Instruction::WriteRegister {
                register,
                index,
                from,
            } => {
                let (number, index, value) = (register.into(), word(index), word(from));
                let register = &mut self.externs.registers[usize::from(register)];
                let before = register.read_word(index);
                register.write_word(index, value);
                let after = register.read_word(index);
                self.observer
                    .register(number, index, &[before], &[after], true);
            }
            Instruction::Count { counter, index } => {
                let (number, index) = (counter.into(), word(index));
                let counter = &mut self.externs.counters[usize::from(counter)];
                let at = |counter: &CounterArray| {
                    let index = usize::try_from(index).ok()?;
                    counter.cells().get(index).copied()
                };
                let before = at(counter);
                counter.count(index, packet.received_length);
                let counts = before
                    .zip(at(counter))
                    .map(|(before, after)| [before, after]);
                self.observer.counter(number, index, counts);
            }
            _ => {}
        }
    }
}

/// Applies the settings of an action; gives where its instructions start.
#[inline(always)]
fn enter(program: &Program, words: &mut [u64], action: u32, parameters: &[u64]) -> Option<Address> {
    let action = &program.actions[action as usize];
    for setting in &action.settings {
        match *setting {
            Setting::Parameter { parameter, to } => {
                if let Some(value) = parameters.get(usize::from(parameter)) {
                    set(words, to, *value);
                }
            }
            Setting::Constant { to, value } => set(words, to, value),
        }
    }
    if action.reads_parameters {
        let places = words[program.parameters as usize..].iter_mut();
        // There are few of them: a call of memcpy would cost more.
        for (place, parameter) in places.zip(parameters) {
            *place = *parameter;
        }
    }
    action.start
}

#[inline(always)]
fn get(words: &[u64], place: Place) -> u64 {
    words[usize::from(place)]
}

#[inline(always)]
fn set(words: &mut [u64], place: Place, value: u64) {
    words[usize::from(place)] = value;
}

#[inline(always)]
fn cut(value: u64, upper: u8) -> u64 {
    value & u64::MAX >> (upper & 63)
}

#[inline(always)]
fn binary(operator: Operator, left: u64, right: u64) -> u64 {
    match operator {
        Operator::Add => left.wrapping_add(right),
        Operator::Subtract => left.wrapping_sub(right),
        Operator::Multiply => left.wrapping_mul(right),
        Operator::Divide => left.checked_div(right).unwrap_or(0),
        Operator::Modulo => left.checked_rem(right).unwrap_or(0),
        Operator::And => left & right,
        Operator::Or => left | right,
        Operator::Xor => left ^ right,
        Operator::ShiftLeft => {
            if right < 64 {
                left << right
            } else {
                0
            }
        }
        Operator::ShiftRight => {
            if right < 64 {
                left >> right
            } else {
                0
            }
        }
        Operator::ShiftRightSigned => ((left as i64) >> right.min(63)) as u64,
    }
}
