//! Frames on their way from the CPU port to whoever speaks with controllers.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Frames that wait for a controller; what comes on top is dropped and counted by the switch.
const CAPACITY: usize = 4096;

/// A bounded queue between the thread that runs the switch and the one that serves controllers.
#[derive(Debug, Default)]
pub struct PacketIns {
    frames: Mutex<VecDeque<Vec<u8>>>,
    arrived: Condvar,
}

impl PacketIns {
    /// Adds a frame; `false` if the queue is full.
    #[must_use]
    pub fn push(&self, frame: Vec<u8>) -> bool {
        let mut frames = self.frames.lock().unwrap_or_else(PoisonError::into_inner);
        if frames.len() >= CAPACITY {
            return false;
        }
        frames.push_back(frame);
        self.arrived.notify_one();
        true
    }

    /// Takes all frames, after waiting up to `timeout` for the first.
    #[must_use]
    pub fn take(&self, timeout: Duration) -> Vec<Vec<u8>> {
        let frames = self.frames.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut frames, _) = self
            .arrived
            .wait_timeout_while(frames, timeout, |frames| frames.is_empty())
            .unwrap_or_else(PoisonError::into_inner);
        frames.drain(..).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_refuses() {
        let queue = PacketIns::default();
        for _ in 0..CAPACITY {
            assert!(queue.push(vec![1]));
        }
        assert!(!queue.push(vec![2]));
        assert_eq!(queue.take(Duration::ZERO).len(), CAPACITY);
        assert!(queue.take(Duration::ZERO).is_empty());
        assert!(queue.push(vec![3]));
    }
}
