//! The state of single entries: direct counters, direct meters, and the time of the last hit.

use super::entry::Entry;
use crate::error::{Result, invalid};
use crate::pipeline::Pipeline;
use crate::state::externs::counter::Count;
use crate::state::externs::meter::{Meter, MeterRates};
use crate::time::Time;

/// A counter or meter is that of an entry, or of the default entry (`None`). The latter counts the packets that miss;
/// its meter works once it is configured, and before leaves the packet's field as it is.
///
/// Errors: `NotFound` for an unknown table or entry, `InvalidArgument` for a table without direct
/// counter or meter, and for a match that does not fit. The entry's action is ignored.
impl Pipeline {
    /// Packets and bytes of an entry's direct counter.
    pub fn direct_counter_read(&self, table: &str, entry: Option<&Entry>) -> Result<Count> {
        let (number, found) = self.counted(table, entry)?;
        let count = self.state.tables[number].count(found);
        Ok(count.unwrap_or_default())
    }

    /// Sets an entry's direct counter.
    pub fn direct_counter_write(
        &mut self,
        table: &str,
        entry: Option<&Entry>,
        value: Count,
    ) -> Result<()> {
        let (number, found) = self.counted(table, entry)?;
        if let Some(count) = self.state.tables[number].count_mut(found) {
            *count = value;
        }
        Ok(())
    }

    fn counted(&self, table: &str, entry: Option<&Entry>) -> Result<(usize, Option<u32>)> {
        let number = self.table_number(table)?;
        if self.state.tables[number].shape.direct_counter.is_none() {
            return invalid(format!("table {table} has no direct counter"));
        }
        self.found_or_default(number, table, entry)
    }

    /// The rates of an entry's direct meter, if it is configured.
    pub fn direct_meter_rates(
        &self,
        table: &str,
        entry: Option<&Entry>,
    ) -> Result<Option<MeterRates>> {
        let (number, found) = self.metered(table, entry)?;
        let meter = self.state.tables[number].meter(found);
        Ok(meter.and_then(Meter::rates))
    }

    /// Sets the rates of an entry's direct meter and fills its buckets; `None`: every packet is
    /// green. `InvalidArgument` for a peak rate below the committed one.
    pub fn direct_meter_configure(
        &mut self,
        table: &str,
        entry: Option<&Entry>,
        rates: Option<MeterRates>,
    ) -> Result<()> {
        let (number, found) = self.metered(table, entry)?;
        if let Some(rates) = rates
            && rates.peak_rate < rates.committed_rate
        {
            let (peak, committed) = (rates.peak_rate, rates.committed_rate);
            return invalid(format!(
                "table {table}: peak rate {peak} is below committed rate {committed}"
            ));
        }
        self.state.tables[number].change_meter(found, |meter| meter.configure(rates));
        Ok(())
    }

    /// Packets and bytes of an entry that its direct meter found green, yellow and red.
    pub fn direct_meter_counts(&self, table: &str, entry: Option<&Entry>) -> Result<[Count; 3]> {
        let (number, found) = self.metered(table, entry)?;
        let meter = self.state.tables[number].meter(found);
        Ok(meter.map(Meter::counts).unwrap_or_default())
    }

    /// Sets what an entry's direct meter has counted of each colour.
    pub fn direct_meter_counts_write(
        &mut self,
        table: &str,
        entry: Option<&Entry>,
        counts: [Count; 3],
    ) -> Result<()> {
        let (number, found) = self.metered(table, entry)?;
        self.state.tables[number].change_meter(found, |meter| meter.set_counts(counts));
        Ok(())
    }

    fn metered(&self, table: &str, entry: Option<&Entry>) -> Result<(usize, Option<u32>)> {
        let number = self.table_number(table)?;
        if self.state.tables[number].shape.direct_meter.is_none() {
            return invalid(format!("table {table} has no direct meter"));
        }
        self.found_or_default(number, table, entry)
    }

    fn found_or_default(
        &self,
        number: usize,
        table: &str,
        entry: Option<&Entry>,
    ) -> Result<(usize, Option<u32>)> {
        let found = entry.map(|entry| self.found(table, entry)).transpose()?;
        Ok((number, found.map(|(_, found)| found)))
    }

    /// When an entry was last hit, or first swept; `None` before, or without idle timeouts.
    pub fn last_hit(&self, table: &str, entry: &Entry) -> Result<Option<Time>> {
        let (number, found) = self.found(table, entry)?;
        Ok(self.state.tables[number].store().last_hit(found))
    }

    /// Adds entries that have become idle to `idle`, each again after another timeout without a
    /// hit. An entry's time starts with the first sweep after it was written.
    pub fn sweep_idle(&mut self, now: Time, idle: &mut Vec<(String, Entry)>) {
        let mut numbers = Vec::new();
        for table in self.state.timed.iter().copied() {
            let report = |number| numbers.push((table, number));
            self.state.tables[table].store_mut().sweep(now, report);
        }
        for (table, number) in numbers {
            let table = &self.state.tables[table];
            idle.push((table.shape.name.clone(), self.describe_entry(table, number)));
        }
    }

    /// Whether any entry has an idle timeout.
    #[must_use]
    pub fn has_idle_timeouts(&self) -> bool {
        let mut timed = self.state.timed.iter();
        timed.any(|table| self.state.tables[*table].store().has_timeouts())
    }
}
