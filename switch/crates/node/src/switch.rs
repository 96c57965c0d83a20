//! The switch as a node.

use std::collections::VecDeque;
use std::sync::Arc;

use phb_network::{Frame, Node, Output, Port, Time};
use phb_pipeline::Pipeline;
use phb_traffic_manager::{PortConfig, PortQueue};

use crate::digests::Digests;
use crate::idle::Idle;
use crate::packet_in::PacketIns;
use crate::packet_log::{PacketEvent, PacketLog};
use crate::path::{Again, Waiting};
use crate::replication::Replication;
use crate::statistics::{DropReason, PortStatistics, QueueStatistics, Statistics};

/// A port without a line rate.
#[must_use]
pub fn unlimited() -> PortConfig {
    PortConfig::default()
}

/// What a switch is besides its program and its ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchConfig {
    /// The name it has in messages and networks.
    pub name: String,
    /// The port that leads to controllers, if any.
    pub cpu_port: Option<Port>,
    /// The port that stands for "drop" in the program (511 in v1model).
    pub drop_port: Port,
    /// Seed of everything random in the program.
    pub seed: u64,
}

pub(crate) struct SwitchPort {
    pub(crate) number: Port,
    pub(crate) queue: PortQueue<Waiting, Vec<u8>>,
    pub(crate) statistics: PortStatistics,
    queues: Vec<QueueStatistics>,
}

impl SwitchPort {
    /// The counters of a queue.
    pub(crate) fn of_queue(&mut self, queue: u8) -> &mut QueueStatistics {
        let place = usize::from(queue);
        if place >= self.queues.len() {
            self.queues.resize(place + 1, QueueStatistics::default());
        }
        &mut self.queues[place]
    }
}

/// A switch: it takes frames, and gives frames later, by a program and a queue per port.
///
/// It reads no clock and knows no interface. Programming it between two calls of [`Node`] is atomic for packets.
pub struct SwitchNode {
    pub(crate) config: SwitchConfig,
    pub(crate) pipeline: Option<Pipeline>,
    pub(crate) ports: Vec<SwitchPort>,
    /// Index into `ports` by port number.
    index: Vec<Option<usize>>,
    pub(crate) replication: Replication,
    packet_outs: Vec<Vec<u8>>,
    packet_out_bytes: usize,
    pub(crate) packet_ins: Arc<PacketIns>,
    pub(crate) digests: Arc<Digests>,
    pub(crate) idle: Idle,
    waker: Option<Waker>,
    pub(crate) statistics: Statistics,
    /// Ports at which something may move. Empty between two calls, as are the two below.
    pub(crate) busy: VecDeque<usize>,
    /// Packets for ports that the switch does not have.
    pub(crate) nowhere: VecDeque<(Port, Waiting)>,
    /// Packets that are recirculated.
    pub(crate) again: VecDeque<Again>,
    /// Passes and copies that may still be caused.
    pub(crate) budget: u32,
    log: Option<Arc<PacketLog>>,
    /// The time of the event at hand, for lines of the log.
    pub(crate) now: Time,
}

/// Tells a runner that waits that the switch has something to do.
pub type Waker = Box<dyn Fn() + Send>;

impl SwitchNode {
    /// A switch with these ports and no program. A CPU port that is not among `ports` is added, unlimited.
    #[must_use]
    pub fn new(config: SwitchConfig, ports: impl IntoIterator<Item = (Port, PortConfig)>) -> Self {
        let cpu_port = config.cpu_port;
        let mut switch = Self {
            config,
            pipeline: None,
            ports: Vec::new(),
            index: Vec::new(),
            replication: Replication::default(),
            packet_outs: Vec::new(),
            packet_out_bytes: 0,
            packet_ins: Arc::default(),
            digests: Arc::default(),
            idle: Idle::default(),
            waker: None,
            statistics: Statistics::default(),
            busy: VecDeque::new(),
            nowhere: VecDeque::new(),
            again: VecDeque::new(),
            budget: 0,
            log: None,
            now: 0,
        };
        for (number, port) in ports {
            switch.set_port(number, port);
        }
        if let Some(number) = cpu_port
            && switch.port_index(number).is_none()
        {
            switch.set_port(number, unlimited());
        }
        switch
    }

    /// What the switch is besides its program and its ports.
    #[must_use]
    pub fn config(&self) -> &SwitchConfig {
        &self.config
    }

    /// The program, if one is loaded.
    #[must_use]
    pub fn pipeline(&self) -> Option<&Pipeline> {
        self.pipeline.as_ref()
    }

    pub(crate) fn pipeline_mut(&mut self) -> Option<&mut Pipeline> {
        self.wake();
        self.pipeline.as_mut()
    }

    /// Installs a program. Multicast groups and clone sessions go with the one before, and its packets that still wait: see
    /// [`drop_waiting`](Self::drop_waiting).
    pub fn install(&mut self, pipeline: Pipeline) {
        self.drop_waiting();
        self.replication = Replication::default();
        let pipeline = self.pipeline.insert(pipeline);
        pipeline.set_logging(self.log.is_some());
    }

    /// Takes the program out, with its entries and state.
    pub fn take_pipeline(&mut self) -> Option<Pipeline> {
        self.drop_waiting();
        self.pipeline.take()
    }

    /// Drops what waits for its turn at any port, and tells the program so: its slots mean nothing to another program.
    /// Counted as [`DropReason::Reloaded`]. Frames that have passed egress leave all the same.
    pub fn drop_waiting(&mut self) {
        for at in 0..self.ports.len() {
            while let Some((queue, waiting)) = self.ports[at].queue.take_waiting() {
                self.take_off(self.now, at, queue, waiting.packet, false);
                self.drop(Some(at), DropReason::Reloaded);
            }
        }
    }

    /// The ports and how they transmit, in the order of their numbers.
    pub fn ports(&self) -> impl Iterator<Item = (Port, &PortConfig)> {
        self.index
            .iter()
            .flatten()
            .map(|index| &self.ports[*index])
            .map(|port| (port.number, port.queue.config()))
    }

    /// Adds a port, or changes how it transmits from the next frame on.
    pub fn set_port(&mut self, number: Port, config: PortConfig) {
        if let Some(index) = self.port_index(number) {
            self.ports[index].queue.set_config(config);
            return;
        }
        let place = usize::from(number);
        if place >= self.index.len() {
            self.index.resize(place + 1, None);
        }
        self.index[place] = Some(self.ports.len());
        self.ports.push(SwitchPort {
            number,
            queue: PortQueue::new(config),
            statistics: PortStatistics::default(),
            queues: Vec::new(),
        });
    }

    /// Where frames for controllers wait.
    #[must_use]
    pub fn packet_ins(&self) -> Arc<PacketIns> {
        Arc::clone(&self.packet_ins)
    }

    /// Where the program's messages for controllers wait.
    #[must_use]
    pub fn digests(&self) -> Arc<Digests> {
        Arc::clone(&self.digests)
    }

    /// Sets where to tell what happens to packets, and what the program says of them (`log_msg`), if anywhere.
    pub fn set_packet_log(&mut self, log: Option<Arc<PacketLog>>) {
        if let Some(pipeline) = &mut self.pipeline {
            pipeline.set_logging(log.is_some());
        }
        self.log = log;
    }

    /// Passes the program's messages on.
    pub(crate) fn note_messages(&mut self) {
        if let Some(log) = &self.log
            && let Some(pipeline) = &mut self.pipeline
        {
            for message in pipeline.take_log() {
                log.note_message(self.now, &message);
            }
        }
    }

    pub(crate) fn note(&self, event: PacketEvent, port: Port, frame: &[u8]) {
        if let Some(log) = &self.log {
            log.note(self.now, event, Some(port), frame);
        }
    }

    /// Takes a frame from a controller. It enters the pipeline at the CPU port with the next call of [`Node`]; whoever
    /// runs the switch sees it in [`Node::next_tick`]. `false` if there is no CPU port.
    #[must_use]
    pub fn packet_out(&mut self, frame: Vec<u8>) -> bool {
        if self.config.cpu_port.is_none() {
            return false;
        }
        self.statistics.injected += 1;
        self.packet_out_bytes += frame.len();
        self.packet_outs.push(frame);
        self.wake();
        true
    }

    /// How many frames from controllers have not entered the pipeline yet, and their bytes.
    #[must_use]
    pub fn packet_outs_waiting(&self) -> (usize, usize) {
        (self.packet_outs.len(), self.packet_out_bytes)
    }

    /// Wakes a runner that waits, for what it waited for may not be the next thing any more.
    fn wake(&self) {
        if let Some(waker) = &self.waker {
            waker();
        }
    }

    /// When the switch last did something.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Sets whom to wake when a frame comes from a controller.
    pub fn set_waker(&mut self, waker: Option<Waker>) {
        self.waker = waker;
    }

    /// The counters now.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        let mut statistics = self.statistics.clone();
        statistics.queued = self.packet_outs.len() as u64;
        let (lost, lost_bytes) = self.packet_ins.lost();
        statistics.to_cpu -= lost;
        statistics.dropped.add(DropReason::CpuBuffer, lost);
        for index in self.index.iter().flatten() {
            let port = &self.ports[*index];
            let mut of_port = port.statistics;
            of_port.queued = port.queue.held() as u64;
            if self.config.cpu_port == Some(port.number) {
                of_port.dropped.add(DropReason::CpuBuffer, lost);
                of_port.transmitted_packets = of_port.transmitted_packets.saturating_sub(lost);
                of_port.transmitted_bytes = of_port.transmitted_bytes.saturating_sub(lost_bytes);
            }
            statistics.queued += of_port.queued;
            statistics.ports.push((port.number, of_port));
        }
        statistics
    }

    /// The counters of a port's queues by priority; for a program with ranks there is one queue.
    #[must_use]
    pub fn queues(&self, number: Port) -> Vec<QueueStatistics> {
        let Some(port) = self.port_index(number).map(|index| &self.ports[index]) else {
            return Vec::new();
        };
        let mut queues = port.queues.clone();
        let configured = usize::from(port.queue.config().queues);
        queues.resize(queues.len().max(configured), QueueStatistics::default());
        for (priority, queue) in (0..=u8::MAX).zip(&mut queues) {
            queue.depth = port.queue.queue_depth(priority) as u64;
        }
        queues
    }

    /// Left side minus right side of the conservation law (see [`Statistics::imbalance`]).
    #[must_use]
    pub fn check(&self) -> i128 {
        self.statistics().imbalance()
    }

    /// When a packet moves next (ns). Unlike ticks, which also serve to look for idle entries, this comes to an end.
    #[must_use]
    pub fn next_event(&self) -> Option<Time> {
        if !self.packet_outs.is_empty() {
            return Some(0);
        }
        self.ports
            .iter()
            .filter_map(|port| port.queue.next_event())
            .min()
    }

    /// Takes a frame that arrives at `port` at `now` (ns), as [`Node::receive`] does, from memory that stays the
    /// caller's: a ring, a capture, a frame of another node.
    pub fn receive_frame(&mut self, now: Time, port: Port, frame: &[u8], out: &mut Output) {
        self.take_packet_outs(now, out);
        self.receive_one(now, port, frame, out);
    }

    /// Takes frames that arrive together, in order: what [`receive_frame`](Self::receive_frame) does for each.
    pub fn receive_batch<'a>(
        &mut self,
        now: Time,
        frames: impl IntoIterator<Item = (Port, &'a [u8])>,
        out: &mut Output,
    ) {
        self.take_packet_outs(now, out);
        for (port, frame) in frames {
            self.receive_one(now, port, frame, out);
        }
    }

    fn receive_one(&mut self, now: Time, port: Port, frame: &[u8], out: &mut Output) {
        self.statistics.received += 1;
        self.now = now;
        let Some(index) = self.port_index(port) else {
            return self.drop(None, DropReason::UnknownPort);
        };
        let statistics = &mut self.ports[index].statistics;
        statistics.received_packets += 1;
        statistics.received_bytes += frame.len() as u64;
        self.enter(now, port, frame, out);
    }

    pub(crate) fn port_index(&self, number: Port) -> Option<usize> {
        self.index.get(usize::from(number)).copied().flatten()
    }

    pub(crate) fn drop(&mut self, at: Option<usize>, reason: DropReason) {
        self.statistics.dropped.count(reason);
        if let Some(index) = at {
            self.ports[index].statistics.dropped.count(reason);
        }
        if let Some(log) = &self.log {
            let port = at.map(|index| self.ports[index].number);
            log.note(self.now, PacketEvent::Dropped(reason), port, &[]);
        }
    }

    fn take_packet_outs(&mut self, now: Time, out: &mut Output) {
        let Some(cpu_port) = self.config.cpu_port else {
            return;
        };
        self.packet_out_bytes = 0;
        for frame in std::mem::take(&mut self.packet_outs) {
            self.enter(now, cpu_port, &frame, out);
            out.recycle(Frame::new(frame));
        }
    }
}

impl Node for SwitchNode {
    fn receive(&mut self, now: Time, port: Port, frame: Frame, out: &mut Output) {
        self.receive_frame(now, port, &frame.bytes, out);
        out.recycle(frame);
    }

    fn tick(&mut self, now: Time, out: &mut Output) {
        self.search_idle(now);
        self.take_packet_outs(now, out);
        for at in 0..self.ports.len() {
            let next = self.ports[at].queue.next_event();
            if next.is_some_and(|next| next <= now) {
                self.advance(now, at, out);
            }
        }
    }

    fn next_tick(&self) -> Option<Time> {
        let (event, search) = (self.next_event(), self.next_search());
        [event, search].into_iter().flatten().min()
    }
}
