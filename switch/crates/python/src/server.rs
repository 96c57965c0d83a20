//! The class `P4RuntimeServer`, with its TLS files and rights.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use phb_server::{
    Authorization, ClientCertificates, Manners, Object, RoleRights, Server, ServerConfig, TlsFiles,
};
use pyo3::exceptions::{PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::real_time::RealTime;
use crate::switch::Switch;

/// Files of TLS in PEM, and what clients have to show.
#[pyclass(module = "phb_switch._native", frozen, from_py_object)]
#[derive(Clone)]
pub struct Tls(TlsFiles);

#[pymethods]
impl Tls {
    #[new]
    #[pyo3(signature = (certificate, key, *, client_authority=None, clients="required"))]
    fn new(
        certificate: PathBuf,
        key: PathBuf,
        client_authority: Option<PathBuf>,
        clients: &str,
    ) -> PyResult<Self> {
        let clients = match clients {
            _ if client_authority.is_none() => ClientCertificates::NotAsked,
            "required" => ClientCertificates::Required,
            "optional" => ClientCertificates::Optional,
            "none" => ClientCertificates::NotAsked,
            other => {
                let message =
                    format!("clients {other:?}: expected 'required', 'optional' or 'none'");
                return Err(PyValueError::new_err(message));
            }
        };
        Ok(Self(TlsFiles {
            certificate,
            key,
            client_authority,
            clients,
        }))
    }
}

/// The rights of a certificate's holder.
#[pyclass(module = "phb_switch._native", frozen, from_py_object)]
#[derive(Clone)]
pub struct Binding(phb_server::Binding);

#[pymethods]
impl Binding {
    #[new]
    #[pyo3(signature = (name, *, roles=None, device_ids=None, read_only=false))]
    fn new(
        name: String,
        roles: Option<BTreeSet<String>>,
        device_ids: Option<BTreeSet<u64>>,
        read_only: bool,
    ) -> Self {
        Self(phb_server::Binding {
            name,
            roles,
            devices: device_ids,
            read_only,
        })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.0.name
    }
}

#[derive(FromPyObject)]
enum ObjectName {
    Id(u32),
    Name(String),
}

/// The rights of a role.
#[pyclass(module = "phb_switch._native", frozen, from_py_object)]
#[derive(Clone)]
pub struct Role(RoleRights);

#[pymethods]
impl Role {
    #[new]
    #[pyo3(signature = (name, *, objects=None, packet_in=false, packet_out=false, pipeline=false, replication=false, gnmi=Vec::new()))]
    fn new(
        name: String,
        objects: Option<Vec<ObjectName>>,
        packet_in: bool,
        packet_out: bool,
        pipeline: bool,
        replication: bool,
        gnmi: Vec<String>,
    ) -> Self {
        let objects = objects.map(|all| {
            let objects = all.into_iter().map(|object| match object {
                ObjectName::Id(id) => Object::Id(id),
                ObjectName::Name(name) => Object::Name(name),
            });
            objects.collect()
        });
        Self(RoleRights {
            name,
            objects,
            packet_in,
            packet_out,
            pipeline,
            replication,
            gnmi,
        })
    }
}

enum Life {
    New(Box<ServerConfig>),
    Serving(Server),
    Stopped,
}

/// P4Runtime, gNMI, health and reflection for one switch, on threads of their own.
#[pyclass(module = "phb_switch._native", frozen)]
pub struct P4RuntimeServer {
    switch: Py<Switch>,
    address: String,
    life: Mutex<Life>,
}

impl P4RuntimeServer {
    fn life(&self) -> MutexGuard<'_, Life> {
        self.life.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for P4RuntimeServer {
    /// Releases the interpreter's lock.
    fn drop(&mut self) {
        let life = std::mem::replace(&mut *self.life(), Life::Stopped);
        Python::attach(|py| py.detach(|| drop(life)));
    }
}

#[pymethods]
impl P4RuntimeServer {
    #[new]
    #[pyo3(signature = (
        switch, *, device_id, address="127.0.0.1:0".to_owned(), names=BTreeMap::new(), runner=None, tls=None,
        bindings=None, roles=Vec::new(), gnmi=true, like_bmv2=false, workers=1,
    ))]
    #[expect(clippy::too_many_arguments, reason = "they are keywords in Python")]
    fn new(
        switch: Py<Switch>,
        device_id: u64,
        address: String,
        names: BTreeMap<u16, String>,
        runner: Option<&RealTime>,
        tls: Option<Tls>,
        bindings: Option<Vec<Binding>>,
        roles: Vec<Role>,
        gnmi: bool,
        like_bmv2: bool,
        workers: usize,
    ) -> Self {
        let authorization = bindings.map(|clients| Authorization {
            clients: clients.into_iter().map(|binding| binding.0).collect(),
            roles: roles.into_iter().map(|role| role.0).collect(),
        });
        let mut config = ServerConfig::new(device_id, address.clone());
        config.names = names;
        config.tls = tls.map(|tls| tls.0);
        config.authorization = authorization;
        config.gnmi = gnmi;
        config.workers = workers;
        if like_bmv2 {
            config.manners = Manners::Bmv2;
        }
        if let Some(runner) = runner {
            config.attachments = runner.attachments();
        }
        Self {
            switch,
            address,
            life: Mutex::new(Life::New(Box::new(config))),
        }
    }

    fn start(&self, py: Python<'_>) -> PyResult<u16> {
        let life = std::mem::replace(&mut *self.life(), Life::Stopped);
        let Life::New(config) = life else {
            *self.life() = life;
            let message = "a server is started once";
            return Err(PyRuntimeError::new_err(message));
        };
        let node = Arc::clone(&self.switch.get().node);
        let server = py
            .detach(|| Server::start(node, *config))
            .map_err(|error| PyOSError::new_err(error.to_string()))?;
        let port = server.address().rsplit(':').next();
        let port = port.and_then(|port| port.parse().ok()).unwrap_or(0);
        *self.life() = Life::Serving(server);
        Ok(port)
    }

    fn stop(&self, py: Python<'_>) {
        let life = std::mem::replace(&mut *self.life(), Life::Stopped);
        py.detach(|| drop(life));
    }

    #[getter]
    fn address(&self) -> String {
        match &*self.life() {
            Life::Serving(server) => server.address().to_owned(),
            _ => self.address.clone(),
        }
    }

    fn __enter__(this: PyRef<'_, Self>, py: Python<'_>) -> PyResult<Py<Self>> {
        this.start(py)?;
        Ok(this.into())
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, pyo3::types::PyTuple>) {
        self.stop(py);
    }
}

pub(crate) fn limits(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    use phb_server::limits as of;
    let limits = PyDict::new(py);
    for (name, limit) in [
        ("connections", of::CONNECTIONS),
        ("connections_of_one", of::CONNECTIONS_OF_ONE),
        ("calls", of::CALLS),
        ("calls_of_one", of::CALLS_OF_ONE),
        ("reads", of::READS),
        ("reads_of_one", of::READS_OF_ONE),
        ("subscriptions", of::SUBSCRIPTIONS),
        ("subscriptions_of_one", of::SUBSCRIPTIONS_OF_ONE),
        ("watches", of::WATCHES),
        ("watches_of_one", of::WATCHES_OF_ONE),
        ("waiting_traces", of::WAITING_TRACES),
        ("telemetries", of::TELEMETRIES),
        ("telemetries_of_one", of::TELEMETRIES_OF_ONE),
        ("cells", of::CELLS),
        ("cells_of_one", of::CELLS_OF_ONE),
        ("ranges", of::RANGES),
        ("streams", of::STREAMS),
        ("streams_of_one", of::STREAMS_OF_ONE),
        ("streams_of_a_role", of::STREAMS_OF_A_ROLE),
        ("roles", of::ROLES),
        ("metadata_bytes", of::METADATA_BYTES as usize),
        ("message_bytes", of::MESSAGE_BYTES),
        ("small_message_bytes", of::SMALL_MESSAGE_BYTES),
        ("stream_message_bytes", of::STREAM_MESSAGE_BYTES),
        ("p4info_bytes", of::P4INFO_BYTES),
        ("program_bytes", of::PROGRAM_BYTES),
        ("role_config_bytes", of::ROLE_CONFIG_BYTES),
        ("packet_out_bytes", of::PACKET_OUT_BYTES),
        ("held_bytes", of::HELD_BYTES),
        ("held_bytes_of_one", of::HELD_BYTES_OF_ONE),
        ("waiting", of::WAITING),
        ("waiting_bytes", of::WAITING_BYTES),
        ("waiting_bytes_in_all", of::WAITING_BYTES_IN_ALL),
        ("answers", of::ANSWERS),
        ("packet_outs", of::PACKET_OUTS),
    ] {
        limits.set_item(name, limit)?;
    }
    Ok(limits)
}
