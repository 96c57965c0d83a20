//! The calls of gNMI; what they mean is the crate `phb-gnmi`'s.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use bytes::Bytes;
use phb_gnmi::message::request::Request;
use phb_gnmi::message::{GetRequest, SetRequest, SubscribeRequest, SubscribeResponse};
use phb_gnmi::{Element, ServerCounters, Subscriber, Tree};
use prost::Message;
use tokio::sync::{mpsc, watch};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, Streaming};

use crate::authorization::Permit;
use crate::connections::Share;
use crate::wire::{Answer, Held, keeping, one, only, status, too_long};

/// Answers that wait for a subscription's client; with that many, it is late.
const WAITING: usize = 1;

/// Requests with more paths than this may take seconds.
const FEW_PATHS: usize = 32;

/// A path as text; escaped, so that no key can look like a further element.
fn escaped(path: &[Element]) -> String {
    let mut text = String::new();
    for element in path {
        text += "/";
        text += &element.name;
        for (key, value) in &element.keys {
            let value = value.replace('\\', "\\\\").replace(']', "\\]");
            text += &format!("[{key}={value}]");
        }
    }
    text
}

pub struct Service {
    device_id: u64,
    tree: Arc<Tree>,
    counters: Arc<ServerCounters>,
    changed: watch::Sender<()>,
    turn: Arc<tokio::sync::Mutex<()>>,
    started: Instant,
}

fn decode<M: Message + Default>(message: Bytes) -> Result<M, Status> {
    M::decode(message)
        .map_err(|error| Status::invalid_argument(format!("the request can not be read: {error}")))
}

impl Service {
    pub fn new(device_id: u64, tree: Arc<Tree>, counters: Arc<ServerCounters>) -> Self {
        let (changed, _) = watch::channel(());
        let tell = changed.clone();
        tree.on_change(Box::new(move || {
            tell.send_replace(());
        }));
        Self {
            device_id,
            tree,
            counters,
            changed,
            turn: Arc::default(),
            started: Instant::now(),
        }
    }

    fn now_ns(&self) -> u64 {
        u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    /// Carries out a request; those of many paths wait for a turn and run on a thread of their own.
    async fn worked<T: Send + 'static>(
        &self,
        paths: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Status> {
        if paths <= FEW_PATHS {
            return Ok(work());
        }
        let turn = Arc::clone(&self.turn).lock_owned().await;
        // The turn lasts as long as the work, even if the client has gone.
        let worked = tokio::task::spawn_blocking(move || {
            let worked = work();
            drop(turn);
            worked
        });
        let worked = worked.await;
        worked.map_err(|_| Status::internal("the server has a bug; its log says more"))
    }

    pub async fn capabilities(
        &self,
        permit: Permit,
        messages: Streaming<Bytes>,
    ) -> Result<Answer, Status> {
        permit
            .require(self.device_id, None, false)
            .map_err(status)?;
        only(messages).await?;
        Ok(one(Tree::capabilities().encode_to_vec()))
    }

    pub async fn get(
        &self,
        permit: Permit,
        messages: Streaming<Bytes>,
        held: Held,
    ) -> Result<Answer, Status> {
        permit
            .require(self.device_id, None, false)
            .map_err(status)?;
        let request: GetRequest = decode(only(messages).await?)?;
        let tree = Arc::clone(&self.tree);
        let got = self.worked(request.path.len(), move || {
            tree.get(&request, crate::wall_ns())
        });
        let got = got.await?.map_err(status)?;
        held.grow(got.encoded_len())?;
        Ok(keeping(one(got.encode_to_vec()), held))
    }

    pub async fn set(
        &self,
        permit: Permit,
        messages: Streaming<Bytes>,
        held: Held,
    ) -> Result<Answer, Status> {
        permit.require(self.device_id, None, true).map_err(status)?;
        let request: SetRequest = decode(only(messages).await?)?;
        let paths = Tree::paths_of(&request).map_err(status)?;
        let paths: Vec<String> = paths.iter().map(|path| escaped(path)).collect();
        permit.require_set(self.device_id, &paths).map_err(status)?;
        let tree = Arc::clone(&self.tree);
        let set = self.worked(paths.len(), move || tree.set(&request, crate::wall_ns()));
        let set = set.await?.map_err(status)?;
        Ok(keeping(one(set.encode_to_vec()), held))
    }

    pub fn subscribe(
        self: &Arc<Self>,
        permit: Permit,
        messages: Streaming<Bytes>,
        share: Share,
    ) -> Result<Answer, Status> {
        permit
            .require(self.device_id, None, false)
            .map_err(status)?;
        self.counters.subscriptions.fetch_add(1, Ordering::Relaxed);
        let (answers, taken) = mpsc::channel(WAITING);
        let service = Arc::clone(self);
        tokio::spawn(async move {
            tokio::select! {
                // The client has gone.
                () = answers.closed() => {}
                end = service.tell(messages, &answers) => {
                    if let Err(status) = end {
                        let _ = answers.send(Err(status)).await;
                    }
                }
            }
            drop(share);
        });
        Ok(Box::pin(ReceiverStream::new(taken)))
    }

    async fn tell(
        &self,
        mut messages: Streaming<Bytes>,
        answers: &mpsc::Sender<Result<Bytes, Status>>,
    ) -> Result<(), Status> {
        let Some(first) = messages.message().await.map_err(too_long)? else {
            return Ok(());
        };
        let mut changed = self.changed.subscribe();
        let first: SubscribeRequest = decode(first)?;
        let (tree, now_ns) = (Arc::clone(&self.tree), self.now_ns());
        let paths = match &first.request {
            Some(Request::Subscribe(list)) => list.subscription.len(),
            _ => 0,
        };
        let begin = move || Subscriber::begin(tree, first, now_ns, crate::wall_ns());
        let (mut subscriber, told) = self.worked(paths, begin).await?.map_err(status)?;
        send(answers, told).await;
        while subscriber.is_poll() {
            let Some(message) = messages.message().await.map_err(too_long)? else {
                return Ok(());
            };
            let asked: SubscribeRequest = decode(message)?;
            let told = subscriber
                .request(asked, crate::wall_ns())
                .map_err(status)?;
            send(answers, told).await;
        }
        while let Some(due) = subscriber.due() {
            let wait = Duration::from_nanos(due.saturating_sub(self.now_ns()));
            let _ = tokio::time::timeout(wait, changed.changed()).await;
            send(answers, subscriber.next(self.now_ns(), crate::wall_ns())).await;
        }
        Ok(())
    }
}

/// Sends answers, as fast as they are taken; samples that fall due meanwhile are left out.
async fn send(answers: &mpsc::Sender<Result<Bytes, Status>>, told: Vec<SubscribeResponse>) {
    // Serialized before it waits: messages are many times as large.
    let told = told.into_iter().map(|each| each.encode_to_vec().into());
    let told: Vec<Bytes> = told.collect();
    for each in told {
        if answers.send(Ok(each)).await.is_err() {
            return;
        }
    }
}
