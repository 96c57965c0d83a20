//! Entries, groups and members as the control plane writes them.

/// The condition of an entry on one key field. Values are big-endian, of any sufficient length.
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
    /// One value, or any. Also accepted for a ternary field, which p4c makes of an optional one.
    Optional(Option<Vec<u8>>),
}

/// A table entry. A key field without a match matches anything; an exact field needs one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Entry {
    /// Key field and what it matches.
    pub matches: Vec<(String, Match)>,
    /// Above zero in a table with ternary, range or optional fields (the larger wins), else zero.
    pub priority: i32,
    /// The action's full name. Ignored with `indirect`, to delete, and to read a counter.
    pub action: String,
    /// Action parameters and their values, big-endian.
    pub params: Vec<Param>,
    /// The member, group or set of the table's action profile, if it has one.
    pub indirect: Option<Indirect>,
    /// Nanoseconds without a hit after which the entry is idle; zero: never.
    pub idle_timeout_ns: u64,
}

/// The part of an action profile that an entry uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Indirect {
    /// The member with this id.
    Member(u32),
    /// A member that the selector picks of the group with this id.
    Group(u32),
    /// An action that the selector picks of a set that only this entry has.
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
    /// The port to watch for it; only kept.
    pub watch_port: Vec<u8>,
}

/// A group of an action profile.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Group {
    /// Its id.
    pub id: u32,
    /// Its members.
    pub members: Vec<GroupMember>,
    /// The limit of the sum of weights; zero: as much as the switch allows.
    pub max_size: u32,
}

/// A member of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupMember {
    /// The member's id.
    pub member: u32,
    /// How often it is picked, compared with the others; above zero.
    pub weight: u32,
    /// The port to watch for it; only kept.
    pub watch_port: Vec<u8>,
}

/// Name and big-endian value of an action parameter.
pub type Param = (String, Vec<u8>);
