//! The outbound queue of each type of service.

use phb_hosts::ConfigError;

/// Outbound queues of an interface in QDIO mode.
pub const QUEUES: usize = 4;

/// Outbound queue of each type-of-service byte: `PriorityTosMapping` under `SubnetTosMask`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PriorityMapping {
    queues: [u8; 256],
}

impl PriorityMapping {
    /// Reads mask and pairs of queue (1 to 4) and type of service; bytes of no pair join queue 4.
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

    /// The queue of a type-of-service byte; 0 is served first.
    #[must_use]
    pub fn queue(&self, tos: u8) -> usize {
        usize::from(self.queues[usize::from(tos)])
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "there are four queues, which fits"
)]
pub(super) const LAST_QUEUE: u8 = QUEUES as u8 - 1;

impl Default for PriorityMapping {
    /// All in queue 4.
    fn default() -> Self {
        Self {
            queues: [LAST_QUEUE; 256],
        }
    }
}
