//! A control, or the code of a parser state or checksum, as blocks: each action stands in place
//! wherever a table or a call leads to it, so that where control goes on is known.

use std::collections::HashMap;

use crate::program::{Address, Instruction, Place, Program, Setting, TableShape};
use crate::state::tables::outcome;

pub(super) type BlockId = usize;

/// Steps of all blocks of a program; one with more is left to the interpreter.
pub(super) const MOST_STEPS: usize = 1 << 16;

/// Actions within actions: p4c makes none, but an artifact may.
const MOST_DEPTH: usize = 4;

/// Part of a block.
#[derive(Debug, Clone, Copy)]
pub(super) enum Step {
    /// An instruction that leads to the next one.
    Plain(Instruction),
    /// A word of the runtime data goes to a word of the packet.
    Parameter { parameter: u16, to: Place },
}

/// Where a block leads.
#[derive(Debug, Clone)]
pub(super) enum End {
    Jump(BlockId),
    /// By the outcome of a conditional jump.
    Branch {
        test: Instruction,
        taken: BlockId,
        next: BlockId,
    },
    /// Back, for some of the steps left.
    Repeat {
        to: BlockId,
        steps: u32,
    },
    /// By outcome: see [`outcome`].
    Table {
        number: u32,
        outcomes: Vec<BlockId>,
        /// Where a packet goes on that finds no entry and nothing to do, if that is one place.
        passed: Option<BlockId>,
    },
    Finish,
}

#[derive(Debug)]
pub(super) struct Block {
    pub(super) steps: Vec<Step>,
    pub(super) end: End,
}

/// The first block is where control begins.
#[derive(Debug)]
pub(super) struct Graph {
    pub(super) blocks: Vec<Block>,
}

/// Code in one of the places where it stands: the control itself, or an action.
#[derive(Debug, Clone, Copy)]
struct Copy {
    /// Where a `Return` leads.
    back: Option<BlockId>,
    depth: usize,
}

struct Builder<'p> {
    program: &'p Program,
    targets: &'p [bool],
    copies: Vec<Copy>,
    known: HashMap<(usize, Address), BlockId>,
    blocks: Vec<Block>,
    /// Blocks whose instructions are not looked at yet.
    waiting: Vec<(usize, Address, BlockId)>,
    /// Steps that there may still be.
    left: &'p mut usize,
}

/// Tells for each address whether a jump leads to it.
pub(super) fn targets(program: &Program) -> Vec<bool> {
    let mut targets = vec![false; program.code.len()];
    for address in program
        .code
        .iter()
        .flat_map(|instruction| instruction.addresses())
        .flatten()
    {
        if let Some(target) = targets.get_mut(address as usize) {
            *target = true;
        }
    }
    targets
}

impl Graph {
    /// The blocks from `start` on; their steps are taken from those `left`. An error says why they are
    /// too many, or out of order.
    pub(super) fn new(
        program: &Program,
        targets: &[bool],
        start: Address,
        left: &mut usize,
    ) -> Result<Self, String> {
        let mut builder = Builder {
            program,
            targets,
            copies: vec![Copy {
                back: None,
                depth: 0,
            }],
            known: HashMap::new(),
            blocks: Vec::new(),
            waiting: Vec::new(),
            left,
        };
        builder.block(0, start);
        while let Some((copy, address, block)) = builder.waiting.pop() {
            builder.fill(copy, address, block)?;
        }
        Ok(Self {
            blocks: builder.blocks,
        })
    }
}

impl Builder<'_> {
    fn take(&mut self, steps: usize) -> Result<(), String> {
        let left = self.left.checked_sub(steps);
        *self.left = left.ok_or_else(|| format!("it takes more than {MOST_STEPS} steps"))?;
        Ok(())
    }

    fn empty(&mut self, end: End) -> BlockId {
        self.blocks.push(Block {
            steps: Vec::new(),
            end,
        });
        self.blocks.len() - 1
    }

    /// The block that begins at an address.
    fn block(&mut self, copy: usize, address: Address) -> BlockId {
        if let Some(known) = self.known.get(&(copy, address)) {
            return *known;
        }
        let block = self.empty(End::Finish);
        self.known.insert((copy, address), block);
        self.waiting.push((copy, address, block));
        block
    }

    /// The block that begins with the settings of an action.
    fn action(&mut self, copy: usize, number: u32, back: BlockId) -> Result<BlockId, String> {
        let program = self.program;
        let Some(action) = program.actions.get(number as usize) else {
            return Err(format!("there is no action {number}"));
        };
        let mut steps = Vec::new();
        for setting in &action.settings {
            steps.push(match *setting {
                Setting::Parameter { parameter, to } => {
                    if u32::from(parameter) >= action.words {
                        return Err(format!("action {} reads past its parameters", action.name));
                    }
                    Step::Parameter { parameter, to }
                }
                Setting::Constant { to, value } => Step::Plain(Instruction::Constant { to, value }),
            });
        }
        if action.reads_parameters {
            for parameter in 0..action.words {
                steps.push(Step::Parameter {
                    parameter: parameter as u16,
                    to: (program.parameters + parameter) as Place,
                });
            }
        }
        self.take(steps.len())?;
        let end = match action.start {
            Some(start) => End::Jump(self.inside(copy, start, back)?),
            None => End::Jump(back),
        };
        if steps.is_empty()
            && let End::Jump(to) = end
        {
            return Ok(to);
        }
        let block = self.empty(end);
        self.blocks[block].steps = steps;
        Ok(block)
    }

    /// The block where the code of an action begins, in a place of its own.
    fn inside(&mut self, copy: usize, start: Address, back: BlockId) -> Result<BlockId, String> {
        let depth = self.copies[copy].depth + 1;
        if depth > MOST_DEPTH {
            return Err(format!("actions call actions more than {MOST_DEPTH} deep"));
        }
        self.copies.push(Copy {
            back: Some(back),
            depth,
        });
        Ok(self.block(self.copies.len() - 1, start))
    }

    fn fill(&mut self, copy: usize, start: Address, block: BlockId) -> Result<(), String> {
        let program = self.program;
        let mut steps = Vec::new();
        let mut at = start;
        let end = loop {
            let Some(&instruction) = program.code.get(at as usize) else {
                break End::Finish;
            };
            if at != start && self.targets.get(at as usize).is_some_and(|target| *target) {
                break End::Jump(self.block(copy, at));
            }
            match instruction {
                Instruction::Jump(to) => break End::Jump(self.block(copy, to)),
                Instruction::Repeat { to, steps } => {
                    let to = self.block(copy, to);
                    break End::Repeat { to, steps };
                }
                Instruction::JumpIfEqual { to, .. }
                | Instruction::JumpIfNotEqual { to, .. }
                | Instruction::JumpIfConstant { to, .. }
                | Instruction::JumpIf { to, .. }
                | Instruction::JumpIfSigned { to, .. } => {
                    break End::Branch {
                        test: instruction,
                        taken: self.block(copy, to),
                        next: self.block(copy, at + 1),
                    };
                }
                Instruction::Return => {
                    break self.copies[copy].back.map_or(End::Finish, End::Jump);
                }
                Instruction::End => break End::Finish,
                Instruction::Table(number) => break self.table(copy, number)?,
                Instruction::Call { to, back } => {
                    let back = self.block(copy, back);
                    break End::Jump(self.inside(copy, to, back)?);
                }
                plain => steps.push(Step::Plain(plain)),
            }
            at += 1;
        };
        self.take(steps.len() + 1)?;
        self.blocks[block] = Block { steps, end };
        Ok(())
    }

    fn table(&mut self, copy: usize, number: u32) -> Result<End, String> {
        let program = self.program;
        let Some(shape) = program.tables.get(number as usize) else {
            return Err(format!("there is no table {number}"));
        };
        let mut outcomes = Vec::new();
        // An action that leads to the same place after a hit and a miss stands there once.
        let mut made: HashMap<(usize, Address), BlockId> = HashMap::new();
        for position in 0..=shape.actions.len() {
            for hit in [false, true] {
                let next = next_of(shape, position, hit);
                let entered = match made.get(&(position, next)) {
                    Some(entered) => *entered,
                    None => {
                        let back = self.block(copy, next);
                        let entered = match shape.actions.get(position) {
                            Some(taken) => self.action(copy, taken.action, back)?,
                            None => back,
                        };
                        made.insert((position, next), entered);
                        entered
                    }
                };
                debug_assert_eq!(outcome(position as u32, hit) as usize, outcomes.len());
                outcomes.push(entered);
            }
        }
        let idle = |position: &usize| shape.actions.get(*position).is_none_or(|taken| taken.idle);
        let mut passed = (0..=shape.actions.len())
            .filter(idle)
            .map(|position| next_of(shape, position, false));
        let first = passed.next();
        let same = passed.all(|next| Some(next) == first);
        let passed = first.filter(|_| same).map(|next| self.block(copy, next));
        Ok(End::Table {
            number,
            outcomes,
            passed,
        })
    }
}

/// Where control goes on after an action of a table, or (past the last one) after none.
fn next_of(shape: &TableShape, position: usize, hit: bool) -> Address {
    let decided = if hit { shape.hit } else { shape.miss };
    let own = shape.actions.get(position);
    decided.unwrap_or_else(|| own.map_or(shape.otherwise, |taken| taken.next))
}
