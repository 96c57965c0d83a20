//! The packet path: `ingress`, then the traffic manager's queue (not here), then `egress`, then `deparse`.

use std::collections::HashMap;

use crate::digest::Digests;
use crate::error::LoadError;
use crate::execute::{Machine, set_field as set};
use crate::externs::Externs;
use crate::load;
use crate::packet::{CloneRequest, FieldList, Packet, Wishes};
use crate::program::{Program, Store};
use crate::tables::Table;

/// Nanoseconds since the start of the run.
pub type Time = u64;

/// What the target decides when a program is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Seed of the program's random numbers.
    pub seed: u64,
    /// The egress port that means drop (511 in bmv2).
    pub drop_port: u16,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            seed: 1,
            drop_port: 511,
        }
    }
}

/// What ingress decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Drop it.
    Drop,
    /// Drop it: the program's loops took more than [`STEPS`].
    Exhausted,
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
        /// As for one port; every copy has it.
        rank: Option<u64>,
        /// As for one port; every copy has it.
        priority: u8,
    },
}

/// What egress decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EgressVerdict {
    /// Drop it.
    Drop,
    /// Drop it: the program's loops took more than [`STEPS`].
    Exhausted,
    /// Deparse and send it.
    Transmit,
}

/// A packet after ingress.
#[derive(Debug)]
pub struct Processed {
    /// The packet; whatever the verdict, give it back sooner or later.
    pub packet: Box<Packet>,
    /// Where it goes.
    pub verdict: Verdict,
    /// A copy of the frame as it arrived is wanted (see [`Pipeline::clone_ingress`]), whatever the verdict.
    pub clone: Option<CloneRequest>,
    /// It goes through ingress once more (see [`Pipeline::resubmit`]); then the verdict means nothing.
    pub resubmit: Option<FieldList>,
}

/// A packet after egress.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Departing {
    /// Whether it leaves.
    pub verdict: EgressVerdict,
    /// A copy of the packet as it is now is wanted (see [`Pipeline::clone_egress`]), whatever the verdict.
    pub clone: Option<CloneRequest>,
    /// Unless it is dropped, it is deparsed and goes to ingress again (see [`Pipeline::recirculate`]).
    pub recirculate: Option<FieldList>,
}

/// What happened to a packet in the queue, for egress to see.
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

/// A loaded program with its entries and state.
#[derive(Debug)]
pub struct Pipeline {
    program: Program,
    pub(crate) tables: Vec<Table>,
    pub(crate) externs: Externs,
    pub(crate) table_names: HashMap<String, u32>,
    options: Options,
    /// Boxed, for a packet goes through many hands.
    #[expect(clippy::vec_box)]
    pool: Vec<Box<Packet>>,
    scratch: Vec<u8>,
    pub(crate) digests: Digests,
    /// Steps that loops may still take.
    steps: u32,
}

/// Steps that the loops of a program may take for one arrival with all its passes and copies: about as many instructions.
pub const STEPS: u32 = 1 << 20;

/// `standard_metadata.instance_type` of a packet for one port.
const NORMAL: u64 = 0;

/// Packets kept for reuse; more than a full buffer of a port.
const POOL: usize = 4096;

impl Pipeline {
    /// Loads the bmv2 JSON that p4c-bm2-ss makes of a v1model program.
    ///
    /// # Errors
    ///
    /// The first construct that is malformed or not supported, with its place in the artifact.
    pub fn load(json: &str, options: Options) -> Result<Self, LoadError> {
        let load::Loaded {
            program,
            tables,
            externs,
        } = load::load(json, options.seed)?;
        let named = tables
            .iter()
            .enumerate()
            .map(|(number, table)| (table.shape.name.clone(), number as u32));
        let table_names = named.collect();
        Ok(Self {
            program,
            tables,
            externs,
            table_names,
            options,
            pool: Vec::new(),
            scratch: Vec::new(),
            digests: Digests::default(),
            steps: STEPS,
        })
    }

    pub(crate) fn program(&self) -> &Program {
        &self.program
    }

    pub(crate) fn program_mut(&mut self) -> &mut Program {
        &mut self.program
    }

    /// Parses a frame, verifies its checksums, and applies the ingress control.
    pub fn ingress(&mut self, now: Time, port: u16, frame: &[u8]) -> Processed {
        self.grant_steps();
        let mut packet = self.fresh(frame);
        let standard = &self.program.standard;
        set(&mut packet, standard.ingress_port, port.into());
        set(&mut packet, standard.packet_length, frame.len() as u64);
        set(&mut packet, standard.ingress_global_timestamp, now / 1000);
        self.process(now, packet, frame)
    }

    /// Gives loops all their [`STEPS`] again: to be called where packets go on for another reason than an arrival.
    pub fn grant_steps(&mut self) {
        self.steps = STEPS;
    }

    /// A packet with nothing but its length.
    pub(crate) fn fresh(&mut self, frame: &[u8]) -> Box<Packet> {
        let mut packet = self.pooled();
        let (words, bytes) = (self.program.words, self.program.bytes);
        packet.reset(words as usize, bytes as usize, frame.len());
        packet
    }

    /// Memory of a packet that is gone, with whatever is in it.
    pub(crate) fn pooled(&mut self) -> Box<Packet> {
        self.pool.pop().unwrap_or_default()
    }

    /// Parser and ingress, on a packet whose metadata are set.
    pub(crate) fn process(
        &mut self,
        now: Time,
        mut packet: Box<Packet>,
        frame: &[u8],
    ) -> Processed {
        let (mut machine, tables) = machine(
            &self.program,
            &mut self.tables,
            &mut self.externs,
            &mut self.scratch,
            now,
            self.options.drop_port,
            &mut self.steps,
        );
        let program = machine.program;
        let standard = &program.standard;
        let parsed = machine.parse(&mut packet, frame);
        packet.payload.extend_from_slice(&frame[parsed.consumed..]);
        if let Some(error) = parsed.error {
            set(&mut packet, standard.parser_error, error);
        }
        if !machine.verify_checksums(&mut packet) {
            set(&mut packet, standard.checksum_error, 1);
        }

        machine.apply(tables, &mut packet, program.ingress);
        let verdict = self.verdict(&mut packet);
        let program = &self.program;
        if let Verdict::Unicast { .. } = verdict {
            set(&mut packet, program.standard.instance_type, NORMAL);
        }
        if let Some(list) = packet.wishes.digest.take() {
            self.digests.push(&program.digests, list, &packet);
        }
        let clone = packet.wishes.clone.take();
        let resubmit = packet.wishes.resubmit.take();
        Processed {
            packet,
            verdict,
            clone,
            resubmit,
        }
    }

    /// Parses only; for a copy of a frame that ingress has seen.
    pub(crate) fn parse_again(&mut self, now: Time, packet: &mut Packet, frame: &[u8]) {
        let (mut machine, _) = machine(
            &self.program,
            &mut self.tables,
            &mut self.externs,
            &mut self.scratch,
            now,
            self.options.drop_port,
            &mut self.steps,
        );
        let parsed = machine.parse(packet, frame);
        packet.payload.extend_from_slice(&frame[parsed.consumed..]);
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

    /// How the program shapes the packet's class: number of the bucket, rate in bit/s, burst and length in bytes. At rate 0
    /// it does not.
    #[must_use]
    pub fn shaping(&self, packet: &Packet) -> Option<(u32, u64, u32, u32)> {
        let [bucket, rate, burst, bytes] = self.program.shaping?.map(|word| packet.word(word));
        (rate != 0).then_some((bucket as u32, rate, burst as u32, bytes as u32))
    }

    /// Whether the program takes the packet only in the place of the one that would be served last, itself included.
    #[must_use]
    pub fn pushes_out(&self, packet: &Packet) -> bool {
        let field = self.program.push_out;
        field.is_some_and(|word| packet.word(word) != 0)
    }

    /// Where the packet goes. One that is exhausted has no wishes.
    fn verdict(&self, packet: &mut Packet) -> Verdict {
        if packet.exhausted {
            packet.wishes = Wishes::default();
            return Verdict::Exhausted;
        }
        let standard = &self.program.standard;
        let read = |field: Option<Store>| field.map_or(0, |field| packet.word(field.word));
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
        let drop_port = self.options.drop_port;
        let (mut machine, tables) = machine(
            &self.program,
            &mut self.tables,
            &mut self.externs,
            &mut self.scratch,
            now,
            drop_port,
            &mut self.steps,
        );
        let program = machine.program;
        let standard = &program.standard;
        set(packet, standard.egress_port, queue.egress_port.into());
        set(
            packet,
            standard.enq_timestamp,
            queue.enq_timestamp_ns / 1000,
        );
        set(packet, standard.enq_qdepth, queue.enq_qdepth.into());
        set(
            packet,
            standard.deq_timedelta,
            queue.deq_timedelta_ns / 1000,
        );
        set(packet, standard.deq_qdepth, queue.deq_qdepth.into());
        set(packet, standard.egress_global_timestamp, now / 1000);
        set(packet, standard.packet_length, packet.current_length.into());
        // Any other value than the drop port: what ingress left there means nothing in egress.
        set(packet, standard.egress_spec, u64::from(drop_port) + 1);
        machine.apply(tables, packet, program.egress);
        if packet.exhausted {
            packet.wishes = Wishes::default();
        }
        let verdict = match standard.egress_spec {
            _ if packet.exhausted => EgressVerdict::Exhausted,
            Some(field) if packet.word(field.word) == u64::from(drop_port) => EgressVerdict::Drop,
            _ => EgressVerdict::Transmit,
        };
        Departing {
            verdict,
            clone: packet.wishes.clone.take(),
            recirculate: packet.wishes.recirculate.take(),
        }
    }

    /// Tells the program that a packet was dropped instead of queued, if it has the field `tm.dropped`: applies the egress
    /// control once with that set, so that what ingress has counted as queued is taken off again. What egress decides and
    /// asks for means nothing. `tm.pushed_out` says whether it had been queued and another has taken its place.
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
        let (mut machine, _) = machine(
            &self.program,
            &mut self.tables,
            &mut self.externs,
            &mut self.scratch,
            0,
            self.options.drop_port,
            &mut self.steps,
        );
        machine.deparse(packet, out);
    }

    /// Takes back a packet that is sent or dropped, to reuse its memory.
    pub fn recycle(&mut self, packet: Box<Packet>) {
        if self.pool.len() < POOL {
            self.pool.push(packet);
        }
    }

    /// `assert` and `assume` statements of the program that did not hold, since it was loaded or cleared.
    #[must_use]
    pub fn failed_assertions(&self) -> u64 {
        self.externs.failed_assertions
    }
}

fn machine<'a>(
    program: &'a Program,
    tables: &'a mut [Table],
    externs: &'a mut Externs,
    scratch: &'a mut Vec<u8>,
    now: Time,
    drop_port: u16,
    steps: &'a mut u32,
) -> (Machine<'a>, &'a mut [Table]) {
    (
        Machine {
            program,
            externs,
            scratch,
            now,
            drop_port,
            steps,
        },
        tables,
    )
}
