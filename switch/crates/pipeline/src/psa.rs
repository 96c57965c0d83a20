//! The path of packets through a program of the Portable Switch Architecture (PSA, version 1.2).
//!
//! Ingress ends with a frame: its deparser writes headers before the payload, and what waits in a
//! queue is that frame with the metadata. Egress parses it again. Headers and payload of a packet
//! are therefore its `payload` between the halves, and after egress.

use crate::machine::{Machine, Observe, Unseen};
use crate::packet::{CloneRequest, Packet};
use crate::path::{Departing, EgressVerdict, Processed, QueueMetadata, Verdict};
use crate::pipeline::Pipeline;
use crate::program::{Address, Deparser, FieldList, Program, Psa, WordField};
use crate::record::{Part, Record};
use crate::state::State;
use crate::state::tables::Table;
use crate::time::Time;
use crate::trace::Recorder;

/// `PSA_PacketPath_t`.
const NORMAL: u64 = 0;
const NORMAL_UNICAST: u64 = 1;
pub(crate) const NORMAL_MULTICAST: u64 = 2;
const CLONE_I2E: u64 = 3;
const CLONE_E2E: u64 = 4;
const RESUBMIT: u64 = 5;
const RECIRCULATE: u64 = 6;

/// `PSA_PORT_RECIRCULATE` and `PSA_PORT_CPU`, as the program sees them.
const PORT_RECIRCULATE: u32 = 0xffff_fffa;
const PORT_CPU: u32 = 0xffff_fffd;

/// The port of a switch that stands for `PSA_PORT_RECIRCULATE`: its lower 16 bits.
pub const RECIRCULATE_PORT: u16 = 0xfffa;

/// A program for PSA with what its packets need.
pub(crate) struct PsaPath<'a, O = Unseen> {
    program: &'a Program,
    psa: &'a Psa,
    state: &'a mut State,
    scratch: &'a mut Vec<u8>,
    /// A frame's memory, exchanged with that of a packet.
    spare: &'a mut Vec<u8>,
    steps: &'a mut u32,
    ports: PsaPorts,
    now: Time,
    observer: O,
}

impl Pipeline {
    /// The path of the program, if it is one for PSA.
    pub(crate) fn psa(&mut self, now: Time) -> Option<PsaPath<'_>> {
        let ports = self.psa_ports()?;
        Some(PsaPath {
            psa: self.program.psa.as_ref()?,
            program: &self.program,
            state: &mut self.state,
            scratch: &mut self.scratch,
            spare: &mut self.spare,
            steps: &mut self.steps,
            ports,
            now,
            observer: Unseen,
        })
    }

    /// The same for a packet that is traced.
    pub(crate) fn psa_traced<'a>(
        &'a mut self,
        now: Time,
        record: &'a mut Record,
    ) -> Option<PsaPath<'a, Recorder<'a>>> {
        let ports = self.psa_ports()?;
        let (program, observer) = self.tracer.as_mut()?.recorder(record);
        Some(PsaPath {
            psa: program.psa.as_ref()?,
            program,
            state: &mut self.state,
            scratch: &mut self.scratch,
            spare: &mut self.spare,
            steps: &mut self.steps,
            ports,
            now,
            observer,
        })
    }

    /// Whether the program is one for PSA.
    #[must_use]
    pub fn is_psa(&self) -> bool {
        self.program.psa.is_some()
    }

    /// Whether p4c-bm2-psa or p4c-bm2-pna has made the artifact: the architectures have the same names for what tables have.
    #[must_use]
    pub fn is_portable(&self) -> bool {
        self.is_psa() || self.program.is_pna
    }

    /// Ingress once more: of the frame that arrived as `of`, or of one that egress recirculates.
    pub(crate) fn psa_again(
        &mut self,
        now: Time,
        frame: &[u8],
        of: &mut Packet,
        resubmitted: bool,
    ) -> Option<Processed> {
        let before = self.program.psa.as_ref()?.fields.ingress_parser_port;
        let (port, path) = match resubmitted {
            true => (of.word(before.word), RESUBMIT),
            false => (PORT_RECIRCULATE.into(), RECIRCULATE),
        };
        let packet = self.fresh(frame);
        let mut record = of.record.take();
        let traced = record.as_deref_mut().filter(|_| self.tracer.is_some());
        let mut processed = match traced {
            Some(record) => self
                .psa_traced(now, record)?
                .ingress(packet, frame, port, path),
            None => self.psa(now)?.ingress(packet, frame, port, path),
        };
        processed.packet.record = record;
        Some(processed)
    }

    /// A clone of a frame as it arrived, to be queued for egress.
    pub(crate) fn psa_clone_ingress(&mut self, frame: &[u8]) -> Box<Packet> {
        let mut packet = self.fresh(frame);
        packet.payload.extend_from_slice(frame);
        packet.set_field(self.program.standard.instance_type, CLONE_I2E);
        packet
    }

    /// A clone of a packet after egress, to be queued for egress.
    pub(crate) fn psa_clone_egress(&mut self, of: &Packet) -> Box<Packet> {
        let mut packet = self.fresh(&of.payload);
        packet.payload.extend_from_slice(&of.payload);
        packet.received_length = of.received_length;
        packet.set_field(self.program.standard.instance_type, CLONE_E2E);
        packet
    }

    /// Tells egress of a program for PSA the class of service of a clone.
    pub fn set_class_of_service(&self, packet: &mut Packet, class: u8) {
        if let Some(psa) = &self.program.psa {
            set(packet, psa.fields.egress_class, class.into());
        }
    }

    /// The ports of PSA, if the program is one for it.
    #[must_use]
    pub fn psa_ports(&self) -> Option<PsaPorts> {
        self.is_psa().then(|| PsaPorts::new(self.options.cpu_port))
    }
}

impl<O: Observe> PsaPath<'_, O> {
    /// Ingress of a frame from a port.
    #[cold]
    pub(crate) fn arrive(&mut self, mut packet: Box<Packet>, port: u16, frame: &[u8]) -> Processed {
        let (words, bytes) = (self.program.words as usize, self.program.bytes as usize);
        packet.reset(words, bytes, frame.len());
        let port = self.ports.of_program(port).into();
        self.ingress(packet, frame, port, NORMAL)
    }

    fn ingress(
        &mut self,
        mut packet: Box<Packet>,
        frame: &[u8],
        port: u64,
        path: u64,
    ) -> Processed {
        let (program, fields) = (self.program, &self.psa.fields);
        set(&mut packet, fields.ingress_parser_port, port);
        set(&mut packet, fields.ingress_parser_path, path);
        set(&mut packet, fields.ingress_timestamp, self.now / 1000);
        let error = self.parse(&mut packet, frame, program.initial_state);
        set(&mut packet, fields.ingress_port, port);
        set(&mut packet, fields.ingress_path, path);
        set(&mut packet, fields.ingress_error, error);
        set(&mut packet, fields.ingress_drop, 1);
        let mut processed = Processed {
            verdict: Verdict::Drop,
            clone: None,
            resubmit: None,
            packet,
        };
        self.observer.part(Part::Ingress, self.now);
        if !self.apply(&mut processed.packet, program.ingress) {
            processed.verdict = Verdict::Exhausted;
            return processed;
        }
        let packet = &mut processed.packet;
        let read = |field: WordField| packet.word(field.word);
        processed.clone = clone_request(read(fields.ingress_clone), read(fields.ingress_session));
        if read(fields.ingress_drop) != 0 {
            return processed;
        }
        if read(fields.resubmit) != 0 {
            processed.resubmit = Some(NO_FIELDS);
            return processed;
        }
        processed.verdict = self.verdict(packet);
        if processed.verdict != Verdict::UnknownPort {
            let class = packet.word(fields.class_of_service.word);
            set(packet, fields.egress_class, class);
            set(packet, fields.egress_parser_path, NORMAL_UNICAST);
            set(packet, fields.instance, 0);
            self.deparse(packet, &self.psa.ingress_deparser);
        }
        processed
    }

    fn verdict(&self, packet: &Packet) -> Verdict {
        let fields = &self.psa.fields;
        let rank = self.program.rank.map(|word| packet.word(word));
        let priority = packet.word(fields.class_of_service.word) as u8;
        let group = packet.word(fields.multicast_group.word);
        if group != 0 {
            return Verdict::Multicast {
                // No group has the number that stands for those that are too large.
                group: u16::try_from(group).unwrap_or(0),
                rank,
                priority,
            };
        }
        match self
            .ports
            .of_switch(packet.word(fields.out_port.word) as u32)
        {
            Some(port) => Verdict::Unicast {
                port,
                rank,
                priority,
            },
            None => Verdict::UnknownPort,
        }
    }

    /// Egress of a packet that leaves its queue. It is deparsed at once, so that a clone of it is a
    /// copy of the frame that leaves.
    #[cold]
    pub(crate) fn egress(&mut self, packet: &mut Packet, queue: &QueueMetadata) -> Departing {
        let (program, fields) = (self.program, &self.psa.fields);
        let number = self.ports.of_program(queue.egress_port);
        let port = number.into();
        // What a clone session cuts off, egress doesn't see.
        if let Some(limit) = packet.truncate_to.take() {
            let limit = usize::try_from(limit).unwrap_or(usize::MAX);
            packet.payload.truncate(limit);
        }
        // The metadata stay.
        let headers = program.metadata_words as usize..program.words as usize;
        packet.words[headers].fill(0);
        set(packet, fields.egress_parser_port, port);
        set(packet, fields.egress_timestamp, self.now / 1000);
        let mut frame = std::mem::take(self.spare);
        std::mem::swap(&mut frame, &mut packet.payload);
        packet.payload.clear();
        let error = self.parse(packet, &frame, self.psa.egress_state);
        *self.spare = frame;
        let path = packet.word(fields.egress_parser_path.word);
        set(packet, fields.egress_port, port);
        set(packet, fields.egress_path, path);
        set(packet, fields.egress_error, error);
        set(packet, fields.egress_clone, 0);
        set(packet, fields.egress_drop, 0);
        set(packet, fields.deparser_port, port);
        let mut departing = Departing {
            verdict: EgressVerdict::Exhausted,
            clone: None,
            recirculate: None,
        };
        self.observer.part(Part::Egress, self.now);
        if !self.apply(packet, program.egress) {
            return departing;
        }
        let read = |field: WordField| packet.word(field.word);
        departing.clone = clone_request(read(fields.egress_clone), read(fields.egress_session));
        departing.verdict = if read(fields.egress_drop) != 0 {
            EgressVerdict::Drop
        } else {
            EgressVerdict::Transmit
        };
        departing.recirculate = (number == PORT_RECIRCULATE).then_some(NO_FIELDS);
        self.deparse(packet, &program.deparser);
        departing
    }

    fn machine(&mut self) -> (Machine<'_, O::Short<'_>>, &mut [Table]) {
        // No port means drop.
        let drop_port = 0;
        Machine::new(
            self.program,
            self.state,
            self.scratch,
            self.now,
            drop_port,
            self.steps,
            self.observer.lend(),
        )
    }

    /// Parses a frame from a state on; the number of the error, 0 if there is none.
    fn parse(&mut self, packet: &mut Packet, frame: &[u8], start: u32) -> u64 {
        let now = self.now;
        let (mut machine, _) = self.machine();
        machine.observer.part(Part::Parser, now);
        let (consumed, error) = machine.parse(packet, frame, start);
        packet.payload.extend_from_slice(&frame[consumed..]);
        drop(machine);
        error.unwrap_or(self.program.errors.no_error)
    }

    /// Applies a control, and sends its digests; false if its loops took too many steps.
    fn apply(&mut self, packet: &mut Packet, control: Address) -> bool {
        let (mut machine, tables) = self.machine();
        machine.apply(tables, packet, control);
        drop(machine);
        let wishes = packet.wishes.take();
        if packet.exhausted {
            return false;
        }
        let mut waiting = wishes.map_or(0, |wishes| wishes.digests);
        while waiting != 0 {
            let list = waiting.trailing_zeros();
            self.state.digests.push(&self.program.digests, list, packet);
            waiting &= waiting - 1;
        }
        true
    }

    /// Makes the frame of headers and payload the payload.
    fn deparse(&mut self, packet: &mut Packet, deparser: &Deparser) {
        let mut frame = std::mem::take(self.spare);
        frame.clear();
        self.observer.part(Part::Deparser, self.now);
        self.machine().0.emit(deparser, packet, &mut frame);
        frame.extend_from_slice(&packet.payload);
        std::mem::swap(&mut frame, &mut packet.payload);
        packet.current_length = u32::try_from(packet.payload.len()).unwrap_or(u32::MAX);
        *self.spare = frame;
    }
}

/// Ports of PSA, which have 32 bits, and those of the switch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PsaPorts {
    cpu: Option<u16>,
}

impl PsaPorts {
    /// Those of a switch with this port for controllers.
    #[must_use]
    pub fn new(cpu: Option<u16>) -> Self {
        Self { cpu }
    }

    /// A port of the switch as the program sees it.
    #[must_use]
    pub fn of_program(self, port: u16) -> u32 {
        match port {
            RECIRCULATE_PORT => PORT_RECIRCULATE,
            port if Some(port) == self.cpu => PORT_CPU,
            port => port.into(),
        }
    }

    /// The port of the switch that the program means; none for what no port of a switch can be.
    #[must_use]
    pub fn of_switch(self, port: u32) -> Option<u16> {
        match port {
            PORT_RECIRCULATE => Some(RECIRCULATE_PORT),
            PORT_CPU => self.cpu,
            port => u16::try_from(port)
                .ok()
                .filter(|port| *port != RECIRCULATE_PORT),
        }
    }
}

/// Copies keep no metadata.
const NO_FIELDS: FieldList = FieldList(0);

fn clone_request(clone: u64, session: u64) -> Option<CloneRequest> {
    (clone != 0).then_some(CloneRequest {
        session: session as u16,
        fields: NO_FIELDS,
    })
}

fn set(packet: &mut Packet, field: WordField, value: u64) {
    packet.set_field(Some(field), value);
}
