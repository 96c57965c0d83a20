//! The class `PortConfig`, and ports as arguments.

use phb_node::DEFAULT_BUFFER_PACKETS;
use phb_traffic_manager::ShaperConfig;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyMapping;

/// The most that a port passes.
#[pyclass(module = "phb_switch._native", get_all, eq, frozen, from_py_object)]
#[derive(Clone, PartialEq, Eq)]
pub struct Shaper {
    rate_bps: u64,
    burst_bytes: u32,
    overhead_bytes: i32,
}

#[pymethods]
impl Shaper {
    #[new]
    #[pyo3(signature = (rate_bps, burst_bytes=0, overhead_bytes=0))]
    fn new(rate_bps: u64, burst_bytes: u32, overhead_bytes: i32) -> Self {
        Self {
            rate_bps,
            burst_bytes,
            overhead_bytes,
        }
    }

    fn __repr__(&self) -> String {
        let Self {
            rate_bps,
            burst_bytes,
            overhead_bytes,
        } = self;
        format!(
            "Shaper(rate_bps={rate_bps}, burst_bytes={burst_bytes}, overhead_bytes={overhead_bytes})"
        )
    }
}

impl From<&Shaper> for ShaperConfig {
    fn from(shaper: &Shaper) -> Self {
        Self {
            rate_bps: shaper.rate_bps,
            burst_bytes: shaper.burst_bytes,
            overhead_bytes: shaper.overhead_bytes,
        }
    }
}

impl From<&ShaperConfig> for Shaper {
    fn from(shaper: &ShaperConfig) -> Self {
        Self {
            rate_bps: shaper.rate_bps,
            burst_bytes: shaper.burst_bytes,
            overhead_bytes: shaper.overhead_bytes,
        }
    }
}

/// How one port transmits.
#[pyclass(module = "phb_switch._native", get_all, set_all)]
#[derive(Clone)]
pub struct PortConfig {
    rate_bps: Option<u64>,
    overhead_bytes: i32,
    transmit_ring: usize,
    buffer_packets: usize,
    queues: u8,
    strict_priority: bool,
    queue_depth: Option<usize>,
    queue_rate_pps: Option<u64>,
    shaper: Option<Shaper>,
}

#[pymethods]
impl PortConfig {
    #[new]
    #[pyo3(signature = (
        rate_bps=None, overhead_bytes=0, transmit_ring=0, buffer_packets=DEFAULT_BUFFER_PACKETS, *,
        queues=1, strict_priority=false, queue_depth=None, queue_rate_pps=None, shaper=None,
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        rate_bps: Option<u64>,
        overhead_bytes: i32,
        transmit_ring: usize,
        buffer_packets: usize,
        queues: u8,
        strict_priority: bool,
        queue_depth: Option<usize>,
        queue_rate_pps: Option<u64>,
        shaper: Option<Shaper>,
    ) -> Self {
        Self {
            rate_bps,
            overhead_bytes,
            transmit_ring,
            buffer_packets,
            queues,
            strict_priority,
            queue_depth,
            queue_rate_pps,
            shaper,
        }
    }

    fn __repr__(&self) -> String {
        let Self {
            rate_bps,
            overhead_bytes,
            transmit_ring,
            buffer_packets,
            queues,
            strict_priority,
            queue_depth,
            queue_rate_pps,
            shaper,
        } = self;
        let rate_bps = optional(*rate_bps);
        let queue_depth = optional(*queue_depth);
        let queue_rate_pps = optional(*queue_rate_pps);
        let shaper = optional(shaper.as_ref().map(Shaper::__repr__));
        let strict_priority = if *strict_priority { "True" } else { "False" };
        format!(
            "PortConfig(rate_bps={rate_bps}, overhead_bytes={overhead_bytes}, transmit_ring={transmit_ring}, \
             buffer_packets={buffer_packets}, queues={queues}, strict_priority={strict_priority}, \
             queue_depth={queue_depth}, queue_rate_pps={queue_rate_pps}, shaper={shaper})"
        )
    }

    fn __eq__(&self, other: &Self) -> bool {
        phb_traffic_manager::PortConfig::from(self) == other.into()
    }
}

fn optional(value: Option<impl ToString>) -> String {
    value.map_or_else(|| "None".to_owned(), |value| value.to_string())
}

impl From<&PortConfig> for phb_traffic_manager::PortConfig {
    fn from(config: &PortConfig) -> Self {
        Self {
            rate_bps: config.rate_bps,
            overhead_bytes: config.overhead_bytes,
            transmit_ring: config.transmit_ring,
            buffer_packets: config.buffer_packets,
            queues: config.queues,
            strict_priority: config.strict_priority,
            queue_depth: config.queue_depth,
            queue_rate_pps: config.queue_rate_pps,
            shaper: config.shaper.as_ref().map(Into::into),
            ..Self::default()
        }
    }
}

impl From<&phb_traffic_manager::PortConfig> for PortConfig {
    fn from(config: &phb_traffic_manager::PortConfig) -> Self {
        Self {
            rate_bps: config.rate_bps,
            overhead_bytes: config.overhead_bytes,
            transmit_ring: config.transmit_ring,
            buffer_packets: config.buffer_packets,
            queues: config.queues,
            strict_priority: config.strict_priority,
            queue_depth: config.queue_depth,
            queue_rate_pps: config.queue_rate_pps,
            shaper: config.shaper.as_ref().map(Into::into),
        }
    }
}

/// v1model's port fields have 9 bits.
const HIGHEST_PORT: u16 = 511;

pub(crate) fn port(number: &Bound<'_, PyAny>) -> PyResult<u16> {
    match number.extract::<u16>() {
        Ok(port) if port <= HIGHEST_PORT => Ok(port),
        _ => Err(PyValueError::new_err(format!(
            "port {number}: expected a number from 0 to {HIGHEST_PORT}"
        ))),
    }
}

/// A mapping by port, in order.
pub(crate) fn by_port<'py>(
    mapping: &Bound<'py, PyMapping>,
) -> PyResult<Vec<(u16, Bound<'py, PyAny>)>> {
    let mut ports = Vec::new();
    for item in mapping.items()? {
        let (number, value): (Bound<'py, PyAny>, Bound<'py, PyAny>) = item.extract()?;
        ports.push((port(&number)?, value));
    }
    ports.sort_by_key(|(number, _)| *number);
    Ok(ports)
}
