//! The calls of P4Runtime: those that are answered once here, streams in `stream`, messages of the switch in
//! `forwarding`, changes by other servers in `control`.
//!
//! One lock orders writes, configuration and arbitration: a new primary waits for the write in
//! progress, as specified. Packets and notifications use [`Audience`], a copy of their receivers.

mod control;
mod forwarding;
mod stream;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use bytes::Bytes;
use phb_gnmi::ServerCounters;
use phb_p4runtime::{BatchFailure, Code, ReadRequest, WriteRequest};
use prost::Message;
use tokio::sync::{Mutex as Turns, OwnedMutexGuard};
use tonic::{Status, Streaming};

use super::arbitration::Arbitration;
use super::configuration::{Configurations, Loaded};
use super::digests::{Digests, Now};
use super::message::{
    CapabilitiesRequest, CapabilitiesResponse, GetPipelineConfig, SetPipelineConfig,
};
use super::outbox::Outbox;
use super::role::Access;
use super::words;
use crate::authorization::{Permit, Result, refuse};
use crate::config::{Manners, Node};
use crate::connections::Share;
use crate::wire::{Answer, Held, keeping, one, only, status};

const API_VERSION: &str = "1.4.1";

/// Longer writes are carried out on a thread of their own, so that other calls don't wait.
const SHORT_WRITE_BYTES: usize = 32 << 10;

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

/// The receivers of packets, digests and notifications, and the program they are of.
#[derive(Default)]
struct Audience {
    loaded: Option<Arc<Loaded>>,
    primaries: Vec<Listener>,
}

struct Opened {
    outbox: Arc<Outbox>,
    arbitrated: bool,
}

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

impl Service {
    pub fn new(
        device_id: u64,
        node: Node,
        manners: Manners,
        names: BTreeMap<u16, String>,
        counters: Arc<ServerCounters>,
    ) -> Self {
        let device = Device {
            arbitration: Arbitration::new(device_id, manners),
            configurations: Configurations::new(Arc::clone(&node), manners, names),
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

    /// The program that handles packets, as clients know it.
    pub fn committed(&self) -> Option<Arc<Loaded>> {
        self.audience().loaded.clone()
    }

    /// Brings the [`Audience`] up to date.
    fn publish(&self, device: &Device) {
        let primaries = device
            .arbitration
            .primaries()
            .map(|(role, client)| Listener {
                stream: client.stream,
                role: role.to_owned(),
                outbox: Arc::clone(&client.outbox),
                access: access(device, &client.permit, role),
            });
        *lock(&self.audience) = Arc::new(Audience {
            loaded: device.configurations.committed().cloned(),
            primaries: primaries.collect(),
        });
    }

    async fn turn(&self) -> OwnedMutexGuard<Device> {
        Arc::clone(&self.device).lock_owned().await
    }

    pub fn require_device(&self, device_id: u64) -> Result<()> {
        if device_id == self.device_id {
            return Ok(());
        }
        let message = format!(
            "there is no device {device_id} here, only {}",
            self.device_id
        );
        refuse(Code::NotFound, message)
    }

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

    /// The answer is made while it is taken.
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

async fn finished<T>(task: tokio::task::JoinHandle<T>) -> std::result::Result<T, Status> {
    task.await
        .map_err(|_| Status::internal("the server has a bug; its log says more"))
}
