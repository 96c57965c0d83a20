//! Wakes a thread that waits for descriptors.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::system;

/// Something to wait for that another thread makes happen.
#[derive(Debug)]
pub struct Event(OwnedFd);

impl Event {
    /// An event that has not happened.
    ///
    /// # Errors
    /// Those of eventfd(2).
    pub fn new() -> io::Result<Self> {
        system::event().map(Self)
    }

    /// Makes it happen.
    pub fn set(&self) {
        // The counter is full only when it has happened already.
        let _ = system::write(&self.0, &[&1u64.to_ne_bytes(), &[]]);
    }

    /// Forgets that it has happened.
    pub fn clear(&self) {
        // An empty counter says so, and there is nothing to do about it.
        let _ = system::read(&self.0, &mut [0; 8]);
    }

    /// A descriptor that is readable when it has happened.
    #[must_use]
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
