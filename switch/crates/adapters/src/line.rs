//! A line with a delay and losses, in either direction.
//!
//! For nodes that run by the clock on interfaces, whose kernel has neither; a process with this
//! node joins them. It loses the same frames as a world's wire of the same seed.

use std::collections::VecDeque;

use phb_hosts::ConfigError;
use phb_hosts::{HOST_PORT, NETWORK_PORT};
use phb_network::losses::Losses;
use phb_network::{Frame, Node, Output, Port, Time, WireConfig};

use crate::statistics::{AdapterStatistics, DirectionStatistics};

/// One direction. All frames take the same time, so they stay in order.
struct Way {
    losses: Losses,
    leaves_by: Port,
    /// Time of leaving (ns), and frame.
    on_the_way: VecDeque<(Time, Frame)>,
    statistics: DirectionStatistics,
}

impl Way {
    fn new(losses: Losses, leaves_by: Port) -> Self {
        Self {
            losses,
            leaves_by,
            on_the_way: VecDeque::new(),
            statistics: DirectionStatistics::default(),
        }
    }

    fn receive(&mut self, leaves: Time, frame: Frame, out: &mut Output) {
        self.statistics.receive(frame.len());
        if self.losses.take_next() {
            self.statistics.dropped_loss += 1;
            self.statistics.held -= 1;
            out.recycle(frame);
        } else {
            self.on_the_way.push_back((leaves, frame));
        }
    }

    fn tick(&mut self, now: Time, out: &mut Output) {
        while self.due().is_some_and(|at| at <= now)
            && let Some((_, frame)) = self.on_the_way.pop_front()
        {
            self.statistics.send(frame.len());
            out.send(now, self.leaves_by, frame);
        }
    }

    fn due(&self) -> Option<Time> {
        self.on_the_way.front().map(|(at, _)| *at)
    }
}

/// A line between two ports.
pub struct Line {
    delay: Time,
    ways: [Way; 2],
}

impl Line {
    /// An empty line, like a wire of this kind.
    pub fn new(config: WireConfig) -> Result<Self, ConfigError> {
        let losses = Losses::of_both_directions(config.loss_per_million, config.seed)
            .map_err(|error| ConfigError::new("loss_per_million", error.to_string()))?;
        let [there, back] = losses;
        Ok(Self {
            delay: config.delay_ns,
            ways: [Way::new(there, NETWORK_PORT), Way::new(back, HOST_PORT)],
        })
    }

    /// The counters; outbound is from port 0 to port 1.
    #[must_use]
    pub fn statistics(&self) -> AdapterStatistics {
        let [there, back] = &self.ways;
        AdapterStatistics {
            outbound: there.statistics,
            inbound: back.statistics,
            ..AdapterStatistics::default()
        }
    }
}

impl Node for Line {
    fn receive(&mut self, now: Time, port: Port, frame: Frame, out: &mut Output) {
        let leaves = now.saturating_add(self.delay);
        self.ways[usize::from(port != HOST_PORT)].receive(leaves, frame, out);
        self.tick(now, out);
    }

    fn tick(&mut self, now: Time, out: &mut Output) {
        for way in &mut self.ways {
            way.tick(now, out);
        }
    }

    fn next_tick(&self) -> Option<Time> {
        self.ways.iter().filter_map(Way::due).min()
    }
}
