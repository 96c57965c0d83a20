//! Hosts at the ends of a network, and their traffic.
//!
//! - [`tcp_host`]: a host with several IPv4 addresses, TCP (smoltcp, Reno) and UDP;
//! - [`traffic`]: the kinds of traffic between hosts, with their parameters;
//! - `script`: programs that run on TCP connections;
//! - `udp`: numbered datagrams with their time of sending, and their sink;
//! - `stamp`: test packets (STAMP) that a server's host sends back, with four times in each;
//! - `checksum`: TCP's;
//! - [`sna`]: the frames of SNA on a LAN;
//! - [`replay`]: an end station that sends given frames at given times and keeps received ones;
//! - [`configuration`]: parameters of a host and their checks;
//! - [`statistics`]: the counters. Frames are conserved: received = taken + dropped (by reason).
//!
//! The caller chooses all parameters (rates, costs, buffer sizes, timers) and knows their sources.

mod checksum;
pub mod configuration;
mod connection;
mod datagram;
mod device;
pub mod frame;
pub mod replay;
mod script;
pub mod sna;
mod stamp;
pub mod statistics;
pub mod tcp_host;
pub mod traffic;
mod udp;

pub use configuration::{ConfigError, CongestionControl, HostConfig};
pub use replay::Replay;
pub use statistics::{FlowStatistics, HostStatistics, Probe, Received, Transaction};
pub use tcp_host::TcpHost;
pub use traffic::{Answers, Ends, Flow, Pattern, Service, Traffic};

/// Port of a host, and an adapter's port towards the host.
pub const HOST_PORT: phb_network::Port = 0;
/// An adapter's port towards the network.
pub const NETWORK_PORT: phb_network::Port = 1;
