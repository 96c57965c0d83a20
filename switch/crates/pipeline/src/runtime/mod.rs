//! The control plane's side: entries, default actions, counters, registers and meters, by the names of the program.
//! Nothing in here is called for a packet.

mod arrays;
mod direct;
mod profiles;
mod resolve;
mod tables;

pub use profiles::Member;

use crate::error::{Code, WriteError};
use crate::tables::MatchKind;

/// What one key field of an entry matches. Values are big-endian and of any length that holds the field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Match {
    /// The whole value.
    Exact(Vec<u8>),
    /// A prefix; the bits after it are zero.
    Lpm {
        /// The prefix.
        value: Vec<u8>,
        /// Its length in bits.
        prefix_len: u32,
    },
    /// A value under a mask; bits outside the mask are zero.
    Ternary {
        /// The value.
        value: Vec<u8>,
        /// The bits that must match.
        mask: Vec<u8>,
    },
    /// From `low` to `high`, both included.
    Range {
        /// The least value that matches.
        low: Vec<u8>,
        /// The greatest value that matches.
        high: Vec<u8>,
    },
    /// One value, or any. Also accepted for a ternary field, which is what p4c makes of an optional one.
    Optional(Option<Vec<u8>>),
}

/// A table entry. A key field that is not named matches anything, which an exact field cannot.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Entry {
    /// Key field and what it matches.
    pub matches: Vec<(String, Match)>,
    /// Above zero in a table with ternary, range or optional fields, where the larger wins; otherwise zero.
    pub priority: i32,
    /// The action, with its full name. Not looked at when an entry is deleted or its counter read, nor where
    /// `indirect` is given.
    pub action: String,
    /// Action parameters and their values, big-endian.
    pub params: Vec<Param>,
    /// What the entry takes of the table's action profile, if it has one.
    pub indirect: Option<Indirect>,
    /// Nanoseconds without a hit after which the entry is idle; zero: never.
    pub idle_timeout_ns: u64,
}

/// What an entry takes of an action profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Indirect {
    /// The member with this id.
    Member(u32),
    /// What the selector picks of the group with this id.
    Group(u32),
    /// What the selector picks of a set that only this entry has.
    ActionSet(Vec<WeightedAction>),
}

/// One action of a set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WeightedAction {
    /// The action, with its full name.
    pub action: String,
    /// Action parameters and their values, big-endian.
    pub params: Vec<Param>,
    /// How often it is picked, compared with the others; above zero.
    pub weight: u32,
    /// The port to watch for it; kept, not looked at.
    pub watch_port: Vec<u8>,
}

/// A group of an action profile.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Group {
    /// Its id.
    pub id: u32,
    /// Its members.
    pub members: Vec<GroupMember>,
    /// What the weights may add up to; zero: as much as the switch allows.
    pub max_size: u32,
}

/// A member of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupMember {
    /// The member's id.
    pub member: u32,
    /// How often it is picked, compared with the others; above zero.
    pub weight: u32,
    /// The port to watch for it; kept, not looked at.
    pub watch_port: Vec<u8>,
}

/// An action profile as the program declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileInfo {
    /// Full name.
    pub name: String,
    /// Members it holds at most.
    pub size: u32,
    /// It has a selector, and so groups and action sets.
    pub has_selector: bool,
    /// Tables that take their actions of it.
    pub tables: Vec<String>,
}

/// A table as the program declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableInfo {
    /// Full name.
    pub name: String,
    /// Key fields in order.
    pub keys: Vec<KeyInfo>,
    /// Actions the table may take.
    pub actions: Vec<ActionInfo>,
    /// Entries it holds at most.
    pub size: u32,
    /// The program fixes the entries.
    pub constant_entries: bool,
    /// The program fixes the default action.
    pub constant_default: bool,
    /// Name of its direct counter.
    pub direct_counter: Option<String>,
    /// Name of its direct meter.
    pub direct_meter: Option<String>,
    /// Name of its action profile.
    pub action_profile: Option<String>,
    /// Entries may have an idle timeout.
    pub idle_timeouts: bool,
    /// Entries need a priority.
    pub has_priorities: bool,
}

/// A key field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyInfo {
    /// Name: of `@name`, or the expression in the program.
    pub name: String,
    /// Kind; what is `optional` in the program is ternary in the artifact.
    pub kind: MatchKind,
    /// Width.
    pub bits: u32,
}

/// An action of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionInfo {
    /// Full name.
    pub name: String,
    /// Parameters in order: name and width in bits.
    pub params: Vec<(String, u32)>,
}

/// A header type, or a struct of metadata.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeaderTypeInfo {
    /// Its name in the artifact.
    pub name: String,
    /// Fields in order: name and width in bits, which is zero for a varbit.
    pub fields: Vec<(String, u32)>,
}

/// Name and big-endian value of an action parameter.
pub type Param = (String, Vec<u8>);

pub(crate) type Result<T> = std::result::Result<T, WriteError>;

pub(crate) fn invalid<T>(message: String) -> Result<T> {
    Err(WriteError::new(Code::InvalidArgument, message))
}
