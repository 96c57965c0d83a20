//! A switch as a node: the pipeline decides about a packet, the traffic manager of its egress port sorts and paces it.
//!
//! ```text
//!            +-------------------------- SwitchNode ---------------------------+
//! receive -> | ingress -> verdict -> PIFO of the port -> egress -> ring, line  | -> send
//!            |    ^                        (by rank)                 |         |
//!            +----|--------------------------------------------------|---------+
//!             packet-out                                         packet-in        (the CPU port)
//! ```
//!
//! In reading order:
//!
//! - [`switch`]: [`SwitchNode`] itself, which a virtual [`World`](phb_network::World) or a [`RealTime`] runner drives;
//! - [`statistics`]: what it counts, and the law that the counters obey;
//! - [`write`]: batches of control-plane changes, undone as a whole where asked;
//! - [`packet_in`]: frames on their way from the CPU port to a controller;
//! - [`realtime`]: the runner on ports and the monotonic clock.

pub mod packet_in;
pub mod realtime;
pub mod statistics;
pub mod switch;
pub mod write;

pub use packet_in::PacketIns;
pub use realtime::{RealTime, Report, RunnerConfig};
pub use statistics::{DropReason, Drops, PortStatistics, Statistics};
pub use switch::{DEFAULT_BUFFER_PACKETS, SwitchConfig, SwitchNode, Waker, unlimited};
pub use write::{Failure, Update};
