//! What traces say of packets on this path. Without readers of traces each of these is a test.

use phb_network::{Port, Time};
use phb_pipeline::Packet;
use phb_pipeline::trace::{Ahead, CopyKind, Happening, Record};
use phb_traffic_manager::{Place, PortQueue, Queued, Turn};

use super::packet_path::{BUDGET, PacketPath, Schedule};
use crate::ports::Waiting;
use crate::statistics::DropReason;
use crate::tracing::{LOOKED_AT, NAMED, note_program};

impl PacketPath {
    /// A record for a frame that arrives, if somebody wants it.
    #[cold]
    pub(super) fn arrival(&mut self, now: Time, port: Port, frame: &[u8]) -> Option<Box<Record>> {
        let tracing = self.tracing.as_mut()?;
        let mut record = tracing.arrives(now, port, self.cpu_port == Some(port), frame)?;
        self.note_program(&mut record);
        Some(record)
    }

    /// Notes whose names the record is to be read with.
    fn note_program(&self, record: &mut Record) {
        if let Some(pipeline) = &self.pipeline {
            note_program(record, pipeline);
        }
    }

    /// Takes the record from a packet whose memory is to be used again.
    pub(super) fn take_record(&mut self, packet: &mut Packet) -> Option<Box<Record>> {
        self.tracing.as_ref()?;
        let mut record = packet.set_record(None)?;
        self.note_program(&mut record);
        Some(record)
    }

    /// Notes that a packet is queued at a port, if it is traced; to be called before it is.
    #[cold]
    pub(super) fn note_enqueued(&mut self, packet: &mut Packet, at: usize, schedule: &Schedule) {
        if let Some(tracing) = &mut self.tracing
            && let Some(record) = packet.record()
        {
            let port = &self.ports[at];
            let config = port.queue.config();
            let rank = schedule.rank.filter(|_| !config.strict_priority);
            let shaping = schedule.shaping;
            let (queue, turn) = match rank {
                Some(rank) => (0, Turn::ranked(Place { rank, shaping })),
                None => {
                    let priority = schedule.priority_among(config.queues);
                    (priority, Turn::by_priority(priority))
                }
            };
            let copies = (BUDGET - self.budget.min(BUDGET)) as usize;
            let looks = LOOKED_AT / (1 + copies);
            let (ahead, ahead_bytes, behind) = ahead(&port.queue, turn, looks);
            let happening = Happening::Enqueued {
                port: port.number,
                rank,
                queue,
                depth: count(port.queue.queue_depth(queue)),
                ahead,
                ahead_bytes,
                behind,
            };
            let noted = record.note(self.now, happening);
            record.carried.served = tracing.served(at);
            tracing.queued(record, noted);
        }
    }

    /// Notes that a packet leaves the queues of a port, which packets behind it will tell.
    #[cold]
    pub(super) fn note_dequeued(&mut self, at: usize, queued: &mut Queued<Waiting>) {
        let Some(tracing) = &mut self.tracing else {
            return;
        };
        tracing.turns_to(Some(at));
        if !tracing.is_watched() {
            return;
        }
        let port = &self.ports[at];
        let packet = &mut queued.item.packet;
        let by_rank = !port.queue.config().strict_priority;
        let pipeline = self.pipeline.as_ref().filter(|_| by_rank);
        let rank = pipeline.and_then(|pipeline| pipeline.scheduling(packet).0);
        let mut trace = 0;
        if let Some(record) = packet.record() {
            // A packet that passes a free line was not queued before.
            let last = record.happened().next_back();
            if !matches!(last, Some((_, Happening::Enqueued { .. }))) {
                let happening = Happening::Enqueued {
                    port: port.number,
                    rank,
                    queue: queued.queue,
                    depth: 0,
                    ahead: 0,
                    ahead_bytes: 0,
                    behind: Vec::new(),
                };
                record.note(self.now, happening);
                record.carried.served = tracing.served(at);
            }
            let (served, served_bytes, behind) = tracing.served_since(at, record.carried.served);
            let happening = Happening::Dequeued {
                port: port.number,
                waited_ns: self.now.saturating_sub(queued.enqueued_at),
                served,
                served_bytes,
                behind,
                depth: count(queued.depth_at_dequeue),
            };
            record.note(self.now, happening);
            trace = record.number;
        }
        let ahead = Ahead {
            trace,
            rank,
            queue: queued.queue,
            length: packet.length(),
            ingress_port: queued.item.origin.port,
            since: queued.enqueued_at,
        };
        tracing.serves(at, ahead);
    }

    /// The end of a packet, which is noted.
    #[cold]
    pub(super) fn finish(&mut self, record: Record) {
        if let Some(tracing) = &mut self.tracing {
            tracing.finish(record);
            if !tracing.is_watched() {
                self.end_tracing();
            }
        }
    }

    /// Drops a packet whose memory is used again already.
    pub(super) fn drop_traced(
        &mut self,
        record: Option<Box<Record>>,
        at: Option<usize>,
        reason: DropReason,
    ) {
        if let Some(mut record) = record {
            let port = at.map(|at| self.ports[at].number);
            let reason = reason.name();
            record.note(self.now, Happening::Dropped { reason, port });
            self.finish(*record);
        }
        self.drop(at, reason);
    }

    /// The end of a frame that leaves by a port, where it is counted already, if it is traced.
    #[cold]
    pub(super) fn end(&mut self, at: usize, frame: &[u8]) {
        let departure = self.ports[at].departures() - 1;
        if let Some(record) = self.note_departed(at, departure, frame) {
            self.finish(*record);
        }
    }

    /// Notes that a frame leaves a port after so many others, if it is traced; gives the record.
    #[cold]
    pub(super) fn note_departed(
        &mut self,
        at: usize,
        departure: u64,
        frame: &[u8],
    ) -> Option<Box<Record>> {
        let tracing = self.tracing.as_mut()?;
        let (mut record, on_line) = tracing.departs(at, departure)?;
        let (port, length) = (self.ports[at].number, count(frame.len()));
        if on_line {
            let (start, ends) = self.ports[at].queue.last_transmission();
            record.note(start, Happening::Sending { port, length, ends });
        }
        let happening = Happening::Departed {
            port,
            to_controller: self.cpu_port == Some(port),
            length,
            bytes: tracing.kept(&record, frame),
        };
        record.note(self.now, happening);
        Some(record)
    }

    /// Drops a frame that would have left.
    pub(super) fn drop_instead(
        &mut self,
        mut record: Option<Box<Record>>,
        at: usize,
        reason: DropReason,
    ) {
        if let Some(record) = &mut record {
            record.retract();
        }
        self.drop_traced(record, Some(at), reason);
    }

    /// Notes that a packet passes once more.
    pub(super) fn note_again(&self, packet: &mut Packet, kind: CopyKind) {
        if let Some(record) = packet.record() {
            let trace = record.number;
            record.note(
                self.now,
                Happening::Copied {
                    kind,
                    trace,
                    group: 0,
                },
            );
        }
    }

    /// A record for a copy of a packet, if that is traced.
    pub(super) fn copied(
        &mut self,
        of: &mut Packet,
        kind: CopyKind,
        group: u16,
    ) -> Option<Box<Record>> {
        let record = of.record()?;
        let copy = self.tracing.as_mut()?.copy(record);
        let trace = copy.as_ref().map_or(0, |copy| copy.number);
        record.note(self.now, Happening::Copied { kind, trace, group });
        copy
    }
}

fn count(packets: usize) -> u32 {
    u32::try_from(packets).unwrap_or(u32::MAX)
}

/// Of the packets that wait, as far as they are looked at, those that leave before a turn: how many, their bytes, and the
/// first of them.
fn ahead(queue: &PortQueue<Waiting, Vec<u8>>, turn: Turn, looks: usize) -> (u32, u64, Vec<Ahead>) {
    let (mut packets, mut bytes) = (0, 0);
    // The first so far, in order.
    let mut first: Vec<(Turn, Ahead)> = Vec::new();
    let waiting = queue.waiting().take(looks);
    for held in waiting.filter(|held| held.turn < turn) {
        let Waiting { packet, origin } = held.item;
        packets += 1;
        bytes += u64::from(packet.length());
        if first.len() == NAMED && first.last().is_some_and(|(last, _)| *last < held.turn) {
            continue;
        }
        let ahead = Ahead {
            trace: packet.traced_as(),
            rank: held.rank,
            queue: held.queue,
            length: packet.length(),
            ingress_port: origin.port,
            since: held.enqueued_at,
        };
        let place = first.partition_point(|(other, _)| *other < held.turn);
        first.truncate(NAMED - 1);
        first.insert(place.min(first.len()), (held.turn, ahead));
    }
    (
        packets,
        bytes,
        first.into_iter().map(|(_, ahead)| ahead).collect(),
    )
}
