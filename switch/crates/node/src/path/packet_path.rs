//! Data and counters of the path.

use std::collections::VecDeque;
use std::sync::Arc;

use phb_network::{Port, Time};
use phb_pipeline::trace::Record;
use phb_pipeline::{FieldList, Packet, Pipeline};
use phb_traffic_manager::Shaping;

use crate::digests::Digests;
use crate::packet_in::PacketIns;
use crate::packet_log::{PacketEvent, PacketLog};
use crate::ports::{Origin, Ports, Waiting};
use crate::replication::Replication;
use crate::statistics::{DropReason, Statistics};
use crate::tracing::Tracing;

/// How often a packet and those it is a copy of may be resubmitted, recirculated or cloned.
pub const PASSES: u8 = 64;

/// Passes and copies that one arrival or one tick may cause.
pub const BUDGET: u32 = 16_384;

pub(super) struct Again {
    pub(super) packet: Box<Packet>,
    pub(super) frame: Vec<u8>,
    pub(super) fields: FieldList,
    pub(super) origin: Origin,
}

#[derive(Clone, Copy)]
pub(super) struct Schedule {
    pub(super) rank: Option<u64>,
    /// The bucket that holds back a packet with a rank.
    pub(super) shaping: Option<Shaping>,
    pub(super) priority: u8,
    /// There is room for it only in the place of another.
    pub(super) push_out: bool,
    pub(super) beyond: Beyond,
}

/// What becomes of a packet whose priority has no queue.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Beyond {
    /// It is dropped, as in bmv2.
    Refused,
    /// The port's highest queue takes it: a clone session's.
    Highest,
    /// Queue 0 takes it, as PSA says of classes of service that are not supported.
    Lowest,
}

impl Schedule {
    /// The priority of the packet at a port with so many queues.
    #[inline]
    pub(super) fn priority_among(&self, queues: u8) -> u8 {
        match self.beyond {
            Beyond::Highest => self.priority.min(queues.saturating_sub(1)),
            Beyond::Lowest if self.priority >= queues => 0,
            Beyond::Refused | Beyond::Lowest => self.priority,
        }
    }
}

#[derive(Default)]
pub(crate) struct PacketPath {
    pub(super) cpu_port: Option<Port>,
    pub(super) drop_port: Port,
    pub(crate) pipeline: Option<Pipeline>,
    pub(crate) ports: Ports,
    pub(crate) replication: Replication,
    pub(crate) packet_ins: Arc<PacketIns>,
    pub(crate) digests: Arc<Digests>,
    pub(crate) statistics: Statistics,
    log: Option<Arc<PacketLog>>,
    /// While somebody wants traces, or a packet has a record.
    pub(crate) tracing: Option<Box<Tracing>>,
    /// Records made before that.
    traces: u64,
    /// There is a log, or `tracing`: one test where a packet arrives, and one where it departs.
    pub(super) is_observed: bool,
    /// The time of the event at hand, for lines of the log.
    pub(crate) now: Time,
    /// Ports at which something may move. Empty between two events, as are the two below.
    pub(super) busy: VecDeque<usize>,
    /// Packets for ports that the switch does not have.
    pub(super) nowhere: VecDeque<(Port, Waiting)>,
    pub(super) again: VecDeque<Again>,
    /// Passes and copies that may still be caused.
    pub(super) budget: u32,
}

impl PacketPath {
    pub(crate) fn new(cpu_port: Option<Port>, drop_port: Port) -> Self {
        Self {
            cpu_port,
            drop_port,
            ..Self::default()
        }
    }

    /// The records of packets, for a reader who comes.
    pub(crate) fn begin_tracing(&mut self) -> &mut Tracing {
        self.is_observed = true;
        let tracing = || Box::new(Tracing::after(self.traces));
        self.tracing.get_or_insert_with(tracing)
    }

    /// Ends tracing if nobody wants it any more and no packet has a record: nothing is tested for it then.
    pub(crate) fn end_tracing(&mut self) {
        if let Some(tracing) = self.tracing.take_if(|tracing| tracing.is_over()) {
            self.traces = tracing.made();
            self.is_observed = self.is_logged();
        }
    }

    pub(crate) fn set_log(&mut self, log: Option<Arc<PacketLog>>) {
        self.log = log;
        self.is_observed = self.is_logged() || self.tracing.is_some();
    }

    pub(crate) fn is_logged(&self) -> bool {
        self.log.is_some()
    }

    /// The place of a packet in the order of transmission, by the program, rank and priority.
    pub(super) fn schedule(&self, packet: &Packet, rank: Option<u64>, priority: u8) -> Schedule {
        let pipeline = self.pipeline.as_ref();
        let shaping = pipeline.and_then(|pipeline| pipeline.shaping(packet));
        Schedule {
            rank,
            shaping: shaping.map(|(bucket, rate_bps, burst_bytes, bytes)| Shaping {
                bucket,
                rate_bps,
                burst_bytes,
                bytes,
            }),
            priority,
            push_out: pipeline.is_some_and(|pipeline| pipeline.pushes_out(packet)),
            beyond: if pipeline.is_some_and(Pipeline::is_psa) {
                Beyond::Lowest
            } else {
                Beyond::Refused
            },
        }
    }

    /// One more pass of a packet, if it may have one.
    pub(super) fn may_pass(&mut self, origin: &mut Origin) -> bool {
        let may = origin.passes < PASSES && self.budget > 0;
        if may {
            origin.passes += 1;
            self.budget -= 1;
        }
        may
    }

    pub(super) fn recycle(&mut self, packet: Box<Packet>) {
        if let Some(pipeline) = self.pipeline.as_mut() {
            pipeline.recycle(packet);
        }
    }

    pub(super) fn note_messages(&mut self) {
        if let Some(log) = &self.log
            && let Some(pipeline) = &mut self.pipeline
        {
            for message in pipeline.take_log() {
                log.note_message(self.now, &message);
            }
        }
    }

    pub(super) fn note(&self, event: PacketEvent, port: Port, frame: &[u8]) {
        if let Some(log) = &self.log {
            log.note(self.now, event, Some(port), frame);
        }
    }

    pub(super) fn drop(&mut self, at: Option<usize>, reason: DropReason) {
        self.statistics.dropped.count(reason);
        if let Some(index) = at {
            self.ports[index].statistics.dropped.count(reason);
        }
        if let Some(log) = &self.log {
            let port = at.map(|index| self.ports[index].number);
            log.note(self.now, PacketEvent::Dropped(reason), port, &[]);
        }
    }

    /// Drops a packet, counted at a port.
    pub(super) fn discard(
        &mut self,
        mut packet: Box<Packet>,
        at: Option<usize>,
        reason: DropReason,
    ) {
        let record = self.take_record(&mut packet);
        self.recycle(packet);
        self.drop_traced(record, at, reason);
    }

    /// Drops a packet that has not come to a queue, counted where it arrived.
    pub(super) fn discard_early(
        &mut self,
        packet: Box<Packet>,
        origin: Origin,
        reason: DropReason,
    ) {
        let at = self.ports.place(origin.port);
        self.discard(packet, at, reason);
    }

    /// Drops a packet that has not come to a queue, counted where it arrived.
    pub(super) fn drop_early(
        &mut self,
        record: Option<Box<Record>>,
        origin: Origin,
        reason: DropReason,
    ) {
        let at = self.ports.place(origin.port);
        self.drop_traced(record, at, reason);
    }
}
