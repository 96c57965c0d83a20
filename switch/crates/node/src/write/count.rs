//! How many times entries were written, and of what.

use std::collections::BTreeMap;

use super::update::{Member, Update};

/// Writes of entries, default actions, groups and members of action profiles, and value sets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryWrites {
    all: u64,
    of: BTreeMap<String, u64>,
}

impl EntryWrites {
    /// How many there were since the switch was made.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.all
    }

    /// How many there were of a table, action profile or value set, since its program was installed.
    #[must_use]
    pub fn of(&self, name: &str) -> u64 {
        self.of.get(name).copied().unwrap_or_default()
    }

    pub(crate) fn forget_program(&mut self) {
        self.of.clear();
    }

    /// Counts a change that was made, if packets may be counted in other cells by it.
    pub(super) fn count(&mut self, update: &Update) {
        let Some(name) = written(update) else {
            return;
        };
        self.all += 1;
        match self.of.get_mut(name) {
            Some(count) => *count += 1,
            None => drop(self.of.insert(name.to_owned(), 1)),
        }
    }
}

fn written(update: &Update) -> Option<&str> {
    match update {
        Update::Insert { table: name, .. }
        | Update::Modify { table: name, .. }
        | Update::Delete { table: name, .. }
        | Update::DefaultAction { table: name, .. }
        | Update::InsertMember(Member { profile: name, .. })
        | Update::ModifyMember(Member { profile: name, .. })
        | Update::DeleteMember { profile: name, .. }
        | Update::InsertGroup { profile: name, .. }
        | Update::ModifyGroup { profile: name, .. }
        | Update::DeleteGroup { profile: name, .. }
        | Update::ValueSet { name, .. } => Some(name),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use phb_pipeline::{Entry, Group};

    use super::*;
    use crate::write::Cells;

    fn each() -> Vec<Update> {
        let (table, profile, entry) = ("table".to_owned(), "profile".to_owned(), Entry::default());
        let group = Group {
            id: 1,
            max_size: 0,
            members: Vec::new(),
        };
        let member = Member {
            profile: profile.clone(),
            id: 1,
            action: (String::new(), Vec::new()),
        };
        vec![
            Update::Insert {
                table: table.clone(),
                entry: entry.clone(),
            },
            Update::Modify {
                table: table.clone(),
                entry: entry.clone(),
            },
            Update::Delete {
                table: table.clone(),
                entry: entry.clone(),
            },
            Update::DefaultAction {
                table: table.clone(),
                action: None,
            },
            Update::Find {
                table: table.clone(),
                entry: entry.clone(),
            },
            Update::IdleTimeout {
                table: table.clone(),
                entry,
            },
            Update::DirectCounter {
                table,
                entry: None,
                value: (0, 0),
            },
            Update::InsertMember(member.clone()),
            Update::ModifyMember(member),
            Update::DeleteMember {
                profile: profile.clone(),
                id: 1,
            },
            Update::InsertGroup {
                profile: profile.clone(),
                group: group.clone(),
            },
            Update::ModifyGroup {
                profile: profile.clone(),
                group,
            },
            Update::DeleteGroup { profile, id: 1 },
            Update::ValueSet {
                name: "set".to_owned(),
                members: Vec::new(),
            },
            Update::Counters {
                name: "counter".to_owned(),
                values: Cells::Same((0, 0)),
            },
            Update::CloneSession {
                session: 1,
                value: None,
            },
        ]
    }

    #[test]
    fn what_gives_packets_other_cells_is_counted_by_its_name() {
        let mut writes = EntryWrites::default();
        for update in each() {
            writes.count(&update);
        }
        let of = ["table", "profile", "set", "counter", "other"].map(|name| writes.of(name));
        assert_eq!((writes.all(), of), (11, [4, 6, 1, 0, 0]));
        writes.forget_program();
        assert_eq!((writes.all(), writes.of("table")), (11, 0));
    }
}
