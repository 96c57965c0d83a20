//! Controls, actions and expressions become code, block by block.

use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{Block, InstBuilder, Value};

use super::graph::{End, Graph, Step};
use super::lower::{Lower, Region, condition};
use super::memory::{Callback, Context};
use crate::machine::Machine;
use crate::program::{ExternOperation, Instruction, Operator};

impl Lower<'_, '_> {
    /// Writes the blocks of a graph, which begins here; all its ends lead to `exit`.
    pub(super) fn graph(&mut self, graph: &Graph, exit: Block) {
        self.exit = exit;
        let blocks: Vec<Block> = graph
            .blocks
            .iter()
            .map(|_| self.builder.create_block())
            .collect();
        match blocks.first() {
            Some(first) => self.builder.ins().jump(*first, &[]),
            None => self.builder.ins().jump(exit, &[]),
        };
        for (block, code) in graph.blocks.iter().zip(&blocks) {
            self.builder.switch_to_block(*code);
            for step in &block.steps {
                self.step(*step);
            }
            self.end(&block.end, &blocks, exit);
        }
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Plain(instruction) => self.instruction(instruction),
            Step::Parameter { parameter, to } => {
                let parameters = self.parameters();
                // Runtime data changes only between packets.
                let flags = self.flags(Region::Fixed);
                let offset = i32::from(parameter) * 8;
                let value = self.builder.ins().load(I64, flags, parameters, offset);
                self.set(to, value);
            }
        }
    }

    fn end(&mut self, end: &End, blocks: &[Block], exit: Block) {
        match end {
            End::Jump(to) => {
                self.builder.ins().jump(blocks[*to], &[]);
            }
            End::Branch { test, taken, next } => {
                let holds = self.test(*test);
                let (taken, next) = (blocks[*taken], blocks[*next]);
                self.builder.ins().brif(holds, taken, &[], next, &[]);
            }
            End::Repeat { to, steps } => self.repeat(blocks[*to], *steps, exit),
            End::Table {
                number,
                outcomes,
                passed,
            } => self.table(*number, outcomes, *passed, blocks),
            End::Finish => {
                self.builder.ins().jump(exit, &[]);
            }
        }
    }

    fn test(&mut self, instruction: Instruction) -> Value {
        match instruction {
            Instruction::JumpIfEqual { left, value, .. } => {
                let left = self.get(left);
                self.compared(IntCC::Equal, left, value)
            }
            Instruction::JumpIfNotEqual { left, value, .. } => {
                let left = self.get(left);
                self.compared(IntCC::NotEqual, left, value)
            }
            Instruction::JumpIfConstant {
                comparison,
                left,
                value,
                ..
            } => {
                let left = self.get(left);
                self.compared(condition(comparison, false), left, value)
            }
            Instruction::JumpIf {
                comparison,
                left,
                right,
                ..
            }
            | Instruction::JumpIfSigned {
                comparison,
                left,
                right,
                ..
            } => {
                let signed = matches!(instruction, Instruction::JumpIfSigned { .. });
                let (left, right) = (self.get(left), self.get(right));
                let code = condition(comparison, signed);
                self.builder.ins().icmp(code, left, right)
            }
            _ => self.constant(0),
        }
    }

    fn repeat(&mut self, to: Block, steps: u32, exit: Block) {
        let machine = self.fixed(Context::MACHINE);
        let flags = self.flags(Region::Fixed);
        let place = offset_of!(Machine<'_>, steps) as i32;
        let address = self.builder.ins().load(I64, flags, machine, place);
        let left = self.load_u32(Region::Steps, address, 0);
        let left = self.builder.ins().uextend(I64, left);
        let enough = self.compared(IntCC::UnsignedGreaterThanOrEqual, left, steps.into());
        let (on, exhausted) = (self.builder.create_block(), self.builder.create_block());
        self.builder.set_cold_block(exhausted);
        self.builder.ins().brif(enough, on, &[], exhausted, &[]);
        self.builder.switch_to_block(exhausted);
        let one = self.constant(1);
        self.set_context_word(Context::EXHAUSTED, one);
        self.builder.ins().jump(exit, &[]);
        self.builder.switch_to_block(on);
        let steps = self.constant(steps.into());
        let left = self.builder.ins().isub(left, steps);
        let flags = self.flags(Region::Steps);
        self.builder.ins().istore32(flags, left, address, 0);
        self.builder.ins().jump(to, &[]);
    }

    fn instruction(&mut self, instruction: Instruction) {
        match instruction {
            Instruction::Constant { to, value } => {
                let value = self.constant(value);
                self.set(to, value);
            }
            Instruction::Copy { from, to } => {
                let value = self.get(from);
                self.set(to, value);
            }
            Instruction::Mask { from, to, mask } => {
                let value = self.get(from);
                let value = self.masked(value, mask);
                self.set(to, value);
            }
            Instruction::Slice { from, to, by, mask } => {
                let value = self.get(from);
                let by = self.constant(u64::from(by & 63));
                let value = self.builder.ins().ushr(value, by);
                let value = self.masked(value, mask);
                self.set(to, value);
            }
            Instruction::Add {
                left,
                right,
                to,
                cut,
            } => self.binary(Operator::Add, left, right, to, cut),
            Instruction::AddConstant {
                left,
                to,
                cut,
                value,
            } => {
                let right = self.constant(value);
                self.binary_of(Operator::Add, left, right, to, cut);
            }
            Instruction::ShiftLeftConstant { left, to, by, cut } => {
                let value = self.get(left);
                let value = self.shifted(value, u32::from(by & 63));
                self.set_cut(to, value, cut);
            }
            Instruction::Or { left, right, to } => self.binary(Operator::Or, left, right, to, 0),
            Instruction::Binary {
                operator,
                left,
                right,
                to,
                cut,
            } => self.binary(operator, left, right, to, cut),
            Instruction::BinaryConstant {
                operator,
                left,
                to,
                cut,
                value,
            } => {
                let right = self.constant(value);
                self.binary_of(operator, left, right, to, cut);
            }
            Instruction::Not { from, to, cut } => {
                let value = self.get(from);
                let value = self.builder.ins().bnot(value);
                self.set_cut(to, value, cut);
            }
            Instruction::SignExtend { from, to, unused } => {
                let value = self.get(from);
                let by = self.constant(u64::from(unused & 63));
                let value = self.builder.ins().ishl(value, by);
                let value = self.builder.ins().sshr(value, by);
                self.set(to, value);
            }
            Instruction::ClampUnsigned {
                from,
                to,
                signed,
                limit,
            } => {
                let value = self.get(from);
                let limit = self.constant(limit);
                let mut least = self.builder.ins().umin(value, limit);
                if signed {
                    let zero = self.constant(0);
                    let negative = self.builder.ins().icmp(IntCC::SignedLessThan, value, zero);
                    least = self.builder.ins().select(negative, zero, least);
                }
                self.set(to, least);
            }
            Instruction::ClampSigned {
                from,
                to,
                signed,
                limit,
            } => {
                let value = self.get(from);
                let most = self.constant(limit);
                let value = if signed {
                    let least = self.constant(!limit);
                    let value = self.builder.ins().smax(value, least);
                    self.builder.ins().smin(value, most)
                } else {
                    self.builder.ins().umin(value, most)
                };
                self.set(to, value);
            }
            Instruction::ReadRegister {
                register,
                index,
                to,
            } => self.read_register(register, index, to),
            Instruction::WriteRegister {
                register,
                index,
                from,
            } => self.write_register(register, index, from),
            Instruction::Count { counter, index } => self.count(counter, index),
            Instruction::Wide(number) => self.wide(number),
            Instruction::Extern(number) => self.external(number),
            // These end a block; code has no marks.
            Instruction::Mark(_)
            | Instruction::Jump(_)
            | Instruction::Repeat { .. }
            | Instruction::JumpIfEqual { .. }
            | Instruction::JumpIfNotEqual { .. }
            | Instruction::JumpIfConstant { .. }
            | Instruction::JumpIf { .. }
            | Instruction::JumpIfSigned { .. }
            | Instruction::Return
            | Instruction::End
            | Instruction::Table(_)
            | Instruction::Call { .. } => {}
        }
    }

    fn external(&mut self, number: u32) {
        let operation = &self.source.program.operations[number as usize];
        match operation {
            ExternOperation::MarkToDrop {
                egress_spec,
                mcast_grp,
            } => {
                let drop_port = self.source.drop_port.into();
                self.set_field(*egress_spec, drop_port);
                self.set_field(*mcast_grp, 0);
            }
            ExternOperation::Hash {
                to,
                base,
                calculation,
                modulus,
            } => {
                let hash = self.calculated(*calculation);
                let modulus = self.get(*modulus);
                let one = self.constant(1);
                // A modulus of zero counts as one, as in bmv2.
                let modulus = self.builder.ins().umax(modulus, one);
                let base = self.get(*base);
                let rest = self.builder.ins().urem(hash, modulus);
                let value = self.builder.ins().iadd(rest, base);
                self.set(*to, value);
            }
            ExternOperation::ReadWideRegister {
                register,
                index,
                to,
            } if self.is_double(*register) => self.read_double(*register as u16, *index, *to),
            ExternOperation::WriteWideRegister {
                register,
                index,
                from,
            } if self.is_double(*register) => self.write_double(*register as u16, *index, *from),
            _ => {
                let number = self.constant(number.into());
                self.call(Callback::Perform, &[number]);
            }
        }
    }

    fn binary(&mut self, operator: Operator, left: u16, right: u16, to: u16, cut: u8) {
        let right = self.get(right);
        self.binary_of(operator, left, right, to, cut);
    }

    fn binary_of(&mut self, operator: Operator, left: u16, right: Value, to: u16, cut: u8) {
        let left = self.get(left);
        let ins = |lower: &mut Self, long: bool| {
            let zero = lower.constant(0);
            let short = lower.compared(IntCC::UnsignedLessThan, right, 64);
            let ins = lower.builder.ins();
            let value = if long {
                ins.ishl(left, right)
            } else {
                ins.ushr(left, right)
            };
            lower.builder.ins().select(short, value, zero)
        };
        let value = match operator {
            Operator::Add => self.builder.ins().iadd(left, right),
            Operator::Subtract => self.builder.ins().isub(left, right),
            Operator::Multiply => self.builder.ins().imul(left, right),
            Operator::And => self.builder.ins().band(left, right),
            Operator::Or => self.builder.ins().bor(left, right),
            Operator::Xor => self.builder.ins().bxor(left, right),
            Operator::ShiftLeft => ins(self, true),
            Operator::ShiftRight => ins(self, false),
            Operator::ShiftRightSigned => {
                let most = self.constant(63);
                let by = self.builder.ins().umin(right, most);
                self.builder.ins().sshr(left, by)
            }
            Operator::Divide | Operator::Modulo => {
                let (zero, one) = (self.constant(0), self.constant(1));
                let none = self.builder.ins().icmp(IntCC::Equal, right, zero);
                // The processor traps on zero.
                let divisor = self.builder.ins().select(none, one, right);
                let ins = self.builder.ins();
                let value = if operator == Operator::Divide {
                    ins.udiv(left, divisor)
                } else {
                    ins.urem(left, divisor)
                };
                self.builder.ins().select(none, zero, value)
            }
        };
        self.set_cut(to, value, cut);
    }

    fn set_cut(&mut self, to: u16, value: Value, upper: u8) {
        let value = self.masked(value, u64::MAX >> (upper & 63));
        self.set(to, value);
    }
}
