//! Traces of packets as a stream; what they say is the crate `phb-trace`'s.

use std::collections::VecDeque;
use std::sync::{Arc, PoisonError};

use bytes::Bytes;
use phb_node::tracing::{Traced, Watch, unwatch, watch};
use phb_trace::Filter;
use phb_trace::message::{Response, Started, WatchRequest, WatchResponse};
use prost::Message;
use ring::digest::{SHA256, digest};
use tokio::sync::{Notify, mpsc};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, Streaming};

use crate::authorization::Permit;
use crate::config::Node;
use crate::connections::Share;
use crate::limits;
use crate::wire::{Answer, only, status};

/// Traces that wait as bytes; all others wait as they were recorded.
const WAITING: usize = 1;

pub struct Service {
    device_id: u64,
    node: Node,
}

/// A reader of traces, which ends with this.
struct Watching {
    node: Node,
    watch: Arc<Watch>,
}

impl Drop for Watching {
    fn drop(&mut self) {
        unwatch(&self.node, &self.watch);
    }
}

impl Service {
    pub fn new(device_id: u64, node: Node) -> Self {
        Self { device_id, node }
    }

    pub async fn watch(
        &self,
        permit: Permit,
        messages: Streaming<Bytes>,
        share: Share,
    ) -> Result<Answer, Status> {
        permit.require_packets(self.device_id).map_err(status)?;
        let request = WatchRequest::decode(only(messages).await?).map_err(|error| {
            Status::invalid_argument(format!("the request can not be read: {error}"))
        })?;
        let filter = Filter::parse(&request.filter)
            .map_err(|error| Status::invalid_argument(format!("filter: {error}")))?;
        let frame_bytes = request.frame_bytes;
        let node = Arc::clone(&self.node);
        // The program is loaded once more, which may take a while.
        let begun = tokio::task::spawn_blocking(move || begin(node, filter, frame_bytes)).await;
        let begun = begun.map_err(|_| Status::internal("the server has a bug; its log says more"));
        let Some((watching, started)) = begun? else {
            return Err(Status::resource_exhausted(
                "the switch has as many readers of traces as it may have",
            ));
        };
        let who = permit.who();
        let filter = request.filter;
        tracing::info!(target: "server", "{who} watches packets: {filter:?}");
        let (answers, taken) = mpsc::channel(WAITING);
        tokio::spawn(async move {
            tokio::select! {
                // The client has gone.
                () = answers.closed() => {}
                () = tell(&watching.watch, started, request.count, &answers) => {}
            }
            drop((watching, share));
        });
        Ok(Box::pin(ReceiverStream::new(taken)))
    }
}

fn begin(node: Node, filter: Filter, frame_bytes: u32) -> Option<(Watching, Started)> {
    let watch = watch(&node, filter, frame_bytes)?;
    watch.hold(limits::WAITING_TRACES, limits::WAITING_TRACE_BYTES);
    let artifact = {
        let node = node.lock().unwrap_or_else(PoisonError::into_inner);
        let pipeline = node.pipeline();
        pipeline.map(|pipeline| Arc::clone(pipeline.artifact()))
    };
    let sha256 = artifact.map(|artifact| hexadecimal(digest(&SHA256, artifact.as_bytes())));
    let started = Started {
        artifact_sha256: sha256.unwrap_or_default(),
    };
    Some((Watching { node, watch }, started))
}

fn hexadecimal(bytes: impl AsRef<[u8]>) -> String {
    let bytes = bytes.as_ref().iter();
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

/// Sends traces as fast as they are taken, `count` of them or without end.
async fn tell(
    watch: &Watch,
    started: Started,
    count: u64,
    answers: &mpsc::Sender<Result<Bytes, Status>>,
) {
    let arrived = Arc::new(Notify::new());
    let told = Arc::clone(&arrived);
    watch.set_listener(Some(Arc::new(move || told.notify_one())));
    let mut waiting: VecDeque<Traced> = VecDeque::new();
    let mut next = Some(Response::Started(started));
    let mut left = (count > 0).then_some(count);
    loop {
        if let Some(response) = next.take() {
            let response = WatchResponse {
                response: Some(response),
            };
            let sent = answers.send(Ok(response.encode_to_vec().into())).await;
            if sent.is_err() || left == Some(0) {
                return;
            }
        }
        if waiting.is_empty() {
            waiting = watch.take(std::time::Duration::ZERO);
        }
        match waiting.pop_front() {
            None => arrived.notified().await,
            Some(traced) => {
                next = Some(Response::Trace(watch.message(&traced, 0)));
                left = left.map(|left| left - 1);
            }
        }
    }
}
