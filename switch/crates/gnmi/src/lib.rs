//! gNMI without gRPC: what Capabilities, Get, Set and Subscribe mean for one switch, with `OpenConfig` paths.
//!
//! ```text
//!   SetRequest -> paths, leaves -> a copy of the settings -> checked whole -> ports of the SwitchNode
//!
//!   SwitchNode, attachments, settings, server's counters -> snapshot -> Get: documents or leaves
//!                                                                   \-> Subscribe: samples and changes
//! ```
//!
//! The gRPC server passes messages on, gives the time, and decides who may call.
//!
//! In reading order: [`message`] (the protocol's messages), `paths`, `schema` (the models' leaves), `path_message` and
//! `pattern`, `encoding` and `flatten` (values out and in), `settings`, `counted`, `state` and `snapshot` (all leaves of one moment),
//! `tree`, `get`, `subscribe`.

mod counted;
mod counters;
mod encoding;
mod flatten;
mod get;
mod interface;
mod json;
pub mod message;
mod path_message;
mod paths;
mod pattern;
mod refusal;
mod schema;
mod settings;
mod snapshot;
mod state;
mod subscribe;
mod tree;
mod value;

pub use counters::ServerCounters;
pub use interface::{Attachment, Attachments};
pub use paths::{Element, Path};
pub use phb_p4runtime::status::{Code, Refusal};
pub use subscribe::Subscriber;
pub use tree::Tree;
