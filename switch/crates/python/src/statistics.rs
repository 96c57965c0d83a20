//! Counters as dictionaries.

use phb_node::{Drops, PortStatistics, QueueStatistics, Statistics};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

fn drops<'py>(py: Python<'py>, drops: &Drops) -> PyResult<Bound<'py, PyDict>> {
    let reasons = PyDict::new(py);
    for (reason, packets) in drops.iter() {
        reasons.set_item(reason.name(), packets)?;
    }
    Ok(reasons)
}

fn queue<'py>(py: Python<'py>, statistics: &QueueStatistics) -> PyResult<Bound<'py, PyDict>> {
    let counters = PyDict::new(py);
    counters.set_item("depth", statistics.depth)?;
    counters.set_item("depth_max", statistics.depth_max)?;
    counters.set_item("waiting_bytes", statistics.waiting_bytes)?;
    counters.set_item("waiting_bytes_max", statistics.waiting_bytes_max)?;
    counters.set_item("passed_packets", statistics.passed_packets)?;
    counters.set_item("passed_bytes", statistics.passed_bytes)?;
    counters.set_item("dropped_packets", statistics.dropped_packets)?;
    counters.set_item("dropped_bytes", statistics.dropped_bytes)?;
    Ok(counters)
}

fn port<'py>(
    py: Python<'py>,
    statistics: &PortStatistics,
    queues: &[QueueStatistics],
) -> PyResult<Bound<'py, PyDict>> {
    let counters = PyDict::new(py);
    counters.set_item("received_packets", statistics.received_packets)?;
    counters.set_item("received_bytes", statistics.received_bytes)?;
    counters.set_item("transmitted_packets", statistics.transmitted_packets)?;
    counters.set_item("transmitted_bytes", statistics.transmitted_bytes)?;
    counters.set_item("dropped", drops(py, &statistics.dropped)?)?;
    counters.set_item("queued", statistics.queued)?;
    counters.set_item("queue_depth_max", statistics.queue_depth_max)?;
    counters.set_item("queue_delay_packets", statistics.queue_delay_packets)?;
    counters.set_item("queue_delay_sum_ns", statistics.queue_delay_sum)?;
    counters.set_item("queue_delay_max_ns", statistics.queue_delay_max)?;
    let by_priority = PyList::empty(py);
    for of_queue in queues {
        by_priority.append(queue(py, of_queue)?)?;
    }
    counters.set_item("queues", by_priority)?;
    Ok(counters)
}

pub(crate) fn switch<'py>(
    py: Python<'py>,
    statistics: &Statistics,
    queues: &[Vec<QueueStatistics>],
) -> PyResult<Bound<'py, PyDict>> {
    let counters = PyDict::new(py);
    counters.set_item("received", statistics.received)?;
    counters.set_item("injected", statistics.injected)?;
    counters.set_item("copied", statistics.copied)?;
    counters.set_item("resubmitted", statistics.resubmitted)?;
    counters.set_item("recirculated", statistics.recirculated)?;
    counters.set_item("digests", statistics.digests)?;
    counters.set_item("digests_lost", statistics.digests_lost)?;
    counters.set_item("copied", statistics.copied)?;
    counters.set_item("resubmitted", statistics.resubmitted)?;
    counters.set_item("recirculated", statistics.recirculated)?;
    counters.set_item("digests", statistics.digests)?;
    counters.set_item("digests_lost", statistics.digests_lost)?;
    counters.set_item("transmitted", statistics.transmitted)?;
    counters.set_item("to_cpu", statistics.to_cpu)?;
    counters.set_item("dropped", drops(py, &statistics.dropped)?)?;
    counters.set_item("queued", statistics.queued)?;
    counters.set_item("imbalance", statistics.imbalance())?;
    let ports = PyDict::new(py);
    for ((number, of_port), of_queues) in statistics.ports.iter().zip(queues) {
        ports.set_item(number, port(py, of_port, of_queues)?)?;
    }
    counters.set_item("ports", ports)?;
    Ok(counters)
}
