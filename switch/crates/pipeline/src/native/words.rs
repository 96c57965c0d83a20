//! The words of a packet, as native code sees them: which are values of a control alone, and which
//! have to be zero before the parser.

use super::graph::{End, Graph, Step};
use crate::program::{
    ExternOperation, Instruction, Place, Program, kept, operands, parser_operands, results,
};
use crate::state::tables::{ALWAYS, Table};

/// A set of words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct WordSet(Vec<u64>);

impl WordSet {
    fn new(words: usize) -> Self {
        Self(vec![0; words.div_ceil(64)])
    }

    fn add(&mut self, word: u32) {
        if let Some(bits) = self.0.get_mut(word as usize / 64) {
            *bits |= 1 << (word % 64);
        }
    }

    fn remove(&mut self, word: u32) {
        if let Some(bits) = self.0.get_mut(word as usize / 64) {
            *bits &= !(1 << (word % 64));
        }
    }

    pub(super) fn has(&self, word: u32) -> bool {
        let bits = self.0.get(word as usize / 64);
        bits.is_some_and(|bits| bits >> (word % 64) & 1 != 0)
    }

    /// Adds the words of another set; tells whether there were new ones.
    fn join(&mut self, other: &Self) -> bool {
        let mut changed = false;
        for (bits, more) in self.0.iter_mut().zip(&other.0) {
            changed |= more & !*bits != 0;
            *bits |= more;
        }
        changed
    }
}

/// The graphs of a program.
pub(super) struct Graphs {
    pub(super) ingress: Graph,
    pub(super) egress: Graph,
    /// The instructions of parser states and checksums, by where they start, in this order.
    pub(super) others: Vec<(u32, Graph)>,
}

impl Graphs {
    pub(super) fn other(&self, start: u32) -> Option<&Graph> {
        let found = self.others.binary_search_by_key(&start, |other| other.0);
        found.ok().map(|place| &self.others[place].1)
    }
}

#[derive(Debug)]
pub(super) struct Placing {
    /// Words that only ingress, or only egress, works with, and never before it has set them: they
    /// need no memory.
    pub(super) private_to_ingress: WordSet,
    pub(super) private_to_egress: WordSet,
    /// Words that may be read before they are set.
    pub(super) cleared: WordSet,
    /// Words that anything reads.
    pub(super) read: WordSet,
}

impl Placing {
    pub(super) fn new(program: &Program, tables: &[Table], graphs: &Graphs) -> Self {
        let words = program.words as usize;
        let mut after = WordSet::new(words);
        kept(program, &mut |word| after.add(word));
        let mut others = WordSet::new(words);
        for (_, graph) in &graphs.others {
            others.join(&live(program, tables, graph, &WordSet::new(words)));
        }
        after.join(&others);
        // A packet may pass egress twice, if it is dropped then.
        let mut after_egress = after.clone();
        let mut egress = live(program, tables, &graphs.egress, &after_egress);
        while after_egress.join(&egress) {
            egress = live(program, tables, &graphs.egress, &after_egress);
        }
        let ingress = live(program, tables, &graphs.ingress, &after_egress);

        let mut seen = WordSet::new(words);
        operands(program, &mut |word| seen.add(word));
        results(program, &mut |word| seen.add(word));
        for table in tables {
            let selector = table.shape.profile.iter();
            let selector = selector.filter_map(|profile| profile.selector.as_ref());
            for (slot, _, valid) in selector.flat_map(|selector| &selector.fields) {
                let (first, count) = slot.words().unwrap_or_default();
                (first..first + count).for_each(|word| seen.add(word));
                valid.iter().for_each(|word| seen.add(*word));
            }
            if let Some(meter) = &table.shape.direct_meter {
                seen.add(meter.target.word);
            }
        }
        let headers = program.metadata_words..program.parameters;
        headers.clone().for_each(|word| seen.add(word));
        for (_, graph) in &graphs.others {
            visit(program, tables, graph, |word, _| seen.add(word));
        }
        let mut read = WordSet::new(words);
        let of_others = graphs.others.iter().map(|(_, graph)| graph);
        for graph in of_others.chain([&graphs.ingress, &graphs.egress]) {
            visit(program, tables, graph, |word, sets| {
                if !sets {
                    read.add(word);
                }
            });
        }
        operands(program, &mut |word| read.add(word));
        let private = |own: &Graph, other: &Graph, live: &WordSet| {
            let mut shared = seen.clone();
            shared.join(live);
            visit(program, tables, other, |word, _| shared.add(word));
            let mut private = WordSet::new(words);
            visit(program, tables, own, |word, _| {
                if !shared.has(word) {
                    private.add(word);
                }
            });
            private
        };

        let mut cleared = ingress.clone();
        parser_operands(program, &mut |word| cleared.add(word));
        cleared.join(&others);
        headers.for_each(|word| cleared.add(word));
        program.standard.words().for_each(|word| cleared.add(word));
        Self {
            private_to_ingress: private(&graphs.ingress, &graphs.egress, &ingress),
            private_to_egress: private(&graphs.egress, &graphs.ingress, &egress),
            cleared,
            read,
        }
    }
}

/// The words that a control may read before it sets them, if those in `after` are read after it.
fn live(program: &Program, tables: &[Table], graph: &Graph, after: &WordSet) -> WordSet {
    let words = program.words as usize;
    let mut before = vec![WordSet::new(words); graph.blocks.len()];
    loop {
        let mut changed = false;
        for (number, block) in graph.blocks.iter().enumerate().rev() {
            let mut live = WordSet::new(words);
            match &block.end {
                End::Jump(to) => {
                    live.join(&before[*to]);
                }
                End::Branch { taken, next, .. } => {
                    live.join(&before[*taken]);
                    live.join(&before[*next]);
                }
                // The packet may be dropped there.
                End::Repeat { to, .. } => {
                    live.join(&before[*to]);
                    live.join(after);
                }
                End::Table {
                    outcomes, passed, ..
                } => {
                    for to in outcomes.iter().chain(passed) {
                        live.join(&before[*to]);
                    }
                }
                End::Finish => {
                    live.join(after);
                }
            }
            end_words(tables, &block.end, |word| live.add(word));
            for step in block.steps.iter().rev() {
                step_words(program, step, |word, sets| {
                    if sets {
                        live.remove(word);
                    }
                });
                step_words(program, step, |word, sets| {
                    if !sets {
                        live.add(word);
                    }
                });
            }
            changed |= before[number].join(&live);
        }
        if !changed {
            return before.swap_remove(0);
        }
    }
}

/// Visits each word that a graph works with, and whether it is set without being read.
fn visit(program: &Program, tables: &[Table], graph: &Graph, mut see: impl FnMut(u32, bool)) {
    for block in &graph.blocks {
        for step in &block.steps {
            step_words(program, step, &mut see);
        }
        end_words(tables, &block.end, |word| see(word, false));
    }
}

fn step_words(program: &Program, step: &Step, mut see: impl FnMut(u32, bool)) {
    match *step {
        Step::Parameter { to, .. } => see(to.into(), true),
        Step::Plain(Instruction::Wide(number)) => {
            program.wide[number as usize].operands(&mut |word| see(word, false));
        }
        Step::Plain(Instruction::Extern(number)) => {
            let operation = &program.operations[number as usize];
            operation.operands(&mut |word| see(word, false));
            match operation {
                ExternOperation::Hash { calculation, .. }
                | ExternOperation::Calculate { calculation, .. }
                | ExternOperation::AddToSum { calculation, .. } => program.calculations
                    [*calculation as usize]
                    .operands(&mut |word| see(word, false)),
                ExternOperation::Log { message } => {
                    program.messages[*message as usize].operands(&mut |word| see(word, false));
                }
                _ => {}
            }
        }
        Step::Plain(instruction) => instruction_words(instruction, see),
    }
}

fn instruction_words(mut instruction: Instruction, mut see: impl FnMut(u32, bool)) {
    if let Some(to) = instruction.pure_result() {
        see(to.into(), true);
    }
    instruction.read_through(|place: Place| {
        see(place.into(), false);
        place
    });
}

fn end_words(tables: &[Table], end: &End, mut see: impl FnMut(u32)) {
    match end {
        End::Branch { test, .. } => instruction_words(*test, |word, _| see(word)),
        End::Table { number, .. } => {
            let table = &tables[*number as usize];
            for piece in table.pieces().0 {
                see(piece.from);
                if piece.valid != ALWAYS {
                    see(piece.valid);
                }
            }
            let selector = table.shape.profile.iter();
            let selector = selector.filter_map(|profile| profile.selector.as_ref());
            for (slot, _, valid) in selector.flat_map(|selector| &selector.fields) {
                let (first, count) = slot.words().unwrap_or_default();
                (first..first + count).chain(*valid).for_each(&mut see);
            }
        }
        End::Jump(_) | End::Repeat { .. } | End::Finish => {}
    }
}
