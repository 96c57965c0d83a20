//! Set.

use prost::Message;

use super::{Path, Update};

/// gnmi.SetRequest.
#[derive(Clone, PartialEq, Message)]
pub struct SetRequest {
    /// The beginning of all paths.
    #[prost(message, optional, tag = "1")]
    pub prefix: Option<Path>,
    /// Paths to delete.
    #[prost(message, repeated, tag = "2")]
    pub delete: Vec<Path>,
    /// Values that replace all at or below their paths.
    #[prost(message, repeated, tag = "3")]
    pub replace: Vec<Update>,
    /// Values to add or change.
    #[prost(message, repeated, tag = "4")]
    pub update: Vec<Update>,
    /// Values that replace those of several origins.
    #[prost(message, repeated, tag = "6")]
    pub union_replace: Vec<Update>,
}

/// gnmi.SetResponse.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct SetResponse {
    /// The request's.
    #[prost(message, optional, tag = "1")]
    pub prefix: Option<Path>,
    /// One for each operation of the request.
    #[prost(message, repeated, tag = "2")]
    pub response: Vec<UpdateResult>,
    /// When it was done, in ns since 1970.
    #[prost(int64, tag = "4")]
    pub timestamp: i64,
}

/// gnmi.UpdateResult.Operation.
pub mod operation {
    /// A deletion.
    pub const DELETE: i32 = 1;
    /// A replacement.
    pub const REPLACE: i32 = 2;
    /// An update.
    pub const UPDATE: i32 = 3;
}

/// gnmi.UpdateResult.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct UpdateResult {
    /// The path set.
    #[prost(message, optional, tag = "2")]
    pub path: Option<Path>,
    /// The operation done (see [`operation`]).
    #[prost(int32, tag = "4")]
    pub op: i32,
}
