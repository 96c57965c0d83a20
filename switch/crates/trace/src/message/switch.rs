//! Steps outside of the program: ports, queues and lines.

#[cfg(test)]
use super::hex::hex_bare;

messages! {
    /// A frame arrives.
    Arrived {
        #[prost(uint32, tag = "1")]
        port: u32,
        #[prost(bool, tag = "2")]
        from_controller: bool,
        #[prost(uint32, tag = "3")]
        length: u32,
        #[prost(bytes = "vec", tag = "4")]
        #[serde(serialize_with = "hex_bare")]
        frame: Vec<u8>,
    }
    /// A packet that waits, or was served, before another one.
    Ahead {
        #[prost(uint64, tag = "1")]
        trace: u64,
        #[prost(uint64, optional, tag = "2")]
        rank: Option<u64>,
        #[prost(uint32, tag = "3")]
        queue: u32,
        #[prost(uint32, tag = "4")]
        length: u32,
        #[prost(uint32, tag = "5")]
        ingress_port: u32,
        #[prost(uint64, tag = "6")]
        since_ns: u64,
    }
    /// It waits in a queue.
    Enqueued {
        #[prost(uint32, tag = "1")]
        port: u32,
        #[prost(uint64, optional, tag = "2")]
        rank: Option<u64>,
        #[prost(uint32, tag = "3")]
        queue: u32,
        #[prost(uint32, tag = "4")]
        depth: u32,
        #[prost(uint32, tag = "5")]
        ahead: u32,
        #[prost(uint64, tag = "6")]
        ahead_bytes: u64,
        #[prost(message, repeated, tag = "7")]
        behind: Vec<Ahead>,
    }
    /// It leaves the queue.
    Dequeued {
        #[prost(uint32, tag = "1")]
        port: u32,
        #[prost(uint64, tag = "2")]
        waited_ns: u64,
        #[prost(uint32, tag = "3")]
        served: u32,
        #[prost(uint64, tag = "4")]
        served_bytes: u64,
        #[prost(message, repeated, tag = "5")]
        behind: Vec<Ahead>,
        #[prost(uint32, tag = "6")]
        depth: u32,
    }
    /// The line begins to send it.
    Sending {
        #[prost(uint32, tag = "1")]
        port: u32,
        #[prost(uint32, tag = "2")]
        length: u32,
        #[prost(uint64, tag = "3")]
        ends_ns: u64,
    }
    /// It has left by a port, or to a controller.
    Departed {
        #[prost(uint32, tag = "1")]
        port: u32,
        #[prost(bool, tag = "2")]
        to_controller: bool,
        #[prost(uint32, tag = "3")]
        length: u32,
        #[prost(bytes = "vec", tag = "4")]
        #[serde(serialize_with = "hex_bare")]
        frame: Vec<u8>,
    }
    /// It is dropped.
    Dropped {
        #[prost(string, tag = "1")]
        reason: String,
        #[prost(uint32, optional, tag = "2")]
        port: Option<u32>,
    }
    /// It was copied, or passes once more.
    Copied {
        #[prost(string, tag = "1")]
        kind: String,
        #[prost(uint64, tag = "2")]
        trace: u64,
        #[prost(uint32, tag = "3")]
        group: u32,
    }
}
