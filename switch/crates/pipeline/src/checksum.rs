//! Hashes and checksums over fields, the checksums a program verifies and keeps, and the deparser.

use crate::bits::Writer;
use crate::execute::Machine;
use crate::externs::hash::{Algorithm, finish_sum, sum_of};
use crate::instruction::VariablePlace;
use crate::packet::{Packet, Slot};
use crate::program::{CalculationInput, Guard, HeaderSpan, Program};

/// An Internet checksum (RFC 1071) over fields where they are: 2^16 is 1 modulo 2^16-1, so a field counts as its value
/// shifted to its place within 16 bits.
#[derive(Debug, Clone)]
pub(crate) struct Sum {
    /// Validity of the header whose fields these are.
    valid: Option<u32>,
    fields: Vec<Part>,
    /// Fields that are signed or have more than 32 bits.
    long: Vec<LongPart>,
    /// A varbit at the end.
    variable: Option<(Option<u32>, VariablePlace)>,
}

/// A word of at most 32 bits and how far to shift it.
#[derive(Debug, Clone, Copy)]
struct Part {
    word: u16,
    shift: u8,
}

#[derive(Debug, Clone, Copy)]
struct LongPart {
    part: Part,
    mask: u64,
}

impl Sum {
    /// The sum for these inputs, if they are of one header or none, with at most a varbit after them.
    pub(crate) fn new(inputs: &[CalculationInput]) -> Option<Self> {
        let mut sum = Self {
            valid: None,
            fields: Vec::new(),
            long: Vec::new(),
            variable: None,
        };
        let mut offset = 0;
        for (index, input) in inputs.iter().enumerate() {
            let CalculationInput::Field {
                slot,
                bits,
                signed,
                valid,
            } = input
            else {
                return None;
            };
            if let Some(place) = VariablePlace::of(*slot) {
                if index + 1 != inputs.len() || offset % 16 != 0 {
                    return None;
                }
                sum.variable = Some((*valid, place));
                break;
            }
            if index == 0 {
                sum.valid = *valid;
            } else if sum.valid != *valid {
                return None;
            }
            let (first, words) = slot.words()?;
            for part in (0..words).rev() {
                let width = if part + 1 == words {
                    bits - part * 64
                } else {
                    64
                };
                offset += width;
                let part = Part {
                    word: (first + part) as u16,
                    shift: ((16 - offset % 16) % 16) as u8,
                };
                if width <= 32 && !*signed {
                    sum.fields.push(part);
                } else {
                    let mask = crate::bits::mask(width);
                    sum.long.push(LongPart { part, mask });
                }
            }
        }
        Some(sum)
    }

    fn of(&self, packet: &Packet) -> u64 {
        let mut sum = 0u64;
        if self.valid.is_none_or(|valid| packet.word(valid) != 0) {
            // Below 2^48 each, and of a header's fields there are fewer than 2^16.
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

/// Fields of whole bytes and at most a word each, on their way into a buffer.
#[derive(Debug, Clone)]
pub(crate) struct Bytes {
    /// Word, bytes, and validity of its header.
    fields: Vec<(u16, u8, Option<u32>)>,
}

/// Bytes of the buffer; eight are written at a time.
const BUFFER: usize = 128;

impl Bytes {
    /// A plan for these inputs, if they are such fields and few.
    pub(crate) fn new(inputs: &[CalculationInput]) -> Option<Self> {
        let field = |input: &CalculationInput| match input {
            CalculationInput::Field {
                slot: Slot::Word { word },
                bits,
                valid,
                ..
            } if bits.is_multiple_of(8) => Some((*word as u16, (bits / 8) as u8, *valid)),
            _ => None,
        };
        let fields: Vec<_> = inputs.iter().map(field).collect::<Option<_>>()?;
        let total: usize = fields.iter().map(|field| usize::from(field.1)).sum();
        (total + 8 <= BUFFER).then_some(Self { fields })
    }

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

impl Machine<'_> {
    /// The result of a calculation.
    pub(crate) fn calculate(&mut self, calculation: u32, packet: &Packet) -> u64 {
        let calculation = &self.program.calculations[calculation as usize];
        if let Some(sum) = &calculation.sum {
            return sum.of(packet);
        }
        if let Some(bytes) = &calculation.bytes {
            return bytes.hash(calculation.algorithm, packet);
        }
        self.scratch.clear();
        let mut writer = Writer::new(self.scratch);
        for input in &calculation.inputs {
            match input {
                CalculationInput::Field {
                    slot, bits, valid, ..
                } => {
                    if valid.is_none_or(|valid| packet.word(valid) != 0) {
                        write_field(&mut writer, *slot, *bits, packet);
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
        match calculation.algorithm {
            Algorithm::Random => self.externs.random.next(),
            algorithm => algorithm.hash(self.scratch),
        }
    }

    /// Whether a condition outside of controls holds.
    fn holds(&mut self, guard: Guard, packet: &mut Packet) -> bool {
        if let Some(start) = guard.start {
            self.apply(&mut [], packet, start);
        }
        packet.word(guard.word.into()) != 0
    }

    /// Whether every checksum the program verifies is right.
    pub(crate) fn verify_checksums(&mut self, packet: &mut Packet) -> bool {
        let program = self.program;
        let mut correct = true;
        for checksum in &program.verified {
            let present = checksum.valid.is_none_or(|valid| packet.word(valid) != 0);
            if present
                && checksum
                    .condition
                    .is_none_or(|guard| self.holds(guard, packet))
            {
                let sum = self.calculate(checksum.calculation, packet);
                correct &= checksum.target.fit.word(sum) == packet.word(checksum.target.word);
            }
        }
        correct
    }

    /// Updates checksums and writes headers and payload.
    pub(crate) fn deparse(&mut self, packet: &mut Packet, out: &mut Vec<u8>) {
        let program = self.program;
        for checksum in &program.updated {
            if checksum
                .condition
                .is_none_or(|guard| self.holds(guard, packet))
            {
                let sum = self.calculate(checksum.calculation, packet);
                let target = checksum.target;
                packet.set_word(target.word, target.fit.word(sum));
            }
        }
        out.clear();
        out.reserve(packet.payload.len() + HEADROOM);
        if program.emitted_in_bytes {
            for &header in &program.emitted {
                if packet.word(header.word) == 0 {
                    continue;
                }
                let layout = &program.layouts[header.layout as usize];
                match &layout.plan {
                    Some(plan) => plan.append(packet.wide(header.word, layout.words), out),
                    None => {
                        let mut writer = Writer::new(out);
                        write_header(&mut writer, header, program, packet);
                        writer.finish();
                    }
                }
            }
        } else {
            let mut writer = Writer::new(out);
            for &header in &program.emitted {
                if packet.word(header.word) != 0 {
                    write_header(&mut writer, header, program, packet);
                }
            }
            writer.finish();
        }
        out.extend_from_slice(&packet.payload);
        if let Some(limit) = packet.truncate_to {
            out.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        }
    }
}

/// Room for headers, so that few packets make the buffer grow twice.
const HEADROOM: usize = 256;

/// Appends a field as it lies on the wire. `slot` is absolute.
pub(crate) fn write_field(writer: &mut Writer<'_>, slot: Slot, bits: u32, packet: &Packet) {
    match slot {
        Slot::Word { word } => writer.push(packet.word(word), bits),
        Slot::Wide { word, words } => {
            let mut width = bits - (words - 1) * 64;
            for value in packet.wide(word, words).iter().rev() {
                writer.push(*value, width);
                width = 64;
            }
        }
        Slot::Variable {
            byte,
            capacity,
            length_word,
        } => writer.push_bytes(packet.variable(VariablePlace {
            byte,
            capacity,
            length_word,
        })),
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

/// Appends a header.
fn write_header(writer: &mut Writer<'_>, span: HeaderSpan, program: &Program, packet: &Packet) {
    for field in &program.layouts[span.layout as usize].fields {
        write_field(writer, field.slot.of(span), field.bits, packet);
    }
}
