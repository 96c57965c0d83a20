//! The longest prefix of a word, as `LongestPrefix::lookup` finds it.

use std::mem::offset_of;

use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{InstBuilder, Value};

use super::lower::{Lower, Region};
use super::table::Applied;
use crate::state::tables::{Node, PATHS, ROOT_BITS, STRIDE, Site, Slot};

impl Lower<'_, '_> {
    /// One more than the number of the entry with the longest prefix of a key of `bits` bits, or zero.
    pub(super) fn search_prefixes(
        &mut self,
        applied: &Applied<'_>,
        key: Value,
        bits: u32,
    ) -> Value {
        let slots = self.site_word(applied, offset_of!(Site, slots));
        let nodes = self.site_word(applied, offset_of!(Site, nodes));
        let first = self.shifted_down(key, bits - ROOT_BITS);
        let slot = self.item(slots, first, size_of::<Slot>());
        let short = self.half(slot, offset_of!(Slot, short));
        let root = self.half(slot, offset_of!(Slot, node));

        let (walked, done) = (self.builder.create_block(), self.builder.create_block());
        // The address of the number of the longest prefix so far.
        let end = self.builder.append_block_param(walked, I64);
        let found = self.builder.append_block_param(done, I64);
        let none = self.constant(0);
        let on = self.builder.create_block();
        let ins = self.builder.ins();
        ins.brif(root, on, &[], done, &[short.into()]);
        self.builder.switch_to_block(on);
        let (mut number, mut longest) = (root, none);
        for depth in (ROOT_BITS..=bits).step_by(STRIDE as usize) {
            let node = self.item(nodes, number, size_of::<Node>());
            let six = self.six(key, depth, bits);
            longest = self.end_in(applied, node, six, longest);
            if depth + STRIDE > bits {
                break;
            }
            let flags = self.flags(Region::Fixed);
            let place = offset_of!(Node, branches) as i32;
            let branches = self.builder.ins().load(I64, flags, node, place);
            let branch = self.builder.ins().ushr(branches, six);
            let branch = self.masked(branch, 1);
            let child = self.builder.create_block();
            let ins = self.builder.ins();
            ins.brif(branch, child, &[], walked, &[longest.into()]);
            self.builder.switch_to_block(child);
            let children = self.half(node, offset_of!(Node, children));
            let rank = self.ones_before(branches, six);
            number = self.builder.ins().iadd(children, rank);
        }
        self.builder.ins().jump(walked, &[longest.into()]);
        self.builder.switch_to_block(walked);
        let some = self.builder.create_block();
        let ins = self.builder.ins();
        ins.brif(end, some, &[], done, &[short.into()]);
        self.builder.switch_to_block(some);
        let number = self.half(end, 0);
        let one = self.constant(1);
        let number = self.builder.ins().iadd(number, one);
        self.builder.ins().jump(done, &[number.into()]);
        self.builder.switch_to_block(done);
        found
    }

    /// The six bits of a key from `depth` on. Zeros follow the key.
    fn six(&mut self, key: Value, depth: u32, bits: u32) -> Value {
        if depth == bits {
            return self.constant(0);
        }
        let rest = self.shifted(key, depth + u64::BITS - bits);
        self.shifted_down(rest, u64::BITS - STRIDE)
    }

    /// The address of the number of the longest prefix of six bits that ends in a node; `longest` if none does.
    fn end_in(&mut self, applied: &Applied<'_>, node: Value, six: Value, longest: Value) -> Value {
        let (ends_here, on) = (self.builder.create_block(), self.builder.create_block());
        let end = self.builder.append_block_param(on, I64);
        let flags = self.flags(Region::Fixed);
        let place = offset_of!(Node, ends) as i32;
        let ends = self.builder.ins().load(I64, flags, node, place);
        let paths = self.constant(PATHS.as_ptr().expose_provenance() as u64);
        let path = self.item(paths, six, size_of::<u64>());
        let path = self.builder.ins().load(I64, flags, path, 0);
        let ended = self.builder.ins().band(ends, path);
        let ins = self.builder.ins();
        ins.brif(ended, ends_here, &[], on, &[longest.into()]);
        self.builder.switch_to_block(ends_here);
        let above = self.builder.ins().clz(ended);
        let last = self.constant(63);
        let bit = self.builder.ins().isub(last, above);
        let rank = self.ones_before(ends, bit);
        let first = self.half(node, offset_of!(Node, numbers));
        let place = self.builder.ins().iadd(first, rank);
        let numbers = self.site_word(applied, offset_of!(Site, numbers));
        let number = self.item(numbers, place, size_of::<u32>());
        self.builder.ins().jump(on, &[number.into()]);
        self.builder.switch_to_block(on);
        end
    }

    /// How many ones a set has before a bit.
    fn ones_before(&mut self, set: Value, bit: Value) -> Value {
        let one = self.constant(1);
        let there = self.builder.ins().ishl(one, bit);
        let below = self.builder.ins().isub(there, one);
        let below = self.builder.ins().band(set, below);
        self.builder.ins().popcnt(below)
    }

    /// The address of an item of an array.
    fn item(&mut self, array: Value, number: Value, bytes: usize) -> Value {
        let bytes = self.constant(bytes as u64);
        let place = self.builder.ins().imul(number, bytes);
        self.builder.ins().iadd(array, place)
    }

    /// A number of 32 bits in memory.
    fn half(&mut self, address: Value, offset: usize) -> Value {
        let value = self.load_u32(Region::Fixed, address, offset as i32);
        self.builder.ins().uextend(I64, value)
    }
}
