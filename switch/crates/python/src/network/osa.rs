//! The arguments of `add_osa`.

use phb_hosts::osa::{Distribution, LanIdle, PriorityMapping};
use pyo3::prelude::*;

use super::arguments::{Integer, address, refused, wrong};

/// Static with one value, dynamic with the three others.
pub(crate) fn lan_idle(
    fixed: Option<Integer>,
    interactive: Option<Integer>,
    streaming: Option<Integer>,
    interval: Option<Integer>,
) -> PyResult<LanIdle> {
    match (fixed, interactive, streaming, interval) {
        (Some(fixed), None, None, None) => Ok(LanIdle::Static(fixed.word("lan_idle_ns")?)),
        (None, Some(interactive), Some(streaming), Some(interval)) => Ok(LanIdle::Dynamic {
            interactive: interactive.word("interactive_idle_ns")?,
            streaming: streaming.word("streaming_idle_ns")?,
            interval: interval.word("idle_interval_ns")?,
        }),
        _ => Err(wrong(
            "lan_idle_ns",
            "either this alone is expected, or interactive_idle_ns, streaming_idle_ns and idle_interval_ns",
        )),
    }
}

pub(crate) fn priorities(
    mask: &Integer,
    pairs: Vec<(Integer, Integer)>,
) -> PyResult<PriorityMapping> {
    let byte = |number: &Integer, argument| number.up_to::<u8>(argument, u64::from(u8::MAX));
    let pairs = pairs
        .iter()
        .map(|(queue, tos)| Ok((byte(queue, "priorities")?, byte(tos, "priorities")?)))
        .collect::<PyResult<Vec<_>>>()?;
    PriorityMapping::new(byte(mask, "priority_mask")?, &pairs).map_err(|error| refused(&error))
}

pub(crate) fn distributions(pairs: Vec<(String, Vec<String>)>) -> PyResult<Vec<Distribution>> {
    let distribution = |(distributed, targets): (String, Vec<String>)| {
        Ok(Distribution {
            address: address("distributions", &distributed)?,
            targets: targets
                .iter()
                .map(|target| address("distributions", target))
                .collect::<PyResult<_>>()?,
        })
    };
    pairs.into_iter().map(distribution).collect()
}
