//! Telemetry: cells of counters and registers as a stream.
//!
//! ```text
//!   ranges, p4info -> Layout -> Cells: the switch waits while they are copied
//!                                  -> what has changed -> messages
//! ```

mod cells;
mod message;
mod written;

use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use phb_p4runtime::{Code, Refusal};
use prost::Message;
use tokio::sync::{Mutex as Turns, mpsc};
use tokio::time::{Instant, MissedTickBehavior};
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Status, Streaming};

use self::cells::{Cells, Layout};
use self::message::{Sample, WatchRequest};
use self::written::Writes;
use crate::authorization::{Permit, Result, refuse};
use crate::config::Node;
use crate::connections::{Client, Kind, Share, Usage};
use crate::limits;
use crate::p4runtime::{self, Loaded, none_yet};
use crate::wire::{Answer, only, status};

/// The text of the service.
pub const PROTO: &str = include_str!("../../telemetry.proto");

/// Messages that wait for a client: a sample is read when the one before has been taken.
const WAITING: usize = 1;

/// Rest for the packets after cells were copied, each: about ten times as long as that takes.
const REST: Duration = Duration::from_nanos(50);

/// Rest that isn't taken at once: shorter ones than a timer's.
const DEBT: Duration = Duration::from_millis(2);

/// How often, and how far apart, a program is looked for whose p4info is on its way.
const LOOKS: usize = 100;
const LOOK: Duration = Duration::from_millis(10);

pub struct Service {
    device_id: u64,
    node: Node,
    p4runtime: Arc<p4runtime::Service>,
    /// Makes numbers of programs that no other server has.
    instances: RandomState,
    /// When cells may be copied next, by whoever has the turn.
    turn: Turns<Instant>,
}

/// What a client watches.
struct Watched {
    request: WatchRequest,
    loaded: Arc<Loaded>,
    cells: Cells,
    writes: Writes,
    client: Client,
    usage: Arc<Usage>,
    instance: Option<u64>,
    memory: Share,
}

impl Service {
    pub fn new(device_id: u64, node: Node, p4runtime: Arc<p4runtime::Service>) -> Self {
        Self {
            device_id,
            node,
            p4runtime,
            instances: RandomState::new(),
            turn: Turns::new(Instant::now()),
        }
    }

    pub async fn watch(
        self: Arc<Self>,
        permit: Permit,
        messages: Streaming<Bytes>,
        share: Share,
        usage: Arc<Usage>,
        client: Client,
    ) -> std::result::Result<Answer, Status> {
        permit
            .require(self.device_id, None, false)
            .map_err(status)?;
        let request = WatchRequest::decode(only(messages).await?).map_err(|error| {
            Status::invalid_argument(format!("the request can not be read: {error}"))
        })?;
        self.p4runtime
            .require_device(request.device_id)
            .and_then(|()| check(&request))
            .map_err(status)?;
        let watched = self.find(request, client, usage).await.map_err(status)?;
        let (answers, taken) = mpsc::channel(WAITING);
        tokio::spawn(async move {
            tokio::select! {
                // The client has gone.
                () = answers.closed() => {}
                end = self.tell(watched, &answers) => {
                    if let Err(refusal) = end {
                        let _ = answers.send(Err(status(refusal))).await;
                    }
                }
            }
            drop(share);
        });
        Ok(Box::pin(ReceiverStream::new(taken)))
    }

    /// Sends samples as fast as they are taken, at most one an interval.
    async fn tell(
        &self,
        mut watched: Watched,
        answers: &mpsc::Sender<std::result::Result<Bytes, Status>>,
    ) -> Result<()> {
        let interval = Duration::from_nanos(watched.request.interval_ns);
        let once = interval.is_zero();
        let mut ticks = tokio::time::interval(if once { DEBT } else { interval });
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        loop {
            ticks.tick().await;
            let Ok(mut room) = answers.reserve().await else {
                return Ok(());
            };
            let (mut sample, again) = self.read(watched).await?;
            watched = again;
            watched.cells.begin();
            loop {
                sample.cells = watched.cells.take();
                sample.more = watched.cells.is_more();
                room.send(Ok(sample.encode_to_vec().into()));
                sample.written.clear();
                if !sample.more {
                    break;
                }
                let Ok(next) = answers.reserve().await else {
                    return Ok(());
                };
                room = next;
            }
            watched.cells.told();
            if once {
                return Ok(());
            }
        }
    }

    /// Copies all cells at one moment; anew, if another program runs. Gives a sample without its cells.
    async fn read(&self, mut watched: Watched) -> Result<(Sample, Watched)> {
        loop {
            if let Some(sample) = self.copy(&mut watched).await {
                return Ok((sample, watched));
            }
            let Watched {
                request,
                client,
                usage,
                memory,
                cells,
                ..
            } = watched;
            drop((cells, memory));
            let found = self.find(request, client, usage).await;
            watched = found.map_err(|refusal| Refusal {
                code: Code::FailedPrecondition,
                message: format!("another program runs: {}", refusal.message),
            })?;
        }
    }

    /// `None` if another program runs than the one that was looked into.
    async fn copy(&self, watched: &mut Watched) -> Option<Sample> {
        let mut free = self.turn.lock().await;
        if *free > Instant::now() + DEBT {
            tokio::time::sleep_until(*free).await;
        }
        let node = self.node.lock().unwrap_or_else(PoisonError::into_inner);
        let pipeline = node.pipeline()?;
        let is_of = watched.loaded.configuration.is_of(pipeline);
        if !is_of || !watched.cells.read(pipeline) {
            return None;
        }
        let (time_ns, instance) = (node.now(), self.instances.hash_one(node.beginnings()));
        let is_first = watched.instance.replace(instance) != Some(instance);
        if is_first {
            watched.writes.forget();
        }
        let writes = node.entry_writes();
        let (writes, written) = (writes.all(), watched.writes.take(writes));
        drop(node);
        if is_first {
            watched.cells.forget();
        }
        let rest = REST * u32::try_from(watched.cells.count()).unwrap_or(u32::MAX);
        *free = Instant::now().max(*free) + rest;
        Some(Sample {
            time_ns,
            instance,
            writes,
            written,
            ..Sample::default()
        })
    }

    /// Looks ranges up in the program that runs. Its p4info may come a little later than itself.
    async fn find(
        &self,
        request: WatchRequest,
        client: Client,
        usage: Arc<Usage>,
    ) -> Result<Watched> {
        for _ in 0..LOOKS {
            let Some(loaded) = self.p4runtime.committed() else {
                return none_yet();
            };
            let layout = {
                let node = self.node.lock().unwrap_or_else(PoisonError::into_inner);
                let Some(pipeline) = node.pipeline() else {
                    return none_yet();
                };
                let configuration = &loaded.configuration;
                let is_of = configuration.is_of(pipeline);
                is_of.then(|| Layout::new(&request.ranges, configuration, pipeline))
            };
            let Some(layout) = layout.transpose()? else {
                tokio::time::sleep(LOOK).await;
                continue;
            };
            let memory = usage.take(&client, Kind::Cells, layout.cells());
            let memory = memory.map_err(|message| Refusal {
                code: Code::ResourceExhausted,
                message,
            })?;
            return Ok(Watched {
                request,
                writes: Writes::new(&loaded.configuration),
                loaded,
                cells: Cells::new(layout),
                client,
                usage,
                instance: None,
                memory,
            });
        }
        let message = "the switch runs a program that no client has brought a p4info of";
        refuse(Code::FailedPrecondition, message)
    }
}

fn check(request: &WatchRequest) -> Result<()> {
    let (found, most) = (request.ranges.len(), limits::RANGES);
    if found > most {
        let message = format!("{found} ranges; a watch has {most} at most");
        return refuse(Code::ResourceExhausted, message);
    }
    let (found, least) = (request.interval_ns, limits::LEAST_INTERVAL.as_nanos());
    if found != 0 && u128::from(found) < least {
        let message = format!("interval_ns: {found}, expected 0 or at least {least}");
        return refuse(Code::InvalidArgument, message);
    }
    Ok(())
}
