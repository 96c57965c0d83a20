//! What has left the queues of a port lately.

use std::collections::VecDeque;

use phb_pipeline::trace::Ahead;

/// Packets that a trace names of those ahead of its own.
pub const NAMED: usize = 16;

/// Packets that have left a port's queues while somebody watched.
#[derive(Default)]
pub(super) struct Served {
    /// Packets, and their bytes.
    pub(super) count: (u64, u64),
    last: VecDeque<Ahead>,
}

impl Served {
    pub(super) fn add(&mut self, packet: Ahead) {
        self.count.0 += 1;
        self.count.1 += u64::from(packet.length);
        if self.last.len() >= NAMED {
            self.last.pop_front();
        }
        self.last.push_back(packet);
    }

    /// How many were served since `before`, their bytes, and the last of them.
    pub(super) fn since(&self, before: (u64, u64)) -> (u32, u64, Vec<Ahead>) {
        let packets = self.count.0 - before.0;
        let named = self
            .last
            .len()
            .min(usize::try_from(packets).unwrap_or(NAMED));
        let last = self.last.range(self.last.len() - named..);
        (
            u32::try_from(packets).unwrap_or(u32::MAX),
            self.count.1 - before.1,
            last.copied().collect(),
        )
    }
}
