//! The parameters of an OSA-Express and its host's processors.

use std::net::Ipv4Addr;

use phb_hosts::ConfigError;
use phb_network::Time;
use serde::Deserialize;

use super::lan_idle::LanIdle;
use super::priorities::{LAST_QUEUE, PriorityMapping};

/// An application can't take less than no time.
const MAX_SPREAD_PERCENT: u64 = 100;
/// More processors than a mainframe has; each costs memory.
const MAX_PROCESSORS: u64 = 1_024;
/// A microsecond per byte.
const MAX_PS_PER_BYTE: u64 = 1_000_000;

/// The parameters of an OSA-Express in QDIO mode, of its LAN, and of its host's processors (CPs).
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OsaConfig {
    /// The LAN's rate in bit/s, in either direction.
    pub rate_bps: u64,
    /// The largest IP datagram, in bytes.
    pub mtu_bytes: usize,
    /// How long a packet takes through the adapter, beside its time on the wire, in ns.
    pub latency_ns: Time,
    /// The bits of the type-of-service byte by which packets join outbound queues (`SubnetTosMask`).
    #[serde(default = "all_bits")]
    pub priority_mask: u8,
    /// Outbound queue (1 to 4) and type of service (`PriorityTosMapping`); queue 4 takes what none of them names.
    #[serde(default)]
    pub priorities: Vec<(u8, u8)>,
    /// Packets that may wait in each outbound queue; `None` is no limit.
    #[serde(default)]
    pub queue_packets: Option<usize>,
    /// The value of a static LAN-idle timer, in ns; the three of a dynamic one have to be left out then.
    #[serde(default)]
    pub lan_idle_ns: Option<Time>,
    /// The value of a dynamic LAN-idle timer while most packets are of connections that don't stream, in ns.
    #[serde(default)]
    pub interactive_idle_ns: Option<Time>,
    /// Its value while most packets are of connections that do, in ns.
    #[serde(default)]
    pub streaming_idle_ns: Option<Time>,
    /// How often it is chosen anew, in ns.
    #[serde(default)]
    pub idle_interval_ns: Option<Time>,
    /// How long a packet may wait for an interrupt at most, in ns.
    pub longest_hold_ns: Time,
    /// Size of a read buffer (SBAL), in bytes. A full one is handed over at once.
    pub buffer_bytes: usize,
    /// Read buffers of each input queue.
    pub buffers: usize,
    /// Inbound workload queueing (WORKLOADQ).
    #[serde(default)]
    pub workload_queueing: bool,
    /// Payload one way, and none the other, after which a connection counts as streaming, in bytes.
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
    /// Processor time to wake an application for a message, with its socket calls, in ns. Applications that stream are
    /// not charged: they make one call for many packets.
    pub application_ns: Time,
    /// By how many percent at most it is longer or shorter, drawn evenly.
    #[serde(default)]
    pub application_spread_percent: u64,
    /// Processor time of a packet that the stack forwards, or the accelerator, in ns.
    pub forward_ns: Time,
    /// Processor time to move a byte between stack and application, in ps.
    #[serde(default)]
    pub copy_ps_per_byte: u64,
    /// Processor time of a byte's share of a checksum, where that is not offloaded, in ps.
    #[serde(default)]
    pub checksum_ps_per_byte: u64,
    /// Makes the times of applications; the network gives it.
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
    /// The LAN-idle timer: static with one value, dynamic with the three others.
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

    /// The outbound queue of each type of service.
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
