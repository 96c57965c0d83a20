//! The calls of P4Runtime.
//!
//! One lock makes writes, configuration and arbitration happen one after the other, in the order in which they came, so a
//! change of the primary waits for the write in progress, as the specification wants it. Packets, digests and
//! notifications don't wait for it: whom they are for is noted apart, in the [`Audience`].

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use bytes::Bytes;
use phb_gnmi::ServerCounters;
use phb_p4runtime::{BatchFailure, Code, ReadRequest, Refusal, WriteRequest};
use prost::Message;
use tokio::sync::{Mutex as Turns, Notify, OwnedMutexGuard};
use tonic::{Status, Streaming};

use super::arbitration::Arbitration;
use super::configuration::{Configurations, Loaded, none_yet};
use super::digests::{Digests, Now};
use super::message::{
    CapabilitiesRequest, CapabilitiesResponse, DigestListAck, GetPipelineConfig, Inside,
    SetPipelineConfig, StreamAnswer, StreamError, StreamErrorDetails, StreamRequest,
    StreamResponse, StreamUpdate,
};
use super::outbox::{Outbox, Taking};
use super::role::Access;
use super::words;
use crate::authorization::{Permit, Result, refuse};
use crate::config::{Manners, Node};
use crate::connections::{Client, Kind, Share, Usage};
use crate::limits;
use crate::wire::{Answer, Held, keeping, one, only, status, too_long};

/// The version of P4Runtime that this is.
const API_VERSION: &str = "1.4.1";

/// Writes longer than this are carried out on a thread of their own, lest other calls wait for them.
const SHORT_WRITE_BYTES: usize = 32 << 10;

/// Who may write, and to what.
struct Device {
    arbitration: Arbitration,
    configurations: Configurations,
}

/// A primary, as packets and notifications look for it.
struct Listener {
    stream: u64,
    role: String,
    outbox: Arc<Outbox>,
    access: Access,
}

/// Whom packets, digests and notifications are for, and what they mean.
#[derive(Default)]
struct Audience {
    loaded: Option<Arc<Loaded>>,
    primaries: Vec<Listener>,
}

/// A stream that has been opened.
struct Opened {
    outbox: Arc<Outbox>,
    arbitrated: bool,
}

/// The service of one switch.
pub struct Service {
    device_id: u64,
    node: Node,
    manners: Manners,
    device: Arc<Turns<Device>>,
    audience: Mutex<Arc<Audience>>,
    streams: Mutex<BTreeMap<u64, Opened>>,
    next_stream: AtomicU64,
    waiting_bytes: Arc<AtomicUsize>,
    digests: Mutex<Option<Digests>>,
    counters: Arc<ServerCounters>,
    started: Instant,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn decode<M: Message + Default>(message: Bytes) -> std::result::Result<M, Status> {
    M::decode(message)
        .map_err(|error| Status::invalid_argument(format!("the request can not be read: {error}")))
}

fn failed(failure: BatchFailure) -> Status {
    Status::with_details(tonic::Code::Unknown, failure.message, failure.status.into())
}

fn stream_error(refusal: Refusal, details: StreamErrorDetails) -> Bytes {
    let error = StreamError {
        canonical_code: refusal.code as i32,
        message: refusal.message,
        details: Some(details),
    };
    let update = Some(StreamAnswer::Error(error));
    StreamResponse { update }.encode_to_vec().into()
}

impl Service {
    /// A service of a switch.
    pub fn new(
        device_id: u64,
        node: Node,
        manners: Manners,
        counters: Arc<ServerCounters>,
    ) -> Self {
        let device = Device {
            arbitration: Arbitration::new(device_id, manners),
            configurations: Configurations::new(Arc::clone(&node), manners),
        };
        Self {
            device_id,
            node,
            manners,
            device: Arc::new(Turns::new(device)),
            audience: Mutex::default(),
            streams: Mutex::default(),
            next_stream: AtomicU64::new(0),
            waiting_bytes: Arc::default(),
            digests: Mutex::default(),
            counters,
            started: Instant::now(),
        }
    }

    fn now(&self) -> Now {
        Now {
            monotonic_ns: u64::try_from(self.started.elapsed().as_nanos()).unwrap_or(u64::MAX),
            wall_ns: crate::wall_ns(),
        }
    }

    fn audience(&self) -> Arc<Audience> {
        Arc::clone(&lock(&self.audience))
    }

    /// Notes whom packets and the like are for, now that it may have changed.
    fn publish(&self, device: &Device) {
        let primaries = device
            .arbitration
            .primaries()
            .map(|(role, client, config)| {
                let permit = &client.permit;
                let access =
                    Access::new(config.cloned(), permit.rights(role), permit.describes(role));
                Listener {
                    stream: client.stream,
                    role: role.to_owned(),
                    outbox: Arc::clone(&client.outbox),
                    access,
                }
            });
        *lock(&self.audience) = Arc::new(Audience {
            loaded: device.configurations.committed().cloned(),
            primaries: primaries.collect(),
        });
    }

    async fn turn(&self) -> OwnedMutexGuard<Device> {
        Arc::clone(&self.device).lock_owned().await
    }

    fn require_device(&self, device_id: u64) -> Result<()> {
        if device_id == self.device_id {
            return Ok(());
        }
        let message = format!(
            "there is no device {device_id} here, only {}",
            self.device_id
        );
        refuse(Code::NotFound, message)
    }

    /// Says which version of P4Runtime this is.
    pub async fn capabilities(
        &self,
        permit: Permit,
        messages: Streaming<Bytes>,
    ) -> std::result::Result<Answer, Status> {
        let request: CapabilitiesRequest = decode(only(messages).await?)?;
        if request.device_id != 0 {
            self.require_device(request.device_id)
                .and_then(|()| permit.require(request.device_id, None, false))
                .map_err(status)?;
        }
        let response = CapabilitiesResponse {
            p4runtime_api_version: API_VERSION.to_owned(),
        };
        Ok(one(response.encode_to_vec()))
    }

    /// Verifies, saves or commits a program.
    pub async fn set_config(
        self: Arc<Self>,
        permit: Permit,
        messages: Streaming<Bytes>,
        held: Held,
    ) -> std::result::Result<Answer, Status> {
        permit.require(self.device_id, None, true).map_err(status)?;
        let request: SetPipelineConfig = decode(only(messages).await?)?;
        let role = request.role.clone();
        self.require_device(request.device_id)
            .and_then(|()| permit.require(request.device_id, Some(&role), true))
            .map_err(status)?;
        let mut device = self.turn().await;
        let election_id = request.election_id.map(u128::from);
        device
            .arbitration
            .require_primary(&role, election_id)
            .and_then(|()| access(&device, &permit, &role).require_pipeline(&role))
            .map_err(status)?;
        let service = Arc::clone(&self);
        let set = tokio::task::spawn_blocking(move || {
            let done = device.configurations.set(request);
            service.publish(&device);
            drop((device, held));
            done
        });
        finished(set).await?.map_err(status)?;
        Ok(one(Bytes::new()))
    }

    /// Gives back the program in use.
    pub async fn get_config(
        &self,
        permit: Permit,
        messages: Streaming<Bytes>,
        held: Held,
    ) -> std::result::Result<Answer, Status> {
        permit
            .require(self.device_id, None, false)
            .map_err(status)?;
        let request: GetPipelineConfig = decode(only(messages).await?)?;
        self.require_device(request.device_id).map_err(status)?;
        let got = self.turn().await.configurations.get(request.response_type);
        let got = got.map_err(status)?;
        held.grow(got.encoded_len())?;
        Ok(keeping(one(got.encode_to_vec()), held))
    }

    /// Applies a batch of updates.
    pub async fn write(
        &self,
        permit: Permit,
        messages: Streaming<Bytes>,
        held: Held,
    ) -> std::result::Result<Answer, Status> {
        permit.require(self.device_id, None, true).map_err(status)?;
        let message = only(messages).await?;
        let short = message.len() <= SHORT_WRITE_BYTES;
        let request = WriteRequest::decode(message).map_err(status)?;
        let role = request.role().to_owned();
        self.require_device(request.device_id())
            .and_then(|()| permit.require(request.device_id(), Some(&role), true))
            .map_err(status)?;
        let device = self.turn().await;
        device
            .arbitration
            .require_primary(&role, request.election_id())
            .map_err(status)?;
        let loaded = Arc::clone(device.configurations.active().map_err(status)?);
        let role = access(&device, &permit, &role).role(&loaded.configuration);
        let manners = self.manners;
        let apply = move || {
            let mut outcomes = loaded
                .configuration
                .write(&loaded.node(), &request, &role)?;
            if manners == Manners::Bmv2 {
                words::translate(&mut outcomes);
            }
            drop((device, held));
            Ok(BatchFailure::of(&outcomes, "write"))
        };
        let outcome: Result<Option<BatchFailure>> = if short {
            apply()
        } else {
            finished(tokio::task::spawn_blocking(apply)).await?
        };
        match outcome.map_err(status)? {
            None => Ok(one(Bytes::new())),
            Some(failure) => Err(failed(failure)),
        }
    }

    /// Finds entities by key or wildcard. The answer is made while it is taken.
    pub async fn read(
        &self,
        permit: Permit,
        messages: Streaming<Bytes>,
        share: Share,
    ) -> std::result::Result<Answer, Status> {
        permit
            .require(self.device_id, None, false)
            .map_err(status)?;
        let request = ReadRequest::decode(only(messages).await?).map_err(status)?;
        let name = request.role();
        let role = (!name.is_empty()).then_some(name);
        self.require_device(request.device_id())
            .and_then(|()| permit.require(request.device_id(), role, false))
            .map_err(status)?;
        let device = self.turn().await;
        let loaded = Arc::clone(device.configurations.active().map_err(status)?);
        let role = access(&device, &permit, name).role(&loaded.configuration);
        let mut reader = loaded.configuration.read(&request, &role);
        drop(device);
        let node = loaded.node();
        let mut over = false;
        let pieces = std::iter::from_fn(move || {
            let _ = &share;
            if over {
                return None;
            }
            match reader.next_piece(&node) {
                Some(piece) => Some(Ok(Bytes::from(piece))),
                None => {
                    over = true;
                    BatchFailure::of(reader.outcomes(), "read").map(|failure| Err(failed(failure)))
                }
            }
        });
        Ok(Box::pin(tokio_stream::iter(pieces)))
    }

    /// Arbitrates, and carries packets in both directions.
    pub fn stream(
        self: &Arc<Self>,
        permit: Permit,
        messages: Streaming<Bytes>,
        held: Held,
        usage: &Arc<Usage>,
        client: &Client,
    ) -> std::result::Result<Answer, Status> {
        permit
            .require(self.device_id, None, false)
            .map_err(status)?;
        let share = usage.take(client, Kind::Streams, 1);
        if share.is_err() && usage.in_all(Kind::Streams) >= limits::STREAMS {
            // Whoever has not arbitrated yet makes room for those who may.
            self.end_silent();
        }
        let share = share.map_err(Status::resource_exhausted)?;
        let outbox = Arc::new(Outbox::new(Arc::clone(&self.waiting_bytes)));
        let number = self.next_stream.fetch_add(1, Ordering::Relaxed);
        let opened = Opened {
            outbox: Arc::clone(&outbox),
            arbitrated: false,
        };
        lock(&self.streams).insert(number, opened);
        self.counters.streams.fetch_add(1, Ordering::Relaxed);
        let service = Arc::clone(self);
        let own = Arc::clone(&outbox);
        let reading = tokio::spawn(async move {
            let end = service
                .receive(number, &own, &permit, messages, &held)
                .await;
            own.end(end);
        });
        let service = Arc::clone(self);
        Ok(Box::pin(Taking::new(outbox, move || {
            reading.abort();
            lock(&service.streams).remove(&number);
            tokio::spawn(async move {
                let mut device = service.turn().await;
                device.arbitration.leave(number);
                service.publish(&device);
                drop(share);
            });
        })))
    }

    /// Ends the oldest stream that has not arbitrated.
    fn end_silent(&self) {
        let streams = lock(&self.streams);
        let silent = streams.values().find(|stream| !stream.arbitrated);
        if let Some(silent) = silent {
            silent.outbox.end(Err(Status::resource_exhausted(
                "the stream has not arbitrated, and others need its place",
            )));
        }
    }

    /// Reads a stream until it ends.
    async fn receive(
        &self,
        stream: u64,
        outbox: &Arc<Outbox>,
        permit: &Permit,
        mut messages: Streaming<Bytes>,
        held: &Held,
    ) -> std::result::Result<(), Status> {
        let mut arbitrated = false;
        loop {
            outbox.room().await;
            let next = if arbitrated {
                messages.message().await
            } else {
                match tokio::time::timeout(limits::SILENT_STREAM, messages.message()).await {
                    Ok(next) => next,
                    Err(_) => {
                        return Err(Status::deadline_exceeded(format!(
                            "the stream has not arbitrated within {} s",
                            limits::SILENT_STREAM.as_secs()
                        )));
                    }
                }
            };
            let message = match next {
                Ok(Some(message)) => message,
                Ok(None) => return Ok(()),
                Err(status) if status.code() == tonic::Code::Cancelled => return Ok(()),
                Err(status) => return Err(too_long(status)),
            };
            held.give_back();
            let request: StreamRequest = decode(message)?;
            match request.update {
                Some(StreamUpdate::Arbitration(wanted)) => {
                    let name = wanted.role.as_ref().map_or("", |role| &role.name);
                    // Another device is not found, whoever asks.
                    if wanted.device_id == self.device_id {
                        let write = wanted.election_id.is_some();
                        permit
                            .require(wanted.device_id, Some(name), write)
                            .map_err(status)?;
                    }
                    let mut device = self.turn().await;
                    let done = device.arbitration.update(stream, outbox, permit, &wanted);
                    done.map_err(status)?;
                    self.publish(&device);
                    arbitrated = true;
                    if let Some(opened) = lock(&self.streams).get_mut(&stream) {
                        opened.arbitrated = true;
                    }
                }
                Some(StreamUpdate::Packet(packet)) => self.packet_out(stream, outbox, packet),
                Some(StreamUpdate::DigestAck(wanted)) => {
                    if let Err(refusal) = self.acknowledge(stream, &wanted) {
                        let message = Some(wanted.encode_to_vec().into());
                        let details = StreamErrorDetails::DigestListAck(Inside { message });
                        outbox.answer(stream_error(refusal, details), None);
                    }
                }
                Some(StreamUpdate::Other(message)) => {
                    let refusal = Refusal {
                        code: Code::Unimplemented,
                        message: "messages of kind 'other' are not supported".to_owned(),
                    };
                    let empty = StreamErrorDetails::Other(Inside { message: None });
                    let message = Some(message);
                    let details = StreamErrorDetails::Other(Inside { message });
                    let echo = stream_error(refusal.clone(), details);
                    outbox.answer(stream_error(refusal, empty), Some(echo));
                }
                None => {
                    let refusal = Refusal {
                        code: Code::InvalidArgument,
                        message: "the message is empty".to_owned(),
                    };
                    let details = StreamErrorDetails::Other(Inside { message: None });
                    outbox.answer(stream_error(refusal, details), None);
                }
            }
        }
    }

    fn packet_out(&self, stream: u64, outbox: &Outbox, packet: Bytes) {
        let Err(refusal) = self.send_packet(stream, &packet) else {
            self.counters.packet_outs.fetch_add(1, Ordering::Relaxed);
            return;
        };
        self.counters
            .packet_outs_refused
            .fetch_add(1, Ordering::Relaxed);
        if self.manners == Manners::Bmv2 && refusal.code == Code::PermissionDenied {
            return;
        }
        let empty = StreamErrorDetails::PacketOut(Inside { message: None });
        let message = Some(packet);
        let details = StreamErrorDetails::PacketOut(Inside { message });
        let echo = stream_error(refusal.clone(), details);
        outbox.answer(stream_error(refusal, empty), Some(echo));
    }

    fn send_packet(&self, stream: u64, packet: &[u8]) -> Result<()> {
        let audience = self.audience();
        let mut primaries = audience.primaries.iter();
        let Some(primary) = primaries.find(|primary| primary.stream == stream) else {
            return refuse(Code::PermissionDenied, "only a primary may send packets");
        };
        primary.access.require_packet_out(&primary.role)?;
        let Some(loaded) = &audience.loaded else {
            return none_yet();
        };
        let frame = loaded.configuration.packet_out(packet);
        let mut node = lock(&self.node);
        if node.config().cpu_port.is_none() {
            return refuse(Code::FailedPrecondition, "the switch has no CPU port");
        }
        let (waiting, bytes) = node.packet_outs_waiting();
        if waiting >= limits::PACKET_OUTS || bytes >= limits::PACKET_OUT_BYTES {
            return refuse(
                Code::ResourceExhausted,
                format!("{waiting} packet-outs of {bytes} bytes wait for the switch"),
            );
        }
        let _ = node.packet_out(frame?);
        Ok(())
    }

    fn acknowledge(&self, stream: u64, message: &DigestListAck) -> Result<()> {
        let audience = self.audience();
        if audience
            .primaries
            .iter()
            .all(|primary| primary.stream != stream)
        {
            return refuse(
                Code::PermissionDenied,
                "only a primary may acknowledge digests",
            );
        }
        let Some(loaded) = &audience.loaded else {
            return none_yet();
        };
        with_digests(&mut lock(&self.digests), loaded).acknowledge(message)
    }

    /// Passes packets from the CPU port on, as long as it is polled.
    pub async fn forward_packets(self: Arc<Self>) {
        let packet_ins = lock(&self.node).packet_ins();
        let arrived = Arc::new(Notify::new());
        let told = Arc::clone(&arrived);
        packet_ins.set_listener(Some(Arc::new(move || told.notify_one())));
        loop {
            let frames = packet_ins.take(std::time::Duration::ZERO);
            if frames.is_empty() {
                arrived.notified().await;
                continue;
            }
            let audience = self.audience();
            for frame in frames {
                if self.forward_packet(&audience, &frame) {
                    self.counters
                        .packet_ins_sent
                        .fetch_add(1, Ordering::Relaxed);
                } else {
                    self.counters
                        .packet_ins_dropped
                        .fetch_add(1, Ordering::Relaxed);
                    packet_ins.lose(frame.len());
                }
            }
            tokio::task::yield_now().await;
        }
    }

    /// Gives a packet to those whom it is for; whether one of them had room.
    fn forward_packet(&self, audience: &Audience, frame: &[u8]) -> bool {
        let Some(loaded) = audience
            .loaded
            .as_ref()
            .filter(|_| !audience.primaries.is_empty())
        else {
            return false;
        };
        let packet = match loaded.configuration.packet_in(frame) {
            Ok(packet) => packet,
            Err(refusal) => {
                tracing::warn!(target: "p4runtime", "{}", refusal.message);
                return false;
            }
        };
        let takers = audience.primaries.iter();
        let mut takers = takers
            .filter(|primary| primary.access.takes(&packet))
            .map(|primary| &primary.outbox)
            .peekable();
        if takers.peek().is_none() {
            return false;
        }
        let response = Bytes::from(packet.response());
        let taken = takers.filter(|outbox| outbox.offer(response.clone()));
        taken.count() > 0
    }

    /// Passes the program's messages and idle entries on, as long as it is polled.
    pub async fn forward_notifications(self: Arc<Self>) {
        let messages = lock(&self.node).digests();
        let arrived = Arc::new(Notify::new());
        let told = Arc::clone(&arrived);
        messages.set_listener(Some(Arc::new(move || told.notify_one())));
        let mut idle_looked = Instant::now();
        loop {
            let due = lock(&self.digests).as_ref().and_then(Digests::next_due_ns);
            let until_due = due.map_or(u64::MAX, |due| due.saturating_sub(self.now().monotonic_ns));
            let wait = std::time::Duration::from_nanos(until_due)
                .min(limits::IDLE_LOOK.saturating_sub(idle_looked.elapsed()));
            // The timer counts in milliseconds: what is due sooner is waited for once, not over and over.
            let _ = tokio::time::timeout(wait, arrived.notified()).await;
            let audience = self.audience();
            let Some(loaded) = &audience.loaded else {
                let _ = messages.take(std::time::Duration::ZERO);
                idle_looked = Instant::now();
                continue;
            };
            let found = messages.take(std::time::Duration::ZERO);
            self.send_digests(&audience, loaded, found);
            if idle_looked.elapsed() >= limits::IDLE_LOOK {
                idle_looked = Instant::now();
                self.notify_idle(&audience, loaded);
            }
        }
    }

    fn send_digests(
        &self,
        audience: &Audience,
        loaded: &Arc<Loaded>,
        found: Vec<phb_pipeline::Digest>,
    ) {
        let named = if found.is_empty() {
            Vec::new()
        } else {
            let node = lock(&self.node);
            let lists = node.pipeline().map(phb_pipeline::Pipeline::digest_lists);
            let lists = lists.unwrap_or_default();
            // A message of a program that has been replaced meanwhile may have no list any more.
            let named = found.into_iter().filter_map(|message| {
                let list = lists.get(message.list as usize)?;
                Some((list.name.clone(), message.fields))
            });
            named.collect()
        };
        let lists = {
            let mut digests = lock(&self.digests);
            let digests = with_digests(&mut digests, loaded);
            let now = self.now();
            let mut lists = digests.add(named, now);
            lists.extend(digests.due(now));
            lists
        };
        for list in lists {
            let (id, messages) = (list.digest_id, list.data.len() as u64);
            let update = Some(StreamAnswer::Digest(list));
            let response = Bytes::from(StreamResponse { update }.encode_to_vec());
            let fitting = audience.primaries.iter();
            let fitting = fitting.filter(|primary| primary.access.has(id, &loaded.configuration));
            let taken = fitting.filter(|primary| primary.outbox.offer(response.clone()));
            let sent = taken.count() > 0;
            let counter = if sent {
                &self.counters.digests_sent
            } else {
                &self.counters.digests_dropped
            };
            counter.fetch_add(messages, Ordering::Relaxed);
        }
    }

    fn notify_idle(&self, audience: &Audience, loaded: &Loaded) {
        let idle = loaded.configuration.take_idle(&loaded.node());
        if idle.is_empty() {
            return;
        }
        for primary in &audience.primaries {
            let own = idle
                .iter()
                .filter(|(table, _)| primary.access.has(*table, &loaded.configuration));
            let entries: Vec<Bytes> = own.map(|(_, entry)| entry.clone().into()).collect();
            if entries.is_empty() {
                continue;
            }
            let notification = super::message::IdleTimeoutNotification {
                table_entry: entries,
                timestamp: crate::wall_ns(),
            };
            let update = Some(StreamAnswer::Idle(notification));
            if !primary
                .outbox
                .offer(StreamResponse { update }.encode_to_vec().into())
            {
                self.counters
                    .notifications_dropped
                    .fetch_add(1, Ordering::Relaxed);
            }
        }
    }

    /// Ends all streams, and forwards nothing any more.
    pub fn stop(&self) {
        let node = lock(&self.node);
        node.packet_ins().set_listener(None);
        node.digests().set_listener(None);
        drop(node);
        for stream in lock(&self.streams).values() {
            stream.outbox.end(Ok(()));
        }
    }
}

fn access(device: &Device, permit: &Permit, role: &str) -> Access {
    let config = device.arbitration.config(role).cloned();
    Access::new(config, permit.rights(role), permit.describes(role))
}

fn with_digests<'a>(digests: &'a mut Option<Digests>, loaded: &Arc<Loaded>) -> &'a mut Digests {
    if digests
        .as_ref()
        .is_none_or(|known| !Arc::ptr_eq(&known.loaded, loaded))
    {
        *digests = None;
    }
    digests.get_or_insert_with(|| Digests::new(Arc::clone(loaded)))
}

/// What a task on a thread of its own gave.
async fn finished<T>(task: tokio::task::JoinHandle<T>) -> std::result::Result<T, Status> {
    task.await
        .map_err(|_| Status::internal("the server has a bug; its log says more"))
}
