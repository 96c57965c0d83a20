//! The interface of all ports.

use std::fmt;
use std::os::fd::BorrowedFd;
use std::sync::Arc;

use phb_network::Time;

use crate::counters::Counters;
use crate::links::LinkChange;

/// Why a port can't be had; one line for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortError(pub String);

impl fmt::Display for PortError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for PortError {}

/// A place where frames come in and go out, in batches. One thread runs it.
pub trait Port: Send {
    /// Its name in messages.
    fn name(&self) -> &str;

    /// A descriptor that is readable when frames wait.
    fn descriptor(&self) -> Option<BorrowedFd<'_>>;

    /// The counters.
    fn counters(&self) -> &Arc<Counters>;

    /// Gives waiting frames to `take`, in order of arrival, about `limit` at most (a frame that is cut into segments
    /// counts as one). `true` if more may wait.
    fn receive(&mut self, now: Time, limit: usize, take: &mut dyn FnMut(&[u8])) -> bool;

    /// Takes a frame to be sent with the next [`flush`](Self::flush). What can't be sent is counted.
    fn send(&mut self, now: Time, frame: &[u8]);

    /// Sends the frames that were taken.
    fn flush(&mut self);

    /// Whether [`receive`](Self::receive) finds out without the kernel that nothing waits.
    fn has_rings(&self) -> bool {
        false
    }

    /// When a frame arrives that no descriptor tells of.
    fn next_arrival(&self) -> Option<Time> {
        None
    }

    /// The time stamp of the first frame to be replayed, for ports that replay.
    fn first_timestamp(&self) -> Option<Timestamp> {
        None
    }

    /// Says what the times given to the other functions mean. Called once, before them.
    fn start(&mut self, _clock: &Clock) {}

    /// Looks why the descriptor is in trouble, so that it is not any more.
    fn trouble(&mut self) {}

    /// A file that could not be read or written since the last call, and why.
    fn complaint(&mut self) -> Option<String> {
        None
    }

    /// Follows a change of an interface. Gives what a person should know of it.
    fn link_changed(&mut self, _change: &LinkChange) -> Option<String> {
        None
    }
}

/// Nanoseconds since 1970.
pub type Timestamp = u64;

/// The zero of a run's times.
#[derive(Clone, Copy, Debug, Default)]
pub struct Clock {
    /// The time of day at time 0.
    pub at_zero: Timestamp,
    /// The earliest time stamp of all replayed files. It happens at time 0, before a port's own wait.
    pub replay_from: Timestamp,
}
