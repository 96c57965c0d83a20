//! The adapters that attach hosts to a network.
//!
//! - [`cip`]: a Channel Interface Processor on ESCON channels, as a node with two ports per channel;
//! - [`osa2`]: an OSA-2 in LCS mode on Fast Ethernet, as a node with two ports;
//! - [`osa`]: an OSA-Express in QDIO mode with the processors that serve it, as a node with two ports;
//! - [`sna`]: SNA stations that ask over LLC2, and a host that answers, as nodes with one port;
//! - [`mod@line`]: a line with a delay and losses, for nodes that have no wires of a world, as a node with two ports;
//! - [`statistics`]: the counters. Frames are conserved: received = sent + dropped (by reason) + held.
//!
//! Nothing here chooses parameters: rates, costs, buffer sizes and timers come from the caller, who knows the source
//! that each rests on.

pub mod cip;
mod ethernet;
pub mod line;
pub mod osa;
pub mod osa2;
mod queue;
pub mod sna;
pub mod statistics;

pub use cip::{Cip, CipConfig};
pub use line::Line;
pub use osa::{Osa, OsaConfig, OsaStatistics};
pub use osa2::{Osa2, Osa2Config};
pub use sna::{SnaHost, SnaHostConfig, Stations, StationsConfig};
pub use statistics::{AdapterStatistics, DirectionStatistics};
