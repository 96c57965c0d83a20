//! Messages of the program on their way to the server of controllers.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use phb_pipeline::Digest;

use crate::packet_in::Listener;

/// Messages that wait for a controller; further ones are lost, and counted by the switch.
const CAPACITY: usize = 4096;

#[derive(Default)]
struct Queue {
    messages: VecDeque<Digest>,
    listener: Option<Listener>,
}

/// A bounded queue between the switch's thread and those that serve controllers.
#[derive(Default)]
pub struct Digests {
    queue: Mutex<Queue>,
    arrived: Condvar,
}

impl Digests {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds messages; gives how many found no room.
    #[must_use]
    pub fn push(&self, messages: Vec<Digest>) -> usize {
        let mut queue = self.lock();
        let first = queue.messages.is_empty();
        let room = CAPACITY - queue.messages.len().min(CAPACITY);
        let refused = messages.len().saturating_sub(room);
        queue.messages.extend(messages.into_iter().take(room));
        if first && !queue.messages.is_empty() {
            let listener = queue.listener.clone();
            drop(queue);
            self.arrived.notify_one();
            if let Some(tell) = listener {
                tell();
            }
        }
        refused
    }

    /// Takes all messages, after waiting up to `timeout` for the first.
    #[must_use]
    pub fn take(&self, timeout: Duration) -> Vec<Digest> {
        let mut queue = self.lock();
        if !timeout.is_zero() {
            let empty = |queue: &mut Queue| queue.messages.is_empty();
            let waited = self.arrived.wait_timeout_while(queue, timeout, empty);
            (queue, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
        queue.messages.drain(..).collect()
    }

    /// Sets the function to call when there is something to take.
    pub fn set_listener(&self, listener: Option<Listener>) {
        self.lock().listener = listener;
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
