//! What a trace says: the steps of one packet, in order, with the names of the program.

use crate::time::Time;

/// Where in the switch a step happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// A port: a frame arrives or departs.
    Port,
    /// A parser.
    Parser,
    /// The checksums that are verified after the parser.
    Verify,
    /// The ingress control.
    Ingress,
    /// The traffic manager.
    Queue,
    /// The egress control.
    Egress,
    /// The checksums that are updated, and the deparser.
    Deparser,
}

impl Part {
    /// The name in traces.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Port => "port",
            Self::Parser => "parser",
            Self::Verify => "verify",
            Self::Ingress => "ingress",
            Self::Queue => "queue",
            Self::Egress => "egress",
            Self::Deparser => "deparser",
        }
    }
}

/// A place in the P4 sources, as far as the artifact tells it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Source {
    /// The file, as the compiler was given it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; 0 if unknown.
    pub column: u32,
    /// The beginning of the statement.
    pub fragment: String,
}

/// A number of `bits` bits: words of 64, least significant first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Value<'a> {
    /// Its width; 0 where the program has no width for it.
    pub bits: u32,
    /// Its words.
    pub words: &'a [u64],
}

/// A name with its value: a field, a key, a parameter of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Named<'a> {
    /// The name in the artifact.
    pub name: &'a str,
    /// The value.
    pub value: Value<'a>,
}

/// How an entry matches one field of the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matched<'a> {
    /// This value.
    Exact(Value<'a>),
    /// The first bits of this value.
    Prefix(Value<'a>, u32),
    /// This value under this mask.
    Ternary(Value<'a>, Value<'a>),
    /// From the first to the second, both included.
    Range(Value<'a>, Value<'a>),
}

/// An entry of a table that matches the packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EntryStep<'a> {
    /// Its number in the table, which stays as long as the entry is there.
    pub number: u32,
    /// Its priority, the larger wins; `None` in a table without priorities.
    pub priority: Option<i32>,
    /// One for each field of the key.
    pub matches: Vec<Matched<'a>>,
    /// The action that it would take; `None` if a member of an action profile says so.
    pub action: Option<&'a str>,
    /// The action's parameters.
    pub parameters: Vec<Named<'a>>,
}

/// A table that is applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableStep<'a> {
    /// Its name.
    pub name: &'a str,
    /// The key, field by field.
    pub key: Vec<Named<'a>>,
    /// Entries of the table in all.
    pub entries: u32,
    /// The entry that won; `None` is a miss.
    pub hit: Option<EntryStep<'a>>,
    /// The first of the other entries that match, the one that would have won next first: what a
    /// lower priority or a shorter prefix has left out.
    pub others: Vec<EntryStep<'a>>,
    /// How many more of these there are.
    pub others_left: u32,
    /// The member of the action profile, if the entry leads to one.
    pub member: Option<u32>,
    /// The action that is taken; `None` on a miss without a default action.
    pub action: Option<&'a str>,
    /// Its parameters.
    pub parameters: Vec<Named<'a>>,
    /// The direct counter: packets and bytes before and after.
    pub counter: Option<[(u64, u64); 2]>,
    /// The direct meter's name and what it did.
    pub meter: Option<MeterStep<'a>>,
}

/// A meter that a packet passes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MeterStep<'a> {
    /// Its name.
    pub name: &'a str,
    /// The cell; 0 of a direct one.
    pub index: u64,
    /// Green 0, yellow 1, red 2.
    pub colour: u64,
    /// Tokens (bytes, or packets) of the committed bucket before and after; `None` while it has no rates.
    pub committed: Option<[u64; 2]>,
    /// The same of the peak or excess bucket.
    pub second: Option<[u64; 2]>,
}

/// A packet that waits, or was served, before another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ahead {
    /// The number of its trace; 0 if it has none.
    pub trace: u64,
    /// Its rank; `None` in queues by priority.
    pub rank: Option<u64>,
    /// Its queue by priority; 0 of a port with ranks.
    pub queue: u8,
    /// Its length in bytes.
    pub length: u32,
    /// The port where it came in.
    pub ingress_port: u16,
    /// When it was queued, in nanoseconds.
    pub since: Time,
}

/// What makes a packet of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyKind {
    /// A clone of the frame that came in.
    CloneIngress,
    /// A clone of the packet after egress.
    CloneEgress,
    /// A replica of a multicast group, or of a clone session.
    Replica,
    /// The same packet, once more through ingress as it came in.
    Resubmit,
    /// The same packet, once more through ingress as it would have left.
    Recirculate,
}

impl CopyKind {
    /// The name in traces.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::CloneIngress => "clone_ingress",
            Self::CloneEgress => "clone_egress",
            Self::Replica => "replica",
            Self::Resubmit => "resubmit",
            Self::Recirculate => "recirculate",
        }
    }
}

/// What happens to a packet outside of its program: the switch notes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Happening {
    /// A frame arrives.
    Arrived {
        /// Where.
        port: u16,
        /// A controller sent it.
        from_controller: bool,
        /// Bytes of the frame.
        length: u32,
        /// Its first bytes, as many as are kept.
        bytes: Vec<u8>,
    },
    /// It waits in a queue.
    Enqueued {
        /// The port.
        port: u16,
        /// Its rank; `None` in queues by priority.
        rank: Option<u64>,
        /// Its queue by priority; 0 with ranks.
        queue: u8,
        /// Packets in the queue before it came.
        depth: u32,
        /// Packets that leave before it, if no other comes: its place in the queue.
        ahead: u32,
        /// Their bytes.
        ahead_bytes: u64,
        /// The first of them, the next to leave first.
        behind: Vec<Ahead>,
    },
    /// It leaves the queue.
    Dequeued {
        /// The port.
        port: u16,
        /// How long it waited.
        waited_ns: Time,
        /// Packets that were served while it waited.
        served: u32,
        /// Their bytes.
        served_bytes: u64,
        /// The last of them, the latest last.
        behind: Vec<Ahead>,
        /// Packets in the queue after it left.
        depth: u32,
    },
    /// The line begins to send it.
    Sending {
        /// The port.
        port: u16,
        /// Bytes of the frame.
        length: u32,
        /// When the last bit is sent, in nanoseconds.
        ends: Time,
    },
    /// It has left by a port, or to a controller.
    Departed {
        /// The port.
        port: u16,
        /// It went to controllers.
        to_controller: bool,
        /// Bytes of the frame.
        length: u32,
        /// Its first bytes, as many as are kept.
        bytes: Vec<u8>,
    },
    /// It is dropped.
    Dropped {
        /// The reason, a name of the switch's statistics.
        reason: &'static str,
        /// The port that counts it.
        port: Option<u16>,
    },
    /// It was copied, or passes once more.
    Copied {
        /// How.
        kind: CopyKind,
        /// The number of the copy's trace; this trace's own if it goes on itself.
        trace: u64,
        /// The clone session or multicast group; 0 of others.
        group: u16,
    },
}

impl Happening {
    /// Where in the switch it happens.
    #[must_use]
    pub fn part(&self) -> Part {
        match self {
            Self::Arrived { .. } | Self::Sending { .. } | Self::Departed { .. } => Part::Port,
            Self::Enqueued { .. } | Self::Dequeued { .. } => Part::Queue,
            Self::Dropped { reason, .. } => match *reason {
                "ingress" => Part::Ingress,
                "egress" => Part::Egress,
                "no_pipeline" | "unknown_port" | "cpu_buffer" => Part::Port,
                _ => Part::Queue,
            },
            Self::Copied { kind, .. } => match kind {
                CopyKind::CloneIngress | CopyKind::Resubmit => Part::Ingress,
                CopyKind::CloneEgress | CopyKind::Recirculate => Part::Egress,
                CopyKind::Replica => Part::Queue,
            },
        }
    }
}

/// What a step does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum What<'a> {
    /// Something outside of the program.
    Happened(&'a Happening),
    /// A parser enters a state.
    State {
        /// Its name.
        name: &'a str,
    },
    /// A header is extracted.
    Extract {
        /// Its name.
        header: &'a str,
        /// Where it begins in the frame, in bytes.
        offset: u32,
        /// Its bytes.
        length: u32,
        /// Its fields.
        fields: Vec<Named<'a>>,
    },
    /// A parser goes on, or ends.
    Select {
        /// The values that decide; none where there is no choice.
        keys: Vec<Value<'a>>,
        /// The next state; `accept` and `reject` end.
        next: &'a str,
    },
    /// The parser ends with an error.
    ParserError {
        /// The error's name.
        error: &'a str,
    },
    /// A checksum is verified, or updated.
    Checksum {
        /// Its field.
        field: &'a str,
        /// What was computed.
        computed: Value<'a>,
        /// What was there before.
        carried: Value<'a>,
    },
    /// A condition decides.
    Condition {
        /// Its name in the artifact.
        name: &'a str,
        /// How it ends.
        holds: bool,
    },
    /// A table is applied.
    Table(Box<TableStep<'a>>),
    /// An action is called without a table.
    Call {
        /// The action.
        action: &'a str,
    },
    /// A statement begins, whose effects are the steps after it.
    Statement {
        /// The primitive's name in the artifact.
        primitive: &'a str,
    },
    /// A field has a new value.
    Assign {
        /// The field.
        field: &'a str,
        /// Its value now.
        value: Value<'a>,
    },
    /// A header becomes valid or invalid, or has the fields of another: all of its fields now.
    Header {
        /// The header.
        name: &'a str,
        /// Whether it is valid now.
        valid: bool,
        /// Its fields, if it is valid.
        fields: Vec<Named<'a>>,
    },
    /// A register is read or written.
    Register {
        /// Its name.
        name: &'a str,
        /// The cell.
        index: u64,
        /// What was there.
        before: Value<'a>,
        /// What is there now.
        after: Value<'a>,
        /// It is written.
        written: bool,
    },
    /// A counter counts.
    Counter {
        /// Its name.
        name: &'a str,
        /// The cell.
        index: u64,
        /// Packets and bytes before and after; `None` beyond its end.
        counts: Option<[(u64, u64); 2]>,
    },
    /// A meter colours.
    Meter(MeterStep<'a>),
    /// An extern gives a result: a hash, a random number, a checksum of its own.
    Extern {
        /// What it is: `hash`, `random`, `sum`.
        name: &'a str,
        /// The result.
        result: Value<'a>,
    },
    /// A request to the switch: clone, resubmit, recirculate, digest, truncate, drop, log.
    Request {
        /// What is asked for.
        name: &'a str,
        /// The clone session, the bytes left by truncate, the number of the digest; 0 of others.
        number: u64,
    },
    /// A header is written to the frame.
    Emit {
        /// The header.
        header: &'a str,
        /// Where it begins, in bytes.
        offset: u32,
        /// Its bytes.
        length: u32,
    },
}

/// One step of a packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step<'a> {
    /// When, in nanoseconds of the switch's clock.
    pub time: Time,
    /// Where in the switch.
    pub part: Part,
    /// Where in the sources, if the artifact says it.
    pub source: Option<&'a Source>,
    /// What.
    pub what: What<'a>,
}
