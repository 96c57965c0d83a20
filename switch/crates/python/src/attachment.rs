//! The class `Port`.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use phb_ports::{CapturedPort, FilePort, PacketPort, TapPort};
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;

create_exception!(
    phb_switch._native,
    PortError,
    PyException,
    "A port that can't be had; `str()` is one line that says why."
);

type Opened = Box<dyn phb_ports::Port>;

/// An opened port, until a runner takes it.
#[pyclass(module = "phb_switch._native", frozen)]
pub struct Port(Mutex<Option<Opened>>);

fn port<P: phb_ports::Port + 'static>(opened: Result<P, phb_ports::PortError>) -> PyResult<Port> {
    match opened {
        Ok(opened) => Ok(Port(Mutex::new(Some(Box::new(opened))))),
        Err(error) => Err(PortError::new_err(error.to_string())),
    }
}

impl Port {
    pub(crate) fn take(&self) -> PyResult<Opened> {
        let mut port = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        port.take()
            .ok_or_else(|| PyValueError::new_err("the port is in use already"))
    }
}

#[pymethods]
impl Port {
    #[staticmethod]
    #[pyo3(signature = (name, *, rings=true))]
    fn interface(name: &str, rings: bool) -> PyResult<Self> {
        port(PacketPort::open_with(name, rings))
    }

    #[staticmethod]
    fn tap(name: &str) -> PyResult<Self> {
        port(TapPort::open(name))
    }

    #[staticmethod]
    #[pyo3(signature = (name, input, output, wait_s=0.0))]
    fn files(
        py: Python<'_>,
        name: &str,
        input: Option<PathBuf>,
        output: Option<PathBuf>,
        wait_s: f64,
    ) -> PyResult<Self> {
        let wait = Duration::try_from_secs_f64(wait_s)
            .ok()
            .and_then(|wait| u64::try_from(wait.as_nanos()).ok())
            .ok_or_else(|| PyValueError::new_err(format!("wait_s {wait_s}: expected a time")))?;
        port(py.detach(|| FilePort::open(name, input.as_deref(), output.as_deref(), wait)))
    }

    fn captured(&self, directory: PathBuf) -> PyResult<Self> {
        port(CapturedPort::new(self.take()?, &directory))
    }

    fn close(&self) {
        drop(self.take());
    }
}
