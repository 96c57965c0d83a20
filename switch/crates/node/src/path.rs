//! What happens to a packet between its arrival and its departure.
//!
//! The order of things is simple_switch's. After ingress: clone, digest, resubmit, and if none of these ends it,
//! multicast, drop, or one port. After egress: clone, drop, recirculate, or the line.
//!
//! Nothing here calls itself. What a packet causes (a copy in a queue, another pass through ingress) is noted, and
//! [`settle`](SwitchNode::settle) does one after the other until nothing is left to do now. So that this comes to an
//! end with every program, a packet and its copies pass no more than [`PASSES`] times, and one event causes no more than
//! [`BUDGET`] passes and copies, and [`STEPS`](phb_pipeline::STEPS) of the program's loops.

use std::sync::Arc;

use phb_network::{Frame, Output, Port, Time};
use phb_pipeline::{
    CloneRequest, EgressVerdict, FieldList, Packet, Pipeline, Processed, QueueMetadata, Verdict,
};
use phb_traffic_manager::{Place, Queued, Refusal, Shaping};

use crate::packet_log::PacketEvent;
use crate::replication::{CloneSession, Replica};
use crate::statistics::DropReason;
use crate::switch::SwitchNode;

/// How often a packet may be resubmitted, recirculated or cloned, counted with the packets that it is a copy of.
pub const PASSES: u8 = 64;

/// Passes and copies that one arrival or one tick may cause.
pub const BUDGET: u32 = 16_384;

/// Where a packet comes from.
#[derive(Clone, Copy)]
pub(crate) struct Origin {
    /// The port at which it, or the packet it is a copy of, arrived.
    port: Port,
    /// How often it has been resubmitted, recirculated and cloned.
    passes: u8,
}

/// A packet in a queue.
pub(crate) struct Waiting {
    pub(crate) packet: Box<Packet>,
    origin: Origin,
}

/// A packet that is to pass ingress again.
pub(crate) struct Again {
    packet: Box<Packet>,
    frame: Vec<u8>,
    fields: FieldList,
    origin: Origin,
}

/// Where in the order of transmission a packet belongs.
#[derive(Clone, Copy)]
struct Schedule {
    rank: Option<u64>,
    /// What holds a packet with a rank back.
    shaping: Option<Shaping>,
    priority: u8,
    /// There is room for it only in the place of another.
    push_out: bool,
    /// The priority is a clone session's: the port's highest queue takes what is beyond it.
    of_session: bool,
}

/// What the program says of the packet's class.
fn shaping(pipeline: &Pipeline, packet: &Packet) -> Option<Shaping> {
    let (bucket, rate_bps, burst_bytes, bytes) = pipeline.shaping(packet)?;
    Some(Shaping {
        bucket,
        rate_bps,
        burst_bytes,
        bytes,
    })
}

impl SwitchNode {
    /// Takes a frame that has come in as far as it gets now: to a queue, to a line, or out.
    pub(crate) fn enter(&mut self, now: Time, port: Port, frame: &[u8], out: &mut Output) {
        self.budget = BUDGET;
        self.now = now;
        self.note(PacketEvent::Received, port, frame);
        let origin = Origin { port, passes: 0 };
        let Some(pipeline) = self.pipeline.as_mut() else {
            return self.drop_early(origin, DropReason::NoPipeline);
        };
        let processed = pipeline.ingress(now, port, frame);
        self.after_ingress(now, processed, frame, origin, out);
        self.settle(now, out);
    }

    /// Moves what can move at a port, and all that follows from it.
    pub(crate) fn advance(&mut self, now: Time, at: usize, out: &mut Output) {
        self.budget = BUDGET;
        self.now = now;
        if let Some(pipeline) = &mut self.pipeline {
            pipeline.grant_steps();
        }
        self.serve(now, at, out);
        self.settle(now, out);
    }

    /// Serves the ports in `busy` and passes the packets in `again`, until nothing is left to do now.
    fn settle(&mut self, now: Time, out: &mut Output) {
        loop {
            if let Some(at) = self.busy.pop_front() {
                self.serve(now, at, out);
            } else if let Some((number, waiting)) = self.nowhere.pop_front() {
                self.egress_nowhere(now, number, waiting, out);
            } else if let Some(again) = self.again.pop_front() {
                self.recirculate(now, again, out);
            } else {
                break;
            }
        }
        self.note_messages();
        if let Some(digests) = self.pipeline.as_mut().and_then(Pipeline::take_digests) {
            self.statistics.digests += digests.len() as u64;
            self.statistics.digests_lost += self.digests.push(digests) as u64;
        }
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
                self.clone_ingress(now, frame, &processed.packet, request, origin);
            }
            let Some(fields) = processed.resubmit else {
                break;
            };
            if !self.may_pass(&mut origin) {
                self.recycle(processed.packet);
                return self.drop_early(origin, DropReason::Passes);
            }
            let Some(pipeline) = self.pipeline.as_mut() else {
                return self.drop_early(origin, DropReason::NoPipeline);
            };
            self.statistics.resubmitted += 1;
            let again = pipeline.resubmit(now, origin.port, frame, &processed.packet, fields);
            pipeline.recycle(std::mem::replace(&mut processed, again).packet);
        }
        let packet = processed.packet;
        let pipeline = self.pipeline.as_ref();
        let push_out = pipeline.is_some_and(|pipeline| pipeline.pushes_out(&packet));
        let shaping = pipeline.and_then(|pipeline| shaping(pipeline, &packet));
        match processed.verdict {
            Verdict::Unicast {
                port,
                rank,
                priority,
            } if port != self.config.drop_port => {
                let schedule = Schedule {
                    rank,
                    shaping,
                    priority,
                    push_out,
                    of_session: false,
                };
                self.send_to(now, packet, port, schedule, origin, out);
            }
            Verdict::Unicast { .. } | Verdict::Drop => {
                self.recycle(packet);
                self.drop_early(origin, DropReason::Ingress);
            }
            Verdict::Exhausted => {
                self.recycle(packet);
                self.drop_early(origin, DropReason::Passes);
            }
            Verdict::Multicast {
                group,
                rank,
                priority,
            } => {
                let schedule = Schedule {
                    rank,
                    shaping,
                    priority,
                    push_out,
                    of_session: false,
                };
                self.multicast(now, packet, group, schedule, origin);
            }
        }
    }

    /// One more pass of a packet, if it may have one.
    fn may_pass(&mut self, origin: &mut Origin) -> bool {
        let may = origin.passes < PASSES && self.budget > 0;
        if may {
            origin.passes += 1;
            self.budget -= 1;
        }
        may
    }

    fn multicast(
        &mut self,
        now: Time,
        mut packet: Box<Packet>,
        group: u16,
        schedule: Schedule,
        origin: Origin,
    ) {
        let members = self.replication.group(group);
        let Some(members) = members.filter(|members| !members.is_empty()) else {
            self.recycle(packet);
            return self.drop_early(origin, DropReason::Multicast);
        };
        if let Some(pipeline) = &self.pipeline {
            pipeline.mark_replicated(&mut packet);
        }
        self.statistics.copied += members.len() as u64 - 1;
        self.replicate(now, packet, &members, schedule, origin);
    }

    fn clone_ingress(
        &mut self,
        now: Time,
        frame: &[u8],
        of: &Packet,
        request: CloneRequest,
        mut origin: Origin,
    ) {
        if let Some(session) = self.session(request, &mut origin)
            && let Some(pipeline) = self.pipeline.as_mut()
        {
            let copy = pipeline.clone_ingress(now, origin.port, frame, of, request.fields);
            self.send_clone(now, copy, &session, origin);
        }
    }

    fn clone_egress(&mut self, now: Time, of: &Packet, request: CloneRequest, mut origin: Origin) {
        if let Some(session) = self.session(request, &mut origin)
            && let Some(pipeline) = self.pipeline.as_mut()
        {
            let copy = pipeline.clone_egress(of, request.fields);
            self.send_clone(now, copy, &session, origin);
        }
    }

    /// The session that a clone goes to. Without one, or beyond the limits, it is counted as made and dropped.
    fn session(&mut self, request: CloneRequest, origin: &mut Origin) -> Option<Arc<CloneSession>> {
        let session = self.replication.session(request.session);
        let session = session.filter(|session| !session.replicas.is_empty());
        let reason = match session {
            None => DropReason::CloneSession,
            Some(_) if self.may_pass(origin) => return session,
            Some(_) => DropReason::Passes,
        };
        self.statistics.copied += 1;
        self.drop_early(*origin, reason);
        None
    }

    fn send_clone(
        &mut self,
        now: Time,
        mut copy: Box<Packet>,
        session: &CloneSession,
        origin: Origin,
    ) {
        if let Some(bytes) = session.packet_length_bytes {
            copy.truncate(bytes);
        }
        let (rank, priority) = match &self.pipeline {
            Some(pipeline) => pipeline.scheduling(&copy),
            None => (None, 0),
        };
        let pipeline = self.pipeline.as_ref();
        let push_out = pipeline.is_some_and(|pipeline| pipeline.pushes_out(&copy));
        let shaping = pipeline.and_then(|pipeline| shaping(pipeline, &copy));
        let of_session = session.class_of_service != 0;
        let schedule = Schedule {
            rank,
            shaping,
            priority: if of_session {
                session.class_of_service
            } else {
                priority
            },
            push_out,
            of_session,
        };
        self.statistics.copied += session.replicas.len() as u64;
        self.replicate(now, copy, &session.replicas, schedule, origin);
    }

    /// Queues one copy for each replica; the last is the packet itself.
    fn replicate(
        &mut self,
        now: Time,
        packet: Box<Packet>,
        replicas: &[Replica],
        schedule: Schedule,
        origin: Origin,
    ) {
        let Some((last, others)) = replicas.split_last() else {
            return;
        };
        for replica in others {
            let Some(pipeline) = self.pipeline.as_mut().filter(|_| self.budget > 0) else {
                self.drop_early(origin, DropReason::Passes);
                continue;
            };
            self.budget -= 1;
            let copy = pipeline.duplicate(&packet);
            self.queue_replica(now, copy, *replica, schedule, origin);
        }
        self.queue_replica(now, packet, *last, schedule, origin);
    }

    fn queue_replica(
        &mut self,
        now: Time,
        mut copy: Box<Packet>,
        replica: Replica,
        schedule: Schedule,
        origin: Origin,
    ) {
        if let Some(pipeline) = &self.pipeline {
            pipeline.set_instance(&mut copy, replica.instance);
        }
        match self.port_index(replica.port) {
            Some(at) => self.queue(now, copy, at, schedule, origin),
            None => {
                let waiting = Waiting {
                    packet: copy,
                    origin,
                };
                self.nowhere.push_back((replica.port, waiting));
            }
        }
    }

    /// Sends a packet to a port, without a stop in the queue if it would be the only one there and the line is free.
    fn send_to(
        &mut self,
        now: Time,
        packet: Box<Packet>,
        number: Port,
        schedule: Schedule,
        origin: Origin,
        out: &mut Output,
    ) {
        let Some(at) = self.port_index(number) else {
            let waiting = Waiting { packet, origin };
            return self.egress_nowhere(now, number, waiting, out);
        };
        let port = &mut self.ports[at];
        let ranked = schedule.rank.is_some() && !port.queue.config().strict_priority;
        let held_back = ranked && schedule.shaping.is_some();
        if !held_back && port.queue.is_free((!ranked).then_some(schedule.priority)) {
            port.statistics.queue_depth_max = port.statistics.queue_depth_max.max(1);
            let queue = if ranked { 0 } else { schedule.priority };
            let queued = Queued {
                queue,
                enqueued_at: now,
                depth_at_enqueue: 0,
                depth_at_dequeue: 0,
                item: Waiting { packet, origin },
            };
            self.egress(now, at, queued, out);
            self.serve(now, at, out);
        } else {
            self.queue(now, packet, at, schedule, origin);
        }
    }

    fn queue(
        &mut self,
        now: Time,
        packet: Box<Packet>,
        at: usize,
        schedule: Schedule,
        origin: Origin,
    ) {
        let waiting = Waiting { packet, origin };
        let port = &mut self.ports[at];
        let Schedule {
            rank,
            shaping,
            mut priority,
            push_out,
            of_session,
        } = schedule;
        if of_session {
            priority = priority.min(port.queue.config().queues.saturating_sub(1));
        }
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
            // Queues by priority have no last packet that could be taken out again.
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
                self.busy.push_back(at);
            }
            Err((refusal, refused)) => {
                let reason = match refusal {
                    Refusal::Buffer => DropReason::Buffer,
                    Refusal::Queue => DropReason::Queue,
                    Refusal::Priority => DropReason::Priority,
                    Refusal::PushedOut => DropReason::PushedOut,
                };
                if refusal != Refusal::Priority {
                    port.of_queue(priority).dropped_packets += 1;
                }
                let pushed_out = refusal == Refusal::PushedOut;
                self.take_off(now, at, priority, refused.packet, pushed_out);
                self.drop(Some(at), reason);
            }
        }
    }

    /// Tells the program that a packet, which it takes for queued, does not wait in that queue of a port, and whether it
    /// was pushed out.
    pub(crate) fn take_off(
        &mut self,
        now: Time,
        at: usize,
        queue: u8,
        mut packet: Box<Packet>,
        pushed_out: bool,
    ) {
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
            pipeline.recycle(packet);
        }
    }

    /// Moves what can move at a port: frames whose transmission has ended leave, and packets follow from the queue.
    fn serve(&mut self, now: Time, at: usize, out: &mut Output) {
        loop {
            while let Some(frame) = self.ports[at].queue.depart(now) {
                self.depart(now, at, frame, out);
            }
            let Some(queued) = self.ports[at].queue.pop(now) else {
                return;
            };
            self.egress(now, at, queued, out);
        }
    }

    /// Egress of a packet whose turn at a port has come, up to the line.
    fn egress(&mut self, now: Time, at: usize, queued: Queued<Waiting>, out: &mut Output) {
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
            let length = frame.len();
            self.ports[at].queue.transmit(now, length, frame);
        }
    }

    /// Egress of a packet for a port that the switch does not have. What the program does there still counts: it may
    /// recirculate the packet, or keep books.
    fn egress_nowhere(&mut self, now: Time, number: Port, item: Waiting, out: &mut Output) {
        let origin = item.origin;
        let metadata = QueueMetadata {
            egress_port: number,
            enq_timestamp_ns: now,
            ..QueueMetadata::default()
        };
        if let Some(frame) = self.pass_egress(now, None, item, &metadata, out) {
            out.recycle(Frame::new(frame));
            self.drop_early(origin, DropReason::UnknownPort);
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
        let at = at.or_else(|| self.port_index(origin.port));
        let pipeline = self.pipeline.as_mut()?;
        let departing = pipeline.egress(now, &mut packet, metadata);
        if let Some(request) = departing.clone {
            self.clone_egress(now, &packet, request, origin);
        }
        let pipeline = self.pipeline.as_mut()?;
        let reason = match departing.verdict {
            EgressVerdict::Transmit => None,
            EgressVerdict::Drop => Some(DropReason::Egress),
            EgressVerdict::Exhausted => Some(DropReason::Passes),
        };
        if let Some(reason) = reason {
            pipeline.recycle(packet);
            self.drop(at, reason);
            return None;
        }
        let mut frame = out.buffer();
        pipeline.deparse(&mut packet, &mut frame);
        let Some(fields) = departing.recirculate else {
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
            self.recycle(packet);
            out.recycle(Frame::new(frame));
            self.drop(at, DropReason::Passes);
        }
        None
    }

    fn recirculate(&mut self, now: Time, again: Again, out: &mut Output) {
        let Again {
            packet,
            frame,
            fields,
            origin,
        } = again;
        if let Some(pipeline) = self.pipeline.as_mut() {
            let processed = pipeline.recirculate(now, origin.port, &frame, &packet, fields);
            pipeline.recycle(packet);
            self.after_ingress(now, processed, &frame, origin, out);
        } else {
            self.drop_early(origin, DropReason::NoPipeline);
        }
        out.recycle(Frame::new(frame));
    }

    fn depart(&mut self, now: Time, at: usize, frame: Vec<u8>, out: &mut Output) {
        let number = self.ports[at].number;
        let length = frame.len() as u64;
        if self.config.cpu_port == Some(number) {
            self.note(PacketEvent::ToController, number, &frame);
            if !self.packet_ins.push(frame) {
                return self.drop(Some(at), DropReason::CpuBuffer);
            }
            self.statistics.to_cpu += 1;
        } else {
            self.note(PacketEvent::Transmitted, number, &frame);
            out.send(now, number, Frame::new(frame));
            self.statistics.transmitted += 1;
        }
        let port = &mut self.ports[at].statistics;
        port.transmitted_packets += 1;
        port.transmitted_bytes += length;
    }

    fn recycle(&mut self, packet: Box<Packet>) {
        if let Some(pipeline) = self.pipeline.as_mut() {
            pipeline.recycle(packet);
        }
    }

    /// Counts a packet that is dropped before it has come to a queue.
    fn drop_early(&mut self, origin: Origin, reason: DropReason) {
        let at = self.port_index(origin.port);
        self.drop(at, reason);
    }
}
