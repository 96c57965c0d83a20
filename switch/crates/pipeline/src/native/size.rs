//! How large the code of a program becomes: what an instruction of the program is made of may be thousands of the
//! processor's, and the compiler's time and memory grow with them, at worst with their square.

use super::graph::{End, Graph, Step};
use super::wide;
use super::words::Graphs;
use crate::program::{Cases, Checksum, ExternOperation, Instruction, ParserOperation, Program};
use crate::state::tables::{Search, Table};

/// The compiler's instructions for a program at most, by the count of this module.
const MOST_INSTRUCTIONS: usize = 1 << 17;

/// Blocks of all graphs times words of a packet: values may have to be joined in each block.
const MOST_VALUES: usize = 1 << 21;

/// Counts the compiler's instructions, never less than there will be.
pub(super) struct Size<'a> {
    pub(super) program: &'a Program,
    pub(super) tables: &'a [Table],
    pub(super) graphs: &'a Graphs,
}

impl Size<'_> {
    /// Places where the code calls for arithmetic on long numbers.
    pub(super) fn long_calls(&self) -> usize {
        let steps = self.graphs().flat_map(|graph| &graph.blocks);
        let steps = steps.flat_map(|block| &block.steps);
        let called = |step: &&Step| match **step {
            Step::Plain(Instruction::Wide(number)) => {
                wide::is_called(&self.program.wide[number as usize])
            }
            _ => false,
        };
        steps.filter(called).count()
    }

    fn graphs(&self) -> impl Iterator<Item = &Graph> {
        let others = self.graphs.others.iter().map(|other| &other.1);
        others.chain([&self.graphs.ingress, &self.graphs.egress])
    }

    /// Gives the size. An error says why it is too large.
    pub(super) fn check(&self) -> Result<usize, String> {
        let blocks: usize = self.graphs().map(|graph| graph.blocks.len()).sum();
        if blocks * self.program.words as usize > MOST_VALUES {
            return Err(format!(
                "it has {blocks} blocks and {} words, whose product is more than {MOST_VALUES}",
                self.program.words
            ));
        }
        let size = self.all();
        if size > MOST_INSTRUCTIONS {
            return Err(format!(
                "its code takes more than {MOST_INSTRUCTIONS} instructions"
            ));
        }
        Ok(size)
    }

    /// Of all functions.
    fn all(&self) -> usize {
        let program = self.program;
        let parser = (0..program.states.len()).map(|state| self.state(state));
        let checksums = program.verified.iter().chain(&program.updated);
        let written = program.deparser.emitted.iter().map(|header| {
            let plan = program.layouts[header.layout as usize].plan.as_ref();
            plan.map_or(16, |plan| {
                16 + 6 * plan.writes.len() + 4 * plan.chunks.len()
            })
        });
        // Clearing, metadata, beginnings and ends.
        let fixed = 128 + 2 * program.words as usize;
        fixed
            + parser.sum::<usize>()
            + checksums
                .map(|checksum| self.checksum(checksum))
                .sum::<usize>()
            + written.sum::<usize>()
            + self.graph(&self.graphs.ingress)
            + self.graph(&self.graphs.egress)
    }

    fn state(&self, number: usize) -> usize {
        let state = &self.program.states[number];
        let operations = state
            .operations
            .iter()
            .map(|operation| self.operation(operation));
        // A comparison, and going on, with a bound where states may repeat.
        let cases = match &state.cases {
            Cases::Exact(cases) => cases.len() * 16,
            Cases::Any(cases) => cases.len() * (16 + 6 * state.keys.len()),
        };
        32 + operations.sum::<usize>() + cases
    }

    fn operation(&self, operation: &ParserOperation) -> usize {
        let plan = |layout: u32| {
            let plan = self.program.layouts[layout as usize].plan.as_ref();
            // Headers of less than eight bytes are read in up to three parts.
            plan.map_or(0, |plan| {
                5 * plan.reads.len() + 14 * plan.windows.len() + 26 * plan.special.len()
            })
        };
        let extract = match operation {
            ParserOperation::ExtractFixed(header) => plan(header.layout),
            ParserOperation::Extract { header, others, .. } => {
                plan(header.first.layout) + 2 * others.len()
            }
            ParserOperation::Code(start) => {
                let graph = self.graphs.other(*start);
                graph.map_or(0, |graph| self.graph(graph))
            }
            _ => 0,
        };
        32 + extract
    }

    fn checksum(&self, checksum: &Checksum) -> usize {
        let condition = checksum.condition.and_then(|guard| guard.start);
        let condition = condition.and_then(|start| self.graphs.other(start));
        let condition = condition.map_or(0, |graph| self.graph(graph));
        32 + condition + self.calculation(checksum.calculation)
    }

    fn calculation(&self, number: u32) -> usize {
        let calculation = &self.program.calculations[number as usize];
        let sum = calculation.sum.as_ref();
        let sum = sum.map_or(0, |sum| 8 * sum.fields.len() + 16 * sum.long.len());
        let bytes = calculation.bytes.as_ref();
        let bytes = bytes.map_or(0, |bytes| {
            let length: usize = bytes.fields.iter().map(|field| usize::from(field.1)).sum();
            18 * length + 16 * bytes.fields.len()
        });
        64 + sum.max(bytes)
    }

    fn graph(&self, graph: &Graph) -> usize {
        let blocks = graph.blocks.iter().map(|block| {
            let steps = block.steps.iter().map(|step| self.step(step));
            steps.sum::<usize>() + self.end(&block.end)
        });
        blocks.sum()
    }

    fn step(&self, step: &Step) -> usize {
        match *step {
            Step::Plain(Instruction::Wide(number)) => {
                wide::size(&self.program.wide[number as usize])
            }
            Step::Plain(Instruction::Extern(number)) => {
                match &self.program.operations[number as usize] {
                    ExternOperation::Hash { calculation, .. } => {
                        16 + self.calculation(*calculation)
                    }
                    ExternOperation::ReadWideRegister { to, .. } => 32 + 2 * usize::from(to.words),
                    _ => 32,
                }
            }
            Step::Plain(
                Instruction::ReadRegister { .. }
                | Instruction::WriteRegister { .. }
                | Instruction::Count { .. },
            ) => 24,
            Step::Plain(
                Instruction::Binary { .. }
                | Instruction::BinaryConstant { .. }
                | Instruction::ClampSigned { .. }
                | Instruction::ClampUnsigned { .. },
            ) => 12,
            Step::Plain(_) => 6,
            Step::Parameter { .. } => 2,
        }
    }

    fn end(&self, end: &End) -> usize {
        match end {
            End::Jump(_) | End::Finish => 1,
            End::Branch { .. } => 5,
            End::Repeat { .. } => 16,
            End::Table {
                number, outcomes, ..
            } => {
                let (pieces, words) = self.tables[*number as usize].pieces();
                let search = match self.tables[*number as usize].native_search() {
                    Some(Search::Prefixes { bits }) => 64 + 8 * bits as usize,
                    _ => 64,
                };
                search + 9 * pieces.len() + 12 * words + 2 * outcomes.len()
            }
        }
    }
}
