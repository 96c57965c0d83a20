//! Changes of a switch.

use crate::replication::{CloneSession, Replica};
use phb_pipeline::{Count, CrcParameters, Entry, Group, Match, MeterRates, Param};

/// One change. Tables, counters, registers, meters and action profiles go by their full names.
#[derive(Clone, Debug, PartialEq)]
pub enum Update {
    /// Adds an entry.
    Insert {
        /// The table.
        table: String,
        /// The entry.
        entry: Entry,
    },
    /// Gives an entry another action.
    Modify {
        /// The table.
        table: String,
        /// The entry as it is to be.
        entry: Entry,
    },
    /// Only checks that an entry is there.
    Find {
        /// The table.
        table: String,
        /// The entry; its action does not matter.
        entry: Entry,
    },
    /// Gives an entry another idle timeout, and leaves its action alone.
    IdleTimeout {
        /// The table.
        table: String,
        /// The entry with its idle timeout; its action does not matter.
        entry: Entry,
    },
    /// Removes an entry.
    Delete {
        /// The table.
        table: String,
        /// The entry; its action does not matter.
        entry: Entry,
    },
    /// Sets the action for a packet that no entry matches; `None`: the program's.
    DefaultAction {
        /// The table.
        table: String,
        /// The action and its parameters.
        action: Option<(String, Vec<Param>)>,
    },
    /// Adds a member to an action profile.
    InsertMember(Member),
    /// Gives a member of an action profile another action.
    ModifyMember(Member),
    /// Removes a member of an action profile.
    DeleteMember {
        /// The action profile.
        profile: String,
        /// The member.
        id: u32,
    },
    /// Adds a group to an action profile.
    InsertGroup {
        /// The action profile.
        profile: String,
        /// The group.
        group: Group,
    },
    /// Gives a group other members.
    ModifyGroup {
        /// The action profile.
        profile: String,
        /// The group as it is to be.
        group: Group,
    },
    /// Removes a group of an action profile.
    DeleteGroup {
        /// The action profile.
        profile: String,
        /// The group.
        id: u32,
    },
    /// Sets a cell of an indirect counter.
    Counter {
        /// The counter.
        name: String,
        /// The cell.
        index: usize,
        /// Packets and bytes.
        value: Count,
    },
    /// Sets all cells of an indirect counter.
    Counters {
        /// The counter.
        name: String,
        /// Packets and bytes.
        values: Cells<Count>,
    },
    /// Sets the direct counter of an entry.
    DirectCounter {
        /// The table.
        table: String,
        /// The entry; its action does not matter. `None` is the default entry.
        entry: Option<Entry>,
        /// Packets and bytes.
        value: Count,
    },
    /// Sets a cell of a register.
    Register {
        /// The register.
        name: String,
        /// The cell.
        index: usize,
        /// The value, big-endian.
        value: Vec<u8>,
    },
    /// Sets all cells of a register.
    Registers {
        /// The register.
        name: String,
        /// The values, big-endian.
        values: Cells<Vec<u8>>,
    },
    /// Sets the rates of a cell of an indirect meter; `None`: every packet is green.
    Meter {
        /// The meter.
        name: String,
        /// The cell.
        index: usize,
        /// The rates.
        rates: Option<MeterRates>,
    },
    /// Sets the rates of all cells of an indirect meter.
    Meters {
        /// The meter.
        name: String,
        /// The rates.
        rates: Cells<Option<MeterRates>>,
    },
    /// Sets what a cell of an indirect meter has counted.
    MeterCounts {
        /// The meter.
        name: String,
        /// The cell.
        index: usize,
        /// Packets and bytes that were green, yellow and red.
        counts: [Count; 3],
    },
    /// Sets what all cells of an indirect meter have counted.
    MetersCounts {
        /// The meter.
        name: String,
        /// Packets and bytes that were green, yellow and red.
        counts: Cells<[Count; 3]>,
    },
    /// Sets what the direct meter of an entry has counted.
    DirectMeterCounts {
        /// The table.
        table: String,
        /// The entry; its action does not matter. `None` is the default entry.
        entry: Option<Entry>,
        /// Packets and bytes that were green, yellow and red.
        counts: [Count; 3],
    },
    /// Sets the rates of the direct meter of an entry.
    DirectMeter {
        /// The table.
        table: String,
        /// The entry; its action does not matter. `None` is the default entry.
        entry: Option<Entry>,
        /// The rates.
        rates: Option<MeterRates>,
    },
    /// Replaces the members of a parser value set.
    ValueSet {
        /// The value set.
        name: String,
        /// For each member one match per field.
        members: Vec<Vec<Match>>,
    },
    /// Sets the parameters of a custom CRC.
    Crc {
        /// The calculation.
        calculation: String,
        /// Its parameters.
        parameters: CrcParameters,
    },
    /// Makes or replaces a multicast group; `None` removes it.
    MulticastGroup {
        /// The group's number.
        group: u16,
        /// The receivers of copies.
        replicas: Option<Vec<Replica>>,
    },
    /// Makes or replaces a multicast group whose receivers have backups.
    MulticastWithBackups {
        /// The group's number.
        group: u16,
        /// The receivers of copies, each with its backups behind it, the preferred one first.
        receivers: Vec<Vec<Replica>>,
    },
    /// Makes or replaces a clone session; `None` removes it.
    CloneSession {
        /// The session's number.
        session: u16,
        /// The fate of packets cloned to it.
        value: Option<CloneSession>,
    },
}

/// A member of an action profile.
#[derive(Clone, Debug, PartialEq)]
pub struct Member {
    /// The action profile.
    pub profile: String,
    /// The member's id.
    pub id: u32,
    /// Its action and the action's parameters.
    pub action: (String, Vec<Param>),
}

/// The values for all cells of an array.
#[derive(Clone, Debug, PartialEq)]
pub enum Cells<T> {
    /// The same.
    Same(T),
    /// One value each; cells beyond the last stay.
    Each(Vec<T>),
}

impl<T> Cells<T> {
    pub(super) fn of(&self, size: usize) -> impl Iterator<Item = (usize, &T)> {
        let value = move |index: usize| match self {
            Self::Same(value) => Some((index, value)),
            Self::Each(values) => values.get(index).map(|value| (index, value)),
        };
        (0..size).map_while(value)
    }
}
