//! The class `ThriftServer`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use phb_node::Control;
use phb_thrift::{Address, Server};
use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;

use crate::switch::Switch;

/// bmv2's runtime services over Thrift for one switch, on threads of their own.
#[pyclass(module = "phb_switch._native", frozen)]
pub struct ThriftServer {
    switch: Py<Switch>,
    device_id: u64,
    server: Mutex<Option<Server>>,
}

impl ThriftServer {
    fn server(&self) -> MutexGuard<'_, Option<Server>> {
        self.server.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ThriftServer {
    /// Releases the interpreter's lock.
    fn drop(&mut self) {
        let server = self.server().take();
        Python::attach(|py| py.detach(|| drop(server)));
    }
}

#[pymethods]
impl ThriftServer {
    #[new]
    #[pyo3(signature = (switch, *, device_id=0))]
    fn new(switch: Py<Switch>, device_id: u64) -> Self {
        Self {
            switch,
            device_id,
            server: Mutex::new(None),
        }
    }

    fn start(&self, py: Python<'_>) -> PyResult<u16> {
        if self.server().is_some() {
            return Err(PyRuntimeError::new_err("it serves already"));
        }
        let switch = phb_thrift::Switch {
            control: Arc::new(Arc::clone(&self.switch.get().node)) as Arc<dyn Control>,
            ports: Box::new(Vec::new),
            device_id: self.device_id,
            started: Instant::now(),
        };
        let started = py
            .detach(|| Server::start(switch, Address::Loopback, 0, None))
            .map_err(|error| PyOSError::new_err(error.to_string()))?;
        let port = started.port();
        *self.server() = Some(started);
        Ok(port)
    }

    fn stop(&self, py: Python<'_>) {
        let server = self.server().take();
        py.detach(|| drop(server));
    }
}
