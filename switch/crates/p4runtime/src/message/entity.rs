//! p4.v1.Entity and its kinds.

use prost::{Message, Oneof};

use super::Any;

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Entity {
    #[prost(oneof = "Kind", tags = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12")]
    pub kind: Option<Kind>,
}

#[derive(Clone, PartialEq, Oneof)]
#[allow(clippy::large_enum_variant)] // a batch holds table entries, which a box would only slow down
pub(crate) enum Kind {
    #[prost(message, tag = "1")]
    Extern(ExternEntry),
    #[prost(message, tag = "2")]
    Table(TableEntry),
    #[prost(message, tag = "3")]
    Member(ActionProfileMember),
    #[prost(message, tag = "4")]
    Group(ActionProfileGroup),
    #[prost(message, tag = "5")]
    Meter(MeterEntry),
    #[prost(message, tag = "6")]
    DirectMeter(DirectMeterEntry),
    #[prost(message, tag = "7")]
    Counter(CounterEntry),
    #[prost(message, tag = "8")]
    DirectCounter(DirectCounterEntry),
    #[prost(message, tag = "9")]
    Replication(PacketReplicationEngineEntry),
    #[prost(message, tag = "10")]
    ValueSet(ValueSetEntry),
    #[prost(message, tag = "11")]
    Register(RegisterEntry),
    #[prost(message, tag = "12")]
    Digest(DigestEntry),
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct ExternEntry {
    #[prost(uint32, tag = "1")]
    pub extern_type_id: u32,
    #[prost(uint32, tag = "2")]
    pub extern_id: u32,
    #[prost(message, optional, tag = "3")]
    pub entry: Option<Any>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct TableEntry {
    #[prost(uint32, tag = "1")]
    pub table_id: u32,
    #[prost(message, repeated, tag = "2")]
    pub matches: Vec<FieldMatch>,
    #[prost(message, optional, tag = "3")]
    pub action: Option<TableAction>,
    #[prost(int32, tag = "4")]
    pub priority: i32,
    #[prost(uint64, tag = "5")]
    pub controller_metadata: u64,
    #[prost(message, optional, tag = "6")]
    pub meter_config: Option<MeterConfig>,
    #[prost(message, optional, tag = "7")]
    pub counter_data: Option<CounterData>,
    #[prost(bool, tag = "8")]
    pub is_default_action: bool,
    #[prost(int64, tag = "9")]
    pub idle_timeout_ns: i64,
    #[prost(message, optional, tag = "10")]
    pub time_since_last_hit: Option<IdleTimeout>,
    #[prost(bytes = "vec", tag = "11")]
    pub metadata: Vec<u8>,
    #[prost(message, optional, tag = "12")]
    pub meter_counter_data: Option<MeterCounterData>,
    #[prost(bool, tag = "13")]
    pub is_const: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub(crate) struct IdleTimeout {
    #[prost(int64, tag = "1")]
    pub elapsed_ns: i64,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct FieldMatch {
    #[prost(uint32, tag = "1")]
    pub field_id: u32,
    #[prost(oneof = "FieldMatchKind", tags = "2, 3, 4, 6, 7, 100")]
    pub kind: Option<FieldMatchKind>,
}

#[derive(Clone, PartialEq, Eq, Oneof)]
pub(crate) enum FieldMatchKind {
    #[prost(message, tag = "2")]
    Exact(OneValue),
    #[prost(message, tag = "3")]
    Ternary(TwoValues),
    #[prost(message, tag = "4")]
    Lpm(Prefix),
    #[prost(message, tag = "6")]
    Range(TwoValues),
    #[prost(message, tag = "7")]
    Optional(OneValue),
    #[prost(message, tag = "100")]
    Other(Any),
}

/// FieldMatch.Exact and FieldMatch.Optional.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct OneValue {
    #[prost(bytes = "vec", tag = "1")]
    pub value: Vec<u8>,
}

/// FieldMatch.Ternary (value, mask) and FieldMatch.Range (low, high).
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct TwoValues {
    #[prost(bytes = "vec", tag = "1")]
    pub first: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    pub second: Vec<u8>,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct Prefix {
    #[prost(bytes = "vec", tag = "1")]
    pub value: Vec<u8>,
    #[prost(int32, tag = "2")]
    pub prefix_len: i32,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct TableAction {
    #[prost(oneof = "TableActionKind", tags = "1, 2, 3, 4")]
    pub kind: Option<TableActionKind>,
}

#[derive(Clone, PartialEq, Eq, Oneof)]
pub(crate) enum TableActionKind {
    #[prost(message, tag = "1")]
    Action(Action),
    #[prost(uint32, tag = "2")]
    Member(u32),
    #[prost(uint32, tag = "3")]
    Group(u32),
    #[prost(message, tag = "4")]
    Set(ActionProfileActionSet),
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct Action {
    #[prost(uint32, tag = "1")]
    pub action_id: u32,
    #[prost(message, repeated, tag = "4")]
    pub params: Vec<ActionParam>,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct ActionParam {
    #[prost(uint32, tag = "2")]
    pub param_id: u32,
    #[prost(bytes = "vec", tag = "3")]
    pub value: Vec<u8>,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct ActionProfileActionSet {
    #[prost(message, repeated, tag = "1")]
    pub actions: Vec<ActionProfileAction>,
    #[prost(int32, tag = "2")]
    pub action_selection_mode: i32,
    #[prost(int32, tag = "3")]
    pub size_semantics: i32,
    #[prost(message, optional, tag = "5")]
    pub group_action: Option<Action>,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct ActionProfileAction {
    #[prost(message, optional, tag = "1")]
    pub action: Option<Action>,
    #[prost(int32, tag = "2")]
    pub weight: i32,
    #[prost(oneof = "WatchKind", tags = "3, 4")]
    pub watch: Option<WatchKind>,
}

#[derive(Clone, PartialEq, Eq, Oneof)]
pub(crate) enum WatchKind {
    #[prost(int32, tag = "3")]
    Watch(i32),
    #[prost(bytes, tag = "4")]
    WatchPort(Vec<u8>),
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct ActionProfileMember {
    #[prost(uint32, tag = "1")]
    pub action_profile_id: u32,
    #[prost(uint32, tag = "2")]
    pub member_id: u32,
    #[prost(message, optional, tag = "3")]
    pub action: Option<Action>,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct ActionProfileGroup {
    #[prost(uint32, tag = "1")]
    pub action_profile_id: u32,
    #[prost(uint32, tag = "2")]
    pub group_id: u32,
    #[prost(message, repeated, tag = "3")]
    pub members: Vec<GroupMember>,
    #[prost(int32, tag = "4")]
    pub max_size: i32,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct GroupMember {
    #[prost(uint32, tag = "1")]
    pub member_id: u32,
    #[prost(int32, tag = "2")]
    pub weight: i32,
    #[prost(oneof = "WatchKind", tags = "3, 4")]
    pub watch: Option<WatchKind>,
}

#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub(crate) struct Index {
    #[prost(int64, tag = "1")]
    pub index: i64,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct MeterEntry {
    #[prost(uint32, tag = "1")]
    pub meter_id: u32,
    #[prost(message, optional, tag = "2")]
    pub index: Option<Index>,
    #[prost(message, optional, tag = "3")]
    pub config: Option<MeterConfig>,
    #[prost(message, optional, tag = "4")]
    pub counter_data: Option<MeterCounterData>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct DirectMeterEntry {
    #[prost(message, optional, tag = "1")]
    pub table_entry: Option<TableEntry>,
    #[prost(message, optional, tag = "2")]
    pub config: Option<MeterConfig>,
    #[prost(message, optional, tag = "3")]
    pub counter_data: Option<MeterCounterData>,
}

#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub(crate) struct MeterConfig {
    #[prost(int64, tag = "1")]
    pub cir: i64,
    #[prost(int64, tag = "2")]
    pub cburst: i64,
    #[prost(int64, tag = "3")]
    pub pir: i64,
    #[prost(int64, tag = "4")]
    pub pburst: i64,
    #[prost(int64, tag = "5")]
    pub eburst: i64,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct CounterEntry {
    #[prost(uint32, tag = "1")]
    pub counter_id: u32,
    #[prost(message, optional, tag = "2")]
    pub index: Option<Index>,
    #[prost(message, optional, tag = "3")]
    pub data: Option<CounterData>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct DirectCounterEntry {
    #[prost(message, optional, tag = "1")]
    pub table_entry: Option<TableEntry>,
    #[prost(message, optional, tag = "2")]
    pub data: Option<CounterData>,
}

#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub(crate) struct CounterData {
    #[prost(int64, tag = "1")]
    pub byte_count: i64,
    #[prost(int64, tag = "2")]
    pub packet_count: i64,
}

#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub(crate) struct MeterCounterData {
    #[prost(message, optional, tag = "1")]
    pub green: Option<CounterData>,
    #[prost(message, optional, tag = "2")]
    pub yellow: Option<CounterData>,
    #[prost(message, optional, tag = "3")]
    pub red: Option<CounterData>,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct PacketReplicationEngineEntry {
    #[prost(oneof = "ReplicationKind", tags = "1, 2")]
    pub kind: Option<ReplicationKind>,
}

#[derive(Clone, PartialEq, Eq, Oneof)]
pub(crate) enum ReplicationKind {
    #[prost(message, tag = "1")]
    Multicast(MulticastGroupEntry),
    #[prost(message, tag = "2")]
    Clone(CloneSessionEntry),
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct MulticastGroupEntry {
    #[prost(uint32, tag = "1")]
    pub multicast_group_id: u32,
    #[prost(message, repeated, tag = "2")]
    pub replicas: Vec<Replica>,
    #[prost(bytes = "vec", tag = "3")]
    pub metadata: Vec<u8>,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct CloneSessionEntry {
    #[prost(uint32, tag = "1")]
    pub session_id: u32,
    #[prost(message, repeated, tag = "2")]
    pub replicas: Vec<Replica>,
    #[prost(uint32, tag = "3")]
    pub class_of_service: u32,
    #[prost(int32, tag = "4")]
    pub packet_length_bytes: i32,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct Replica {
    #[prost(oneof = "ReplicaPort", tags = "1, 3")]
    pub port: Option<ReplicaPort>,
    #[prost(uint32, tag = "2")]
    pub instance: u32,
    #[prost(message, repeated, tag = "4")]
    pub backup_replicas: Vec<BackupReplica>,
}

#[derive(Clone, PartialEq, Eq, Oneof)]
pub(crate) enum ReplicaPort {
    #[prost(uint32, tag = "1")]
    EgressPort(u32),
    #[prost(bytes, tag = "3")]
    Port(Vec<u8>),
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct BackupReplica {
    #[prost(bytes = "vec", tag = "1")]
    pub port: Vec<u8>,
    #[prost(uint32, tag = "2")]
    pub instance: u32,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct ValueSetMember {
    #[prost(message, repeated, tag = "1")]
    pub matches: Vec<FieldMatch>,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct ValueSetEntry {
    #[prost(uint32, tag = "1")]
    pub value_set_id: u32,
    #[prost(message, repeated, tag = "2")]
    pub members: Vec<ValueSetMember>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct RegisterEntry {
    #[prost(uint32, tag = "1")]
    pub register_id: u32,
    #[prost(message, optional, tag = "2")]
    pub index: Option<Index>,
    #[prost(message, optional, tag = "3")]
    pub data: Option<P4Data>,
}

/// p4.v1.P4Data: only the kinds that v1model's registers and digests need.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct P4Data {
    #[prost(oneof = "DataKind", tags = "1, 3, 4, 5, 6, 10, 11, 12")]
    pub kind: Option<DataKind>,
}

#[derive(Clone, PartialEq, Oneof)]
pub(crate) enum DataKind {
    #[prost(bytes, tag = "1")]
    Bitstring(Vec<u8>),
    #[prost(bool, tag = "3")]
    Bool(bool),
    #[prost(message, tag = "4")]
    Tuple(Members),
    #[prost(message, tag = "5")]
    Struct(Members),
    #[prost(message, tag = "6")]
    Header(Header),
    #[prost(string, tag = "10")]
    Enum(String),
    #[prost(string, tag = "11")]
    Error(String),
    #[prost(bytes, tag = "12")]
    EnumValue(Vec<u8>),
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct Header {
    #[prost(bool, tag = "1")]
    pub is_valid: bool,
    #[prost(bytes = "vec", repeated, tag = "2")]
    pub bitstrings: Vec<Vec<u8>>,
}

/// p4.v1.P4StructLike.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Members {
    #[prost(message, repeated, tag = "1")]
    pub members: Vec<P4Data>,
}

#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub(crate) struct DigestEntry {
    #[prost(uint32, tag = "1")]
    pub digest_id: u32,
    #[prost(message, optional, tag = "2")]
    pub config: Option<DigestConfig>,
}

#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub(crate) struct DigestConfig {
    #[prost(int64, tag = "1")]
    pub max_timeout_ns: i64,
    #[prost(int32, tag = "2")]
    pub max_list_size: i32,
    #[prost(int64, tag = "3")]
    pub ack_timeout_ns: i64,
}
