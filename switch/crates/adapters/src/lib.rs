//! Adapters between hosts and a network.
//!
//! - [`cip`]: a Channel Interface Processor on ESCON channels; two ports per channel;
//! - [`osa2`]: an OSA-2 in LCS mode on Fast Ethernet; two ports;
//! - [`osa`]: an OSA-Express in QDIO mode with the processors that serve it; two ports;
//! - [`sna`]: SNA stations that ask over LLC2, and a host that answers; one port each;
//! - [`mod@line`]: a line with a delay and losses, for nodes without a world's wires; two ports;
//! - [`statistics`]: the counters. Frames are conserved: received = sent + dropped (by reason) + held.
//!
//! The caller chooses all parameters (rates, costs, buffer sizes, timers) and knows their sources.

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
