//! What a trace says: the steps of one packet, in order, with the names of the program.

use crate::program::Source;
use crate::record::{Happening, Part};
use crate::time::Time;

/// A number of `bits` bits: words of 64, least significant first. What the words have beyond its width,
/// as the sign of a negative number, doesn't count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Value<'a> {
    /// Its width.
    pub bits: u32,
    /// Its words.
    pub words: &'a [u64],
}

impl Value<'_> {
    /// Its bytes, the most significant first: as few as its width takes.
    pub fn bytes(self) -> impl Iterator<Item = u8> {
        let bits = self.bits;
        (0..bits.div_ceil(8)).rev().map(move |at| {
            let word = self.words.get(at as usize / 8).copied().unwrap_or(0);
            let byte = (word >> (at % 8 * 8)) as u8;
            byte & (0xff >> (8 - (bits - at * 8).min(8)))
        })
    }
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
