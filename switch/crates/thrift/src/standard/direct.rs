//! Direct counters and meters: those of single entries.

use phb_node::{SwitchNode, Update};
use phb_pipeline::{Pipeline, TableInfo};

use super::table_code::{COUNTERS_DISABLED, ERROR, METERS_DISABLED};
use super::tables::{On, by_handle, error, known, of_entry};
use super::{count, count_value, rates, rates_value};
use crate::artifact::Artifact;
use crate::call::{Fault, Outcome, Services};
use crate::limits;
use crate::wire::{Fields, Value};

pub fn call(services: &Services, method: &str, arguments: Fields<'_>) -> Outcome {
    let on = On::new(services, arguments);
    match method {
        "bm_mt_read_counter" => on.counter(),
        "bm_mt_write_counter" => on.write_counter(),
        "bm_mt_reset_counters" => on.reset_counters(),
        "bm_mt_get_meter_rates" => on.meter_rates(),
        "bm_mt_set_meter_rates" => on.set_meter_rates(),
        _ => Err(Fault::NoMethod),
    }
}

impl On<'_> {
    fn counter(self) -> Outcome {
        self.services.read(|artifact, pipeline| {
            let table = counted(artifact, self.table)?;
            let entry = by_handle(pipeline, &table.name, self.handle())?;
            let read = pipeline.direct_counter_read(&table.name, Some(&entry));
            read.map(count_value).map_err(error)
        })
    }

    fn write_counter(self) -> Outcome {
        let plan = |artifact: &Artifact, _: &SwitchNode, pipeline: &Pipeline| {
            let table = counted(artifact, self.table)?.name.clone();
            let entry = Some(by_handle(pipeline, &table, self.handle())?);
            let value = count(self.arguments.fields(4));
            Ok(vec![Update::DirectCounter {
                table,
                entry,
                value,
            }])
        };
        self.services.make(plan, of_entry)
    }

    fn reset_counters(self) -> Outcome {
        let mut next = Some(0);
        while let Some(cursor) = next {
            let plan = |artifact: &Artifact, _: &SwitchNode, pipeline: &Pipeline| {
                let table = counted(artifact, self.table)?;
                let some = pipeline.table_entries_from(&table.name, cursor, limits::AT_A_TIME);
                let (entries, more) = some.map_err(error)?;
                let reset = |entry| Update::DirectCounter {
                    table: table.name.clone(),
                    entry,
                    value: (0, 0),
                };
                let default = more.is_none().then_some(None);
                let all = entries.into_iter().map(Some).chain(default);
                Ok((all.map(reset).collect(), more))
            };
            next = self.services.change(plan, of_entry, |_, more| Ok(more))?;
        }
        Ok(Value::Void)
    }

    fn meter_rates(self) -> Outcome {
        self.services.read(|artifact, pipeline| {
            let table = metered(artifact, self.table)?;
            let entry = by_handle(pipeline, &table.name, self.handle())?;
            let rates = pipeline.direct_meter_rates(&table.name, Some(&entry));
            rates.map(rates_value).map_err(error)
        })
    }

    fn set_meter_rates(self) -> Outcome {
        let plan = |artifact: &Artifact, _: &SwitchNode, pipeline: &Pipeline| {
            let table = metered(artifact, self.table)?.name.clone();
            let entry = by_handle(pipeline, &table, self.handle())?;
            let Some(rates) = rates(self.arguments.list(4), ERROR)? else {
                return Err(Fault::Code(ERROR));
            };
            let rates = Some(rates);
            Ok(vec![Update::DirectMeter {
                table,
                entry: Some(entry),
                rates,
            }])
        };
        self.services.make(plan, of_entry)
    }
}

fn counted<'a>(artifact: &'a Artifact, name: &str) -> Result<&'a TableInfo, Fault> {
    let table = known(artifact, name)?;
    match table.direct_counter {
        Some(_) => Ok(table),
        None => Err(Fault::Code(COUNTERS_DISABLED)),
    }
}

fn metered<'a>(artifact: &'a Artifact, name: &str) -> Result<&'a TableInfo, Fault> {
    let table = known(artifact, name)?;
    match table.direct_meter {
        Some(_) => Ok(table),
        None => Err(Fault::Code(METERS_DISABLED)),
    }
}
