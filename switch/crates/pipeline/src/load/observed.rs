use crate::program::{
    CalculationInput, ExternOperation, ParserOperation, Program, Slot, Span, TableShape,
};

/// Tells which words any instruction reads.
pub(super) fn reads(program: &Program) -> Vec<bool> {
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

/// Tells which words something other than a plain instruction reads, or reads and writes.
pub(super) fn observed(program: &Program, tables: &[TableShape]) -> Vec<bool> {
    let mut seen = vec![false; 1 << 16];
    let mut word = |word: u32| {
        if let Some(seen) = seen.get_mut(word as usize) {
            *seen = true;
        }
    };
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
    for table in tables {
        for read in table.slots() {
            slot(read, &mut word);
        }
    }
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
                ParserOperation::Lookahead { to, .. } => span(*to, &mut word),
                ParserOperation::ExtractFixed(_) | ParserOperation::Code(_) => {}
            }
        }
    }
    for calculation in &program.calculations {
        for input in &calculation.inputs {
            if let CalculationInput::Field {
                slot: field, valid, ..
            } = input
            {
                slot(*field, &mut word);
                valid.iter().for_each(|valid| word(*valid));
            }
        }
    }
    for checksum in program.verified.iter().chain(&program.updated) {
        word(checksum.target.word);
        checksum
            .condition
            .iter()
            .for_each(|guard| word(guard.word.into()));
    }
    for list in &program.field_lists {
        list.iter().for_each(|field| slot(*field, &mut word));
    }
    for digest in &program.digests {
        digest
            .fields
            .iter()
            .for_each(|(_, field, _)| slot(*field, &mut word));
    }
    for message in &program.messages {
        message
            .parts
            .iter()
            .for_each(|(_, value)| span(*value, &mut word));
    }
    let shaping = program.shaping.iter().flatten();
    let of_traffic_manager = program.rank.iter().chain(shaping).chain(&program.push_out);
    of_traffic_manager.for_each(|field| word(*field));
    for operation in &program.wide {
        span(operation.left, &mut word);
        span(operation.right, &mut word);
    }
    for operation in &program.operations {
        extern_reads(operation, &mut word, span);
    }
    seen
}

fn extern_reads<F: FnMut(u32)>(
    operation: &ExternOperation,
    word: &mut F,
    span: impl Fn(Span, &mut F),
) {
    match operation {
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
        | ExternOperation::Digest(_) => {}
    }
}
