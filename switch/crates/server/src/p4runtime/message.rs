//! P4Runtime's messages that are not about entities (package p4.v1; without a comment, by their
//! names). Field numbers are the protocol's. Messages only passed on (packets, p4infos) stay bytes:
//! protobuf encodes both alike.

use bytes::Bytes;
use prost::{Message, Oneof};

/// p4.v1.Uint128.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct Uint128 {
    #[prost(uint64, tag = "1")]
    pub high: u64,
    #[prost(uint64, tag = "2")]
    pub low: u64,
}

impl From<u128> for Uint128 {
    fn from(value: u128) -> Self {
        Self {
            high: (value >> 64) as u64,
            low: value as u64,
        }
    }
}

impl From<Uint128> for u128 {
    fn from(value: Uint128) -> Self {
        Self::from(value.high) << 64 | Self::from(value.low)
    }
}

/// google.protobuf.Any.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Any {
    #[prost(string, tag = "1")]
    pub type_url: String,
    #[prost(bytes = "bytes", tag = "2")]
    pub value: Bytes,
}

/// google.rpc.Status.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Status {
    #[prost(int32, tag = "1")]
    pub code: i32,
    #[prost(string, tag = "2")]
    pub message: String,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub struct Role {
    #[prost(uint64, tag = "1")]
    pub id: u64,
    #[prost(message, optional, tag = "2")]
    pub config: Option<Any>,
    #[prost(string, tag = "3")]
    pub name: String,
}

/// p4.v1.MasterArbitrationUpdate.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Arbitration {
    #[prost(uint64, tag = "1")]
    pub device_id: u64,
    #[prost(message, optional, tag = "2")]
    pub role: Option<Role>,
    #[prost(message, optional, tag = "3")]
    pub election_id: Option<Uint128>,
    #[prost(message, optional, tag = "4")]
    pub status: Option<Status>,
}

#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct DigestListAck {
    #[prost(uint32, tag = "1")]
    pub digest_id: u32,
    #[prost(uint64, tag = "2")]
    pub list_id: u64,
}

/// p4.v1.StreamMessageRequest.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct StreamRequest {
    #[prost(oneof = "StreamUpdate", tags = "1, 2, 3, 4")]
    pub update: Option<StreamUpdate>,
}

/// A client's message on its stream.
#[derive(Clone, PartialEq, Eq, Oneof)]
pub enum StreamUpdate {
    #[prost(message, tag = "1")]
    Arbitration(Arbitration),
    #[prost(bytes = "bytes", tag = "2")]
    Packet(Bytes),
    #[prost(message, tag = "3")]
    DigestAck(DigestListAck),
    #[prost(bytes = "bytes", tag = "4")]
    Other(Bytes),
}

/// p4.v1.StreamMessageResponse, but for packets, which have one of their own.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct StreamResponse {
    #[prost(oneof = "StreamAnswer", tags = "1, 3, 4, 6")]
    pub update: Option<StreamAnswer>,
}

/// The server's message on a stream.
#[derive(Clone, PartialEq, Eq, Oneof)]
pub enum StreamAnswer {
    #[prost(message, tag = "1")]
    Arbitration(Arbitration),
    #[prost(message, tag = "3")]
    Digest(DigestList),
    #[prost(message, tag = "4")]
    Idle(IdleTimeoutNotification),
    #[prost(message, tag = "6")]
    Error(StreamError),
}

#[derive(Clone, PartialEq, Eq, Message)]
pub struct DigestList {
    #[prost(uint32, tag = "1")]
    pub digest_id: u32,
    #[prost(uint64, tag = "2")]
    pub list_id: u64,
    #[prost(bytes = "bytes", repeated, tag = "3")]
    pub data: Vec<Bytes>,
    #[prost(int64, tag = "4")]
    pub timestamp: i64,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub struct IdleTimeoutNotification {
    #[prost(bytes = "bytes", repeated, tag = "1")]
    pub table_entry: Vec<Bytes>,
    #[prost(int64, tag = "2")]
    pub timestamp: i64,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub struct StreamError {
    #[prost(int32, tag = "1")]
    pub canonical_code: i32,
    #[prost(string, tag = "2")]
    pub message: String,
    #[prost(oneof = "StreamErrorDetails", tags = "5, 6, 7")]
    pub details: Option<StreamErrorDetails>,
}

/// Which message of the client was wrong; each kind holds it in its field 1.
#[derive(Clone, PartialEq, Eq, Oneof)]
pub enum StreamErrorDetails {
    #[prost(message, tag = "5")]
    PacketOut(Inside),
    #[prost(message, tag = "6")]
    DigestListAck(Inside),
    #[prost(message, tag = "7")]
    Other(Inside),
}

/// A message that holds another one in its field 1, as PacketOutError does.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Inside {
    #[prost(bytes = "bytes", optional, tag = "1")]
    pub message: Option<Bytes>,
}

/// p4.v1.ForwardingPipelineConfig.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct PipelineConfig {
    #[prost(bytes = "bytes", optional, tag = "1")]
    pub p4info: Option<Bytes>,
    #[prost(bytes = "bytes", tag = "2")]
    pub p4_device_config: Bytes,
    #[prost(message, optional, tag = "3")]
    pub cookie: Option<Cookie>,
}

/// p4.v1.ForwardingPipelineConfig.Cookie.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct Cookie {
    #[prost(uint64, tag = "1")]
    pub cookie: u64,
}

/// p4.v1.SetForwardingPipelineConfigRequest.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct SetPipelineConfig {
    #[prost(uint64, tag = "1")]
    pub device_id: u64,
    #[prost(message, optional, tag = "3")]
    pub election_id: Option<Uint128>,
    #[prost(int32, tag = "4")]
    pub action: i32,
    #[prost(message, optional, tag = "5")]
    pub config: Option<PipelineConfig>,
    #[prost(string, tag = "6")]
    pub role: String,
}

/// p4.v1.GetForwardingPipelineConfigRequest.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct GetPipelineConfig {
    #[prost(uint64, tag = "1")]
    pub device_id: u64,
    #[prost(int32, tag = "2")]
    pub response_type: i32,
}

/// p4.v1.GetForwardingPipelineConfigResponse.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct GotPipelineConfig {
    #[prost(message, optional, tag = "1")]
    pub config: Option<PipelineConfig>,
}

#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct CapabilitiesRequest {
    #[prost(uint64, tag = "1")]
    pub device_id: u64,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub struct CapabilitiesResponse {
    #[prost(string, tag = "1")]
    pub p4runtime_api_version: String,
}

/// p4.tmp.P4DeviceConfig, in which clients of PI's early days wrap the program.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct WrappedDeviceConfig {
    #[prost(bytes = "bytes", tag = "3")]
    pub device_data: Bytes,
}

/// stratum.P4RoleConfig, which finsy and Stratum's controllers send as `role.config`.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct RoleConfig {
    #[prost(uint32, repeated, tag = "1")]
    pub exclusive_p4_ids: Vec<u32>,
    #[prost(uint32, repeated, tag = "2")]
    pub shared_p4_ids: Vec<u32>,
    #[prost(message, optional, tag = "3")]
    pub packet_in_filter: Option<PacketFilter>,
    #[prost(bool, tag = "4")]
    pub receives_packet_ins: bool,
    #[prost(bool, tag = "5")]
    pub can_push_pipeline: bool,
}

/// stratum.P4RoleConfig.PacketFilter.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct PacketFilter {
    #[prost(uint32, tag = "1")]
    pub metadata_id: u32,
    #[prost(bytes = "vec", tag = "2")]
    pub value: Vec<u8>,
}
