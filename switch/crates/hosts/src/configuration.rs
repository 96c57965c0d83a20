//! What a host is told, and how wrong values are refused.

use std::fmt;
use std::net::Ipv4Addr;

use phb_network::Time;

/// The most addresses a host may have.
pub const MAX_ADDRESSES: usize = 8;
/// The smallest MTU: smoltcp takes a peer's maximum segment size for at least 48 bytes, and two headers come to 40.
const MIN_MTU: usize = 88;
/// The largest IPv4 datagram.
const MAX_MTU: usize = 65_535;
/// The largest window that window scaling can offer (RFC 7323, section 2.3).
const MAX_BUFFER: usize = 1 << 30;

/// A parameter that can't be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The parameter's name.
    pub parameter: &'static str,
    /// What is wrong with it, and what was expected.
    pub message: String,
}

impl ConfigError {
    pub(crate) fn new(parameter: &'static str, message: impl Into<String>) -> Self {
        Self {
            parameter,
            message: message.into(),
        }
    }

    /// Refuses a value of 0.
    pub(crate) fn unless_positive(parameter: &'static str, value: u64) -> Result<(), Self> {
        if value == 0 {
            Err(Self::new(parameter, "0 is given, at least 1 is expected"))
        } else {
            Ok(())
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.parameter, self.message)
    }
}

impl std::error::Error for ConfigError {}

/// How a host's TCP behaves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TcpOptions {
    /// The largest IP datagram the host sends and accepts, in bytes. The maximum segment size it announces is 40 less.
    pub mtu: usize,
    /// Receive buffer per connection, in bytes: the largest window it offers.
    pub receive_buffer: usize,
    /// Send buffer per connection, in bytes.
    pub send_buffer: usize,
    /// Whether a small segment waits while another is unacknowledged (RFC 896).
    pub nagle: bool,
    /// How long an acknowledgement may wait for company, in ns; `None` acknowledges at once (RFC 1122, section
    /// 4.2.3.2). Every second full segment is acknowledged at once in any case.
    pub delayed_ack: Option<Time>,
    /// The type-of-service byte of what the host sends.
    pub tos: u8,
    /// The time to live of what the host sends.
    pub ttl: u8,
    /// After how long without an answer a connection is given up, in ns; `None` retransmits for ever.
    pub user_timeout: Option<Time>,
}

/// A host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostConfig {
    /// Its IPv4 addresses, those of its adapters as well as virtual ones (VIPA): it accepts datagrams for any of them.
    pub addresses: Vec<Ipv4Addr>,
    /// Its Ethernet address.
    pub mac: [u8; 6],
    /// Whether it takes frames for any Ethernet address, as on a medium that has none (PPP, channel).
    pub any_mac: bool,
    /// The Ethernet address that everything it sends goes to.
    pub gateway_mac: [u8; 6],
    /// How its TCP behaves.
    pub tcp: TcpOptions,
    /// Whether it takes all segments that reach it at one time before it answers any, as a host does that one interrupt
    /// tells of many. Each connection then acknowledges once what the interrupt has brought it.
    pub batches: bool,
    /// Whether its services relay requests to an SNA application by the host's second port, and reply when that has
    /// answered, as a TN3270 server does.
    pub relays: bool,
    /// How long a client waits after its connection failed before it opens another, in ns.
    pub reconnect_delay: Time,
    /// Makes initial sequence numbers and ephemeral ports.
    pub seed: u64,
}

impl HostConfig {
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
        let within = |parameter, value: usize, low: usize, high: usize| {
            if (low..=high).contains(&value) {
                Ok(())
            } else {
                Err(ConfigError::new(
                    parameter,
                    format!("{value} is given, {low} to {high} is expected"),
                ))
            }
        };
        within("mtu", self.tcp.mtu, MIN_MTU, MAX_MTU)?;
        within("receive_buffer", self.tcp.receive_buffer, 1, MAX_BUFFER)?;
        within("send_buffer", self.tcp.send_buffer, 1, MAX_BUFFER)?;
        ConfigError::unless_positive("ttl", u64::from(self.tcp.ttl))?;
        ConfigError::unless_positive("reconnect_delay_ns", self.reconnect_delay)?;
        for (parameter, mac) in [("mac", self.mac), ("gateway_mac", self.gateway_mac)] {
            if mac[0] & 1 == 1 {
                return Err(ConfigError::new(
                    parameter,
                    "a group address is given, a unicast address is expected",
                ));
            }
        }
        Ok(())
    }
}

/// Whether an address can be one end of a TCP connection.
pub(crate) fn is_unicast(address: Ipv4Addr) -> bool {
    !(address.is_unspecified() || address.is_multicast() || address.is_broadcast())
}
