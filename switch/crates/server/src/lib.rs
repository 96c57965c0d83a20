//! The servers of a switch: P4Runtime, gNMI, traces, telemetry, health and reflection, at one address, on tokio and hyper.
//!
//! ```text
//!   listen (TCP, Unix; tls) -> connections (clients, and what each holds)
//!       -> calls -> authorization (before anything is read) -> wire (messages as bytes)
//!           -> p4runtime | gnmi | traces | telemetry | health | reflection
//! ```
//!
//! The switch runs on its own thread. Its packets and digests wait in bounded queues; calls hold
//! its lock for as long as one batch of packets.
//!
//! Limits of clients are in [`limits`], their rights in `authorization`.

mod authorization;
mod calls;
mod codec;
mod config;
mod connections;
mod gnmi;
pub mod limits;
mod listen;
mod p4runtime;
mod reflection;
mod server;
mod telemetry;
pub mod tls;
mod traces;
mod wire;

use std::time::SystemTime;

pub use config::{
    Authorization, Binding, ClientCertificates, Manners, Node, Object, RoleRights, ServerConfig,
    TlsFiles, UnixSocket,
};
pub use server::{Server, ServerError};

/// Nanoseconds since 1970.
fn wall_ns() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    i64::try_from(since.unwrap_or_default().as_nanos()).unwrap_or(i64::MAX)
}
