//! P4Runtime: `service` has the calls, `arbitration` the primaries, `role` the rights of roles, `configuration` the
//! programs, `outbox` and `digests` messages that wait for streams, `message` the protocol's messages, `words` messages
//! of bmv2 that its clients compare.

mod arbitration;
mod configuration;
mod digests;
mod message;
mod outbox;
mod role;
mod service;
mod words;

pub use configuration::{Loaded, none_yet};
pub use service::Service;
