//! Wakes a thread that waits for descriptors.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::system;

/// An event that another thread sets.
#[derive(Debug)]
pub struct Event(OwnedFd);

impl Event {
    /// An unset event. Errors are those of eventfd(2).
    pub fn new() -> io::Result<Self> {
        system::event().map(Self)
    }

    /// Sets it.
    pub fn set(&self) {
        // The counter is full only if it is set.
        let _ = system::write(&self.0, &[&1u64.to_ne_bytes(), &[]]);
    }

    /// Clears it.
    pub fn clear(&self) {
        // Fails harmlessly if it is not set.
        let _ = system::read(&self.0, &mut [0; 8]);
    }

    /// A descriptor that is readable while it is set.
    #[must_use]
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
