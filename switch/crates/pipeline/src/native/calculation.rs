//! Hashes and checksums become code: sums of fields in place, and CRCs of fields of whole bytes.

use cranelift_codegen::ir::types::{I16, I32, I64, Type};
use cranelift_codegen::ir::{InstBuilder, Value};

use super::lower::{Lower, Region};
use super::memory::Callback;
use crate::program::{Algorithm, Bytes, CRC16, CRC32, Sum, VariablePlace};

impl Lower<'_, '_> {
    /// The value of a calculation on the packet.
    pub(super) fn calculated(&mut self, number: u32) -> Value {
        let source = self.source;
        let calculation = &source.program.calculations[number as usize];
        if let Some(sum) = &calculation.sum {
            return match sum.variable {
                None => self.internet_sum(sum),
                Some((valid, place)) => self.sum_without_options(number, sum, valid, place),
            };
        }
        match (&calculation.bytes, calculation.algorithm) {
            (Some(bytes), Algorithm::Crc32 | Algorithm::Crc16) => {
                self.crc(number, bytes, calculation.algorithm)
            }
            _ => self.call_calculation(number),
        }
    }

    /// A sum whose varbit is mostly not there, as of an IPv4 header; with one the sum is called.
    fn sum_without_options(
        &mut self,
        number: u32,
        sum: &Sum,
        valid: Option<u32>,
        place: VariablePlace,
    ) -> Value {
        let (some, none, done) = (
            self.builder.create_block(),
            self.builder.create_block(),
            self.builder.create_block(),
        );
        let result = self.builder.append_block_param(done, I64);
        self.builder.set_cold_block(some);
        if let Some(valid) = valid {
            let valid = self.is_set(valid);
            self.unless(valid, none);
        }
        let length = self.is_set(place.length_word);
        self.builder.ins().brif(length, some, &[], none, &[]);
        self.builder.switch_to_block(some);
        let value = self.call_calculation(number);
        self.builder.ins().jump(done, &[value.into()]);
        self.builder.switch_to_block(none);
        let value = self.internet_sum(sum);
        self.builder.ins().jump(done, &[value.into()]);
        self.builder.switch_to_block(done);
        result
    }

    fn call_calculation(&mut self, number: u32) -> Value {
        let number = self.constant(number.into());
        self.call(Callback::Calculate, &[number])
    }

    /// A CRC of all fields; where one of their headers is not there, the calculation is called.
    fn crc(&mut self, number: u32, bytes: &Bytes, algorithm: Algorithm) -> Value {
        let mut headers: Vec<u32> = bytes.fields.iter().filter_map(|field| field.2).collect();
        headers.sort_unstable();
        headers.dedup();
        let (some, done) = (self.builder.create_block(), self.builder.create_block());
        let result = self.builder.append_block_param(done, I64);
        self.builder.set_cold_block(some);
        for header in &headers {
            let valid = self.is_set(*header);
            self.unless(valid, some);
        }
        let data = Data::of(bytes);
        let value = match algorithm {
            Algorithm::Crc16 => self.crc16(&data),
            _ => self.crc32(&data),
        };
        self.builder.ins().jump(done, &[value.into()]);
        self.builder.switch_to_block(some);
        let value = self.call_calculation(number);
        self.builder.ins().jump(done, &[value.into()]);
        self.builder.switch_to_block(done);
        result
    }

    /// As [`Algorithm::hash`], four bytes at a time.
    fn crc32(&mut self, data: &Data) -> Value {
        let mut crc = self.builder.ins().iconst(I32, i64::from(u32::MAX));
        let whole = data.length / 4 * 4;
        for start in (0..whole).step_by(4) {
            let bytes = self.bytes(data, start, 4);
            let bytes = self.builder.ins().ireduce(I32, bytes);
            let bytes = self.builder.ins().bswap(bytes);
            let mixed = self.builder.ins().bxor(crc, bytes);
            let parts = [(3, 0), (2, 8), (1, 16), (0, 24)];
            let mut next = None;
            for (table, by) in parts {
                let part = self.entry(mixed, by, CRC32[table].as_ptr().expose_provenance(), I32);
                next = Some(match next {
                    Some(before) => self.builder.ins().bxor(before, part),
                    None => part,
                });
            }
            crc = next.unwrap_or(crc);
        }
        for start in whole..data.length {
            let table = CRC32[0].as_ptr().expose_provenance();
            crc = self.crc_byte(crc, data, start, table, I32);
        }
        let crc = self.builder.ins().bnot(crc);
        self.builder.ins().uextend(I64, crc)
    }

    fn crc16(&mut self, data: &Data) -> Value {
        let mut crc = self.builder.ins().iconst(I32, 0);
        for start in 0..data.length {
            crc = self.crc_byte(crc, data, start, CRC16.as_ptr().expose_provenance(), I16);
        }
        self.builder.ins().uextend(I64, crc)
    }

    fn crc_byte(
        &mut self,
        crc: Value,
        data: &Data,
        start: u32,
        table: usize,
        width: Type,
    ) -> Value {
        let byte = self.bytes(data, start, 1);
        let byte = self.builder.ins().ireduce(I32, byte);
        let mixed = self.builder.ins().bxor(crc, byte);
        let part = self.entry(mixed, 0, table, width);
        let by = self.builder.ins().iconst(I32, 8);
        let rest = self.builder.ins().ushr(crc, by);
        self.builder.ins().bxor(part, rest)
    }

    /// The entry of a table that eight bits choose, those from bit `by` on; as 32 bits.
    fn entry(&mut self, of: Value, by: i64, table: usize, width: Type) -> Value {
        let by = self.builder.ins().iconst(I32, by);
        let index = self.builder.ins().ushr(of, by);
        let byte = self.builder.ins().iconst(I32, 0xff);
        let index = self.builder.ins().band(index, byte);
        let index = self.builder.ins().uextend(I64, index);
        let place = self.shifted(index, width.bytes().ilog2());
        let table = self.constant(table as u64);
        let address = self.builder.ins().iadd(table, place);
        let flags = self.flags(Region::Fixed).with_readonly().with_can_move();
        let entry = self.builder.ins().load(width, flags, address, 0);
        if width == I32 {
            entry
        } else {
            self.builder.ins().uextend(I32, entry)
        }
    }

    /// `count` bytes (up to four) from `start` on, the first of them uppermost.
    fn bytes(&mut self, data: &Data, start: u32, count: u32) -> Value {
        let end = start + count;
        let mut value = None;
        for field in &data.fields {
            let (from, to) = (start.max(field.start), end.min(field.start + field.bytes));
            if from >= to {
                continue;
            }
            let word = self.load_word(field.word);
            let word = self.shifted_down(word, 8 * (field.start + field.bytes - to));
            let word = self.masked(word, crate::bits::mask(8 * (to - from)));
            let word = self.shifted(word, 8 * (end - to));
            value = Some(match value {
                Some(before) => self.builder.ins().bor(before, word),
                None => word,
            });
        }
        value.unwrap_or_else(|| self.constant(0))
    }

    /// RFC 1071, over fields in place: see [`Sum`].
    fn internet_sum(&mut self, sum: &Sum) -> Value {
        let mut total = self.constant(0);
        for part in &sum.fields {
            let value = self.load_word(part.word.into());
            let value = self.shifted(value, u32::from(part.shift & 15));
            total = self.builder.ins().iadd(total, value);
        }
        for long in &sum.long {
            let value = self.load_word(long.part.word.into());
            let value = self.masked(value, long.mask);
            let value = self.folded(value, 32);
            let value = self.shifted(value, u32::from(long.part.shift & 15));
            total = self.builder.ins().iadd(total, value);
        }
        if let Some(valid) = sum.valid {
            let (valid, zero) = (self.is_set(valid), self.constant(0));
            total = self.builder.ins().select(valid, total, zero);
        }
        total = self.folded(total, 32);
        for _ in 0..3 {
            total = self.folded(total, 16);
        }
        let total = self.builder.ins().bnot(total);
        self.masked(total, 0xffff)
    }

    /// The low bits and those above them, added.
    fn folded(&mut self, value: Value, bits: u32) -> Value {
        let low = self.masked(value, crate::bits::mask(bits));
        let bits = self.constant(bits.into());
        let high = self.builder.ins().ushr(value, bits);
        self.builder.ins().iadd(low, high)
    }
}

/// The bytes that a CRC is computed of.
struct Data {
    fields: Vec<DataField>,
    length: u32,
}

struct DataField {
    word: u32,
    start: u32,
    bytes: u32,
}

impl Data {
    fn of(bytes: &Bytes) -> Self {
        let mut data = Self {
            fields: Vec::new(),
            length: 0,
        };
        for &(word, bytes, _) in &bytes.fields {
            data.fields.push(DataField {
                word: word.into(),
                start: data.length,
                bytes: bytes.into(),
            });
            data.length += u32::from(bytes);
        }
        data
    }
}
