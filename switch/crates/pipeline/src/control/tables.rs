use super::entry::{Entry, Param};
use super::info::{ActionInfo, KeyInfo, TableInfo};
use crate::error::{Code, Result, WriteError};
use crate::pipeline::Pipeline;
use crate::program::{HeaderTypeInfo, TableShape};
use crate::state::tables::Table;

/// Errors: `NotFound` for an unknown table or entry, `AlreadyExists` for an entry with the same
/// match and priority, `ResourceExhausted` for a full table, `PermissionDenied` for entries or a
/// default action that the program makes constant, `InvalidArgument` for other unknown names and
/// for values that do not fit.
impl Pipeline {
    /// Every table the control plane can see, in the order of the artifact.
    #[must_use]
    pub fn tables(&self) -> Vec<TableInfo> {
        let describe = |table: &TableShape| TableInfo {
            name: table.name.clone(),
            keys: table
                .keys
                .iter()
                .map(|key| KeyInfo {
                    name: key.name.clone(),
                    kind: key.kind,
                    bits: key.bits,
                    compared: key.compared(),
                })
                .collect(),
            actions: table
                .actions
                .iter()
                .map(|known| {
                    let action = &self.program.actions[known.action as usize];
                    let params = action
                        .parameters
                        .iter()
                        .map(|parameter| (parameter.name.clone(), parameter.bits));
                    ActionInfo {
                        name: action.name.clone(),
                        params: params.collect(),
                    }
                })
                .collect(),
            size: table.size,
            constant_entries: table.constant_entries,
            constant_default: table.constant_default,
            direct_counter: table.direct_counter.clone(),
            direct_meter: table.direct_meter.as_ref().map(|meter| meter.name.clone()),
            action_profile: table.profile.as_ref().map(|profile| profile.name.clone()),
            idle_timeouts: table.timeouts,
            has_priorities: table.has_priorities(),
        };
        self.program
            .tables
            .iter()
            .map(|table| describe(table))
            .collect()
    }

    /// Every header type of the artifact.
    #[must_use]
    pub fn header_types(&self) -> &[HeaderTypeInfo] {
        &self.program.header_types
    }

    /// Adds an entry.
    pub fn table_insert(&mut self, table: &str, entry: &Entry) -> Result<()> {
        let number = self.writable(table)?;
        let entry = self.resolve(number, entry, true)?;
        self.state.tables[number].insert(entry)
    }

    /// Gives an entry another action; its counter goes on.
    pub fn table_modify(&mut self, table: &str, entry: &Entry) -> Result<()> {
        let number = self.writable(table)?;
        let entry = self.resolve(number, entry, true)?;
        self.state.tables[number].modify(entry)
    }

    /// Removes the entry with this match and priority; its action is ignored.
    pub fn table_delete(&mut self, table: &str, entry: &Entry) -> Result<()> {
        let number = self.writable(table)?;
        let entry = self.resolve(number, entry, false)?;
        self.state.tables[number].delete(&entry)
    }

    /// Sets the action of a miss; `None` restores the program's.
    pub fn set_default_action(
        &mut self,
        table: &str,
        action: Option<(&str, &[Param])>,
    ) -> Result<()> {
        let number = self.table_number(table)?;
        if self.state.tables[number].shape.constant_default {
            let message = format!("table {table}: its default action is constant");
            return Err(WriteError::new(Code::PermissionDenied, message));
        }
        let choice = match action {
            None => self.state.tables[number].shape.default.clone(),
            Some((name, params)) => Some(self.resolve_action(number, name, params)?),
        };
        self.state.tables[number].set_default(choice);
        Ok(())
    }

    /// The present default action and its parameters; `None` if a miss does nothing.
    pub fn default_action(&self, table: &str) -> Result<Option<(String, Vec<Param>)>> {
        let table = &self.state.tables[self.table_number(table)?];
        Ok(table
            .default()
            .map(|choice| self.describe_choice(table, choice)))
    }

    /// Every entry of a table. Values have whole bytes; fields that match anything are left out.
    pub fn table_entries(&self, table: &str) -> Result<Vec<Entry>> {
        let table = &self.state.tables[self.table_number(table)?];
        let numbers = table.store().numbers(0);
        Ok(numbers
            .map(|number| self.describe_entry(table, number))
            .collect())
    }

    /// At most `count` entries from `cursor` (first 0) on, and the next cursor if more follow.
    /// Entries written between two calls may be missing; entries that stay are seen once.
    pub fn table_entries_from(
        &self,
        table: &str,
        cursor: u32,
        count: usize,
    ) -> Result<(Vec<Entry>, Option<u32>)> {
        let table = &self.state.tables[self.table_number(table)?];
        let mut numbers = table.store().numbers(cursor);
        let mut entries = Vec::new();
        for number in numbers.by_ref().take(count) {
            entries.push(self.describe_entry(table, number));
        }
        Ok((entries, numbers.next()))
    }

    /// The whole entry with the match and priority of `entry`.
    pub fn table_entry(&self, table: &str, entry: &Entry) -> Result<Entry> {
        let (number, found) = self.found(table, entry)?;
        Ok(self.describe_entry(&self.state.tables[number], found))
    }

    /// Makes look-ups fast again after changes. Call it after each batch of writes.
    pub fn settle(&mut self) {
        self.state.tables.iter_mut().for_each(Table::settle);
    }

    /// Table and number of the entry with this match and priority.
    pub(super) fn found(&self, table: &str, entry: &Entry) -> Result<(usize, u32)> {
        let number = self.table_number(table)?;
        let entry = self.resolve(number, entry, false)?;
        match self.state.tables[number].find(&entry) {
            Some(found) => Ok((number, found)),
            None => Err(self.state.tables[number].not_found()),
        }
    }

    /// Restores entries, default actions, counters, registers and meters as after loading.
    pub fn clear(&mut self) {
        self.state.tables.iter_mut().for_each(Table::clear);
        self.state.externs.clear();
    }

    pub(super) fn table_number(&self, name: &str) -> Result<usize> {
        match self.table_names.get(name) {
            Some(number) => Ok(*number as usize),
            None => Err(WriteError::new(
                Code::NotFound,
                format!("no table is called {name}"),
            )),
        }
    }

    fn writable(&self, name: &str) -> Result<usize> {
        let number = self.table_number(name)?;
        if self.state.tables[number].shape.constant_entries {
            return Err(WriteError::new(
                Code::PermissionDenied,
                format!("table {name}: its entries are constant"),
            ));
        }
        Ok(number)
    }
}
