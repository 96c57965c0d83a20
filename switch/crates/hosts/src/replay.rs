//! An end station that sends given frames at given times and keeps received ones.

use phb_network::{Frame, Node, Output, Port, Time};

use crate::HOST_PORT;
use crate::configuration::ConfigError;

/// Sends frames by schedule, and keeps every received frame with its time.
#[derive(Debug)]
pub struct Replay {
    /// Frames left to send, the next one last.
    waiting: Vec<(Time, Frame)>,
    received: Vec<(Time, Frame)>,
}

impl Replay {
    /// Takes frames to send with times in ns that do not decrease; equal times keep this order.
    pub fn new(mut frames: Vec<(Time, Frame)>) -> Result<Self, ConfigError> {
        if let Some(place) = frames.windows(2).position(|pair| pair[0].0 > pair[1].0) {
            let (earlier, later) = (frames[place].0, frames[place + 1].0);
            let message =
                format!("{later} ns comes after {earlier} ns, increasing times are expected");
            return Err(ConfigError::new("frames", message));
        }
        frames.reverse();
        Ok(Self {
            waiting: frames,
            received: Vec::new(),
        })
    }

    /// Received frames with their times in ns.
    #[must_use]
    pub fn received(&self) -> &[(Time, Frame)] {
        &self.received
    }
}

impl Node for Replay {
    fn receive(&mut self, now: Time, _port: Port, frame: Frame, _out: &mut Output) {
        self.received.push((now, frame));
    }

    fn tick(&mut self, now: Time, out: &mut Output) {
        while let Some((_, frame)) = self.waiting.pop_if(|(at, _)| *at <= now) {
            out.send(now, HOST_PORT, frame);
        }
    }

    fn next_tick(&self) -> Option<Time> {
        self.waiting.last().map(|(at, _)| *at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(number: u8) -> Frame {
        Frame::new(vec![number; 60])
    }

    #[test]
    fn frames_leave_at_their_times_in_the_given_order() {
        let mut replay =
            Replay::new(vec![(5, frame(1)), (5, frame(2)), (9, frame(3))]).expect("in order");
        let mut out = Output::new();
        let mut sent = Vec::new();
        while let Some(at) = replay.next_tick() {
            out.begin(at);
            replay.tick(at, &mut out);
            sent.extend(out.drain().map(|sent| (sent.at, sent.frame.bytes[0])));
        }
        assert_eq!(sent, [(5, 1), (5, 2), (9, 3)]);
    }

    #[test]
    fn what_arrives_is_kept_with_its_time() {
        let mut replay = Replay::new(Vec::new()).expect("nothing to send");
        replay.receive(7, HOST_PORT, frame(4), &mut Output::new());
        assert_eq!(replay.received(), [(7, frame(4))]);
        assert_eq!(replay.next_tick(), None);
    }

    #[test]
    fn decreasing_times_are_refused() {
        let refused = Replay::new(vec![(9, frame(1)), (5, frame(2))]).expect_err("9 before 5");
        assert_eq!(refused.parameter, "frames");
    }
}
