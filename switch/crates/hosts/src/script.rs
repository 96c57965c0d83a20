//! Request/response traffic, as the Chariot scripts of the IBM/Cisco S/390 tests make it (their appendix F):
//!
//! ```text
//! client                                  server
//! CONNECT_INITIATE                        CONNECT_ACCEPT
//! LOOP records_per_connection             LOOP
//!   START_TIMER
//!   SEND request_bytes                      RECEIVE request_bytes
//!                                           SLEEP think
//!   RECEIVE reply_bytes                     SEND reply_bytes
//!   END_TIMER
//! DISCONNECT                              DISCONNECT
//! ```
//!
//! The client then starts the script over on a new connection until the run ends. Setting up a connection is outside
//! the measured time.

use std::net::Ipv4Addr;

use phb_network::Time;
use smoltcp::socket::tcp::{Socket, State};

use crate::configuration::{ConfigError, is_unicast};
use crate::statistics::HostStatistics;

/// A client: one connection at a time, one request at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The client's own address.
    pub client_address: Ipv4Addr,
    /// The server's address.
    pub server_address: Ipv4Addr,
    /// The server's port.
    pub server_port: u16,
    /// Length of a request, in bytes.
    pub request_bytes: u64,
    /// Length of the reply that the client waits for, in bytes.
    pub reply_bytes: u64,
    /// Transactions on a connection before the client closes it and opens the next.
    pub records_per_connection: u64,
    /// When the first connection is opened, in ns.
    pub start: Time,
    /// From when on no transaction is started any more, in ns; `None` goes on as long as the run.
    pub stop: Option<Time>,
}

impl Flow {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        ConfigError::unless_positive("server_port", u64::from(self.server_port))?;
        ConfigError::unless_positive("request_bytes", self.request_bytes)?;
        ConfigError::unless_positive("reply_bytes", self.reply_bytes)?;
        ConfigError::unless_positive("records_per_connection", self.records_per_connection)?;
        if !is_unicast(self.server_address) {
            let message = format!("{} is not a unicast address", self.server_address);
            return Err(ConfigError::new("server_address", message));
        }
        Ok(())
    }
}

/// A server: takes connections on one address and port, any number at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// The address it listens on, one of the host's.
    pub address: Ipv4Addr,
    /// The port it listens on.
    pub port: u16,
    /// Length of a request, in bytes.
    pub request_bytes: u64,
    /// Length of a reply, in bytes.
    pub reply_bytes: u64,
    /// Time between a complete request and the start of its reply, in ns.
    pub think: Time,
}

impl Service {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        ConfigError::unless_positive("server_port", u64::from(self.port))?;
        ConfigError::unless_positive("request_bytes", self.request_bytes)?;
        ConfigError::unless_positive("reply_bytes", self.reply_bytes)
    }
}

/// A completed request and reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transaction {
    /// The client: its number on its host, in the order of adding.
    pub flow: usize,
    /// When the client handed the request to TCP, in ns.
    pub start: Time,
    /// When it had received the whole reply, in ns.
    pub end: Time,
}

/// What a step of a script means to its host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nothing more to do until a segment or a timer comes.
    Waits,
    /// The script has closed the connection as it should; TCP still says goodbye.
    Ended,
    /// The connection is lost to the script.
    Failed,
}

/// The program that a connection runs.
pub(crate) enum Script {
    Client(Client),
    Server(Server),
    /// The program is over; what still comes in is thrown away.
    Over,
}

impl Script {
    /// Goes as far as it can at `now` (ns).
    pub fn step(
        &mut self,
        now: Time,
        socket: &mut Socket<'_>,
        transactions: &mut Vec<Transaction>,
        statistics: &mut HostStatistics,
    ) -> Step {
        match self {
            Self::Client(client) => client.step(now, socket, transactions, statistics),
            Self::Server(server) => server.step(now, socket, statistics),
            Self::Over => {
                while socket
                    .recv(|data| (data.len(), data.len()))
                    .is_ok_and(|taken| taken > 0)
                {}
                Step::Waits
            }
        }
    }

    /// When the script wants to go on by itself, in ns.
    pub fn due(&self) -> Option<Time> {
        match self {
            Self::Server(server) => server.thinks_until,
            Self::Client(_) | Self::Over => None,
        }
    }
}

/// Hands up to `left` bytes to TCP; gives how many it took. Each byte tells its place in the stream.
fn push(socket: &mut Socket<'_>, left: u64, offset: &mut u64) -> u64 {
    let mut pushed = 0;
    while pushed < left && socket.can_send() {
        let wanted = usize::try_from(left - pushed).unwrap_or(usize::MAX);
        let start = *offset;
        let taken = socket.send(|room| {
            let count = room.len().min(wanted);
            for (byte, place) in room[..count].iter_mut().zip(start..) {
                *byte = pattern(place);
            }
            (count, count)
        });
        match taken {
            Ok(count) if count > 0 => {
                *offset += count as u64;
                pushed += count as u64;
            }
            _ => break,
        }
    }
    pushed
}

/// Takes everything that has arrived in order; gives how many bytes that was, and checks them.
fn pull(socket: &mut Socket<'_>, offset: &mut u64, statistics: &mut HostStatistics) -> u64 {
    let mut pulled = 0;
    while socket.can_recv() {
        let start = *offset;
        let taken = socket.recv(|data| {
            let wrong = data
                .iter()
                .zip(start..)
                .filter(|(byte, place)| **byte != pattern(*place))
                .count();
            (data.len(), (data.len(), wrong))
        });
        match taken {
            Ok((count, wrong)) if count > 0 => {
                *offset += count as u64;
                pulled += count as u64;
                statistics.bytes_corrupted += wrong as u64;
            }
            _ => break,
        }
    }
    pulled
}

/// The byte at a place in a stream. The period is prime, so no segment that is out of place fits by chance.
fn pattern(place: u64) -> u8 {
    const PERIOD: u64 = 251;
    (place % PERIOD).to_le_bytes()[0]
}

pub(crate) struct Client {
    pub flow: usize,
    request_bytes: u64,
    reply_bytes: u64,
    records_left: u64,
    stop: Option<Time>,
    started: Option<Time>,
    to_send: u64,
    to_receive: u64,
    sent: u64,
    received: u64,
}

impl Client {
    pub fn new(number: usize, flow: &Flow) -> Self {
        Self {
            flow: number,
            request_bytes: flow.request_bytes,
            reply_bytes: flow.reply_bytes,
            records_left: flow.records_per_connection,
            stop: flow.stop,
            started: None,
            to_send: 0,
            to_receive: 0,
            sent: 0,
            received: 0,
        }
    }

    fn step(
        &mut self,
        now: Time,
        socket: &mut Socket<'_>,
        transactions: &mut Vec<Transaction>,
        statistics: &mut HostStatistics,
    ) -> Step {
        if matches!(socket.state(), State::SynSent | State::SynReceived) {
            return Step::Waits;
        }
        loop {
            if self.started.is_none() {
                if self.records_left == 0 || self.stop.is_some_and(|stop| now >= stop) {
                    socket.close();
                    return Step::Ended;
                }
                self.started = Some(now);
                self.to_send = self.request_bytes;
                self.to_receive = self.reply_bytes;
            }
            let pushed = push(socket, self.to_send, &mut self.sent);
            self.to_send -= pushed;
            statistics.request_bytes_sent += pushed;
            let pulled = pull(socket, &mut self.received, statistics);
            self.to_receive = self.to_receive.saturating_sub(pulled);
            statistics.reply_bytes_received += pulled;

            if self.to_send > 0 || self.to_receive > 0 {
                if socket.state() == State::Established {
                    return Step::Waits;
                }
                socket.close(); // the server has closed, or the connection is reset: there will be no reply
                return Step::Failed;
            }
            if let Some(start) = self.started.take() {
                transactions.push(Transaction {
                    flow: self.flow,
                    start,
                    end: now,
                });
            }
            self.records_left -= 1;
        }
    }
}

pub(crate) struct Server {
    request_bytes: u64,
    reply_bytes: u64,
    think: Time,
    /// Bytes of requests that have come and are not answered yet.
    asked: u64,
    thinks_until: Option<Time>,
    to_send: u64,
    sent: u64,
    received: u64,
}

impl Server {
    pub fn new(service: &Service) -> Self {
        Self {
            request_bytes: service.request_bytes,
            reply_bytes: service.reply_bytes,
            think: service.think,
            asked: 0,
            thinks_until: None,
            to_send: 0,
            sent: 0,
            received: 0,
        }
    }

    fn step(
        &mut self,
        now: Time,
        socket: &mut Socket<'_>,
        statistics: &mut HostStatistics,
    ) -> Step {
        if matches!(socket.state(), State::Listen | State::SynReceived) {
            return Step::Waits;
        }
        let pulled = pull(socket, &mut self.received, statistics);
        self.asked += pulled;
        statistics.request_bytes_received += pulled;
        loop {
            if self.to_send > 0 {
                let pushed = push(socket, self.to_send, &mut self.sent);
                self.to_send -= pushed;
                statistics.reply_bytes_sent += pushed;
                if self.to_send > 0 {
                    break;
                }
            }
            if let Some(until) = self.thinks_until {
                if now < until {
                    break;
                }
                self.thinks_until = None;
                self.to_send = self.reply_bytes;
            } else if self.asked >= self.request_bytes {
                self.asked -= self.request_bytes;
                self.thinks_until = Some(now.saturating_add(self.think));
            } else {
                break;
            }
        }
        match socket.state() {
            State::Established => Step::Waits,
            // The client has closed. It does so after its last reply: what is left unanswered is its loss.
            State::CloseWait if self.to_send > 0 || self.thinks_until.is_some() => Step::Waits,
            State::CloseWait => {
                socket.close();
                if self.asked == 0 {
                    Step::Ended
                } else {
                    Step::Failed
                }
            }
            _ => Step::Failed,
        }
    }
}
