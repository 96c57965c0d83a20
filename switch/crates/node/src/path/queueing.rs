//! Queues of ports: packets enter them, are refused, or are dropped with their program.

use phb_network::{Output, Port, Time};
use phb_pipeline::{Packet, QueueMetadata};
use phb_traffic_manager::{Place, Queued, Refusal};

use super::packet_path::{PacketPath, Schedule};
use crate::ports::{Origin, Waiting};
use crate::statistics::DropReason;

impl PacketPath {
    /// Sends a packet to a port, past the queue if that is empty and the line is free.
    pub(super) fn send_to(
        &mut self,
        now: Time,
        packet: Box<Packet>,
        number: Port,
        schedule: Schedule,
        origin: Origin,
        out: &mut Output,
    ) {
        let Some(at) = self.ports.place(number) else {
            let waiting = Waiting { packet, origin };
            return self.egress_nowhere(now, number, waiting, out);
        };
        let port = &mut self.ports[at];
        let ranked = schedule.rank.is_some() && !port.queue.config().strict_priority;
        let held_back = ranked && schedule.shaping.is_some();
        let priority = schedule.priority_among(port.queue.config().queues);
        if !held_back && port.queue.is_free((!ranked).then_some(priority)) {
            port.statistics.queue_depth_max = port.statistics.queue_depth_max.max(1);
            let queue = if ranked { 0 } else { priority };
            let queued = Queued {
                queue,
                enqueued_at: now,
                depth_at_enqueue: 0,
                depth_at_dequeue: 0,
                item: Waiting { packet, origin },
            };
            self.egress(now, at, queued, out);
            // At a port without a rate the frame has left already.
            if self.ports[at].queue.held() > 0 {
                self.serve(now, at, out);
            }
        } else {
            self.queue(now, packet, at, schedule, origin);
        }
    }

    pub(super) fn queue(
        &mut self,
        now: Time,
        mut packet: Box<Packet>,
        at: usize,
        schedule: Schedule,
        origin: Origin,
    ) {
        if self.tracing.is_some() {
            self.note_enqueued(&mut packet, at, &schedule);
        }
        let bytes = u64::from(packet.length());
        let waiting = Waiting { packet, origin };
        let port = &mut self.ports[at];
        let Schedule {
            rank,
            shaping,
            push_out,
            ..
        } = schedule;
        let mut priority = schedule.priority_among(port.queue.config().queues);
        let queued = match rank.filter(|_| !port.queue.config().strict_priority) {
            Some(rank) => {
                priority = 0;
                let place = Place { rank, shaping };
                if push_out {
                    port.queue.enqueue_in_place(now, place, waiting)
                } else {
                    port.queue.enqueue(now, place, waiting)
                }
            }
            // Queues by priority have no last packet to push out.
            None if push_out => Err((Refusal::Buffer, waiting)),
            None => port.queue.enqueue_strict(now, priority, waiting),
        };
        match queued {
            Ok(()) => {
                let depth = port.queue.depth() as u64;
                port.statistics.queue_depth_max = port.statistics.queue_depth_max.max(depth);
                let depth = port.queue.queue_depth(priority) as u64;
                let of_queue = port.of_queue(priority);
                of_queue.depth_max = of_queue.depth_max.max(depth);
                of_queue.came(bytes);
                self.busy.push_back(at);
            }
            Err((refusal, mut refused)) => {
                if let Some(tracing) = &mut self.tracing
                    && refusal != Refusal::PushedOut
                {
                    tracing.refused(&mut refused.packet);
                }
                let reason = match refusal {
                    Refusal::Buffer => DropReason::Buffer,
                    Refusal::Queue => DropReason::Queue,
                    Refusal::Priority => DropReason::Priority,
                    Refusal::PushedOut => DropReason::PushedOut,
                };
                let of_queue = (refusal != Refusal::Priority).then(|| port.of_queue(priority));
                if let Some(of_queue) = of_queue {
                    let dropped = u64::from(refused.packet.length());
                    of_queue.dropped_packets += 1;
                    of_queue.dropped_bytes += dropped;
                    if refusal == Refusal::PushedOut {
                        of_queue.went(dropped);
                        of_queue.came(bytes);
                    }
                }
                port.note_due();
                self.take_off(now, at, priority, refused.packet, reason);
            }
        }
    }

    /// Drops a packet that the program takes for queued, and tells it so, and whether it was pushed out.
    fn take_off(
        &mut self,
        now: Time,
        at: usize,
        queue: u8,
        mut packet: Box<Packet>,
        reason: DropReason,
    ) {
        let pushed_out = reason == DropReason::PushedOut;
        let port = &self.ports[at];
        let depth = u32::try_from(port.queue.queue_depth(queue)).unwrap_or(u32::MAX);
        let metadata = QueueMetadata {
            egress_port: port.number,
            enq_timestamp_ns: now,
            enq_qdepth: depth,
            deq_qdepth: depth,
            deq_timedelta_ns: 0,
        };
        if let Some(pipeline) = self.pipeline.as_mut() {
            pipeline.dropped(now, &mut packet, &metadata, pushed_out);
        }
        self.discard(packet, Some(at), reason);
    }

    pub fn drop_waiting(&mut self) {
        for at in 0..self.ports.count() {
            while let Some((queue, waiting)) = self.ports[at].queue.take_waiting() {
                let bytes = u64::from(waiting.packet.length());
                self.ports[at].of_queue(queue).went(bytes);
                self.take_off(self.now, at, queue, waiting.packet, DropReason::Reloaded);
            }
            self.ports[at].note_due();
        }
    }
}
