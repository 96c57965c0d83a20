//! The class `RealTime`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use phb_node::RunnerConfig;
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping};

use crate::attachment::Port;
use crate::network::Adapter;
use crate::port::by_port;
use crate::switch::Switch;

/// Runs a switch or an adapter on ports, in a thread of its own, by the monotonic clock.
#[pyclass(module = "phb_switch._native", frozen)]
pub struct RealTime(Arc<Mutex<phb_node::RealTime>>);

impl RealTime {
    fn runner(&self) -> MutexGuard<'_, phb_node::RealTime> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn attachments(&self) -> phb_gnmi::Attachments {
        let runner = Arc::clone(&self.0);
        Arc::new(move || {
            let runner = runner.lock().unwrap_or_else(PoisonError::into_inner);
            let ports = runner.statistics().into_iter();
            let attached = ports.map(|(number, name, counters)| {
                let attachment = phb_gnmi::Attachment {
                    link: counters.link,
                    missed: counters.missed,
                    refused: counters.refused,
                    receive_errors: counters.receive_errors,
                    send_errors: counters.send_errors,
                    discipline: counters.discipline,
                    held_back: counters.held_back,
                    ifindex: phb_ports::interface_index(&name),
                };
                (number, attachment)
            });
            attached.collect()
        })
    }
}

impl Drop for RealTime {
    /// Releases the interpreter's lock: the thread may want it for a report.
    fn drop(&mut self) {
        Python::attach(|py| py.detach(|| self.runner().stop()));
    }
}

#[pymethods]
impl RealTime {
    #[new]
    #[pyo3(signature = (node, ports, *, busy_poll_us=0, report=None))]
    fn new(
        node: &Bound<'_, PyAny>,
        ports: &Bound<'_, PyMapping>,
        busy_poll_us: u64,
        report: Option<Py<PyAny>>,
    ) -> PyResult<Self> {
        let mut opened = Vec::new();
        for (number, port) in by_port(ports)? {
            let port = port
                .cast::<Port>()
                .map_err(|_| PyValueError::new_err(format!("port {number}: expected a Port")))?;
            opened.push((number, port.get().take()?));
        }
        let mut config = RunnerConfig {
            busy_poll: Duration::from_micros(busy_poll_us),
            ..RunnerConfig::default()
        };
        if let Some(report) = report {
            config.report = Arc::new(move |message| {
                Python::attach(|py| {
                    if let Err(error) = report.call1(py, (message,)) {
                        error.write_unraisable(py, Some(report.bind(py)));
                    }
                });
            });
        }
        let runner = if let Ok(switch) = node.cast::<Switch>() {
            phb_node::RealTime::new(Arc::clone(&switch.get().node), opened, config)?
        } else if let Ok(adapter) = node.cast::<Adapter>() {
            phb_node::RealTime::new(Arc::clone(&adapter.get().node), opened, config)?
        } else {
            return Err(PyTypeError::new_err(
                "node: expected a Switch or an Adapter",
            ));
        };
        Ok(Self(Arc::new(Mutex::new(runner))))
    }

    fn start(&self, py: Python<'_>) -> PyResult<()> {
        if py.detach(|| self.runner().start())? {
            return Ok(());
        }
        Err(PyRuntimeError::new_err("the node runs already"))
    }

    fn stop(&self, py: Python<'_>) {
        py.detach(|| self.runner().stop());
    }

    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (running, error, failures, ports) = py.detach(|| {
            let runner = self.runner();
            let failures = runner.failures();
            (
                runner.is_running(),
                runner.error(),
                failures,
                runner.statistics(),
            )
        });
        let counters = PyDict::new(py);
        counters.set_item("running", running)?;
        counters.set_item("error", error)?;
        counters.set_item("failures", failures)?;
        let by_number = PyDict::new(py);
        for (number, name, counted) in ports {
            let of_port = PyDict::new(py);
            of_port.set_item("name", name)?;
            of_port.set_item("link", counted.link.word())?;
            of_port.set_item("without_rings", counted.without_rings)?;
            of_port.set_item("missed", counted.missed)?;
            of_port.set_item("receive_errors", counted.receive_errors)?;
            of_port.set_item("send_errors", counted.send_errors)?;
            of_port.set_item("refused", counted.refused)?;
            of_port.set_item("segmented", counted.segmented)?;
            of_port.set_item("not_captured", counted.not_captured)?;
            of_port.set_item("discipline", counted.discipline)?;
            of_port.set_item("held_back", counted.held_back)?;
            by_number.set_item(number, of_port)?;
        }
        counters.set_item("ports", by_number)?;
        Ok(counters)
    }
}
