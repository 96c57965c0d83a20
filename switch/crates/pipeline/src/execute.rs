//! Runs controls and actions on a packet.

use crate::bits::Writer;
use crate::expression::{Scope, Word};
use crate::externs::Externs;
use crate::packet::{CloneRequest, Packet, Slot};
use crate::program::{
    Calculation, CalculationInput, END, HeaderReference, HeaderSpan, Node, Operation, Program,
    Store, Target,
};
use crate::tables::Table;

/// bmv2 keeps 15 bits of a clone session's number.
const MOST_SESSION: u16 = 0x7fff;

/// What actions work with besides the packet.
pub(crate) struct Machine<'a> {
    pub(crate) program: &'a Program,
    pub(crate) externs: &'a mut Externs,
    /// Bytes a hash or checksum is computed over; kept so that its memory is reused.
    pub(crate) scratch: &'a mut Vec<u8>,
    /// Nanoseconds since the start of the run.
    pub(crate) now: u64,
    pub(crate) drop_port: u16,
}

impl Machine<'_> {
    /// Applies a control from node `start` on, until its end or an `exit`.
    pub(crate) fn apply(&mut self, tables: &mut [Table], packet: &mut Packet, start: u32) {
        let program = self.program;
        let mut node = start;
        // The loader refuses loops, so this ends.
        while node != END && !packet.exited {
            node = match &program.nodes[node as usize] {
                Node::Condition { condition, yes, no } => {
                    if condition.evaluate(Scope {
                        packet,
                        parameters: &[],
                    }) {
                        *yes
                    } else {
                        *no
                    }
                }
                Node::Action { action, next } => {
                    self.run(&program.actions[*action as usize].operations, packet, &[]);
                    *next
                }
                Node::Table { table } => self.apply_table(&mut tables[*table as usize], packet),
            };
        }
        packet.exited = false;
    }

    fn apply_table(&mut self, table: &mut Table, packet: &mut Packet) -> u32 {
        let taken = table.apply(packet, self.now);
        if let Some(action) = taken.action {
            let operations = &self.program.actions[action as usize].operations;
            self.run(operations, packet, taken.parameters);
        }
        taken.next
    }

    /// Runs the operations of an action with the runtime data of an entry.
    pub(crate) fn run(
        &mut self,
        operations: &[Operation],
        packet: &mut Packet,
        parameters: &[u64],
    ) {
        let mut at = 0;
        while let Some(operation) = operations.get(at) {
            at += 1;
            match operation {
                Operation::Jump(to) => at = *to as usize,
                Operation::JumpUnless { condition, to } => {
                    if !condition.evaluate(Scope { packet, parameters }) {
                        at = *to as usize;
                    }
                }
                // The two most frequent, here to save them the call.
                Operation::SetConstant { word, value } => packet.set_word(*word, *value),
                Operation::CopyWord { from, to } => packet.set_word(*to, packet.word(*from)),
                operation => self.perform(operation, packet, parameters),
            }
        }
    }

    /// Performs one operation that is not a jump.
    pub(crate) fn perform(
        &mut self,
        operation: &Operation,
        packet: &mut Packet,
        parameters: &[u64],
    ) {
        let scope = Scope { packet, parameters };
        let word = |value: &Word| value.evaluate(scope);
        match operation {
            Operation::SetConstant { word, value } => packet.set_word(*word, *value),
            Operation::CopyWord { from, to } => packet.set_word(*to, packet.word(*from)),
            Operation::SetWord {
                word: slot,
                fit,
                value,
            } => {
                let value = fit.word(word(value));
                packet.set_word(*slot, value);
            }
            Operation::Set { target, value } => {
                let value = value.evaluate(scope);
                target.store(packet, parameters, value);
            }
            Operation::SetWide { word, value } => packet
                .wide_mut(*word, value.len() as u32)
                .copy_from_slice(value),
            Operation::CopyWide { from, to, words } => {
                let from = *from as usize;
                packet
                    .words
                    .copy_within(from..from + *words as usize, *to as usize);
            }
            Operation::CopyVariable {
                from,
                to,
                capacity,
                from_length,
                to_length,
            } => {
                let from = *from as usize;
                packet
                    .bytes
                    .copy_within(from..from + *capacity as usize, *to as usize);
                packet.set_word(*to_length, packet.word(*from_length));
            }
            Operation::AddHeader(header) => {
                if let Some(span) = resolve(header, self.program, scope) {
                    add_header(span, self.program, packet);
                }
            }
            Operation::RemoveHeader(header) => {
                if let Some(span) = resolve(header, self.program, scope)
                    && packet.word(span.word) != 0
                {
                    let length = header_length(span, self.program, packet);
                    packet.current_length = packet.current_length.saturating_sub(length);
                    packet.set_word(span.word, 0);
                }
            }
            Operation::CopyHeader { from, to } => {
                let (from, to) = (
                    resolve(from, self.program, scope),
                    resolve(to, self.program, scope),
                );
                if let (Some(from), Some(to)) = (from, to) {
                    copy_header(from, to, self.program, packet);
                }
            }
            Operation::CopyStack { .. }
            | Operation::PushFront { .. }
            | Operation::PopFront { .. } => {
                self.move_stack(operation, packet);
            }
            Operation::MarkToDrop {
                egress_spec,
                mcast_grp,
            } => {
                set(packet, *egress_spec, self.drop_port.into());
                set(packet, *mcast_grp, 0);
            }
            Operation::Count { counter, index } => {
                self.externs.counters[*counter as usize].count(word(index), packet.received_length);
            }
            Operation::ReadNarrowRegister {
                register,
                index,
                word: slot,
                fit,
            } => {
                let value = self.externs.registers[*register as usize].read_word(word(index));
                packet.set_word(*slot, fit.word(value));
            }
            Operation::WriteNarrowRegister {
                register,
                index,
                value,
            } => {
                self.externs.registers[*register as usize].write_word(word(index), word(value));
            }
            Operation::ReadRegister {
                register,
                index,
                target,
            } => {
                let value = self.externs.registers[*register as usize].read(word(index));
                target.store(packet, parameters, value);
            }
            Operation::WriteRegister {
                register,
                index,
                value,
            } => {
                self.externs.registers[*register as usize]
                    .write(word(index), value.evaluate(scope));
            }
            Operation::ExecuteMeter {
                meter,
                index,
                target,
            } => {
                let meter = &mut self.externs.meters[*meter as usize];
                if let Some(colour) = meter.execute(word(index), self.now, packet.received_length) {
                    target.store(packet, parameters, colour.into());
                }
            }
            Operation::Hash {
                target,
                base,
                calculation,
                modulus,
            } => {
                let hash = self.calculate(*calculation, packet);
                let scope = Scope { packet, parameters };
                // A modulus of zero counts as one, as in bmv2.
                let modulus = modulus.evaluate(scope).max(1);
                let value = (hash % modulus).wrapping_add(base.evaluate(scope));
                target.store(packet, parameters, value.into());
            }
            Operation::Random { target, low, high } => {
                if let Some(value) = self.externs.random.between(word(low), word(high)) {
                    target.store(packet, parameters, value.into());
                }
            }
            Operation::Assert(condition) => {
                if !condition.evaluate(scope) {
                    self.externs.failed_assertions += 1;
                }
            }
            Operation::Truncate(length) => packet.truncate_to = Some(word(length)),
            Operation::Clone { session, fields } => {
                let session = word(session) as u16 & MOST_SESSION;
                packet.wishes.clone = Some(CloneRequest {
                    session,
                    fields: *fields,
                });
            }
            Operation::Resubmit(fields) => packet.wishes.resubmit = Some(*fields),
            Operation::Recirculate(fields) => packet.wishes.recirculate = Some(*fields),
            Operation::Digest(list) => packet.wishes.digest = Some(*list),
            Operation::Exit => packet.exited = true,
            Operation::Jump(_) | Operation::JumpUnless { .. } => {}
        }
    }

    fn move_stack(&self, operation: &Operation, packet: &mut Packet) {
        let stacks = &self.program.stacks;
        match operation {
            Operation::CopyStack { from, to } => {
                let (from, to) = (stacks[*from as usize], stacks[*to as usize]);
                packet.set_word(to.next, packet.word(from.next));
                for index in 0..from.size {
                    let element = |first| self.element(first, index);
                    copy_header(element(from.first), element(to.first), self.program, packet);
                }
            }
            Operation::PushFront { stack, count } => {
                let stack = stacks[*stack as usize];
                let count = (*count).min(stack.size);
                packet.set_word(
                    stack.next,
                    (packet.word(stack.next) + u64::from(count)).min(stack.size.into()),
                );
                for index in (count..stack.size).rev() {
                    let (from, to) = (
                        self.element(stack.first, index - count),
                        self.element(stack.first, index),
                    );
                    copy_header(from, to, self.program, packet);
                }
                for index in 0..count {
                    packet.set_word(self.element(stack.first, index).word, 0);
                }
            }
            Operation::PopFront { stack, count } => {
                let stack = stacks[*stack as usize];
                let count = (*count).min(stack.size);
                packet.set_word(
                    stack.next,
                    packet.word(stack.next).saturating_sub(count.into()),
                );
                for index in 0..stack.size - count {
                    let (from, to) = (
                        self.element(stack.first, index + count),
                        self.element(stack.first, index),
                    );
                    copy_header(from, to, self.program, packet);
                }
                for index in stack.size - count..stack.size {
                    packet.set_word(self.element(stack.first, index).word, 0);
                }
            }
            _ => {}
        }
    }

    fn element(&self, first: HeaderSpan, index: u32) -> HeaderSpan {
        element(first, index, self.program)
    }

    /// The result of a calculation.
    pub(crate) fn calculate(&mut self, calculation: u32, packet: &Packet) -> u64 {
        let calculation: &Calculation = &self.program.calculations[calculation as usize];
        self.scratch.clear();
        let mut writer = Writer::new(self.scratch);
        for input in &calculation.inputs {
            match input {
                CalculationInput::Field { slot, bits, valid } => {
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
        calculation.algorithm.hash(self.scratch)
    }
}

/// Sets a standard metadata field, if the program has it.
pub(crate) fn set(packet: &mut Packet, field: Option<Store>, value: u64) {
    if let Some(Store { word, fit }) = field {
        packet.set_word(word, fit.word(value));
    }
}

impl Target {
    pub(crate) fn store(&self, packet: &mut Packet, parameters: &[u64], value: u128) {
        match self {
            Target::Word { word, fit } => packet.set_word(*word, fit.word(value as u64)),
            Target::Double { word, fit } => packet.set_double(*word, fit.double(value)),
            Target::Element { element, wide, fit } => {
                if let Some(word) = element.resolve(Scope { packet, parameters }) {
                    if *wide {
                        packet.set_double(word, fit.double(value));
                    } else {
                        packet.set_word(word, fit.word(value as u64));
                    }
                }
            }
        }
    }
}

/// The header a reference picks; none beyond the end of a stack.
fn resolve(header: &HeaderReference, program: &Program, scope: Scope<'_>) -> Option<HeaderSpan> {
    match &header.element {
        None => Some(header.first),
        Some(picked) => {
            let (index, size) = &**picked;
            let index = index.evaluate(scope);
            (index < u64::from(*size)).then(|| element(header.first, index as u32, program))
        }
    }
}

/// Element `index` of the stack that starts at `first`.
pub(crate) fn element(first: HeaderSpan, index: u32, program: &Program) -> HeaderSpan {
    let layout = &program.layouts[first.layout as usize];
    HeaderSpan {
        word: first.word + index * layout.words,
        byte: first.byte + index * layout.bytes,
        ..first
    }
}

/// Bytes the header has on the wire now.
fn header_length(span: HeaderSpan, program: &Program, packet: &Packet) -> u32 {
    let layout = &program.layouts[span.layout as usize];
    let variable = layout.fields.iter().find_map(|field| match field.slot {
        Slot::Variable { length_word, .. } => Some(packet.word(span.word + length_word) as u32 / 8),
        _ => None,
    });
    layout.length + variable.unwrap_or(0)
}

fn add_header(span: HeaderSpan, program: &Program, packet: &mut Packet) {
    if packet.word(span.word) != 0 {
        return;
    }
    let layout = &program.layouts[span.layout as usize];
    packet.words[span.word as usize..(span.word + layout.words) as usize].fill(0);
    packet.span_mut(span.byte, layout.bytes).fill(0);
    packet.set_word(span.word, 1);
    packet.current_length = packet.current_length.saturating_add(layout.length);
}

/// Copies a valid header with its fields; of an invalid one, only that it is invalid.
fn copy_header(from: HeaderSpan, to: HeaderSpan, program: &Program, packet: &mut Packet) {
    if packet.word(from.word) == 0 {
        packet.set_word(to.word, 0);
        return;
    }
    let layout = &program.layouts[from.layout as usize];
    packet.words.copy_within(
        from.word as usize..(from.word + layout.words) as usize,
        to.word as usize,
    );
    packet.bytes.copy_within(
        from.byte as usize..(from.byte + layout.bytes) as usize,
        to.byte as usize,
    );
}

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
        } => {
            let length = (packet.word(length_word) / 8).min(capacity.into()) as u32;
            writer.push_bytes(packet.span(byte, length));
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

/// Appends a header.
pub(crate) fn write_header(
    writer: &mut Writer<'_>,
    span: HeaderSpan,
    program: &Program,
    packet: &Packet,
) {
    for field in &program.layouts[span.layout as usize].fields {
        write_field(writer, absolute(field.slot, span), field.bits, packet);
    }
}

/// The slot of a field of one instance.
pub(crate) fn absolute(slot: Slot, span: HeaderSpan) -> Slot {
    match slot {
        Slot::Word { word } => Slot::Word {
            word: span.word + word,
        },
        Slot::Wide { word, words } => Slot::Wide {
            word: span.word + word,
            words,
        },
        Slot::Variable {
            byte,
            capacity,
            length_word,
        } => Slot::Variable {
            byte: span.byte + byte,
            capacity,
            length_word: span.word + length_word,
        },
    }
}
