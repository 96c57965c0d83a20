//! The parser's operations: headers become words of the packet.

use super::effects::{element, resolve};
use super::{Machine, Observe};
use crate::bits;
use crate::packet::Packet;
use crate::program::{
    HeaderSpan, Layout, ParserOperation, Place, SelectCase, SelectCondition, Slot,
};

impl<O: Observe> Machine<'_, O> {
    /// The position of the first case that a packet meets; their number if there is none.
    pub(crate) fn chosen_case(
        &self,
        cases: &[SelectCase],
        keys: &[Place],
        packet: &Packet,
    ) -> usize {
        let met = |case: &SelectCase| self.matches(case, keys, packet);
        cases.iter().position(met).unwrap_or(cases.len())
    }

    fn matches(&self, case: &SelectCase, keys: &[Place], packet: &Packet) -> bool {
        let all = |words: &[(u64, u64)]| {
            keys.iter()
                .zip(words)
                .all(|(key, (value, mask))| packet.word((*key).into()) & mask == *value)
        };
        match &case.condition {
            SelectCondition::Masked(words) => all(words),
            SelectCondition::Member(set) => {
                let members = &self.externs.value_sets[*set as usize];
                members.iter().any(|words| all(words))
            }
        }
    }

    pub(crate) fn parse_one(
        &mut self,
        operation: &ParserOperation,
        packet: &mut Packet,
        frame: &[u8],
        at: &mut usize,
    ) -> Result<(), u64> {
        let errors = &self.program.errors;
        let bits_of = |place: &Option<Place>, packet: &Packet| {
            place.map_or(0, |place| packet.word(place.into()))
        };
        match operation {
            ParserOperation::Extract {
                header,
                variable_bits,
                others,
            } => {
                let Some(header) = resolve(*header, self.program, packet) else {
                    return Err(errors.stack_out_of_bounds);
                };
                let variable = bits_of(variable_bits, packet);
                self.extract(header, variable, packet, frame, at)?;
                for other in others {
                    self.set_invalid(*other, packet);
                }
            }
            ParserOperation::ExtractNext {
                stack,
                variable_bits,
                others,
            } => {
                let stacks = &self.program.stacks;
                let variable = bits_of(variable_bits, packet);
                let stack = &stacks[*stack as usize];
                let next = packet.word(stack.next);
                if next >= u64::from(stack.size) {
                    return Err(errors.stack_out_of_bounds);
                }
                let program = self.program;
                let element = |first| element(first, next as u32, program);
                self.extract(element(stack.first), variable, packet, frame, at)?;
                for other in others {
                    self.set_invalid(element(stacks[*other as usize].first).word, packet);
                }
                packet.set_word(stack.next, next + 1);
            }
            ParserOperation::Lookahead { to, offset, bits } => {
                let rest = &frame[*at..];
                if u64::from(offset + bits) > rest.len() as u64 * 8 {
                    return Err(errors.packet_too_short);
                }
                let words = packet.wide_mut(to.first.into(), to.words.into());
                read_wide(rest, *offset as usize, *bits, words);
                if O::ON {
                    self.observer.span(*to, &packet.words);
                }
            }
            ParserOperation::Verify { condition, error } => {
                if packet.word((*condition).into()) == 0 {
                    return Err(packet.word((*error).into()));
                }
            }
            ParserOperation::Advance { bits } => {
                let bits = packet.word((*bits).into());
                if !bits.is_multiple_of(8) {
                    return Err(errors.parser_invalid_argument);
                }
                if bits / 8 > (frame.len() - *at) as u64 {
                    return Err(errors.packet_too_short);
                }
                *at += (bits / 8) as usize;
            }
            ParserOperation::ExtractFixed(header) => {
                self.extract_fixed(*header, packet, frame, at)?;
            }
            ParserOperation::Copy { .. } | ParserOperation::Code(_) => {}
        }
        Ok(())
    }

    /// A header that can't be valid beside one that was extracted.
    fn set_invalid(&mut self, valid: u32, packet: &mut Packet) {
        self.observer.set(&mut packet.words, valid as Place, 0);
    }

    #[inline]
    fn extract_fixed(
        &mut self,
        header: HeaderSpan,
        packet: &mut Packet,
        frame: &[u8],
        at: &mut usize,
    ) -> Result<(), u64> {
        let layout = &self.program.layouts[header.layout as usize];
        let length = layout.length as usize;
        let rest = frame.get(*at..).unwrap_or_default();
        if length > rest.len() {
            return Err(self.program.errors.packet_too_short);
        }
        match &layout.plan {
            Some(plan) => plan.read(rest, packet.wide_mut(header.word, layout.words)),
            None => read_fields(layout, header, &rest[..length], 0, packet),
        }
        packet.set_word(header.word, 1);
        self.observer.extracted(header, *at..*at + length, packet);
        *at += length;
        Ok(())
    }

    fn extract(
        &mut self,
        header: HeaderSpan,
        variable_bits: u64,
        packet: &mut Packet,
        frame: &[u8],
        at: &mut usize,
    ) -> Result<(), u64> {
        let errors = &self.program.errors;
        let layout = &self.program.layouts[header.layout as usize];
        if layout.variable.is_none() {
            return self.extract_fixed(header, packet, frame, at);
        }
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
        self.observer.extracted(header, *at..*at + length, packet);
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
        match field.slot.of(header) {
            Slot::Word { word } => {
                packet.set_word(word, field.fit.word(bits::read(data, offset, field.bits)));
            }
            Slot::Wide { word, words } => {
                let words = packet.wide_mut(word, words);
                read_wide(data, offset, field.bits, words);
                if let Some(last) = words.last_mut() {
                    *last = field.fit.word(*last);
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

/// Reads `width` bits into the words they take, least significant first.
fn read_wide(data: &[u8], offset: usize, width: u32, words: &mut [u64]) {
    let mut end = offset + width as usize;
    for (index, word) in words.iter_mut().enumerate() {
        let width = (width - index as u32 * 64).min(64);
        end -= width as usize;
        *word = bits::read(data, end, width);
    }
}
