//! A switch as a node: the pipeline decides about packets, a traffic manager per port paces them.
//!
//! ```text
//!            +-------------------------- SwitchNode ---------------------------+
//! receive -> | ingress -> verdict -> queue of a port  -> egress -> ring, line  | -> send
//!            |    ^              (by rank or priority)               |         |
//!            +----|--------------------------------------------------|---------+
//!             packet-out                                         packet-in        (the CPU port)
//! ```
//!
//! In reading order:
//!
//! - [`switch`]: [`SwitchNode`], driven by a [`World`](phb_network::World) or a [`RealTime`];
//! - [`path`]: the way of a packet in between, with its copies and passes;
//! - `ports`: the ports, with the packets that wait there;
//! - `idle`: entries that no packet has hit for long;
//! - [`replication`]: multicast groups and clone sessions;
//! - [`statistics`]: the counters, and the law that they obey;
//! - [`mod@write`]: batches of control-plane changes, undone as a whole where asked;
//! - [`control`]: the same for switches that several servers program;
//! - [`packet_in`] and [`digests`]: frames and messages on their way to a controller;
//! - [`packet_log`]: a log of what happens to packets;
//! - [`tracing`]: what happens to single packets, step by step;
//! - [`realtime`]: the runner on ports and the monotonic clock.

pub mod control;
pub mod digests;
mod idle;
pub mod packet_in;
pub mod packet_log;
pub mod path;
mod ports;
pub mod realtime;
pub mod replication;
pub mod statistics;
pub mod switch;
pub mod tracing;
pub mod write;

pub use control::{Control, Done, Plan};
pub use digests::Digests;
pub use packet_in::{Listener, PacketIns};
pub use packet_log::{LoggedPacket, PacketEvent, PacketLog};
pub use phb_traffic_manager::DEFAULT_BUFFER_PACKETS;
pub use ports::unlimited;
pub use realtime::{LiveNode, RealTime, Report, RunnerConfig};
pub use replication::{CloneSession, Replica, Replication};
pub use statistics::{DropReason, Drops, PortStatistics, QueueStatistics, Statistics};
pub use switch::{Clock, SwitchConfig, SwitchNode, Waker};
pub use tracing::{Traced, Watch};
pub use write::{Cells, EntryWrites, Failure, Member, Update};
