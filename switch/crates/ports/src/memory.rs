//! A port in memory, for tests.

use std::collections::VecDeque;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use phb_network::Time;

use crate::counters::Counters;
use crate::event::Event;
use crate::port::{Port, Room};

#[derive(Debug)]
struct Shared {
    incoming: Mutex<VecDeque<Vec<u8>>>,
    outgoing: Mutex<Vec<Vec<u8>>>,
    event: Event,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The switch's side.
#[derive(Debug)]
pub struct MemoryPort {
    name: String,
    shared: Arc<Shared>,
    unflushed: Vec<Vec<u8>>,
    counters: Arc<Counters>,
    /// Frames that may wait for the other side, if that is bounded.
    holds: Option<usize>,
}

/// The other side.
#[derive(Clone, Debug)]
pub struct Far(Arc<Shared>);

impl MemoryPort {
    /// A port and its other side. Errors are those of eventfd(2).
    pub fn new(name: &str) -> io::Result<(Self, Far)> {
        let shared = Arc::new(Shared {
            incoming: Mutex::default(),
            outgoing: Mutex::default(),
            event: Event::new()?,
        });
        let port = Self {
            name: name.to_owned(),
            shared: Arc::clone(&shared),
            unflushed: Vec::new(),
            counters: Arc::default(),
            holds: None,
        };
        Ok((port, Far(shared)))
    }

    /// Has no room for further frames while so many wait for the other side.
    #[must_use]
    pub fn holding(mut self, frames: usize) -> Self {
        self.holds = Some(frames);
        self
    }
}

impl Far {
    /// Sends a frame to the switch.
    pub fn send(&self, frame: Vec<u8>) {
        lock(&self.0.incoming).push_back(frame);
        self.0.event.set();
    }

    /// Takes frames from the switch.
    #[must_use]
    pub fn take(&self) -> Vec<Vec<u8>> {
        let frames = std::mem::take(&mut *lock(&self.0.outgoing));
        self.0.event.set();
        frames
    }

    /// Takes the next frame from the switch.
    #[must_use]
    pub fn take_one(&self) -> Option<Vec<u8>> {
        let mut outgoing = lock(&self.0.outgoing);
        let frame = (!outgoing.is_empty()).then(|| outgoing.remove(0));
        self.0.event.set();
        frame
    }
}

impl Port for MemoryPort {
    fn name(&self) -> &str {
        &self.name
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        Some(self.shared.event.descriptor())
    }

    fn counters(&self) -> &Arc<Counters> {
        &self.counters
    }

    fn receive(&mut self, _now: Time, limit: usize, take: &mut dyn FnMut(&[u8])) -> bool {
        self.shared.event.clear();
        for _ in 0..limit {
            let Some(frame) = lock(&self.shared.incoming).pop_front() else {
                return false;
            };
            take(&frame);
        }
        true
    }

    fn send(&mut self, _now: Time, frame: &[u8]) {
        self.unflushed.push(frame.to_vec());
    }

    fn room(&self) -> Room {
        let waiting = || self.unflushed.len() + lock(&self.shared.outgoing).len();
        match self.holds {
            None => Room::Always,
            Some(most) if waiting() < most => Room::Now,
            Some(_) => Room::None,
        }
    }

    fn flush(&mut self) {
        lock(&self.shared.outgoing).append(&mut self.unflushed);
    }
}
