use std::sync::Arc;

use phb_network::Time;
use phb_pipeline::{CloneRequest, Packet};

use super::packet_path::{Beyond, PacketPath, Schedule};
use crate::ports::{Origin, Waiting};
use crate::replication::{CloneSession, Replica};
use crate::statistics::DropReason;

impl PacketPath {
    pub(super) fn multicast(
        &mut self,
        now: Time,
        mut packet: Box<Packet>,
        group: u16,
        schedule: Schedule,
        origin: Origin,
    ) {
        let members = self.replication.group(group).cloned();
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

    pub(super) fn clone_ingress(
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

    pub(super) fn clone_egress(
        &mut self,
        now: Time,
        of: &Packet,
        request: CloneRequest,
        mut origin: Origin,
    ) {
        if let Some(session) = self.session(request, &mut origin)
            && let Some(pipeline) = self.pipeline.as_mut()
        {
            let copy = pipeline.clone_egress(of, request.fields);
            self.send_clone(now, copy, &session, origin);
        }
    }

    /// The session of a clone; without one, or beyond limits, the clone counts as made and dropped.
    fn session(&mut self, request: CloneRequest, origin: &mut Origin) -> Option<Arc<CloneSession>> {
        let session = self.replication.session(request.session).cloned();
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
        let mut schedule = self.schedule(&copy, rank, priority);
        if session.class_of_service != 0 {
            schedule.priority = session.class_of_service;
            if schedule.beyond == Beyond::Refused {
                schedule.beyond = Beyond::Highest;
            }
            if let Some(pipeline) = &self.pipeline {
                pipeline.set_class_of_service(&mut copy, session.class_of_service);
            }
        }
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
        match self.ports.place(replica.port) {
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
}
