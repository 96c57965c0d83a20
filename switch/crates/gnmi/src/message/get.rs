//! Capabilities and Get.

use prost::Message;

use super::{Notification, Path};

/// gnmi.CapabilityRequest.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct CapabilityRequest {}

/// gnmi.CapabilityResponse.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct CapabilityResponse {
    /// The models whose leaves are here.
    #[prost(message, repeated, tag = "1")]
    pub supported_models: Vec<ModelData>,
    /// Encodings of values.
    #[prost(int32, repeated, tag = "2")]
    pub supported_encodings: Vec<i32>,
    /// The version of gNMI.
    #[prost(string, tag = "3")]
    pub gnmi_version: String,
}

/// gnmi.ModelData.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct ModelData {
    /// The name of the model.
    #[prost(string, tag = "1")]
    pub name: String,
    /// Its publisher.
    #[prost(string, tag = "2")]
    pub organization: String,
    /// Its version.
    #[prost(string, tag = "3")]
    pub version: String,
}

/// gnmi.GetRequest.DataType.
pub mod data {
    /// All leaves.
    pub const ALL: i32 = 0;
    /// Leaves that can be set.
    pub const CONFIG: i32 = 1;
    /// Leaves that can't.
    pub const STATE: i32 = 2;
    /// Leaves about the device's operation.
    pub const OPERATIONAL: i32 = 3;
}

/// gnmi.GetRequest.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct GetRequest {
    /// The beginning of all paths.
    #[prost(message, optional, tag = "1")]
    pub prefix: Option<Path>,
    /// Paths asked for.
    #[prost(message, repeated, tag = "2")]
    pub path: Vec<Path>,
    /// Which kind of leaves (see [`data`]).
    #[prost(int32, tag = "3")]
    pub r#type: i32,
    /// The encoding (see [`encoding`](super::encoding)).
    #[prost(int32, tag = "5")]
    pub encoding: i32,
    /// The models to answer from.
    #[prost(message, repeated, tag = "6")]
    pub use_models: Vec<ModelData>,
}

/// gnmi.GetResponse.
#[derive(Clone, PartialEq, Message)]
pub struct GetResponse {
    /// One for each path.
    #[prost(message, repeated, tag = "1")]
    pub notification: Vec<Notification>,
}
