//! Runs the parser: a frame becomes header fields.
//!
//! An error ends parsing; as in bmv2, the packet goes on to ingress with what was extracted before and `parser_error`
//! set.

use crate::bits;
use crate::execute::{Machine, absolute, element};
use crate::expression::Scope;
use crate::packet::{Packet, Slot};
use crate::program::{END, HeaderSpan, Layout, ParserOperation, SelectKey, State};

/// States one packet may pass before the error ParserTimeout: a parser that loops without extracting must end too.
const MOST_STATES: usize = 4096;

/// What the parser made of a frame.
pub(crate) struct Parsed {
    /// Bytes of the frame that were extracted or skipped.
    pub(crate) consumed: usize,
    /// The program's number of the error; `None` if there was none.
    pub(crate) error: Option<u64>,
}

impl Machine<'_> {
    /// Parses `frame` into the slots of `packet`.
    pub(crate) fn parse(&mut self, packet: &mut Packet, frame: &[u8]) -> Parsed {
        let mut consumed = 0;
        let error = self.run_states(packet, frame, &mut consumed).err();
        Parsed { consumed, error }
    }

    fn run_states(&mut self, packet: &mut Packet, frame: &[u8], at: &mut usize) -> Result<(), u64> {
        let program = self.program;
        let mut number = program.initial_state;
        for _ in 0..MOST_STATES {
            if number == END {
                return Ok(());
            }
            let state = &program.states[number as usize];
            for operation in &state.operations {
                self.parse_one(operation, packet, frame, at)?;
            }
            number = self.select(state, packet, &frame[*at..])?;
        }
        Err(program.errors.parser_timeout)
    }

    fn select(&self, state: &State, packet: &Packet, rest: &[u8]) -> Result<u32, u64> {
        let scope = Scope {
            packet,
            parameters: &[],
        };
        let word = |key: &SelectKey| match key {
            SelectKey::Value(value) => value.evaluate(scope),
            SelectKey::Lookahead { offset, bits } => bits::read(rest, *offset as usize, *bits),
        };
        for key in &state.keys {
            if let SelectKey::Lookahead { offset, bits } = key
                && u64::from(offset + bits) > rest.len() as u64 * 8
            {
                return Err(self.program.errors.packet_too_short);
            }
        }
        let next = match state.keys.as_slice() {
            [] => None,
            [key] => {
                let value = word(key);
                state
                    .cases
                    .iter()
                    .find(|case| value & case.words[0].1 == case.words[0].0)
            }
            keys => state.cases.iter().find(|case| {
                keys.iter()
                    .zip(&case.words)
                    .all(|(key, (value, mask))| word(key) & mask == *value)
            }),
        };
        next.map(|case| case.next)
            .or(state.otherwise)
            .ok_or(self.program.errors.no_match)
    }

    fn parse_one(
        &mut self,
        operation: &ParserOperation,
        packet: &mut Packet,
        frame: &[u8],
        at: &mut usize,
    ) -> Result<(), u64> {
        let errors = &self.program.errors;
        let scope = Scope {
            packet,
            parameters: &[],
        };
        match operation {
            ParserOperation::Extract {
                header,
                variable_bits,
            } => {
                let variable = variable_bits.as_ref().map(|bits| bits.evaluate(scope));
                self.extract(*header, variable, packet, frame, at)
            }
            ParserOperation::ExtractNext {
                stack,
                variable_bits,
            } => {
                let variable = variable_bits.as_ref().map(|bits| bits.evaluate(scope));
                let stack = &self.program.stacks[*stack as usize];
                let next = packet.word(stack.next);
                if next >= u64::from(stack.size) {
                    return Err(errors.stack_out_of_bounds);
                }
                let header = element(stack.first, next as u32, self.program);
                self.extract(header, variable, packet, frame, at)?;
                packet.set_word(stack.next, next + 1);
                Ok(())
            }
            ParserOperation::Lookahead {
                target,
                offset,
                bits,
            } => {
                let rest = &frame[*at..];
                if u64::from(offset + bits) > rest.len() as u64 * 8 {
                    return Err(errors.packet_too_short);
                }
                target.store(packet, &[], read_double(rest, *offset as usize, *bits));
                Ok(())
            }
            ParserOperation::Verify { condition, error } => {
                if condition.evaluate(scope) {
                    Ok(())
                } else {
                    Err(error.evaluate(scope))
                }
            }
            ParserOperation::Advance { bits } => {
                let bits = bits.evaluate(scope);
                if !bits.is_multiple_of(8) {
                    return Err(errors.parser_invalid_argument);
                }
                if bits / 8 > (frame.len() - *at) as u64 {
                    return Err(errors.packet_too_short);
                }
                *at += (bits / 8) as usize;
                Ok(())
            }
            ParserOperation::Primitive(operation) => {
                self.perform(operation, packet, &[]);
                Ok(())
            }
        }
    }

    fn extract(
        &self,
        header: HeaderSpan,
        variable_bits: Option<u64>,
        packet: &mut Packet,
        frame: &[u8],
        at: &mut usize,
    ) -> Result<(), u64> {
        let errors = &self.program.errors;
        let layout = &self.program.layouts[header.layout as usize];
        let variable_bits = variable_bits.unwrap_or(0);
        if !variable_bits.is_multiple_of(8) {
            return Err(errors.parser_invalid_argument);
        }
        let length = u64::from(layout.length).saturating_add(variable_bits / 8);
        if length > (frame.len() - *at) as u64 {
            return Err(errors.packet_too_short);
        }
        if length > u64::from(layout.max_length) {
            return Err(errors.header_too_short);
        }
        let length = length as usize;
        read_fields(
            layout,
            header,
            &frame[*at..*at + length],
            variable_bits as usize,
            packet,
        );
        packet.set_word(header.word, 1);
        *at += length;
        Ok(())
    }
}

fn read_fields(
    layout: &Layout,
    header: HeaderSpan,
    data: &[u8],
    variable_bits: usize,
    packet: &mut Packet,
) {
    let mut offset = 0;
    for field in &layout.fields {
        match absolute(field.slot, header) {
            Slot::Word { word } => {
                packet.set_word(word, field.fit.word(bits::read(data, offset, field.bits)))
            }
            Slot::Wide { word, words } => {
                let mut end = offset + field.bits as usize;
                for (index, place) in packet.wide_mut(word, words).iter_mut().enumerate() {
                    let width = (field.bits - index as u32 * 64).min(64);
                    end -= width as usize;
                    let value = bits::read(data, end, width);
                    *place = if index as u32 + 1 == words {
                        field.fit.word(value)
                    } else {
                        value
                    };
                }
            }
            Slot::Variable {
                byte, length_word, ..
            } => {
                let length = variable_bits / 8;
                for (index, place) in packet.span_mut(byte, length as u32).iter_mut().enumerate() {
                    *place = bits::read(data, offset + index * 8, 8) as u8;
                }
                packet.set_word(length_word, variable_bits as u64);
                offset += variable_bits;
            }
        }
        offset += field.bits as usize;
    }
}

/// Reads at most 128 bits.
fn read_double(data: &[u8], offset: usize, width: u32) -> u128 {
    if width <= 64 {
        return bits::read(data, offset, width).into();
    }
    let high = bits::read(data, offset, width - 64);
    let low = bits::read(data, offset + width as usize - 64, 64);
    u128::from(high) << 64 | u128::from(low)
}
