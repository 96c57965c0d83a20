//! Nodes: frames and ticks in, frames out, time as an argument.

use std::sync::{Arc, Mutex, PoisonError};

/// Nanoseconds since the start of the run.
pub type Time = u64;

/// A port of a node.
pub type Port = u16;

/// One Ethernet frame, without preamble and frame check sequence.
///
/// Every wire of a [`World`](crate::World) carries Ethernet frames, even where the modelled medium
/// is PPP or a channel: there the 14 bytes of Ethernet header stand for the router's internal
/// encapsulation, and transmission times don't count them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Frame {
    /// Bytes from the destination address to the end of the payload.
    pub bytes: Vec<u8>,
}

impl Frame {
    /// Wraps `bytes`, which start at the Ethernet destination address.
    #[must_use]
    pub fn new(bytes: Vec<u8>) -> Self {
        Self { bytes }
    }

    /// The length in bytes, without preamble and frame check sequence.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether the frame has no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

impl From<Vec<u8>> for Frame {
    fn from(bytes: Vec<u8>) -> Self {
        Self::new(bytes)
    }
}

/// A frame sent through [`Output`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Transmission {
    /// When the frame leaves the node, in ns.
    pub at: Time,
    /// The port it leaves by.
    pub port: Port,
    /// The frame.
    pub frame: Frame,
}

/// For reuse: more than a burst over every port of a large switch.
const SPARE_BUFFERS: usize = 1024;

/// Frames sent by a node. Its runner owns it and reuses it from call to call.
///
/// It also reuses their memory: nodes make frames in buffers from [`buffer`](Self::buffer), and
/// frames go back by [`recycle`](Self::recycle), or by staying here until the next
/// [`begin`](Self::begin). In a steady state no frame costs an allocation.
#[derive(Debug, Default)]
pub struct Output {
    now: Time,
    sent: Vec<Transmission>,
    spare: Vec<Vec<u8>>,
}

impl Output {
    /// An empty output.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Prepares for a node's next call, at `now` (ns). Frames left here are recycled.
    pub fn begin(&mut self, now: Time) {
        self.now = now;
        let spare = &mut self.spare;
        for sent in self.sent.drain(..) {
            keep(spare, sent.frame.bytes);
        }
    }

    /// An empty buffer for a frame.
    #[must_use]
    pub fn buffer(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_default()
    }

    /// Takes a used frame's memory.
    pub fn recycle(&mut self, frame: Frame) {
        keep(&mut self.spare, frame.bytes);
    }

    /// Sends `frame` by `port` at `at` (ns), now or later; earlier counts as now.
    pub fn send(&mut self, at: Time, port: Port, frame: Frame) {
        debug_assert!(
            at >= self.now,
            "sent at {at} ns, which is before {} ns",
            self.now
        );
        let at = at.max(self.now);
        self.sent.push(Transmission { at, port, frame });
    }

    /// Takes the frames sent since [`begin`](Self::begin), in order.
    pub fn drain(&mut self) -> std::vec::Drain<'_, Transmission> {
        self.sent.drain(..)
    }

    /// The frames sent since [`begin`](Self::begin), in order.
    #[must_use]
    pub fn sent(&self) -> &[Transmission] {
        &self.sent
    }
}

fn keep(spare: &mut Vec<Vec<u8>>, mut buffer: Vec<u8>) {
    if spare.len() < SPARE_BUFFERS && buffer.capacity() > 0 {
        buffer.clear();
        spare.push(buffer);
    }
}

/// A switch, a TCP host, an adapter, or anything else that handles packets.
///
/// A node reads no clock: `now` never decreases from call to call, and later actions are requested
/// through [`next_tick`](Self::next_tick).
pub trait Node: Send {
    /// Takes a frame that arrives at `port` at `now` (ns).
    fn receive(&mut self, now: Time, port: Port, frame: Frame, out: &mut Output);

    /// Does everything due at `now` (ns), which may be nothing.
    fn tick(&mut self, now: Time, out: &mut Output);

    /// Time of the next tick (ns); `None` waits for frames only. The runner reads it after every
    /// `receive` and `tick`; a past time counts as now.
    fn next_tick(&self) -> Option<Time>;
}

impl<N: Node + ?Sized> Node for Box<N> {
    fn receive(&mut self, now: Time, port: Port, frame: Frame, out: &mut Output) {
        (**self).receive(now, port, frame, out);
    }

    fn tick(&mut self, now: Time, out: &mut Output) {
        (**self).tick(now, out);
    }

    fn next_tick(&self) -> Option<Time> {
        (**self).next_tick()
    }
}

/// A node that others use between calls, such as a switch with a P4Runtime server. The lock is
/// taken once per call; while a world runs, others hold it only for moments.
impl<N: Node + ?Sized> Node for Arc<Mutex<N>> {
    fn receive(&mut self, now: Time, port: Port, frame: Frame, out: &mut Output) {
        self.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .receive(now, port, frame, out);
    }

    fn tick(&mut self, now: Time, out: &mut Output) {
        self.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .tick(now, out);
    }

    fn next_tick(&self) -> Option<Time> {
        self.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .next_tick()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_go_round() {
        let mut out = Output::new();
        for number in 0..3 {
            let mut bytes = Vec::with_capacity(100);
            bytes.push(number);
            out.send(0, 0, Frame::new(bytes));
        }
        let drained = out.drain().next().expect("three were sent").frame;
        assert!(out.sent().is_empty());
        out.recycle(drained);
        assert_eq!((out.buffer().capacity(), out.buffer().capacity()), (100, 0));

        out.send(0, 0, Frame::new(Vec::with_capacity(200)));
        out.send(0, 0, Frame::default());
        out.begin(1);
        assert!(out.sent().is_empty());
        let buffer = out.buffer();
        assert_eq!((buffer.capacity(), buffer.len()), (200, 0));
        assert_eq!(
            out.buffer().capacity(),
            0,
            "nothing to keep of an empty frame"
        );
    }

    #[test]
    fn no_more_buffers_are_kept_than_one_burst_needs() {
        let mut out = Output::new();
        for _ in 0..2 * SPARE_BUFFERS {
            out.recycle(Frame::new(vec![1]));
        }
        let kept =
            std::iter::repeat_with(|| out.buffer()).take_while(|buffer| buffer.capacity() > 0);
        assert_eq!(kept.count(), SPARE_BUFFERS);
    }
}
