//! Counters of a port, readable by any thread while another runs the port.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use crate::system;

/// From linux/if_packet.h.
const PACKET_STATISTICS: i32 = 6;

/// Whether frames can pass.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Link {
    /// They can.
    #[default]
    Up,
    /// The interface is there and is down.
    Down,
    /// The interface is gone.
    Absent,
}

impl Link {
    /// The word for it in statistics.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Up => "up",
            Self::Down => "down",
            Self::Absent => "absent",
        }
    }
}

/// The counters at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortCounters {
    /// Whether frames can pass.
    pub link: Link,
    /// Why the port does without rings, if it does.
    pub without_rings: Option<String>,
    /// Frames that found no room on their way to the switch.
    pub missed: u64,
    /// Reads that failed.
    pub receive_errors: u64,
    /// Frames that did not leave: too long for the interface, no room, interface down.
    pub send_errors: u64,
    /// Frames refused because what their sender left to hardware can't be done.
    pub refused: u64,
    /// Frames that senders left whole and that were cut into segments.
    pub segmented: u64,
    /// Frames that passed and that capture files don't have, because they could not be written.
    pub not_captured: u64,
}

/// Counters that one thread counts and others read.
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
    socket: Mutex<Weak<OwnedFd>>,
}

impl Counters {
    /// The counters now.
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
        }
    }

    pub(crate) fn link(&self) -> Link {
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

    /// Which packet socket counts what it drops.
    pub(crate) fn watch(&self, socket: &Arc<OwnedFd>) {
        *lock(&self.socket) = Arc::downgrade(socket);
    }

    /// Takes over what a packet socket has dropped; reading resets the kernel's counter.
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
