//! The hosts at the ends of a network, and the traffic they make.
//!
//! - [`tcp_host`]: a host with several IPv4 addresses, any number of TCP connections (smoltcp, Reno) and UDP, as a node
//!   with one port;
//! - [`traffic`]: the kinds of traffic between hosts, with their parameters;
//! - `script`: the programs that TCP connections run for it;
//! - `udp`: datagrams that carry their number and time of sending, and their sink;
//! - [`sna`]: the frames of SNA on a LAN;
//! - [`replay`]: an end station that sends given frames at given times and keeps those that it receives;
//! - [`configuration`]: the parameters of a host, and how wrong values are refused;
//! - [`statistics`]: the counters. Frames are conserved: received = taken + dropped (by reason).
//!
//! Nothing here chooses parameters: rates, costs, buffer sizes and timers come from the caller, who knows the source
//! that each rests on.

pub mod configuration;
mod connection;
mod datagram;
mod device;
pub mod frame;
pub mod replay;
mod script;
pub mod sna;
pub mod statistics;
pub mod tcp_host;
pub mod traffic;
mod udp;

pub use configuration::{ConfigError, CongestionControl, HostConfig};
pub use replay::Replay;
pub use statistics::{FlowStatistics, HostStatistics, Received, Transaction};
pub use tcp_host::TcpHost;
pub use traffic::{Answers, Ends, Flow, Pattern, Service, Traffic};

/// The port of a host, and the host's side of an adapter.
pub const HOST_PORT: phb_network::Port = 0;
/// The network's side of an adapter.
pub const NETWORK_PORT: phb_network::Port = 1;
