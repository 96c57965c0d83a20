//! The service `Tracing`.

use super::Trace;

messages! {
    /// Which packets a client wants to see traced.
    WatchRequest {
        #[prost(string, tag = "1")]
        filter: String,
        #[prost(uint32, tag = "2")]
        frame_bytes: u32,
        #[prost(uint64, tag = "3")]
        count: u64,
    }
    /// What the client gets.
    WatchResponse {
        #[prost(oneof = "Response", tags = "1, 2")]
        #[serde(flatten)]
        response: Option<Response>,
    }
    /// The call is accepted: packets from now on are traced.
    Started {
        #[prost(string, tag = "1")]
        artifact_sha256: String,
    }
}

oneof! {
    /// What a client gets next.
    Response {
        #[prost(message, tag = "1")]
        Started(Started),
        #[prost(message, tag = "2")]
        Trace(Trace),
    }
}
