//! How a port transmits.

use std::collections::BTreeMap;

use crate::token_bucket::ShaperConfig;

/// Packets that may wait at a port unless configured. Programs should drop earlier, by policy.
pub const DEFAULT_BUFFER_PACKETS: usize = 4096;

/// Default limit of a strict-priority queue in packets, as in simple_switch.
pub const DEFAULT_QUEUE_DEPTH: usize = 64;

/// What a strict-priority queue has for its own; `None`: as the port's others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueConfig {
    /// Packets that may wait in it, whatever the outlet does.
    pub depth: Option<usize>,
    /// Its maximum rate in packets per second; 0 is unlimited.
    pub rate_pps: Option<u64>,
}

/// How a port transmits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortConfig {
    /// The line's rate in bit/s, `None` for unlimited. 0 holds everything back.
    pub rate_bps: Option<u64>,
    /// Bytes added to the Ethernet frame's length (without FCS) for its transmission time; for PPP
    /// over HDLC -14 (no Ethernet header) + 4 (PPP header) + 3 (FCS, flag).
    pub overhead_bytes: i32,
    /// Frames between scheduler and line, as in a router's hardware queue. No rank overtakes them.
    /// At 0 the next packet is chosen when the line is free.
    pub transmit_ring: usize,
    /// Packets that may wait in all; the program's own buffer admission should drop before.
    pub buffer_packets: usize,
    /// Strict-priority queues, for packets without a rank; the highest is served first.
    pub queues: u8,
    /// Whether packets with a rank use these queues too, as on a switch without a PIFO.
    pub strict_priority: bool,
    /// Packets that may wait in each queue; [`DEFAULT_QUEUE_DEPTH`] unless given.
    pub queue_depth: Option<usize>,
    /// Packets that may wait in each queue at an outlet that closes; as many as otherwise unless given.
    pub held_queue_depth: Option<usize>,
    /// Maximum rate of each queue, in packets per second; `None` and 0 are unlimited.
    pub queue_rate_pps: Option<u64>,
    /// Queues that differ, by priority.
    pub own: BTreeMap<u8, QueueConfig>,
    /// A limit on the rate besides the line's.
    pub shaper: Option<ShaperConfig>,
}

impl Default for PortConfig {
    /// A port without a line rate or a shaper, with one queue.
    fn default() -> Self {
        Self {
            rate_bps: None,
            overhead_bytes: 0,
            transmit_ring: 0,
            buffer_packets: DEFAULT_BUFFER_PACKETS,
            queues: 1,
            strict_priority: false,
            queue_depth: None,
            held_queue_depth: None,
            queue_rate_pps: None,
            own: BTreeMap::new(),
            shaper: None,
        }
    }
}

impl PortConfig {
    /// A shaper with a burst: frames wait for its tokens before the line.
    pub(crate) fn bucket(&self) -> Option<ShaperConfig> {
        self.shaper.filter(|shaper| shaper.burst_bytes > 0)
    }

    /// The rate of a shaper without a burst, at which frames take their time.
    pub(crate) fn pace(&self) -> Option<u64> {
        let paced = self.shaper.filter(|shaper| shaper.burst_bytes == 0);
        paced.map(|shaper| shaper.rate_bps)
    }

    /// Packets that may wait in each queue, of as many as there are, where the others have room for `common`.
    pub(crate) fn depths(&self, common: usize) -> Vec<usize> {
        let own = |priority| self.own.get(&priority).and_then(|own| own.depth);
        (0..self.queues)
            .map(|priority| own(priority).unwrap_or(common))
            .collect()
    }

    /// A queue's maximum rate, in packets per second; `None` and 0 are unlimited.
    pub(crate) fn queue_rate(&self, priority: u8) -> Option<u64> {
        let own = self.own.get(&priority).and_then(|own| own.rate_pps);
        own.or(self.queue_rate_pps)
    }

    /// Whether a frame takes time, on the line or in a shaper.
    pub(crate) fn takes_time(&self) -> bool {
        self.rate_bps.is_some() || self.shaper.is_some()
    }
}
