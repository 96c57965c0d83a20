//! The way of a packet between its arrival and its departure, in the order of simple_switch. After
//! ingress: clone, digest, resubmit, and if none of these ends it, multicast, drop, or one port.
//! After egress: clone, drop, recirculate, or the line.
//!
//! There is no recursion: the work that a packet causes (a copy in a queue, another pass through
//! ingress) is noted, and `settle` does one after the other. This ends with every program: a packet
//! and its copies pass at most [`PASSES`] times, and one event causes at most [`BUDGET`] passes and
//! copies, and [`STEPS`](phb_pipeline::STEPS) of loops.

mod copies;
mod egress;
mod ingress;
mod packet_path;
mod queueing;
mod traced;

use phb_network::{Output, Time};
use phb_pipeline::Pipeline;

pub use packet_path::{BUDGET, PASSES};

pub(crate) use packet_path::PacketPath;

impl PacketPath {
    /// Serves a port, and does all that follows from it.
    pub(crate) fn advance(&mut self, now: Time, at: usize, out: &mut Output) {
        self.budget = BUDGET;
        self.now = now;
        if let Some(pipeline) = &mut self.pipeline {
            pipeline.grant_steps();
        }
        self.serve(now, at, out);
        self.settle(now, out);
    }

    /// Serves the ports in `busy` and passes the packets in `again`, until nothing is left now.
    fn settle(&mut self, now: Time, out: &mut Output) {
        loop {
            if let Some(at) = self.busy.pop_front() {
                self.serve(now, at, out);
            } else if let Some((number, waiting)) = self.nowhere.pop_front() {
                self.egress_nowhere(now, number, waiting, out);
            } else if let Some(again) = self.again.pop_front() {
                self.recirculate(now, again, out);
            } else {
                break;
            }
        }
        self.note_messages();
        if let Some(digests) = self.pipeline.as_mut().and_then(Pipeline::take_digests) {
            self.statistics.digests += digests.len() as u64;
            self.statistics.digests_lost += self.digests.push(digests) as u64;
        }
    }
}
