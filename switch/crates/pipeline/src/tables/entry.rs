//! What a table is made of, and what is written into it.

use crate::externs::meter::Unit;
use crate::packet::Slot;
use crate::program::Store;

/// How a key field is matched. p4c turns `optional` into ternary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchKind {
    /// The whole value.
    Exact,
    /// The longest prefix wins.
    Lpm,
    /// Value under a mask.
    Ternary,
    /// From low to high, both included.
    Range,
    /// Exactly one value or any.
    Optional,
}

impl MatchKind {
    /// The kind as P4 writes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Lpm => "lpm",
            Self::Ternary => "ternary",
            Self::Range => "range",
            Self::Optional => "optional",
        }
    }
}

/// One field of a table's key.
#[derive(Debug, Clone)]
pub(crate) struct Key {
    pub(crate) name: String,
    pub(crate) kind: MatchKind,
    pub(crate) bits: u32,
    pub(crate) slot: Slot,
    /// Validity of the field's header: an invalid header's fields are matched as zero, as bmv2 does.
    pub(crate) valid: Option<u32>,
    /// Applied to the field before it is matched: one word per column, least significant first.
    pub(crate) mask: Box<[u64]>,
}

/// An action a table may take, and where control goes afterwards.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TableAction {
    pub(crate) action: u32,
    pub(crate) next: u32,
    /// The action does nothing.
    pub(crate) idle: bool,
}

/// The meter that every entry has one of.
#[derive(Debug, Clone)]
pub(crate) struct DirectMeter {
    pub(crate) name: String,
    pub(crate) unit: Unit,
    /// Where the colour goes.
    pub(crate) target: Store,
}

/// What a table is, as the program has it.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) name: String,
    pub(crate) keys: Vec<Key>,
    pub(crate) actions: Vec<TableAction>,
    /// Words of runtime data of the action that has the most.
    pub(crate) parameter_words: u32,
    /// Where control goes after a hit and a miss, if the program asks for that.
    pub(crate) hit: Option<u32>,
    pub(crate) miss: Option<u32>,
    /// Where control goes when there is no action to take.
    pub(crate) otherwise: u32,
    pub(crate) size: u32,
    pub(crate) constant_entries: bool,
    pub(crate) constant_default: bool,
    pub(crate) direct_counter: Option<String>,
    pub(crate) direct_meter: Option<DirectMeter>,
    /// Entries may have an idle timeout.
    pub(crate) timeouts: bool,
    pub(crate) default: Option<ActionChoice>,
}

/// An action of the table (by position in its list) and its runtime data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ActionChoice {
    pub(crate) action: u32,
    pub(crate) parameters: Box<[u64]>,
}

/// A member of a group, how often it is picked, and the port that is watched for it, which only the control plane
/// looks at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GroupMember {
    pub(crate) member: u32,
    pub(crate) weight: u32,
    pub(crate) watch: Vec<u8>,
}

/// An action of an entry's own set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SetMember {
    pub(crate) choice: ActionChoice,
    pub(crate) weight: u32,
    pub(crate) watch: Vec<u8>,
}

/// What an entry does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Choice {
    /// Nothing: the entry is only there to find another one.
    None,
    Action(ActionChoice),
    /// A member or a group of the table's action profile, by id.
    Member(u32),
    Group(u32),
    Set(Vec<SetMember>),
}

impl Choice {
    pub(crate) fn parameters(&self) -> &[u64] {
        match self {
            Self::Action(choice) => &choice.parameters,
            _ => &[],
        }
    }
}

/// One entry as it is written.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// Two words per column: value and mask, or the least and the greatest value.
    pub(crate) words: Box<[u64]>,
    /// Prefix length of the table's LPM field.
    pub(crate) prefix: u32,
    /// The larger wins.
    pub(crate) priority: i32,
    pub(crate) choice: Choice,
    /// Nanoseconds without a hit after which the entry is idle; zero: never.
    pub(crate) idle_timeout: u64,
}

/// What a table keeps of each entry.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Layout {
    /// Words of match: two per column, or only the first of the two.
    pub(crate) words: usize,
    pub(crate) values_only: bool,
    pub(crate) parameters: usize,
    pub(crate) prefixes: bool,
    pub(crate) priorities: bool,
    pub(crate) counters: bool,
    pub(crate) meters: bool,
    pub(crate) timeouts: bool,
}
