//! The packet path: `ingress`, the traffic manager's queue (not here), `egress`, `deparse`.

use crate::machine::{Machine, Unseen};
use crate::native::Native;
use crate::packet::{CloneRequest, Packet};
use crate::pipeline::Pipeline;
use crate::program::{FieldList, WordField};
use crate::record::Record;
use crate::state::tables::Table;
use crate::time::Time;
use crate::trace::Recorder;

/// The decision of ingress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Drop it.
    Drop,
    /// Drop it: loops took more than [`STEPS`](crate::STEPS).
    Exhausted,
    /// Drop it: the port of the program is none that a switch can have.
    UnknownPort,
    /// Queue it for one port.
    Unicast {
        /// `standard_metadata.egress_spec`.
        port: u16,
        /// The user-metadata field `tm.rank`, lower first; `None` if the program has none.
        rank: Option<u64>,
        /// `standard_metadata.priority`, 7 first; 0 if the program's v1model has none.
        priority: u8,
    },
    /// Replicate it to a multicast group.
    Multicast {
        /// `standard_metadata.mcast_grp`.
        group: u16,
        /// As for one port, for every copy.
        rank: Option<u64>,
        /// As for one port, for every copy.
        priority: u8,
    },
}

/// The decision of egress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EgressVerdict {
    /// Drop it.
    Drop,
    /// Drop it: loops took more than [`STEPS`](crate::STEPS).
    Exhausted,
    /// Deparse and send it.
    Transmit,
}

/// A packet after ingress.
#[derive(Debug)]
pub struct Processed {
    /// The packet, to give back with [`Pipeline::recycle`].
    pub packet: Box<Packet>,
    /// Where it goes.
    pub verdict: Verdict,
    /// A copy of the frame as it arrived (see [`Pipeline::clone_ingress`]), for any verdict.
    pub clone: Option<CloneRequest>,
    /// One more ingress (see [`Pipeline::resubmit`]); then the verdict means nothing.
    pub resubmit: Option<FieldList>,
}

/// A packet after egress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Departing {
    /// Whether it leaves.
    pub verdict: EgressVerdict,
    /// A copy of the packet as it is now (see [`Pipeline::clone_egress`]), for any verdict.
    pub clone: Option<CloneRequest>,
    /// Unless dropped, it is deparsed and goes to ingress again (see [`Pipeline::recirculate`]).
    pub recirculate: Option<FieldList>,
}

/// A packet's time in the queue, for egress to see.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueueMetadata {
    /// The port it leaves by.
    pub egress_port: u16,
    /// When it was queued, in nanoseconds.
    pub enq_timestamp_ns: Time,
    /// Packets in the queue when it came.
    pub enq_qdepth: u32,
    /// Packets in the queue when it left.
    pub deq_qdepth: u32,
    /// How long it was queued, in nanoseconds.
    pub deq_timedelta_ns: Time,
}

/// `standard_metadata.instance_type` of a packet for one port.
const NORMAL: u64 = 0;

impl Pipeline {
    /// Parses a frame, verifies its checksums, and applies the ingress control.
    pub fn ingress(&mut self, now: Time, port: u16, frame: &[u8]) -> Processed {
        self.grant_steps();
        let mut packet = self.pooled();
        let (mut machine, tables, native) = self.parts(now);
        match native {
            Some(native) => native.arrive(&mut machine, tables, &mut packet, frame, port),
            None => return self.interpret(now, packet, frame, port),
        }
        self.decide(packet)
    }

    /// As [`Self::ingress`], for a packet that is traced; without a tracer the record gets nothing of
    /// the program.
    pub fn ingress_traced(
        &mut self,
        now: Time,
        port: u16,
        frame: &[u8],
        mut record: Box<Record>,
    ) -> Processed {
        if self.tracer.is_none() {
            let mut processed = self.ingress(now, port, frame);
            processed.packet.set_record(Some(record));
            return processed;
        }
        self.grant_steps();
        let mut packet = self.pooled();
        let mut processed = if let Some(mut path) = self.psa_traced(now, &mut record) {
            path.arrive(packet, port, frame)
        } else {
            if let Some((mut machine, tables)) = self.traced_parts(now, &mut record) {
                machine.arrive(tables, &mut packet, frame, port);
            }
            self.decide(packet)
        };
        processed.packet.set_record(Some(record));
        processed
    }

    fn interpret(
        &mut self,
        now: Time,
        mut packet: Box<Packet>,
        frame: &[u8],
        port: u16,
    ) -> Processed {
        if let Some(mut path) = self.psa(now) {
            return path.arrive(packet, port, frame);
        }
        let (mut machine, tables, _) = self.parts(now);
        machine.arrive(tables, &mut packet, frame, port);
        self.decide(packet)
    }

    /// Parser and ingress, on a packet whose metadata are set.
    pub(crate) fn process(
        &mut self,
        now: Time,
        mut packet: Box<Packet>,
        frame: &[u8],
    ) -> Processed {
        if let Some(mut record) = packet.record.take() {
            match self.traced_parts(now, &mut record) {
                Some((mut machine, tables)) => machine.process(tables, &mut packet, frame),
                None => self.process_unseen(now, &mut packet, frame),
            }
            packet.record = Some(record);
        } else {
            self.process_unseen(now, &mut packet, frame);
        }
        self.decide(packet)
    }

    fn process_unseen(&mut self, now: Time, packet: &mut Packet, frame: &[u8]) {
        let (mut machine, tables, native) = self.parts(now);
        match native {
            Some(native) => native.process(&mut machine, tables, packet, frame),
            None => machine.process(tables, packet, frame),
        }
    }

    /// Where a packet goes that has passed ingress.
    #[inline(always)]
    fn decide(&mut self, mut packet: Box<Packet>) -> Processed {
        let verdict = self.verdict(&mut packet);
        let program = &self.program;
        if let Verdict::Unicast { .. } = verdict {
            packet.set_field(program.standard.instance_type, NORMAL);
        }
        let (mut clone, mut resubmit) = (None, None);
        if let Some(wishes) = &mut packet.wishes {
            clone = wishes.clone.take();
            resubmit = wishes.resubmit.take();
            if let Some(list) = wishes.digest.take() {
                self.state.digests.push(&program.digests, list, &packet);
            }
        }
        Processed {
            packet,
            verdict,
            clone,
            resubmit,
        }
    }

    /// Only parses, for a copy of a frame that ingress has seen.
    pub(crate) fn parse_again(&mut self, now: Time, packet: &mut Packet, frame: &[u8]) {
        // Rare, so it has no code of its own.
        let (mut machine, ..) = self.parts(now);
        let start = machine.program.initial_state;
        let (consumed, _) = machine.parse(packet, frame, start);
        packet.payload.extend_from_slice(&frame[consumed..]);
    }

    /// Rank and priority that the program gave a packet.
    #[must_use]
    pub fn scheduling(&self, packet: &Packet) -> (Option<u64>, u8) {
        let priority = self.program.standard.priority;
        (
            self.program.rank.map(|word| packet.word(word)),
            priority.map_or(0, |field| packet.word(field.word) as u8),
        )
    }

    /// Shaping of the class, unless at rate 0: bucket, rate (bit/s), burst and length (bytes).
    #[must_use]
    pub fn shaping(&self, packet: &Packet) -> Option<(u32, u64, u32, u32)> {
        let [bucket, rate, burst, bytes] = self.program.shaping?.map(|word| packet.word(word));
        (rate != 0).then_some((bucket as u32, rate, burst as u32, bytes as u32))
    }

    /// Whether there is room for it only in place of the one served last, itself included.
    #[must_use]
    pub fn pushes_out(&self, packet: &Packet) -> bool {
        let field = self.program.push_out;
        field.is_some_and(|word| packet.word(word) != 0)
    }

    /// Decides where the packet goes. An exhausted one loses its requests.
    #[inline(always)]
    fn verdict(&self, packet: &mut Packet) -> Verdict {
        if packet.exhausted {
            packet.wishes = None;
            return Verdict::Exhausted;
        }
        let standard = &self.program.standard;
        let read = |field: Option<WordField>| field.map_or(0, |field| packet.word(field.word));
        let group = read(standard.mcast_grp) as u16;
        let (rank, priority) = self.scheduling(packet);
        if group != 0 {
            return Verdict::Multicast {
                group,
                rank,
                priority,
            };
        }
        let port = read(standard.egress_spec) as u16;
        if port == self.options.drop_port {
            return Verdict::Drop;
        }
        Verdict::Unicast {
            port,
            rank,
            priority,
        }
    }

    /// Applies the egress control to a packet that leaves its queue.
    pub fn egress(&mut self, now: Time, packet: &mut Packet, queue: &QueueMetadata) -> Departing {
        if packet.record.is_some() {
            return self.egress_traced(now, packet, queue);
        }
        let (mut machine, tables, native) = self.parts(now);
        match native {
            Some(native) => native.egress(&mut machine, tables, packet, queue),
            None => {
                if let Some(mut path) = self.psa(now) {
                    return path.egress(packet, queue);
                }
                let (mut machine, tables, _) = self.parts(now);
                machine.egress(tables, packet, queue);
            }
        }
        self.decide_departure(packet)
    }

    #[cold]
    #[inline(never)]
    fn egress_traced(
        &mut self,
        now: Time,
        packet: &mut Packet,
        queue: &QueueMetadata,
    ) -> Departing {
        // Without its record it is a packet as any other.
        let mut record = packet.record.take().unwrap_or_default();
        let departing = if self.tracer.is_none() {
            self.egress(now, packet, queue)
        } else if let Some(mut path) = self.psa_traced(now, &mut record) {
            path.egress(packet, queue)
        } else {
            if let Some((mut machine, tables)) = self.traced_parts(now, &mut record) {
                machine.egress(tables, packet, queue);
            }
            self.decide_departure(packet)
        };
        packet.record = Some(record);
        departing
    }

    /// What becomes of a packet that has passed egress.
    #[inline(always)]
    fn decide_departure(&self, packet: &mut Packet) -> Departing {
        let drop_port = self.options.drop_port;
        let standard = &self.program.standard;
        if packet.exhausted {
            packet.wishes = None;
        }
        let verdict = match standard.egress_spec {
            _ if packet.exhausted => EgressVerdict::Exhausted,
            Some(field) if packet.word(field.word) == u64::from(drop_port) => EgressVerdict::Drop,
            _ => EgressVerdict::Transmit,
        };
        let (mut clone, mut recirculate) = (None, None);
        if let Some(wishes) = &mut packet.wishes {
            clone = wishes.clone.take();
            recirculate = wishes.recirculate.take();
        }
        Departing {
            verdict,
            clone,
            recirculate,
        }
    }

    /// Tells a program with the field `tm.dropped` that a packet was dropped instead of queued, or
    /// (`tm.pushed_out`) gave its place to another: egress is applied with these set, so that the
    /// program takes the packet off its accounts. The decision of egress has no effect.
    pub fn dropped(
        &mut self,
        now: Time,
        packet: &mut Packet,
        queue: &QueueMetadata,
        pushed_out: bool,
    ) {
        if let Some(word) = self.program.dropped {
            packet.set_word(word, 1);
            if let Some(word) = self.program.pushed_out {
                packet.set_word(word, u64::from(pushed_out));
            }
            self.egress(now, packet, queue);
        }
    }

    /// Updates checksums and writes the packet into `out`, whose content is replaced.
    pub fn deparse(&mut self, packet: &mut Packet, out: &mut Vec<u8>) {
        if packet.record.is_some() {
            return self.deparse_traced(packet, out);
        }
        let (mut machine, _, native) = self.parts(0);
        match native {
            Some(native) => native.deparse(&mut machine, packet, out),
            // Egress has made the frame the payload.
            None if machine.program.psa.is_some() => {
                out.clear();
                out.extend_from_slice(&packet.payload);
            }
            None => machine.deparse(packet, out),
        }
    }

    #[cold]
    #[inline(never)]
    fn deparse_traced(&mut self, packet: &mut Packet, out: &mut Vec<u8>) {
        let mut record = packet.record.take().unwrap_or_default();
        // A program for PSA was deparsed in egress.
        match self.traced_parts(0, &mut record) {
            Some((mut machine, _)) if machine.program.psa.is_none() => machine.deparse(packet, out),
            _ => self.deparse(packet, out),
        }
        packet.record = Some(record);
    }

    /// What an executor works with, and native code, if there is any.
    #[inline(always)]
    fn parts(&mut self, now: Time) -> (Machine<'_>, &mut [Table], Option<&Native>) {
        let (machine, tables) = Machine::new(
            &self.program,
            &mut self.state,
            &mut self.scratch,
            now,
            self.options.drop_port,
            &mut self.steps,
            Unseen,
        );
        (machine, tables, self.native.as_deref().ok())
    }

    /// What the executor that is seen works with.
    fn traced_parts<'a>(
        &'a mut self,
        now: Time,
        record: &'a mut Record,
    ) -> Option<(Machine<'a, Recorder<'a>>, &'a mut [Table])> {
        let (program, recorder) = self.tracer.as_mut()?.recorder(record);
        Some(Machine::new(
            program,
            &mut self.state,
            &mut self.scratch,
            now,
            self.options.drop_port,
            &mut self.steps,
            recorder,
        ))
    }
}
