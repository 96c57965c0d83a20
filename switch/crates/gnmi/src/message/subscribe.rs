//! Subscribe.

use prost::{Message, Oneof};

use super::{ModelData, Notification, Path};

/// gnmi.SubscribeRequest.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct SubscribeRequest {
    /// The kind of request.
    #[prost(oneof = "request::Request", tags = "1, 3")]
    pub request: Option<request::Request>,
}

/// The kinds of a [`SubscribeRequest`].
pub mod request {
    use super::{Oneof, Poll, SubscriptionList};

    /// The request.
    #[derive(Clone, PartialEq, Eq, Oneof)]
    pub enum Request {
        /// The first message: the subscriptions.
        #[prost(message, tag = "1")]
        Subscribe(SubscriptionList),
        /// Later messages: the values are wanted now.
        #[prost(message, tag = "3")]
        Poll(Poll),
    }
}

/// gnmi.Poll.
#[derive(Clone, Copy, PartialEq, Eq, Message)]
pub struct Poll {}

/// gnmi.SubscribeResponse.
#[derive(Clone, PartialEq, Message)]
pub struct SubscribeResponse {
    /// The kind of response.
    #[prost(oneof = "response::Response", tags = "1, 3")]
    pub response: Option<response::Response>,
}

impl From<Notification> for SubscribeResponse {
    fn from(notification: Notification) -> Self {
        Self {
            response: Some(response::Response::Update(notification)),
        }
    }
}

/// The kinds of a [`SubscribeResponse`].
pub mod response {
    use super::{Notification, Oneof};

    /// The response.
    #[derive(Clone, PartialEq, Oneof)]
    pub enum Response {
        /// Values.
        #[prost(message, tag = "1")]
        Update(Notification),
        /// All present values have been sent.
        #[prost(bool, tag = "3")]
        SyncResponse(bool),
    }
}

/// gnmi.SubscriptionList.Mode.
pub mod list_mode {
    /// Samples and changes, until the client goes.
    pub const STREAM: i32 = 0;
    /// The values once.
    pub const ONCE: i32 = 1;
    /// The values whenever the client asks.
    pub const POLL: i32 = 2;
}

/// gnmi.SubscriptionList.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct SubscriptionList {
    /// The beginning of all paths.
    #[prost(message, optional, tag = "1")]
    pub prefix: Option<Path>,
    /// Subscriptions asked for.
    #[prost(message, repeated, tag = "2")]
    pub subscription: Vec<Subscription>,
    /// When values are sent (see [`list_mode`]).
    #[prost(int32, tag = "5")]
    pub mode: i32,
    /// The models to answer from.
    #[prost(message, repeated, tag = "7")]
    pub use_models: Vec<ModelData>,
    /// The encoding (see [`encoding`](super::encoding)).
    #[prost(int32, tag = "8")]
    pub encoding: i32,
    /// Whether the present values are left out.
    #[prost(bool, tag = "9")]
    pub updates_only: bool,
}

/// gnmi.SubscriptionMode.
pub mod mode {
    /// The server chooses by the leaf.
    pub const TARGET_DEFINED: i32 = 0;
    /// When it changes.
    pub const ON_CHANGE: i32 = 1;
    /// At intervals.
    pub const SAMPLE: i32 = 2;
}

/// gnmi.Subscription.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Subscription {
    /// The leaves.
    #[prost(message, optional, tag = "1")]
    pub path: Option<Path>,
    /// When, in a stream (see [`mode`]).
    #[prost(int32, tag = "2")]
    pub mode: i32,
    /// Time between samples, in ns.
    #[prost(uint64, tag = "3")]
    pub sample_interval: u64,
    /// Whether samples that have not changed are left out.
    #[prost(bool, tag = "4")]
    pub suppress_redundant: bool,
    /// Time in ns after which an unchanged value is sent again; 0 is never.
    #[prost(uint64, tag = "5")]
    pub heartbeat_interval: u64,
}
