//! The lowered program: what the loader makes of an artifact and execution walks through. Indices only, no names but
//! those the control plane asks for.

use crate::externs::hash::Algorithm;
use crate::extract::ExtractPlan;
use crate::instruction::{
    Address, ExternOperation, HeaderReference, Instruction, Place, Span, WideOperation,
};
use crate::packet::{Fit, Slot};
use crate::runtime::HeaderTypeInfo;

/// "No further node" in control flow, "accept" in the parser.
pub(crate) const END: u32 = u32::MAX;

/// A whole artifact.
#[derive(Debug, Default)]
pub(crate) struct Program {
    /// Words and bytes a packet needs.
    pub(crate) words: u32,
    pub(crate) bytes: u32,
    pub(crate) layouts: Vec<Layout>,
    /// The same types as the sources name them.
    pub(crate) header_types: Vec<HeaderTypeInfo>,
    pub(crate) stacks: Vec<Stack>,
    pub(crate) standard: StandardMetadata,
    /// `tm.rank`, the field a program gives its scheduling rank in.
    pub(crate) rank: Option<u32>,
    /// `tm.bucket`, `tm.rate`, `tm.burst` and `tm.bytes`, the fields by which a program shapes a packet's class.
    pub(crate) shaping: Option<[u32; 4]>,
    /// `tm.push_out`, the field by which a program says that there is room for a packet only in the place of another.
    pub(crate) push_out: Option<u32>,
    /// `tm.pushed_out`, the field by which a program learns that a packet that was dropped had been queued.
    pub(crate) pushed_out: Option<u32>,
    /// `tm.dropped`, the field by which a program learns that a packet it has queued was dropped.
    pub(crate) dropped: Option<u32>,
    pub(crate) errors: ErrorCodes,
    pub(crate) states: Vec<State>,
    pub(crate) initial_state: u32,
    pub(crate) actions: Vec<Action>,
    pub(crate) calculations: Vec<Calculation>,
    pub(crate) code: Vec<Instruction>,
    pub(crate) wide: Vec<WideOperation>,
    pub(crate) externs: Vec<ExternOperation>,
    /// Where the parameters of the action that runs are.
    pub(crate) parameters: u32,
    pub(crate) ingress: Address,
    pub(crate) egress: Address,
    pub(crate) verified: Vec<Checksum>,
    pub(crate) updated: Vec<Checksum>,
    pub(crate) emitted: Vec<HeaderSpan>,
    /// Whether every header emitted is a whole number of bytes.
    pub(crate) emitted_in_bytes: bool,
    /// Words and bytes of metadata: the first of a packet.
    pub(crate) metadata_words: u32,
    pub(crate) metadata_bytes: u32,
    /// What copies keep, by [`crate::packet::FieldList`].
    pub(crate) field_lists: Vec<Vec<Slot>>,
    pub(crate) digests: Vec<DigestFields>,
    pub(crate) value_sets: Vec<ValueSet>,
    pub(crate) messages: Vec<LogMessage>,
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
    /// The word of the varbit's length, relative to the instance.
    pub(crate) variable: Option<u32>,
    /// How the fields are read and written a word at a time, if there is no varbit.
    pub(crate) plan: Option<ExtractPlan>,
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
    /// Words the next state is chosen by.
    pub(crate) keys: Vec<Place>,
    pub(crate) cases: Cases,
    /// Next state when no case matches; `None` is the error NoMatch.
    pub(crate) otherwise: Option<u32>,
}

/// How a state chooses the next.
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

#[derive(Debug)]
pub(crate) enum SelectCondition {
    /// Value and mask per key word.
    Masked(Box<[(u64, u64)]>),
    /// Membership in a value set.
    Member(u32),
}

/// A set of select values that the control plane fills.
#[derive(Debug)]
pub(crate) struct ValueSet {
    pub(crate) name: String,
    pub(crate) size: u32,
    /// Width of each field; none if no state uses the set.
    pub(crate) bits: Vec<u32>,
    /// Value and mask per key word.
    pub(crate) members: Vec<Box<[(u64, u64)]>>,
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
        /// A word that is not zero if all is well.
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

/// An action: its instructions, and the runtime data the control plane gives.
#[derive(Debug)]
pub(crate) struct Action {
    pub(crate) name: String,
    pub(crate) parameters: Vec<Parameter>,
    /// Words of runtime data.
    pub(crate) words: u32,
    /// None if it does nothing but its settings.
    pub(crate) start: Option<Address>,
    /// What a table that takes it does before the instructions.
    pub(crate) settings: Box<[Setting]>,
    /// Whether the instructions read the runtime data.
    pub(crate) reads_parameters: bool,
}

/// A word that is given a value which needs no computing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setting {
    /// The word of this number of the runtime data.
    Parameter {
        parameter: u16,
        to: Place,
    },
    Constant {
        to: Place,
        value: u64,
    },
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
    /// How to add up the fields without writing them down, where that is possible.
    pub(crate) sum: Option<crate::checksum::Sum>,
    /// How to write them down byte by byte, where that is possible.
    pub(crate) bytes: Option<crate::checksum::Bytes>,
    pub(crate) inputs: Vec<CalculationInput>,
    pub(crate) payload: bool,
}

#[derive(Debug)]
pub(crate) enum CalculationInput {
    /// Skipped while the header whose validity is in `valid` is invalid.
    Field {
        slot: Slot,
        bits: u32,
        signed: bool,
        valid: Option<u32>,
    },
    Constant {
        value: Box<[u8]>,
        bits: u32,
    },
    Header(HeaderSpan),
}

/// A checksum field kept or verified by a calculation.
#[derive(Debug, Clone)]
pub(crate) struct Checksum {
    pub(crate) calculation: u32,
    pub(crate) target: Store,
    pub(crate) valid: Option<u32>,
    pub(crate) condition: Option<Guard>,
}

/// A condition outside of controls.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Guard {
    /// The instructions that compute it, if any.
    pub(crate) start: Option<Address>,
    /// The word that is not zero if it holds.
    pub(crate) word: Place,
}

/// The text of a `log_msg`: what stands before each value, the value, and what follows the last.
#[derive(Debug)]
pub(crate) struct LogMessage {
    pub(crate) parts: Vec<(String, Span)>,
    pub(crate) end: String,
}
