//! Paths.

use std::collections::BTreeMap;

use prost::Message;

/// gnmi.Path.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct Path {
    /// Names only, as before gNMI 0.4.
    #[prost(string, repeated, tag = "1")]
    pub element: Vec<String>,
    /// The authority for the names.
    #[prost(string, tag = "2")]
    pub origin: String,
    /// The levels.
    #[prost(message, repeated, tag = "3")]
    pub elem: Vec<PathElem>,
    /// Which device is meant; in a prefix only.
    #[prost(string, tag = "4")]
    pub target: String,
}

/// gnmi.PathElem.
#[derive(Clone, PartialEq, Eq, Message)]
pub struct PathElem {
    /// The name of the node.
    #[prost(string, tag = "1")]
    pub name: String,
    /// The keys of the list entry.
    #[prost(btree_map = "string, string", tag = "2")]
    pub key: BTreeMap<String, String>,
}
