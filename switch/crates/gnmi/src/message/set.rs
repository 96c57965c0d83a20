//! Set.

use prost::Message;

use super::{Path, Update};

/// gnmi.SetRequest.
#[derive(Clone, PartialEq, Message)]
pub struct SetRequest {
    /// What all paths begin with.
    #[prost(message, optional, tag = "1")]
    pub prefix: Option<Path>,
    /// What goes.
    #[prost(message, repeated, tag = "2")]
    pub delete: Vec<Path>,
    /// What goes and comes anew.
    #[prost(message, repeated, tag = "3")]
    pub replace: Vec<Update>,
    /// What is added or changed.
    #[prost(message, repeated, tag = "4")]
    pub update: Vec<Update>,
    /// What is replaced from several origins.
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
    /// Where.
    #[prost(message, optional, tag = "2")]
    pub path: Option<Path>,
    /// What was done (see [`operation`]).
    #[prost(int32, tag = "4")]
    pub op: i32,
}
