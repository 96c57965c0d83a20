//! Parameters of an OSA-Express and its host's processors.

use std::net::Ipv4Addr;

use phb_hosts::ConfigError;
use phb_network::Time;
use serde::Deserialize;

use super::lan_idle::LanIdle;
use super::priorities::{LAST_QUEUE, PriorityMapping};

/// A time can't be negative.
const MAX_SPREAD_PERCENT: u64 = 100;
/// More than any mainframe has; each takes memory.
const MAX_PROCESSORS: u64 = 1_024;
/// A microsecond per byte.
const MAX_PS_PER_BYTE: u64 = 1_000_000;

/// Parameters of an OSA-Express in QDIO mode, its LAN, and its host's processors (CPs).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OsaConfig {
    /// The LAN's rate in bit/s, in either direction.
    pub rate_bps: u64,
    /// The largest IP datagram, in bytes.
    pub mtu_bytes: usize,
    /// Time of a packet through the adapter, without its time on the wire, in ns.
    pub latency_ns: Time,
    /// Bits of the type-of-service byte that choose an outbound queue (`SubnetTosMask`).
    #[serde(default = "all_bits")]
    pub priority_mask: u8,
    /// Outbound queue (1 to 4) and type of service (`PriorityTosMapping`); others join queue 4.
    #[serde(default)]
    pub priorities: Vec<(u8, u8)>,
    /// Packets that may wait in each outbound queue; `None` is no limit.
    #[serde(default)]
    pub queue_packets: Option<usize>,
    /// Static LAN-idle timer, in ns; excludes the three values of a dynamic one.
    #[serde(default)]
    pub lan_idle_ns: Option<Time>,
    /// Dynamic LAN-idle timer while most packets are of interactive connections, in ns.
    #[serde(default)]
    pub interactive_idle_ns: Option<Time>,
    /// Dynamic LAN-idle timer while most packets are of streaming connections, in ns.
    #[serde(default)]
    pub streaming_idle_ns: Option<Time>,
    /// Interval between choices of the dynamic timer, in ns.
    #[serde(default)]
    pub idle_interval_ns: Option<Time>,
    /// Longest wait of a packet for an interrupt, in ns.
    pub longest_hold_ns: Time,
    /// Size of a read buffer (SBAL), in bytes. A full one is handed over at once.
    pub buffer_bytes: usize,
    /// Read buffers of each input queue.
    pub buffers: usize,
    /// Inbound workload queueing (WORKLOADQ).
    #[serde(default)]
    pub workload_queueing: bool,
    /// One-way payload, in bytes, after which a connection is streaming.
    pub bulk_bytes: u64,
    /// Whether the adapter cuts large segments (SEGMENTATIONOFFLOAD).
    #[serde(default)]
    pub segmentation_offload: bool,
    /// Whether the adapter computes checksums.
    #[serde(default = "yes")]
    pub checksum_offload: bool,
    /// The distributed addresses of a distributing stack, each with its targets' own addresses.
    #[serde(default)]
    pub distributions: Vec<(Ipv4Addr, Vec<Ipv4Addr>)>,
    /// The outbound queue (1 to 4) of forwarded packets (QDIOPRIORITY).
    #[serde(default = "first_queue")]
    pub forward_priority: u8,
    /// How many processors the host has.
    pub processors: usize,
    /// Processor time of an interrupt, until its SRB runs, in ns.
    pub interrupt_ns: Time,
    /// Processor time of a packet on its way up, in ns.
    pub receive_ns: Time,
    /// Processor time of a segment, small or large, on its way down, in ns.
    pub send_ns: Time,
    /// Processor time to wake an application for a message, with its socket calls, in ns. Streaming
    /// applications pay nothing: one call serves many packets.
    pub application_ns: Time,
    /// Largest deviation of this time in percent, drawn evenly.
    #[serde(default)]
    pub application_spread_percent: u64,
    /// Processor time of a packet forwarded by stack or accelerator, in ns.
    pub forward_ns: Time,
    /// Processor time to move a byte between stack and application, in ps.
    #[serde(default)]
    pub copy_ps_per_byte: u64,
    /// Processor time of a byte's checksum, unless offloaded, in ps.
    #[serde(default)]
    pub checksum_ps_per_byte: u64,
    /// Draws the times of applications; the network gives it.
    #[serde(skip)]
    pub seed: u64,
}

fn all_bits() -> u8 {
    u8::MAX
}

fn yes() -> bool {
    true
}

fn first_queue() -> u8 {
    1
}

impl OsaConfig {
    pub(super) fn lan_idle(&self) -> Result<LanIdle, ConfigError> {
        let dynamic = (
            self.interactive_idle_ns,
            self.streaming_idle_ns,
            self.idle_interval_ns,
        );
        match (self.lan_idle_ns, dynamic) {
            (Some(fixed), (None, None, None)) => Ok(LanIdle::Static(fixed)),
            (None, (Some(interactive), Some(streaming), Some(interval))) => Ok(LanIdle::Dynamic {
                interactive,
                streaming,
                interval,
            }),
            _ => Err(ConfigError::new(
                "lan_idle_ns",
                "either this alone is expected, or interactive_idle_ns, streaming_idle_ns and idle_interval_ns",
            )),
        }
    }

    pub(super) fn priorities(&self) -> Result<PriorityMapping, ConfigError> {
        PriorityMapping::new(self.priority_mask, &self.priorities)
    }

    pub(super) fn check(&self) -> Result<(), ConfigError> {
        for (parameter, value) in [
            ("rate_bps", self.rate_bps),
            ("mtu_bytes", self.mtu_bytes as u64),
            ("longest_hold_ns", self.longest_hold_ns),
            ("buffer_bytes", self.buffer_bytes as u64),
            ("buffers", self.buffers as u64),
            ("bulk_bytes", self.bulk_bytes),
        ] {
            ConfigError::unless_positive(parameter, value)?;
        }
        for (parameter, value, low, high) in [
            ("processors", self.processors as u64, 1, MAX_PROCESSORS),
            (
                "application_spread_percent",
                self.application_spread_percent,
                0,
                MAX_SPREAD_PERCENT,
            ),
            (
                "copy_ps_per_byte",
                self.copy_ps_per_byte,
                0,
                MAX_PS_PER_BYTE,
            ),
            (
                "checksum_ps_per_byte",
                self.checksum_ps_per_byte,
                0,
                MAX_PS_PER_BYTE,
            ),
            (
                "forward_priority",
                u64::from(self.forward_priority),
                1,
                u64::from(LAST_QUEUE) + 1,
            ),
        ] {
            ConfigError::unless_within(parameter, value, low, high)?;
        }
        for (address, targets) in &self.distributions {
            if targets.is_empty() {
                let message = format!("{address} has no target");
                return Err(ConfigError::new("distributions", message));
            }
        }
        Ok(())
    }
}
