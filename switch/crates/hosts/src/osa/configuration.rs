//! What an OSA-Express and its host's processors are told.

use phb_network::Time;

use super::accelerator::Distribution;
use super::lan_idle::LanIdle;
use super::outbound;
use crate::configuration::ConfigError;

/// An application can't take less than no time.
const MAX_SPREAD: u64 = 100;

/// Which outbound queue a type-of-service byte means: `PriorityTosMapping` under `SubnetTosMask`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriorityMapping {
    queues: [u8; 256],
}

impl PriorityMapping {
    /// From the mask and its (queue 1 to 4, type of service) pairs; a byte that none of them names joins queue 4.
    ///
    /// # Errors
    /// A queue is none of 1 to 4.
    pub fn new(mask: u8, pairs: &[(u8, u8)]) -> Result<Self, ConfigError> {
        let mut queues = [LAST_QUEUE; 256];
        for (queue, tos) in pairs {
            if !(1..=LAST_QUEUE + 1).contains(queue) {
                let message = format!("queue {queue} is given, 1 to 4 is expected");
                return Err(ConfigError::new("priorities", message));
            }
            for (byte, place) in (0..=u8::MAX).zip(&mut queues) {
                if byte & mask == tos & mask {
                    *place = queue - 1;
                }
            }
        }
        Ok(Self { queues })
    }

    /// The queue of a type-of-service byte: 0 is served first.
    #[must_use]
    pub fn queue(&self, tos: u8) -> usize {
        usize::from(self.queues[usize::from(tos)])
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "there are four queues, which fits"
)]
const LAST_QUEUE: u8 = outbound::QUEUES as u8 - 1;

impl Default for PriorityMapping {
    /// Everything in queue 4.
    fn default() -> Self {
        Self {
            queues: [LAST_QUEUE; 256],
        }
    }
}

/// What the host's processors (CPs) need for its network traffic. All of it is processor time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProcessorConfig {
    /// How many there are.
    pub processors: usize,
    /// An interrupt, until its SRB runs, in ns.
    pub interrupt: Time,
    /// A packet on its way up, in ns.
    pub receive: Time,
    /// A segment, small or large, on its way down, in ns.
    pub send: Time,
    /// Waking an application for a message, and its socket calls, in ns. Applications that stream are not charged: they
    /// make one call for many packets.
    pub application: Time,
    /// By how many percent at most it is longer or shorter, drawn evenly; 100 at most.
    pub application_spread: u64,
    /// A packet that the stack forwards, or the accelerator, in ns.
    pub forward: Time,
    /// Moving a byte between stack and application, in ps.
    pub copy_ps: u64,
    /// A byte's share of a checksum, where that is not offloaded, in ps.
    pub checksum_ps: u64,
    /// Makes what is drawn.
    pub seed: u64,
}

/// An OSA-Express in QDIO mode, its LAN, and its host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OsaConfig {
    /// The LAN's rate in bit/s, in either direction.
    pub rate_bps: u64,
    /// The largest IP datagram, in bytes.
    pub mtu: usize,
    /// How long a packet takes through the adapter, beside its time on the wire, in ns.
    pub latency: Time,
    /// Which outbound queue a packet joins.
    pub priorities: PriorityMapping,
    /// Packets that may wait in each outbound queue.
    pub queue_packets: usize,
    /// The LAN-idle timer.
    pub lan_idle: LanIdle,
    /// How long a packet may wait for an interrupt at most, in ns.
    pub longest_hold: Time,
    /// Size of a read buffer (SBAL), in bytes. A full one is handed over at once.
    pub buffer_bytes: usize,
    /// Read buffers of each input queue.
    pub buffers: usize,
    /// Inbound workload queueing (WORKLOADQ).
    pub workload_queueing: bool,
    /// Payload one way, and none the other, after which a connection counts as streaming, in bytes.
    pub bulk_bytes: u64,
    /// Whether the adapter cuts large segments (SEGMENTATIONOFFLOAD).
    pub segmentation_offload: bool,
    /// Whether the adapter computes checksums.
    pub checksum_offload: bool,
    /// The distributed addresses of a distributing stack.
    pub distributions: Vec<Distribution>,
    /// The outbound queue (1 to 4) of what is forwarded (QDIOPRIORITY).
    pub forward_priority: u8,
    /// The host's processors.
    pub host: ProcessorConfig,
}

impl OsaConfig {
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        for (parameter, value) in [
            ("rate_bps", self.rate_bps),
            ("mtu_bytes", self.mtu as u64),
            ("longest_hold_ns", self.longest_hold),
            ("buffer_bytes", self.buffer_bytes as u64),
            ("buffers", self.buffers as u64),
            ("bulk_bytes", self.bulk_bytes),
            ("processors", self.host.processors as u64),
        ] {
            ConfigError::unless_positive(parameter, value)?;
        }
        if self.host.application_spread > MAX_SPREAD {
            let spread = self.host.application_spread;
            let message = format!("{spread} is given, 0 to {MAX_SPREAD} is expected");
            return Err(ConfigError::new("application_spread_percent", message));
        }
        if !(1..=LAST_QUEUE + 1).contains(&self.forward_priority) {
            let message = format!("{} is given, 1 to 4 is expected", self.forward_priority);
            return Err(ConfigError::new("forward_priority", message));
        }
        for distribution in &self.distributions {
            if distribution.targets.is_empty() {
                let message = format!("{} has no target", distribution.address);
                return Err(ConfigError::new("distributions", message));
            }
        }
        Ok(())
    }
}
