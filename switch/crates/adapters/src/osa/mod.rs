//! An OSA-Express in QDIO mode: a mainframe's Ethernet adapter, with its host's processors.
//!
//! ```text
//!  TCP      processors                            adapter                                 LAN
//!         +------------+   +---------------------------------------------------------+
//! port 0 <- SRB <------------- read buffers, LAN-idle timer <- input queue 1..4 <-----------<- port 1
//!         |  | forward |   |                                                         |
//! port 0 -> send ------------> cut large segments -> priority queue 1..4 -> wire ----------->- port 1
//!         +------------+   +---------------------------------------------------------+
//! ```
//!
//! - [`outbound`](mod@outbound): four priority queues before the wire;
//! - [`inbound`](mod@inbound): inbound queues;
//! - `streaming`: streaming connections;
//! - [`lan_idle`]: times of interrupts;
//! - `processors`: costs of interrupts and packets, and how packets overtake each other;
//! - `offload`: large segments;
//! - [`accelerator`]: forwarding without the stack.
//!
//! The LAN is part of the node, in both directions at once: the adapter serializes sent frames, and
//! received ones as a LAN switch's port would.

use std::collections::VecDeque;

use phb_hosts::ConfigError;
use phb_hosts::frame::ETHERNET_HEADER;
use phb_hosts::{HOST_PORT, NETWORK_PORT};
use phb_network::{Frame, Node, Output, Port, Time};
use phb_traffic_manager::Shaper;

use crate::ethernet::wire_bytes;
use crate::statistics::DirectionStatistics;

pub mod accelerator;
pub mod configuration;
mod headers;
pub mod inbound;
pub mod lan_idle;
mod offload;
pub mod outbound;
pub mod priorities;
mod processors;
pub mod queue_kind;
pub mod statistics;
mod streaming;

pub use configuration::OsaConfig;
pub use queue_kind::QueueKind;
pub use statistics::{
    InboundQueueStatistics, OsaStatistics, OutboundQueueStatistics, ProcessorStatistics,
};

use self::accelerator::Distributor;
use self::headers::parse;
use self::inbound::{Arrived, Inbound};
use self::outbound::Outbound;
use self::processors::{Processors, Step};
use self::streaming::{Connections, WorkId};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Happening {
    Arrival,
    HandOver(usize),
    Step(usize),
    Departure,
}

/// An OSA-Express: two ports.
pub struct Osa {
    config: OsaConfig,
    lan: Shaper,
    arriving: VecDeque<(Time, Frame)>,
    inbound: Inbound,
    connections: Connections,
    processors: Processors,
    /// The SRB of the bulk queue, while it works.
    bulk_srb: Option<WorkId>,
    distributor: Distributor,
    outbound: Outbound,
    to_host: DirectionStatistics,
    to_network: DirectionStatistics,
    out_of_order: u64,
    large_sends: u64,
    forwarded: u64,
}

impl Osa {
    /// An idle adapter.
    pub fn new(config: OsaConfig) -> Result<Self, ConfigError> {
        config.check()?;
        Ok(Self {
            lan: Shaper::new(Some(config.rate_bps)),
            arriving: VecDeque::new(),
            inbound: Inbound::new(&config, config.lan_idle()?),
            connections: Connections::new(config.bulk_bytes),
            processors: Processors::new(config.clone()),
            bulk_srb: None,
            distributor: Distributor::new(config.distributions.clone()),
            outbound: Outbound::new(config.rate_bps, config.priorities()?, config.queue_packets),
            to_host: DirectionStatistics::default(),
            to_network: DirectionStatistics::default(),
            out_of_order: 0,
            large_sends: 0,
            forwarded: 0,
            config,
        })
    }

    /// The parameters.
    #[must_use]
    pub fn config(&self) -> &OsaConfig {
        &self.config
    }

    /// Counters of adapter and processors.
    #[must_use]
    pub fn statistics(&self) -> OsaStatistics {
        OsaStatistics {
            outbound: self.to_network,
            inbound: self.to_host,
            outbound_queues: self.outbound.statistics,
            inbound_queues: self.inbound.statistics(),
            processors: self.processors.statistics,
            out_of_order: self.out_of_order,
            large_sends: self.large_sends,
            forwarded: self.forwarded,
            streaming_connections: self.connections.streaming(),
        }
    }

    fn take_inbound(&mut self, now: Time, frame: Frame) {
        self.to_host.receive(frame.len());
        if frame.len().saturating_sub(ETHERNET_HEADER) > self.config.mtu_bytes {
            self.to_host.dropped_too_large += 1;
            self.to_host.held -= 1;
            return;
        }
        let passed = self.lan.send(now, wire_bytes(frame.len()));
        let ready = passed.saturating_add(self.config.latency_ns);
        self.arriving.push_back((ready, frame));
    }

    fn take_outbound(&mut self, now: Time, frame: Frame) {
        self.to_network.receive(frame.len());
        let too_large = frame.len().saturating_sub(ETHERNET_HEADER) > self.config.mtu_bytes;
        let room = offload::room(&frame, self.config.mtu_bytes);
        if too_large && (room == 0 || !self.config.segmentation_offload) {
            self.to_network.dropped_too_large += 1;
            self.to_network.held -= 1;
            return;
        }
        let Some(packet) = parse(&frame.bytes) else {
            self.processors.send(now, frame, None, false);
            return;
        };
        let work = self.connections.send(now, &packet);
        let connection = packet.outbound();
        let has_payload = packet.tcp.is_none_or(|segment| segment.payload > 0);
        let streams = self.connections.streams(&connection);
        match work {
            Some(work) if !has_payload => self.processors.acknowledge(now, work, frame),
            Some(work) if streams => self.processors.answer(now, work, frame, connection),
            _ => {
                let application = has_payload && packet.tcp.is_some() && !streams;
                let connection = packet.tcp.map(|_| connection);
                self.processors.send(now, frame, connection, application);
            }
        }
    }

    /// Queues a packet that has passed the adapter.
    fn arrive(&mut self, now: Time, frame: Frame) {
        let packet = parse(&frame.bytes);
        let queue = self
            .inbound
            .route(packet.as_ref(), &self.connections, &self.distributor);
        let streams = packet.is_some_and(|packet| self.connections.streams(&packet.inbound()));
        let forwards = packet.is_some_and(|packet| self.distributor.target(&packet).is_some());
        let arrived = Arrived {
            frame,
            packet,
            queue,
            forwards,
        };
        if self.inbound.push(now, arrived, streams).is_err() {
            self.to_host.dropped_queue_full += 1;
            self.to_host.held -= 1;
        } else if self.inbound.is_full(queue) {
            self.hand_over(now, queue);
        }
    }

    fn hand_over(&mut self, now: Time, queue: QueueKind) {
        let batch = self.inbound.hand_over(queue);
        let in_order = self.config.workload_queueing && queue == QueueKind::Bulk;
        let goes_on = self.bulk_srb.filter(|_| in_order);
        let (srb, interrupt) = self.processors.dispatch(now, batch, goes_on);
        if in_order {
            self.bulk_srb = Some(srb);
        }
        if interrupt {
            self.inbound.count_interrupt(queue);
        }
    }

    fn step(&mut self, now: Time, work: WorkId, step: Step, out: &mut Output) {
        match step {
            Step::Interrupt => {}
            Step::Receive(arrived) => self.deliver(now, work, arrived, out),
            Step::Forward(arrived) => self.forward(now, arrived),
            Step::Send { large, .. } => {
                // A host that hands over large segments itself leaves their size to the adapter.
                let size = large
                    .segment_bytes
                    .min(offload::room(&large.frame, self.config.mtu_bytes));
                let pieces = offload::cut(large.frame, size);
                let more = (pieces.len() as u64).saturating_sub(large.segments);
                self.to_network.received += more;
                self.to_network.held += more;
                self.large_sends += u64::from(pieces.len() > 1);
                for piece in pieces {
                    let queue = self
                        .outbound
                        .queue_of(piece.bytes.get(15).copied().unwrap_or(0));
                    self.queue_for_wire(now, queue, piece);
                }
            }
        }
    }

    fn deliver(&mut self, now: Time, work: WorkId, arrived: Arrived, out: &mut Output) {
        let Arrived {
            mut frame,
            packet,
            queue,
            ..
        } = arrived;
        self.inbound.release(queue, frame.len());
        self.to_host.send(frame.len());
        let mut packet = packet;
        if let Some(inner) = accelerator::decapsulate(&frame) {
            packet = parse(&inner.bytes);
            frame = inner;
        }
        if let Some(packet) = packet {
            let late = self.connections.deliver(now, &packet, work);
            self.out_of_order += u64::from(late);
        }
        out.send(now, HOST_PORT, frame);
    }

    fn forward(&mut self, now: Time, arrived: Arrived) {
        let length = arrived.frame.len();
        self.inbound.release(arrived.queue, length);
        self.to_host.send(length);
        let target = arrived
            .packet
            .and_then(|packet| self.distributor.target(&packet));
        let Some(inside) = target.and_then(|t| accelerator::encapsulate(&arrived.frame, t)) else {
            return;
        };
        self.forwarded += 1;
        self.to_network.receive(inside.len());
        if inside.len() - ETHERNET_HEADER > self.config.mtu_bytes {
            self.to_network.dropped_too_large += 1;
            self.to_network.held -= 1;
            return;
        }
        let queue = usize::from(self.config.forward_priority - 1);
        self.queue_for_wire(now, queue, inside);
    }

    fn queue_for_wire(&mut self, now: Time, queue: usize, frame: Frame) {
        if self.outbound.push(now, queue, frame).is_err() {
            self.to_network.dropped_queue_full += 1;
            self.to_network.held -= 1;
        }
    }

    fn next(&self) -> Option<(Time, Happening)> {
        let arrival = self
            .arriving
            .front()
            .map(|(at, _)| (*at, Happening::Arrival));
        let hand_over = self.inbound.due();
        let hand_over = hand_over.map(|(at, kind)| (at, Happening::HandOver(kind as usize)));
        let step = self.processors.due();
        let step = step.map(|(at, number)| (at, Happening::Step(number)));
        let departure = self.outbound.due().map(|at| (at, Happening::Departure));
        let all = [arrival, hand_over, step, departure];
        all.into_iter().flatten().min()
    }
}

impl Node for Osa {
    fn receive(&mut self, now: Time, port: Port, frame: Frame, out: &mut Output) {
        self.tick(now, out);
        if port == HOST_PORT {
            self.take_outbound(now, frame);
        } else {
            self.take_inbound(now, frame);
        }
        self.tick(now, out);
    }

    fn tick(&mut self, now: Time, out: &mut Output) {
        while let Some((due, happening)) = self.next().filter(|(due, _)| *due <= now) {
            match happening {
                Happening::Arrival => {
                    if let Some((_, frame)) = self.arriving.pop_front() {
                        self.arrive(due, frame);
                    }
                }
                Happening::HandOver(queue) => self.hand_over(due, QueueKind::ALL[queue]),
                Happening::Step(number) => {
                    if let Some((work, step)) = self.processors.take(due, number) {
                        // By the clock a tick can be late; the host gets packets now, not earlier.
                        self.step(now, work, step, out);
                    }
                }
                Happening::Departure => {
                    if let Some(frame) = self.outbound.take(due) {
                        self.to_network.send(frame.len());
                        let at = due.saturating_add(self.config.latency_ns).max(now);
                        out.send(at, NETWORK_PORT, frame);
                    }
                }
            }
        }
    }

    fn next_tick(&self) -> Option<Time> {
        self.next().map(|(at, _)| at)
    }
}

#[cfg(test)]
mod tests;
