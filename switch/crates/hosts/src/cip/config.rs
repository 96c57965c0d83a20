//! What a CIP is told.

use phb_network::Time;

use crate::configuration::ConfigError;

const BITS_PER_BYTE: u64 = 8;
/// A 7513's CIP has two ESCON channels at most; every channel takes two port numbers.
const MAX_CHANNELS: u16 = 2;

/// What the adapter does with what passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Moves IP datagrams between channel and network.
    IpDatagram,
    /// Ends LLC2 connections and moves their SNA frames.
    Csna {
        /// LLC2 connections, that is physical units, that may be open: `max-llc2-sessions`.
        max_llc2_sessions: usize,
    },
    /// Serves TN3270.
    Tn3270 {
        /// What the CPU does for a transaction beside its TCP segments and SNA messages, in ns.
        transaction_time: Time,
    },
}

/// What a CIP and its channels can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CipConfig {
    /// What the adapter does.
    pub mode: Mode,
    /// ESCON channels, 1 or 2. Channel n has port 2n towards its host and port 2n + 1 towards the network.
    pub channels: u16,
    /// What a channel moves in one direction at a time, in byte/s.
    pub channel_bytes_per_s: u64,
    /// Size of a block, in bytes: the buffer size of the DEVICE statement.
    pub block_bytes: u64,
    /// Blocks from the adapter to the host before the channel turns: the read buffers of the DEVICE statement.
    pub read_buffers: u64,
    /// Blocks from the host to the adapter before the channel turns: the write buffers of the DEVICE statement.
    pub write_buffers: u64,
    /// Blocks that the host reads before it is interrupted, if its turn is not over before; 1 interrupts for each.
    pub blocks_per_interrupt: u64,
    /// The largest IP datagram or SNA frame, in bytes behind the Ethernet header.
    pub mtu: usize,
    /// Packets that may wait in the host for a channel.
    pub write_queue_packets: usize,
    /// Packets that may wait in the adapter for a channel.
    pub read_queue_packets: usize,
    /// How long the CPU works for a packet of either direction, in ns.
    pub cpu_time: Time,
    /// How long it works for each byte behind the Ethernet header, in ps.
    pub cpu_ps_per_byte: u64,
    /// How long a packet keeps the next one from the CPU without work for it, in ns: it waits for bus and memory.
    pub cpu_wait: Time,
    /// Packets, of both directions together, that may wait for the CPU.
    pub cpu_queue_packets: usize,
}

impl CipConfig {
    /// Whether packets share a block as far as they fit: SNA does, IP has CLAW packing NONE.
    pub(crate) fn packs(&self) -> bool {
        self.mode != Mode::IpDatagram
    }

    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        ConfigError::unless_positive("channel_bytes_per_s", self.channel_bytes_per_s)?;
        ConfigError::unless_positive("block_bytes", self.block_bytes)?;
        ConfigError::unless_positive("read_buffers", self.read_buffers)?;
        ConfigError::unless_positive("write_buffers", self.write_buffers)?;
        ConfigError::unless_positive("blocks_per_interrupt", self.blocks_per_interrupt)?;
        ConfigError::unless_positive("mtu_bytes", self.mtu as u64)?;
        for (parameter, count) in [
            ("write_queue_packets", self.write_queue_packets),
            ("read_queue_packets", self.read_queue_packets),
            ("cpu_queue_packets", self.cpu_queue_packets),
        ] {
            ConfigError::unless_positive(parameter, count as u64)?;
        }
        if let Mode::Csna { max_llc2_sessions } = self.mode {
            ConfigError::unless_positive("max_llc2_sessions", max_llc2_sessions as u64)?;
        }
        if !(1..=MAX_CHANNELS).contains(&self.channels) {
            let message = format!(
                "{} is given, 1 to {MAX_CHANNELS} is expected",
                self.channels
            );
            return Err(ConfigError::new("channels", message));
        }
        if self.channels > 1 && matches!(self.mode, Mode::Tn3270 { .. }) {
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
