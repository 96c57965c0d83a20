//! p4.config.v1.P4Info.

use std::collections::BTreeMap;

use prost::{Message, Oneof};

use super::Any;

#[derive(Clone, PartialEq, Message)]
pub(crate) struct P4Info {
    #[prost(message, repeated, tag = "2")]
    pub tables: Vec<Table>,
    #[prost(message, repeated, tag = "3")]
    pub actions: Vec<Action>,
    #[prost(message, repeated, tag = "4")]
    pub action_profiles: Vec<ActionProfile>,
    #[prost(message, repeated, tag = "5")]
    pub counters: Vec<Array>,
    #[prost(message, repeated, tag = "6")]
    pub direct_counters: Vec<DirectResource>,
    #[prost(message, repeated, tag = "7")]
    pub meters: Vec<Array>,
    #[prost(message, repeated, tag = "8")]
    pub direct_meters: Vec<DirectResource>,
    #[prost(message, repeated, tag = "9")]
    pub controller_packet_metadata: Vec<ControllerHeader>,
    #[prost(message, repeated, tag = "10")]
    pub value_sets: Vec<ValueSet>,
    #[prost(message, repeated, tag = "11")]
    pub registers: Vec<Register>,
    #[prost(message, repeated, tag = "12")]
    pub digests: Vec<Digest>,
    #[prost(message, optional, tag = "200")]
    pub type_info: Option<TypeInfo>,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct Preamble {
    #[prost(uint32, tag = "1")]
    pub id: u32,
    #[prost(string, tag = "2")]
    pub name: String,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Table {
    #[prost(message, optional, tag = "1")]
    pub preamble: Option<Preamble>,
    #[prost(message, repeated, tag = "2")]
    pub match_fields: Vec<MatchField>,
    #[prost(message, repeated, tag = "3")]
    pub action_refs: Vec<ActionRef>,
    #[prost(uint32, tag = "4")]
    pub const_default_action_id: u32,
    /// TableActionCall, whose fields are numbered as those of p4.v1.Action.
    #[prost(message, optional, tag = "5")]
    pub initial_default_action: Option<super::entity::Action>,
    #[prost(uint32, tag = "6")]
    pub implementation_id: u32,
    #[prost(uint32, repeated, tag = "7")]
    pub direct_resource_ids: Vec<u32>,
    #[prost(int64, tag = "8")]
    pub size: i64,
    #[prost(int32, tag = "9")]
    pub idle_timeout_behavior: i32,
    #[prost(bool, tag = "10")]
    pub is_const_table: bool,
}

/// p4.config.v1.MatchField; its kind as numbers of MatchType.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct MatchField {
    #[prost(uint32, tag = "1")]
    pub id: u32,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(int32, tag = "4")]
    pub bitwidth: i32,
    #[prost(int32, tag = "5")]
    pub match_type: i32,
    #[prost(message, optional, tag = "8")]
    pub type_name: Option<NamedType>,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct ActionRef {
    #[prost(uint32, tag = "1")]
    pub id: u32,
    #[prost(int32, tag = "3")]
    pub scope: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Action {
    #[prost(message, optional, tag = "1")]
    pub preamble: Option<Preamble>,
    #[prost(message, repeated, tag = "2")]
    pub params: Vec<ActionParam>,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct ActionParam {
    #[prost(uint32, tag = "1")]
    pub id: u32,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(int32, tag = "4")]
    pub bitwidth: i32,
    #[prost(message, optional, tag = "6")]
    pub type_name: Option<NamedType>,
}

/// ControllerPacketMetadata.Metadata.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct HeaderField {
    #[prost(uint32, tag = "1")]
    pub id: u32,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(int32, tag = "4")]
    pub bitwidth: i32,
    #[prost(message, optional, tag = "5")]
    pub type_name: Option<NamedType>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ActionProfile {
    #[prost(message, optional, tag = "1")]
    pub preamble: Option<Preamble>,
    #[prost(uint32, repeated, tag = "2")]
    pub table_ids: Vec<u32>,
    #[prost(bool, tag = "3")]
    pub with_selector: bool,
    #[prost(int64, tag = "4")]
    pub size: i64,
    #[prost(int32, tag = "5")]
    pub max_group_size: i32,
    #[prost(message, optional, tag = "7")]
    pub sum_of_members: Option<SumOfMembers>,
    #[prost(bool, tag = "8")]
    pub weights_disallowed: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub(crate) struct SumOfMembers {
    #[prost(int32, tag = "1")]
    pub max_member_weight: i32,
}

/// p4.config.v1.Counter and p4.config.v1.Meter.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct Array {
    #[prost(message, optional, tag = "1")]
    pub preamble: Option<Preamble>,
    #[prost(message, optional, tag = "2")]
    pub spec: Option<Spec>,
    #[prost(int64, tag = "3")]
    pub size: i64,
}

/// CounterSpec and MeterSpec; only a meter has a type.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub(crate) struct Spec {
    #[prost(int32, tag = "1")]
    pub unit: i32,
    #[prost(int32, tag = "2")]
    pub kind: i32,
}

/// p4.config.v1.DirectCounter and p4.config.v1.DirectMeter.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct DirectResource {
    #[prost(message, optional, tag = "1")]
    pub preamble: Option<Preamble>,
    #[prost(message, optional, tag = "2")]
    pub spec: Option<Spec>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ControllerHeader {
    #[prost(message, optional, tag = "1")]
    pub preamble: Option<Preamble>,
    #[prost(message, repeated, tag = "2")]
    pub metadata: Vec<HeaderField>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct ValueSet {
    #[prost(message, optional, tag = "1")]
    pub preamble: Option<Preamble>,
    #[prost(message, repeated, tag = "2")]
    pub matches: Vec<MatchField>,
    #[prost(int32, tag = "3")]
    pub size: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Register {
    #[prost(message, optional, tag = "1")]
    pub preamble: Option<Preamble>,
    #[prost(message, optional, tag = "2")]
    pub type_spec: Option<DataType>,
    #[prost(int32, tag = "3")]
    pub size: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct Digest {
    #[prost(message, optional, tag = "1")]
    pub preamble: Option<Preamble>,
    #[prost(message, optional, tag = "2")]
    pub type_spec: Option<DataType>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct TypeInfo {
    #[prost(btree_map = "string, message", tag = "1")]
    pub structs: BTreeMap<String, StructType>,
    #[prost(btree_map = "string, message", tag = "2")]
    pub headers: BTreeMap<String, HeaderType>,
    #[prost(btree_map = "string, message", tag = "4")]
    pub enums: BTreeMap<String, EnumType>,
    #[prost(message, optional, tag = "5")]
    pub error: Option<ErrorType>,
    #[prost(btree_map = "string, message", tag = "6")]
    pub serializable_enums: BTreeMap<String, SerializableEnum>,
    #[prost(btree_map = "string, message", tag = "7")]
    pub new_types: BTreeMap<String, NewType>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct StructType {
    #[prost(message, repeated, tag = "1")]
    pub members: Vec<StructMember>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct StructMember {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(message, optional, tag = "2")]
    pub type_spec: Option<DataType>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct HeaderType {
    #[prost(message, repeated, tag = "1")]
    pub members: Vec<HeaderMember>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct HeaderMember {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(message, optional, tag = "2")]
    pub type_spec: Option<BitstringType>,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct EnumType {
    #[prost(message, repeated, tag = "1")]
    pub members: Vec<EnumMember>,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct EnumMember {
    #[prost(string, tag = "1")]
    pub name: String,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct ErrorType {
    #[prost(string, repeated, tag = "1")]
    pub members: Vec<String>,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct SerializableEnum {
    #[prost(message, optional, tag = "1")]
    pub underlying_type: Option<Width>,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct NewType {
    #[prost(oneof = "Representation", tags = "1, 2")]
    pub representation: Option<Representation>,
}

#[derive(Clone, PartialEq, Oneof)]
pub(crate) enum Representation {
    #[prost(message, tag = "1")]
    Original(DataType),
    #[prost(message, tag = "2")]
    Translated(Translated),
}

/// How a translated type looks to clients: a number of some width, or a string.
#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct Translated {
    #[prost(string, tag = "1")]
    pub uri: String,
    #[prost(int32, tag = "2")]
    pub sdn_bitwidth: i32,
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct DataType {
    #[prost(oneof = "DataTypeKind", tags = "1, 2, 3, 4, 5, 9, 10, 11, 12")]
    pub kind: Option<DataTypeKind>,
}

#[derive(Clone, PartialEq, Oneof)]
pub(crate) enum DataTypeKind {
    #[prost(message, tag = "1")]
    Bitstring(BitstringType),
    #[prost(message, tag = "2")]
    Bool(Any),
    #[prost(message, tag = "3")]
    Tuple(TupleType),
    #[prost(message, tag = "4")]
    Struct(NamedType),
    #[prost(message, tag = "5")]
    Header(NamedType),
    #[prost(message, tag = "9")]
    Enum(NamedType),
    #[prost(message, tag = "10")]
    Error(Any),
    #[prost(message, tag = "11")]
    SerializableEnum(NamedType),
    #[prost(message, tag = "12")]
    NewType(NamedType),
}

#[derive(Clone, PartialEq, Message)]
pub(crate) struct TupleType {
    #[prost(message, repeated, tag = "1")]
    pub members: Vec<DataType>,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct NamedType {
    #[prost(string, tag = "1")]
    pub name: String,
}

#[derive(Clone, PartialEq, Eq, Message)]
pub(crate) struct BitstringType {
    #[prost(oneof = "BitstringKind", tags = "1, 2, 3")]
    pub kind: Option<BitstringKind>,
}

#[derive(Clone, Copy, PartialEq, Eq, Oneof)]
pub(crate) enum BitstringKind {
    #[prost(message, tag = "1")]
    Bit(Width),
    #[prost(message, tag = "2")]
    Int(Width),
    #[prost(message, tag = "3")]
    Varbit(Width),
}

#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub(crate) struct Width {
    #[prost(int32, tag = "1")]
    pub bitwidth: i32,
}
