//! Entries by handle, as bmv2 counts them: the least free place of the table in 24 bits, and above
//! it, modulo 256, how often entries have left that place.

use super::entry::Entry;
use crate::error::{Code, Result, WriteError};
use crate::pipeline::Pipeline;

const PLACE_BITS: u32 = 24;

/// An entry behind its handle.
pub type WithHandle = (u32, Entry);

/// Errors: `NotFound` for an unknown table, or a handle whose place is free.
impl Pipeline {
    /// The number of entries of a table.
    pub fn table_length(&self, table: &str) -> Result<usize> {
        let table = &self.state.tables[self.table_number(table)?];
        Ok(table.store().length())
    }

    /// The handle of the entry with the match and priority of `entry`.
    pub fn table_handle(&self, table: &str, entry: &Entry) -> Result<u32> {
        let (number, found) = self.found(table, entry)?;
        Ok(self.handle(number, found))
    }

    /// The entry with a handle; `FailedPrecondition` if another one has its place now.
    pub fn table_entry_of(&self, table: &str, handle: u32) -> Result<Entry> {
        let number = self.table_number(table)?;
        let place = handle & ((1 << PLACE_BITS) - 1);
        match self.state.tables[number].store().freed(place) {
            Some(freed) if u32::from(freed) == handle >> PLACE_BITS => {
                Ok(self.describe_entry(&self.state.tables[number], place))
            }
            Some(_) => Err(WriteError::new(
                Code::FailedPrecondition,
                format!("table {table}: the entry with handle {handle} is gone"),
            )),
            None => Err(WriteError::new(
                Code::NotFound,
                format!("table {table}: no entry has handle {handle}"),
            )),
        }
    }

    /// As [`Pipeline::table_entries_from`], with the handle of each entry.
    pub fn table_handles_from(
        &self,
        table: &str,
        cursor: u32,
        count: usize,
    ) -> Result<(Vec<WithHandle>, Option<u32>)> {
        let number = self.table_number(table)?;
        let table = &self.state.tables[number];
        let mut places = table.store().numbers(cursor);
        let mut entries = Vec::new();
        for place in places.by_ref().take(count) {
            entries.push((
                self.handle(number, place),
                self.describe_entry(table, place),
            ));
        }
        Ok((entries, places.next()))
    }

    fn handle(&self, table: usize, place: u32) -> u32 {
        let freed = self.state.tables[table].store().freed(place);
        u32::from(freed.unwrap_or_default()) << PLACE_BITS | place
    }
}
