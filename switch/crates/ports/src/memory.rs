//! A port in memory, for tests.

use std::collections::VecDeque;
use std::io;
use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use phb_network::Time;

use crate::counters::Counters;
use crate::event::Event;
use crate::port::Port;

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
        };
        Ok((port, Far(shared)))
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
        std::mem::take(&mut lock(&self.0.outgoing))
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

    fn flush(&mut self) {
        lock(&self.shared.outgoing).append(&mut self.unflushed);
    }
}
