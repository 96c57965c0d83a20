//! What a program of the Portable Switch Architecture (PSA) has besides that of v1model: a parser
//! and a deparser of its own for either half, and the architecture's metadata.

use super::header::Deparser;
use super::slot::WordField;

#[derive(Debug)]
pub(crate) struct Psa {
    /// The first state of the egress parser.
    pub(crate) egress_state: u32,
    pub(crate) ingress_deparser: Deparser,
    pub(crate) fields: PsaFields,
}

/// The fields of PSA's metadata, each called as its struct and itself.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PsaFields {
    pub(crate) ingress_parser_port: WordField,
    pub(crate) ingress_parser_path: WordField,
    pub(crate) ingress_port: WordField,
    pub(crate) ingress_path: WordField,
    pub(crate) ingress_timestamp: WordField,
    pub(crate) ingress_error: WordField,
    pub(crate) class_of_service: WordField,
    pub(crate) ingress_clone: WordField,
    pub(crate) ingress_session: WordField,
    pub(crate) ingress_drop: WordField,
    pub(crate) resubmit: WordField,
    pub(crate) multicast_group: WordField,
    pub(crate) out_port: WordField,
    pub(crate) egress_parser_port: WordField,
    pub(crate) egress_parser_path: WordField,
    pub(crate) egress_class: WordField,
    pub(crate) egress_port: WordField,
    pub(crate) egress_path: WordField,
    pub(crate) instance: WordField,
    pub(crate) egress_timestamp: WordField,
    pub(crate) egress_error: WordField,
    pub(crate) egress_clone: WordField,
    pub(crate) egress_session: WordField,
    pub(crate) egress_drop: WordField,
    pub(crate) deparser_port: WordField,
}
