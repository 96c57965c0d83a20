//! Limits of a server's resources for each client and for all together. docs/operate/p4runtime.md has this as a table.
//!
//! A client is a certificate, or else an address; users of a Unix socket are one. Everything that a
//! client holds is bounded, and given back when it goes.

use std::time::Duration;

/// Connections at one time. Further ones take the place of those that have been without a call the longest.
pub const CONNECTIONS: usize = 8192;
/// Connections of one address: three quarters of all.
pub const CONNECTIONS_OF_ONE: usize = 6144;
/// A connection that has never made a call is closed after this time.
pub const FIRST_CALL: Duration = Duration::from_secs(120);
/// A connection without a call is closed after this time; clients open another one when they need it.
pub const IDLE_CONNECTION: Duration = Duration::from_secs(900);
/// TLS's handshake takes this long at most.
pub const HANDSHAKE: Duration = Duration::from_secs(10);
/// How often clients are pinged: a primary whose machine died must not stay one until TCP gives up.
pub const KEEPALIVE: Duration = Duration::from_secs(20);
/// How long the answer may take.
pub const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(10);

/// Calls and streams of one connection at one time.
pub const CALLS_OF_A_CONNECTION: u32 = 1280;
/// Calls at one time that are not StreamChannels.
pub const CALLS: usize = 1024;
/// Those of one client.
pub const CALLS_OF_ONE: usize = 256;
/// Reads at one time: each keeps what it reads as it was when it began.
pub const READS: usize = 64;
/// Those of one client.
pub const READS_OF_ONE: usize = 16;
/// gNMI subscriptions at one time.
pub const SUBSCRIPTIONS: usize = 128;
/// Those of one client.
pub const SUBSCRIPTIONS_OF_ONE: usize = 64;

/// Watches of traces at one time: each packet is looked at by each.
pub const WATCHES: usize = 16;
/// Those of one client.
pub const WATCHES_OF_ONE: usize = 8;
/// Traces that wait for one watch. What comes on top is left out, and counted in the next one.
pub const WAITING_TRACES: usize = 4096;
/// Their bytes.
pub const WAITING_TRACE_BYTES: usize = 8 << 20;

/// Watches of telemetry at one time.
pub const TELEMETRIES: usize = 64;
/// Those of one client.
pub const TELEMETRIES_OF_ONE: usize = 16;
/// Cells that all of them watch, each kept twice: 16 bytes of a counter, 8 of a register.
pub const CELLS: usize = 6 << 20;
/// Those of one client.
pub const CELLS_OF_ONE: usize = 4 << 20;
/// Ranges of one watch.
pub const RANGES: usize = 4096;
/// Cells of one message of a sample: at most 25 bytes each, far below the 4 MB that clients accept by default.
pub const CELLS_OF_A_MESSAGE: usize = 32 << 10;
/// Time from one sample to the next.
pub const LEAST_INTERVAL: Duration = Duration::from_millis(10);

/// StreamChannels at one time. A further one is refused, and ends the oldest that has not arbitrated.
pub const STREAMS: usize = 2048;
/// Those of one client.
pub const STREAMS_OF_ONE: usize = 1024;
/// A stream that has not arbitrated ends after this time without a message.
pub const SILENT_STREAM: Duration = Duration::from_secs(120);
/// Streams of one role.
pub const STREAMS_OF_A_ROLE: usize = 64;
/// Roles that have streams.
pub const ROLES: usize = 256;
/// Roles without streams whose highest election id is remembered; the one left first is forgotten first.
pub const ROLES_REMEMBERED: usize = 1024;
/// Bytes of a role's name.
pub const ROLE_NAME_BYTES: usize = 256;

/// Bytes of a role's `role.config`.
pub const ROLE_CONFIG_BYTES: usize = 8 << 10;

/// Bytes of the metadata of a call.
pub const METADATA_BYTES: u32 = 16 << 10;
/// Bytes of one message: a Write, or a program with its p4info.
pub const MESSAGE_BYTES: usize = 64 << 20;
/// Bytes of a message of any other call.
pub const SMALL_MESSAGE_BYTES: usize = 4 << 20;
/// Bytes of a message to StreamChannel: a packet of 64 KB with its metadata.
pub const STREAM_MESSAGE_BYTES: usize = 128 << 10;
/// Bytes of a p4info, which becomes some forty times as large while it is looked into.
pub const P4INFO_BYTES: usize = 2 << 20;
/// Bytes of a program, which become some sixty times as large while it is loaded.
pub const PROGRAM_BYTES: usize = 8 << 20;
/// Bytes of messages that are being read, or wait to be carried out or taken.
pub const HELD_BYTES: usize = 256 << 20;
/// Those of one client.
pub const HELD_BYTES_OF_ONE: usize = 128 << 20;
/// How long a request may take to arrive.
pub const ARRIVAL: Duration = Duration::from_secs(60);
/// How long an answer waits for a client that doesn't take it.
pub const UNREAD: Duration = Duration::from_secs(60);

/// Packets, digests and the like that wait for one stream. What comes on top is dropped, as the specification allows.
pub const WAITING: usize = 4096;
/// Their bytes.
pub const WAITING_BYTES: usize = 4 << 20;
/// Bytes that wait for all streams.
pub const WAITING_BYTES_IN_ALL: usize = 64 << 20;
/// Answers to a stream's own messages that wait; with that many, nothing more is read from it.
pub const ANSWERS: usize = 64;
/// Their bytes.
pub const ANSWER_BYTES: usize = 64 << 10;
/// How often idle entries are looked for.
pub const IDLE_LOOK: Duration = Duration::from_millis(100);
/// Packet-outs that wait for the switch.
pub const PACKET_OUTS: usize = 16_384;
/// Their bytes.
pub const PACKET_OUT_BYTES: usize = 32 << 20;

/// Bytes that HTTP/2 buffers of a stream whose receiver doesn't read, in either direction.
pub const STREAM_WINDOW: u32 = 64 << 10;
/// Bytes that it buffers of a connection; half may be headers, as a stream may have thousands.
pub const CONNECTION_WINDOW: u32 = 4 << 20;
