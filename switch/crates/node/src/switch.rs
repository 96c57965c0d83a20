//! The switch as a node.

use std::sync::Arc;

use phb_network::{Frame, Node, Output, Port, Time};
use phb_pipeline::{EgressVerdict, Packet, Pipeline, QueueMetadata, Verdict};
use phb_traffic_manager::{PortConfig, PortQueue};

use crate::packet_in::PacketIns;
use crate::statistics::{DropReason, PortStatistics, Statistics};

/// v1model's priorities are 0 to 7, and 7 is served first; the PIFO serves the lowest rank first.
const HIGHEST_PRIORITY: u8 = 7;

/// Packets that wait at a port unless its configuration says otherwise. Programs are to drop earlier, by policy.
pub const DEFAULT_BUFFER_PACKETS: usize = 4096;

/// A port without a line rate.
#[must_use]
pub fn unlimited() -> PortConfig {
    PortConfig {
        rate_bps: None,
        overhead_bytes: 0,
        transmit_ring: 0,
        buffer_packets: DEFAULT_BUFFER_PACKETS,
    }
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

/// A packet in the PIFO.
struct Waiting {
    packet: Packet,
    /// The program it belongs to: its slots mean nothing to another one.
    program: u64,
}

struct SwitchPort {
    number: Port,
    queue: PortQueue<Waiting, Vec<u8>>,
    statistics: PortStatistics,
}

/// A switch: it takes frames, and gives frames later, by a program and a queue per port.
///
/// It reads no clock and knows no interface. Programming it between two calls of [`Node`] is atomic for packets.
pub struct SwitchNode {
    config: SwitchConfig,
    pipeline: Option<Pipeline>,
    program: u64,
    ports: Vec<SwitchPort>,
    /// Index into `ports` by port number.
    index: Vec<Option<usize>>,
    packet_outs: Vec<Vec<u8>>,
    packet_ins: Arc<PacketIns>,
    waker: Option<Waker>,
    statistics: Statistics,
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
            program: 0,
            ports: Vec::new(),
            index: Vec::new(),
            packet_outs: Vec::new(),
            packet_ins: Arc::default(),
            waker: None,
            statistics: Statistics::default(),
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
        self.pipeline.as_mut()
    }

    /// Installs a program. Packets of the one before that still wait are dropped when their turn comes, and counted as
    /// [`DropReason::Reloaded`].
    pub fn install(&mut self, pipeline: Pipeline) {
        self.program += 1;
        self.pipeline = Some(pipeline);
    }

    /// Takes the program out, with its entries and state.
    pub fn take_pipeline(&mut self) -> Option<Pipeline> {
        self.program += 1;
        self.pipeline.take()
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
        });
    }

    /// Where frames for controllers wait.
    #[must_use]
    pub fn packet_ins(&self) -> Arc<PacketIns> {
        Arc::clone(&self.packet_ins)
    }

    /// Takes a frame from a controller. It enters the pipeline at the CPU port with the next call of [`Node`]; whoever
    /// runs the switch sees it in [`Node::next_tick`]. `false` if there is no CPU port.
    #[must_use]
    pub fn packet_out(&mut self, frame: Vec<u8>) -> bool {
        if self.config.cpu_port.is_none() {
            return false;
        }
        self.statistics.injected += 1;
        self.packet_outs.push(frame);
        if let Some(waker) = &self.waker {
            waker();
        }
        true
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
        for index in self.index.iter().flatten() {
            let port = &self.ports[*index];
            let mut of_port = port.statistics;
            of_port.queued = port.queue.held() as u64;
            statistics.queued += of_port.queued;
            statistics.ports.push((port.number, of_port));
        }
        statistics
    }

    /// Left side minus right side of the conservation law (see [`Statistics::imbalance`]).
    #[must_use]
    pub fn check(&self) -> i128 {
        self.statistics().imbalance()
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
        let Some(index) = self.port_index(port) else {
            return self.drop(None, DropReason::UnknownPort);
        };
        let statistics = &mut self.ports[index].statistics;
        statistics.received_packets += 1;
        statistics.received_bytes += frame.len() as u64;
        self.ingress(now, port, frame, out);
    }

    fn port_index(&self, number: Port) -> Option<usize> {
        self.index.get(usize::from(number)).copied().flatten()
    }

    fn drop(&mut self, at: Option<usize>, reason: DropReason) {
        self.statistics.dropped.count(reason);
        if let Some(index) = at {
            self.ports[index].statistics.dropped.count(reason);
        }
    }

    fn take_packet_outs(&mut self, now: Time, out: &mut Output) {
        let Some(cpu_port) = self.config.cpu_port else {
            return;
        };
        for frame in std::mem::take(&mut self.packet_outs) {
            self.ingress(now, cpu_port, &frame, out);
            out.recycle(Frame::new(frame));
        }
    }

    fn ingress(&mut self, now: Time, number: Port, frame: &[u8], out: &mut Output) {
        let from = self.port_index(number);
        let Some(pipeline) = self.pipeline.as_mut() else {
            return self.drop(from, DropReason::NoPipeline);
        };
        let processed = pipeline.ingress(now, number, frame);
        if processed.resubmit.is_some() {
            pipeline.recycle(processed.packet);
            return self.drop(from, DropReason::Ingress);
        }
        let (target, rank) = match processed.verdict {
            Verdict::Unicast {
                port,
                rank,
                priority,
            } if port != self.config.drop_port => {
                let strict = u64::from(HIGHEST_PRIORITY.saturating_sub(priority));
                (port, rank.unwrap_or(strict))
            }
            Verdict::Unicast { .. } | Verdict::Drop => {
                pipeline.recycle(processed.packet);
                return self.drop(from, DropReason::Ingress);
            }
            Verdict::Multicast { .. } => {
                pipeline.recycle(processed.packet);
                return self.drop(from, DropReason::Multicast);
            }
        };
        let Some(to) = self.index.get(usize::from(target)).copied().flatten() else {
            pipeline.recycle(processed.packet);
            return self.drop(from, DropReason::UnknownPort);
        };
        let waiting = Waiting {
            packet: processed.packet,
            program: self.program,
        };
        let port = &mut self.ports[to];
        match port.queue.enqueue(now, rank, waiting) {
            Ok(()) => {
                let depth = port.queue.depth() as u64;
                port.statistics.queue_depth_max = port.statistics.queue_depth_max.max(depth);
                self.serve(now, to, out);
            }
            Err(refused) => {
                pipeline.recycle(refused.packet);
                self.drop(Some(to), DropReason::Buffer);
            }
        }
    }

    /// Moves what can move at a port: frames whose transmission has ended leave, and packets follow from the PIFO.
    fn serve(&mut self, now: Time, at: usize, out: &mut Output) {
        loop {
            while let Some(frame) = self.ports[at].queue.depart(now) {
                self.depart(now, at, frame, out);
            }
            let port = &mut self.ports[at];
            let Some(queued) = port.queue.pop(now) else {
                return;
            };
            let delay = now.saturating_sub(queued.enqueued_at);
            port.statistics.queue_delay_packets += 1;
            port.statistics.queue_delay_sum = port.statistics.queue_delay_sum.saturating_add(delay);
            port.statistics.queue_delay_max = port.statistics.queue_delay_max.max(delay);
            let Waiting {
                mut packet,
                program,
            } = queued.item;
            let Some(pipeline) = self.pipeline.as_mut().filter(|_| program == self.program) else {
                self.drop(Some(at), DropReason::Reloaded);
                continue;
            };
            let metadata = QueueMetadata {
                egress_port: port.number,
                enq_timestamp_ns: queued.enqueued_at,
                enq_qdepth: u32::try_from(queued.depth_at_enqueue).unwrap_or(u32::MAX),
                deq_qdepth: u32::try_from(port.queue.depth()).unwrap_or(u32::MAX),
                deq_timedelta_ns: delay,
            };
            match pipeline.egress(now, &mut packet, &metadata).verdict {
                EgressVerdict::Transmit => {
                    let mut frame = out.buffer();
                    pipeline.deparse(&mut packet, &mut frame);
                    pipeline.recycle(packet);
                    port.queue.transmit(now, frame.len(), frame);
                }
                EgressVerdict::Drop => {
                    pipeline.recycle(packet);
                    self.drop(Some(at), DropReason::Egress);
                }
            }
        }
    }

    fn depart(&mut self, now: Time, at: usize, frame: Vec<u8>, out: &mut Output) {
        let number = self.ports[at].number;
        let length = frame.len() as u64;
        if self.config.cpu_port == Some(number) {
            if !self.packet_ins.push(frame) {
                return self.drop(Some(at), DropReason::CpuBuffer);
            }
            self.statistics.to_cpu += 1;
        } else {
            out.send(now, number, Frame::new(frame));
            self.statistics.transmitted += 1;
        }
        let port = &mut self.ports[at].statistics;
        port.transmitted_packets += 1;
        port.transmitted_bytes += length;
    }
}

impl Node for SwitchNode {
    fn receive(&mut self, now: Time, port: Port, frame: Frame, out: &mut Output) {
        self.receive_frame(now, port, &frame.bytes, out);
        out.recycle(frame);
    }

    fn tick(&mut self, now: Time, out: &mut Output) {
        self.take_packet_outs(now, out);
        for at in 0..self.ports.len() {
            if self.ports[at]
                .queue
                .next_departure()
                .is_some_and(|departure| departure <= now)
            {
                self.serve(now, at, out);
            }
        }
    }

    fn next_tick(&self) -> Option<Time> {
        if !self.packet_outs.is_empty() {
            return Some(0);
        }
        self.ports
            .iter()
            .filter_map(|port| port.queue.next_departure())
            .min()
    }
}
