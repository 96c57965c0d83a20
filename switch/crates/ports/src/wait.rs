//! Waiting for descriptors.

use std::io;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use crate::system::{self, PollEntry};

/// Waits for several descriptors; allocates only the first time.
#[derive(Debug, Default)]
pub struct Waiter {
    entries: Vec<PollEntry>,
}

impl Waiter {
    /// A waiter.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Waits for one of `readable` to be readable, one of `writable` to be writable, an error of
    /// either, a signal, or the timeout; may fail as ppoll(2). The writable are counted behind the
    /// readable.
    pub fn wait<'a>(
        &mut self,
        readable: impl IntoIterator<Item = Option<BorrowedFd<'a>>>,
        writable: impl IntoIterator<Item = Option<BorrowedFd<'a>>>,
        timeout: Option<Duration>,
    ) -> io::Result<()> {
        self.entries.clear();
        let readable = readable.into_iter().map(PollEntry::readable);
        let writable = writable.into_iter().map(PollEntry::writable);
        self.entries.extend(readable.chain(writable));
        match system::poll(&mut self.entries, timeout) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                self.entries.clear();
                Ok(())
            }
            result => result,
        }
    }

    /// Whether the descriptor at this place had an error.
    #[must_use]
    pub fn is_in_trouble(&self, at: usize) -> bool {
        self.entries.get(at).is_some_and(PollEntry::is_in_trouble)
    }

    /// Whether the descriptor at this place is ready or in trouble.
    #[must_use]
    pub fn is_ready(&self, at: usize) -> bool {
        self.entries.get(at).is_some_and(PollEntry::is_ready)
    }
}
