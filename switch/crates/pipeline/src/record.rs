//! The record of a packet that is traced: numbers, written while it passes the switch. What they mean
//! is known to `trace`.

use std::sync::Arc;

use crate::program::Dictionary;
use crate::time::Time;

/// What may happen outside of the program before steps are left out: a packet may be copied 16,384 times.
pub const HAPPENINGS: usize = 1024;

/// What the switch that carries a record keeps with it; the program does not look at it.
#[derive(Debug, Clone, Default)]
pub struct Carried {
    /// Who wants it, a bit for each.
    pub watchers: u64,
    /// The names of the program that writes it.
    pub dictionary: Option<Arc<Dictionary>>,
    /// Bytes that are counted for it while the packet waits.
    pub charged: usize,
    /// Packets that had left the port's queues when it was queued, and their bytes.
    pub served: (u64, u64),
}

/// What happened to one packet so far. It goes with the packet, and to its copies as a new one.
#[derive(Debug, Clone, Default)]
pub struct Record {
    /// Its number: from 1, in the order of arrivals and copies of a switch.
    pub number: u64,
    /// The number of the trace whose packet this one is a copy of; 0 if it arrived.
    pub of: u64,
    /// What the switch keeps with it.
    pub carried: Carried,
    /// What happened outside of the program, each with the number of words written before it.
    pub(crate) happened: Vec<(usize, Time, Happening)>,
    /// What happened inside.
    pub(crate) words: Vec<u64>,
    /// Steps that found no room.
    pub(crate) left_out: u32,
    /// Bytes of the first frame that the parser took, once it has ended.
    pub(crate) parsed: Option<u32>,
    /// Bytes that the deparser last wrote as headers.
    pub(crate) emitted: Option<u32>,
}

impl Record {
    /// An empty record.
    #[must_use]
    pub fn new(number: u64, of: u64) -> Self {
        Self {
            number,
            of,
            ..Self::default()
        }
    }

    /// Notes what happens outside of the program, at `time` (ns). Of more than [`HAPPENINGS`] the
    /// packet's end is noted all the same. Tells whether it is noted.
    pub fn note(&mut self, time: Time, happening: Happening) -> bool {
        let ends = matches!(
            happening,
            Happening::Departed { .. } | Happening::Dropped { .. }
        );
        let noted = self.happened.len() < HAPPENINGS || ends;
        if noted {
            self.happened.push((self.words.len(), time, happening));
        } else {
            self.left_out = self.left_out.saturating_add(1);
        }
        noted
    }

    /// Takes the last note back.
    pub fn retract(&mut self) {
        self.happened.pop();
    }

    /// Bytes of memory that it takes, about.
    #[must_use]
    pub fn memory(&self) -> usize {
        let of = |happening: &Happening| match happening {
            Happening::Arrived { bytes, .. } | Happening::Departed { bytes, .. } => bytes.len(),
            Happening::Enqueued { behind, .. } | Happening::Dequeued { behind, .. } => {
                size_of_val(&behind[..])
            }
            _ => 0,
        };
        let apart: usize = self.happened.iter().map(|(_, _, what)| of(what)).sum();
        size_of::<Self>() + size_of_val(&self.words[..]) + size_of_val(&self.happened[..]) + apart
    }

    /// What has happened outside of the program so far, with times (ns).
    pub fn happened(&self) -> impl DoubleEndedIterator<Item = (Time, &Happening)> {
        self.happened.iter().map(|(_, time, what)| (*time, what))
    }

    /// Steps that found no room, because the record is bounded.
    #[must_use]
    pub fn left_out(&self) -> u32 {
        self.left_out
    }

    /// Bytes at the start of the frame that arrived which the program took for headers, once it has
    /// parsed it.
    #[must_use]
    pub fn parsed(&self) -> Option<u32> {
        self.parsed
    }

    /// Bytes at the start of the frame which the program wrote last as headers, once it has.
    #[must_use]
    pub fn emitted(&self) -> Option<u32> {
        self.emitted
    }

    /// Empties it, to be used for another packet.
    pub fn clear(&mut self, number: u64, of: u64) {
        (self.number, self.of, self.left_out) = (number, of, 0);
        (self.parsed, self.emitted) = (None, None);
        self.carried = Carried::default();
        self.happened.clear();
        self.words.clear();
    }
}

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
