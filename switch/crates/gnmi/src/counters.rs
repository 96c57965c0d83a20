//! Counters of the servers, which the tree has below `/server/state/counters` (docs/operate/phb-server.yang).

use std::sync::atomic::{AtomicU64, Ordering};

macro_rules! counters {
    ($($(#[$doc:meta])* $field:ident = $leaf:literal,)*) => {
        /// Counters of the servers.
        #[derive(Debug, Default)]
        pub struct ServerCounters {
            $($(#[$doc])* pub $field: AtomicU64,)*
        }

        /// In the order of [`ServerCounters::read`].
        pub(crate) const LEAVES: &[&str] = &[$($leaf,)*];

        impl ServerCounters {
            pub(crate) fn read(&self) -> impl Iterator<Item = u64> {
                [$(self.$field.load(Ordering::Relaxed),)*].into_iter()
            }
        }
    };
}

counters! {
    /// Connections that clients have opened.
    connections = "connections",
    /// Connections that found no room, or whose handshake failed.
    connections_refused = "connections-refused",
    /// Streams of P4Runtime that clients have opened.
    streams = "streams",
    /// Streams that were refused.
    streams_refused = "streams-refused",
    /// Calls of all services.
    calls = "calls",
    /// Calls that were refused.
    calls_refused = "calls-refused",
    /// Bytes from clients.
    bytes_received = "bytes-received",
    /// Bytes to clients.
    bytes_sent = "bytes-sent",
    /// Packet-ins for clients.
    packet_ins_sent = "packet-ins-sent",
    /// Packet-ins that no client had room for.
    packet_ins_dropped = "packet-ins-dropped",
    /// Packet-outs of clients.
    packet_outs = "packet-outs",
    /// Packet-outs that were refused.
    packet_outs_refused = "packet-outs-refused",
    /// Digest messages for clients.
    digests_sent = "digests-sent",
    /// Digest messages that no client had room for.
    digests_dropped = "digests-dropped",
    /// Other notifications that a client was too slow for.
    notifications_dropped = "notifications-dropped",
    /// gNMI subscriptions opened.
    subscriptions = "subscriptions",
}
