//! Descriptions of what a program declares.

use crate::program::MatchKind;

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
    /// The name of `@name`, or the expression in the program.
    pub name: String,
    /// Kind; what is `optional` in the program is ternary in the artifact.
    pub kind: MatchKind,
    /// Width.
    pub bits: u32,
    /// Width of what is compared: less than `bits` where the program matches the low bits of a field.
    pub compared: u32,
}

/// An action of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActionInfo {
    /// Full name.
    pub name: String,
    /// Parameters in order: name and width in bits.
    pub params: Vec<(String, u32)>,
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
    /// Tables that take their actions from it.
    pub tables: Vec<String>,
}

/// The fields of one kind of message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DigestList {
    /// Name in the program.
    pub name: String,
    /// Id in the artifact.
    pub id: u32,
    /// Names and widths in bits.
    pub fields: Vec<(String, u32)>,
}

/// A value set as the program declares it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ValueSetInfo {
    /// Full name.
    pub name: String,
    /// Members it holds at most.
    pub size: u32,
    /// Width of each field of a member; none if no parser state uses the set.
    pub bits: Vec<u32>,
}
