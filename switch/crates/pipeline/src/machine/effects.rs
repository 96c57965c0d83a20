//! The instructions that are not arithmetic: headers, stacks, externs, and requests to the switch.

use super::{Machine, Observe, RequestKind, ResultKind};
use crate::packet::{CloneRequest, Packet};
use crate::program::{Element, ExternOperation, HeaderReference, HeaderSpan, Program, Span};

/// bmv2 keeps 15 bits of a clone session's number.
const MOST_SESSION: u16 = 0x7fff;

impl<O: Observe> Machine<'_, O> {
    pub(crate) fn perform(&mut self, operation: &ExternOperation, packet: &mut Packet) {
        match operation {
            ExternOperation::LoadElement { element, to } => match place(*element, packet) {
                Some(from) => packet.words.copy_within(from, usize::from(to.first)),
                None => span_mut(packet, *to).fill(0),
            },
            ExternOperation::StoreElement { element, from } => {
                if let Some(to) = place(*element, packet) {
                    let first = usize::from(from.first);
                    let words = usize::from(from.words);
                    packet.words.copy_within(first..first + words, to.start);
                }
            }
            ExternOperation::CopyVariable { from, to } => {
                let first = from.byte as usize;
                packet
                    .bytes
                    .copy_within(first..first + from.capacity as usize, to.byte as usize);
                packet.set_word(to.length_word, packet.word(from.length_word));
            }
            ExternOperation::EqualVariable { left, right, to } => {
                let same = packet.word(left.length_word) == packet.word(right.length_word)
                    && packet.variable(*left) == packet.variable(*right);
                packet.set_word((*to).into(), same.into());
            }
            ExternOperation::AddHeader(header) => {
                if let Some(span) = resolve(*header, self.program, packet) {
                    self.add_header(span, packet);
                }
            }
            ExternOperation::RemoveHeader(header) => {
                if let Some(span) = resolve(*header, self.program, packet)
                    && packet.word(span.word) != 0
                {
                    let length = header_length(span, self.program, packet);
                    packet.current_length = packet.current_length.saturating_sub(length);
                    packet.set_word(span.word, 0);
                }
            }
            ExternOperation::CopyHeader { from, to } => {
                let from = resolve(*from, self.program, packet);
                let to = resolve(*to, self.program, packet);
                if let (Some(from), Some(to)) = (from, to) {
                    copy_header(from, to, self.program, packet);
                }
            }
            ExternOperation::CopyStack { from, to } => self.copy_stack(*from, *to, packet),
            ExternOperation::PushFront { stacks, count } => {
                self.push_front(stacks, *count, packet);
            }
            ExternOperation::PopFront { stacks, count } => self.pop_front(stacks, *count, packet),
            ExternOperation::OnlyMember { valid, others } => {
                if packet.word(*valid) != 0 {
                    for other in others {
                        packet.set_word(*other, 0);
                    }
                }
            }
            ExternOperation::MarkToDrop {
                egress_spec,
                mcast_grp,
            } => {
                packet.set_field(*egress_spec, self.drop_port.into());
                packet.set_field(*mcast_grp, 0);
                self.observer.request(RequestKind::MarkToDrop, 0);
            }
            ExternOperation::ReadWideRegister {
                register,
                index,
                to,
            } => {
                let index = packet.word((*index).into());
                self.externs.registers[*register as usize].read_to(index, span_mut(packet, *to));
                if O::ON {
                    let value = packet.wide(to.first.into(), to.words.into());
                    self.observer
                        .register(*register, index, value, value, false);
                }
            }
            ExternOperation::WriteWideRegister {
                register,
                index,
                from,
            } => {
                let index = packet.word((*index).into());
                let value = packet.wide(from.first.into(), from.words.into());
                let array = &mut self.externs.registers[*register as usize];
                if O::ON {
                    let before = array.cell_words(index).unwrap_or_default().to_vec();
                    array.write_from(index, value);
                    let after = array.cell_words(index).unwrap_or_default();
                    self.observer
                        .register(*register, index, &before, after, true);
                } else {
                    array.write_from(index, value);
                }
            }
            ExternOperation::ExecuteMeter { meter, index, to } => {
                let number = *meter;
                let meter = &mut self.externs.meters[number as usize];
                let index = packet.word((*index).into());
                let before = if O::ON {
                    meter.tokens(index, self.now)
                } else {
                    None
                };
                if let Some(colour) = meter.execute(index, self.now, packet.received_length) {
                    packet.set_word((*to).into(), colour);
                    if O::ON {
                        let tokens = before
                            .zip(meter.tokens(index, self.now))
                            .map(<[_; 2]>::from);
                        self.observer.meter(number, index, colour, tokens);
                    }
                }
            }
            ExternOperation::Hash {
                to,
                base,
                calculation,
                modulus,
            } => {
                let hash = self.calculate(*calculation, packet);
                // A modulus of zero counts as one, as in bmv2.
                let modulus = packet.word((*modulus).into()).max(1);
                let base = packet.word((*base).into());
                let hash = (hash % modulus).wrapping_add(base);
                packet.set_word((*to).into(), hash);
                self.observer.result(ResultKind::Hash, hash);
            }
            ExternOperation::Calculate { to, calculation } => {
                let hash = self.calculate(*calculation, packet);
                packet.set_word((*to).into(), hash);
                self.observer.result(ResultKind::Hash, hash);
            }
            ExternOperation::AddToSum {
                state,
                calculation,
                subtract,
            } => {
                let before = packet.word((*state).into());
                let sum = self.add_to_sum(before, *calculation, *subtract, packet);
                packet.set_word((*state).into(), sum);
                self.observer.result(ResultKind::Sum, sum);
            }
            ExternOperation::Random { to, low, high } => {
                let (low, high) = (packet.word((*low).into()), packet.word((*high).into()));
                if let Some(value) = self.externs.random.between(low, high) {
                    packet.set_word((*to).into(), value);
                    self.observer.result(ResultKind::Random, value);
                }
            }
            ExternOperation::FailedAssertion => {
                self.externs.failed_assertions += 1;
                self.observer.request(RequestKind::Assert, 0);
            }
            ExternOperation::Log { message } => {
                let message = &self.program.messages[*message as usize];
                self.externs.log.note(message, packet);
                self.observer.request(RequestKind::Log, 0);
            }
            ExternOperation::Truncate(length) => {
                // A second call can only make the packet shorter.
                let length = packet.word((*length).into());
                packet.truncate_to = Some(
                    packet
                        .truncate_to
                        .map_or(length, |before| before.min(length)),
                );
                self.observer.request(RequestKind::Truncate, length);
            }
            ExternOperation::Clone { session, fields } => {
                let session = packet.word((*session).into()) as u16 & MOST_SESSION;
                packet.wishes_mut().clone = Some(CloneRequest {
                    session,
                    fields: *fields,
                });
                self.observer.request(RequestKind::Clone, session.into());
            }
            ExternOperation::Resubmit(fields) => {
                packet.wishes_mut().resubmit = Some(*fields);
                self.observer.request(RequestKind::Resubmit, 0);
            }
            ExternOperation::Recirculate(fields) => {
                packet.wishes_mut().recirculate = Some(*fields);
                self.observer.request(RequestKind::Recirculate, 0);
            }
            ExternOperation::Digest(list) => {
                let wishes = packet.wishes_mut();
                wishes.digest = Some(*list);
                wishes.digests |= 1u64.checked_shl(*list).unwrap_or(0);
                self.observer.request(RequestKind::Digest, (*list).into());
            }
        }
    }

    fn copy_stack(&self, from: u32, to: u32, packet: &mut Packet) {
        let stacks = &self.program.stacks;
        let (from, to) = (stacks[from as usize], stacks[to as usize]);
        packet.set_word(to.next, packet.word(from.next));
        for index in 0..from.size {
            let element = |first| element(first, index, self.program);
            copy_header(element(from.first), element(to.first), self.program, packet);
        }
    }

    /// Moves elements to higher indices; `stacks` share one next index.
    fn push_front(&self, stacks: &[u32], count: u32, packet: &mut Packet) {
        for (position, stack) in stacks.iter().enumerate() {
            let stack = self.program.stacks[*stack as usize];
            let count = count.min(stack.size);
            if position == 0 {
                let next = packet.word(stack.next) + u64::from(count);
                packet.set_word(stack.next, next.min(stack.size.into()));
            }
            let element = |index| element(stack.first, index, self.program);
            for index in (count..stack.size).rev() {
                copy_header(element(index - count), element(index), self.program, packet);
            }
            for index in 0..count {
                packet.set_word(element(index).word, 0);
            }
        }
    }

    fn pop_front(&self, stacks: &[u32], count: u32, packet: &mut Packet) {
        for (position, stack) in stacks.iter().enumerate() {
            let stack = self.program.stacks[*stack as usize];
            let count = count.min(stack.size);
            if position == 0 {
                let next = packet.word(stack.next).saturating_sub(count.into());
                packet.set_word(stack.next, next);
            }
            let element = |index| element(stack.first, index, self.program);
            for index in 0..stack.size - count {
                copy_header(element(index + count), element(index), self.program, packet);
            }
            for index in stack.size - count..stack.size {
                packet.set_word(element(index).word, 0);
            }
        }
    }

    pub(crate) fn add_header(&self, span: HeaderSpan, packet: &mut Packet) {
        if packet.word(span.word) != 0 {
            return;
        }
        let layout = &self.program.layouts[span.layout as usize];
        packet.wide_mut(span.word, layout.words).fill(0);
        packet.span_mut(span.byte, layout.bytes).fill(0);
        packet.set_word(span.word, 1);
        packet.current_length = packet.current_length.saturating_add(layout.length);
    }
}

fn span_mut(packet: &mut Packet, span: Span) -> &mut [u64] {
    packet.wide_mut(span.first.into(), span.words.into())
}

/// Where the field of a stack element is; none beyond the end of the stack.
fn place(element: Element, packet: &Packet) -> Option<std::ops::Range<usize>> {
    let index = packet.word(element.index.into());
    let first = usize::from(element.first.first);
    (index < u64::from(element.size)).then(|| {
        let first = first + index as usize * element.stride as usize;
        first..first + usize::from(element.first.words)
    })
}

/// The header a reference picks; none beyond the end of a stack.
pub(super) fn resolve(
    header: HeaderReference,
    program: &Program,
    packet: &Packet,
) -> Option<HeaderSpan> {
    match header.element {
        None => Some(header.first),
        Some((index, size)) => {
            let index = packet.word(index.into());
            (index < u64::from(size)).then(|| element(header.first, index as u32, program))
        }
    }
}

pub(super) fn element(first: HeaderSpan, index: u32, program: &Program) -> HeaderSpan {
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
    let variable = layout
        .variable
        .map_or(0, |length| packet.word(span.word + length) as u32 / 8);
    layout.length + variable
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
