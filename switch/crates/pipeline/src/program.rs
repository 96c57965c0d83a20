//! The lowered program: what the loader makes of an artifact and execution walks through. Indices only, no names but
//! those the control plane asks for.

use crate::expression::{Condition, Double, Word};
use crate::externs::hash::Algorithm;
use crate::packet::{FieldList, Fit, Slot};

/// "No further node" in control flow, "accept" in the parser.
pub(crate) const END: u32 = u32::MAX;

/// A whole artifact.
#[derive(Debug, Default)]
pub(crate) struct Program {
    /// Words and bytes a packet needs.
    pub(crate) words: u32,
    pub(crate) bytes: u32,
    pub(crate) layouts: Vec<Layout>,
    pub(crate) stacks: Vec<Stack>,
    pub(crate) standard: StandardMetadata,
    /// `tm.rank`, the field a program gives its scheduling rank in.
    pub(crate) rank: Option<u32>,
    pub(crate) errors: ErrorCodes,
    pub(crate) states: Vec<State>,
    pub(crate) initial_state: u32,
    pub(crate) actions: Vec<Action>,
    pub(crate) calculations: Vec<Calculation>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) ingress: u32,
    pub(crate) egress: u32,
    pub(crate) verified: Vec<Checksum>,
    pub(crate) updated: Vec<Checksum>,
    pub(crate) emitted: Vec<HeaderSpan>,
    /// Words and bytes of metadata: the first of a packet.
    pub(crate) metadata_words: u32,
    pub(crate) metadata_bytes: u32,
    /// What copies keep, by [`crate::packet::FieldList`].
    pub(crate) field_lists: Vec<Vec<Slot>>,
    pub(crate) digests: Vec<DigestFields>,
}

/// A list of fields a digest message carries.
#[derive(Debug)]
pub(crate) struct DigestFields {
    pub(crate) name: String,
    pub(crate) id: u32,
    /// Name, where it is, and its width.
    pub(crate) fields: Vec<(String, Slot, u32)>,
}

/// How one header type lies in a packet, and its fields in the slots of an instance. The first word of an instance is
/// its validity.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub(crate) words: u32,
    pub(crate) bytes: u32,
    /// Bytes on the wire without the varbit.
    pub(crate) length: u32,
    /// The most bytes the header may have on the wire, varbit included.
    pub(crate) max_length: u32,
    pub(crate) fields: Vec<LayoutField>,
}

/// One field of a [`Layout`]; its slot is relative to the instance.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LayoutField {
    pub(crate) slot: Slot,
    /// Zero for a varbit, whose width is in its slot.
    pub(crate) bits: u32,
    /// How its word, or the most significant of its words, is cut and extended.
    pub(crate) fit: Fit,
}

/// One header instance.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HeaderSpan {
    pub(crate) layout: u32,
    pub(crate) word: u32,
    pub(crate) byte: u32,
}

/// A header stack: instances one after the other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stack {
    pub(crate) first: HeaderSpan,
    pub(crate) size: u32,
    /// Word that holds the index of the element the next `extract` fills.
    pub(crate) next: u32,
}

/// A header named by a primitive: always the same, or the element of a stack a computed index picks.
#[derive(Debug, Clone)]
pub(crate) struct HeaderReference {
    pub(crate) first: HeaderSpan,
    /// Index and number of elements.
    pub(crate) element: Option<Box<(Word, u32)>>,
}

/// Standard metadata the target reads and fills; `None` where the program's version of v1model has no such field.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StandardMetadata {
    pub(crate) ingress_port: Option<Store>,
    pub(crate) egress_spec: Option<Store>,
    pub(crate) egress_port: Option<Store>,
    pub(crate) packet_length: Option<Store>,
    pub(crate) enq_timestamp: Option<Store>,
    pub(crate) enq_qdepth: Option<Store>,
    pub(crate) deq_timedelta: Option<Store>,
    pub(crate) deq_qdepth: Option<Store>,
    pub(crate) ingress_global_timestamp: Option<Store>,
    pub(crate) egress_global_timestamp: Option<Store>,
    pub(crate) mcast_grp: Option<Store>,
    pub(crate) checksum_error: Option<Store>,
    pub(crate) parser_error: Option<Store>,
    pub(crate) priority: Option<Store>,
    pub(crate) instance_type: Option<Store>,
    pub(crate) egress_rid: Option<Store>,
}

/// A word slot with its width.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Store {
    pub(crate) word: u32,
    pub(crate) fit: Fit,
}

/// The program's numbers for the parser errors of core.p4.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ErrorCodes {
    pub(crate) packet_too_short: u64,
    pub(crate) no_match: u64,
    pub(crate) stack_out_of_bounds: u64,
    pub(crate) header_too_short: u64,
    pub(crate) parser_timeout: u64,
    pub(crate) parser_invalid_argument: u64,
}

/// A parser state.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) operations: Vec<ParserOperation>,
    pub(crate) keys: Vec<SelectKey>,
    pub(crate) cases: Vec<SelectCase>,
    /// Next state when no case matches; `None` is the error NoMatch.
    pub(crate) otherwise: Option<u32>,
}

/// One word of a select key.
#[derive(Debug)]
pub(crate) enum SelectKey {
    Value(Word),
    /// Bits not yet extracted: offset and width.
    Lookahead {
        offset: u32,
        bits: u32,
    },
}

#[derive(Debug)]
pub(crate) struct SelectCase {
    /// Value and mask per key word.
    pub(crate) words: Box<[(u64, u64)]>,
    pub(crate) next: u32,
}

#[derive(Debug)]
pub(crate) enum ParserOperation {
    Extract {
        header: HeaderSpan,
        variable_bits: Option<Word>,
    },
    ExtractNext {
        stack: u32,
        variable_bits: Option<Word>,
    },
    Lookahead {
        target: Target,
        offset: u32,
        bits: u32,
    },
    Verify {
        condition: Condition,
        error: Word,
    },
    Advance {
        bits: Word,
    },
    Primitive(Operation),
}

/// Where a result goes.
#[derive(Debug, Clone)]
pub(crate) enum Target {
    Word {
        word: u32,
        fit: Fit,
    },
    Double {
        word: u32,
        fit: Fit,
    },
    /// An element of a stack; a result for an element beyond the end is discarded.
    Element {
        element: Box<crate::expression::Element>,
        wide: bool,
        fit: Fit,
    },
}

/// One primitive of an action.
#[derive(Debug)]
pub(crate) enum Operation {
    SetConstant {
        word: u32,
        value: u64,
    },
    /// A word as it is, which the target holds.
    CopyWord {
        from: u32,
        to: u32,
    },
    SetWord {
        word: u32,
        fit: Fit,
        value: Word,
    },
    Set {
        target: Target,
        value: Double,
    },
    SetWide {
        word: u32,
        value: Box<[u64]>,
    },
    CopyWide {
        from: u32,
        to: u32,
        words: u32,
    },
    CopyVariable {
        from: u32,
        to: u32,
        capacity: u32,
        from_length: u32,
        to_length: u32,
    },
    AddHeader(HeaderReference),
    RemoveHeader(HeaderReference),
    CopyHeader {
        from: HeaderReference,
        to: HeaderReference,
    },
    CopyStack {
        from: u32,
        to: u32,
    },
    PushFront {
        stack: u32,
        count: u32,
    },
    PopFront {
        stack: u32,
        count: u32,
    },
    /// Sets what makes the target drop the packet, if the program does not change it again.
    MarkToDrop {
        egress_spec: Option<Store>,
        mcast_grp: Option<Store>,
    },
    Count {
        counter: u32,
        index: Word,
    },
    ReadRegister {
        register: u32,
        index: Word,
        target: Target,
    },
    WriteRegister {
        register: u32,
        index: Word,
        value: Double,
    },
    ReadNarrowRegister {
        register: u32,
        index: Word,
        word: u32,
        fit: Fit,
    },
    WriteNarrowRegister {
        register: u32,
        index: Word,
        value: Word,
    },
    ExecuteMeter {
        meter: u32,
        index: Word,
        target: Target,
    },
    Hash {
        target: Target,
        base: Word,
        calculation: u32,
        modulus: Word,
    },
    Random {
        target: Target,
        low: Word,
        high: Word,
    },
    /// `assert` and `assume`: a failure is counted.
    Assert(Condition),
    Truncate(Word),
    Clone {
        session: Word,
        fields: FieldList,
    },
    Resubmit(FieldList),
    Recirculate(FieldList),
    Digest(u32),
    Exit,
    /// Forward to the operation of this index.
    Jump(u32),
    JumpUnless {
        condition: Condition,
        to: u32,
    },
}

/// An action: its primitives, and the runtime data the control plane gives.
#[derive(Debug)]
pub(crate) struct Action {
    pub(crate) name: String,
    pub(crate) parameters: Vec<Parameter>,
    /// Words of runtime data.
    pub(crate) words: u32,
    pub(crate) operations: Vec<Operation>,
}

#[derive(Debug, Clone)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) bits: u32,
    /// First word in the runtime data; the second follows if wider than 64 bits.
    pub(crate) word: u32,
}

/// A hash or checksum over a list of fields.
#[derive(Debug)]
pub(crate) struct Calculation {
    pub(crate) algorithm: Algorithm,
    pub(crate) inputs: Vec<CalculationInput>,
    pub(crate) payload: bool,
}

#[derive(Debug)]
pub(crate) enum CalculationInput {
    /// Skipped while the header whose validity is in `valid` is invalid.
    Field {
        slot: Slot,
        bits: u32,
        valid: Option<u32>,
    },
    Constant {
        value: Box<[u8]>,
        bits: u32,
    },
    Header(HeaderSpan),
}

/// A checksum field kept or verified by a calculation.
#[derive(Debug)]
pub(crate) struct Checksum {
    pub(crate) calculation: u32,
    pub(crate) target: Store,
    pub(crate) valid: Option<u32>,
    pub(crate) condition: Option<Condition>,
}

/// A step of a control.
#[derive(Debug)]
pub(crate) enum Node {
    Condition {
        condition: Condition,
        yes: u32,
        no: u32,
    },
    Action {
        action: u32,
        next: u32,
    },
    Table {
        table: u32,
    },
}
