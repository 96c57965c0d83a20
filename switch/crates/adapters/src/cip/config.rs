//! The parameters of a CIP.

use phb_hosts::ConfigError;
use phb_network::Time;
use serde::Deserialize;

const BITS_PER_BYTE: u64 = 8;
/// A 7513's CIP has two ESCON channels at most; every channel takes two port numbers.
const MAX_CHANNELS: u16 = 2;

/// Mode of operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Moves IP datagrams between channel and network.
    IpDatagram,
    /// Ends LLC2 connections and moves their SNA frames.
    Csna {
        /// LLC2 connections at most.
        max_llc2_sessions: usize,
    },
    /// Serves TN3270.
    Tn3270 {
        /// CPU time of a transaction beside its TCP segments and SNA messages, in ns.
        cpu_ns_per_transaction: Time,
    },
}

/// The parameters of a CIP and its channels.
///
/// `max_llc2_sessions` means CSNA, `cpu_ns_per_transaction` TN3270, neither IP datagrams.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CipConfig {
    /// ESCON channels, 1 or 2. Channel n has port 2n towards its host and port 2n + 1 towards the network.
    #[serde(default = "one")]
    pub channels: u16,
    /// Rate of a channel, which moves one direction at a time, in byte/s.
    pub channel_bytes_per_s: u64,
    /// Size of a block, in bytes: the buffer size of the DEVICE statement.
    pub block_bytes: u64,
    /// Blocks from the adapter to the host before the channel turns: the read buffers of the DEVICE statement.
    pub read_buffers: u64,
    /// Blocks from the host to the adapter before the channel turns: the write buffers of the DEVICE statement.
    pub write_buffers: u64,
    /// Blocks that the host reads per interrupt, within its turn; 1 interrupts for each.
    #[serde(default = "one")]
    pub blocks_per_interrupt: u64,
    /// The largest IP datagram or SNA frame, in bytes behind the Ethernet header; a block unless given.
    #[serde(default)]
    pub mtu_bytes: Option<u64>,
    /// Packets that may wait in the host for a channel; `None` is no limit.
    #[serde(default)]
    pub write_queue_packets: Option<usize>,
    /// Packets that may wait in the adapter for a channel; `None` is no limit.
    #[serde(default)]
    pub read_queue_packets: Option<usize>,
    /// CPU time of a packet in either direction, in ns.
    pub cpu_ns_per_packet: Time,
    /// CPU time of each byte behind the Ethernet header, in ps.
    #[serde(default)]
    pub cpu_ps_per_byte: u64,
    /// Time that a packet occupies the CPU without work, in ns: it waits for bus and memory.
    #[serde(default)]
    pub cpu_wait_ns: Time,
    /// Packets, of both directions together, that may wait for the CPU; `None` is no limit.
    #[serde(default)]
    pub cpu_queue_packets: Option<usize>,
    /// CSNA: LLC2 connections (physical units) at most (`max-llc2-sessions`).
    #[serde(default)]
    pub max_llc2_sessions: Option<usize>,
    /// TN3270 server: CPU time of a transaction beside TCP segments and SNA messages, in ns.
    #[serde(default)]
    pub cpu_ns_per_transaction: Option<Time>,
}

fn one<T: From<u8>>() -> T {
    T::from(1)
}

impl CipConfig {
    /// Mode of operation.
    #[must_use]
    pub fn mode(&self) -> Mode {
        match (self.max_llc2_sessions, self.cpu_ns_per_transaction) {
            (Some(max_llc2_sessions), _) => Mode::Csna { max_llc2_sessions },
            (None, Some(cpu_ns_per_transaction)) => Mode::Tn3270 {
                cpu_ns_per_transaction,
            },
            (None, None) => Mode::IpDatagram,
        }
    }

    pub(crate) fn mtu(&self) -> u64 {
        self.mtu_bytes.unwrap_or(self.block_bytes)
    }

    /// Whether packets share blocks: SNA does, IP has CLAW packing NONE.
    pub(crate) fn packs(&self) -> bool {
        self.mode() != Mode::IpDatagram
    }

    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        ConfigError::unless_positive("channel_bytes_per_s", self.channel_bytes_per_s)?;
        ConfigError::unless_positive("block_bytes", self.block_bytes)?;
        ConfigError::unless_positive("read_buffers", self.read_buffers)?;
        ConfigError::unless_positive("write_buffers", self.write_buffers)?;
        ConfigError::unless_positive("blocks_per_interrupt", self.blocks_per_interrupt)?;
        ConfigError::unless_positive("mtu_bytes", self.mtu())?;
        for (parameter, count) in [
            ("write_queue_packets", self.write_queue_packets),
            ("read_queue_packets", self.read_queue_packets),
            ("cpu_queue_packets", self.cpu_queue_packets),
            ("max_llc2_sessions", self.max_llc2_sessions),
        ] {
            ConfigError::unless_positive(parameter, count.unwrap_or(1) as u64)?;
        }
        if self.max_llc2_sessions.is_some() && self.cpu_ns_per_transaction.is_some() {
            let message = "given with max_llc2_sessions, expected one of the two";
            return Err(ConfigError::new("cpu_ns_per_transaction", message));
        }
        let (channels, most) = (u64::from(self.channels), u64::from(MAX_CHANNELS));
        ConfigError::unless_within("channels", channels, 1, most)?;
        if self.channels > 1 && matches!(self.mode(), Mode::Tn3270 { .. }) {
            let message = "2 are given, 1 is expected of a TN3270 server";
            return Err(ConfigError::new("channels", message));
        }
        if self
            .channel_bytes_per_s
            .checked_mul(BITS_PER_BYTE)
            .is_none()
        {
            return Err(ConfigError::new(
                "channel_bytes_per_s",
                "the rate is beyond 64 bits of bit/s",
            ));
        }
        Ok(())
    }
}
