//! Calls: their service, and the resources that they hold.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use http::{Request, Response};
use hyper::body::Incoming;
use phb_gnmi::ServerCounters;
use tonic::Status;
use tonic::body::Body;

use crate::authorization::{Bindings, Permit};
use crate::connections::{Connection, Kind, Share, Usage};
use crate::wire::{Counted, Held, Lasting, Responding, serve, status};
use crate::{gnmi, limits, p4runtime, reflection, telemetry, traces};

type Call = Counted<Incoming>;

/// A service of tonic's own, behind one type.
type Other = Box<dyn Fn(Request<Call>) -> Responding + Send + Sync>;

pub struct Services {
    pub device_id: u64,
    pub p4runtime: Arc<p4runtime::Service>,
    /// None: not served.
    pub gnmi: Option<Arc<gnmi::Service>>,
    pub traces: Arc<traces::Service>,
    pub telemetry: Arc<telemetry::Service>,
    pub bindings: Option<Arc<Bindings>>,
    pub usage: Arc<Usage>,
    pub counters: Arc<ServerCounters>,
    health: Other,
    reflection: OnceLock<[Option<Other>; 2]>,
}

fn other<S>(service: S) -> Other
where
    S: tower_service::Service<
            Request<Call>,
            Response = Response<Body>,
            Error = std::convert::Infallible,
        > + Clone
        + Send
        + Sync
        + 'static,
    S::Future: Send,
{
    Box::new(move |request| {
        let mut service = service.clone();
        Box::pin(async move {
            match service.call(request).await {
                Ok(response) => response,
                Err(never) => match never {},
            }
        })
    })
}

fn reflections() -> [Option<Other>; 2] {
    let builder = || {
        tonic_reflection::server::Builder::configure()
            .register_file_descriptor_set(reflection::descriptors())
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET)
    };
    [
        builder().build_v1().ok().map(other),
        builder().build_v1alpha().ok().map(other),
    ]
}

fn ready(status: Status) -> Responding {
    Box::pin(std::future::ready(status.into_http()))
}

fn unknown(path: &str) -> Responding {
    ready(Status::unimplemented(format!(
        "there is no method {path} here"
    )))
}

fn add(counter: &AtomicU64, amount: usize) {
    counter.fetch_add(amount as u64, Ordering::Relaxed);
}

impl Services {
    pub fn new(
        device_id: u64,
        p4runtime: Arc<p4runtime::Service>,
        gnmi: Option<Arc<gnmi::Service>>,
        traces: Arc<traces::Service>,
        telemetry: Arc<telemetry::Service>,
        bindings: Option<Arc<Bindings>>,
        counters: Arc<ServerCounters>,
    ) -> Self {
        // The empty name, for the server as a whole, serves from the start.
        let health = tonic_health::server::HealthService::from_health_reporter(
            tonic_health::server::HealthReporter::new(),
        );
        Self {
            device_id,
            p4runtime,
            gnmi,
            traces,
            telemetry,
            bindings,
            usage: Arc::default(),
            counters,
            health: other(tonic_health::pb::health_server::HealthServer::new(health)),
            reflection: OnceLock::new(),
        }
    }

    pub async fn call(
        self: Arc<Self>,
        connection: Arc<Connection>,
        request: Request<Incoming>,
    ) -> Response<Body> {
        self.counters.calls.fetch_add(1, Ordering::Relaxed);
        let calling = connection.call();
        let path = request.uri().path().to_owned();
        let is_channel = path == "/p4.v1.P4Runtime/StreamChannel";
        let is_stream = is_channel
            || path == "/gnmi.gNMI/Subscribe"
            || path.ends_with("/Watch")
            || path.ends_with("/ServerReflectionInfo");
        let client = &connection.client;
        let share = (!is_channel)
            .then(|| self.usage.take(client, Kind::Calls, 1))
            .transpose();
        let held = self.usage.take(client, Kind::Bytes, 0);
        let (share, held) = match (share, held) {
            (Ok(share), Ok(held)) => (share, Held::new(held)),
            (Err(why), _) | (_, Err(why)) => {
                self.counters.calls_refused.fetch_add(1, Ordering::Relaxed);
                return Status::resource_exhausted(why).into_http();
            }
        };
        let counters = Arc::clone(&self.counters);
        let body_held = held.clone();
        let request = request.map(|body| {
            Counted::new(body, body_held, move |bytes| {
                add(&counters.bytes_received, bytes)
            })
        });
        let permit = Permit::of(&connection.peer, self.bindings.as_ref());
        let response = self.route(&path, &connection, permit, held, request).await;
        let refused = response.headers().get("grpc-status");
        if refused.is_some_and(|code| code.as_bytes() != b"0") {
            self.counters.calls_refused.fetch_add(1, Ordering::Relaxed);
            if is_channel {
                self.counters
                    .streams_refused
                    .fetch_add(1, Ordering::Relaxed);
            }
        }
        let counters = Arc::clone(&self.counters);
        response.map(|body| {
            let count = move |bytes| add(&counters.bytes_sent, bytes);
            Body::new(Lasting::new(body, calling, is_stream, share, count))
        })
    }

    fn route(
        &self,
        path: &str,
        connection: &Arc<Connection>,
        permit: Permit,
        held: Held,
        request: Request<Call>,
    ) -> Responding {
        match (path.split('/').nth(1), &self.gnmi) {
            (Some("p4.v1.P4Runtime"), _) => {
                self.route_p4runtime(path, connection, permit, held, request)
            }
            (Some("gnmi.gNMI"), Some(gnmi)) => {
                self.route_gnmi(Arc::clone(gnmi), path, connection, permit, held, request)
            }
            (Some("phb.trace.v1.Tracing"), _) => {
                self.route_traces(path, connection, permit, request)
            }
            (Some("phb.telemetry.v1.Telemetry"), _) => {
                self.route_telemetry(path, connection, permit, request)
            }
            _ => self.route_other(path, permit, request),
        }
    }

    fn take(&self, connection: &Connection, kind: Kind) -> Result<Share, Status> {
        let share = self.usage.take(&connection.client, kind, 1);
        share.map_err(Status::resource_exhausted)
    }

    fn route_p4runtime(
        &self,
        path: &str,
        connection: &Arc<Connection>,
        permit: Permit,
        held: Held,
        request: Request<Call>,
    ) -> Responding {
        let (large, small) = (limits::MESSAGE_BYTES, limits::SMALL_MESSAGE_BYTES);
        let p4runtime = Arc::clone(&self.p4runtime);
        match path {
            "/p4.v1.P4Runtime/Write" => {
                let handler =
                    |messages| async move { p4runtime.write(permit, messages, held).await };
                serve(request, large, handler)
            }
            "/p4.v1.P4Runtime/Read" => {
                let share = self.take(connection, Kind::Reads);
                let handler =
                    |messages| async move { p4runtime.read(permit, messages, share?).await };
                serve(request, small, handler)
            }
            "/p4.v1.P4Runtime/SetForwardingPipelineConfig" => {
                let handler = |messages| p4runtime.set_config(permit, messages, held);
                serve(request, large, handler)
            }
            "/p4.v1.P4Runtime/GetForwardingPipelineConfig" => {
                let handler =
                    |messages| async move { p4runtime.get_config(permit, messages, held).await };
                serve(request, small, handler)
            }
            "/p4.v1.P4Runtime/StreamChannel" => {
                let (usage, client) = (Arc::clone(&self.usage), connection.client.clone());
                let handler = |messages| async move {
                    p4runtime.stream(permit, messages, held, &usage, &client)
                };
                serve(request, limits::STREAM_MESSAGE_BYTES, handler)
            }
            "/p4.v1.P4Runtime/Capabilities" => {
                let handler =
                    |messages| async move { p4runtime.capabilities(permit, messages).await };
                serve(request, small, handler)
            }
            _ => unknown(path),
        }
    }

    fn route_gnmi(
        &self,
        gnmi: Arc<gnmi::Service>,
        path: &str,
        connection: &Arc<Connection>,
        permit: Permit,
        held: Held,
        request: Request<Call>,
    ) -> Responding {
        let small = limits::SMALL_MESSAGE_BYTES;
        match path {
            "/gnmi.gNMI/Capabilities" => {
                let handler = |messages| async move { gnmi.capabilities(permit, messages).await };
                serve(request, small, handler)
            }
            "/gnmi.gNMI/Get" => {
                let handler = |messages| async move { gnmi.get(permit, messages, held).await };
                serve(request, small, handler)
            }
            "/gnmi.gNMI/Set" => {
                let handler = |messages| async move { gnmi.set(permit, messages, held).await };
                serve(request, small, handler)
            }
            "/gnmi.gNMI/Subscribe" => {
                let share = self.take(connection, Kind::Subscriptions);
                let handler = |messages| async move { gnmi.subscribe(permit, messages, share?) };
                serve(request, small, handler)
            }
            _ => unknown(path),
        }
    }

    fn route_traces(
        &self,
        path: &str,
        connection: &Arc<Connection>,
        permit: Permit,
        request: Request<Call>,
    ) -> Responding {
        if path != "/phb.trace.v1.Tracing/Watch" {
            return unknown(path);
        }
        let traces = Arc::clone(&self.traces);
        let share = self.take(connection, Kind::Watches);
        let handler = |messages| async move { traces.watch(permit, messages, share?).await };
        serve(request, limits::SMALL_MESSAGE_BYTES, handler)
    }

    fn route_telemetry(
        &self,
        path: &str,
        connection: &Arc<Connection>,
        permit: Permit,
        request: Request<Call>,
    ) -> Responding {
        if path != "/phb.telemetry.v1.Telemetry/Watch" {
            return unknown(path);
        }
        let telemetry = Arc::clone(&self.telemetry);
        let share = self.take(connection, Kind::Telemetries);
        let (usage, client) = (Arc::clone(&self.usage), connection.client.clone());
        let handler = |messages| async move {
            telemetry
                .watch(permit, messages, share?, usage, client)
                .await
        };
        serve(request, limits::SMALL_MESSAGE_BYTES, handler)
    }

    fn route_other(&self, path: &str, permit: Permit, request: Request<Call>) -> Responding {
        match path {
            // Process monitors need no rights for this.
            "/grpc.health.v1.Health/Check" | "/grpc.health.v1.Health/Watch" => {
                (self.health)(request)
            }
            "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
            | "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo" => {
                if let Err(refusal) = permit.require(self.device_id, None, false) {
                    return ready(status(refusal));
                }
                let [v1, v1alpha] = self.reflection.get_or_init(reflections);
                match if path.contains("v1alpha") {
                    v1alpha
                } else {
                    v1
                } {
                    Some(service) => service(request),
                    None => ready(Status::internal("the descriptors can not be read")),
                }
            }
            _ => unknown(path),
        }
    }
}
