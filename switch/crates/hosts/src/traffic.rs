//! Traffic of a network: clients and servers.

use std::net::Ipv4Addr;
use std::sync::Arc;

use phb_network::Time;
use serde::Deserialize;
use smoltcp::wire::{IPV4_HEADER_LEN, UDP_HEADER_LEN};

use crate::configuration::{ConfigError, is_unicast};

/// Bytes of a message's length field.
pub(crate) const MESSAGE_LENGTH_BYTES: usize = 8;
/// Bytes of a datagram's number and time of sending.
pub(crate) const STAMP_BYTES: usize = 16;
/// Bytes of a test packet without what follows it (RFC 8762).
pub(crate) const STAMP_PACKET_BYTES: usize = 44;

/// The addresses of a client and its server, and its times.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Ends {
    /// Address of the client.
    pub client_address: Ipv4Addr,
    /// Address of the server.
    pub server_address: Ipv4Addr,
    /// Port of the server.
    pub server_port: u16,
    /// When the first connection opens or the first datagram leaves, in ns.
    #[serde(default)]
    pub start_ns: Time,
    /// When the client stops to start anything new, in ns; `None` is the run's end.
    #[serde(default)]
    pub stop_ns: Option<Time>,
    /// Type-of-service byte of both ends' packets; `None` is each host's.
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

/// The intervals between datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pattern {
    /// All equal.
    #[default]
    Periodic,
    /// Drawn from an exponential distribution.
    Poisson,
}

/// The kinds of traffic, with their parameters.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Traffic {
    /// Repeats requests, and waits for each reply.
    RequestResponse {
        /// Length of a request in bytes.
        request_bytes: u64,
        /// Length of a reply in bytes.
        reply_bytes: u64,
        /// Transactions on a connection before the client opens the next.
        records_per_connection: u64,
        /// Time from a complete request to the start of its reply, in ns.
        #[serde(default)]
        think_ns: Time,
        /// Time from a complete reply to the next request, in ns.
        #[serde(default)]
        pause_ns: Time,
    },
    /// Submits messages to a peer that answers each.
    Messages {
        /// Whether one connection, opened at the start, carries all; otherwise each has its own.
        permanent: bool,
        /// Time of submission (ns) and length (bytes) of each message, in order of time.
        schedule: Arc<[(Time, u64)]>,
        /// Length of the answer, in bytes.
        answer_bytes: u64,
    },
    /// Sends as much as TCP takes.
    Stream {
        /// Bytes in all; `None` goes on until the stop.
        #[serde(default)]
        total_bytes: Option<u64>,
        /// Bytes that the application hands over at a time. A begun write is finished.
        #[serde(default = "write_bytes")]
        write_bytes: u64,
    },
    /// Sends UDP datagrams at a fixed rate.
    Datagrams {
        /// Payload of each, in bytes.
        payload_bytes: usize,
        /// Time between two of them, or its mean, in ns.
        interval_ns: Time,
        /// Distribution of the intervals.
        #[serde(default)]
        pattern: Pattern,
        /// Draws the intervals; the network gives it.
        #[serde(skip)]
        seed: u64,
    },
    /// Sends test packets (STAMP), which the server's host sends back.
    Stamp {
        /// Payload of each, in bytes.
        #[serde(default = "stamp_packet_bytes")]
        payload_bytes: usize,
        /// Time between two of them, in ns.
        interval_ns: Time,
    },
}

fn stamp_packet_bytes() -> usize {
    STAMP_PACKET_BYTES
}

fn write_bytes() -> u64 {
    65_536
}

impl Flow {
    /// The service for the client; `None` for traffic that ends in a sink or is reflected.
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
            Traffic::Stream { .. } | Traffic::Datagrams { .. } | Traffic::Stamp { .. } => {
                return None;
            }
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
                check_payload(*payload_bytes, STAMP_BYTES, mtu_bytes)
            }
            Traffic::Stamp {
                payload_bytes,
                interval_ns,
            } => {
                ConfigError::unless_positive("interval_ns", *interval_ns)?;
                check_payload(*payload_bytes, STAMP_PACKET_BYTES, mtu_bytes)
            }
        }
    }
}

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

fn check_payload(bytes: usize, least: usize, mtu_bytes: usize) -> Result<(), ConfigError> {
    let most = mtu_bytes - IPV4_HEADER_LEN - UDP_HEADER_LEN;
    ConfigError::unless_within("payload_bytes", bytes as u64, least as u64, most as u64)
}

/// A server: any number of connections on one address and port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Service {
    /// Address, one of the host's.
    pub address: Ipv4Addr,
    /// Port.
    pub port: u16,
    /// Type-of-service byte of its packets; `None` is its host's.
    pub tos: Option<u8>,
    /// Its answers.
    pub answers: Answers,
}

/// How a server answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answers {
    /// Replies to each request.
    Requests {
        /// Length of a request in bytes.
        request_bytes: u64,
        /// Length of a reply in bytes.
        reply_bytes: u64,
        /// Time from a complete request to the start of its reply, in ns.
        think_ns: Time,
    },
    /// Answers each message.
    Messages {
        /// Length of an answer in bytes.
        answer_bytes: u64,
    },
    /// Takes all bytes, and notes how many came when.
    Stream {
        /// Number of the sink on this host.
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
