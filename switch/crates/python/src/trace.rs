//! The class `Traces`.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use phb_node::{SwitchNode, Watch, tracing};
use phb_trace::Filter;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;

/// Traces of a switch's packets, for one reader.
#[pyclass(module = "phb_switch._native", frozen)]
pub struct Traces {
    node: Arc<Mutex<SwitchNode>>,
    watch: Arc<Watch>,
}

impl Traces {
    pub(crate) fn start(
        py: Python<'_>,
        node: &Arc<Mutex<SwitchNode>>,
        filter: &str,
        frame_bytes: u32,
    ) -> PyResult<Self> {
        let filter = Filter::parse(filter)
            .map_err(|error| PyValueError::new_err(format!("filter '{filter}', {error}")))?;
        let watch = py.detach(|| tracing::watch(node, filter, frame_bytes));
        let most = tracing::WATCHERS;
        let watch = watch.ok_or_else(|| {
            PyRuntimeError::new_err(format!("the switch has {most} readers of traces, the most"))
        })?;
        Ok(Self {
            node: Arc::clone(node),
            watch,
        })
    }

    /// The traces that wait, each a line of JSON without its end.
    fn lines(&self, timeout_ms: u64) -> Vec<String> {
        let traced = self.watch.take(Duration::from_millis(timeout_ms));
        let lines = traced.iter().map(|traced| {
            let mut line = Vec::new();
            self.watch.append_json(traced, 0, &mut line);
            line.pop();
            // It is made of text alone.
            String::from_utf8(line).unwrap_or_default()
        });
        lines.collect()
    }
}

#[pymethods]
impl Traces {
    #[pyo3(signature = (timeout_ms=0))]
    fn take_lines<'py>(&self, py: Python<'py>, timeout_ms: u64) -> Vec<Bound<'py, PyString>> {
        let lines = py.detach(|| self.lines(timeout_ms));
        lines.iter().map(|line| PyString::new(py, line)).collect()
    }

    #[pyo3(signature = (timeout_ms=0))]
    fn take<'py>(&self, py: Python<'py>, timeout_ms: u64) -> PyResult<Vec<Bound<'py, PyAny>>> {
        let read = py.import("json")?.getattr("loads")?;
        let lines = self.take_lines(py, timeout_ms);
        lines.into_iter().map(|line| read.call1((line,))).collect()
    }

    #[getter]
    fn left_out(&self) -> u64 {
        self.watch.left_out()
    }

    fn stop(&self, py: Python<'_>) {
        py.detach(|| tracing::unwatch(&self.node, &self.watch));
    }

    fn __enter__(this: Py<Self>) -> Py<Self> {
        this
    }

    #[pyo3(signature = (*_error))]
    fn __exit__(&self, py: Python<'_>, _error: &Bound<'_, pyo3::types::PyTuple>) {
        self.stop(py);
    }
}

impl Drop for Traces {
    fn drop(&mut self) {
        tracing::unwatch(&self.node, &self.watch);
    }
}
