//! The class `RealTime`.

use std::os::fd::{BorrowedFd, OwnedFd, RawFd};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMapping};

use crate::port::by_port;
use crate::switch::Switch;

/// Runs a switch on packet sockets, in a thread of its own, by the monotonic clock.
#[pyclass(module = "phb_switch._native", frozen)]
pub struct RealTime(Mutex<phb_node::RealTime>);

impl RealTime {
    fn runner(&self) -> MutexGuard<'_, phb_node::RealTime> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl RealTime {
    #[new]
    fn new(switch: &Switch, sockets: &Bound<'_, PyMapping>) -> PyResult<Self> {
        let mut descriptors = Vec::new();
        for (port, descriptor) in by_port(sockets)? {
            descriptors.push((port, duplicate(descriptor.extract()?)?));
        }
        Ok(Self(Mutex::new(phb_node::RealTime::new(
            Arc::clone(&switch.node),
            descriptors,
        )?)))
    }

    fn start(&self, py: Python<'_>) -> PyResult<()> {
        if py.detach(|| self.runner().start())? {
            return Ok(());
        }
        Err(PyRuntimeError::new_err("the switch runs already"))
    }

    fn stop(&self, py: Python<'_>) {
        py.detach(|| self.runner().stop());
    }

    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (running, error, sockets) = py.detach(|| {
            let runner = self.runner();
            (runner.is_running(), runner.error(), runner.statistics())
        });
        let counters = PyDict::new(py);
        counters.set_item("running", running)?;
        counters.set_item("error", error)?;
        let ports = PyDict::new(py);
        for (number, of_socket) in sockets {
            let of_port = PyDict::new(py);
            of_port.set_item("receive_errors", of_socket.receive_errors)?;
            of_port.set_item("send_errors", of_socket.send_errors)?;
            of_port.set_item("unsegmented", of_socket.unsegmented)?;
            ports.set_item(number, of_port)?;
        }
        counters.set_item("ports", ports)?;
        Ok(counters)
    }
}

/// A descriptor of our own for what Python's descriptor means.
fn duplicate(descriptor: RawFd) -> PyResult<OwnedFd> {
    if descriptor < 0 {
        return Err(PyValueError::new_err(format!(
            "{descriptor} is no file descriptor"
        )));
    }
    // A number is all that Python has for a descriptor, so no safe function can take it.
    // SAFETY: it is not -1, and it is used for nothing but dup(2), which answers EBADF if it is not open. Nothing can
    // close it meanwhile: the interpreter's lock is held.
    #[allow(unsafe_code)]
    let borrowed = unsafe { BorrowedFd::borrow_raw(descriptor) };
    Ok(borrowed.try_clone_to_owned()?)
}
