//! The class `Network`: a virtual network of switches, hosts and adapters.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use phb_hosts::{Replay, TcpHost};
use phb_network::random::SplitMix64;
use phb_network::{Ended, Frame, NodeId, Time, WireConfig, World, WorldError};
use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use self::arguments::{Parameters, read, read_or_default, refused, wrong};
use self::member::{Described, Member, SharedAdapter};
use self::traffic::NamedFlow;
use crate::Switch;

mod arguments;
mod following;
mod member;
mod statistics;
mod traffic;

/// A node of a network, for a runner by the clock; the network's statistics count what it does there.
#[pyclass(module = "phb_switch._native", frozen)]
pub struct Adapter {
    pub(crate) node: Arc<Mutex<SharedAdapter>>,
}

/// A virtual network: nodes and wires in virtual time.
///
/// Nodes, wires and traffic are added first; then time runs, in one go or in several. The same calls with the same seed
/// give the same events, byte for byte.
#[pyclass(module = "phb_switch._native")]
pub struct Network {
    world: World<Member>,
    seeds: SplitMix64,
    hosts: u16,
    flows: Vec<NamedFlow>,
    flow_names: HashSet<String>,
}

impl Network {
    fn find(&self, argument: &str, name: &str) -> PyResult<NodeId> {
        self.world
            .find(name)
            .ok_or_else(|| wrong(argument, &format!("there is no node named '{name}'")))
    }

    fn host(&mut self, argument: &str, name: &str) -> PyResult<(NodeId, &mut TcpHost)> {
        let id = self.find(argument, name)?;
        match self.world.node_mut(id) {
            Member::Host(host) => Ok((id, host)),
            _ => Err(wrong(
                argument,
                &format!("the node named '{name}' is not a host"),
            )),
        }
    }

    /// Without losses a wire takes no seed from the others.
    fn wire_seed(&mut self, config: &WireConfig) -> u64 {
        if config.loss_per_million > 0 {
            self.seeds.next_u64()
        } else {
            0
        }
    }

    fn insert(&mut self, name: &str, member: Member) -> PyResult<NodeId> {
        self.world.add_node(name, member).map_err(failed)
    }
}

fn failed(error: WorldError) -> PyErr {
    match &error {
        WorldError::Capture { .. } => PyOSError::new_err(error.to_string()),
        WorldError::Stuck { .. } => PyRuntimeError::new_err(error.to_string()),
        WorldError::LossTooLarge(_) => wrong("loss_per_million", &error.to_string()),
        WorldError::DuplicateName(name) => {
            wrong("name", &format!("there is a node named '{name}' already"))
        }
        WorldError::PortInUse { node, port } => wrong(
            "connect",
            &format!("port {port} of node '{node}' has a wire already"),
        ),
    }
}

#[pymethods]
impl Network {
    /// An empty network at time 0; `seed` makes initial sequence numbers, ephemeral ports, Poisson processes and
    /// loss on wires.
    #[new]
    fn new(seed: &Bound<'_, PyAny>) -> PyResult<Self> {
        let seeds = SplitMix64::new(read("seed", seed)?);
        Ok(Self {
            world: World::new(),
            seeds,
            hosts: 0,
            flows: Vec::new(),
            flow_names: HashSet::new(),
        })
    }

    /// Adds a switch under its own name. It may be programmed through P4Runtime before and after.
    fn add_switch(&mut self, switch: &Switch) -> PyResult<()> {
        let node = Arc::clone(&switch.node);
        let name = node
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .config()
            .name
            .clone();
        self.insert(&name, Member::Switch(node)).map(|_| ())
    }

    /// Adds a node of a kind.
    #[pyo3(signature = (kind, name, **parameters))]
    fn add(
        &mut self,
        kind: &str,
        name: &str,
        parameters: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        let mut described = Parameters::new(parameters)?.read(kind)?;
        let mut seeds = self.seeds.clone();
        let mut group = None;
        match &mut described {
            Described::Host(host) => {
                host.number = self.hosts + 1;
                host.seed = seeds.next_u64();
            }
            Described::Osa(osa) => osa.seed = seeds.next_u64(),
            Described::Line(wire) if wire.loss_per_million > 0 => wire.seed = seeds.next_u64(),
            Described::SnaStations(stations) => group = Some(stations.group.clone()),
            _ => {}
        }
        let is_host = matches!(described, Described::Host(_));
        let member = Member::new(described).map_err(|error| refused(&error))?;
        let host = self.insert(name, member)?;
        self.seeds = seeds;
        self.hosts += u16::from(is_host);
        if let Some(group) = group {
            self.flow_names.insert(name.to_owned());
            self.flows.push(NamedFlow {
                name: name.to_owned(),
                group,
                host,
                number: 0,
                sink: None,
                is_stamp: false,
            });
        }
        Ok(())
    }

    /// An adapter, a line, SNA stations or their host, for a runner by the clock.
    fn adapter(&mut self, name: &str) -> PyResult<Adapter> {
        let id = self.find("name", name)?;
        let member = self.world.node_mut(id);
        let node = match member {
            Member::Shared(shared) => Arc::clone(shared),
            Member::Switch(_) | Member::Host(_) | Member::Replay(_) => {
                let reason = format!("the node named '{name}' is not an adapter");
                return Err(wrong("name", &reason));
            }
            _ => {
                // `std::mem::replace` needs another member.
                let nothing = Replay::new(Vec::new()).map_err(|error| refused(&error))?;
                let shared = Arc::new(Mutex::new(SharedAdapter {
                    name: name.to_owned(),
                    member: std::mem::replace(member, Member::Replay(nothing)),
                }));
                *member = Member::Shared(Arc::clone(&shared));
                shared
            }
        };
        Ok(Adapter { node })
    }

    /// Adds an end station that sends frames at given times and keeps what it receives; its port is 0.
    fn add_replay(&mut self, name: &str, frames: Vec<(Bound<'_, PyAny>, Vec<u8>)>) -> PyResult<()> {
        let timed = frames
            .into_iter()
            .map(|(at, bytes)| Ok((read("frames", &at)?, Frame::new(bytes))));
        let replay =
            Replay::new(timed.collect::<PyResult<_>>()?).map_err(|error| refused(&error))?;
        self.insert(name, Member::Replay(replay)).map(|_| ())
    }

    /// The frames that an end station has received, as (time in ns, frame).
    fn received<'py>(
        &self,
        py: Python<'py>,
        name: &str,
    ) -> PyResult<Vec<(Time, Bound<'py, PyBytes>)>> {
        match self.world.node(self.find("name", name)?) {
            Member::Replay(replay) => Ok(replay
                .received()
                .iter()
                .map(|(at, frame)| (*at, PyBytes::new(py, &frame.bytes)))
                .collect()),
            _ => Err(wrong(
                "name",
                &format!("the node named '{name}' is not a replay"),
            )),
        }
    }

    /// Joins two ports by a wire that delays both directions by `delay_ns` and loses some frames of a million.
    #[pyo3(signature = (node_a, port_a, node_b, port_b, delay_ns=None, loss_per_million=None))]
    fn connect(
        &mut self,
        node_a: &str,
        port_a: &Bound<'_, PyAny>,
        node_b: &str,
        port_b: &Bound<'_, PyAny>,
        delay_ns: Option<&Bound<'_, PyAny>>,
        loss_per_million: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        let a = (self.find("node_a", node_a)?, read("port_a", port_a)?);
        let b = (self.find("node_b", node_b)?, read("port_b", port_b)?);
        let mut config = WireConfig {
            delay_ns: read_or_default("delay_ns", delay_ns)?,
            loss_per_million: read_or_default("loss_per_million", loss_per_million)?,
            seed: 0,
        };
        config.seed = self.wire_seed(&config);
        self.world.connect_by(a, b, config).map_err(failed)
    }

    /// Adds a flow of a kind: a client on one host, and what takes its traffic on another.
    #[pyo3(signature = (kind, name, **parameters))]
    fn add_flow(
        &mut self,
        kind: &str,
        name: String,
        parameters: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        self.add_traffic(kind, name, Parameters::new(parameters)?)
    }

    /// Captures both directions of a port into a pcap file with nanosecond timestamps.
    fn tap(&mut self, node: &str, port: &Bound<'_, PyAny>, pcap_path: PathBuf) -> PyResult<()> {
        let id = self.find("node", node)?;
        self.world
            .tap(id, read("port", port)?, &pcap_path)
            .map_err(failed)
    }

    /// Follows packets that end stations send, from here on, in place of those before.
    fn follow(&mut self, filter: &str, packets: &Bound<'_, PyAny>) -> PyResult<()> {
        following::start(filter, read("packets", packets)?, &mut self.world)
    }

    /// Where followed packets were seen, without the first sightings.
    #[pyo3(signature = (since=0))]
    fn followed<'py>(&self, py: Python<'py>, since: usize) -> PyResult<Bound<'py, PyDict>> {
        following::after(py, &self.world, since)
    }

    /// Lets time pass up to `until_ns`, and calls `progress` with the time now and then.
    #[pyo3(signature = (until_ns, progress=None))]
    fn run(
        &mut self,
        py: Python<'_>,
        until_ns: &Bound<'_, PyAny>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let until = read("until_ns", until_ns)?;
        let world = &mut self.world;
        let mut interrupted = None;
        let ended = py.detach(|| {
            world.run_until(until, &mut |now| {
                let called = Python::attach(|py| {
                    py.check_signals()?;
                    progress
                        .as_ref()
                        .map_or(Ok(()), |progress| progress.call1(py, (now,)).map(|_| ()))
                });
                called.map_err(|error| interrupted = Some(error)).is_ok()
            })
        });
        let now = world.now();
        for (_, _, member) in world.nodes() {
            if let Member::Switch(node) = member {
                let mut node = node
                    .lock()
                    .unwrap_or_else(std::sync::PoisonError::into_inner);
                node.pass(now);
            }
        }
        match (interrupted, ended) {
            (Some(error), _) => Err(error),
            (None, Err(error)) => Err(failed(error)),
            (None, Ok(Ended::Completed | Ended::Stopped)) => py.check_signals(),
        }
    }

    /// The time, in ns.
    #[getter]
    fn now_ns(&self) -> Time {
        self.world.now()
    }

    /// The completed transactions as (flow, group, start in ns, end in ns), in order of their ends.
    fn transactions(&self) -> Vec<(String, String, Time, Time)> {
        statistics::transactions(&self.world, &self.flows)
    }

    /// The deliveries of streams and datagrams, in the order in which they were added.
    fn deliveries<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        statistics::deliveries(py, &self.world, &self.flows)
    }

    /// Test packets (STAMP) that came back, by flow, in the order in which they were added.
    fn stamps<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        statistics::stamps(py, &self.world, &self.flows)
    }

    /// The counters of nodes, wires and clients.
    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        statistics::all(py, &self.world, &self.flows)
    }
}
