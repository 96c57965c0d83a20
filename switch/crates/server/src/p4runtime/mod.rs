//! P4Runtime: `service` has the calls, `arbitration` says who may write, `role` what a role may do, `configuration`
//! keeps programs, `outbox` and `digests` what waits to be told to streams, `message` the protocol's messages,
//! `words` what bmv2's clients compare.

mod arbitration;
mod configuration;
mod digests;
mod message;
mod outbox;
mod role;
mod service;
mod words;

pub use service::Service;
