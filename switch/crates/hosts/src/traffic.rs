//! The traffic of a network: what its clients do, and how its servers answer.

use std::net::Ipv4Addr;
use std::sync::Arc;

use phb_network::Time;
use serde::Deserialize;
use smoltcp::wire::{IPV4_HEADER_LEN, UDP_HEADER_LEN};

use crate::configuration::{ConfigError, is_unicast};

/// Length of the length that a message begins with.
pub(crate) const MESSAGE_LENGTH_BYTES: usize = 8;
/// Length of the number and the time of sending that a datagram begins with.
pub(crate) const STAMP_BYTES: usize = 16;

/// The addresses of a client and its server, and when the client is at work.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Ends {
    /// The client's own address.
    pub client_address: Ipv4Addr,
    /// The server's address.
    pub server_address: Ipv4Addr,
    /// The server's port.
    pub server_port: u16,
    /// When the first connection is opened, or the first datagram sent, in ns.
    #[serde(default)]
    pub start_ns: Time,
    /// From when on nothing new is started, in ns; `None` goes on as long as the run.
    #[serde(default)]
    pub stop_ns: Option<Time>,
    /// The type-of-service byte of both ends' packets; `None` is that of each host.
    #[serde(default)]
    pub tos: Option<u8>,
}

/// A client: one connection at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Where and when.
    pub ends: Ends,
    /// Its traffic.
    pub traffic: Traffic,
}

/// The times at which datagrams are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// The same interval between any two.
    #[default]
    Periodic,
    /// Intervals drawn from an exponential distribution.
    Poisson,
}

/// The kinds of traffic, with their parameters.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Traffic {
    /// Asks and waits, over and over.
    RequestResponse {
        /// Length of a request, in bytes.
        request_bytes: u64,
        /// Length of the reply that the client waits for, in bytes.
        reply_bytes: u64,
        /// Transactions on a connection before the client closes it and opens the next.
        records_per_connection: u64,
        /// Time between a complete request and the start of its reply, in ns.
        #[serde(default)]
        think_ns: Time,
        /// Time between a complete reply and the next request, in ns.
        #[serde(default)]
        pause_ns: Time,
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
        #[serde(default)]
        total_bytes: Option<u64>,
        /// How much the application hands over at a time. A write that has begun is finished.
        #[serde(default = "write_bytes")]
        write_bytes: u64,
    },
    /// Sends UDP datagrams at a rate that nothing changes.
    Datagrams {
        /// Payload of each, in bytes.
        payload_bytes: usize,
        /// Time between two of them, or its mean, in ns.
        interval_ns: Time,
        /// Whether that time is always the same.
        #[serde(default)]
        pattern: Pattern,
        /// Makes the intervals that are drawn; the network gives it.
        #[serde(skip)]
        seed: u64,
    },
}

fn write_bytes() -> u64 {
    65_536
}

impl Flow {
    /// The service that the flow's client asks; `None` for traffic that ends in a sink.
    #[must_use]
    pub fn service(&self) -> Option<Service> {
        let answers = match self.traffic {
            Traffic::RequestResponse {
                request_bytes,
                reply_bytes,
                think_ns,
                ..
            } => Answers::Requests {
                request_bytes,
                reply_bytes,
                think_ns,
            },
            Traffic::Messages { answer_bytes, .. } => Answers::Messages { answer_bytes },
            Traffic::Stream { .. } | Traffic::Datagrams { .. } => return None,
        };
        Some(Service {
            address: self.ends.server_address,
            port: self.ends.server_port,
            tos: self.ends.tos,
            answers,
        })
    }

    pub(crate) fn check(&self, mtu_bytes: usize) -> Result<(), ConfigError> {
        let server = self.ends.server_address;
        ConfigError::unless_positive("server_port", u64::from(self.ends.server_port))?;
        if !is_unicast(server) {
            let message = format!("{server} is not a unicast address");
            return Err(ConfigError::new("server_address", message));
        }
        match &self.traffic {
            Traffic::RequestResponse {
                request_bytes,
                reply_bytes,
                records_per_connection,
                ..
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
                check_schedule(schedule)
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
                interval_ns,
                ..
            } => {
                ConfigError::unless_positive("interval_ns", *interval_ns)?;
                check_payload(*payload_bytes, mtu_bytes)
            }
        }
    }
}

/// Refuses a schedule that goes back in time, or a message without room for its length.
fn check_schedule(schedule: &[(Time, u64)]) -> Result<(), ConfigError> {
    if let Some(pair) = schedule.windows(2).find(|pair| pair[1].0 < pair[0].0) {
        let message = format!("{} ns comes after {} ns", pair[1].0, pair[0].0);
        return Err(ConfigError::new("schedule", message));
    }
    let least = MESSAGE_LENGTH_BYTES;
    if let Some((_, bytes)) = schedule.iter().find(|(_, bytes)| *bytes < least as u64) {
        let message = format!("a message of {bytes} bytes is given, at least {least} are expected");
        return Err(ConfigError::new("schedule", message));
    }
    Ok(())
}

/// Refuses a payload that has no room for its stamp, or that does not fit into one IP datagram.
fn check_payload(bytes: usize, mtu_bytes: usize) -> Result<(), ConfigError> {
    let most = mtu_bytes - IPV4_HEADER_LEN - UDP_HEADER_LEN;
    ConfigError::unless_within(
        "payload_bytes",
        bytes as u64,
        STAMP_BYTES as u64,
        most as u64,
    )
}

/// A server: takes connections on one address and port, any number at a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// The address it listens on, one of the host's.
    pub address: Ipv4Addr,
    /// The port it listens on.
    pub port: u16,
    /// The type-of-service byte of its packets; `None` is its host's.
    pub tos: Option<u8>,
    /// How it answers.
    pub answers: Answers,
}

/// How a server answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answers {
    /// Replies to each request.
    Requests {
        /// Length of a request, in bytes.
        request_bytes: u64,
        /// Length of a reply, in bytes.
        reply_bytes: u64,
        /// Time between a complete request and the start of its reply, in ns.
        think_ns: Time,
    },
    /// Answers each message.
    Messages {
        /// Length of an answer, in bytes.
        answer_bytes: u64,
    },
    /// Takes all there is, and notes how much came when.
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
                think_ns: _,
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
}
