//! A Channel Interface Processor: a router's adapter on an ESCON channel, speaking CLAW to the host.
//!
//! ```text
//!                host                                                adapter
//! port 0 -> write queue, buffers -> +---------------------+ -> CPU queue -> +-----+ -> port 1
//!                                   | half-duplex channel |                 | CPU |
//! port 0 <------------------------- +---------------------+ <- read queue <- +-----+ <- CPU queue <- port 1
//! ```
//!
//! The channel moves blocks, and a datagram has whole blocks to itself (CLAW packing NONE): "for each small
//! acknowledgment sent, the same amount of system (that is, ESCON) overhead was incurred as if it was a 4-KB packet"
//! (Cisco's CIP acceptance tests). One direction has the channel for at most as many blocks as the DEVICE statement
//! gives it buffers; then the other has its turn, if it has something to move. The CPU takes packets of both directions,
//! one at a time.

use std::collections::VecDeque;

use phb_network::{Frame, Node, Output, Port, Time};
use phb_traffic_manager::Shaper;

use crate::configuration::ConfigError;
use crate::datagram::ETHERNET_HEADER;
use crate::statistics::{AdapterStatistics, DirectionStatistics};
use crate::{HOST_PORT, NETWORK_PORT};

const BITS_PER_BYTE: u64 = 8;

/// What a CIP and its channel can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CipConfig {
    /// What the channel moves in one direction at a time, in byte/s.
    pub channel_bytes_per_s: u64,
    /// Size of a block, in bytes: the buffer size of the DEVICE statement.
    pub block_bytes: u64,
    /// Blocks from the adapter to the host before the channel turns: the read buffers of the DEVICE statement.
    pub read_buffers: u64,
    /// Blocks from the host to the adapter before the channel turns: the write buffers of the DEVICE statement.
    pub write_buffers: u64,
    /// The largest IP datagram, in bytes.
    pub mtu: usize,
    /// Datagrams that may wait in the host for the channel.
    pub write_queue_packets: usize,
    /// Datagrams that may wait in the adapter for the channel.
    pub read_queue_packets: usize,
    /// How long the CPU takes for a packet of either direction, in ns.
    pub cpu_time: Time,
    /// Packets, of both directions together, that may wait for the CPU.
    pub cpu_queue_packets: usize,
}

impl CipConfig {
    fn check(&self) -> Result<(), ConfigError> {
        ConfigError::unless_positive("channel_bytes_per_s", self.channel_bytes_per_s)?;
        ConfigError::unless_positive("block_bytes", self.block_bytes)?;
        ConfigError::unless_positive("read_buffers", self.read_buffers)?;
        ConfigError::unless_positive("write_buffers", self.write_buffers)?;
        ConfigError::unless_positive("mtu_bytes", self.mtu as u64)?;
        for (parameter, count) in [
            ("write_queue_packets", self.write_queue_packets),
            ("read_queue_packets", self.read_queue_packets),
            ("cpu_queue_packets", self.cpu_queue_packets),
        ] {
            ConfigError::unless_positive(parameter, count as u64)?;
        }
        if self
            .channel_bytes_per_s
            .checked_mul(BITS_PER_BYTE)
            .is_none()
        {
            return Err(ConfigError::new(
                "channel_bytes_per_s",
                "the rate is beyond 64 bits of bit/s",
            ));
        }
        Ok(())
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
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

/// What the channel or the CPU is busy with, and until when (ns).
struct Task {
    end: Time,
    direction: Direction,
    frame: Frame,
}

/// A CIP as a node with two ports.
pub struct Cip {
    config: CipConfig,
    writes: VecDeque<Frame>,
    reads: VecDeque<Frame>,
    channel: Shaper,
    channel_task: Option<Task>,
    turn: Direction,
    blocks_in_turn: u64,
    cpu_queue: VecDeque<(Direction, Frame)>,
    cpu_task: Option<Task>,
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
            channel: Shaper::new(Some(config.channel_bytes_per_s * BITS_PER_BYTE)),
            config,
            writes: VecDeque::new(),
            reads: VecDeque::new(),
            channel_task: None,
            turn: Direction::Outbound,
            blocks_in_turn: 0,
            cpu_queue: VecDeque::new(),
            cpu_task: None,
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
        self.statistics
    }

    fn count(&mut self, direction: Direction) -> &mut DirectionStatistics {
        match direction {
            Direction::Outbound => &mut self.statistics.outbound,
            Direction::Inbound => &mut self.statistics.inbound,
        }
    }

    fn queue_for_channel(&mut self, now: Time, direction: Direction, frame: Frame) {
        let (queue, limit) = match direction {
            Direction::Outbound => (&mut self.writes, self.config.write_queue_packets),
            Direction::Inbound => (&mut self.reads, self.config.read_queue_packets),
        };
        if queue.len() >= limit {
            let count = self.count(direction);
            count.dropped_queue_full += 1;
            count.held -= 1;
            return;
        }
        queue.push_back(frame);
        self.start_channel(now);
    }

    fn queue_for_cpu(&mut self, now: Time, direction: Direction, frame: Frame) {
        if self.cpu_queue.len() >= self.config.cpu_queue_packets {
            let count = self.count(direction);
            count.dropped_cpu_full += 1;
            count.held -= 1;
            return;
        }
        self.cpu_queue.push_back((direction, frame));
        self.start_cpu(now);
    }

    fn waiting(&self, direction: Direction) -> Option<&Frame> {
        match direction {
            Direction::Outbound => self.writes.front(),
            Direction::Inbound => self.reads.front(),
        }
    }

    fn blocks(&self, frame: &Frame) -> u64 {
        let datagram = frame.len().saturating_sub(ETHERNET_HEADER) as u64;
        datagram.div_ceil(self.config.block_bytes).max(1)
    }

    fn start_channel(&mut self, now: Time) {
        if self.channel_task.is_some() {
            return;
        }
        let buffers = match self.turn {
            Direction::Outbound => self.config.write_buffers,
            Direction::Inbound => self.config.read_buffers,
        };
        let goes_on = self
            .waiting(self.turn)
            .is_some_and(|frame| self.blocks_in_turn + self.blocks(frame) <= buffers);
        if !goes_on {
            self.blocks_in_turn = 0;
            if self.waiting(self.turn.other()).is_some() {
                self.turn = self.turn.other();
            }
        }
        let direction = self.turn;
        let frame = match direction {
            Direction::Outbound => self.writes.pop_front(),
            Direction::Inbound => self.reads.pop_front(),
        };
        let Some(frame) = frame else { return };
        let blocks = self.blocks(&frame);
        self.blocks_in_turn += blocks;
        self.statistics.channel_blocks += blocks;
        let end = self
            .channel
            .send(now, blocks.saturating_mul(self.config.block_bytes));
        self.statistics.channel_busy += end - now;
        self.channel_task = Some(Task {
            end,
            direction,
            frame,
        });
    }

    fn start_cpu(&mut self, now: Time) {
        if self.cpu_task.is_some() {
            return;
        }
        let Some((direction, frame)) = self.cpu_queue.pop_front() else {
            return;
        };
        self.statistics.cpu_busy += self.config.cpu_time;
        let end = now.saturating_add(self.config.cpu_time);
        self.cpu_task = Some(Task {
            end,
            direction,
            frame,
        });
    }

    fn emit(&mut self, now: Time, direction: Direction, frame: Frame, out: &mut Output) {
        self.count(direction).send(frame.len());
        let port = match direction {
            Direction::Outbound => NETWORK_PORT,
            Direction::Inbound => HOST_PORT,
        };
        out.send(now, port, frame);
    }
}

impl Node for Cip {
    fn receive(&mut self, now: Time, port: Port, frame: Frame, out: &mut Output) {
        let direction = if port == HOST_PORT {
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
        match direction {
            Direction::Outbound => self.queue_for_channel(now, direction, frame),
            Direction::Inbound => self.queue_for_cpu(now, direction, frame),
        }
        self.tick(now, out);
    }

    fn tick(&mut self, now: Time, out: &mut Output) {
        while let Some(due) = self.next_tick().filter(|due| *due <= now) {
            if let Some(task) = self.channel_task.take_if(|task| task.end == due) {
                match task.direction {
                    Direction::Outbound => self.queue_for_cpu(due, task.direction, task.frame),
                    Direction::Inbound => self.emit(now, task.direction, task.frame, out),
                }
                self.start_channel(due);
            }
            if let Some(task) = self.cpu_task.take_if(|task| task.end == due) {
                match task.direction {
                    Direction::Outbound => self.emit(now, task.direction, task.frame, out),
                    Direction::Inbound => self.queue_for_channel(due, task.direction, task.frame),
                }
                self.start_cpu(due);
            }
        }
    }

    fn next_tick(&self) -> Option<Time> {
        let channel = self.channel_task.as_ref().map(|task| task.end);
        let cpu = self.cpu_task.as_ref().map(|task| task.end);
        match (channel, cpu) {
            (Some(channel), Some(cpu)) => Some(channel.min(cpu)),
            (channel, cpu) => channel.or(cpu),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use phb_network::Transmission;

    /// 4 kbyte/s and 1 ms per packet: a block takes a second, the CPU a thousandth of it.
    fn config() -> CipConfig {
        CipConfig {
            channel_bytes_per_s: 4096,
            block_bytes: 4096,
            read_buffers: 2,
            write_buffers: 2,
            mtu: 4096,
            write_queue_packets: 10,
            read_queue_packets: 10,
            cpu_time: 1_000_000,
            cpu_queue_packets: 10,
        }
    }

    const SECOND: Time = 1_000_000_000;
    const MILLISECOND: Time = 1_000_000;

    fn frame(datagram_length: usize) -> Frame {
        Frame::new(vec![0; ETHERNET_HEADER + datagram_length])
    }

    /// Runs to the end; gives what has left: (time, port, length).
    fn finish(cip: &mut Cip, out: &mut Output) -> Vec<(Time, Port, usize)> {
        let note = |sent: Transmission| (sent.at, sent.port, sent.frame.len());
        let mut left: Vec<_> = out.drain().map(note).collect();
        while let Some(due) = cip.next_tick() {
            out.begin(due);
            cip.tick(due, out);
            left.extend(out.drain().map(note));
        }
        left
    }

    fn check_conservation(statistics: &AdapterStatistics) {
        for direction in [statistics.outbound, statistics.inbound] {
            assert_eq!(
                direction.received,
                direction.sent + direction.dropped() + direction.held
            );
        }
    }

    #[test]
    fn a_small_datagram_costs_the_channel_as_much_as_a_large_one() {
        let mut cip = Cip::new(config()).expect("a good configuration");
        let mut out = Output::new();
        cip.receive(0, HOST_PORT, frame(40), &mut out);
        cip.receive(0, HOST_PORT, frame(4096), &mut out);
        let left = finish(&mut cip, &mut out);
        assert_eq!(
            left,
            [
                (SECOND + MILLISECOND, 1, 54),
                (2 * SECOND + MILLISECOND, 1, 4110)
            ]
        );
        assert_eq!(cip.statistics().channel_blocks, 2);
        assert_eq!(cip.statistics().channel_busy, 2 * SECOND);
        assert_eq!(cip.statistics().cpu_busy, 2 * MILLISECOND);
    }

    #[test]
    fn the_channel_serves_one_direction_at_a_time_and_turns_after_its_buffers() {
        let mut cip = Cip::new(config()).expect("a good configuration");
        let mut out = Output::new();
        for length in 1..=4 {
            cip.receive(0, HOST_PORT, frame(length), &mut out);
        }
        for length in 11..=13 {
            cip.receive(0, NETWORK_PORT, frame(length), &mut out);
        }
        let left = finish(&mut cip, &mut out);
        let order: Vec<_> = left
            .iter()
            .map(|(_, _, length)| length - ETHERNET_HEADER)
            .collect();
        assert_eq!(order, [1, 2, 11, 12, 3, 4, 13]);
        assert_eq!(left.last().map(|last| last.0), Some(7 * SECOND));
        check_conservation(&cip.statistics());
    }

    #[test]
    fn a_datagram_larger_than_a_block_takes_several() {
        let mut cip = Cip::new(CipConfig {
            mtu: 9000,
            ..config()
        })
        .expect("a good configuration");
        let mut out = Output::new();
        cip.receive(0, HOST_PORT, frame(8193), &mut out);
        assert_eq!(
            finish(&mut cip, &mut out),
            [(3 * SECOND + MILLISECOND, 1, 8207)]
        );
    }

    #[test]
    fn every_drop_is_counted_by_its_reason() {
        let slow = CipConfig {
            cpu_time: 100 * SECOND,
            write_queue_packets: 1,
            ..config()
        };
        let mut cip = Cip::new(CipConfig {
            cpu_queue_packets: 1,
            ..slow
        })
        .expect("a good configuration");
        let mut out = Output::new();
        cip.receive(0, HOST_PORT, frame(4097), &mut out); // too large
        for _ in 0..3 {
            cip.receive(0, HOST_PORT, frame(40), &mut out); // on the channel, queued, dropped
            cip.receive(0, NETWORK_PORT, frame(40), &mut out); // in the CPU, queued, dropped
        }
        check_conservation(&cip.statistics());
        assert_eq!(cip.statistics().outbound.held, 2);
        finish(&mut cip, &mut out);
        let statistics = cip.statistics();
        check_conservation(&statistics);
        assert_eq!(statistics.outbound.dropped_too_large, 1);
        assert_eq!(statistics.outbound.dropped_queue_full, 1);
        assert_eq!(statistics.outbound.dropped_cpu_full, 2);
        assert_eq!(statistics.inbound.dropped_cpu_full, 1);
        assert_eq!(statistics.inbound.sent, 2);
    }

    #[test]
    fn wrong_parameters_are_named() {
        let error = Cip::new(CipConfig {
            block_bytes: 0,
            ..config()
        })
        .err()
        .expect("no blocks");
        assert_eq!(
            error.to_string(),
            "block_bytes: 0 is given, at least 1 is expected"
        );
    }
}
