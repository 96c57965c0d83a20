//! Counters of a port, which other threads can read while one runs it.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::system;

/// From linux/if_packet.h.
const PACKET_STATISTICS: i32 = 6;

/// State of an interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Link {
    /// Frames can pass.
    #[default]
    Up,
    /// The interface is down.
    Down,
    /// The interface is gone.
    Absent,
}

impl Link {
    /// Its word in statistics.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
            Self::Absent => "absent",
        }
    }
}

/// Counters at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortCounters {
    /// State of the interface.
    pub link: Link,
    /// Why the port has no rings, if so.
    pub without_rings: Option<String>,
    /// Frames without room on their way to the switch.
    pub missed: u64,
    /// Reads that failed.
    pub receive_errors: u64,
    /// Frames that did not leave: too long for the interface, no room, interface down.
    pub send_errors: u64,
    /// Frames refused because their offload is impossible.
    pub refused: u64,
    /// Frames that were cut into segments for their senders.
    pub segmented: u64,
    /// Frames that a failed capture file lacks.
    pub not_captured: u64,
    /// The interface's queueing discipline, if somebody has set one and the port sends through it.
    pub discipline: Option<String>,
    /// Frames that had to wait since the discipline held as many as it may.
    pub held_back: u64,
}

/// Counters written by one thread and read by others.
#[derive(Debug, Default)]
pub struct Counters {
    link: AtomicU8,
    without_rings: Mutex<Option<String>>,
    missed: AtomicU64,
    receive_errors: AtomicU64,
    send_errors: AtomicU64,
    refused: AtomicU64,
    segmented: AtomicU64,
    not_captured: AtomicU64,
    discipline: Mutex<Option<String>>,
    held_back: AtomicU64,
    socket: Mutex<Weak<OwnedFd>>,
}

impl Counters {
    /// The present counters.
    #[must_use]
    pub fn read(&self) -> PortCounters {
        let socket = lock(&self.socket).upgrade();
        if let Some(socket) = socket {
            self.count_missed(&socket);
        }
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        PortCounters {
            link: match self.link.load(Ordering::Relaxed) {
                0 => Link::Up,
                1 => Link::Down,
                _ => Link::Absent,
            },
            without_rings: lock(&self.without_rings).clone(),
            missed: load(&self.missed),
            receive_errors: load(&self.receive_errors),
            send_errors: load(&self.send_errors),
            refused: load(&self.refused),
            segmented: load(&self.segmented),
            not_captured: load(&self.not_captured),
            discipline: lock(&self.discipline).clone(),
            held_back: load(&self.held_back),
        }
    }

    /// State of the interface.
    #[must_use]
    pub fn link(&self) -> Link {
        match self.link.load(Ordering::Relaxed) {
            0 => Link::Up,
            1 => Link::Down,
            _ => Link::Absent,
        }
    }

    pub(crate) fn set_link(&self, link: Link) {
        self.link.store(link as u8, Ordering::Relaxed);
    }

    pub(crate) fn set_without_rings(&self, reason: Option<String>) {
        *lock(&self.without_rings) = reason;
    }

    pub(crate) fn discipline(&self) -> Option<String> {
        lock(&self.discipline).clone()
    }

    pub(crate) fn set_discipline(&self, kind: Option<String>) {
        *lock(&self.discipline) = kind;
    }

    pub(crate) fn hold_back(&self) {
        self.held_back.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn watch(&self, socket: &Arc<OwnedFd>) {
        *lock(&self.socket) = Arc::downgrade(socket);
    }

    /// Adds frames dropped by a packet socket; reading resets the kernel's counter.
    pub(crate) fn count_missed(&self, socket: &OwnedFd) {
        let counters: io::Result<[u32; 2]> =
            system::get_option(socket, libc::SOL_PACKET, PACKET_STATISTICS, [0; 2]);
        if let Ok([_, dropped]) = counters {
            self.missed.fetch_add(u64::from(dropped), Ordering::Relaxed);
        }
    }

    pub(crate) fn receive_error(&self) {
        self.receive_errors.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn send_errors(&self, frames: usize) {
        self.send_errors.fetch_add(frames as u64, Ordering::Relaxed);
    }

    pub(crate) fn refuse(&self) {
        self.refused.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn not_captured(&self, frames: usize) {
        self.not_captured
            .fetch_add(frames as u64, Ordering::Relaxed);
    }

    pub(crate) fn segment(&self) {
        self.segmented.fetch_add(1, Ordering::Relaxed);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
