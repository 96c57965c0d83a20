//! A Channel Interface Processor: a router's adapter on one or two ESCON channels.
//!
//! ```text
//!                  host                                                adapter
//! port 2n -> write queue, buffers -> +---------------------+ -> CPU queue -> +-----+ -> port 2n + 1
//!                                    | half-duplex channel |                 | CPU |
//! port 2n <-------- interrupt <----- +---------------------+ <- read queue <- +-----+ <- CPU queue <- port 2n + 1
//! ```
//!
//! A channel moves blocks, and an IP datagram has whole blocks to itself (CLAW packing NONE): "for
//! each small acknowledgment sent, the same amount of system (that is, ESCON) overhead was incurred
//! as if it was a 4-KB packet" (Cisco's CIP acceptance tests). A direction's turn is at most as
//! many blocks as the DEVICE statement gives it buffers. One CPU serves all packets of both
//! directions and all channels, first come, first served.
//!
//! - [`config`]: the parameters, and the [`Mode`] they mean;
//! - [`channel`]: turns, blocks, interrupts;
//! - [`csna`]: LLC2 connections and their limit.
//!
//! A TN3270 server ends its clients' TCP connections and speaks SNA with VTAM. Its TCP is a
//! separate host, whose packets all take CPU time:
//!
//! ```text
//! port 0 == channel, VTAM ==+     +---- port 2, the server's TCP
//!                           | CPU |
//! port 1 -- network --------+     +---- port 3, its SNA side: the channel's network
//! ```
//! TCP segments go before SNA messages: an interrupt takes them, and requests are acknowledged at
//! once, however long the server works.

use std::collections::VecDeque;

use phb_hosts::ConfigError;
use phb_hosts::NETWORK_PORT;
use phb_hosts::frame::ETHERNET_HEADER;
use phb_network::{Frame, Node, Output, Port, Time};

use crate::queue::is_full;
use crate::statistics::{AdapterStatistics, DirectionStatistics};

mod channel;
mod config;
mod csna;

use channel::{Channel, Direction};
pub use config::{CipConfig, Mode};
use csna::{Sessions, Verdict};

const PICOSECONDS_PER_NANOSECOND: u64 = 1_000;
const SECOND: Time = 1_000_000_000;
/// Ports of a TN3270 server's own host: TCP, and SNA.
const SERVER_TCP_PORT: Port = 2;
const SERVER_SNA_PORT: Port = 3;

/// Time that an adapter was busy, in ns; two channels can be busy at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Busy {
    /// Its CPU.
    pub cpu: Time,
    /// Its channels together.
    pub channel: Time,
}

struct Work {
    way: Way,
    direction: Direction,
    frame: Frame,
}

/// The path of a packet: by a channel or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Channel(u16),
    /// Between network and TN3270 server.
    Server,
}

/// A CIP: two ports per channel.
pub struct Cip {
    config: CipConfig,
    channels: Vec<Channel>,
    sessions: Sessions,
    cpu_queue: VecDeque<Work>,
    /// TCP segments of a TN3270 server, served before it.
    cpu_first: VecDeque<Work>,
    /// The packet in the CPU, and its end (ns).
    cpu_task: Option<(Time, Work)>,
    /// Packets of a host interrupt; empty between two events.
    interrupt: Vec<Frame>,
    /// Packets written by the host; empty between two events.
    written: Vec<Frame>,
    statistics: AdapterStatistics,
    by_second: Vec<Busy>,
}

impl Cip {
    /// An idle adapter.
    pub fn new(config: CipConfig) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self {
            channels: (0..config.channels)
                .map(|_| Channel::new(&config))
                .collect(),
            config,
            sessions: Sessions::default(),
            cpu_queue: VecDeque::new(),
            cpu_first: VecDeque::new(),
            cpu_task: None,
            interrupt: Vec::new(),
            written: Vec::new(),
            statistics: AdapterStatistics::default(),
            by_second: Vec::new(),
        })
    }

    /// The parameters.
    #[must_use]
    pub fn config(&self) -> &CipConfig {
        &self.config
    }

    /// The counters.
    #[must_use]
    pub fn statistics(&self) -> AdapterStatistics {
        AdapterStatistics {
            llc2_sessions: self.sessions.open(),
            llc2_refused: self.sessions.refused(),
            ..self.statistics
        }
    }

    /// Busy times of CPU and channels in each second of the run; work counts where it begins.
    #[must_use]
    pub fn by_second(&self) -> &[Busy] {
        &self.by_second
    }

    fn second(&mut self, now: Time) -> &mut Busy {
        let second = usize::try_from(now / SECOND).unwrap_or(usize::MAX);
        if second >= self.by_second.len() {
            self.by_second.resize(second + 1, Busy::default());
        }
        &mut self.by_second[second]
    }

    fn count(&mut self, direction: Direction) -> &mut DirectionStatistics {
        match direction {
            Direction::Outbound => &mut self.statistics.outbound,
            Direction::Inbound => &mut self.statistics.inbound,
        }
    }

    fn queue_for_channel(
        &mut self,
        now: Time,
        channel: u16,
        direction: Direction,
        frame: Frame,
        out: &mut Output,
    ) {
        let state = &mut self.channels[usize::from(channel)];
        if state.push(&self.config, direction, frame).is_err() {
            let count = self.count(direction);
            count.dropped_queue_full += 1;
            count.held -= 1;
            return;
        }
        self.start_channel(now, channel, out);
    }

    fn queue_for_cpu(&mut self, now: Time, work: Work) {
        let waiting = self.cpu_queue.len() + self.cpu_first.len();
        if is_full(waiting, self.config.cpu_queue_packets) {
            if let (Way::Channel(channel), Direction::Inbound) = (work.way, work.direction) {
                self.channels[usize::from(channel)].release();
            }
            let count = self.count(work.direction);
            count.dropped_cpu_full += 1;
            count.held -= 1;
            return;
        }
        match work.way {
            Way::Channel(_) => self.cpu_queue.push_back(work),
            Way::Server => self.cpu_first.push_back(work),
        }
        self.start_cpu(now);
    }

    fn start_channel(&mut self, now: Time, channel: u16, out: &mut Output) {
        let mut interrupt = std::mem::take(&mut self.interrupt);
        let state = &mut self.channels[usize::from(channel)];
        if let Some(started) = state.start(&self.config, now, &mut interrupt) {
            self.statistics.channel_blocks += started.blocks;
            self.statistics.channel_busy_ns += started.busy;
            self.second(now).channel += started.busy;
        }
        for frame in interrupt.drain(..) {
            let direction = Direction::Inbound;
            let way = Way::Channel(channel);
            self.emit(
                now,
                Work {
                    way,
                    direction,
                    frame,
                },
                out,
            );
        }
        self.interrupt = interrupt;
    }

    /// CPU time of a packet, in ns.
    fn cost(&self, work: &Work) -> Time {
        let bytes = work.frame.len().saturating_sub(ETHERNET_HEADER) as u64;
        let by_length =
            bytes.saturating_mul(self.config.cpu_ps_per_byte) / PICOSECONDS_PER_NANOSECOND;
        let is_request =
            work.direction == Direction::Inbound && matches!(work.way, Way::Channel(_));
        let transaction = match self.config.mode() {
            Mode::Tn3270 {
                cpu_ns_per_transaction,
            } if is_request => cpu_ns_per_transaction,
            _ => 0,
        };
        self.config.cpu_ns_per_packet + by_length + transaction
    }

    fn start_cpu(&mut self, now: Time) {
        if self.cpu_task.is_some() {
            return;
        }
        let first = self.cpu_first.pop_front();
        let Some(work) = first.or_else(|| self.cpu_queue.pop_front()) else {
            return;
        };
        let cost = self.cost(&work);
        self.statistics.cpu_busy_ns += cost;
        self.second(now).cpu += cost;
        let end = now
            .saturating_add(cost)
            .saturating_add(self.config.cpu_wait_ns);
        self.cpu_task = Some((end, work));
    }

    fn finish_cpu(&mut self, now: Time, mut work: Work, out: &mut Output) {
        let channel = match work.way {
            Way::Channel(channel) if work.direction == Direction::Inbound => {
                self.channels[usize::from(channel)].release();
                channel
            }
            Way::Channel(_) | Way::Server => return self.emit(now, work, out),
        };
        if let Mode::Csna { max_llc2_sessions } = self.config.mode() {
            let limit = max_llc2_sessions;
            match self.sessions.take(channel, limit, &mut work.frame) {
                Verdict::ToHost => {}
                Verdict::Answered => {
                    // It leaves by the side it came from, and is counted where it came in.
                    self.statistics.inbound.send(work.frame.len());
                    return out.send(now, self.network_port(channel), work.frame);
                }
                Verdict::NoSession => {
                    self.statistics.inbound.dropped_no_session += 1;
                    self.statistics.inbound.held -= 1;
                    return;
                }
            }
        }
        self.queue_for_channel(now, channel, work.direction, work.frame, out);
    }

    fn emit(&mut self, now: Time, work: Work, out: &mut Output) {
        self.count(work.direction).send(work.frame.len());
        let port = match (work.way, work.direction) {
            (Way::Channel(channel), Direction::Outbound) => self.network_port(channel),
            (Way::Channel(channel), Direction::Inbound) => host_port(channel),
            (Way::Server, Direction::Outbound) => NETWORK_PORT,
            (Way::Server, Direction::Inbound) => SERVER_TCP_PORT,
        };
        out.send(now, port, work.frame);
    }

    /// Port of a channel on the CPU's other side.
    fn network_port(&self, channel: u16) -> Port {
        match self.config.mode() {
            Mode::Tn3270 { .. } => SERVER_SNA_PORT,
            Mode::IpDatagram | Mode::Csna { .. } => 2 * channel + 1,
        }
    }

    fn way(&self, port: Port) -> (Way, Direction) {
        if matches!(self.config.mode(), Mode::Tn3270 { .. }) {
            return match port {
                NETWORK_PORT => (Way::Server, Direction::Inbound),
                SERVER_TCP_PORT => (Way::Server, Direction::Outbound),
                SERVER_SNA_PORT => (Way::Channel(0), Direction::Inbound),
                _ => (Way::Channel(0), Direction::Outbound),
            };
        }
        let channel = (port / 2).min(self.config.channels - 1);
        let direction = if port == host_port(channel) {
            Direction::Outbound
        } else {
            Direction::Inbound
        };
        (Way::Channel(channel), direction)
    }
}

fn host_port(channel: u16) -> Port {
    2 * channel
}

impl Node for Cip {
    fn receive(&mut self, now: Time, port: Port, frame: Frame, out: &mut Output) {
        let (way, direction) = self.way(port);
        let too_large = frame.len().saturating_sub(ETHERNET_HEADER) as u64 > self.config.mtu();
        let count = self.count(direction);
        count.receive(frame.len());
        if too_large {
            count.dropped_too_large += 1;
            count.held -= 1;
            return;
        }
        match (way, direction) {
            (Way::Channel(channel), Direction::Outbound) => {
                self.queue_for_channel(now, channel, direction, frame, out);
            }
            // A packet without a buffer stays in the router and costs the adapter nothing.
            (Way::Channel(channel), Direction::Inbound)
                if !self.channels[usize::from(channel)].reserve(&self.config) =>
            {
                let count = self.count(direction);
                count.dropped_queue_full += 1;
                count.held -= 1;
            }
            _ => self.queue_for_cpu(
                now,
                Work {
                    way,
                    direction,
                    frame,
                },
            ),
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
                        way: Way::Channel(channel),
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
