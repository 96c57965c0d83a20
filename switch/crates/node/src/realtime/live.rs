//! Nodes that a runner runs.

use phb_network::{Frame, Node, Output, Port, Time};
use phb_traffic_manager::Outlet;

use crate::switch::{Clock, SwitchNode, Waker};

/// A node that a [`RealTime`](super::RealTime) runs: it takes frames without a copy, and can wake the runner.
pub trait LiveNode: Node {
    /// The name of the runner's thread.
    fn name(&self) -> &str;

    /// Takes a frame as [`Node::receive`] does, from the runner's memory.
    fn receive_borrowed(&mut self, now: Time, port: Port, frame: &[u8], out: &mut Output) {
        let mut bytes = out.buffer();
        bytes.extend_from_slice(frame);
        self.receive(now, port, Frame::new(bytes), out);
    }

    /// Whether [`look_ahead`](Self::look_ahead) is worth the time now.
    fn looks_ahead(&self) -> bool {
        false
    }

    /// Shows frames that are received next, up to [`AHEAD`](crate::switch::AHEAD).
    fn look_ahead(&self, _frames: &[&[u8]]) {}

    /// Whether frames can wait in the node for an interface that holds them back.
    fn has_queues(&self) -> bool {
        false
    }

    /// Says at `now` (ns) whether frames may leave a port, and sends what may.
    fn set_outlet(&mut self, _now: Time, _port: Port, _outlet: Outlet, _out: &mut Output) {}

    /// Says whether the interface of a port is up.
    fn set_port_up(&mut self, _port: Port, _up: bool) {}

    /// Sets the function that wakes the runner for work from elsewhere; most nodes have none.
    fn set_waker(&mut self, _waker: Option<Waker>) {}

    /// Sets the runner's clock, for those who look at the node meanwhile.
    fn set_clock(&mut self, _clock: Option<Clock>) {}
}

impl LiveNode for SwitchNode {
    fn name(&self) -> &str {
        &self.config().name
    }

    fn receive_borrowed(&mut self, now: Time, port: Port, frame: &[u8], out: &mut Output) {
        self.receive_frame(now, port, frame, out);
    }

    fn looks_ahead(&self) -> bool {
        SwitchNode::looks_ahead(self)
    }

    fn look_ahead(&self, frames: &[&[u8]]) {
        SwitchNode::look_ahead(self, frames.iter().copied());
    }

    fn has_queues(&self) -> bool {
        true
    }

    fn set_outlet(&mut self, now: Time, port: Port, outlet: Outlet, out: &mut Output) {
        SwitchNode::set_outlet(self, now, port, outlet, out);
    }

    fn set_port_up(&mut self, port: Port, up: bool) {
        SwitchNode::set_port_up(self, port, up);
    }

    fn set_waker(&mut self, waker: Option<Waker>) {
        SwitchNode::set_waker(self, waker);
    }

    fn set_clock(&mut self, clock: Option<Clock>) {
        SwitchNode::set_clock(self, clock);
    }
}
