//! Values, and the notifications that they travel in.

use prost::{Message, Oneof};

use super::Path;

/// gnmi.Encoding.
pub mod encoding {
    /// JSON.
    pub const JSON: i32 = 0;
    /// Octets.
    pub const BYTES: i32 = 1;
    /// Typed scalars.
    pub const PROTO: i32 = 2;
    /// Text as a command line has it.
    pub const ASCII: i32 = 3;
    /// JSON by RFC 7951.
    pub const JSON_IETF: i32 = 4;
}

/// gnmi.Notification.
#[derive(Clone, PartialEq, Message)]
pub struct Notification {
    /// Time of the values, in ns since 1970.
    #[prost(int64, tag = "1")]
    pub timestamp: i64,
    /// The beginning of all paths.
    #[prost(message, optional, tag = "2")]
    pub prefix: Option<Path>,
    /// Values.
    #[prost(message, repeated, tag = "4")]
    pub update: Vec<Update>,
    /// Paths that have been deleted.
    #[prost(message, repeated, tag = "5")]
    pub delete: Vec<Path>,
    /// Whether all below the prefix is replaced.
    #[prost(bool, tag = "6")]
    pub atomic: bool,
}

/// gnmi.Update.
#[derive(Clone, PartialEq, Message)]
pub struct Update {
    /// The path.
    #[prost(message, optional, tag = "1")]
    pub path: Option<Path>,
    /// The value.
    #[prost(message, optional, tag = "3")]
    pub val: Option<TypedValue>,
    /// How many values before this one were left out.
    #[prost(uint32, tag = "4")]
    pub duplicates: u32,
}

/// gnmi.TypedValue.
#[derive(Clone, PartialEq, Message)]
pub struct TypedValue {
    /// The value.
    #[prost(
        oneof = "typed_value::Value",
        tags = "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14"
    )]
    pub value: Option<typed_value::Value>,
}

impl From<typed_value::Value> for TypedValue {
    fn from(value: typed_value::Value) -> Self {
        Self { value: Some(value) }
    }
}

/// gnmi.ScalarArray.
#[derive(Clone, PartialEq, Message)]
pub struct ScalarArray {
    /// The elements.
    #[prost(message, repeated, tag = "1")]
    pub element: Vec<TypedValue>,
}

/// A message that is always refused: its content is skipped.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct Unread {}

/// The kinds of a [`TypedValue`].
pub mod typed_value {
    use super::{Oneof, ScalarArray, Unread};

    /// The value.
    #[derive(Clone, PartialEq, Oneof)]
    pub enum Value {
        /// Text.
        #[prost(string, tag = "1")]
        StringVal(String),
        /// A signed number.
        #[prost(int64, tag = "2")]
        IntVal(i64),
        /// A number.
        #[prost(uint64, tag = "3")]
        UintVal(u64),
        /// True or false.
        #[prost(bool, tag = "4")]
        BoolVal(bool),
        /// Octets.
        #[prost(bytes = "vec", tag = "5")]
        BytesVal(Vec<u8>),
        /// A number with a fraction.
        #[prost(float, tag = "6")]
        FloatVal(f32),
        /// gnmi.Decimal64.
        #[prost(message, tag = "7")]
        DecimalVal(Unread),
        /// gnmi.ScalarArray.
        #[prost(message, tag = "8")]
        LeaflistVal(ScalarArray),
        /// google.protobuf.Any.
        #[prost(message, tag = "9")]
        AnyVal(Unread),
        /// JSON.
        #[prost(bytes = "vec", tag = "10")]
        JsonVal(Vec<u8>),
        /// JSON by RFC 7951.
        #[prost(bytes = "vec", tag = "11")]
        JsonIetfVal(Vec<u8>),
        /// Text as a command line has it.
        #[prost(string, tag = "12")]
        AsciiVal(String),
        /// A serialized message.
        #[prost(bytes = "vec", tag = "13")]
        ProtoBytes(Vec<u8>),
        /// A number with a fraction.
        #[prost(double, tag = "14")]
        DoubleVal(f64),
    }

    impl Value {
        /// The field's name in the protocol.
        #[must_use]
        pub fn field(&self) -> &'static str {
            match self {
                Self::StringVal(_) => "string_val",
                Self::IntVal(_) => "int_val",
                Self::UintVal(_) => "uint_val",
                Self::BoolVal(_) => "bool_val",
                Self::BytesVal(_) => "bytes_val",
                Self::FloatVal(_) => "float_val",
                Self::DecimalVal(_) => "decimal_val",
                Self::LeaflistVal(_) => "leaflist_val",
                Self::AnyVal(_) => "any_val",
                Self::JsonVal(_) => "json_val",
                Self::JsonIetfVal(_) => "json_ietf_val",
                Self::AsciiVal(_) => "ascii_val",
                Self::ProtoBytes(_) => "proto_bytes",
                Self::DoubleVal(_) => "double_val",
            }
        }
    }
}
