//! The operations that need more operands than an instruction has room for.

use super::instruction::{Comparison, Place};
use super::slot::{FieldList, HeaderSpan, VariablePlace, WordField};

/// Words `first` and those after it, least significant first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) first: Place,
    pub(crate) words: u16,
}

/// An operation on numbers of more than a word. Operands shorter than the result are extended;
/// results and operands overlap only where the operation goes word by word.
#[derive(Debug, Clone)]
pub(crate) struct WideOperation {
    pub(crate) kind: Wide,
    pub(crate) to: Span,
    pub(crate) left: Span,
    pub(crate) left_signed: bool,
    pub(crate) right: Span,
    pub(crate) right_signed: bool,
}

#[derive(Debug, Clone)]
pub(crate) enum Wide {
    /// Extends or cuts to the words of the result.
    Copy,
    Not,
    Add,
    Subtract,
    Multiply,
    And,
    Or,
    Xor,
    /// By the word `right`.
    ShiftLeft,
    ShiftRight,
    /// Unsigned; division by zero gives zero. The words at `Span` are for the remainder.
    Divide(Span),
    Modulo(Span),
    /// Clears all but the low bits, or extends the lowest bits' sign.
    Fit {
        bits: u32,
        signed: bool,
    },
    /// Limits to what a number of a width holds.
    Clamp {
        bits: u32,
        signed: bool,
    },
    /// 1 or 0 to the first word of the result.
    Compare(Comparison),
    /// The low word of a number from 0 to 2^64-1; 2^64-1 for others.
    Amount,
}

/// A header an instruction works on: always the same, or the element of a stack a word picks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct HeaderReference {
    pub(crate) first: HeaderSpan,
    /// Word of the index, and number of elements.
    pub(crate) element: Option<(Place, u32)>,
}

/// Fields of stack elements, `stride` words apart.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Element {
    pub(crate) first: Span,
    pub(crate) stride: u32,
    pub(crate) size: u32,
    pub(crate) index: Place,
}

#[derive(Debug, Clone)]
pub(crate) enum ExternOperation {
    /// Zero beyond the end of the stack.
    LoadElement {
        element: Element,
        to: Span,
    },
    /// Nothing beyond the end of the stack.
    StoreElement {
        element: Element,
        from: Span,
    },
    CopyVariable {
        from: VariablePlace,
        to: VariablePlace,
    },
    /// Whether two varbits have the same length and bits: 1 or 0.
    EqualVariable {
        left: VariablePlace,
        right: VariablePlace,
        to: Place,
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
    /// Of stacks that share one next index.
    PushFront {
        stacks: Box<[u32]>,
        count: u32,
    },
    PopFront {
        stacks: Box<[u32]>,
        count: u32,
    },
    /// Invalidates the other members of a union whose member with this validity is valid.
    OnlyMember {
        valid: u32,
        others: Box<[u32]>,
    },
    MarkToDrop {
        egress_spec: Option<WordField>,
        mcast_grp: Option<WordField>,
    },
    ReadWideRegister {
        register: u32,
        index: Place,
        to: Span,
    },
    WriteWideRegister {
        register: u32,
        index: Place,
        from: Span,
    },
    ExecuteMeter {
        meter: u32,
        index: Place,
        to: Place,
    },
    Hash {
        to: Place,
        base: Place,
        calculation: u32,
        modulus: Place,
    },
    /// A hash as it is.
    Calculate {
        to: Place,
        calculation: u32,
    },
    /// Adds the 16-bit words of a calculation's fields to a sum, or takes them off
    /// (one's complement).
    AddToSum {
        state: Place,
        calculation: u32,
        subtract: bool,
    },
    Random {
        to: Place,
        low: Place,
        high: Place,
    },
    FailedAssertion,
    Log {
        message: u32,
    },
    Truncate(Place),
    Clone {
        session: Place,
        fields: FieldList,
    },
    Resubmit(FieldList),
    Recirculate(FieldList),
    Digest(u32),
}
