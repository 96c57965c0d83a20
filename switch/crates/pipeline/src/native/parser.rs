//! The parser becomes code: each state reads its headers from the frame and chooses the next.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I16, I32, I64};
use cranelift_codegen::ir::{Block, InstBuilder, MemFlagsData, Value};
use cranelift_frontend::Variable;

use super::lower::{Lower, Region};
use super::memory::{Callback, Context};
use crate::program::{
    Cases, END, ExtractPlan, FieldRead, HeaderSpan, MOST_STATES, ParserOperation, Program,
    SelectCondition,
};

/// The parts of a parser that its states share.
struct Parser {
    states: Vec<Block>,
    done: Block,
    /// Ends parsing with the error given to it.
    failed: Block,
    /// Bytes parsed.
    at: Variable,
    /// States passed, where there may be too many.
    passed: Option<Variable>,
    frame: Value,
    length: Value,
}

impl Lower<'_, '_> {
    /// Reads the frame into the packet's words, notes how far it came, and goes on in a new block.
    pub(super) fn parser(&mut self) {
        let program = self.source.program;
        let states = program.states.iter().map(|_| self.builder.create_block());
        let states = states.collect();
        let (done, failed) = (self.builder.create_block(), self.builder.create_block());
        let at = self.builder.declare_var(I64);
        let passed = may_loop(self.source.program).then(|| self.builder.declare_var(I64));
        let parser = Parser {
            states,
            done,
            failed,
            at,
            passed,
            frame: self.fixed(Context::FRAME),
            length: self.fixed(Context::LENGTH),
        };
        let zero = self.constant(0);
        self.builder.def_var(at, zero);
        if let Some(passed) = passed {
            self.builder.def_var(passed, zero);
        }
        self.tell(program.standard.parser_error, |it| {
            it.constant(program.errors.no_error)
        });
        let error = self.builder.append_block_param(failed, I64);
        self.builder.set_cold_block(failed);
        self.go_to(&parser, Some(program.initial_state));
        for number in 0..program.states.len() {
            self.builder.switch_to_block(parser.states[number]);
            self.state(&parser, number);
        }
        self.builder.switch_to_block(failed);
        self.tell(program.standard.parser_error, |_| error);
        self.builder.ins().jump(done, &[]);
        self.builder.switch_to_block(done);
        let at = self.builder.use_var(at);
        self.set_context_word(Context::AT, at);
    }

    fn fail(&mut self, parser: &Parser, error: u64) {
        let error = self.constant(error);
        self.builder.ins().jump(parser.failed, &[error.into()]);
    }

    /// Goes on in another state, or ends; without a next state there was no match.
    fn go_to(&mut self, parser: &Parser, next: Option<u32>) {
        let errors = self.source.program.errors;
        let Some(next) = next else {
            self.fail(parser, errors.no_match);
            return;
        };
        if let Some(passed) = parser.passed {
            let count = self.builder.use_var(passed);
            let few = self.compared(IntCC::UnsignedLessThan, count, MOST_STATES as u64);
            let many = self.builder.create_block();
            let on = self.builder.create_block();
            self.builder.set_cold_block(many);
            self.builder.ins().brif(few, on, &[], many, &[]);
            self.builder.switch_to_block(many);
            self.fail(parser, errors.parser_timeout);
            self.builder.switch_to_block(on);
            let one = self.constant(1);
            let count = self.builder.ins().iadd(count, one);
            self.builder.def_var(passed, count);
        }
        let block = parser.states.get(next as usize).copied();
        let block = block.filter(|_| next != END).unwrap_or(parser.done);
        self.builder.ins().jump(block, &[]);
    }

    fn state(&mut self, parser: &Parser, number: usize) {
        let program = self.source.program;
        let state = &program.states[number];
        for (position, operation) in state.operations.iter().enumerate() {
            self.operation(parser, number, position, operation);
        }
        match (&state.cases, state.keys.as_slice()) {
            (Cases::Exact(cases), [key]) => {
                let value = self.get(*key);
                for (wanted, next) in cases {
                    let here = self.compared(IntCC::Equal, value, *wanted);
                    self.case(parser, here, *next);
                }
            }
            (Cases::Exact(_), _) => {}
            (Cases::Any(cases), _)
                if cases
                    .iter()
                    .any(|case| matches!(case.condition, SelectCondition::Member(_))) =>
            {
                let state = self.constant(number as u64);
                let chosen = self.call(Callback::Select, &[state]);
                for (case, wanted) in cases.iter().zip(0..) {
                    let here = self.compared(IntCC::Equal, chosen, wanted);
                    self.case(parser, here, case.next);
                }
            }
            (Cases::Any(cases), keys) => {
                for case in cases {
                    let SelectCondition::Masked(words) = &case.condition else {
                        continue;
                    };
                    let mut different = self.constant(0);
                    for (key, (value, mask)) in keys.iter().zip(words) {
                        let word = self.get(*key);
                        let word = self.masked(word, *mask);
                        let value = self.constant(*value);
                        let bits = self.builder.ins().bxor(word, value);
                        different = self.builder.ins().bor(different, bits);
                    }
                    let here = self.compared(IntCC::Equal, different, 0);
                    self.case(parser, here, case.next);
                }
            }
        }
        self.go_to(parser, state.otherwise);
    }

    fn case(&mut self, parser: &Parser, here: Value, next: u32) {
        let (found, on) = (self.builder.create_block(), self.builder.create_block());
        self.builder.ins().brif(here, found, &[], on, &[]);
        self.builder.switch_to_block(found);
        self.go_to(parser, Some(next));
        self.builder.switch_to_block(on);
    }

    fn operation(
        &mut self,
        parser: &Parser,
        state: usize,
        position: usize,
        operation: &ParserOperation,
    ) {
        let program = self.source.program;
        let plan = |header: &HeaderSpan| program.layouts[header.layout as usize].plan.as_ref();
        match operation {
            ParserOperation::ExtractFixed(header) if plan(header).is_some() => {
                self.extract(parser, *header, plan(header), &[]);
            }
            ParserOperation::Extract { header, others, .. }
                if header.element.is_none() && plan(&header.first).is_some() =>
            {
                self.extract(parser, header.first, plan(&header.first), others);
            }
            ParserOperation::Copy { from, to } => {
                let value = self.get(*from);
                self.set(*to, value);
            }
            ParserOperation::Code(start) => {
                let on = self.builder.create_block();
                let source = self.source;
                if let Some(graph) = source.graphs.other(*start) {
                    self.graph(graph, on);
                } else {
                    self.builder.ins().jump(on, &[]);
                }
                self.builder.switch_to_block(on);
            }
            ParserOperation::Lookahead { to, offset, bits }
                if to.words == 1 && *bits > 0 && (offset % 8) + bits <= 64 =>
            {
                let end = self.constant(u64::from((offset + bits).div_ceil(8)));
                let at = self.builder.use_var(parser.at);
                let needed = self.builder.ins().iadd(at, end);
                self.require(parser, needed);
                let place = self.builder.ins().iadd(parser.frame, at);
                let (first, skip) = (offset / 8, offset % 8);
                let bytes = (skip + bits).div_ceil(8);
                let value = self.big_endian(place, first as i32, bytes);
                let read = FieldRead {
                    word: 0,
                    left: skip as u8,
                    right: (64 - bits) as u8,
                };
                let value = self.field(value, read);
                self.set(to.first, value);
            }
            _ => {
                let at = self.builder.use_var(parser.at);
                self.set_context_word(Context::AT, at);
                let (state, position) =
                    (self.constant(state as u64), self.constant(position as u64));
                let wrong = self.call(Callback::Parse, &[state, position]);
                let at = self.context_word(Context::AT);
                self.builder.def_var(parser.at, at);
                let error = self.context_word(Context::ERROR);
                let on = self.builder.create_block();
                self.builder
                    .ins()
                    .brif(wrong, parser.failed, &[error.into()], on, &[]);
                self.builder.switch_to_block(on);
            }
        }
    }

    /// Fails unless the frame has this many bytes.
    fn require(&mut self, parser: &Parser, needed: Value) {
        let enough = self
            .builder
            .ins()
            .icmp(IntCC::UnsignedLessThanOrEqual, needed, parser.length);
        let error = self.constant(self.source.program.errors.packet_too_short);
        let on = self.builder.create_block();
        self.builder
            .ins()
            .brif(enough, on, &[], parser.failed, &[error.into()]);
        self.builder.switch_to_block(on);
    }

    fn extract(
        &mut self,
        parser: &Parser,
        header: HeaderSpan,
        plan: Option<&ExtractPlan>,
        others: &[u32],
    ) {
        let Some(plan) = plan else { return };
        let at = self.builder.use_var(parser.at);
        let length = self.constant(plan.length as u64);
        let end = self.builder.ins().iadd(at, length);
        self.require(parser, end);
        let place = self.builder.ins().iadd(parser.frame, at);
        let eight = plan.length.min(8) as u32;
        let mut from = 0;
        for window in &plan.windows {
            let bytes = self.big_endian(place, window.start as i32, eight);
            for read in &plan.reads[from..window.end as usize] {
                let value = self.field(bytes, *read);
                self.store_word(header.word + u32::from(read.word), value);
            }
            from = window.end as usize;
        }
        for special in &plan.special {
            let bytes = self.big_endian(place, special.start as i32, eight);
            let mut value = self.field(bytes, special.read);
            let word = header.word + u32::from(special.read.word);
            if special.join > 0 {
                let upper = self.load_word(word);
                let upper = self.shifted(upper, u32::from(special.join & 63));
                value = self.builder.ins().bor(upper, value);
            }
            if special.sign != 0 {
                let sign = self.constant(special.sign);
                value = self.builder.ins().bxor(value, sign);
                value = self.builder.ins().isub(value, sign);
            }
            self.store_word(word, value);
        }
        let one = self.constant(1);
        self.store_word(header.word, one);
        self.builder.def_var(parser.at, end);
        for other in others {
            let zero = self.constant(0);
            self.store_word(*other, zero);
        }
    }

    /// `bytes` (1 to 8) bytes from an address on, as the upper ones of eight.
    fn big_endian(&mut self, place: Value, offset: i32, bytes: u32) -> Value {
        let mut value = None;
        let (mut done, mut left) = (0, bytes);
        while left > 0 {
            let (kind, width) = match left {
                8.. => (I64, 8),
                4.. => (I32, 4),
                2.. => (I16, 2),
                _ => (I8, 1),
            };
            let region = self.flags(Region::Frame).alias_region();
            let flags = MemFlagsData::new().with_notrap().with_alias_region(region);
            let part = self
                .builder
                .ins()
                .load(kind, flags, place, offset + done as i32);
            let part = if width > 1 && cfg!(target_endian = "little") {
                self.builder.ins().bswap(part)
            } else {
                part
            };
            let part = if width < 8 {
                self.builder.ins().uextend(I64, part)
            } else {
                part
            };
            let part = self.shifted(part, 64 - 8 * (done + width));
            value = Some(match value {
                Some(before) => self.builder.ins().bor(before, part),
                None => part,
            });
            done += width;
            left -= width;
        }
        match value {
            Some(value) => value,
            None => self.constant(0),
        }
    }

    fn field(&mut self, bytes: Value, read: FieldRead) -> Value {
        let value = self.shifted(bytes, u32::from(read.left & 63));
        if read.right == 0 {
            return value;
        }
        let right = self.constant(u64::from(read.right & 63));
        self.builder.ins().ushr(value, right)
    }
}

/// Whether a packet may pass a state twice, or too many.
fn may_loop(program: &Program) -> bool {
    let states = &program.states;
    if states.len() >= MOST_STATES {
        return true;
    }
    // Kahn: states that no waiting state leads to are taken away, until none is left.
    let leads = |state: usize| states[state].successors();
    let mut ways = vec![0u32; states.len()];
    for to in (0..states.len()).flat_map(leads) {
        if let Some(ways) = ways.get_mut(to as usize) {
            *ways += 1;
        }
    }
    let mut free: Vec<usize> = (0..states.len())
        .filter(|state| ways[*state] == 0)
        .collect();
    let mut taken = 0;
    while let Some(state) = free.pop() {
        taken += 1;
        for to in leads(state) {
            if let Some(left) = ways.get_mut(to as usize) {
                *left -= 1;
                if *left == 0 {
                    free.push(to as usize);
                }
            }
        }
    }
    taken < states.len()
}
