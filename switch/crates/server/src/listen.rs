//! Where clients come in: TCP and Unix sockets, with TLS where it is asked for.

use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpSocket, UnixListener};
use tokio_rustls::TlsAcceptor;

use crate::config::UnixSocket;
use crate::connections::{Client, Connections, Peer, Room};
use crate::limits;
use crate::tls::{self, Current};

/// How long to wait when the system had no descriptor for a connection.
const BREATH: Duration = Duration::from_millis(50);

/// Connections that may come at once; a client without room tries again after a second.
const BACKLOG: u32 = 4096;

pub trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Wire for T {}

/// A new connection: its bytes, its client, and its room.
pub type Accepted = (Box<dyn Wire>, Peer, Room);

pub enum Listener {
    Tcp(TcpListener),
    /// At a path, which is removed in the end.
    Unix(UnixListener, PathBuf),
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Self::Unix(_, path) = self {
            let _ = std::fs::remove_file(path);
        }
    }
}

/// Listens at `HOST:PORT` (all addresses, one port) or `unix:PATH`; gives address and port.
pub fn listen(address: &str) -> io::Result<(Vec<Listener>, String)> {
    if let Some(path) = address.strip_prefix("unix:") {
        let path = path.strip_prefix("//").unwrap_or(path);
        return Ok((vec![unix(Path::new(path), None)?], address.to_owned()));
    }
    let (host, _) = address
        .rsplit_once(':')
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "expected HOST:PORT"))?;
    let mut listeners = Vec::new();
    let mut port = None;
    let mut refused = None;
    for place in address.to_socket_addrs()? {
        let place = SocketAddr::new(place.ip(), port.unwrap_or(place.port()));
        match bind(place) {
            Ok(listener) => {
                port.get_or_insert(listener.local_addr()?.port());
                listeners.push(Listener::Tcp(listener));
            }
            Err(error) => refused = Some(error),
        }
    }
    match (port, refused) {
        (Some(port), _) => Ok((listeners, format!("{host}:{port}"))),
        (None, Some(error)) => Err(error),
        (None, None) => Err(io::ErrorKind::AddrNotAvailable.into()),
    }
}

fn bind(place: SocketAddr) -> io::Result<TcpListener> {
    let socket = if place.is_ipv4() {
        TcpSocket::new_v4()?
    } else {
        TcpSocket::new_v6()?
    };
    socket.set_reuseaddr(true)?;
    socket.bind(place)?;
    socket.listen(BACKLOG)
}

fn unix(path: &Path, mode: Option<u32>) -> io::Result<Listener> {
    let stale = std::fs::symlink_metadata(path).is_ok_and(|about| about.file_type().is_socket());
    if stale {
        if std::os::unix::net::UnixStream::connect(path).is_ok() {
            return Err(io::ErrorKind::AddrInUse.into());
        }
        std::fs::remove_file(path)?;
    }
    let listener = UnixListener::bind(path)?;
    let listener = Listener::Unix(listener, path.to_owned());
    if let Some(mode) = mode {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode))?;
    }
    Ok(listener)
}

pub fn listen_locally(socket: &UnixSocket) -> io::Result<Listener> {
    unix(&socket.path, Some(socket.mode))
}

/// Takes connections as long as it is polled, and hands each to `serve` in a task of its own.
pub async fn accept<F>(
    listener: Listener,
    tls: Option<Arc<Current>>,
    connections: Arc<Connections>,
    refused: impl Fn() + Clone + Send + 'static,
    serve: F,
) where
    F: Fn(Accepted) + Clone + Send + 'static,
{
    let mut failing = false;
    loop {
        let next = match &listener {
            Listener::Tcp(listener) => listener.accept().await.map(|(stream, from)| {
                let _ = stream.set_nodelay(true);
                (Box::new(stream) as Box<dyn Wire>, Some(from.ip()))
            }),
            Listener::Unix(listener, _) => {
                let accepted = listener.accept().await;
                accepted.map(|(stream, _)| (Box::new(stream) as Box<dyn Wire>, None))
            }
        };
        let (stream, from) = match next {
            Ok(accepted) => accepted,
            Err(error) => {
                if !std::mem::replace(&mut failing, true) {
                    let why = tls::words(&error);
                    tracing::warn!(target: "server", "connections can not be taken: {why}");
                }
                tokio::time::sleep(BREATH).await;
                continue;
            }
        };
        if std::mem::take(&mut failing) {
            tracing::warn!(target: "server", "connections are taken again");
        }
        let is_local = matches!(listener, Listener::Unix(..));
        let from = from.map(|address| address.to_canonical());
        let Some(room) = connections.admit(from.map_or(Client::Local, Client::Address)) else {
            refused();
            continue;
        };
        match tls.as_ref().filter(|_| !is_local) {
            None => {
                let peer = if is_local {
                    Peer::Local
                } else {
                    Peer::Clear(from)
                };
                serve((stream, peer, room));
            }
            Some(current) => {
                let (current, serve) = (Arc::clone(current), serve.clone());
                let refused = refused.clone();
                tokio::spawn(async move {
                    match shake_hands(stream, &current, from).await {
                        Some((stream, peer)) => serve((stream, peer, room)),
                        None => refused(),
                    }
                });
            }
        }
    }
}

async fn shake_hands(
    stream: Box<dyn Wire>,
    current: &Current,
    address: Option<IpAddr>,
) -> Option<(Box<dyn Wire>, Peer)> {
    let shaking = TlsAcceptor::from(current.get()).accept(stream);
    let stream = match tokio::time::timeout(limits::HANDSHAKE, shaking).await {
        Ok(Ok(stream)) => stream,
        Ok(Err(error)) => {
            tracing::debug!(target: "tls", "a handshake failed: {error}");
            return None;
        }
        Err(_) => return None,
    };
    let certificates = stream.get_ref().1.peer_certificates();
    let peer = match certificates.and_then(|chain| chain.first()) {
        Some(certificate) => Peer::Certificate {
            names: tls::names(certificate),
            address,
        },
        None if current.asks_clients() => Peer::Anonymous(address),
        // No certificate was asked for.
        None => Peer::Clear(address),
    };
    Some((Box::new(stream), peer))
}
