//! The classes `Configuration`, `Write`, `Read` and `Reader`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use phb_node::SwitchNode;
use phb_p4runtime::{BatchFailure, ReadRequest, Refusal, Role, WriteRequest};
use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::Switch;

create_exception!(
    phb_switch._native,
    RefusedError,
    PyException,
    "A request that is refused: `code` is one of google.rpc.Code, `message` says why."
);

fn refused(py: Python<'_>, refusal: Refusal) -> PyErr {
    let raised = RefusedError::new_err(refusal.message.clone());
    let value = raised.value(py);
    let set = value
        .setattr("code", refusal.code as i32)
        .and_then(|()| value.setattr("message", refusal.message));
    set.err().unwrap_or(raised)
}

fn role(ids: Option<BTreeSet<u32>>) -> Role {
    Role {
        replication: ids.is_none(),
        ids,
    }
}

type Failed<'py> = Option<(String, Bound<'py, PyBytes>)>;

fn failed(py: Python<'_>, failure: Option<BatchFailure>) -> Failed<'_> {
    failure.map(|failure| (failure.message, PyBytes::new(py, &failure.status)))
}

/// A program with its p4info, and what clients have written to it.
#[pyclass(module = "phb_switch._native", frozen)]
pub struct Configuration {
    inner: phb_p4runtime::Configuration,
    /// The switch with the program; another one after a commit.
    node: Mutex<Arc<Mutex<SwitchNode>>>,
}

impl Configuration {
    fn node(&self) -> Arc<Mutex<SwitchNode>> {
        Arc::clone(&self.node.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[pymethods]
impl Configuration {
    #[new]
    fn new(py: Python<'_>, switch: &Switch, p4info: &[u8]) -> PyResult<Self> {
        let node = Arc::clone(&switch.node);
        let inner = py
            .detach(|| phb_p4runtime::Configuration::new(p4info, &node, &BTreeMap::new()))
            .map_err(|refusal| refused(py, refusal))?;
        Ok(Self {
            inner,
            node: Mutex::new(node),
        })
    }

    #[pyo3(signature = (request, ids=None))]
    fn write<'py>(
        &self,
        py: Python<'py>,
        request: &Write,
        ids: Option<BTreeSet<u32>>,
    ) -> PyResult<Failed<'py>> {
        let node = self.node();
        let request = request.take();
        let outcomes = py.detach(|| {
            let outcomes = self.inner.write(&node, &request, &role(ids))?;
            Ok(BatchFailure::of(&outcomes, "write"))
        });
        let failure = outcomes.map_err(|refusal| refused(py, refusal))?;
        Ok(failed(py, failure))
    }

    #[pyo3(signature = (request, ids=None))]
    fn read(&self, py: Python<'_>, request: &Read, ids: Option<BTreeSet<u32>>) -> Reader {
        let request = request.take();
        let reader = py.detach(|| self.inner.read(&request, &role(ids)));
        Reader {
            inner: Mutex::new(reader),
            node: self.node(),
        }
    }

    fn carry_over(&self, py: Python<'_>, old: &Self) -> PyResult<()> {
        let (node, old_node) = (self.node(), old.node());
        py.detach(|| self.inner.carry_over(&node, &old.inner, &old_node))
            .map_err(|refusal| refused(py, refusal))
    }

    fn commit(&self, py: Python<'_>, switch: &Switch) {
        let from = self.node();
        let to = Arc::clone(&switch.node);
        py.detach(|| self.inner.commit(&from, &to));
        *self.node.lock().unwrap_or_else(PoisonError::into_inner) = to;
    }

    fn packet_in<'py>(&self, py: Python<'py>, frame: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let message = self.inner.packet_in(frame);
        let message = message.map_err(|refusal| refused(py, refusal))?;
        Ok(PyBytes::new(py, &message.response()))
    }

    fn packet_out<'py>(&self, py: Python<'py>, packet: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let frame = self.inner.packet_out(packet);
        let frame = frame.map_err(|refusal| refused(py, refusal))?;
        Ok(PyBytes::new(py, &frame))
    }
}

/// A p4.v1.WriteRequest.
#[pyclass(module = "phb_switch._native", frozen)]
pub struct Write {
    request: Mutex<WriteRequest>,
    #[pyo3(get)]
    device_id: u64,
    #[pyo3(get)]
    role: String,
    #[pyo3(get)]
    election_id: Option<u128>,
}

impl Write {
    fn take(&self) -> WriteRequest {
        std::mem::take(&mut self.request.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[pymethods]
impl Write {
    #[new]
    fn new(py: Python<'_>, serialized: &[u8]) -> PyResult<Self> {
        let request = py
            .detach(|| WriteRequest::decode(serialized.to_vec().into()))
            .map_err(|refusal| refused(py, refusal))?;
        Ok(Self {
            device_id: request.device_id(),
            role: request.role().to_owned(),
            election_id: request.election_id(),
            request: Mutex::new(request),
        })
    }
}

/// A p4.v1.ReadRequest.
#[pyclass(module = "phb_switch._native", frozen)]
pub struct Read {
    request: Mutex<ReadRequest>,
    #[pyo3(get)]
    device_id: u64,
    #[pyo3(get)]
    role: String,
}

impl Read {
    fn take(&self) -> ReadRequest {
        std::mem::take(&mut self.request.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[pymethods]
impl Read {
    #[new]
    fn new(py: Python<'_>, serialized: &[u8]) -> PyResult<Self> {
        let request = ReadRequest::decode(serialized.to_vec().into())
            .map_err(|refusal| refused(py, refusal))?;
        Ok(Self {
            device_id: request.device_id(),
            role: request.role().to_owned(),
            request: Mutex::new(request),
        })
    }
}

/// The answer to a read, piece by piece.
#[pyclass(module = "phb_switch._native", frozen)]
pub struct Reader {
    inner: Mutex<phb_p4runtime::Reader>,
    node: Arc<Mutex<SwitchNode>>,
}

impl Reader {
    fn lock(&self) -> MutexGuard<'_, phb_p4runtime::Reader> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[pymethods]
impl Reader {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyBytes>> {
        let piece = py.detach(|| self.lock().next_piece(&self.node));
        piece.map(|piece| PyBytes::new(py, &piece))
    }

    fn failure<'py>(&self, py: Python<'py>) -> Failed<'py> {
        failed(py, BatchFailure::of(self.lock().outcomes(), "read"))
    }
}
