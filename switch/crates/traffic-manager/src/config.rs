//! How a port transmits.

use crate::token_bucket::ShaperConfig;

/// Packets that may wait at a port unless configured. Programs should drop earlier, by policy.
pub const DEFAULT_BUFFER_PACKETS: usize = 4096;

/// Default limit of a strict-priority queue in packets, as in simple_switch.
pub const DEFAULT_QUEUE_DEPTH: usize = 64;

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

    /// Whether a frame takes time, on the line or in a shaper.
    pub(crate) fn takes_time(&self) -> bool {
        self.rate_bps.is_some() || self.shaper.is_some()
    }
}
