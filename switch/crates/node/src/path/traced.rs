//! What traces say of packets on this path. Without readers of traces each of these is a test.

use phb_network::{Port, Time};
use phb_pipeline::Packet;
use phb_pipeline::trace::{Ahead, CopyKind, Happening, Record};
use phb_traffic_manager::{Place, PortQueue, Queued, Turn};

use super::packet_path::{BUDGET, PacketPath};
use crate::ports::{Leaving, Waiting};
use crate::statistics::DropReason;
use crate::tracing::{LOOKED_AT, NAMED};

impl PacketPath {
    /// A record for a frame that arrives, if somebody wants it.
    pub(super) fn arrival(&mut self, now: Time, port: Port, frame: &[u8]) -> Option<Box<Record>> {
        let tracing = self.tracing.as_mut()?;
        let mut record = tracing.arrives(now, port, self.cpu_port == Some(port), frame)?;
        self.note_program(&mut record);
        Some(record)
    }

    /// Notes whose names the record is to be read with.
    fn note_program(&self, record: &mut Record) {
        if record.carried.dictionary.is_none() {
            let pipeline = self.pipeline.as_ref();
            record.carried.dictionary =
                pipeline.and_then(|pipeline| pipeline.dictionary().cloned());
        }
    }

    /// Takes the record from a packet whose memory is to be used again.
    pub(super) fn take_record(&mut self, packet: &mut Packet) -> Option<Box<Record>> {
        self.tracing.as_ref()?;
        let mut record = packet.set_record(None)?;
        self.note_program(&mut record);
        if let Some(tracing) = &mut self.tracing {
            tracing.charge(&mut record);
        }
        Some(record)
    }

    /// Notes that a packet is queued at a port, if it is traced; to be called before it is. Tells whether it is noted.
    #[cold]
    pub(super) fn note_enqueued(
        &mut self,
        packet: &mut Packet,
        at: usize,
        place: Result<Place, u8>,
    ) -> bool {
        if let Some(tracing) = &mut self.tracing
            && let Some(record) = packet.record()
        {
            let port = &self.ports[at];
            let (rank, queue, turn) = match place {
                Ok(place) => (Some(place.rank), 0, Turn::ranked(place)),
                Err(priority) => (None, priority, Turn::by_priority(priority)),
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
            tracing.charge(record);
            return noted;
        }
        false
    }

    /// Notes that a packet leaves the queues of a port, which packets behind it will tell.
    #[cold]
    pub(super) fn note_dequeued(&mut self, at: usize, queued: &mut Queued<Waiting>) {
        let Some(tracing) = self.tracing.as_mut().filter(|tracing| tracing.is_watched()) else {
            return;
        };
        let port = &self.ports[at];
        let packet = &mut queued.item.packet;
        let mut trace = 0;
        if let Some(record) = packet.record() {
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
        let by_rank = !port.queue.config().strict_priority;
        let pipeline = self.pipeline.as_ref().filter(|_| by_rank);
        let ahead = Ahead {
            trace,
            rank: pipeline.and_then(|pipeline| pipeline.scheduling(packet).0),
            queue: queued.queue,
            length: packet.length(),
            ingress_port: queued.item.origin.port,
            since: queued.enqueued_at,
        };
        tracing.serves(at, ahead);
    }

    /// The end of a packet.
    #[cold]
    pub(super) fn end(&mut self, mut record: Record, happening: Happening) {
        record.note(self.now, happening);
        if let Some(tracing) = &mut self.tracing {
            tracing.finish(record);
        }
    }

    /// Drops a packet whose memory is used again already.
    pub(super) fn drop_traced(
        &mut self,
        record: Option<Box<Record>>,
        at: Option<usize>,
        reason: DropReason,
    ) {
        if let Some(record) = record {
            let port = at.map(|at| self.ports[at].number);
            let reason = reason.name();
            self.end(*record, Happening::Dropped { reason, port });
        }
        self.drop(at, reason);
    }

    /// Notes when the line began to send a frame, and when its last bit was sent.
    #[cold]
    pub(super) fn note_sent(
        &self,
        record: &mut Record,
        at: usize,
        (start, ends): (Time, Time),
        length: usize,
    ) {
        let port = self.ports[at].number;
        let length = count(length);
        record.note(start, Happening::Sending { port, length, ends });
    }

    /// What a trace says of a frame that leaves by a port.
    #[cold]
    pub(super) fn departure(&self, record: &Record, port: Port, frame: &[u8]) -> Happening {
        let tracing = self.tracing.as_ref();
        let kept = tracing.map(|tracing| tracing.kept(record, frame));
        Happening::Departed {
            port,
            to_controller: self.cpu_port == Some(port),
            length: count(frame.len()),
            bytes: kept.unwrap_or_default(),
        }
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
fn ahead(queue: &PortQueue<Waiting, Leaving>, turn: Turn, looks: usize) -> (u32, u64, Vec<Ahead>) {
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
