//! Hashes and checksums over fields, and headers as they lie on the wire.

use super::{Machine, Observe};
use crate::bits::Writer;
use crate::packet::Packet;
use crate::program::{
    Algorithm, BUFFER, Bytes, Calculation, CalculationInput, HeaderSpan, LongPart, Program, Sum,
    finish_sum, sum_of,
};

impl Sum {
    fn of(&self, packet: &Packet) -> u64 {
        let mut sum = 0u64;
        if self.valid.is_none_or(|valid| packet.word(valid) != 0) {
            // No overflow: each is below 2^48, and a header has fewer than 2^16 fields.
            let words = &packet.words[..];
            for part in &self.fields {
                let value = words.get(usize::from(part.word)).copied().unwrap_or(0);
                sum = sum.wrapping_add(value << (part.shift & 15));
            }
            for LongPart { part, mask } in &self.long {
                let value = packet.word(part.word.into()) & mask;
                let folded = (value & 0xffff_ffff) + (value >> 32);
                sum = sum.wrapping_add(folded << (part.shift & 15));
            }
        }
        if let Some((valid, place)) = self.variable
            && valid.is_none_or(|valid| packet.word(valid) != 0)
        {
            sum += sum_of(packet.variable(place));
        }
        finish_sum(sum)
    }
}

impl Bytes {
    #[inline]
    fn hash(&self, algorithm: Algorithm, packet: &Packet) -> u64 {
        let mut buffer = [0; BUFFER];
        let mut length = 0;
        for &(word, bytes, valid) in &self.fields {
            if valid.is_some_and(|valid| packet.word(valid) == 0) {
                continue;
            }
            let value = packet.word(word.into()) << ((64 - 8 * u32::from(bytes)) & 63);
            if let Some(place) = buffer.get_mut(length..length + 8) {
                place.copy_from_slice(&value.to_be_bytes());
            }
            length += usize::from(bytes);
        }
        algorithm.hash(buffer.get(..length).unwrap_or_default())
    }
}

impl<O: Observe> Machine<'_, O> {
    pub(crate) fn calculate(&mut self, calculation: u32, packet: &Packet) -> u64 {
        let calculation = &self.program.calculations[calculation as usize];
        if let Some(sum) = &calculation.sum {
            return sum.of(packet);
        }
        if let Some(bytes) = &calculation.bytes {
            return bytes.hash(calculation.algorithm, packet);
        }
        self.write_inputs(calculation, packet);
        match calculation.algorithm {
            Algorithm::Random => self.externs.random.next(),
            algorithm => algorithm.hash(self.scratch),
        }
    }

    /// The one's complement sum of 16-bit words and those of a calculation's fields, or their
    /// complements.
    pub(super) fn add_to_sum(
        &mut self,
        sum: u64,
        calculation: u32,
        subtract: bool,
        packet: &Packet,
    ) -> u64 {
        let calculation = &self.program.calculations[calculation as usize];
        self.write_inputs(calculation, packet);
        let words = self.scratch.chunks_exact(2);
        let complement = if subtract { u16::MAX } else { 0 };
        words.fold(sum, |sum, word| {
            let word = u16::from_be_bytes([word[0], word[1]]) ^ complement;
            let sum = sum + u64::from(word);
            (sum & 0xffff) + (sum >> 16)
        })
    }

    /// Fills the scratch memory with a calculation's fields.
    fn write_inputs(&mut self, calculation: &Calculation, packet: &Packet) {
        self.scratch.clear();
        let mut writer = Writer::new(self.scratch);
        for input in &calculation.inputs {
            match input {
                CalculationInput::Field {
                    slot, bits, valid, ..
                } => {
                    if valid.is_none_or(|valid| packet.word(valid) != 0) {
                        packet.write_field(&mut writer, *slot, *bits);
                    }
                }
                CalculationInput::Constant { value, bits } => write_wide(&mut writer, value, *bits),
                CalculationInput::Header(span) => {
                    if packet.word(span.word) != 0 {
                        write_header(&mut writer, *span, self.program, packet);
                    }
                }
            }
        }
        writer.finish();
        if calculation.payload {
            self.scratch.extend_from_slice(&packet.payload);
        }
    }
}

/// Appends the last `bits` of right-aligned bytes.
fn write_wide(writer: &mut Writer<'_>, bytes: &[u8], bits: u32) {
    let odd = bits % 8;
    match bytes.split_first() {
        Some((first, rest)) if odd != 0 => {
            writer.push(u64::from(*first), odd);
            writer.push_bytes(rest);
        }
        _ => writer.push_bytes(bytes),
    }
}

pub(crate) fn write_header(
    writer: &mut Writer<'_>,
    span: HeaderSpan,
    program: &Program,
    packet: &Packet,
) {
    for field in &program.layouts[span.layout as usize].fields {
        packet.write_field(writer, field.slot.of(span), field.bits);
    }
}
