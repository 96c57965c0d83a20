//! CounterEntry, RegisterEntry and MeterEntry: cells of arrays, one or all.

use std::ops::Range;

use phb_node::{Cells, Update as Change};
use phb_pipeline::{Count, MeterRates};

use super::Step;
use crate::bytestring::canonical;
use crate::message::entity::{
    CounterData, CounterEntry, DataKind, Index, MeterConfig, MeterCounterData, MeterEntry, P4Data,
    RegisterEntry,
};
use crate::schema::{DataShape, MeterKind, Register, Schema, find};
use crate::status::{Code, Refusal, Result, invalid, unimplemented};

pub(super) fn counter(entry: &CounterEntry, schema: &Schema) -> Result<Step> {
    let counter = find(&schema.counters, entry.counter_id, "counter")?;
    let cell = cell(&counter.name, counter.size, entry.index)?;
    let Some(data) = &entry.data else {
        return Ok(Step::of(Vec::new()));
    };
    let value = counts(data)?;
    let name = counter.name.clone();
    Ok(Step::of(vec![match cell {
        Some(index) => Change::Counter { name, index, value },
        None => Change::Counters {
            name,
            values: Cells::Same(value),
        },
    }]))
}

pub(super) fn register(entry: RegisterEntry, schema: &Schema) -> Result<Step> {
    let register = find(&schema.registers, entry.register_id, "register")?;
    let cell = cell(&register.name, register.size, entry.index)?;
    let value = register_value(register, entry.data)?;
    let name = register.name.clone();
    Ok(Step::of(vec![match cell {
        Some(index) => Change::Register { name, index, value },
        None => Change::Registers {
            name,
            values: Cells::Same(value),
        },
    }]))
}

pub(super) fn meter(entry: &MeterEntry, schema: &Schema) -> Result<Step> {
    let meter = find(&schema.meters, entry.meter_id, "meter")?;
    let cell = cell(&meter.name, meter.size, entry.index)?;
    let resets = resets(entry.counter_data.as_ref(), &meter.name)?;
    let config = entry.config.as_ref();
    let rates = config
        .map(|config| rates(&meter.name, config, meter.kind))
        .transpose()?;
    let name = meter.name.clone();
    let counts = <[Count; 3]>::default();
    let counted = resets.then(|| match cell {
        Some(index) => Change::MeterCounts {
            name: name.clone(),
            index,
            counts,
        },
        None => Change::MetersCounts {
            name: name.clone(),
            counts: Cells::Same(counts),
        },
    });
    let configured = match cell {
        Some(index) => Change::Meter { name, index, rates },
        None => Change::Meters {
            name,
            rates: Cells::Same(rates),
        },
    };
    Ok(Step::of(
        std::iter::once(configured).chain(counted).collect(),
    ))
}

/// Whether a write sets a meter's counts to zero, which is all that clients can do to them.
pub(super) fn resets(given: Option<&MeterCounterData>, name: &str) -> Result<bool> {
    let Some(given) = given else {
        return Ok(false);
    };
    let colours = [given.green, given.yellow, given.red];
    if colours
        .into_iter()
        .flatten()
        .any(|count| count != CounterData::default())
    {
        return invalid(format!(
            "meter {name}: what it has counted of a colour can only be set to zero"
        ));
    }
    Ok(true)
}

/// None for all cells.
pub(crate) fn cell(name: &str, size: u64, index: Option<Index>) -> Result<Option<usize>> {
    let Some(Index { index }) = index else {
        return Ok(None);
    };
    match u64::try_from(index) {
        Err(_) => invalid(format!("{name}: index {index} is negative")),
        Ok(index) if index >= size => Err(Refusal::new(
            Code::OutOfRange,
            format!("{name}: index {index} is beyond its {size} cells"),
        )),
        Ok(index) => Ok(Some(index as usize)),
    }
}

pub(crate) fn cells(name: &str, size: u64, index: Option<Index>) -> Result<Range<usize>> {
    let cell = cell(name, size, index)?;
    Ok(cell.map_or(0..size as usize, |cell| cell..cell + 1))
}

/// Packets and bytes.
pub(super) fn counts(data: &CounterData) -> Result<(u64, u64)> {
    let number = |count: i64| u64::try_from(count).ok();
    match number(data.packet_count).zip(number(data.byte_count)) {
        Some(counts) => Ok(counts),
        None => invalid("a counter can not be negative"),
    }
}

fn register_value(register: &Register, data: Option<P4Data>) -> Result<Vec<u8>> {
    let name = &register.name;
    let Some(shape) = &register.shape else {
        return unimplemented(format!(
            "register {name}: only registers of numbers are supported"
        ));
    };
    let (bits, bytes) = match (shape, data.and_then(|data| data.kind)) {
        (DataShape::Bool, Some(DataKind::Bool(value))) => (1, vec![u8::from(value)]),
        (DataShape::Number(bits), Some(DataKind::Bitstring(bytes)))
        | (DataShape::Enum(bits), Some(DataKind::EnumValue(bytes))) => (*bits, bytes),
        (DataShape::Bool, _) => return invalid(format!("register {name}: expected a bool")),
        (DataShape::Enum(_), _) => {
            return invalid(format!("register {name}: expected an enum_value"));
        }
        _ => return invalid(format!("register {name}: expected a bitstring")),
    };
    let mut bytes = bytes;
    canonical(&mut bytes, bits, format_args!("register {name}"))?;
    Ok(bytes)
}

/// A single-rate marker without an excess burst is a two-rate one with equal buckets.
pub(super) fn rates(name: &str, config: &MeterConfig, kind: MeterKind) -> Result<MeterRates> {
    let number = |value: i64| match u64::try_from(value) {
        Ok(number) => Ok(number),
        Err(_) => invalid(format!(
            "meter {name}: rates and bursts can not be negative"
        )),
    };
    let eburst = number(config.eburst)?;
    if kind != MeterKind::TwoRate && (config.pir, config.pburst) != (config.cir, config.cburst) {
        return invalid(format!(
            "meter {name}: a single-rate meter needs pir and pburst equal to cir and cburst"
        ));
    }
    match kind {
        MeterKind::SingleRate => {}
        _ if eburst != 0 => {
            return invalid(format!(
                "meter {name}: eburst belongs to single-rate three-colour meters (RFC 2697), which this is not"
            ));
        }
        _ => {}
    }
    let rates = MeterRates {
        committed_rate: number(config.cir)?,
        committed_burst: number(config.cburst)?,
        peak_rate: number(config.pir)?,
        peak_burst: number(config.pburst)?,
        excess_burst: eburst,
    };
    if rates.peak_rate < rates.committed_rate {
        return invalid(format!(
            "meter {name}: the peak rate {} is below the committed rate {}",
            rates.peak_rate, rates.committed_rate
        ));
    }
    Ok(rates)
}

/// The configuration that led to these rates.
pub(crate) fn config(rates: &MeterRates) -> MeterConfig {
    let number = |rate: u64| i64::try_from(rate).unwrap_or(i64::MAX);
    MeterConfig {
        cir: number(rates.committed_rate),
        cburst: number(rates.committed_burst),
        pir: number(rates.peak_rate),
        pburst: number(rates.peak_burst),
        eburst: number(rates.excess_burst),
    }
}
