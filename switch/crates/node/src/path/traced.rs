//! What traces say of packets on this path. Without readers of traces each of these is a test.

use phb_network::{Port, Time};
use phb_pipeline::Packet;
use phb_pipeline::trace::{CopyKind, Happening, Record};

use super::packet_path::PacketPath;
use crate::statistics::DropReason;

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

    /// Notes that a packet waits.
    pub(super) fn note_waiting(&mut self, packet: &mut Packet) {
        if let Some(tracing) = &mut self.tracing
            && let Some(record) = packet.record()
        {
            tracing.charge(record);
        }
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

    /// What a trace says of a frame that leaves by a port.
    #[cold]
    pub(super) fn departure(&self, record: &Record, port: Port, frame: &[u8]) -> Happening {
        let tracing = self.tracing.as_ref();
        let kept = tracing.map(|tracing| tracing.kept(record, frame));
        Happening::Departed {
            port,
            to_controller: self.cpu_port == Some(port),
            length: u32::try_from(frame.len()).unwrap_or(u32::MAX),
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
