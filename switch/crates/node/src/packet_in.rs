//! Frames on their way from the CPU port to the server of controllers.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Frames that wait for a controller; further ones are dropped and counted by the switch.
const CAPACITY: usize = 4096;

/// Bytes that wait for a controller: enough for [`CAPACITY`] full Ethernet frames.
const CAPACITY_BYTES: usize = 8 << 20;

/// Called when an empty queue gets something. It must not block.
pub type Listener = Arc<dyn Fn() + Send + Sync>;

#[derive(Default)]
struct Queue {
    frames: VecDeque<Vec<u8>>,
    bytes: usize,
    listener: Option<Listener>,
}

/// A bounded queue between the switch's thread and those that serve controllers.
#[derive(Default)]
pub struct PacketIns {
    queue: Mutex<Queue>,
    arrived: Condvar,
    lost: AtomicU64,
    lost_bytes: AtomicU64,
}

impl PacketIns {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a frame; `false` if the queue is full.
    #[must_use]
    pub fn push(&self, frame: Vec<u8>) -> bool {
        let mut queue = self.lock();
        if queue.frames.len() >= CAPACITY || queue.bytes + frame.len() > CAPACITY_BYTES {
            return false;
        }
        let first = queue.frames.is_empty();
        queue.bytes += frame.len();
        queue.frames.push_back(frame);
        if first {
            let listener = queue.listener.clone();
            drop(queue);
            self.arrived.notify_one();
            if let Some(tell) = listener {
                tell();
            }
        }
        true
    }

    /// Takes all frames, after waiting up to `timeout` for the first.
    #[must_use]
    pub fn take(&self, timeout: Duration) -> Vec<Vec<u8>> {
        let mut queue = self.lock();
        if !timeout.is_zero() {
            let empty = |queue: &mut Queue| queue.frames.is_empty();
            let waited = self.arrived.wait_timeout_while(queue, timeout, empty);
            (queue, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
        queue.bytes = 0;
        std::mem::take(&mut queue.frames).into()
    }

    /// Sets the function to call when there is something to take.
    pub fn set_listener(&self, listener: Option<Listener>) {
        self.lock().listener = listener;
    }

    /// Notes that a frame of this length was taken, but reached no controller.
    pub fn lose(&self, bytes: usize) {
        self.lost.fetch_add(1, Ordering::Relaxed);
        self.lost_bytes.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// The number of frames taken that reached no controller, and their bytes.
    #[must_use]
    pub fn lost(&self) -> (u64, u64) {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        (load(&self.lost), load(&self.lost_bytes))
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

    #[test]
    fn long_frames_fill_it_sooner() {
        let queue = PacketIns::default();
        let long = CAPACITY_BYTES / 4;
        assert!((0..4).all(|_| queue.push(vec![0; long])));
        assert!(!queue.push(vec![0]));
        assert_eq!(queue.take(Duration::ZERO).len(), 4);
        assert!(queue.push(vec![0]));
    }

    #[test]
    fn the_listener_is_told_of_the_first() {
        let queue = PacketIns::default();
        let told = Arc::new(AtomicU64::new(0));
        let counter = Arc::clone(&told);
        queue.set_listener(Some(Arc::new(move || {
            counter.fetch_add(1, Ordering::Relaxed);
        })));
        assert!(queue.push(vec![1]) && queue.push(vec![2]));
        assert_eq!(told.load(Ordering::Relaxed), 1);
        assert_eq!(queue.take(Duration::ZERO).len(), 2);
        assert!(queue.push(vec![3]));
        assert_eq!(told.load(Ordering::Relaxed), 2);
    }
}
