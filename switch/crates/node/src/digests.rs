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
    /// Copies for a follower, if there is one.
    followed: Option<VecDeque<Digest>>,
}

/// A bounded queue between the switch's thread and those that serve controllers.
#[derive(Default)]
pub struct Digests {
    queue: Mutex<Queue>,
    arrived: Condvar,
    followed: Condvar,
}

impl Digests {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds messages; gives how many found no room.
    #[must_use]
    pub fn push(&self, messages: Vec<Digest>) -> usize {
        let mut queue = self.lock();
        let alone = queue.listener.is_none();
        if let Some(followed) = &mut queue.followed {
            let room = CAPACITY - followed.len().min(CAPACITY);
            followed.extend(messages.iter().take(room).cloned());
            self.followed.notify_one();
            if alone {
                // Nobody will take them from the other queue.
                return messages.len().saturating_sub(room);
            }
        }
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

    /// Has copies of all messages kept for a follower, who takes them by [`Digests::take_followed`]; or no more.
    pub fn follow(&self, is_followed: bool) {
        self.lock().followed = is_followed.then(VecDeque::new);
        self.followed.notify_all();
    }

    /// Takes the follower's messages, after waiting up to `timeout` for the first; not at all, if nobody is to follow.
    #[must_use]
    pub fn take_followed(&self, timeout: Duration) -> Vec<Digest> {
        let empty = |queue: &mut Queue| queue.followed.as_ref().is_some_and(VecDeque::is_empty);
        let waited = self
            .followed
            .wait_timeout_while(self.lock(), timeout, empty);
        let (mut queue, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let followed = queue.followed.as_mut();
        followed.map_or_else(Vec::new, |followed| followed.drain(..).collect())
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

    #[test]
    fn a_follower_gets_copies() {
        let message = |list| Digest {
            list,
            fields: vec![vec![1]],
        };
        let queue = Digests::default();
        queue.follow(true);
        assert_eq!(queue.push(vec![message(1)]), 0);
        // Nobody listens, so nobody would take it.
        assert!(queue.take(Duration::ZERO).is_empty());
        queue.set_listener(Some(std::sync::Arc::new(|| {})));
        assert_eq!(queue.push(vec![message(2)]), 0);
        assert_eq!(queue.take(Duration::ZERO), [message(2)]);
        assert_eq!(
            queue.take_followed(Duration::ZERO),
            [message(1), message(2)]
        );
        queue.follow(false);
        assert!(queue.take_followed(Duration::ZERO).is_empty());
    }
}
