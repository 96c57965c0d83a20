//! Programs that run on TCP connections, at the client and at the server.
//!
//! - [`requests`]: a client that repeats requests and waits for each reply;
//! - [`messages`]: messages of any length, one after another, each answered;
//! - [`stream`]: as many bytes as TCP takes.
//!
//! A script runs on one connection. After its end the client opens the next one, if any.

use std::sync::Arc;

use phb_network::Time;
use smoltcp::socket::tcp::Socket;

use crate::statistics::{Books, FlowStatistics};
use crate::traffic::{Answers, Flow, Service, Traffic};

mod bytes;
mod messages;
mod requests;
mod step;
mod stream;

pub(crate) use step::Step;

pub(crate) enum Script {
    Client(requests::Client),
    Server(requests::Server),
    Sender(messages::Sender),
    Receiver(messages::Receiver),
    Source(stream::Source),
    Sink(stream::Sink),
    /// Finished: received bytes are discarded.
    Over,
}

impl Script {
    /// The script of a client's next connection; `None` when nothing is left to do. `number` is the
    /// flow's on its host, `done` what it has done so far.
    pub fn of_client(number: usize, flow: &Flow, done: &FlowStatistics) -> Option<Self> {
        match &flow.traffic {
            Traffic::RequestResponse {
                request_bytes,
                reply_bytes,
                records_per_connection,
                pause_ns,
                think_ns: _,
            } => Some(Self::Client(requests::Client::new(
                number,
                (*request_bytes, *reply_bytes),
                *records_per_connection,
                *pause_ns,
                flow.ends.stop_ns,
            ))),
            Traffic::Messages {
                permanent,
                schedule,
                answer_bytes,
            } => Some(Self::Sender(messages::Sender::new(
                number,
                Arc::clone(schedule),
                *answer_bytes,
                *permanent,
                usize::try_from(done.transactions).ok()?,
            ))),
            Traffic::Stream {
                total_bytes,
                write_bytes,
            } => {
                let left = total_bytes.map(|total| total.saturating_sub(done.bytes_sent));
                let stop = flow.ends.stop_ns;
                (left != Some(0))
                    .then(|| Self::Source(stream::Source::new(number, *write_bytes, left, stop)))
            }
            Traffic::Datagrams { .. } | Traffic::Stamp { .. } => None,
        }
    }

    /// The script of a service's connection. With `relays` replies wait for relayed requests.
    pub fn of_server(service: &Service, relays: bool) -> Self {
        match service.answers {
            Answers::Requests {
                request_bytes,
                reply_bytes,
                think_ns,
            } => Self::Server(requests::Server::new(
                request_bytes,
                reply_bytes,
                think_ns,
                relays,
            )),
            Answers::Messages { answer_bytes } => {
                Self::Receiver(messages::Receiver::new(answer_bytes))
            }
            Answers::Stream { sink } => Self::Sink(stream::Sink::new(sink)),
        }
    }

    /// Does everything possible at `now` (ns).
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

    /// When the script goes on without a segment, in ns.
    pub fn due(&self) -> Option<Time> {
        match self {
            Self::Client(client) => client.due(),
            Self::Server(server) => server.due(),
            Self::Sender(sender) => sender.due(),
            Self::Source(_) | Self::Receiver(_) | Self::Sink(_) | Self::Over => None,
        }
    }

    pub fn flow(&self) -> Option<usize> {
        match self {
            Self::Client(client) => Some(client.flow),
            Self::Sender(sender) => Some(sender.flow),
            Self::Source(source) => Some(source.flow),
            Self::Server(_) | Self::Receiver(_) | Self::Sink(_) | Self::Over => None,
        }
    }
}
