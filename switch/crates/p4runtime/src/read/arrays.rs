//! Cells of counters, registers and meters.

use std::ops::Range;

use phb_pipeline::Pipeline;

use super::Source;
use crate::message::entity::{
    CounterData, CounterEntry, Entity, Index, Kind, MeterCounterData, MeterEntry, RegisterEntry,
};
use crate::schema::{DataShape, Schema, find};
use crate::status::{Result, unimplemented};
use crate::write::{cells, config};

/// Cells of one array that are still to be read.
pub(super) struct Cells {
    id: u32,
    name: String,
    array: Array,
    cells: Range<usize>,
}

enum Array {
    Counter,
    Register(DataShape),
    /// Whether with what it has counted of each colour.
    Meter(bool),
}

impl Cells {
    /// The next cell; None at the end, or if the program has no such array any more.
    pub(super) fn next(&mut self, pipeline: &Pipeline) -> Option<Entity> {
        let cell = self.cells.next()?;
        let index = Some(Index { index: cell as i64 });
        let kind = match &self.array {
            Array::Counter => Kind::Counter(CounterEntry {
                counter_id: self.id,
                index,
                data: Some(data(pipeline.counter_read(&self.name, cell).ok()?)),
            }),
            Array::Register(shape) => {
                let value = pipeline.register_read(&self.name, cell).ok()?;
                Kind::Register(RegisterEntry {
                    register_id: self.id,
                    index,
                    data: Some(shape.value(&mut std::iter::once(value))),
                })
            }
            Array::Meter(counted) => Kind::Meter(MeterEntry {
                meter_id: self.id,
                index,
                config: pipeline
                    .meter_rates(&self.name, cell)
                    .ok()?
                    .as_ref()
                    .map(config),
                counter_data: match counted {
                    true => Some(colours(pipeline.meter_counts(&self.name, cell).ok()?)),
                    false => None,
                },
            }),
        };
        Some(Entity { kind: Some(kind) })
    }
}

pub(super) fn data((packets, bytes): (u64, u64)) -> CounterData {
    let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
    CounterData {
        byte_count: number(bytes),
        packet_count: number(packets),
    }
}

pub(super) fn colours([green, yellow, red]: [(u64, u64); 3]) -> MeterCounterData {
    MeterCounterData {
        green: Some(data(green)),
        yellow: Some(data(yellow)),
        red: Some(data(red)),
    }
}

pub(super) fn counters(schema: &Schema, wanted: &CounterEntry) -> Result<Vec<Source>> {
    if wanted.counter_id != 0 {
        find(&schema.counters, wanted.counter_id, "counter")?;
    }
    let chosen = schema
        .counters
        .iter()
        .filter(|(id, _)| named(wanted.counter_id, **id));
    let sources = chosen.map(|(id, counter)| {
        Ok(Source::Cells(Cells {
            id: *id,
            name: counter.name.clone(),
            array: Array::Counter,
            cells: cells(&counter.name, counter.size, wanted.index)?,
        }))
    });
    sources.collect()
}

pub(super) fn registers(schema: &Schema, wanted: &RegisterEntry) -> Result<Vec<Source>> {
    if wanted.register_id != 0 {
        find(&schema.registers, wanted.register_id, "register")?;
    }
    let chosen = schema
        .registers
        .iter()
        .filter(|(id, _)| named(wanted.register_id, **id));
    let sources = chosen.map(|(id, register)| {
        let Some(shape) = &register.shape else {
            return unimplemented(format!(
                "register {}: only registers of numbers are supported",
                register.name
            ));
        };
        Ok(Source::Cells(Cells {
            id: *id,
            name: register.name.clone(),
            array: Array::Register(shape.clone()),
            cells: cells(&register.name, register.size, wanted.index)?,
        }))
    });
    sources.collect()
}

pub(super) fn meters(schema: &Schema, wanted: &MeterEntry) -> Result<Vec<Source>> {
    if wanted.meter_id != 0 {
        find(&schema.meters, wanted.meter_id, "meter")?;
    }
    let chosen = schema
        .meters
        .iter()
        .filter(|(id, _)| named(wanted.meter_id, **id));
    let sources = chosen.map(|(id, meter)| {
        Ok(Source::Cells(Cells {
            id: *id,
            name: meter.name.clone(),
            array: Array::Meter(wanted.counter_data.is_some()),
            cells: cells(&meter.name, meter.size, wanted.index)?,
        }))
    });
    sources.collect()
}

/// Whether an id is wanted; 0 wants all.
fn named(wanted: u32, id: u32) -> bool {
    wanted == 0 || wanted == id
}
