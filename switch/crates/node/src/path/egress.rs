//! Service of ports, egress, and departures.

use phb_network::{Frame, Output, Port, Time};
use phb_pipeline::{EgressVerdict, Pipeline, QueueMetadata, RECIRCULATE_PORT};
use phb_traffic_manager::Queued;

use super::packet_path::{Again, PacketPath};
use crate::packet_log::PacketEvent;
use crate::ports::Waiting;
use crate::statistics::DropReason;

impl PacketPath {
    /// Sends frames transmitted by now at a port, and takes the next packets from its queue.
    pub(super) fn serve(&mut self, now: Time, at: usize, out: &mut Output) {
        loop {
            while let Some(frame) = self.ports[at].queue.depart(now) {
                self.depart(now, at, frame, out);
            }
            let Some(queued) = self.ports[at].queue.pop(now) else {
                return self.ports[at].note_due();
            };
            let bytes = u64::from(queued.item.packet.length());
            self.ports[at].of_queue(queued.queue).went(bytes);
            self.egress(now, at, queued, out);
        }
    }

    /// Egress of a packet whose turn at a port has come, up to the line.
    pub(super) fn egress(
        &mut self,
        now: Time,
        at: usize,
        mut queued: Queued<Waiting>,
        out: &mut Output,
    ) {
        if self.tracing.is_some() {
            self.note_dequeued(at, &mut queued);
        }
        let port = &mut self.ports[at];
        let delay = now.saturating_sub(queued.enqueued_at);
        let statistics = &mut port.statistics;
        statistics.queue_delay_packets += 1;
        statistics.queue_delay_sum = statistics.queue_delay_sum.saturating_add(delay);
        statistics.queue_delay_max = statistics.queue_delay_max.max(delay);
        let of_queue = port.of_queue(queued.queue);
        of_queue.passed_packets += 1;
        of_queue.passed_bytes += u64::from(queued.item.packet.length());
        let metadata = QueueMetadata {
            egress_port: port.number,
            enq_timestamp_ns: queued.enqueued_at,
            enq_qdepth: u32::try_from(queued.depth_at_enqueue).unwrap_or(u32::MAX),
            deq_qdepth: u32::try_from(queued.depth_at_dequeue).unwrap_or(u32::MAX),
            deq_timedelta_ns: delay,
        };
        if let Some(frame) = self.pass_egress(now, Some(at), queued.item, &metadata, out) {
            if self.ports[at].queue.passes_at_once() {
                return self.depart(now, at, frame, out);
            }
            let length = frame.len();
            self.ports[at].queue.transmit(now, length, frame);
        }
    }

    /// Egress for an absent port: the program may still recirculate or account for the packet. PSA
    /// has one such port, and drops before egress what is for any other.
    pub(super) fn egress_nowhere(
        &mut self,
        now: Time,
        number: Port,
        item: Waiting,
        out: &mut Output,
    ) {
        let origin = item.origin;
        let psa = self.pipeline.as_ref().is_some_and(Pipeline::is_psa);
        if psa && number != RECIRCULATE_PORT {
            return self.discard_early(item.packet, origin, DropReason::UnknownPort);
        }
        let metadata = QueueMetadata {
            egress_port: number,
            enq_timestamp_ns: now,
            ..QueueMetadata::default()
        };
        if let Some(tracing) = &mut self.tracing {
            tracing.turns_to(None);
        }
        if let Some(frame) = self.pass_egress(now, None, item, &metadata, out) {
            out.recycle(Frame::new(frame));
            let tracing = self.tracing.as_mut();
            let record = tracing.and_then(|tracing| tracing.take_stray());
            self.drop_early(record, origin, DropReason::UnknownPort);
        }
    }

    /// Applies egress. Gives the frame if there is one to send.
    fn pass_egress(
        &mut self,
        now: Time,
        at: Option<usize>,
        item: Waiting,
        metadata: &QueueMetadata,
        out: &mut Output,
    ) -> Option<Vec<u8>> {
        let Waiting {
            mut packet,
            mut origin,
        } = item;
        let at = at.or_else(|| self.ports.place(origin.port));
        let pipeline = self.pipeline.as_mut()?;
        let departing = pipeline.egress(now, &mut packet, metadata);
        if let Some(request) = departing.clone {
            self.clone_egress(now, &mut packet, request, origin);
        }
        let pipeline = self.pipeline.as_mut()?;
        let reason = match departing.verdict {
            EgressVerdict::Transmit => None,
            EgressVerdict::Drop => Some(DropReason::Egress),
            EgressVerdict::Exhausted => Some(DropReason::Passes),
        };
        if let Some(reason) = reason {
            self.discard(packet, at, reason);
            return None;
        }
        let mut frame = out.buffer();
        pipeline.deparse(&mut packet, &mut frame);
        let Some(fields) = departing.recirculate else {
            if let Some(tracing) = &mut self.tracing {
                tracing.leaves(pipeline, &self.ports, &mut packet);
            }
            pipeline.recycle(packet);
            return Some(frame);
        };
        if self.may_pass(&mut origin) {
            self.statistics.recirculated += 1;
            self.again.push_back(Again {
                packet,
                frame,
                fields,
                origin,
            });
        } else {
            out.recycle(Frame::new(frame));
            self.discard(packet, at, DropReason::Passes);
        }
        None
    }

    fn depart(&mut self, now: Time, at: usize, frame: Vec<u8>, out: &mut Output) {
        let port = &mut self.ports[at];
        let number = port.number;
        if self.cpu_port == Some(number) {
            return self.give_to_controller(at, frame);
        }
        port.statistics.transmitted_packets += 1;
        port.statistics.transmitted_bytes += frame.len() as u64;
        self.statistics.transmitted += 1;
        if self.is_observed {
            self.note(PacketEvent::Transmitted, number, &frame);
            self.end(at, &frame);
        }
        out.send(now, number, Frame::new(frame));
    }

    fn give_to_controller(&mut self, at: usize, frame: Vec<u8>) {
        let port = &self.ports[at];
        let length = frame.len() as u64;
        self.note(PacketEvent::ToController, port.number, &frame);
        let record = match self.tracing {
            Some(_) => self.note_departed(at, port.departures(), &frame),
            None => None,
        };
        if !self.packet_ins.push(frame) {
            return self.drop_instead(record, at, DropReason::CpuBuffer);
        }
        if let Some(record) = record {
            self.finish(*record);
        }
        self.statistics.to_cpu += 1;
        let port = &mut self.ports[at].statistics;
        port.transmitted_packets += 1;
        port.transmitted_bytes += length;
    }
}
