use std::sync::Arc;

use phb_network::Time;
use phb_pipeline::trace::{CopyKind, Record};
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
            return self.discard_early(packet, origin, DropReason::Multicast);
        };
        if let Some(pipeline) = &self.pipeline {
            pipeline.mark_replicated(&mut packet);
        }
        self.statistics.copied += members.len() as u64 - 1;
        self.replicate(now, packet, (group, &members), schedule, origin);
    }

    pub(super) fn clone_ingress(
        &mut self,
        now: Time,
        frame: &[u8],
        of: &mut Packet,
        request: CloneRequest,
        mut origin: Origin,
    ) {
        let record = self.copied(of, CopyKind::CloneIngress, request.session);
        if let Some((session, record)) = self.session(request, record, &mut origin)
            && let Some(pipeline) = self.pipeline.as_mut()
        {
            let mut copy = pipeline.clone_ingress(now, origin.port, frame, of, request.fields);
            copy.set_record(record);
            self.send_clone(now, copy, (request.session, &session), origin);
        }
    }

    pub(super) fn clone_egress(
        &mut self,
        now: Time,
        of: &mut Packet,
        request: CloneRequest,
        mut origin: Origin,
    ) {
        let record = self.copied(of, CopyKind::CloneEgress, request.session);
        if let Some((session, record)) = self.session(request, record, &mut origin)
            && let Some(pipeline) = self.pipeline.as_mut()
        {
            let mut copy = pipeline.clone_egress(of, request.fields);
            copy.set_record(record);
            self.send_clone(now, copy, (request.session, &session), origin);
        }
    }

    /// The session of a clone, and the clone's record; without a session, or beyond limits, the clone counts as made and
    /// dropped.
    fn session(
        &mut self,
        request: CloneRequest,
        record: Option<Box<Record>>,
        origin: &mut Origin,
    ) -> Option<(Arc<CloneSession>, Option<Box<Record>>)> {
        let session = self.replication.session(request.session).cloned();
        let session = session.filter(|session| !session.replicas.is_empty());
        let reason = match session {
            None => DropReason::CloneSession,
            Some(session) if self.may_pass(origin) => return Some((session, record)),
            Some(_) => DropReason::Passes,
        };
        self.statistics.copied += 1;
        self.drop_early(record, *origin, reason);
        None
    }

    fn send_clone(
        &mut self,
        now: Time,
        mut copy: Box<Packet>,
        (number, session): (u16, &CloneSession),
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
        let replicas = (number, &session.replicas[..]);
        self.replicate(now, copy, replicas, schedule, origin);
    }

    /// Queues one copy for each replica of a group; the last is the packet itself.
    fn replicate(
        &mut self,
        now: Time,
        mut packet: Box<Packet>,
        (group, replicas): (u16, &[Replica]),
        schedule: Schedule,
        origin: Origin,
    ) {
        let Some((last, others)) = replicas.split_last() else {
            return;
        };
        for replica in others {
            let record = self.copied(&mut packet, CopyKind::Replica, group);
            let Some(pipeline) = self.pipeline.as_mut().filter(|_| self.budget > 0) else {
                self.drop_early(record, origin, DropReason::Passes);
                continue;
            };
            self.budget -= 1;
            let mut copy = pipeline.duplicate(&packet);
            copy.set_record(record);
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
