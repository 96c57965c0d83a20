//! Arrivals, ingress, and further passes through it.

use phb_network::{Frame, Output, Port, Time};
use phb_pipeline::trace::{CopyKind, Record};
use phb_pipeline::{Processed, Verdict};

use super::packet_path::{Again, BUDGET, PacketPath};
use crate::packet_log::PacketEvent;
use crate::ports::Origin;
use crate::statistics::DropReason;

impl PacketPath {
    pub(crate) fn receive(&mut self, now: Time, port: Port, frame: &[u8], out: &mut Output) {
        self.statistics.received += 1;
        self.now = now;
        let Some(index) = self.ports.place(port) else {
            let record = match self.tracing {
                Some(_) => self.arrival(now, port, frame),
                None => None,
            };
            return self.drop_traced(record, None, DropReason::UnknownPort);
        };
        let statistics = &mut self.ports[index].statistics;
        statistics.received_packets += 1;
        statistics.received_bytes += frame.len() as u64;
        self.enter(now, port, frame, out);
    }

    /// Takes a frame that has come in as far as it gets now: to a queue, to a line, or out.
    pub(crate) fn enter(&mut self, now: Time, port: Port, frame: &[u8], out: &mut Output) {
        self.budget = BUDGET;
        self.now = now;
        let origin = Origin { port, passes: 0 };
        if self.is_observed {
            self.note(PacketEvent::Received, port, frame);
            if let Some(record) = self.arrival(now, port, frame) {
                return self.enter_traced(now, frame, record, origin, out);
            }
        }
        let Some(pipeline) = self.pipeline.as_mut() else {
            return self.drop_early(None, origin, DropReason::NoPipeline);
        };
        let processed = pipeline.ingress(now, port, frame);
        self.after_ingress(now, processed, frame, origin, out);
        self.settle(now, out);
    }

    #[cold]
    fn enter_traced(
        &mut self,
        now: Time,
        frame: &[u8],
        record: Box<Record>,
        origin: Origin,
        out: &mut Output,
    ) {
        let Some(pipeline) = self.pipeline.as_mut() else {
            return self.drop_early(Some(record), origin, DropReason::NoPipeline);
        };
        let processed = pipeline.ingress_traced(now, origin.port, frame, record);
        self.after_ingress(now, processed, frame, origin, out);
        self.settle(now, out);
    }

    fn after_ingress(
        &mut self,
        now: Time,
        mut processed: Processed,
        frame: &[u8],
        mut origin: Origin,
        out: &mut Output,
    ) {
        loop {
            if let Some(request) = processed.clone {
                self.clone_ingress(now, frame, &mut processed.packet, request, origin);
            }
            let Some(fields) = processed.resubmit else {
                break;
            };
            if !self.may_pass(&mut origin) {
                return self.discard_early(processed.packet, origin, DropReason::Passes);
            }
            self.note_again(&mut processed.packet, CopyKind::Resubmit);
            let Some(pipeline) = self.pipeline.as_mut() else {
                return self.discard_early(processed.packet, origin, DropReason::NoPipeline);
            };
            self.statistics.resubmitted += 1;
            let again = pipeline.resubmit(now, frame, &mut processed.packet, fields);
            pipeline.recycle(std::mem::replace(&mut processed, again).packet);
        }
        let packet = processed.packet;
        match processed.verdict {
            Verdict::Unicast {
                port,
                rank,
                priority,
            } if port != self.drop_port => {
                let schedule = self.schedule(&packet, rank, priority);
                self.send_to(now, packet, port, schedule, origin, out);
            }
            Verdict::Unicast { .. } | Verdict::Drop => {
                self.discard_early(packet, origin, DropReason::Ingress);
            }
            Verdict::UnknownPort => {
                self.discard_early(packet, origin, DropReason::UnknownPort);
            }
            Verdict::Exhausted => {
                self.discard_early(packet, origin, DropReason::Passes);
            }
            Verdict::Multicast {
                group,
                rank,
                priority,
            } => {
                let schedule = self.schedule(&packet, rank, priority);
                self.multicast(now, packet, group, schedule, origin);
            }
        }
    }

    pub(super) fn recirculate(&mut self, now: Time, again: Again, out: &mut Output) {
        let Again {
            mut packet,
            frame,
            fields,
            origin,
        } = again;
        self.note_again(&mut packet, CopyKind::Recirculate);
        if let Some(pipeline) = self.pipeline.as_mut() {
            let processed = pipeline.recirculate(now, &frame, &mut packet, fields);
            pipeline.recycle(packet);
            self.after_ingress(now, processed, &frame, origin, out);
        } else {
            self.discard_early(packet, origin, DropReason::NoPipeline);
        }
        out.recycle(Frame::new(frame));
    }
}
