//! The requests and answers that carry entities.

use prost::Message;

use super::entity::Entity;

#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct Uint128 {
    #[prost(uint64, tag = "1")]
    pub high: u64,
    #[prost(uint64, tag = "2")]
    pub low: u64,
}

/// p4.v1.WriteRequest without its updates, which are decoded one at a time.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Write {
    #[prost(uint64, tag = "1")]
    pub device_id: u64,
    #[prost(uint64, tag = "2")]
    pub role_id: u64,
    #[prost(message, optional, tag = "3")]
    pub election_id: Option<Uint128>,
    #[prost(int32, tag = "5")]
    pub atomicity: i32,
    #[prost(string, tag = "6")]
    pub role: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Update {
    #[prost(int32, tag = "1")]
    pub kind: i32,
    #[prost(message, optional, tag = "2")]
    pub entity: Option<Entity>,
}

/// p4.v1.ReadRequest without its entities, which are decoded one at a time.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Read {
    #[prost(uint64, tag = "1")]
    pub device_id: u64,
    #[prost(string, tag = "3")]
    pub role: String,
}

/// p4.v1.PacketOut, and p4.v1.PacketIn, which has the same fields.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct ControllerPacket {
    #[prost(bytes = "vec", tag = "1")]
    pub payload: Vec<u8>,
    #[prost(message, repeated, tag = "2")]
    pub metadata: Vec<PacketMetadata>,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct PacketMetadata {
    #[prost(uint32, tag = "1")]
    pub metadata_id: u32,
    #[prost(bytes = "vec", tag = "2")]
    pub value: Vec<u8>,
}

/// p4.v1.StreamMessageResponse with a packet.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct PacketResponse {
    #[prost(message, optional, tag = "2")]
    pub packet: Option<ControllerPacket>,
}
