//! Limits of what clients may hold. docs/operate/thrift.md has this as a table.

use std::time::Duration;

/// Connections at one time. A further one takes the place of the one that has been without a call the longest.
pub const CONNECTIONS: usize = 256;
/// Bytes of one message: a program is the longest.
pub const MESSAGE_BYTES: usize = 9 << 20;
/// Bytes of a program, which become some sixty times as large while it is loaded.
pub const PROGRAM_BYTES: usize = 8 << 20;
/// Values of one message: fields, elements of lists, and what they are made of.
pub const VALUES: usize = 1 << 16;
/// Structs and lists within each other.
pub const DEPTH: usize = 16;
/// Bytes of messages and answers of all clients.
pub const HELD_BYTES: usize = 256 << 20;
/// How long a message may take to arrive, once it has begun.
pub const ARRIVAL: Duration = Duration::from_secs(60);
/// How long an answer waits for a client that takes nothing of it.
pub const UNREAD: Duration = Duration::from_secs(60);
/// Entries read at a time: packets wait so long.
pub const AT_A_TIME: usize = 256;
/// Subscribers of notifications.
pub const SUBSCRIBERS: usize = 64;
/// Learned samples of a list that wait, or that nobody has acknowledged; the oldest are forgotten.
pub const SAMPLES: usize = 1 << 14;
/// Multicast nodes.
pub const NODES: usize = 1 << 16;
/// Copies that the nodes of one multicast group make.
pub const REPLICAS: usize = 1 << 16;
