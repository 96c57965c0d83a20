//! Connections, and the resources that each client holds.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::Notify;

use crate::limits;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Peer {
    /// In clear text, or by TLS without certificates of clients.
    Clear(Option<IpAddr>),
    /// By TLS, without the certificate that it was asked for.
    Anonymous(Option<IpAddr>),
    /// By TLS, with a certificate: its common name, then its alternative names.
    Certificate {
        /// All names, of which there may be none.
        names: Vec<String>,
        address: Option<IpAddr>,
    },
    /// By a Unix socket.
    Local,
}

/// A holder of resources.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Client {
    /// All clients at an address.
    Address(IpAddr),
    /// All clients with a certificate.
    Certificate(String),
    /// Users of this machine.
    Local,
}

impl Peer {
    pub fn client(&self) -> Client {
        match self {
            Self::Certificate { names, address } => match (names.first(), address) {
                (Some(name), _) => Client::Certificate(name.clone()),
                (None, Some(address)) => Client::Address(*address),
                (None, None) => Client::Local,
            },
            Self::Clear(Some(address)) | Self::Anonymous(Some(address)) => {
                Client::Address(*address)
            }
            Self::Clear(None) | Self::Anonymous(None) | Self::Local => Client::Local,
        }
    }
}

/// Resources that are counted by client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Calls that are not StreamChannels.
    Calls,
    /// Reads, which count as calls, too.
    Reads,
    /// Subscriptions, which count as calls, too.
    Subscriptions,
    /// Watches of traces, which count as calls, too.
    Watches,
    /// Watches of telemetry, which count as calls, too.
    Telemetries,
    /// Cells that are watched.
    Cells,
    /// StreamChannels.
    Streams,
    Bytes,
}

const KINDS: usize = 8;

impl Kind {
    /// The most in all, and of one client.
    fn limits(self) -> (usize, usize) {
        match self {
            Self::Calls => (limits::CALLS, limits::CALLS_OF_ONE),
            Self::Reads => (limits::READS, limits::READS_OF_ONE),
            Self::Subscriptions => (limits::SUBSCRIPTIONS, limits::SUBSCRIPTIONS_OF_ONE),
            Self::Watches => (limits::WATCHES, limits::WATCHES_OF_ONE),
            Self::Telemetries => (limits::TELEMETRIES, limits::TELEMETRIES_OF_ONE),
            Self::Cells => (limits::CELLS, limits::CELLS_OF_ONE),
            Self::Streams => (limits::STREAMS, limits::STREAMS_OF_ONE),
            Self::Bytes => (limits::HELD_BYTES, limits::HELD_BYTES_OF_ONE),
        }
    }

    fn what(self) -> &'static str {
        match self {
            Self::Calls => "calls",
            Self::Reads => "reads",
            Self::Subscriptions => "subscriptions",
            Self::Watches => "watches of traces",
            Self::Telemetries => "watches of telemetry",
            Self::Cells => "cells watched",
            Self::Streams => "streams",
            Self::Bytes => "bytes of messages",
        }
    }
}

type Counts = [usize; KINDS];

#[derive(Default)]
struct State {
    in_all: Counts,
    of_one: HashMap<Client, Counts>,
}

/// Resources held by all clients together, and by each.
#[derive(Default)]
pub struct Usage(Mutex<State>);

/// An amount of a resource, given back when dropped.
pub struct Share {
    usage: Arc<Usage>,
    client: Client,
    kind: Kind,
    amount: usize,
}

impl Usage {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a share; an error names the limit.
    pub fn take(
        self: &Arc<Self>,
        client: &Client,
        kind: Kind,
        amount: usize,
    ) -> Result<Share, String> {
        let mut share = Share {
            usage: Arc::clone(self),
            client: client.clone(),
            kind,
            amount: 0,
        };
        share.grow(amount)?;
        Ok(share)
    }

    pub fn in_all(&self, kind: Kind) -> usize {
        self.lock().in_all[kind as usize]
    }
}

impl Share {
    /// Takes more. After an error, which names the limit, the amount is as before.
    pub fn grow(&mut self, amount: usize) -> Result<(), String> {
        let (most, most_of_one) = self.kind.limits();
        let place = self.kind as usize;
        let what = self.kind.what();
        let mut state = self.usage.lock();
        if state.in_all[place] + amount > most {
            return Err(format!("the server has {most} {what}, which is the limit"));
        }
        let of_one = state.of_one.entry(self.client.clone()).or_default();
        if of_one[place] + amount > most_of_one {
            return Err(format!(
                "this client has {most_of_one} {what}, which is the limit"
            ));
        }
        of_one[place] += amount;
        state.in_all[place] += amount;
        self.amount += amount;
        Ok(())
    }

    /// Gives all back, and may take more later.
    pub fn give_back(&mut self) {
        let amount = std::mem::take(&mut self.amount);
        if amount == 0 {
            return;
        }
        let place = self.kind as usize;
        let mut state = self.usage.lock();
        state.in_all[place] -= amount;
        if let Some(of_one) = state.of_one.get_mut(&self.client) {
            of_one[place] -= amount;
            if *of_one == Counts::default() {
                state.of_one.remove(&self.client);
            }
        }
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.give_back();
    }
}

#[derive(Default)]
struct Calls {
    next: u64,
    open: usize,
    /// When each answer that is not a stream was last taken from.
    answers: BTreeMap<u64, Instant>,
    called: bool,
}

pub struct Connection {
    pub peer: Peer,
    pub client: Client,
    calls: Mutex<Calls>,
    used: Mutex<Instant>,
    closing: Notify,
}

impl Connection {
    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn used(&self) -> MutexGuard<'_, Instant> {
        self.used.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that a call begins; it ends when the guard is dropped.
    pub fn call(self: &Arc<Self>) -> Calling {
        let mut calls = self.calls();
        calls.open += 1;
        calls.called = true;
        calls.next += 1;
        Calling {
            connection: Arc::clone(self),
            number: calls.next,
        }
    }

    /// When the connection is closed for want of calls, or for an answer that isn't taken.
    pub fn deadline(&self) -> Option<Instant> {
        let calls = self.calls();
        let unread = calls
            .answers
            .values()
            .min()
            .map(|taken| *taken + limits::UNREAD);
        if calls.open > 0 {
            return unread;
        }
        let patience = if calls.called {
            limits::IDLE_CONNECTION
        } else {
            limits::FIRST_CALL
        };
        Some(*self.used() + patience)
    }

    fn is_idle(&self) -> bool {
        self.calls().open == 0
    }

    /// Resolves when the connection has to make room.
    pub async fn closing(&self) {
        self.closing.notified().await;
    }
}

pub struct Calling {
    connection: Arc<Connection>,
    number: u64,
}

impl Calling {
    /// Notes that the answer is being taken. A connection with an untaken answer is closed.
    pub fn answers(&self) {
        let mut calls = self.connection.calls();
        calls.answers.insert(self.number, Instant::now());
    }
}

impl Drop for Calling {
    fn drop(&mut self) {
        *self.connection.used() = Instant::now();
        let mut calls = self.connection.calls();
        calls.open -= 1;
        calls.answers.remove(&self.number);
    }
}

#[derive(Default)]
struct Open {
    next: u64,
    connections: BTreeMap<u64, Arc<Connection>>,
    /// By address, including connections that are still in the TLS handshake.
    of_one: HashMap<Client, usize>,
    in_all: usize,
}

#[derive(Default)]
pub struct Connections(Mutex<Open>);

/// Room for a connection, given back when this is dropped.
pub struct Room {
    connections: Arc<Connections>,
    client: Client,
    number: Option<u64>,
}

impl Connections {
    fn lock(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Makes room for a connection, if need be in place of the one that has been idle longest.
    pub fn admit(self: &Arc<Self>, client: Client) -> Option<Room> {
        let mut open = self.lock();
        if open.of_one.get(&client).copied().unwrap_or(0) >= limits::CONNECTIONS_OF_ONE {
            return None;
        }
        if open.in_all >= limits::CONNECTIONS {
            let idle = open.connections.values();
            let idle = idle.filter(|each| each.is_idle());
            idle.min_by_key(|each| *each.used())?.closing.notify_one();
            if open.in_all >= limits::CONNECTIONS + limits::CONNECTIONS / 8 {
                return None;
            }
        }
        open.in_all += 1;
        *open.of_one.entry(client.clone()).or_default() += 1;
        Some(Room {
            connections: Arc::clone(self),
            client,
            number: None,
        })
    }
}

impl Room {
    pub fn connection(&mut self, peer: Peer) -> Arc<Connection> {
        let connection = Arc::new(Connection {
            client: peer.client(),
            peer,
            calls: Mutex::default(),
            used: Mutex::new(Instant::now()),
            closing: Notify::new(),
        });
        let mut open = self.connections.lock();
        let number = open.next;
        open.next += 1;
        open.connections.insert(number, Arc::clone(&connection));
        self.number = Some(number);
        connection
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        let mut open = self.connections.lock();
        open.in_all -= 1;
        if let Some(number) = self.number {
            open.connections.remove(&number);
        }
        let left = open.of_one.get_mut(&self.client).map(|count| {
            *count -= 1;
            *count
        });
        if left == Some(0) {
            open.of_one.remove(&self.client);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_bounded_and_come_back() {
        let usage = Arc::new(Usage::default());
        let (one, other) = (Client::Local, Client::Certificate("other".to_owned()));
        let mut shares: Vec<Share> = (0..limits::READS_OF_ONE)
            .map(|_| usage.take(&one, Kind::Reads, 1).expect("there is room"))
            .collect();
        assert!(usage.take(&one, Kind::Reads, 1).is_err());
        assert!(usage.take(&other, Kind::Reads, 1).is_ok());
        shares.pop();
        assert!(usage.take(&one, Kind::Reads, 1).is_ok());
        drop(shares);
        assert_eq!(usage.in_all(Kind::Reads), 0);
        assert!(usage.lock().of_one.is_empty());
    }

    #[test]
    fn a_share_grows_until_its_limit() {
        let usage = Arc::new(Usage::default());
        let mut share = usage
            .take(&Client::Local, Kind::Bytes, limits::HELD_BYTES_OF_ONE - 1)
            .expect("there is room");
        assert!(share.grow(1).is_ok());
        assert!(share.grow(1).is_err());
        share.give_back();
        assert_eq!(usage.in_all(Kind::Bytes), 0);
    }

    #[test]
    fn a_silent_connection_makes_room() {
        let all = Arc::new(Connections::default());
        let address = |number: usize| Client::Certificate((number % 4).to_string());
        let mut rooms: Vec<Room> = (0..limits::CONNECTIONS)
            .map(|number| all.admit(address(number)).expect("there is room"))
            .collect();
        assert!(all.admit(Client::Local).is_none());
        let silent = rooms[0].connection(Peer::Local);
        let busy = rooms[1].connection(Peer::Local);
        let _call = busy.call();
        assert!(all.admit(Client::Local).is_some());
        assert!(silent.deadline().is_some());
        assert!(busy.deadline().is_none());
        drop(rooms);
        assert_eq!(all.lock().in_all, 0);
    }
}
