use super::extract::ExtractPlan;
use super::instruction::Address;
use super::slot::{HeaderSpan, LayoutField, WordField};

/// How one header type lies in a packet. The first word of an instance is its validity.
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

#[derive(Debug, Clone, Copy)]
pub(crate) struct Stack {
    pub(crate) first: HeaderSpan,
    pub(crate) size: u32,
    /// Word that holds the index of the element the next `extract` fills.
    pub(crate) next: u32,
}

/// Writes a frame: statements, then the headers, each if it is valid.
#[derive(Debug, Default)]
pub(crate) struct Deparser {
    pub(crate) emitted: Vec<HeaderSpan>,
    /// Whether every header emitted is a whole number of bytes.
    pub(crate) in_bytes: bool,
    /// The statements, up to an `End`.
    pub(crate) start: Option<Address>,
}

/// Standard metadata that the target uses; `None` if the program's v1model has no such field.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StandardMetadata {
    pub(crate) ingress_port: Option<WordField>,
    pub(crate) egress_spec: Option<WordField>,
    pub(crate) egress_port: Option<WordField>,
    pub(crate) packet_length: Option<WordField>,
    pub(crate) enq_timestamp: Option<WordField>,
    pub(crate) enq_qdepth: Option<WordField>,
    pub(crate) deq_timedelta: Option<WordField>,
    pub(crate) deq_qdepth: Option<WordField>,
    pub(crate) ingress_global_timestamp: Option<WordField>,
    pub(crate) egress_global_timestamp: Option<WordField>,
    pub(crate) mcast_grp: Option<WordField>,
    pub(crate) checksum_error: Option<WordField>,
    pub(crate) parser_error: Option<WordField>,
    pub(crate) priority: Option<WordField>,
    pub(crate) instance_type: Option<WordField>,
    pub(crate) egress_rid: Option<WordField>,
}

impl StandardMetadata {
    /// The words of the fields that there are.
    pub(crate) fn words(&self) -> impl Iterator<Item = u32> {
        let fields = [
            self.ingress_port,
            self.egress_spec,
            self.egress_port,
            self.packet_length,
            self.enq_timestamp,
            self.enq_qdepth,
            self.deq_timedelta,
            self.deq_qdepth,
            self.ingress_global_timestamp,
            self.egress_global_timestamp,
            self.mcast_grp,
            self.checksum_error,
            self.parser_error,
            self.priority,
            self.instance_type,
            self.egress_rid,
        ];
        fields.into_iter().flatten().map(|field| field.word)
    }
}

/// A header type, or a struct of metadata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderTypeInfo {
    /// Its name in the artifact.
    pub name: String,
    /// Fields in order: name and width in bits, which is zero for a varbit.
    pub fields: Vec<(String, u32)>,
}
