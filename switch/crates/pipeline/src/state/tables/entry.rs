//! Entries of a table as they are written.

use crate::program::ActionChoice;

/// A member of a group, its weight, and its watch port, which only the control plane reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WeightedMember {
    pub(crate) member: u32,
    pub(crate) weight: u32,
    pub(crate) watch: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SetMember {
    pub(crate) choice: ActionChoice,
    pub(crate) weight: u32,
    pub(crate) watch: Vec<u8>,
}

/// The action of an entry, or where it takes one from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Choice {
    /// None: the entry only serves to find another one.
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

#[derive(Debug, Clone)]
pub(crate) struct TableEntry {
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
