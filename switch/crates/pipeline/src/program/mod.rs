//! A program as plain data: the loader makes it of an artifact, executors run it. Everything goes
//! by index; names are only for the control plane. It imports none of its users.

mod accesses;
mod action;
mod calculation;
mod crc;
mod externs;
mod extract;
mod hash;
mod header;
mod instruction;
mod message;
mod names;
mod operation;
mod parser;
mod psa;
mod slot;
mod table;

use std::sync::Arc;

pub(crate) use accesses::{kept, observed, operands, parser_operands, reads, results};
pub(crate) use action::{Action, Parameter, Setting};
pub(crate) use calculation::{
    BUFFER, Bytes, Calculation, CalculationInput, Checksum, Guard, LongPart, Sum,
};
pub(crate) use crc::Crc;
pub use crc::CrcParameters;
pub(crate) use externs::{CounterShape, MeterShape, RegisterShape, Unit};
pub(crate) use extract::{ExtractPlan, FieldRead};
pub(crate) use hash::{Algorithm, finish_sum, sum_of};
#[cfg(feature = "native")]
pub(crate) use hash::{CRC16, CRC32};
pub use header::HeaderTypeInfo;
pub(crate) use header::{Deparser, Layout, Stack, StandardMetadata};
pub(crate) use instruction::{Address, Comparison, Instruction, Operator, Place};
pub(crate) use message::{DigestFields, LogMessage};
pub(crate) use names::{ActionNames, FieldName, HeaderName, Mark, MarkKind, NO_FIELD};
pub use names::{Dictionary, Source};
pub(crate) use operation::{Element, ExternOperation, HeaderReference, Span, Wide, WideOperation};
pub(crate) use parser::{
    Cases, ErrorCodes, MOST_STATES, MaskedWords, ParserOperation, ParserState, SelectCase,
    SelectCondition, ValueSetShape, View,
};
pub(crate) use psa::{Psa, PsaFields};
pub use slot::FieldList;
pub(crate) use slot::{Fit, HeaderSpan, LayoutField, Slot, VariablePlace, WordField, fit};
pub use table::MatchKind;
pub(crate) use table::{
    ActionChoice, DirectMeter, Key, ProfileShape, ProgramEntry, Selector, TableAction, TableShape,
    column_mask, columns_of, prefix_words, words_of,
};

/// "No further node" in control flow, "accept" in the parser.
pub(crate) const END: u32 = u32::MAX;

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
    /// `tm.rank`: the scheduling rank.
    pub(crate) rank: Option<u32>,
    /// `tm.bucket`, `tm.rate`, `tm.burst` and `tm.bytes`: the shaping of a packet's class.
    pub(crate) shaping: Option<[u32; 4]>,
    /// `tm.push_out`: there is room for a packet only in the place of another.
    pub(crate) push_out: Option<u32>,
    /// `tm.pushed_out`: a dropped packet had been queued.
    pub(crate) pushed_out: Option<u32>,
    /// `tm.dropped`: a packet that the program has queued was dropped.
    pub(crate) dropped: Option<u32>,
    pub(crate) errors: ErrorCodes,
    pub(crate) states: Vec<ParserState>,
    pub(crate) initial_state: u32,
    pub(crate) actions: Vec<Action>,
    pub(crate) calculations: Vec<Calculation>,
    /// Names and numbers of those that are custom CRCs.
    pub(crate) custom_crcs: Vec<(String, u32)>,
    pub(crate) code: Vec<Instruction>,
    pub(crate) wide: Vec<WideOperation>,
    pub(crate) operations: Vec<ExternOperation>,
    /// Where the parameters of the action that runs are.
    pub(crate) parameters: u32,
    pub(crate) ingress: Address,
    pub(crate) egress: Address,
    pub(crate) verified: Vec<Checksum>,
    pub(crate) updated: Vec<Checksum>,
    /// What writes the frame that leaves.
    pub(crate) deparser: Deparser,
    /// What a program for PSA has besides.
    pub(crate) psa: Option<Psa>,
    /// It is a program of the Portable NIC Architecture (PNA).
    pub(crate) is_pna: bool,
    /// Words and bytes of metadata: the first of a packet.
    pub(crate) metadata_words: u32,
    pub(crate) metadata_bytes: u32,
    /// The fields that copies keep, by [`FieldList`].
    pub(crate) field_lists: Vec<Vec<Slot>>,
    pub(crate) tables: Vec<Arc<TableShape>>,
    pub(crate) counters: Vec<CounterShape>,
    pub(crate) registers: Vec<RegisterShape>,
    pub(crate) meters: Vec<MeterShape>,
    pub(crate) digests: Vec<DigestFields>,
    pub(crate) value_sets: Vec<ValueSetShape>,
    pub(crate) messages: Vec<LogMessage>,
}
