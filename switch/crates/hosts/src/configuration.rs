//! Parameters of a host and their checks.

use std::fmt;
use std::net::Ipv4Addr;

use phb_network::Time;
use serde::de::{Error, Unexpected};
use serde::{Deserialize, Deserializer};

/// The most addresses a host may have.
pub const MAX_ADDRESSES: usize = 8;
/// smoltcp counts a peer's maximum segment size as at least 48 bytes; two headers take 40.
const MIN_MTU: usize = 88;
/// The largest IPv4 datagram.
const MAX_MTU: usize = 65_535;
/// RFC 7323, section 2.3.
const MAX_WINDOW: usize = 1 << 30;
/// Locally administered (IEEE 802, section 8.4.2).
const LOCAL_MAC: u8 = 0x02;

/// An invalid parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// Name.
    pub parameter: &'static str,
    /// The value given, and what was expected.
    pub message: String,
}

impl ConfigError {
    /// A refusal of `parameter`.
    pub fn new(parameter: &'static str, message: impl Into<String>) -> Self {
        Self {
            parameter,
            message: message.into(),
        }
    }

    /// Refuses 0.
    pub fn unless_positive(parameter: &'static str, value: u64) -> Result<(), Self> {
        if value == 0 {
            Err(Self::new(parameter, "0 is given, at least 1 is expected"))
        } else {
            Ok(())
        }
    }

    /// Refuses a value outside of a range; both ends are allowed.
    pub fn unless_within(
        parameter: &'static str,
        value: u64,
        low: u64,
        high: u64,
    ) -> Result<(), Self> {
        if (low..=high).contains(&value) {
            return Ok(());
        }
        let message = format!("{value} is given, {low} to {high} is expected");
        Err(Self::new(parameter, message))
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.parameter, self.message)
    }
}

impl std::error::Error for ConfigError {}

/// Algorithm of a connection's congestion window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CongestionControl {
    /// RFC 5681.
    #[default]
    Reno,
}

/// A host.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostConfig {
    /// Its IPv4 addresses, real and virtual (VIPA): it accepts datagrams for any of them.
    pub addresses: Vec<Ipv4Addr>,
    /// Its Ethernet address. `None` sends from a locally administered one made from its number, and
    /// takes frames for any, as on a medium without addresses (PPP, channel).
    #[serde(default, deserialize_with = "mac")]
    pub mac: Option<[u8; 6]>,
    /// Destination of all its frames; a locally administered address unless given.
    #[serde(default, deserialize_with = "mac")]
    pub gateway_mac: Option<[u8; 6]>,
    /// The largest IP datagram it sends and accepts, in bytes. The maximum segment size it announces is 40 less.
    pub mtu_bytes: usize,
    /// Receive buffer and send buffer of each connection, in bytes: the largest window it offers.
    pub window_bytes: usize,
    /// Whether a small segment waits while another is unacknowledged (RFC 896).
    #[serde(default = "yes")]
    pub nagle: bool,
    /// How long an acknowledgement may wait, in ns; `None` acknowledges at once (RFC 1122, section
    /// 4.2.3.2). Every second full segment is acknowledged at once in any case.
    #[serde(default)]
    pub delayed_ack_ns: Option<Time>,
    /// Of its connections.
    #[serde(default)]
    pub congestion_control: CongestionControl,
    /// Type-of-service byte of its packets.
    #[serde(default)]
    pub tos: u8,
    /// Time to live of its packets.
    #[serde(default = "ttl")]
    pub ttl: u8,
    /// Time without an answer until a connection is given up, in ns; `None` is never.
    #[serde(default)]
    pub user_timeout_ns: Option<Time>,
    /// Whether it takes all segments of one time before it answers, as behind an adapter with one
    /// interrupt for many. Each connection then sends one acknowledgement per interrupt.
    #[serde(default)]
    pub batches: bool,
    /// Whether its services relay requests to an SNA application by the host's second port and
    /// reply after its answer, as a TN3270 server does.
    #[serde(default)]
    pub relays: bool,
    /// Time from a connection's failure until its client opens the next, in ns.
    #[serde(default = "second")]
    pub reconnect_delay_ns: Time,
    /// Number in its network, for its Ethernet address; the network gives it.
    #[serde(skip)]
    pub number: u16,
    /// Makes initial sequence numbers and ephemeral ports; the network gives it.
    #[serde(skip)]
    pub seed: u64,
}

fn yes() -> bool {
    true
}

fn ttl() -> u8 {
    64
}

fn second() -> Time {
    1_000_000_000
}

fn mac<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<[u8; 6]>, D::Error> {
    let Some(text) = Option::<String>::deserialize(deserializer)? else {
        return Ok(None);
    };
    let bytes: Vec<u8> = text
        .split(':')
        .filter(|part| part.len() == 2)
        .filter_map(|part| u8::from_str_radix(part, 16).ok())
        .collect();
    match <[u8; 6]>::try_from(bytes) {
        Ok(bytes) if text.len() == 17 => Ok(Some(bytes)),
        _ => Err(D::Error::invalid_value(
            Unexpected::Str(&text),
            &"an address like 02:00:00:00:00:01",
        )),
    }
}

impl HostConfig {
    pub(crate) fn own_mac(&self) -> [u8; 6] {
        let [high, low] = self.number.to_be_bytes();
        self.mac.unwrap_or([LOCAL_MAC, 0, 0, 0, high, low])
    }

    pub(crate) fn next_mac(&self) -> [u8; 6] {
        self.gateway_mac.unwrap_or([LOCAL_MAC, 0, 0, 0, 0, 0])
    }

    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        let count = self.addresses.len();
        if !(1..=MAX_ADDRESSES).contains(&count) {
            let message = format!("{count} addresses are given, 1 to {MAX_ADDRESSES} are expected");
            return Err(ConfigError::new("addresses", message));
        }
        for (place, address) in self.addresses.iter().enumerate() {
            if !is_unicast(*address) {
                return Err(ConfigError::new(
                    "addresses",
                    format!("{address} is not a unicast address"),
                ));
            }
            if self.addresses[..place].contains(address) {
                return Err(ConfigError::new(
                    "addresses",
                    format!("{address} is given twice"),
                ));
            }
        }
        for (parameter, value, low, high) in [
            ("mtu_bytes", self.mtu_bytes, MIN_MTU, MAX_MTU),
            ("window_bytes", self.window_bytes, 1, MAX_WINDOW),
        ] {
            ConfigError::unless_within(parameter, value as u64, low as u64, high as u64)?;
        }
        ConfigError::unless_positive("ttl", u64::from(self.ttl))?;
        ConfigError::unless_positive("reconnect_delay_ns", self.reconnect_delay_ns)?;
        for (parameter, mac) in [("mac", self.mac), ("gateway_mac", self.gateway_mac)] {
            if mac.is_some_and(|mac| mac[0] & 1 == 1) {
                return Err(ConfigError::new(
                    parameter,
                    "a group address is given, a unicast address is expected",
                ));
            }
        }
        Ok(())
    }
}

pub(crate) fn is_unicast(address: Ipv4Addr) -> bool {
    !(address.is_unspecified() || address.is_multicast() || address.is_broadcast())
}
