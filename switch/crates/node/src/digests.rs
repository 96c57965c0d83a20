//! Messages of the program on their way to whoever speaks with controllers.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use phb_pipeline::Digest;

/// Messages that wait for a controller; what comes on top is dropped and counted by the switch.
const CAPACITY: usize = 4096;

/// A bounded queue between the thread that runs the switch and the one that serves controllers.
#[derive(Debug, Default)]
pub struct Digests {
    messages: Mutex<VecDeque<Digest>>,
    arrived: Condvar,
}

impl Digests {
    /// Adds messages; gives how many found no room.
    #[must_use]
    pub fn push(&self, messages: Vec<Digest>) -> usize {
        let mut queue = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        let room = CAPACITY - queue.len().min(CAPACITY);
        let refused = messages.len().saturating_sub(room);
        queue.extend(messages.into_iter().take(room));
        self.arrived.notify_one();
        refused
    }

    /// Takes all messages, after waiting up to `timeout` for the first.
    #[must_use]
    pub fn take(&self, timeout: Duration) -> Vec<Digest> {
        let messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        let (mut messages, _) = self
            .arrived
            .wait_timeout_while(messages, timeout, |messages| messages.is_empty())
            .unwrap_or_else(PoisonError::into_inner);
        messages.drain(..).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_refuses_the_rest() {
        let message = |list| Digest {
            list,
            fields: vec![vec![1]],
        };
        let queue = Digests::default();
        assert_eq!(queue.push((0..4000).map(message).collect()), 0);
        assert_eq!(queue.push((4000..4100).map(message).collect()), 4);
        assert_eq!(queue.push(vec![message(5000)]), 1);
        let taken = queue.take(Duration::ZERO);
        assert!(taken.iter().map(|digest| digest.list).eq(0..4096));
        assert!(queue.take(Duration::ZERO).is_empty());
    }
}
