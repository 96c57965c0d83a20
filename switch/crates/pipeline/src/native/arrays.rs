//! Registers and counters become code. What lies beyond the end of an array reads as zero, and writes
//! there have no effect.

use std::mem::offset_of;

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{InstBuilder, Value};

use super::lower::{Lower, Region};
use super::memory::Context;
use crate::packet::Packet;
use crate::program::{Place, RegisterShape, Span};
use crate::state::externs::counter::{Count, CounterArray};
use crate::state::externs::register::RegisterArray;

/// A cell of an array, for an index of a packet.
struct Cell {
    inside: Value,
    address: Value,
}

impl Lower<'_, '_> {
    fn register(&self, register: u16) -> &RegisterShape {
        &self.source.program.registers[usize::from(register)]
    }

    /// Whether the cells of a register have two words, so that writes beyond its end have a place.
    pub(super) fn is_double(&self, register: u32) -> bool {
        u16::try_from(register).is_ok_and(|register| self.register(register).bits.div_ceil(64) == 2)
    }

    pub(super) fn read_register(&mut self, register: u16, index: Place, to: Place) {
        let value = match self.read_cell(register, index, 1).first() {
            Some(value) => *value,
            None => self.constant(0),
        };
        self.set(to, value);
    }

    pub(super) fn read_double(&mut self, register: u16, index: Place, to: Span) {
        let values = self.read_cell(register, index, 2);
        for (word, position) in (to.first..).zip(0..to.words) {
            let value = values.get(usize::from(position)).copied();
            let value = value.unwrap_or_else(|| self.constant(0));
            self.set(word, value);
        }
    }

    pub(super) fn write_register(&mut self, register: u16, index: Place, from: Place) {
        let from = Span {
            first: from,
            words: 1,
        };
        self.write_cell(register, index, from, 1);
    }

    pub(super) fn write_double(&mut self, register: u16, index: Place, from: Span) {
        self.write_cell(register, index, from, 2);
    }

    fn read_cell(&mut self, register: u16, index: Place, words: i32) -> Vec<Value> {
        if self.register(register).size == 0 {
            return Vec::new();
        }
        let zero = self.constant(0);
        let cell = self.register_cell(register, index, words);
        // The first cell is read in place of one that isn't there.
        let first = self.register_cells(register);
        let address = self.builder.ins().select(cell.inside, cell.address, first);
        let flags = self.flags(Region::Register(register));
        let values = (0..words).map(|word| {
            let ins = self.builder.ins();
            let value = ins.load(I64, flags, address, word * 8);
            self.builder.ins().select(cell.inside, value, zero)
        });
        values.collect()
    }

    fn write_cell(&mut self, register: u16, index: Place, from: Span, words: i32) {
        let bits = self.register(register).bits;
        let values: Vec<Value> = (0..words as u16)
            .map(|word| {
                let value = if word < from.words {
                    self.get(from.first + word)
                } else {
                    self.constant(0)
                };
                let left = bits.saturating_sub(u32::from(word) * 64);
                self.masked(value, crate::bits::mask(left))
            })
            .collect();
        let cell = self.register_cell(register, index, words);
        let address = self.or_sink(cell.inside, cell.address);
        let flags = self.flags(Region::Register(register));
        for (value, offset) in values.into_iter().zip((0..).step_by(8)) {
            self.builder.ins().store(flags, value, address, offset);
        }
    }

    fn register_cell(&mut self, register: u16, index: Place, words: i32) -> Cell {
        let index = self.get(index);
        let size = self.register(register).size;
        let inside = self.compared(IntCC::UnsignedLessThan, index, size.into());
        let place = self.shifted(index, (words as u32 * 8).ilog2());
        let cells = self.register_cells(register);
        let address = self.builder.ins().iadd(cells, place);
        Cell { inside, address }
    }

    fn register_cells(&mut self, register: u16) -> Value {
        let arrays = self.fixed(Context::REGISTERS);
        let place =
            usize::from(register) * size_of::<RegisterArray>() + offset_of!(RegisterArray, address);
        let flags = self.flags(Region::Fixed).with_readonly().with_can_move();
        self.builder.ins().load(I64, flags, arrays, place as i32)
    }

    /// An address, or where a write has no effect.
    fn or_sink(&mut self, inside: Value, address: Value) -> Value {
        let offset = self.constant(Context::SINK as u64);
        let sink = self.builder.ins().iadd(self.context, offset);
        self.builder.ins().select(inside, address, sink)
    }

    pub(super) fn count(&mut self, counter: u16, index: Place) {
        let index = self.get(index);
        let size = self.source.program.counters[usize::from(counter)].size;
        let inside = self.compared(IntCC::UnsignedLessThan, index, size.into());
        let arrays = self.fixed(Context::COUNTERS);
        let place =
            usize::from(counter) * size_of::<CounterArray>() + offset_of!(CounterArray, address);
        let flags = self.flags(Region::Fixed).with_readonly().with_can_move();
        let cells = self.builder.ins().load(I64, flags, arrays, place as i32);
        let place = self.shifted(index, size_of::<Count>().ilog2());
        let address = self.builder.ins().iadd(cells, place);
        let address = self.or_sink(inside, address);
        self.count_at(Region::Counter(counter), address);
    }

    /// Counts the packet and its bytes.
    pub(super) fn count_at(&mut self, region: Region, address: Value) {
        let one = self.constant(1);
        let length = self.length(offset_of!(Packet, received_length));
        let fields = [(offset_of!(Count, 0), one), (offset_of!(Count, 1), length)];
        for (offset, more) in fields {
            let flags = self.flags(region);
            let before = self.builder.ins().load(I64, flags, address, offset as i32);
            let sum = self.builder.ins().iadd(before, more);
            self.builder.ins().store(flags, sum, address, offset as i32);
        }
    }
}
