//! A server's life: it listens, serves on threads of its own, and stops.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use phb_gnmi::{ServerCounters, Tree};
use phb_node::Control;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;

use crate::authorization::Bindings;
use crate::calls::Services;
use crate::config::{Node, ServerConfig};
use crate::connections::Connections;
use crate::listen::{self, Accepted, Listener};
use crate::tls::Current;
use crate::{gnmi, limits, p4runtime, telemetry, traces};

/// Threads for long work: large writes and programs, one of those at a time.
const LONG_WORK: usize = 4;

/// How long connections have to end when the server stops.
const GRACE: Duration = Duration::from_millis(500);

/// How often a connection checks whether it is still wanted.
const LOOK: Duration = Duration::from_secs(5);

/// Why a server could not be started; one line for the user.
#[derive(Debug)]
pub struct ServerError(String);

impl fmt::Display for ServerError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for ServerError {}

/// A server that serves.
pub struct Server {
    runtime: Option<Runtime>,
    services: Arc<Services>,
    stopping: watch::Sender<bool>,
    address: String,
}

impl Server {
    /// Starts serving a switch.
    ///
    /// # Errors
    /// Says which address can't be used, or which file.
    pub fn start(node: Node, config: ServerConfig) -> Result<Self, ServerError> {
        let tls = config.tls.map(Current::read).transpose();
        let tls = tls.map_err(ServerError)?.map(Arc::new);
        let runtime = Builder::new_multi_thread()
            .worker_threads(config.workers.max(1))
            .max_blocking_threads(LONG_WORK)
            .thread_name("server")
            .enable_all()
            .build()
            .map_err(|error| ServerError(format!("there are no threads to serve with: {error}")))?;
        let entered = runtime.enter();
        let given = &config.address;
        let (mut listeners, address) = listen::listen(given).map_err(|_| {
            ServerError(format!(
                "can not listen at {given}: the address is in use, not local, or not allowed"
            ))
        })?;
        if let Some(socket) = &config.unix {
            let listener = listen::listen_locally(socket).map_err(|error| {
                let (path, words) = (socket.path.display(), crate::tls::words(&error));
                ServerError(format!("can not listen at {path}: {words}"))
            })?;
            listeners.push(listener);
        }
        let counters = Arc::new(ServerCounters::default());
        let hidden = config.manners.hidden(&node);
        let tree = Tree::new(
            Arc::clone(&node),
            config.names.clone(),
            hidden,
            config.manners.attachments(config.attachments),
            Arc::clone(&counters),
        );
        let device = config.device_id;
        let gnmi = gnmi::Service::new(device, Arc::new(tree), Arc::clone(&counters));
        let gnmi = config.gnmi.then(|| Arc::new(gnmi));
        let traces = Arc::new(traces::Service::new(device, Arc::clone(&node)));
        let (manners, names, of_telemetry) = (config.manners, config.names, Arc::clone(&node));
        let p4runtime =
            p4runtime::Service::new(device, node, manners, names, Arc::clone(&counters));
        let p4runtime = Arc::new(p4runtime);
        let telemetry = telemetry::Service::new(device, of_telemetry, Arc::clone(&p4runtime));
        let telemetry = Arc::new(telemetry);
        runtime.spawn(Arc::clone(&p4runtime).forward_packets());
        runtime.spawn(Arc::clone(&p4runtime).forward_notifications());
        let bindings = config.authorization.map(|all| Arc::new(Bindings::new(all)));
        let services = Services::new(
            device, p4runtime, gnmi, traces, telemetry, bindings, counters,
        );
        let services = Arc::new(services);
        let (stopping, stopped) = watch::channel(false);
        let connections = Arc::new(Connections::default());
        for listener in listeners {
            let services = Arc::clone(&services);
            let tls = tls.clone();
            let connections = Arc::clone(&connections);
            runtime.spawn(run(listener, tls, connections, services, stopped.clone()));
        }
        drop(entered);
        Ok(Self {
            runtime: Some(runtime),
            services,
            stopping,
            address,
        })
    }

    /// Where it listens, with the port that port 0 has become.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The way for changes by other servers of the switch, on threads of their own.
    #[must_use]
    pub fn control(&self) -> Arc<dyn Control> {
        Arc::clone(&self.services.p4runtime) as Arc<dyn Control>
    }

    /// Ends all streams and stops serving.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        let Some(runtime) = self.runtime.take() else {
            return;
        };
        self.services.p4runtime.stop();
        self.stopping.send_replace(true);
        // Without connections, nobody listens to this channel.
        let ended = async { tokio::time::timeout(GRACE, self.stopping.closed()).await };
        let _ = runtime.block_on(ended);
        runtime.shutdown_timeout(GRACE);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

async fn run(
    listener: Listener,
    tls: Option<Arc<Current>>,
    connections: Arc<Connections>,
    services: Arc<Services>,
    mut stopping: watch::Receiver<bool>,
) {
    let counters = Arc::clone(&services.counters);
    let refused = move || {
        counters.connections_refused.fetch_add(1, Ordering::Relaxed);
    };
    let stopped = stopping.clone();
    let serve = move |accepted: Accepted| {
        services
            .counters
            .connections
            .fetch_add(1, Ordering::Relaxed);
        tokio::spawn(serve(accepted, Arc::clone(&services), stopped.clone()));
    };
    tokio::select! {
        () = listen::accept(listener, tls, connections, refused, serve) => {}
        _ = stopping.wait_for(|stop| *stop) => {}
    }
}

async fn serve(accepted: Accepted, services: Arc<Services>, mut stopping: watch::Receiver<bool>) {
    let (stream, peer, mut room) = accepted;
    let connection = room.connection(peer);
    let of_calls = Arc::clone(&connection);
    let service = service_fn(move |request| {
        let (services, connection) = (Arc::clone(&services), Arc::clone(&of_calls));
        let answering: Pin<Box<dyn Future<Output = _> + Send>> =
            Box::pin(services.call(connection, request));
        async move { Ok::<_, crate::wire::Never>(answering.await) }
    });
    let mut builder = http2::Builder::new(TokioExecutor::new());
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(limits::CALLS_OF_A_CONNECTION)
        .max_header_list_size(limits::METADATA_BYTES)
        .initial_stream_window_size(limits::STREAM_WINDOW)
        .initial_connection_window_size(limits::CONNECTION_WINDOW)
        .max_send_buf_size(limits::STREAM_WINDOW as usize)
        .keep_alive_interval(limits::KEEPALIVE)
        .keep_alive_timeout(limits::KEEPALIVE_TIMEOUT);
    let serving = builder.serve_connection(TokioIo::new(stream), service);
    let mut serving = std::pin::pin!(serving);
    let mut looks = tokio::time::interval(LOOK);
    loop {
        tokio::select! {
            _ = serving.as_mut() => return,
            () = connection.closing() => break,
            _ = stopping.wait_for(|stop| *stop) => break,
            _ = looks.tick() => {
                if connection.deadline().is_some_and(|deadline| deadline <= Instant::now()) {
                    break;
                }
            }
        }
    }
    serving.as_mut().graceful_shutdown();
    let _ = tokio::time::timeout(GRACE, serving).await;
}
