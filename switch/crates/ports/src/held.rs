//! Sends through an interface's queueing discipline, and keeps short what waits there.
//!
//! A frame stays accounted to its socket until the discipline has let it go, and the socket takes
//! no more than `SO_SNDBUF` (socket(7)). So a small one leaves the queue where the program sees it.
//! How small: the interface must not run empty while the switch wakes up, which takes microseconds
//! or, on a busy machine, a clock tick; a slow line needs a few frames, a fast one thousands. The
//! [`Bound`] is found as Linux does it for the rings of network cards (its dynamic queue limits).

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::counters::Counters;
use crate::system;

/// From linux/sockios.h: bytes that have not left.
const SIOCOUTQ: libc::Ioctl = 0x5411;

/// Sends frames one by one, and keeps the one for which there is no room.
#[derive(Debug)]
pub(crate) struct HeldSender {
    socket: OwnedFd,
    bound: Bound,
    /// The frame that is next; empty without one.
    kept: Vec<u8>,
}

impl HeldSender {
    /// Sends by the interface of this index, frames of up to `longest` bytes. Errors are those of
    /// socket(2) and bind(2).
    pub(crate) fn open(address: &[u8], longest: usize) -> io::Result<Self> {
        // Protocol 0: it receives nothing.
        let socket = system::socket(libc::AF_PACKET, libc::SOCK_RAW, 0)?;
        system::bind(&socket, address)?;
        let bound = Bound::new(longest);
        bound.apply(&socket)?;
        Ok(Self {
            socket,
            bound,
            kept: Vec::with_capacity(longest),
        })
    }

    /// Whether the next frame may come.
    pub(crate) fn has_room(&self) -> bool {
        self.kept.is_empty()
    }

    /// What gets writable when there is room again.
    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Sends a frame, or keeps it until [`retry`](Self::retry).
    pub(crate) fn send(&mut self, frame: &[u8], counters: &Counters) {
        if !self.has_room() {
            return counters.send_errors(1);
        }
        if self.offer(frame, counters) {
            counters.hold_back();
            self.kept.extend_from_slice(frame);
        }
    }

    /// Sends the frame that was kept, if there is room now.
    pub(crate) fn retry(&mut self, counters: &Counters) {
        if self.has_room() {
            return;
        }
        if self.bound.woken(self.waiting()) {
            let _ = self.bound.apply(&self.socket);
        }
        let mut frame = std::mem::take(&mut self.kept);
        if !self.offer(&frame, counters) {
            frame.clear();
        }
        self.kept = frame;
    }

    /// Whether the frame has to wait.
    fn offer(&mut self, frame: &[u8], counters: &Counters) -> bool {
        let Err(error) = system::send(&self.socket, &[frame, &[]]) else {
            return false;
        };
        let waits = match error.raw_os_error() {
            Some(libc::EAGAIN) => true,
            // The discipline's own limit is lower: ours becomes what it holds. If it holds next to
            // nothing of ours it is full of others' frames, or refuses this one: no room will come.
            Some(libc::ENOBUFS) => {
                let lower = self.bound.lower(self.waiting());
                lower && self.bound.apply(&self.socket).is_ok()
            }
            _ => false,
        };
        if !waits {
            counters.send_errors(1);
        }
        waits
    }

    /// Bytes, as the kernel counts them, of frames that the discipline holds.
    fn waiting(&self) -> usize {
        let waiting = system::integer(self.socket.as_fd(), SIOCOUTQ);
        waiting.map_or(0, |bytes| usize::try_from(bytes).unwrap_or(0))
    }
}

/// What Linux accounts for a frame beside the memory that it lies in, about.
const BESIDE: usize = 256;
/// More than a fast line needs while the switch waits for a clock tick: 10 Gbit/s for 3 ms.
const MOST: usize = 4 << 20;
/// What the kernel makes of a smaller one (SOCK_MIN_SNDBUF, halved).
const LEAST: usize = 2304;
/// How often the interface has room before its bound may shrink.
const PATIENCE: u32 = 256;

/// The bytes that the discipline may hold, in the kernel's count: up to twice `half`. The socket
/// gets writable when `half` of them are left.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Bound {
    half: usize,
    /// Two frames of full length.
    floor: usize,
    /// Least that was left when there was room, and how often there was.
    least: usize,
    times: u32,
}

impl Bound {
    fn new(longest: usize) -> Self {
        let floor = 2 * (longest.next_power_of_two() + BESIDE);
        Self {
            half: floor,
            floor,
            least: usize::MAX,
            times: 0,
        }
    }

    /// Takes what was left when the switch came with the next frame. Nothing: the line has waited,
    /// and needs more. Always more than half: it needs less. Gives whether the bound has changed.
    fn woken(&mut self, left: usize) -> bool {
        self.least = self.least.min(left);
        self.times += 1;
        let half = if left == 0 {
            (2 * self.half).clamp(self.floor, MOST.max(self.floor))
        } else if self.times < PATIENCE {
            return false;
        } else if self.least > self.half / 2 {
            (self.half / 2).max(self.floor)
        } else {
            self.half
        };
        self.times = 0;
        self.least = usize::MAX;
        std::mem::replace(&mut self.half, half) != half
    }

    /// Lowers the bound to what the discipline holds, if room will be told of.
    fn lower(&mut self, holds: usize) -> bool {
        if holds < LEAST {
            return false;
        }
        self.half = (holds / 2).max(LEAST);
        true
    }

    /// The kernel doubles what it is told.
    fn apply(&self, socket: &OwnedFd) -> io::Result<()> {
        let bytes = i32::try_from(self.half).unwrap_or(i32::MAX);
        let set = |option| system::set_option(socket, libc::SOL_SOCKET, option, &bytes);
        // Without CAP_NET_ADMIN the system's limit applies.
        set(libc::SO_SNDBUFFORCE).or_else(|_| set(libc::SO_SNDBUF))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FULL: usize = 1518;
    const FRAME: usize = 2304;

    #[test]
    fn it_begins_with_four_frames_of_full_length() {
        assert_eq!(2 * Bound::new(FULL).half, 4 * FRAME);
    }

    #[test]
    fn a_line_that_ran_empty_gets_more_up_to_a_limit() {
        let mut bound = Bound::new(FULL);
        assert!(bound.woken(0));
        assert_eq!(bound.half, 4 * FRAME);
        while bound.woken(0) {}
        assert_eq!(bound.half, MOST);
    }

    #[test]
    fn a_line_that_never_nearly_ran_empty_gets_less_down_to_two_frames() {
        let mut bound = Bound::new(FULL);
        bound.woken(0);
        bound.woken(0);
        let grown = bound.clone();
        for _ in 1..PATIENCE {
            assert!(!bound.woken(grown.half));
        }
        assert!(bound.woken(grown.half));
        assert_eq!(bound.half, grown.half / 2);
        // One time that little was left is enough to stay.
        let half = bound.half;
        bound.woken(half / 2);
        assert!((1..PATIENCE).all(|_| !bound.woken(half)));
        while bound.half > bound.floor {
            bound.woken(usize::MAX);
        }
        assert!((0..2 * PATIENCE).all(|_| !bound.woken(usize::MAX)));
    }

    #[test]
    fn a_discipline_with_a_lower_limit_lowers_it() {
        let mut bound = Bound::new(FULL);
        assert!(bound.lower(3 * FRAME));
        assert_eq!(bound.half, 3 * FRAME / 2);
        assert!(bound.lower(FRAME));
        assert_eq!(bound.half, LEAST);
        assert!(!bound.lower(FRAME - 1), "the kernel would not tell of room");
    }
}
