//! An ESCON channel under CLAW: blocks, one direction at a time.

use std::collections::VecDeque;

use phb_hosts::frame::ETHERNET_HEADER;
use phb_network::{Frame, Time};
use phb_traffic_manager::Shaper;

use super::config::CipConfig;
use crate::queue::is_full;

const BITS_PER_BYTE: u64 = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// The host writes.
    Outbound,
    /// The host reads.
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

struct Task {
    end: Time,
    direction: Direction,
    blocks: u64,
}

/// One channel of an adapter, with the packets waiting on either side.
pub(crate) struct Channel {
    writes: VecDeque<Frame>,
    reads: VecDeque<Frame>,
    /// Packets that the CPU has not taken, with a place in the read queue.
    coming: usize,
    shaper: Shaper,
    task: Option<Task>,
    moving: Vec<Frame>,
    turn: Direction,
    blocks_in_turn: u64,
    /// Packets that the host's read program has taken since the last interrupt, and their blocks.
    read: Vec<Frame>,
    read_blocks: u64,
}

#[derive(Default)]
pub(crate) struct Started {
    pub blocks: u64,
    pub busy: Time,
}

impl Channel {
    pub fn new(config: &CipConfig) -> Self {
        Self {
            writes: VecDeque::new(),
            reads: VecDeque::new(),
            coming: 0,
            shaper: Shaper::new(Some(config.channel_bytes_per_s * BITS_PER_BYTE)),
            task: None,
            moving: Vec::new(),
            turn: Direction::Outbound,
            blocks_in_turn: 0,
            read: Vec::new(),
            read_blocks: 0,
        }
    }

    pub fn push(
        &mut self,
        config: &CipConfig,
        direction: Direction,
        frame: Frame,
    ) -> Result<(), Frame> {
        let (queue, limit) = match direction {
            Direction::Outbound => (&mut self.writes, config.write_queue_packets),
            Direction::Inbound => (&mut self.reads, config.read_queue_packets),
        };
        if is_full(queue.len(), limit) {
            return Err(frame);
        }
        queue.push_back(frame);
        Ok(())
    }

    /// Keeps a place in the read queue; `false` if it is full.
    pub fn reserve(&mut self, config: &CipConfig) -> bool {
        let free = !is_full(self.reads.len() + self.coming, config.read_queue_packets);
        self.coming += usize::from(free);
        free
    }

    pub fn release(&mut self) {
        self.coming -= 1;
    }

    pub fn due(&self) -> Option<Time> {
        self.task.as_ref().map(|task| task.end)
    }

    /// Ends the transfer due then; `false` if there is none. Written packets go to `written`; read
    /// ones wait for their interrupt, which [`start`](Self::start) gives.
    pub fn finish(&mut self, due: Time, written: &mut Vec<Frame>) -> bool {
        let Some(task) = self.task.take_if(|task| task.end == due) else {
            return false;
        };
        match task.direction {
            Direction::Outbound => written.append(&mut self.moving),
            Direction::Inbound => {
                self.read_blocks += task.blocks;
                self.read.append(&mut self.moving);
            }
        }
        true
    }

    /// Starts the next transfer if the channel is free. Packets go to `interrupt` when the host's
    /// read program ends or has taken enough.
    pub fn start(
        &mut self,
        config: &CipConfig,
        now: Time,
        interrupt: &mut Vec<Frame>,
    ) -> Option<Started> {
        if self.task.is_some() {
            return None;
        }
        let buffers = match self.turn {
            Direction::Outbound => config.write_buffers,
            Direction::Inbound => config.read_buffers,
        };
        let goes_on = self
            .waiting(self.turn)
            .is_some_and(|frame| self.blocks_in_turn + blocks(config, frame) <= buffers);
        if !goes_on || self.read_blocks >= config.blocks_per_interrupt {
            interrupt.append(&mut self.read);
            self.read_blocks = 0;
        }
        if !goes_on {
            self.blocks_in_turn = 0;
            if self.waiting(self.turn.other()).is_some() {
                self.turn = self.turn.other();
            }
        }
        let direction = self.turn;
        let blocks = self.take(config, direction)?;
        self.blocks_in_turn += blocks;
        let end = self
            .shaper
            .send(now, blocks.saturating_mul(config.block_bytes));
        self.task = Some(Task {
            end,
            direction,
            blocks,
        });
        Some(Started {
            blocks,
            busy: end - now,
        })
    }

    /// Takes the next packet, with packing all that fit into its block; gives the blocks.
    fn take(&mut self, config: &CipConfig, direction: Direction) -> Option<u64> {
        let queue = match direction {
            Direction::Outbound => &mut self.writes,
            Direction::Inbound => &mut self.reads,
        };
        let first = queue.pop_front()?;
        let blocks = blocks(config, &first);
        let mut room = (blocks * config.block_bytes).saturating_sub(length(&first));
        self.moving.push(first);
        if config.packs() {
            while let Some(next) = queue.front().map(length).filter(|next| *next <= room) {
                room -= next;
                self.moving.extend(queue.pop_front());
            }
        }
        Some(blocks)
    }

    fn waiting(&self, direction: Direction) -> Option<&Frame> {
        match direction {
            Direction::Outbound => self.writes.front(),
            Direction::Inbound => self.reads.front(),
        }
    }
}

fn length(frame: &Frame) -> u64 {
    frame.len().saturating_sub(ETHERNET_HEADER) as u64
}

fn blocks(config: &CipConfig, frame: &Frame) -> u64 {
    length(frame).div_ceil(config.block_bytes).max(1)
}
