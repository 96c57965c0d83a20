//! The messages of P4Runtime (packages p4.v1 and p4.config.v1) as far as they are looked into here.
//!
//! Field numbers are the protocol's. What is not declared is skipped when a message is read, as protobuf wants it, and
//! never written.

pub(crate) mod entity;
pub(crate) mod p4info;
pub(crate) mod request;

/// google.protobuf.Any, which is only ever refused.
#[derive(Clone, PartialEq, Eq, prost::Message)]
pub(crate) struct Any {
    #[prost(string, tag = "1")]
    pub type_url: String,
}
