//! A Channel Interface Processor: a router's adapter on one or two ESCON channels.
//!
//! ```text
//!                  host                                                adapter
//! port 2n -> write queue, buffers -> +---------------------+ -> CPU queue -> +-----+ -> port 2n + 1
//!                                    | half-duplex channel |                 | CPU |
//! port 2n <-------- interrupt <----- +---------------------+ <- read queue <- +-----+ <- CPU queue <- port 2n + 1
//! ```
//!
//! A channel moves blocks, and an IP datagram has whole blocks to itself (CLAW packing NONE): "for each small acknowledgment
//! sent, the same amount of system (that is, ESCON) overhead was incurred as if it was a 4-KB packet" (Cisco's CIP
//! acceptance tests). One direction has the channel for at most as many blocks as the DEVICE statement gives it buffers;
//! then the other has its turn, if it has something to move. One CPU takes the packets of both directions and of all
//! channels, one at a time, in the order of their coming.
//!
//! - [`config`]: what an adapter is told, its [`Mode`] with it;
//! - [`channel`]: turns, blocks, interrupts;
//! - [`csna`], [`tn3270`]: what the modes other than IP datagram do.

use std::collections::VecDeque;

use phb_network::{Frame, Node, Output, Port, Time};

use crate::configuration::ConfigError;
use crate::datagram::ETHERNET_HEADER;
use crate::statistics::{AdapterStatistics, DirectionStatistics};

mod channel;
mod config;
mod csna;
mod tn3270;

use channel::Channel;
pub use config::{CipConfig, Mode};
use csna::{Sessions, Verdict};

const PICOSECONDS_PER_NANOSECOND: u64 = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// From the host to the network: the host writes.
    Outbound,
    /// From the network to the host: the host reads.
    Inbound,
}

impl Direction {
    fn other(self) -> Self {
        match self {
            Self::Outbound => Self::Inbound,
            Self::Inbound => Self::Outbound,
        }
    }
}

/// A packet on its way through the CPU.
struct Work {
    channel: u16,
    direction: Direction,
    frame: Frame,
}

/// A CIP as a node with two ports per channel.
pub struct Cip {
    config: CipConfig,
    channels: Vec<Channel>,
    sessions: Sessions,
    cpu_queue: VecDeque<Work>,
    /// What the CPU is busy with, and until when (ns).
    cpu_task: Option<(Time, Work)>,
    /// What the host is interrupted for; empty between two events.
    interrupt: Vec<Frame>,
    /// What the host has written; empty between two events.
    written: Vec<Frame>,
    statistics: AdapterStatistics,
}

impl Cip {
    /// An idle adapter.
    ///
    /// # Errors
    /// Names the parameter that can't be used.
    pub fn new(config: CipConfig) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self {
            channels: (0..config.channels)
                .map(|_| Channel::new(&config))
                .collect(),
            config,
            sessions: Sessions::default(),
            cpu_queue: VecDeque::new(),
            cpu_task: None,
            interrupt: Vec::new(),
            written: Vec::new(),
            statistics: AdapterStatistics::default(),
        })
    }

    /// What the adapter was told.
    #[must_use]
    pub fn config(&self) -> &CipConfig {
        &self.config
    }

    /// What the adapter has counted.
    #[must_use]
    pub fn statistics(&self) -> AdapterStatistics {
        AdapterStatistics {
            llc2_sessions: self.sessions.open(),
            llc2_refused: self.sessions.refused(),
            ..self.statistics
        }
    }

    fn count(&mut self, direction: Direction) -> &mut DirectionStatistics {
        match direction {
            Direction::Outbound => &mut self.statistics.outbound,
            Direction::Inbound => &mut self.statistics.inbound,
        }
    }

    fn queue_for_channel(&mut self, now: Time, work: Work, out: &mut Output) {
        let direction = work.direction;
        let channel = usize::from(work.channel);
        if self.channels[channel]
            .push(&self.config, direction, work.frame)
            .is_err()
        {
            let count = self.count(direction);
            count.dropped_queue_full += 1;
            count.held -= 1;
            return;
        }
        self.start_channel(now, work.channel, out);
    }

    fn queue_for_cpu(&mut self, now: Time, work: Work) {
        if self.cpu_queue.len() >= self.config.cpu_queue_packets {
            let count = self.count(work.direction);
            count.dropped_cpu_full += 1;
            count.held -= 1;
            return;
        }
        self.cpu_queue.push_back(work);
        self.start_cpu(now);
    }

    fn start_channel(&mut self, now: Time, channel: u16, out: &mut Output) {
        let mut interrupt = std::mem::take(&mut self.interrupt);
        let state = &mut self.channels[usize::from(channel)];
        if let Some(started) = state.start(&self.config, now, &mut interrupt) {
            self.statistics.channel_blocks += started.blocks;
            self.statistics.channel_busy += started.busy;
        }
        for frame in interrupt.drain(..) {
            self.emit(now, channel, Direction::Inbound, frame, out);
        }
        self.interrupt = interrupt;
    }

    /// How long the CPU works for a packet, in ns.
    fn cost(&self, work: &Work) -> Time {
        let bytes = work.frame.len().saturating_sub(ETHERNET_HEADER) as u64;
        let by_length =
            bytes.saturating_mul(self.config.cpu_ps_per_byte) / PICOSECONDS_PER_NANOSECOND;
        let transaction = match self.config.mode {
            Mode::Tn3270 { transaction_time }
                if work.direction == Direction::Outbound
                    && tn3270::has_payload(&work.frame.bytes) =>
            {
                transaction_time
            }
            _ => 0,
        };
        self.config.cpu_time + by_length + transaction
    }

    fn start_cpu(&mut self, now: Time) {
        if self.cpu_task.is_some() {
            return;
        }
        let Some(work) = self.cpu_queue.pop_front() else {
            return;
        };
        let cost = self.cost(&work);
        self.statistics.cpu_busy += cost;
        let end = now
            .saturating_add(cost)
            .saturating_add(self.config.cpu_wait);
        self.cpu_task = Some((end, work));
    }

    /// Whether a packet crosses the channel: of a TN3270 server's, only what carries data does.
    fn crosses(&self, frame: &Frame) -> bool {
        !matches!(self.config.mode, Mode::Tn3270 { .. }) || tn3270::has_payload(&frame.bytes)
    }

    fn finish_cpu(&mut self, now: Time, mut work: Work, out: &mut Output) {
        if work.direction == Direction::Outbound {
            self.emit(now, work.channel, work.direction, work.frame, out);
            return;
        }
        if let Mode::Csna { max_llc2_sessions } = self.config.mode {
            let limit = max_llc2_sessions;
            match self.sessions.take(work.channel, limit, &mut work.frame) {
                Verdict::ToHost => {}
                Verdict::Answered => {
                    // It leaves by the side it came from, and is counted where it came in.
                    self.statistics.inbound.send(work.frame.len());
                    out.send(now, network_port(work.channel), work.frame);
                    return;
                }
                Verdict::NoSession => {
                    self.statistics.inbound.dropped_no_session += 1;
                    self.statistics.inbound.held -= 1;
                    return;
                }
            }
        }
        if self.crosses(&work.frame) {
            self.queue_for_channel(now, work, out);
        } else {
            self.emit(now, work.channel, work.direction, work.frame, out);
        }
    }

    fn emit(
        &mut self,
        now: Time,
        channel: u16,
        direction: Direction,
        frame: Frame,
        out: &mut Output,
    ) {
        self.count(direction).send(frame.len());
        let port = match direction {
            Direction::Outbound => network_port(channel),
            Direction::Inbound => host_port(channel),
        };
        out.send(now, port, frame);
    }
}

fn host_port(channel: u16) -> Port {
    2 * channel
}

fn network_port(channel: u16) -> Port {
    2 * channel + 1
}

impl Node for Cip {
    fn receive(&mut self, now: Time, port: Port, frame: Frame, out: &mut Output) {
        let channel = (port / 2).min(self.config.channels - 1);
        let direction = if port == host_port(channel) {
            Direction::Outbound
        } else {
            Direction::Inbound
        };
        let too_large = frame.len().saturating_sub(ETHERNET_HEADER) > self.config.mtu;
        let count = self.count(direction);
        count.receive(frame.len());
        if too_large {
            count.dropped_too_large += 1;
            count.held -= 1;
            return;
        }
        let work = Work {
            channel,
            direction,
            frame,
        };
        if direction == Direction::Outbound && self.crosses(&work.frame) {
            self.queue_for_channel(now, work, out);
        } else {
            self.queue_for_cpu(now, work);
        }
        self.tick(now, out);
    }

    fn tick(&mut self, now: Time, out: &mut Output) {
        while let Some(due) = self.next_tick().filter(|due| *due <= now) {
            for channel in 0..self.config.channels {
                let mut written = std::mem::take(&mut self.written);
                let state = &mut self.channels[usize::from(channel)];
                let finished = state.finish(due, &mut written);
                for frame in written.drain(..) {
                    let direction = Direction::Outbound;
                    let work = Work {
                        channel,
                        direction,
                        frame,
                    };
                    self.queue_for_cpu(due, work);
                }
                self.written = written;
                if finished {
                    self.start_channel(due, channel, out);
                }
            }
            if let Some((_, work)) = self.cpu_task.take_if(|(end, _)| *end == due) {
                self.finish_cpu(due, work, out);
                self.start_cpu(due);
            }
        }
    }

    fn next_tick(&self) -> Option<Time> {
        let channels = self.channels.iter().filter_map(Channel::due);
        let cpu = self.cpu_task.as_ref().map(|(end, _)| *end);
        channels.chain(cpu).min()
    }
}

#[cfg(test)]
mod tests;
