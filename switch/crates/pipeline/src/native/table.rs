//! Tables become code: the search key, the search, and the choice of an action.

use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{Block, BlockCall, InstBuilder, JumpTableData, Value};

use super::graph::BlockId;
use super::lower::{Lower, Region};
use super::memory::{Callback, Context};
use crate::state::externs::counter::Count;
use crate::state::tables::{ALWAYS, MULTIPLIER, Search, Site, Table};

/// Targets told apart by comparing one after the other; more are a jump table.
const FEW_TARGETS: usize = 3;

/// A table where it is applied.
pub(super) struct Applied<'t> {
    number: u32,
    table: &'t Table,
    /// Address of all tables.
    tables: Value,
    /// By outcome: see [`crate::state::tables::outcome`].
    outcomes: Vec<Block>,
    /// Where a packet goes on that finds nothing.
    missed: Block,
}

impl Lower<'_, '_> {
    /// Looks the packet up, and goes on where the outcome leads.
    pub(super) fn table(
        &mut self,
        number: u32,
        outcomes: &[BlockId],
        passed: Option<BlockId>,
        blocks: &[Block],
    ) {
        let applied = Applied {
            number,
            table: &self.source.tables[number as usize],
            tables: self.fixed(Context::TABLES),
            outcomes: outcomes.iter().map(|outcome| blocks[*outcome]).collect(),
            missed: self.builder.create_block(),
        };
        let state = self.site_u32(&applied, offset_of!(Site, state));
        let is = |lower: &mut Self, value: u32| {
            let code = IntCC::Equal;
            lower
                .builder
                .ins()
                .icmp_imm_u(code, state, i64::from(value))
        };
        if let Some(passed) = passed {
            let idle = is(self, Site::PASSED);
            let other = self.builder.create_block();
            let passed = blocks[passed];
            if applied.table.counts() {
                let counted = self.builder.create_block();
                self.builder.ins().brif(idle, counted, &[], other, &[]);
                self.builder.switch_to_block(counted);
                self.count_miss(&applied);
                self.builder.ins().jump(passed, &[]);
            } else {
                self.builder.ins().brif(idle, passed, &[], other, &[]);
            }
            self.builder.switch_to_block(other);
        }
        let some = is(self, Site::LOOK_UP);
        self.unless(some, applied.missed);
        match applied.table.native_search() {
            None => self.apply(&applied),
            Some(search) => self.search(&applied, search),
        }
        self.builder.switch_to_block(applied.missed);
        if applied.table.counts() {
            self.count_miss(&applied);
        }
        let outcome = self.site_u32(&applied, offset_of!(Site, outcome));
        let outcome = self.builder.ins().uextend(I64, outcome);
        let position = self.shifted_down(outcome, 1);
        let parameters = self.site_word(&applied, offset_of!(Site, parameters));
        self.set_parameters(parameters);
        self.choose(position, &of_misses(&applied.outcomes));
    }

    fn count_miss(&mut self, applied: &Applied<'_>) {
        let place = applied.number as usize * size_of::<Table>() + Table::MISSED_COUNT;
        let place = self.constant(place as u64);
        let address = self.builder.ins().iadd(applied.tables, place);
        self.count_at(Region::Entries, address);
    }

    /// Leaves the whole look-up to the table.
    fn apply(&mut self, applied: &Applied<'_>) {
        let key = self.search_key(applied.table);
        let key = self.stored_key(&key);
        let number = self.constant(applied.number.into());
        let outcome = self.call(Callback::Apply, &[number, key]);
        let parameters = self.context_word(Context::PARAMETERS);
        self.set_parameters(parameters);
        self.choose(outcome, &applied.outcomes);
    }

    /// Searches the entries, and takes the one found.
    fn search(&mut self, applied: &Applied<'_>, search: Search) {
        let key = self.search_key(applied.table);
        let found = match search {
            Search::Array { size } if most(applied.table) < size => {
                let cells = self.site_word(applied, offset_of!(Site, slots));
                let key = key.first().copied();
                let key = key.unwrap_or_else(|| self.constant(0));
                let place = self.shifted(key, 2);
                let cell = self.builder.ins().iadd(cells, place);
                let cell = self.load_u32(Region::Fixed, cell, 0);
                self.builder.ins().uextend(I64, cell)
            }
            Search::Slots => self.search_slots(applied, &key),
            Search::Prefixes { bits } => {
                let key = key.first().copied();
                let key = key.unwrap_or_else(|| self.constant(0));
                self.search_prefixes(applied, key, bits)
            }
            Search::Array { .. } | Search::Called => {
                let key = self.stored_key(&key);
                let number = self.constant(applied.number.into());
                self.call(Callback::Search, &[number, key])
            }
        };
        let some = self.builder.ins().icmp_imm_u(IntCC::NotEqual, found, 0);
        self.unless(some, applied.missed);
        let one = self.constant(1);
        let entry = self.builder.ins().isub(found, one);
        if applied.table.counts() {
            let counts = self.site_word(applied, offset_of!(Site, counts));
            let place = self.shifted(entry, size_of::<Count>().ilog2());
            let address = self.builder.ins().iadd(counts, place);
            self.count_at(Region::Entries, address);
        }
        let bytes = applied.table.parameter_words() as u64 * 8;
        if bytes > 0 {
            let entries = self.site_word(applied, offset_of!(Site, entries));
            let bytes = self.constant(bytes);
            let place = self.builder.ins().imul(entry, bytes);
            let parameters = self.builder.ins().iadd(entries, place);
            self.set_parameters(parameters);
        }
        let choices = self.site_word(applied, offset_of!(Site, choices));
        let place = self.shifted(entry, 2);
        let choice = self.builder.ins().iadd(choices, place);
        let position = self.load_u32(Region::Fixed, choice, 0);
        let position = self.builder.ins().uextend(I64, position);
        self.choose(position, &of_hits(&applied.outcomes));
    }

    /// One more than the number of the entry with this key, or zero: as `FlatMap::find`.
    fn search_slots(&mut self, applied: &Applied<'_>, key: &[Value]) -> Value {
        let multiplier = self.constant(MULTIPLIER);
        let mut state = multiplier;
        for word in key {
            let mixed = self.builder.ins().bxor(state, *word);
            let low = self.builder.ins().imul(mixed, multiplier);
            let high = self.builder.ins().umulhi(mixed, multiplier);
            let folded = self.builder.ins().bxor(low, high);
            let by = self.constant(23);
            state = self.builder.ins().rotl(folded, by);
        }
        let upper = self.shifted_down(state, 29);
        let hash = self.builder.ins().bxor(state, upper);
        let slots = self.site_word(applied, offset_of!(Site, slots));
        let last = self.site_word(applied, offset_of!(Site, last));
        let first = self.builder.ins().band(hash, last);

        let (look, filled, done) = (
            self.builder.create_block(),
            self.builder.create_block(),
            self.builder.create_block(),
        );
        let slot = self.builder.append_block_param(look, I64);
        let found = self.builder.append_block_param(done, I64);
        self.builder.ins().jump(look, &[first.into()]);
        // Some slot is always free, so this ends.
        self.builder.switch_to_block(look);
        let bytes = self.constant((key.len() as u64 + 1) * 8);
        let place = self.builder.ins().imul(slot, bytes);
        let address = self.builder.ins().iadd(slots, place);
        let flags = self.flags(Region::Fixed);
        let tag = self.builder.ins().load(I64, flags, address, 0);
        self.builder
            .ins()
            .brif(tag, filled, &[], done, &[tag.into()]);
        self.builder.switch_to_block(filled);
        let mut different = self.constant(0);
        for (word, offset) in key.iter().zip((8..).step_by(8)) {
            let there = self.builder.ins().load(I64, flags, address, offset);
            let bits = self.builder.ins().bxor(there, *word);
            different = self.builder.ins().bor(different, bits);
        }
        let next = self.builder.create_block();
        self.builder
            .ins()
            .brif(different, next, &[], done, &[tag.into()]);
        self.builder.switch_to_block(next);
        let one = self.constant(1);
        let after = self.builder.ins().iadd(slot, one);
        let after = self.builder.ins().band(after, last);
        self.builder.ins().jump(look, &[after.into()]);
        self.builder.switch_to_block(done);
        found
    }

    fn site_place(applied: &Applied<'_>, field: usize) -> i32 {
        (applied.number as usize * size_of::<Table>() + offset_of!(Table, site) + field) as i32
    }

    fn site_u32(&mut self, applied: &Applied<'_>, field: usize) -> Value {
        self.load_u32(
            Region::Fixed,
            applied.tables,
            Self::site_place(applied, field),
        )
    }

    pub(super) fn site_word(&mut self, applied: &Applied<'_>, field: usize) -> Value {
        let flags = self.flags(Region::Fixed);
        let place = Self::site_place(applied, field);
        self.builder.ins().load(I64, flags, applied.tables, place)
    }

    /// The words of the search key of a table, made of the packet.
    fn search_key(&mut self, table: &Table) -> Vec<Value> {
        let (pieces, count) = table.pieces();
        let mut words: Vec<Option<Value>> = vec![None; count];
        for piece in pieces {
            let value = self.get(piece.from as u16);
            let mut value = self.masked(value, piece.mask);
            if piece.valid != ALWAYS {
                let valid = self.get(piece.valid as u16);
                let zero = self.constant(0);
                value = self.builder.ins().select(valid, value, zero);
            }
            let value = self.shifted(value, piece.shift);
            let word = &mut words[piece.to as usize];
            *word = Some(match *word {
                Some(before) => self.builder.ins().bor(before, value),
                None => value,
            });
        }
        let words = words.into_iter();
        words
            .map(|word| word.unwrap_or_else(|| self.constant(0)))
            .collect()
    }

    /// The address of a search key in memory.
    fn stored_key(&mut self, words: &[Value]) -> Value {
        let slot = self.key_slot();
        for (word, offset) in words.iter().zip((0..).step_by(8)) {
            self.builder.ins().stack_store(I64, *word, slot, offset);
        }
        self.builder.ins().stack_addr(I64, slot, 0)
    }

    /// Goes on where a number leads.
    fn choose(&mut self, number: Value, targets: &[Block]) {
        let mut distinct = targets.to_vec();
        distinct.sort_unstable();
        distinct.dedup();
        let (last, others) = targets.split_last().unwrap_or((&self.exit, &[]));
        let last = *last;
        if distinct.len() <= 1 {
            self.builder.ins().jump(last, &[]);
            return;
        }
        if distinct.len() <= FEW_TARGETS && targets.len() <= 2 * FEW_TARGETS {
            // What leads to the last place needs no comparison.
            for (value, target) in others.iter().enumerate() {
                if *target == last {
                    continue;
                }
                let here = self.compared(IntCC::Equal, number, value as u64);
                let on = self.builder.create_block();
                self.builder.ins().brif(here, *target, &[], on, &[]);
                self.builder.switch_to_block(on);
            }
            self.builder.ins().jump(last, &[]);
            return;
        }
        let calls: Vec<_> = targets
            .iter()
            .map(|target| self.block_call(*target))
            .collect();
        let default = self.block_call(last);
        let jump_table = self
            .builder
            .create_jump_table(JumpTableData::new(default, &calls));
        let index = self.builder.ins().ireduce(I32, number);
        self.builder.ins().br_table(index, jump_table);
    }

    fn block_call(&mut self, block: Block) -> BlockCall {
        let pool = &mut self.builder.func.dfg.value_lists;
        BlockCall::new(block, std::iter::empty(), pool)
    }
}

/// Where the actions lead by position if there was no hit; the last is that of no action.
fn of_misses(outcomes: &[Block]) -> Vec<Block> {
    outcomes.iter().copied().step_by(2).collect()
}

/// Where the actions lead by position after a hit, which always has one.
fn of_hits(outcomes: &[Block]) -> Vec<Block> {
    let hits = outcomes.iter().copied().skip(1).step_by(2);
    hits.take(outcomes.len() / 2 - 1).collect()
}

/// The largest first word of a search key.
fn most(table: &Table) -> u64 {
    let (pieces, _) = table.pieces();
    pieces
        .iter()
        .fold(0, |most, piece| most | piece.mask << piece.shift)
}
