//! The parts that the code of parser, controls and deparser shares: words, constants, comparisons,
//! and calls back.

use std::collections::HashMap;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8X16, I32, I64};
use cranelift_codegen::ir::{
    AbiParam, AliasRegionData, Block, InstBuilder, MemFlagsData, SigRef, StackSlot, StackSlotData,
    StackSlotKind, Value,
};
use cranelift_codegen::isa::TargetFrontendConfig;
use cranelift_frontend::{FunctionBuilder, Variable};

use super::memory::{Callback, Context};
use super::words::{Graphs, Placing, WordSet};
use crate::program::{Comparison, Fit, Place, Program};
use crate::state::tables::Table;

/// A program with all that its code is made of.
pub(super) struct Source<'a> {
    pub(super) program: &'a Program,
    pub(super) tables: &'a [Table],
    pub(super) graphs: &'a Graphs,
    pub(super) placing: &'a Placing,
    pub(super) drop_port: u16,
    pub(super) target: TargetFrontendConfig,
}

/// Kinds of memory that never overlap. Each word of the packet is one more.
#[derive(Debug, Clone, Copy)]
pub(super) enum Region {
    Word(u32),
    Context,
    /// State that changes only between two packets.
    Fixed,
    Frame,
    Out,
    Register(u16),
    Counter(u16),
    /// Counters of entries.
    Entries,
    Steps,
}

/// How a function is written.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Written<'a> {
    /// Words that are values of this function alone.
    pub(super) private: Option<&'a WordSet>,
    /// Whether a register is kept for the address of the packet's words.
    pub(super) pinned: bool,
}

/// One function while it is written.
pub(super) struct Lower<'a, 'f> {
    pub(super) source: &'a Source<'a>,
    pub(super) builder: FunctionBuilder<'f>,
    pub(super) context: Value,
    /// Where the packet's words are: a value of this block, if they lie in a register of their own.
    words: Option<(Block, Value)>,
    /// What the caller had in that register.
    kept: Option<Value>,
    of: Written<'a>,
    variables: HashMap<Place, Variable>,
    signatures: HashMap<usize, SigRef>,
    key: Option<StackSlot>,
    /// The address of the runtime data of the action that runs.
    parameters: Option<Variable>,
    /// Where the control ends that is written.
    pub(super) exit: Block,
}

impl<'a, 'f> Lower<'a, 'f> {
    /// Begins a function of one parameter, the context.
    pub(super) fn new(
        source: &'a Source<'a>,
        mut builder: FunctionBuilder<'f>,
        of: Written<'a>,
    ) -> Self {
        let entry = builder.create_block();
        builder.append_block_params_for_function_params(entry);
        builder.switch_to_block(entry);
        let context = builder.block_params(entry)[0];
        let mut lower = Self {
            source,
            builder,
            context,
            words: None,
            kept: None,
            of,
            variables: HashMap::new(),
            signatures: HashMap::new(),
            key: None,
            parameters: None,
            exit: entry,
        };
        let words = lower.fixed(Context::WORDS);
        lower.words = Some((entry, words));
        if of.pinned {
            lower.kept = Some(lower.builder.ins().get_pinned_reg(I64));
            lower.builder.ins().set_pinned_reg(words);
        }
        lower
    }

    /// The address of the packet's words. Nearly every block wants it: as a value of the whole
    /// function it would be fetched from the stack in each, and on the way to each.
    fn words(&mut self) -> Value {
        let block = self.builder.current_block();
        match self.words {
            Some((known, words)) if !self.of.pinned || Some(known) == block => words,
            _ => {
                let words = self.builder.ins().get_pinned_reg(I64);
                self.words = block.map(|block| (block, words));
                words
            }
        }
    }

    /// Ends the function.
    pub(super) fn leave(mut self) {
        if let Some(kept) = self.kept {
            self.builder.ins().set_pinned_reg(kept);
        }
        self.builder.ins().return_(&[]);
        self.finish();
    }

    fn finish(mut self) {
        self.builder.seal_all_blocks();
        self.builder.finalize(self.source.target);
    }

    pub(super) fn flags(&mut self, region: Region) -> MemFlagsData {
        const OTHERS: u32 = 1 << 16;
        let user_id = match region {
            Region::Word(word) => word,
            Region::Context => OTHERS,
            Region::Fixed => OTHERS + 1,
            Region::Frame => OTHERS + 2,
            Region::Out => OTHERS + 3,
            Region::Steps => OTHERS + 4,
            Region::Entries => OTHERS + 5,
            Region::Register(number) => OTHERS * 2 + u32::from(number),
            Region::Counter(number) => OTHERS * 3 + u32::from(number),
        };
        let region = self.builder.func.dfg.alias_regions.insert(AliasRegionData {
            user_id,
            description: String::new().into(),
        });
        MemFlagsData::trusted().with_alias_region(Some(region))
    }

    pub(super) fn constant(&mut self, value: u64) -> Value {
        self.builder.ins().iconst(I64, value as i64)
    }

    /// A word of the context that stays as it is while the function runs.
    pub(super) fn fixed(&mut self, offset: i32) -> Value {
        let flags = self.flags(Region::Fixed).with_readonly().with_can_move();
        self.builder.ins().load(I64, flags, self.context, offset)
    }

    pub(super) fn context_word(&mut self, offset: i32) -> Value {
        let flags = self.flags(Region::Context);
        self.builder.ins().load(I64, flags, self.context, offset)
    }

    pub(super) fn set_context_word(&mut self, offset: i32, value: Value) {
        let flags = self.flags(Region::Context);
        self.builder.ins().store(flags, value, self.context, offset);
    }

    /// One of the packet's lengths in bytes, as it was when the function began.
    pub(super) fn length(&mut self, field: usize) -> Value {
        let packet = self.fixed(Context::PACKET);
        let length = self.load_u32(Region::Fixed, packet, field as i32);
        self.builder.ins().uextend(I64, length)
    }

    fn variable(&mut self, place: Place) -> Option<Variable> {
        if !self.of.private?.has(place.into()) {
            return None;
        }
        let builder = &mut self.builder;
        Some(
            *self
                .variables
                .entry(place)
                .or_insert_with(|| builder.declare_var(I64)),
        )
    }

    pub(super) fn get(&mut self, place: Place) -> Value {
        match self.variable(place) {
            Some(variable) => self.builder.use_var(variable),
            None => self.load_word(place.into()),
        }
    }

    pub(super) fn set(&mut self, place: Place, value: Value) {
        match self.variable(place) {
            Some(variable) => self.builder.def_var(variable, value),
            None => self.store_word(place.into(), value),
        }
    }

    /// A word that is in memory.
    pub(super) fn load_word(&mut self, word: u32) -> Value {
        // Code is not checked again when it runs.
        assert!(
            word < self.source.program.words,
            "a word beyond the packet's"
        );
        let flags = self.flags(Region::Word(word));
        let words = self.words();
        self.builder.ins().load(I64, flags, words, word as i32 * 8)
    }

    pub(super) fn store_word(&mut self, word: u32, value: Value) {
        // Code is not checked again when it runs.
        assert!(
            word < self.source.program.words,
            "a word beyond the packet's"
        );
        let flags = self.flags(Region::Word(word));
        let words = self.words();
        self.builder
            .ins()
            .store(flags, value, words, word as i32 * 8);
    }

    /// Sets words to zero, two at a time where they lie side by side.
    pub(super) fn clear(&mut self, words: impl Iterator<Item = u32>) {
        let mut words = words.peekable();
        while let Some(word) = words.next() {
            if words.next_if_eq(&(word + 1)).is_some() {
                // Code is not checked again when it runs.
                assert!(
                    word + 1 < self.source.program.words,
                    "a word beyond the packet's"
                );
                // Nothing has read or written either before.
                let flags = self.flags(Region::Word(word));
                let zero = self.builder.func.dfg.constants.insert(vec![0; 16].into());
                let zero = self.builder.ins().vconst(I8X16, zero);
                let base = self.words();
                self.builder.ins().store(flags, zero, base, word as i32 * 8);
            } else {
                let zero = self.constant(0);
                self.store_word(word, zero);
            }
        }
    }

    /// Sets a standard metadata field to a value.
    pub(super) fn set_field(&mut self, field: Option<crate::program::WordField>, value: u64) {
        if let Some(field) = field {
            let value = self.constant(field.fit.word(value));
            self.store_word(field.word, value);
        }
    }

    pub(super) fn masked(&mut self, value: Value, mask: u64) -> Value {
        if mask == u64::MAX {
            return value;
        }
        let mask = self.constant(mask);
        self.builder.ins().band(value, mask)
    }

    /// A value as a field of some bits holds it.
    pub(super) fn fit(&mut self, value: Value, fit: Fit) -> Value {
        let value = self.masked(value, fit.mask());
        if fit.sign() == 0 {
            return value;
        }
        let sign = self.constant(fit.sign());
        let value = self.builder.ins().bxor(value, sign);
        self.builder.ins().isub(value, sign)
    }

    /// 1 or 0 for a condition.
    pub(super) fn as_word(&mut self, condition: Value) -> Value {
        self.builder.ins().uextend(I64, condition)
    }

    pub(super) fn is_set(&mut self, word: u32) -> Value {
        let value = self.load_word(word);
        self.builder.ins().icmp_imm_s(IntCC::NotEqual, value, 0)
    }

    fn parameters_variable(&mut self) -> Variable {
        let builder = &mut self.builder;
        *self
            .parameters
            .get_or_insert_with(|| builder.declare_var(I64))
    }

    /// The address of the runtime data of the action that runs.
    pub(super) fn parameters(&mut self) -> Value {
        let variable = self.parameters_variable();
        self.builder.use_var(variable)
    }

    pub(super) fn set_parameters(&mut self, address: Value) {
        let variable = self.parameters_variable();
        self.builder.def_var(variable, address);
    }

    pub(super) fn shifted_down(&mut self, value: Value, right: u32) -> Value {
        if right == 0 {
            return value;
        }
        let by = self.constant(right.into());
        self.builder.ins().ushr(value, by)
    }

    pub(super) fn shifted(&mut self, value: Value, left: u32) -> Value {
        if left == 0 {
            return value;
        }
        let by = self.constant(left.into());
        self.builder.ins().ishl(value, by)
    }

    /// Compares a value with a constant: 1 or 0.
    pub(super) fn compared(&mut self, code: IntCC, value: Value, to: u64) -> Value {
        let to = self.constant(to);
        self.builder.ins().icmp(code, value, to)
    }

    /// Goes on in a new block if a condition holds, else in `other`.
    pub(super) fn unless(&mut self, condition: Value, other: Block) {
        let on = self.builder.create_block();
        self.builder.ins().brif(condition, on, &[], other, &[]);
        self.builder.switch_to_block(on);
    }

    /// Calls a function of the switch with the context and other arguments.
    pub(super) fn call(&mut self, callback: Callback, arguments: &[Value]) -> Value {
        let signature = match self.signatures.get(&arguments.len()) {
            Some(signature) => *signature,
            None => {
                let made = callback_signature(&self.builder, arguments.len() + 1);
                let signature = self.builder.import_signature(made);
                self.signatures.insert(arguments.len(), signature);
                signature
            }
        };
        let address = self.constant(callback.address() as u64);
        let mut all = vec![self.context];
        all.extend(arguments);
        let call = self.builder.ins().call_indirect(signature, address, &all);
        // Fetched again, rather than kept over the call.
        if self.of.pinned {
            self.words = None;
        }
        self.builder.inst_results(call)[0]
    }

    /// Room on the stack for the words of any search key.
    pub(super) fn key_slot(&mut self) -> StackSlot {
        match self.key {
            Some(slot) => slot,
            None => {
                let words = self.source.tables.iter().map(|table| table.pieces().1);
                let bytes = words.max().unwrap_or(0).max(1) as u32 * 8;
                let data = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 3);
                let slot = self.builder.create_sized_stack_slot(data);
                self.key = Some(slot);
                slot
            }
        }
    }

    pub(super) fn load_u32(&mut self, region: Region, address: Value, offset: i32) -> Value {
        let flags = self.flags(region);
        self.builder.ins().load(I32, flags, address, offset)
    }
}

fn callback_signature(
    builder: &FunctionBuilder<'_>,
    parameters: usize,
) -> cranelift_codegen::ir::Signature {
    let convention = builder.func.signature.call_conv;
    let mut signature = super::signature(convention, parameters);
    signature.returns = vec![AbiParam::new(I64)];
    signature
}

pub(super) fn condition(comparison: Comparison, signed: bool) -> IntCC {
    match (comparison, signed) {
        (Comparison::Equal, _) => IntCC::Equal,
        (Comparison::NotEqual, _) => IntCC::NotEqual,
        (Comparison::Less, false) => IntCC::UnsignedLessThan,
        (Comparison::LessOrEqual, false) => IntCC::UnsignedLessThanOrEqual,
        (Comparison::Greater, false) => IntCC::UnsignedGreaterThan,
        (Comparison::GreaterOrEqual, false) => IntCC::UnsignedGreaterThanOrEqual,
        (Comparison::Less, true) => IntCC::SignedLessThan,
        (Comparison::LessOrEqual, true) => IntCC::SignedLessThanOrEqual,
        (Comparison::Greater, true) => IntCC::SignedGreaterThan,
        (Comparison::GreaterOrEqual, true) => IntCC::SignedGreaterThanOrEqual,
    }
}
