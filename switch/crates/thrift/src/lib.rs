//! bmv2's runtime services over Thrift: `standard`, `simple_pre`, `simple_pre_lag` and `simple_switch`, as
//! `simple_switch_CLI`, `runtime_CLI.py` and p4-utils call them.
//!
//! ```text
//!   server (connections, and what each may hold) -> wire (messages as values) -> call (service, method, arguments)
//!       -> standard | multicast | simple_switch -> the switch, by way of [`Control`](phb_node::Control)
//! ```
//!
//! Method names, field numbers and codes are those of bmv2 1.15's services. There are no generated files: a method takes
//! the fields it knows out of the message, and a field that is missing is zero or empty, as in Thrift. The switch holds
//! the truth: entries have the handles that their place in the table gives them, and what another server writes is read
//! here. Only what P4Runtime has no words for is kept here: multicast nodes, LAGs, and the members that are default.
//!
//! In reading order: [`limits`], `wire`, `call`, `artifact` (what only the artifact says of a program), `standard`
//! (tables, action profiles, arrays, value sets, the switch itself), `multicast`, `simple_switch`, `learning` and `notifications` (what
//! programs learn, to subscribers of nanomsg's protocol), `server`.

mod artifact;
mod call;
mod learning;
pub mod limits;
mod multicast;
mod notifications;
mod server;
mod simple_switch;
mod standard;
mod wire;

pub use call::{PortInfo, Switch};
pub use server::{Address, Server};
