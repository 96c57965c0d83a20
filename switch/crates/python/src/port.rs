//! The class `PortConfig`, and ports as arguments.

use phb_node::DEFAULT_BUFFER_PACKETS;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyMapping;

/// How one port transmits.
#[pyclass(module = "phb_switch._native", get_all, set_all)]
#[derive(Clone)]
pub struct PortConfig {
    rate_bps: Option<u64>,
    overhead_bytes: i32,
    transmit_ring: usize,
    buffer_packets: usize,
    queues: u8,
    queue_depth: Option<usize>,
    queue_rate_pps: Option<u64>,
}

#[pymethods]
impl PortConfig {
    #[new]
    #[pyo3(signature = (
        rate_bps=None, overhead_bytes=0, transmit_ring=0, buffer_packets=DEFAULT_BUFFER_PACKETS, *,
        queues=1, queue_depth=None, queue_rate_pps=None,
    ))]
    fn new(
        rate_bps: Option<u64>,
        overhead_bytes: i32,
        transmit_ring: usize,
        buffer_packets: usize,
        queues: u8,
        queue_depth: Option<usize>,
        queue_rate_pps: Option<u64>,
    ) -> Self {
        Self {
            rate_bps,
            overhead_bytes,
            transmit_ring,
            buffer_packets,
            queues,
            queue_depth,
            queue_rate_pps,
        }
    }

    fn __repr__(&self) -> String {
        let Self {
            rate_bps,
            overhead_bytes,
            transmit_ring,
            buffer_packets,
            queues,
            queue_depth,
            queue_rate_pps,
        } = self;
        let rate_bps = optional(*rate_bps);
        let queue_depth = optional(*queue_depth);
        let queue_rate_pps = optional(*queue_rate_pps);
        format!(
            "PortConfig(rate_bps={rate_bps}, overhead_bytes={overhead_bytes}, transmit_ring={transmit_ring}, \
             buffer_packets={buffer_packets}, queues={queues}, queue_depth={queue_depth}, \
             queue_rate_pps={queue_rate_pps})"
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
            queue_depth: config.queue_depth,
            queue_rate_pps: config.queue_rate_pps,
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
            queue_depth: config.queue_depth,
            queue_rate_pps: config.queue_rate_pps,
        }
    }
}

/// The highest port number of v1model, whose port fields have 9 bits.
const HIGHEST_PORT: u16 = 511;

/// Checks a port number.
pub(crate) fn port(number: &Bound<'_, PyAny>) -> PyResult<u16> {
    match number.extract::<u16>() {
        Ok(port) if port <= HIGHEST_PORT => Ok(port),
        _ => Err(PyValueError::new_err(format!(
            "port {number}: expected a number from 0 to {HIGHEST_PORT}"
        ))),
    }
}

/// Takes a mapping by port apart, in order of port numbers.
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
