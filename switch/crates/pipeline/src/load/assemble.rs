//! Puts instructions in order: jumps, intermediate results, and operations that they refer to.

use super::json::Json;
use crate::error::LoadError;
use crate::program::{
    Address, ExternOperation, Instruction, Mark, Place, Span, Wide, WideOperation,
};

/// Words a packet may have: as many as a [`Place`] can name.
pub(crate) const MOST_WORDS: u32 = 1 << 16;

const MOST_INSTRUCTIONS: usize = 1 << 22;

/// The words and operations that all instructions of a program refer to.
#[derive(Default)]
pub(crate) struct Pool {
    pub(crate) wide: Vec<WideOperation>,
    pub(crate) externs: Vec<ExternOperation>,
    /// Where the parameters of the action that runs are.
    pub(crate) parameters: u32,
    /// Where intermediate results begin.
    pub(crate) first: u32,
    next: u32,
    /// Words in all, with the most that any statement needs.
    pub(crate) words: u32,
    /// What the marks stand for, where there are to be any.
    pub(crate) marks: Option<Vec<Mark>>,
}

impl Pool {
    pub(crate) fn new(fields: u32, parameters: u32) -> Self {
        let first = fields + parameters;
        Self {
            parameters: fields,
            first,
            next: first,
            words: first,
            ..Self::default()
        }
    }
}

/// Jumps whose target is not known yet.
#[derive(Default)]
#[must_use]
pub(crate) struct Jumps(Vec<usize>);

impl Jumps {
    pub(crate) fn and(mut self, mut others: Self) -> Self {
        self.0.append(&mut others.0);
        self
    }
}

/// Code that is being written; addresses count from its own start.
pub(crate) struct Assembler<'p> {
    pub(crate) code: Vec<Instruction>,
    pub(crate) pool: &'p mut Pool,
}

impl<'p> Assembler<'p> {
    pub(crate) fn new(pool: &'p mut Pool) -> Self {
        pool.next = pool.first;
        Self {
            code: Vec::new(),
            pool,
        }
    }

    /// Begins a statement: the intermediate results of the one before are not needed any more.
    pub(crate) fn statement(&mut self) {
        self.pool.next = self.pool.first;
    }

    /// Says that a statement begins, or how a condition was decided, where traces are wanted.
    pub(crate) fn note(&mut self, mark: impl FnOnce() -> Mark) {
        if let Some(marks) = &mut self.pool.marks {
            self.code.push(Instruction::Mark(marks.len() as u32));
            marks.push(mark());
        }
    }

    pub(crate) fn here(&self) -> Address {
        self.code.len() as Address
    }

    pub(crate) fn push(&mut self, instruction: Instruction) {
        self.code.push(instruction);
    }

    pub(crate) fn jump(&mut self, instruction: Instruction) -> Jumps {
        self.code.push(instruction);
        Jumps(vec![self.code.len() - 1])
    }

    /// Lets jumps lead to what follows.
    pub(crate) fn land(&mut self, jumps: Jumps) {
        let here = self.here();
        self.lead(jumps, here);
    }

    pub(crate) fn lead(&mut self, jumps: Jumps, address: Address) {
        for at in jumps.0 {
            if let Some(instruction) = self.code.get_mut(at) {
                instruction.lead(address);
            }
        }
    }

    /// Lets jumps lead back to `start`; only `Repeat` goes back.
    pub(crate) fn repeat(&mut self, start: Address, jumps: Jumps) {
        let on = self.jump(Instruction::Jump(0));
        self.land(jumps);
        let steps = self.steps_since(start);
        self.push(Instruction::Repeat { to: start, steps });
        self.land(on);
    }

    /// The cost of the instructions from `start` on, in plain instructions.
    fn steps_since(&self, start: Address) -> u32 {
        let steps = |instruction: &Instruction| match *instruction {
            Instruction::Wide(number) => {
                let operation = &self.pool.wide[number as usize];
                let (left, right) = (operation.left.words.into(), operation.right.words.into());
                match operation.kind {
                    Wide::Multiply => u32::saturating_mul(left, right),
                    // Bit by bit.
                    Wide::Divide(_) | Wide::Modulo(_) => {
                        left.saturating_mul(left).saturating_mul(64)
                    }
                    _ => left.max(right).max(operation.to.words.into()),
                }
            }
            Instruction::Extern(number) => match self.pool.externs[number as usize] {
                // Perhaps over the whole packet.
                ExternOperation::Hash { .. }
                | ExternOperation::Calculate { .. }
                | ExternOperation::AddToSum { .. } => 1024,
                _ => 64,
            },
            Instruction::Mark(_) => 0,
            _ => 1,
        };
        let body = self.code.get(start as usize..).unwrap_or_default();
        body.iter().fold(1, |sum: u32, instruction| {
            sum.saturating_add(steps(instruction))
        })
    }

    pub(crate) fn wide(&mut self, operation: WideOperation) {
        self.push(Instruction::Wide(self.pool.wide.len() as u32));
        self.pool.wide.push(operation);
    }

    pub(crate) fn wide_of(&mut self, kind: Wide, to: Span, from: Span, signed: bool) {
        self.wide(WideOperation {
            kind,
            to,
            left: from,
            left_signed: signed,
            right: from,
            right_signed: signed,
        });
    }

    pub(crate) fn external(&mut self, operation: ExternOperation) {
        self.push(Instruction::Extern(self.pool.externs.len() as u32));
        self.pool.externs.push(operation);
    }

    pub(crate) fn temporary(&mut self, words: u32, at: &Json<'_>) -> Result<Span, LoadError> {
        let first = self.pool.next;
        if words > MOST_WORDS || first + words > MOST_WORDS {
            return at.refuse(format!(
                "fields and intermediate results take more than {MOST_WORDS} words of 64 bits"
            ));
        }
        self.pool.next += words;
        self.pool.words = self.pool.words.max(self.pool.next);
        Ok(Span {
            first: first as Place,
            words: words as u16,
        })
    }

    /// The number of intermediate results now, for [`Self::release`].
    pub(crate) fn mark(&self) -> u32 {
        self.pool.next
    }

    pub(crate) fn release(&mut self, mark: u32) {
        self.pool.next = mark;
    }

    pub(crate) fn word(&mut self, at: &Json<'_>) -> Result<Place, LoadError> {
        Ok(self.temporary(1, at)?.first)
    }
}

pub(crate) fn append(
    code: &mut Vec<Instruction>,
    body: &[Instruction],
    at: &Json<'_>,
) -> Result<Address, LoadError> {
    if code.len() + body.len() > MOST_INSTRUCTIONS {
        return at.refuse(format!(
            "the program takes more than {MOST_INSTRUCTIONS} instructions"
        ));
    }
    let start = code.len() as Address;
    code.extend(body.iter().map(|instruction| instruction.moved(start)));
    Ok(start)
}
