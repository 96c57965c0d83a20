//! The interface of ports.

use std::fmt;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use phb_network::Time;

use crate::counters::Counters;
use crate::links::LinkChange;

/// Reason for a missing port, in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortError(pub String);

impl fmt::Display for PortError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for PortError {}

/// Receives and sends frames in batches, in one thread.
pub trait Port: Send {
    /// Name in messages.
    fn name(&self) -> &str;

    /// A descriptor that is readable when frames wait.
    fn descriptor(&self) -> Option<BorrowedFd<'_>>;

    /// The counters.
    fn counters(&self) -> &Arc<Counters>;

    /// Gives about `limit` waiting frames at most to `take`, in order of arrival (a frame to be cut
    /// counts as one); `true` if more may wait.
    fn receive(&mut self, now: Time, limit: usize, take: &mut dyn FnMut(&[u8])) -> bool;

    /// Shows the next frames of `receive` without taking them, as they lie in memory: without the tag
    /// that the kernel has taken out. Gives their number; zero where that would take a system call.
    fn waiting<'a>(&'a self, _frames: &mut [&'a [u8]]) -> usize {
        0
    }

    /// Takes a frame for the next [`flush`](Self::flush), or sends it at once; counts a failure. A
    /// port without [`room`](Self::room) takes none.
    fn send(&mut self, now: Time, frame: &[u8]);

    /// Sends the taken frames.
    fn flush(&mut self);

    /// Has the port mind what holds frames back on their way out, for a node that can wait.
    fn hold_back(&mut self) {}

    /// Whether there is room for a frame.
    fn room(&self) -> Room {
        Room::Always
    }

    /// A descriptor that gets writable when there is room again: [`make_room`](Self::make_room) then.
    fn blocked(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    /// Tries again to send what there was no room for.
    fn make_room(&mut self) {}

    /// Whether [`receive`](Self::receive) needs no system call to find nothing.
    fn has_rings(&self) -> bool {
        false
    }

    /// The next arrival that no descriptor signals.
    fn next_arrival(&self) -> Option<Time> {
        None
    }

    /// Time stamp of the first replayed frame.
    fn first_timestamp(&self) -> Option<Timestamp> {
        None
    }

    /// Gives the clock of all other calls; called once, before them.
    fn start(&mut self, _clock: &Clock) {}

    /// Handles an error of the descriptor, so that it ends.
    fn trouble(&mut self) {}

    /// A file's failure since the last call.
    fn complaint(&mut self) -> Option<String> {
        None
    }

    /// Follows a change of an interface; gives a line for the log, if any.
    fn link_changed(&mut self, _change: &LinkChange) -> Option<String> {
        None
    }
}

/// Whether a port takes a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Room {
    /// It takes whatever comes.
    Always,
    /// It takes one, and has to be asked again.
    Now,
    /// It takes none: the interface holds frames back.
    None,
}

/// Nanoseconds since 1970.
pub type Timestamp = u64;

/// Time 0 of a run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock {
    /// Time of day at time 0.
    pub at_zero: Timestamp,
    /// Earliest time stamp of all replayed files, at time 0 before a port's own wait.
    pub replay_from: Timestamp,
}
