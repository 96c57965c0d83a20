//! What stands at the ends of a network: TCP hosts, the traffic they make, and the adapters that attach them.
//!
//! - [`tcp_host`]: a host with several IPv4 addresses, any number of TCP connections (smoltcp, Reno) and UDP, as a node
//!   with one port;
//! - [`script`]: what its connections carry: requests and replies, messages, streams;
//! - [`udp`]: datagrams that carry their number and time of sending, and where they arrive;
//! - [`cip`]: a Channel Interface Processor on ESCON channels, as a node with two ports per channel;
//! - [`sna`]: SNA stations that ask over LLC2, and a host that answers, as nodes with one port;
//! - [`osa2`]: an OSA-2 in LCS mode on Fast Ethernet, as a node with two ports;
//! - [`osa`]: an OSA-Express in QDIO mode with the processors that serve it, as a node with two ports;
//! - [`line`]: a line with a delay and losses, for those who have no wires of a world, as a node with two ports;
//! - [`replay`]: an end station that sends given frames at given times and keeps what it receives;
//! - [`configuration`]: what they are told, and how wrong values are refused;
//! - [`statistics`]: what they count. Frames are conserved: received = sent + dropped (by reason) + held.
//!
//! Nothing here has parameters of its own: rates, costs, buffer sizes and timers come from the caller, who knows which
//! source they rest on.

pub mod cip;
pub mod configuration;
mod connection;
mod datagram;
mod device;
mod ethernet;
pub mod line;
pub mod osa;
pub mod osa2;
pub mod replay;
pub mod script;
pub mod sna;
pub mod statistics;
pub mod tcp_host;
pub mod udp;

pub use cip::{Cip, CipConfig, Mode};
pub use configuration::{ConfigError, HostConfig, TcpOptions};
pub use line::Line;
pub use osa::{Osa, OsaConfig, OsaStatistics};
pub use osa2::{Osa2, Osa2Config};
pub use replay::Replay;
pub use script::{Answers, Flow, Service, Traffic, Transaction};
pub use sna::{SnaHost, Stations, StationsConfig};
pub use statistics::{
    AdapterStatistics, DirectionStatistics, FlowStatistics, HostStatistics, Received,
};
pub use tcp_host::TcpHost;

/// The port of a host, and the host's side of an adapter.
pub const HOST_PORT: phb_network::Port = 0;
/// The network's side of an adapter.
pub const NETWORK_PORT: phb_network::Port = 1;
