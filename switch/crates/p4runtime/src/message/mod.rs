//! The parts of P4Runtime's messages (packages p4.v1 and p4.config.v1) that are used here.
//!
//! Field numbers are the protocol's. Undeclared fields are skipped when read, and never written.

pub(crate) mod entity;
pub(crate) mod p4info;
pub(crate) mod request;

/// google.protobuf.Any, which is always refused.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub(crate) struct Any {
    #[prost(string, tag = "1")]
    pub type_url: String,
}
