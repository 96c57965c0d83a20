//! Checksums and the deparser become code.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::I64;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value};

use super::lower::{Lower, Region};
use super::memory::{Callback, Context};
use crate::program::{Checksum, Guard};

impl Lower<'_, '_> {
    /// Notes whether one of the verified checksums is wrong.
    pub(super) fn verification(&mut self) {
        let source = self.source;
        for checksum in &source.program.verified {
            let skip = self.builder.create_block();
            if let Some(valid) = checksum.valid {
                let valid = self.is_set(valid);
                self.unless(valid, skip);
            }
            self.guard(checksum.condition, skip);
            let sum = self.sum(checksum);
            let there = self.load_word(checksum.target.word);
            let wrong = self.builder.ins().icmp(IntCC::NotEqual, sum, there);
            self.unless(wrong, skip);
            self.set_field(source.program.standard.checksum_error, 1);
            self.builder.ins().jump(skip, &[]);
            self.builder.switch_to_block(skip);
        }
    }

    /// Updates checksums and writes headers; the context has their length then.
    pub(super) fn deparser(mut self) {
        let source = self.source;
        for checksum in &source.program.updated {
            let skip = self.builder.create_block();
            self.guard(checksum.condition, skip);
            let sum = self.sum(checksum);
            self.store_word(checksum.target.word, sum);
            self.builder.ins().jump(skip, &[]);
            self.builder.switch_to_block(skip);
        }
        let out = self.fixed(Context::OUT);
        let at = self.builder.declare_var(I64);
        let zero = self.constant(0);
        self.builder.def_var(at, zero);
        for (number, header) in source.program.deparser.emitted.iter().enumerate() {
            let skip = self.builder.create_block();
            let valid = self.is_set(header.word);
            self.unless(valid, skip);
            let layout = &source.program.layouts[header.layout as usize];
            let start = self.builder.use_var(at);
            let end = match &layout.plan {
                Some(plan) => {
                    let place = self.builder.ins().iadd(out, start);
                    let mut from = 0;
                    for (chunk, &chunk_end) in plan.chunks.iter().enumerate() {
                        let mut bytes = self.constant(0);
                        for write in &plan.writes[from..chunk_end as usize] {
                            let word = self.load_word(header.word + u32::from(write.word));
                            let word = self.shifted(word, u32::from(write.up & 63));
                            let down = self.constant(u64::from(write.down & 63));
                            let part = self.builder.ins().ushr(word, down);
                            bytes = self.builder.ins().bor(bytes, part);
                        }
                        from = chunk_end as usize;
                        let region = self.flags(Region::Out).alias_region();
                        let flags = MemFlagsData::new().with_notrap().with_alias_region(region);
                        if cfg!(target_endian = "little") {
                            bytes = self.builder.ins().bswap(bytes);
                        }
                        let offset = chunk as i32 * 8;
                        self.builder.ins().store(flags, bytes, place, offset);
                    }
                    let length = self.constant(plan.length as u64);
                    self.builder.ins().iadd(start, length)
                }
                None => {
                    self.set_context_word(Context::AT, start);
                    let number = self.constant(number as u64);
                    self.call(Callback::Append, &[number]);
                    self.context_word(Context::AT)
                }
            };
            self.builder.def_var(at, end);
            self.builder.ins().jump(skip, &[]);
            self.builder.switch_to_block(skip);
        }
        let at = self.builder.use_var(at);
        self.set_context_word(Context::AT, at);
        self.leave();
    }

    /// Goes to `skip` unless a condition holds.
    fn guard(&mut self, guard: Option<Guard>, skip: cranelift_codegen::ir::Block) {
        let Some(guard) = guard else { return };
        let source = self.source;
        if let Some(graph) = guard.start.and_then(|start| source.graphs.other(start)) {
            let on = self.builder.create_block();
            self.graph(graph, on);
            self.builder.switch_to_block(on);
        }
        let holds = self.is_set(guard.word.into());
        self.unless(holds, skip);
    }

    fn sum(&mut self, checksum: &Checksum) -> Value {
        let value = self.calculated(checksum.calculation);
        self.fit(value, checksum.target.fit)
    }
}
