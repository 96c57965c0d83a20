//! The words of a packet that something other than a plain instruction reads or writes.

use super::Program;
use super::calculation::{Calculation, CalculationInput};
use super::message::LogMessage;
use super::operation::{ExternOperation, Span, Wide, WideOperation};
use super::parser::ParserOperation;
use super::slot::Slot;
use super::table::TableShape;

/// Tells which words any instruction reads.
pub(crate) fn reads(program: &Program) -> Vec<bool> {
    let mut reads = vec![false; 1 << 16];
    for instruction in &program.code {
        let mut instruction = *instruction;
        instruction.read_through(|place| {
            reads[usize::from(place)] = true;
            place
        });
    }
    reads
}

fn slot(slot: Slot, word: &mut impl FnMut(u32)) {
    match slot {
        Slot::Word { word: first } => word(first),
        Slot::Wide { word: first, words } => (first..first + words).for_each(word),
        Slot::Variable { length_word, .. } => word(length_word),
    }
}

fn span(span: Span, word: &mut impl FnMut(u32)) {
    (u32::from(span.first)..u32::from(span.first) + u32::from(span.words)).for_each(word);
}

/// Tells which words something other than a plain instruction reads, or reads and writes.
pub(crate) fn observed(program: &Program, tables: &[TableShape]) -> Vec<bool> {
    let mut seen = vec![false; 1 << 16];
    let mut word = |word: u32| {
        if let Some(seen) = seen.get_mut(word as usize) {
            *seen = true;
        }
    };
    for table in tables {
        for read in table.slots() {
            slot(read, &mut word);
        }
    }
    operands(program, &mut word);
    seen
}

/// Visits the words that anything but plain instructions and tables reads.
pub(crate) fn operands(program: &Program, word: &mut impl FnMut(u32)) {
    parser_operands(program, word);
    kept(program, word);
    for calculation in &program.calculations {
        calculation.operands(word);
    }
    for message in &program.messages {
        message.operands(word);
    }
    for operation in &program.wide {
        operation.operands(word);
    }
    for operation in &program.operations {
        operation.operands(word);
    }
}

/// Visits the words that the parser reads, but for those of its instructions.
pub(crate) fn parser_operands(program: &Program, word: &mut impl FnMut(u32)) {
    for state in &program.states {
        state.keys.iter().for_each(|key| word((*key).into()));
        for operation in &state.operations {
            match operation {
                ParserOperation::Extract {
                    header,
                    variable_bits,
                    ..
                } => {
                    let index = header.element.map(|(index, _)| index);
                    index
                        .into_iter()
                        .chain(*variable_bits)
                        .for_each(|place| word(place.into()));
                }
                ParserOperation::ExtractNext { variable_bits, .. } => {
                    variable_bits.iter().for_each(|place| word((*place).into()));
                }
                ParserOperation::Verify { condition, error } => {
                    word((*condition).into());
                    word((*error).into());
                }
                ParserOperation::Advance { bits } => word((*bits).into()),
                ParserOperation::Copy { from, .. } => word((*from).into()),
                ParserOperation::Lookahead { to, .. } => span(*to, word),
                ParserOperation::ExtractFixed(_) | ParserOperation::Code(_) => {}
            }
        }
    }
}

/// Visits the words that are read after a control: by checksums, copies, digests and the traffic
/// manager. What is read of headers is left out: it may be any word of them.
pub(crate) fn kept(program: &Program, word: &mut impl FnMut(u32)) {
    for checksum in program.verified.iter().chain(&program.updated) {
        program.calculations[checksum.calculation as usize].operands(word);
        word(checksum.target.word);
        checksum
            .condition
            .iter()
            .for_each(|guard| word(guard.word.into()));
    }
    for list in &program.field_lists {
        list.iter().for_each(|field| slot(*field, word));
    }
    for digest in &program.digests {
        digest
            .fields
            .iter()
            .for_each(|(_, field, _)| slot(*field, word));
    }
    // Of P4_14's programs, these are among the program's own metadata.
    let standard = &program.standard;
    let of_switch = [standard.egress_spec, standard.mcast_grp, standard.priority];
    of_switch
        .iter()
        .flatten()
        .for_each(|field| word(field.word));
    let shaping = program.shaping.iter().flatten();
    let of_traffic_manager = program.rank.iter().chain(shaping).chain(&program.push_out);
    of_traffic_manager.for_each(|field| word(*field));
}

impl Calculation {
    pub(crate) fn operands(&self, word: &mut impl FnMut(u32)) {
        for input in &self.inputs {
            if let CalculationInput::Field {
                slot: field, valid, ..
            } = input
            {
                slot(*field, word);
                valid.iter().for_each(|valid| word(*valid));
            }
        }
    }
}

impl LogMessage {
    pub(crate) fn operands(&self, word: &mut impl FnMut(u32)) {
        self.parts.iter().for_each(|(_, value)| span(*value, word));
    }
}

impl WideOperation {
    pub(crate) fn operands(&self, word: &mut impl FnMut(u32)) {
        span(self.left, word);
        span(self.right, word);
    }
}

impl ExternOperation {
    /// Visits the words it reads, or leaves as they were where it has no result.
    pub(crate) fn operands(&self, word: &mut impl FnMut(u32)) {
        match self {
            ExternOperation::LoadElement { element, .. } => word(element.index.into()),
            ExternOperation::StoreElement { element, from } => {
                word(element.index.into());
                span(*from, word);
            }
            ExternOperation::CopyVariable { from, .. } => word(from.length_word),
            ExternOperation::EqualVariable { left, right, .. } => {
                word(left.length_word);
                word(right.length_word);
            }
            ExternOperation::AddHeader(header) | ExternOperation::RemoveHeader(header) => {
                header
                    .element
                    .iter()
                    .for_each(|(index, _)| word((*index).into()));
            }
            ExternOperation::CopyHeader { from, to } => {
                for header in [from, to] {
                    header
                        .element
                        .iter()
                        .for_each(|(index, _)| word((*index).into()));
                }
            }
            ExternOperation::ReadWideRegister { index, .. } => word((*index).into()),
            ExternOperation::WriteWideRegister { index, from, .. } => {
                word((*index).into());
                span(*from, word);
            }
            // A result that is not given leaves the word as it was.
            ExternOperation::ExecuteMeter { index, to, .. } => {
                word((*index).into());
                word((*to).into());
            }
            ExternOperation::Hash {
                base, modulus, to, ..
            } => [*base, *modulus, *to]
                .into_iter()
                .for_each(|place| word(place.into())),
            ExternOperation::Random { to, low, high } => [*to, *low, *high]
                .into_iter()
                .for_each(|place| word(place.into())),
            ExternOperation::AddToSum { state, .. } => word((*state).into()),
            ExternOperation::Truncate(place) => word((*place).into()),
            ExternOperation::Clone { session, .. } => word((*session).into()),
            ExternOperation::CopyStack { .. }
            | ExternOperation::PushFront { .. }
            | ExternOperation::PopFront { .. }
            | ExternOperation::OnlyMember { .. }
            | ExternOperation::MarkToDrop { .. }
            | ExternOperation::FailedAssertion
            | ExternOperation::Log { .. }
            | ExternOperation::Resubmit(_)
            | ExternOperation::Recirculate(_)
            | ExternOperation::Calculate { .. }
            | ExternOperation::Digest(_) => {}
        }
    }

    /// Visits the words it writes, but for those of headers.
    fn results(&self, word: &mut impl FnMut(u32)) {
        match self {
            Self::LoadElement { to, .. } | Self::ReadWideRegister { to, .. } => span(*to, word),
            Self::EqualVariable { to, .. }
            | Self::ExecuteMeter { to, .. }
            | Self::Hash { to, .. }
            | Self::Calculate { to, .. }
            | Self::AddToSum { state: to, .. }
            | Self::Random { to, .. } => word((*to).into()),
            Self::CopyVariable { to, .. } => word(to.length_word),
            Self::StoreElement { element, .. } => {
                let first = u32::from(element.first.first);
                let words = element.stride * element.size.saturating_sub(1);
                (first..first + words + u32::from(element.first.words)).for_each(word);
            }
            Self::OnlyMember { valid, others } => {
                others.iter().chain([valid]).for_each(|valid| word(*valid));
            }
            // Perhaps of metadata that were copied.
            Self::MarkToDrop {
                egress_spec,
                mcast_grp,
            } => {
                for field in [egress_spec, mcast_grp].into_iter().flatten() {
                    word(field.word);
                }
            }
            Self::AddHeader(_)
            | Self::RemoveHeader(_)
            | Self::CopyHeader { .. }
            | Self::CopyStack { .. }
            | Self::PushFront { .. }
            | Self::PopFront { .. }
            | Self::WriteWideRegister { .. }
            | Self::FailedAssertion
            | Self::Log { .. }
            | Self::Truncate(_)
            | Self::Clone { .. }
            | Self::Resubmit(_)
            | Self::Recirculate(_)
            | Self::Digest(_) => {}
        }
    }
}

/// Visits the words that operations, parser and switch write, but for those of headers.
pub(crate) fn results(program: &Program, word: &mut impl FnMut(u32)) {
    for operation in &program.wide {
        span(operation.to, word);
        if let Wide::Divide(rest) | Wide::Modulo(rest) = operation.kind {
            span(rest, word);
        }
    }
    for operation in &program.operations {
        operation.results(word);
    }
    for stack in &program.stacks {
        word(stack.next);
    }
    for operation in program.states.iter().flat_map(|state| &state.operations) {
        match operation {
            ParserOperation::Lookahead { to, .. } => span(*to, word),
            ParserOperation::Copy { to, .. } => word((*to).into()),
            _ => {}
        }
    }
    program.dropped.iter().for_each(|field| word(*field));
    program.pushed_out.iter().for_each(|field| word(*field));
    program.standard.words().for_each(word);
}
