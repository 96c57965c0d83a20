//! The parser: states, and how each chooses the next.

use super::instruction::{Address, Place};
use super::operation::{HeaderReference, Span};
use super::slot::HeaderSpan;

/// The program's numbers for the parser errors of core.p4.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct ErrorCodes {
    pub(crate) no_error: u64,
    pub(crate) packet_too_short: u64,
    pub(crate) no_match: u64,
    pub(crate) stack_out_of_bounds: u64,
    pub(crate) header_too_short: u64,
    pub(crate) parser_timeout: u64,
    pub(crate) parser_invalid_argument: u64,
}

/// States per packet before the error ParserTimeout: a parser may loop without extracting.
pub(crate) const MOST_STATES: usize = 4096;

#[derive(Debug)]
pub(crate) struct ParserState {
    pub(crate) operations: Vec<ParserOperation>,
    /// Words the next state is chosen by.
    pub(crate) keys: Vec<Place>,
    pub(crate) cases: Cases,
    /// Next state when no case matches; `None` is the error NoMatch.
    pub(crate) otherwise: Option<u32>,
}

impl ParserState {
    /// The states that may come next, in the order in which they are looked at.
    pub(crate) fn successors(&self) -> impl Iterator<Item = u32> {
        let (exact, any): (&[_], &[_]) = match &self.cases {
            Cases::Exact(cases) => (cases, &[]),
            Cases::Any(cases) => (&[], cases),
        };
        let exact = exact.iter().map(|&(_, next)| next);
        let any = any.iter().map(|case| case.next);
        exact.chain(any).chain(self.otherwise)
    }
}

#[derive(Debug)]
pub(crate) enum Cases {
    /// By the whole of one word: values, ascending, and next states.
    Exact(Vec<(u64, u32)>),
    /// One case after the other.
    Any(Vec<SelectCase>),
}

#[derive(Debug)]
pub(crate) struct SelectCase {
    pub(crate) condition: SelectCondition,
    pub(crate) next: u32,
}

/// Value and mask per key word.
pub(crate) type MaskedWords = Box<[(u64, u64)]>;

#[derive(Debug)]
pub(crate) enum SelectCondition {
    Masked(MaskedWords),
    Member(u32),
}

#[derive(Debug)]
pub(crate) struct ValueSetShape {
    pub(crate) name: String,
    pub(crate) size: u32,
    /// Width of each field; none if no state uses the set.
    pub(crate) bits: Vec<u32>,
    /// What the control plane doesn't write itself: another set as a state sees it.
    pub(crate) view: Option<View>,
}

/// A set whose members are those of another, the same bits cut into other fields.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct View {
    pub(crate) of: u32,
    /// The bits that count, word by word.
    pub(crate) masks: Box<[u64]>,
}

#[derive(Debug)]
pub(crate) enum ParserOperation {
    /// A header of fixed length that stands for itself.
    ExtractFixed(HeaderSpan),
    Extract {
        header: HeaderReference,
        /// The word with the bits of the varbit.
        variable_bits: Option<Place>,
        /// Validity of the headers that cannot be valid at the same time.
        others: Box<[u32]>,
    },
    ExtractNext {
        stack: u32,
        variable_bits: Option<Place>,
        /// Stacks whose element of the same index cannot be valid at the same time.
        others: Box<[u32]>,
    },
    Lookahead {
        to: Span,
        offset: u32,
        bits: u32,
    },
    Verify {
        /// Not zero if all is well.
        condition: Place,
        error: Place,
    },
    Advance {
        bits: Place,
    },
    Copy {
        from: Place,
        to: Place,
    },
    /// Instructions, up to an `End`.
    Code(Address),
}
