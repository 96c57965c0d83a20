//! The class `Switch`.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use phb_network::{Frame, Node, Output, Time};
use phb_node::{Digests, PacketIns, SwitchConfig, SwitchNode, tracing};
use phb_pipeline::{Executor, Pipeline, WriteError};
use pyo3::create_exception;
use pyo3::exceptions::{PyIndexError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyInt, PyMapping};

use crate::control::{Match, Table, Update, entry, lookup_error, outcome};
use crate::port::{PortConfig, by_port, port};
use crate::statistics;
use crate::trace::Traces;

create_exception!(
    phb_switch._native,
    LoadError,
    PyValueError,
    "An artifact (bmv2 JSON) that the switch refuses: `path` is a JSON pointer into it, `message` says why."
);

/// A switch: a pipeline that a program defines, and a queue per port.
#[pyclass(module = "phb_switch._native", frozen)]
pub struct Switch {
    pub(crate) node: Arc<Mutex<SwitchNode>>,
    packet_ins: Arc<PacketIns>,
    digests: Arc<Digests>,
    config: SwitchConfig,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Switch {
    /// Releases the interpreter's lock while it waits for the switch's.
    fn with<T: Send>(&self, py: Python<'_>, action: impl FnOnce(&mut SwitchNode) -> T + Send) -> T {
        py.detach(|| action(&mut lock(&self.node)))
    }

    fn read<T: Send>(
        &self,
        py: Python<'_>,
        action: impl FnOnce(&Pipeline) -> Result<T, WriteError> + Send,
    ) -> PyResult<T> {
        let read = self.with(py, |node| node.pipeline().map(action));
        read.ok_or_else(|| PyRuntimeError::new_err("the switch has no program"))?
            .map_err(lookup_error)
    }
}

/// The executor of this name, if this build has it.
fn named(name: &str) -> PyResult<Executor> {
    let known = [Executor::Native, Executor::Interpreter];
    let found = known.into_iter().find(|executor| executor.name() == name);
    let executor = found.ok_or_else(|| {
        PyValueError::new_err(format!(
            "executor {name:?}: expected 'native' or 'interpreter'"
        ))
    })?;
    let has = executor.check();
    has.map_err(|why| PyValueError::new_err(format!("executor {name:?}: {why}")))?;
    Ok(executor)
}

/// At most `count` cells from `first` on, of `size`.
fn cells(
    name: &str,
    size: usize,
    first: usize,
    count: Option<usize>,
) -> PyResult<std::ops::Range<usize>> {
    let end = match count {
        None => size.max(first),
        Some(count) => first.saturating_add(count),
    };
    if end > size {
        return Err(PyIndexError::new_err(format!(
            "{name} has {size} cells, so there is none with index {}",
            end - 1
        )));
    }
    Ok(first..end)
}

#[pymethods]
impl Switch {
    #[new]
    #[pyo3(signature = (name, ports, seed=1, cpu_port=None, drop_port=511, executor=None))]
    fn new(
        name: String,
        ports: &Bound<'_, PyMapping>,
        seed: u64,
        cpu_port: Option<Bound<'_, PyAny>>,
        drop_port: u16,
        executor: Option<&str>,
    ) -> PyResult<Self> {
        let executor = executor.map_or(Ok(Executor::default()), named)?;
        let cpu_port = cpu_port.as_ref().map(port).transpose()?;
        let config = SwitchConfig {
            name,
            cpu_port,
            drop_port,
            seed,
            executor,
        };
        let mut configured = Vec::new();
        for (number, value) in by_port(ports)? {
            let given = value.cast::<PortConfig>()?;
            if number == drop_port {
                return Err(PyValueError::new_err(format!(
                    "port {number} is the drop port"
                )));
            }
            configured.push((number, (&*given.borrow()).into()));
        }
        let node = SwitchNode::new(config.clone(), configured);
        let packet_ins = node.packet_ins();
        let digests = node.digests();
        Ok(Self {
            node: Arc::new(Mutex::new(node)),
            packet_ins,
            digests,
            config,
        })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.config.name
    }

    #[getter]
    fn cpu_port(&self) -> Option<u16> {
        self.config.cpu_port
    }

    #[getter]
    fn drop_port(&self) -> u16 {
        self.config.drop_port
    }

    #[getter]
    fn seed(&self) -> u64 {
        self.config.seed
    }

    #[getter]
    fn execution<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(execution) = self.with(py, |node| node.pipeline().map(Pipeline::execution)) else {
            return Ok(None);
        };
        let told = PyDict::new(py);
        told.set_item("executor", execution.executor.name())?;
        told.set_item("reason", execution.reason)?;
        told.set_item("code_bytes", execution.code_bytes)?;
        Ok(Some(told))
    }

    #[getter]
    fn loaded(&self, py: Python<'_>) -> bool {
        self.with(py, |node| node.pipeline().is_some())
    }

    fn load(&self, py: Python<'_>, artifact_json: &str) -> PyResult<()> {
        let options = self.config.of_program();
        let loaded = py.detach(|| Pipeline::load(artifact_json, options));
        match loaded {
            Ok(pipeline) => {
                py.detach(|| tracing::install(&self.node, pipeline));
                Ok(())
            }
            Err(error) => {
                let raised = LoadError::new_err(error.to_string());
                raised.value(py).setattr("path", error.path)?;
                raised.value(py).setattr("message", error.message)?;
                Err(raised)
            }
        }
    }

    fn adopt(&self, py: Python<'_>, other: &Self) -> PyResult<()> {
        let pipeline = other.with(py, SwitchNode::take_pipeline);
        let pipeline =
            pipeline.ok_or_else(|| PyValueError::new_err("the other switch has no program"))?;
        py.detach(|| tracing::install(&self.node, pipeline));
        Ok(())
    }

    fn write(&self, py: Python<'_>, updates: Vec<Py<Update>>, atomic: bool) -> Vec<(i32, String)> {
        let updates: Vec<&phb_node::Update> =
            updates.iter().map(|update| &update.get().0).collect();
        let results = self.with(py, |node| node.write(&updates, atomic));
        results.into_iter().map(outcome).collect()
    }

    fn tables(&self, py: Python<'_>) -> PyResult<Vec<Table>> {
        let tables = self.read(py, |pipeline| Ok(pipeline.tables()))?;
        Ok(tables.into_iter().map(Table::from).collect())
    }

    fn counters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let sizes = PyDict::new(py);
        for (name, size) in self.read(py, |pipeline| Ok(pipeline.counters()))? {
            sizes.set_item(name, size)?;
        }
        Ok(sizes)
    }

    fn registers<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let sizes = PyDict::new(py);
        for (name, size, bits) in self.read(py, |pipeline| Ok(pipeline.registers()))? {
            sizes.set_item(name, (size, bits))?;
        }
        Ok(sizes)
    }

    fn meters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let sizes = PyDict::new(py);
        for (name, size) in self.read(py, |pipeline| Ok(pipeline.meters()))? {
            sizes.set_item(name, size)?;
        }
        Ok(sizes)
    }

    #[pyo3(signature = (name, first=0, count=None))]
    fn read_counter(
        &self,
        py: Python<'_>,
        name: &str,
        first: usize,
        count: Option<usize>,
    ) -> PyResult<Vec<(u64, u64)>> {
        // Copies only these cells: some arrays have a million.
        self.read(py, |pipeline| {
            let all = pipeline.counter_read_all(name)?;
            Ok(cells(name, all.len(), first, count).map(|wanted| all[wanted].to_vec()))
        })?
    }

    fn read_direct_counter(
        &self,
        py: Python<'_>,
        table: &str,
        matches: Vec<(String, PyRef<'_, Match>)>,
        priority: i32,
    ) -> PyResult<(u64, u64)> {
        let wanted = entry(matches, priority);
        self.read(py, |pipeline| {
            pipeline.direct_counter_read(table, Some(&wanted))
        })
    }

    #[pyo3(signature = (name, first=0, count=None))]
    fn read_register(
        &self,
        py: Python<'_>,
        name: &str,
        first: usize,
        count: Option<usize>,
    ) -> PyResult<Vec<Py<PyAny>>> {
        let size = self.read(py, |pipeline| {
            Ok(pipeline
                .registers()
                .into_iter()
                .find(|(known, _, _)| known == name)
                .map(|(_, size, _)| size))
        })?;
        let wanted = cells(name, size.unwrap_or(usize::MAX), first, count)?;
        let values: Vec<Vec<u8>> = self.read(py, |pipeline| {
            wanted
                .map(|index| pipeline.register_read(name, index))
                .collect()
        })?;
        let integer = py.get_type::<PyInt>();
        let read = |value: Vec<u8>| {
            let number = integer.call_method1("from_bytes", (PyBytes::new(py, &value), "big"))?;
            Ok(number.unbind())
        };
        values.into_iter().map(read).collect()
    }

    fn ports<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let ports: Vec<_> = self.with(py, |node| {
            node.ports()
                .map(|(number, port)| (number, port.clone()))
                .collect()
        });
        let configs = PyDict::new(py);
        for (number, config) in &ports {
            configs.set_item(number, PortConfig::from(config))?;
        }
        Ok(configs)
    }

    #[pyo3(signature = (port, config))]
    fn set_port(
        &self,
        py: Python<'_>,
        port: &Bound<'_, PyAny>,
        config: PyRef<'_, PortConfig>,
    ) -> PyResult<()> {
        let number = crate::port::port(port)?;
        let config = (&*config).into();
        self.with(py, |node| node.set_port(number, config));
        Ok(())
    }

    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let (counters, queues) = self.with(py, |node| {
            let counters = node.statistics();
            let numbers = counters.ports.iter().map(|(number, _)| *number);
            let queues: Vec<_> = numbers.map(|number| node.queues(number)).collect();
            (counters, queues)
        });
        statistics::switch(py, &counters, &queues)
    }

    fn check(&self, py: Python<'_>) -> i128 {
        self.with(py, |node| node.check())
    }

    fn packet_out(&self, py: Python<'_>, frame: Vec<u8>) -> PyResult<()> {
        if self.with(py, |node| node.packet_out(frame)) {
            return Ok(());
        }
        Err(PyValueError::new_err(format!(
            "switch {} has no CPU port",
            self.config.name
        )))
    }

    #[pyo3(signature = (timeout_ms=0))]
    fn packets_in<'py>(&self, py: Python<'py>, timeout_ms: u64) -> Vec<Bound<'py, PyBytes>> {
        let frames = py.detach(|| self.packet_ins.take(Duration::from_millis(timeout_ms)));
        frames.iter().map(|frame| PyBytes::new(py, frame)).collect()
    }

    #[pyo3(signature = (timeout_ms=0))]
    fn digests_in<'py>(
        &self,
        py: Python<'py>,
        timeout_ms: u64,
    ) -> Vec<(String, Vec<Bound<'py, PyBytes>>)> {
        let messages = py.detach(|| self.digests.take(Duration::from_millis(timeout_ms)));
        if messages.is_empty() {
            return Vec::new();
        }
        let lists = self.with(py, |node| node.pipeline().map(Pipeline::digest_lists));
        let lists = lists.unwrap_or_default();
        // A message of a replaced program may have no list.
        let named = messages.iter().filter_map(|message| {
            let list = lists.get(message.list as usize)?;
            let fields = message.fields.iter().map(|field| PyBytes::new(py, field));
            Some((list.name.clone(), fields.collect()))
        });
        named.collect()
    }

    #[pyo3(signature = (filter="", *, frame_bytes=0))]
    fn trace(&self, py: Python<'_>, filter: &str, frame_bytes: u32) -> PyResult<Traces> {
        Traces::start(py, &self.node, filter, frame_bytes)
    }

    fn process<'py>(
        &self,
        py: Python<'py>,
        port: &Bound<'py, PyAny>,
        frame: Vec<u8>,
        now_ns: Time,
    ) -> PyResult<Vec<(Time, u16, Bound<'py, PyBytes>)>> {
        let number = crate::port::port(port)?;
        let sent = self.with(py, |node| {
            let mut out = Output::new();
            let mut sent = Vec::new();
            let mut now = now_ns;
            out.begin(now);
            node.receive(now, number, Frame::new(frame), &mut out);
            sent.extend(out.drain());
            // Only ticks up to now: idle entries cause them for ever.
            if node.next_tick().is_some_and(|tick| tick <= now) {
                out.begin(now);
                node.tick(now, &mut out);
                sent.extend(out.drain());
            }
            while let Some(tick) = node.next_event() {
                now = now.max(tick);
                out.begin(now);
                node.tick(now, &mut out);
                sent.extend(out.drain());
            }
            sent
        });
        let converted = sent
            .iter()
            .map(|each| (each.at, each.port, PyBytes::new(py, &each.frame.bytes)));
        Ok(converted.collect())
    }
}
