//! Connections, each with a thread: a client's calls are answered in order. What they hold is in [`limits`].

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::call::{Services, Switch, lock};
use crate::limits;
use crate::notifications::Notifications;
use crate::wire;

/// How long to wait when the system had no descriptor or thread for a connection.
const BREATH: Duration = Duration::from_millis(50);

/// Where a server listens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Address {
    /// On all addresses of the machine, as bmv2 does.
    Everywhere,
    /// For clients on this machine.
    Loopback,
}

/// A server that serves, until it is dropped.
pub struct Server {
    shared: Arc<Shared>,
    port: u16,
    thread: Option<JoinHandle<()>>,
    notifications: Option<Notifications>,
}

struct Shared {
    services: Arc<Services>,
    connections: Mutex<Vec<Arc<Connection>>>,
    held: AtomicUsize,
    stopping: AtomicBool,
}

struct Connection {
    stream: TcpStream,
    state: Mutex<State>,
}

struct State {
    /// When the last call ended, or the connection began.
    since: Instant,
    calling: bool,
}

impl Server {
    /// Starts serving a switch; port 0 takes a free one. Where notifications can't be published at their path, it serves
    /// without them, and says so.
    ///
    /// # Errors
    /// If it can't listen at the port, or there is no thread to serve with.
    pub fn start(
        switch: Switch,
        address: Address,
        port: u16,
        notifications: Option<&Path>,
    ) -> io::Result<Self> {
        let listener = listen(address, port)?;
        let port = listener.local_addr()?.port();
        let published = notifications.map(|path| format!("ipc://{}", path.display()));
        let services = Arc::new(Services::new(switch, port, published.unwrap_or_default()));
        let shared = Arc::new(Shared {
            services: Arc::clone(&services),
            connections: Mutex::default(),
            held: AtomicUsize::new(0),
            stopping: AtomicBool::new(false),
        });
        let accepting = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("thrift".to_owned())
            .spawn(move || accept(&listener, &accepting))?;
        let started = notifications.map(|path| (path, Notifications::start(path, services)));
        let notifications = started.and_then(|(path, started)| {
            let warn = |error: &io::Error| {
                let path = path.display();
                tracing::warn!(target: "thrift", "no notifications at {path}: {error}");
            };
            started.inspect_err(warn).ok()
        });
        Ok(Self {
            shared,
            port,
            thread: Some(thread),
            notifications,
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.notifications = None;
        self.shared.stopping.store(true, Ordering::Release);
        // Wakes the thread that waits for connections.
        let woken = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
        if woken.is_ok()
            && let Some(thread) = self.thread.take()
        {
            let _ = thread.join();
        }
        for connection in lock(&self.shared.connections).iter() {
            let _ = connection.stream.shutdown(Shutdown::Both);
        }
    }
}

fn listen(address: Address, port: u16) -> io::Result<TcpListener> {
    match address {
        Address::Loopback => TcpListener::bind((Ipv4Addr::LOCALHOST, port)),
        // Linux takes IPv4 at such a socket, too, where there is IPv6 at all.
        Address::Everywhere => {
            TcpListener::bind((Ipv6Addr::UNSPECIFIED, port)).or_else(|error| match error.kind() {
                io::ErrorKind::AddrInUse => Err(error),
                _ => TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)),
            })
        }
    }
}

fn accept(listener: &TcpListener, shared: &Arc<Shared>) {
    loop {
        let accepted = listener.accept();
        if shared.stopping.load(Ordering::Acquire) {
            return;
        }
        let begun = accepted.and_then(|(stream, peer)| begin(stream, peer, shared));
        if let Err(error) = begun {
            tracing::debug!(target: "thrift", "a connection could not be taken: {error}");
            std::thread::sleep(BREATH);
        }
    }
}

fn begin(stream: TcpStream, peer: SocketAddr, shared: &Arc<Shared>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(limits::UNREAD))?;
    let connection = Arc::new(Connection {
        stream,
        state: Mutex::new(State {
            since: Instant::now(),
            calling: false,
        }),
    });
    if !shared.admit(&connection) {
        tracing::warn!(target: "thrift", "{peer} refused: all {} connections are at work", limits::CONNECTIONS);
        return Ok(());
    }
    let (serving, of_thread) = (Arc::clone(shared), Arc::clone(&connection));
    let thread = std::thread::Builder::new().name("thrift-client".to_owned());
    let spawned = thread.spawn(move || {
        if let Err(error) = serve(&of_thread, &serving) {
            tracing::debug!(target: "thrift", "{peer}: {error}");
        }
        serving.forget(&of_thread);
    });
    if let Err(error) = spawned {
        shared.forget(&connection);
        return Err(error);
    }
    Ok(())
}

impl Shared {
    /// Gives a connection a place; that of the one without a call for the longest, if all are taken.
    fn admit(&self, connection: &Arc<Connection>) -> bool {
        let mut connections = lock(&self.connections);
        if connections.len() >= limits::CONNECTIONS {
            let idle = connections.iter().enumerate().filter_map(|(place, each)| {
                let state = lock(&each.state);
                (!state.calling).then_some((state.since, place))
            });
            let Some((_, place)) = idle.min() else {
                return false;
            };
            let ended = connections.swap_remove(place);
            let _ = ended.stream.shutdown(Shutdown::Both);
        }
        connections.push(Arc::clone(connection));
        true
    }

    fn forget(&self, connection: &Arc<Connection>) {
        let _ = connection.stream.shutdown(Shutdown::Both);
        lock(&self.connections).retain(|each| !Arc::ptr_eq(each, connection));
    }
}

/// Bytes that a connection holds, given back when it drops this.
struct Held<'a> {
    all: &'a AtomicUsize,
    own: usize,
}

impl Held<'_> {
    fn grow(&mut self, bytes: usize) -> io::Result<()> {
        self.own += bytes;
        if self.all.fetch_add(bytes, Ordering::Relaxed) + bytes > limits::HELD_BYTES {
            let words = format!("all clients hold more than {} bytes", limits::HELD_BYTES);
            return Err(io::Error::new(io::ErrorKind::OutOfMemory, words));
        }
        Ok(())
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.all.fetch_sub(self.own, Ordering::Relaxed);
    }
}

/// A message on its way in: its bytes are counted, and it has to be whole within a time.
struct Arriving<'a, R> {
    stream: &'a TcpStream,
    reader: &'a mut R,
    held: Held<'a>,
    /// When it has to be whole.
    end: Instant,
    left: usize,
}

impl<R: BufRead> Read for Arriving<'_, R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.left == 0 {
            let words = format!("a message of more than {} bytes", limits::MESSAGE_BYTES);
            return Err(io::Error::new(io::ErrorKind::InvalidData, words));
        }
        let remaining = self.end.saturating_duration_since(Instant::now());
        if remaining.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(remaining))?;
        let most = into.len().min(self.left);
        let count = self.reader.read(&mut into[..most])?;
        self.left -= count;
        self.held.grow(count)?;
        Ok(count)
    }
}

/// Answers calls until the client leaves, or sends what is no call.
fn serve(connection: &Connection, shared: &Shared) -> thrift::Result<()> {
    let stream = &connection.stream;
    let mut reader = BufReader::with_capacity(16 << 10, stream);
    loop {
        stream.set_read_timeout(None)?;
        if reader.fill_buf()?.is_empty() {
            return Ok(());
        }
        let mut arriving = Arriving {
            stream,
            reader: &mut reader,
            held: Held {
                all: &shared.held,
                own: 0,
            },
            end: Instant::now() + limits::ARRIVAL,
            left: limits::MESSAGE_BYTES,
        };
        let message = wire::read_call(&mut arriving)?;
        let mut held = arriving.held;
        lock(&connection.state).calling = true;
        let answer = catch_unwind(AssertUnwindSafe(|| shared.services.answer(&message)));
        let Ok(answer) = answer else {
            tracing::error!(target: "thrift", "a bug of the server: {} has no answer", message.name);
            return Ok(());
        };
        {
            let mut state = lock(&connection.state);
            state.calling = false;
            state.since = Instant::now();
        }
        held.grow(answer.len())?;
        let mut writer = stream;
        writer.write_all(&answer)?;
    }
}
