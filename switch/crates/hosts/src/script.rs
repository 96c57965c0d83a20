//! Traffic that TCP connections carry: what the clients of a host do, and what its services answer.
//!
//! - [`requests`]: a client that asks and waits, over and over;
//! - [`messages`]: messages of any length, one after another, each answered;
//! - [`stream`]: as much as TCP takes.
//!
//! A script runs on one connection. A client whose script has ended opens the next connection, if its traffic has one.

use std::net::Ipv4Addr;
use std::sync::Arc;

use phb_network::Time;
use smoltcp::socket::tcp::Socket;

use crate::configuration::{ConfigError, is_unicast};
use crate::statistics::Books;

pub(crate) mod messages;
pub(crate) mod requests;
pub(crate) mod stream;

/// A client: one connection at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The client's own address.
    pub client_address: Ipv4Addr,
    /// The server's address.
    pub server_address: Ipv4Addr,
    /// The server's port.
    pub server_port: u16,
    /// When the first connection is opened, or the first datagram sent, in ns.
    pub start: Time,
    /// From when on nothing new is started, in ns; `None` goes on as long as the run.
    pub stop: Option<Time>,
    /// The type-of-service byte of what the client sends; `None` is its host's.
    pub tos: Option<u8>,
    /// What the client does.
    pub traffic: Traffic,
}

/// What a client does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Traffic {
    /// Asks and waits, over and over.
    Requests {
        /// Length of a request, in bytes.
        request_bytes: u64,
        /// Length of the reply that the client waits for, in bytes.
        reply_bytes: u64,
        /// Transactions on a connection before the client closes it and opens the next.
        records_per_connection: u64,
        /// Time between a complete reply and the next request, in ns.
        pause: Time,
    },
    /// Submits messages to a peer that answers each.
    Messages {
        /// Whether one connection, opened at the start, carries all of them; otherwise each opens its own.
        permanent: bool,
        /// Time of submission, in ns, and length, in bytes, of each message, in order of time.
        schedule: Arc<[(Time, u64)]>,
        /// Length of the answer, in bytes.
        answer_bytes: u64,
    },
    /// Sends as much as TCP takes.
    Stream {
        /// How much in all; `None` is as much as it can be until the stop.
        total_bytes: Option<u64>,
        /// What the application hands over at a time. A write that has begun is finished.
        write_bytes: u64,
    },
    /// Sends UDP datagrams at a rate that nothing changes.
    Datagrams {
        /// Payload of each, in bytes.
        payload_bytes: usize,
        /// Time between two of them, or its mean, in ns.
        interval: Time,
        /// Draws the times from an exponential distribution (Poisson process) with this seed; `None` keeps the interval.
        poisson_seed: Option<u64>,
    },
}

impl Flow {
    pub(crate) fn check(&self, mtu: usize) -> Result<(), ConfigError> {
        ConfigError::unless_positive("server_port", u64::from(self.server_port))?;
        if !is_unicast(self.server_address) {
            let message = format!("{} is not a unicast address", self.server_address);
            return Err(ConfigError::new("server_address", message));
        }
        match &self.traffic {
            Traffic::Requests {
                request_bytes,
                reply_bytes,
                records_per_connection,
                pause: _,
            } => {
                ConfigError::unless_positive("request_bytes", *request_bytes)?;
                ConfigError::unless_positive("reply_bytes", *reply_bytes)?;
                ConfigError::unless_positive("records_per_connection", *records_per_connection)
            }
            Traffic::Messages {
                schedule,
                answer_bytes,
                permanent: _,
            } => {
                ConfigError::unless_positive("answer_bytes", *answer_bytes)?;
                messages::check_schedule(schedule)
            }
            Traffic::Stream {
                total_bytes,
                write_bytes,
            } => {
                ConfigError::unless_positive("total_bytes", total_bytes.unwrap_or(1))?;
                ConfigError::unless_positive("write_bytes", *write_bytes)
            }
            Traffic::Datagrams {
                payload_bytes,
                interval,
                poisson_seed: _,
            } => {
                ConfigError::unless_positive("interval_ns", *interval)?;
                crate::udp::check_payload(*payload_bytes, mtu)
            }
        }
    }
}

/// A server: takes connections on one address and port, any number at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// The address it listens on, one of the host's.
    pub address: Ipv4Addr,
    /// The port it listens on.
    pub port: u16,
    /// The type-of-service byte of what it sends; `None` is its host's.
    pub tos: Option<u8>,
    /// What it does with what it receives.
    pub answers: Answers,
}

/// What a server does with what it receives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answers {
    /// Replies to each request.
    Requests {
        /// Length of a request, in bytes.
        request_bytes: u64,
        /// Length of a reply, in bytes.
        reply_bytes: u64,
        /// Time between a complete request and the start of its reply, in ns.
        think: Time,
    },
    /// Answers each message.
    Messages {
        /// Length of an answer, in bytes.
        answer_bytes: u64,
    },
    /// Takes all there is, and writes down what came when.
    Stream {
        /// The number of the sink on this host.
        sink: usize,
    },
}

impl Service {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        ConfigError::unless_positive("server_port", u64::from(self.port))?;
        match self.answers {
            Answers::Requests {
                request_bytes,
                reply_bytes,
                think: _,
            } => {
                ConfigError::unless_positive("request_bytes", request_bytes)?;
                ConfigError::unless_positive("reply_bytes", reply_bytes)
            }
            Answers::Messages { answer_bytes } => {
                ConfigError::unless_positive("answer_bytes", answer_bytes)
            }
            Answers::Stream { sink: _ } => Ok(()),
        }
    }

    /// The script of a connection that a client has opened.
    pub(crate) fn script(&self) -> Script {
        match self.answers {
            Answers::Requests {
                request_bytes,
                reply_bytes,
                think,
            } => Script::Server(requests::Server::new(request_bytes, reply_bytes, think)),
            Answers::Messages { answer_bytes } => {
                Script::Receiver(messages::Receiver::new(answer_bytes))
            }
            Answers::Stream { sink } => Script::Sink(stream::Sink::new(sink)),
        }
    }
}

/// A completed request and reply, or message and answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transaction {
    /// The client: its number on its host, in the order of adding.
    pub flow: usize,
    /// When the client handed the request to TCP, or the message was submitted, in ns.
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
    Client(requests::Client),
    Server(requests::Server),
    Sender(messages::Sender),
    Receiver(messages::Receiver),
    Source(stream::Source),
    Sink(stream::Sink),
    /// The program is over; what still comes in is thrown away.
    Over,
}

impl Script {
    /// Goes as far as it can at `now` (ns).
    pub fn step(&mut self, now: Time, socket: &mut Socket<'_>, books: &mut Books) -> Step {
        match self {
            Self::Client(client) => client.step(now, socket, books),
            Self::Server(server) => server.step(now, socket, &mut books.host),
            Self::Sender(sender) => sender.step(now, socket, books),
            Self::Receiver(receiver) => receiver.step(socket, &mut books.host),
            Self::Source(source) => source.step(now, socket, books),
            Self::Sink(sink) => sink.step(now, socket, books),
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
            Self::Client(client) => client.due(),
            Self::Server(server) => server.due(),
            Self::Sender(sender) => sender.due(),
            Self::Source(_) | Self::Receiver(_) | Self::Sink(_) | Self::Over => None,
        }
    }

    /// The number of the flow whose client this is.
    pub fn flow(&self) -> Option<usize> {
        match self {
            Self::Client(client) => Some(client.flow),
            Self::Sender(sender) => Some(sender.flow),
            Self::Source(source) => Some(source.flow),
            Self::Server(_) | Self::Receiver(_) | Self::Sink(_) | Self::Over => None,
        }
    }
}

/// Hands up to `left` bytes to TCP; gives how many it took. `write` makes those that follow a place in the stream.
fn push_bytes(
    socket: &mut Socket<'_>,
    left: u64,
    offset: &mut u64,
    write: impl Fn(u64, &mut [u8]),
) -> u64 {
    let mut pushed = 0;
    while pushed < left && socket.can_send() {
        let wanted = usize::try_from(left - pushed).unwrap_or(usize::MAX);
        let start = *offset;
        let taken = socket.send(|room| {
            let count = room.len().min(wanted);
            write(start, &mut room[..count]);
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

/// Hands up to `left` bytes to TCP; gives how many it took. Each byte tells its place in the stream.
fn push(socket: &mut Socket<'_>, left: u64, offset: &mut u64) -> u64 {
    push_bytes(socket, left, offset, write_pattern)
}

/// Gives everything that has arrived in order to `take`, with its place in the stream; gives how many bytes that was.
fn pull_bytes(socket: &mut Socket<'_>, offset: &mut u64, mut take: impl FnMut(u64, &[u8])) -> u64 {
    let mut pulled = 0;
    while socket.can_recv() {
        let start = *offset;
        let taken = socket.recv(|data| {
            take(start, data);
            (data.len(), data.len())
        });
        match taken {
            Ok(count) if count > 0 => {
                *offset += count as u64;
                pulled += count as u64;
            }
            _ => break,
        }
    }
    pulled
}

/// Takes everything that has arrived in order; gives how many bytes that was, and counts those that are wrong.
fn pull(socket: &mut Socket<'_>, offset: &mut u64, corrupted: &mut u64) -> u64 {
    pull_bytes(socket, offset, |start, data| {
        *corrupted += count_wrong(start, data);
    })
}

/// How many bytes of a part of a stream are not those of its place.
fn count_wrong(start: u64, data: &[u8]) -> u64 {
    let (mut place, mut left, mut wrong) = (start, data, 0);
    while !left.is_empty() {
        let expected = pattern_at(place, left.len());
        let (part, rest) = left.split_at(expected.len());
        if part != expected {
            let differing = part.iter().zip(expected).filter(|(is, be)| is != be);
            wrong += differing.count() as u64;
        }
        place += part.len() as u64;
        left = rest;
    }
    wrong
}

/// Writes the bytes that follow a place in a stream.
fn write_pattern(start: u64, room: &mut [u8]) {
    let (mut place, mut left) = (start, room);
    while !left.is_empty() {
        let bytes = pattern_at(place, left.len());
        let (part, rest) = left.split_at_mut(bytes.len());
        part.copy_from_slice(bytes);
        place += bytes.len() as u64;
        left = rest;
    }
}

/// Each byte tells its place in the stream, modulo this. It is prime, so no segment that is out of place fits by chance.
const PERIOD: usize = 251;

/// The pattern often enough for several segments in one piece.
static PATTERN: [u8; 20 * PERIOD] = {
    let mut pattern = [0; 20 * PERIOD];
    let mut place = 0;
    while place < pattern.len() {
        #[expect(clippy::cast_possible_truncation, reason = "it is below 251")]
        {
            pattern[place] = (place % PERIOD) as u8;
        }
        place += 1;
    }
    pattern
};

/// The bytes that follow a place in a stream: up to `wanted`, at least one.
fn pattern_at(place: u64, wanted: usize) -> &'static [u8] {
    let start = usize::try_from(place % PERIOD as u64).unwrap_or(0);
    let end = start.saturating_add(wanted).min(PATTERN.len());
    &PATTERN[start..end]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_byte_tells_its_place(start in 0..u64::MAX / 2, length in 0..20_000usize, wrong in 0..20_000usize) {
            let mut room = vec![0xff; length];
            write_pattern(start, &mut room);
            for (byte, place) in room.iter().zip(start..) {
                prop_assert_eq!(u64::from(*byte), place % PERIOD as u64);
            }
            prop_assert_eq!(count_wrong(start, &room), 0);
            if let Some(byte) = room.get_mut(wrong) {
                *byte ^= 0x80;
                prop_assert_eq!(count_wrong(start, &room), 1);
            }
        }
    }
}
