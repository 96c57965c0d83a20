//! The class `Network`: a virtual network of switches, hosts and adapters.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use phb_hosts::osa::{OsaConfig, ProcessorConfig};
use phb_hosts::{
    Cip, CipConfig, HostConfig, Line, Mode, Osa, Osa2, Osa2Config, Replay, SnaHost, Stations,
    StationsConfig, TcpHost, TcpOptions, Traffic,
};
use phb_network::random::SplitMix64;
use phb_network::{Ended, Frame, Node, NodeId, Output, Port, Time, WireConfig, World, WorldError};
use phb_node::{LiveNode, SwitchNode};
use pyo3::exceptions::{PyOSError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use self::arguments::{Integer, address, refused, wrong};
use self::traffic::{Ends, NamedFlow, optional};
use crate::Switch;

mod arguments;
mod osa;
mod statistics;
mod traffic;

/// Locally administered: the second bit of the first byte is set (IEEE 802, section 8.4.2).
const LOCAL_MAC: u8 = 0x02;

/// More processors than a mainframe has; each costs memory.
const MAX_PROCESSORS: u64 = 1_024;
/// A microsecond per byte.
const MAX_PS_PER_BYTE: u64 = 1_000_000;

/// What a network is made of.
pub(crate) enum Member {
    Switch(Arc<Mutex<SwitchNode>>),
    Host(Box<TcpHost>),
    Cip(Box<Cip>),
    Osa2(Box<Osa2>),
    Osa(Box<Osa>),
    Line(Box<Line>),
    Replay(Replay),
    /// An adapter, or whatever else a runner by the clock may run, too.
    Shared(Arc<Mutex<SharedAdapter>>),
    Stations(Box<Stations>),
    SnaHost(SnaHost),
}

impl Member {
    fn node(&mut self) -> &mut dyn Node {
        match self {
            Self::Switch(switch) => switch,
            Self::Host(host) => &mut **host,
            Self::Cip(cip) => &mut **cip,
            Self::Osa2(osa) => &mut **osa,
            Self::Osa(osa) => &mut **osa,
            Self::Line(line) => &mut **line,
            Self::Replay(replay) => replay,
            Self::Shared(shared) => shared,
            Self::Stations(stations) => &mut **stations,
            Self::SnaHost(host) => host,
        }
    }
}

impl Node for Member {
    fn receive(&mut self, now: Time, port: Port, frame: Frame, out: &mut Output) {
        self.node().receive(now, port, frame, out);
    }

    fn tick(&mut self, now: Time, out: &mut Output) {
        self.node().tick(now, out);
    }

    fn next_tick(&self) -> Option<Time> {
        match self {
            Self::Switch(switch) => switch.next_tick(),
            Self::Host(host) => host.next_tick(),
            Self::Cip(cip) => cip.next_tick(),
            Self::Osa2(osa) => osa.next_tick(),
            Self::Osa(osa) => osa.next_tick(),
            Self::Line(line) => line.next_tick(),
            Self::Replay(replay) => replay.next_tick(),
            Self::Shared(shared) => shared.next_tick(),
            Self::Stations(stations) => stations.next_tick(),
            Self::SnaHost(host) => host.next_tick(),
        }
    }
}

/// A node outside of its network, with the name it has there.
pub(crate) struct SharedAdapter {
    name: String,
    pub member: Member,
}

impl Node for SharedAdapter {
    fn receive(&mut self, now: Time, port: Port, frame: Frame, out: &mut Output) {
        self.member.receive(now, port, frame, out);
    }

    fn tick(&mut self, now: Time, out: &mut Output) {
        self.member.tick(now, out);
    }

    fn next_tick(&self) -> Option<Time> {
        self.member.next_tick()
    }
}

impl LiveNode for SharedAdapter {
    fn name(&self) -> &str {
        &self.name
    }
}

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
    hosts: u32,
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

    fn wire(&mut self, delay_ns: &Integer, loss_per_million: &Integer) -> PyResult<WireConfig> {
        let loss_per_million = loss_per_million.up_to("loss_per_million", 1_000_000)?;
        Ok(WireConfig {
            delay: delay_ns.word("delay_ns")?,
            loss_per_million,
            // A wire that loses nothing draws nothing, and leaves the seeds to those that do.
            seed: if loss_per_million > 0 {
                self.seeds.next_u64()
            } else {
                0
            },
        })
    }

    fn add(&mut self, name: &str, member: Member) -> PyResult<()> {
        self.world
            .add_node(name, member)
            .map(|_| ())
            .map_err(failed)
    }
}

/// A world's error as Python's: the operating system's, or a wrong argument.
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

/// A limit of a queue; without one the queue takes everything.
fn limit(argument: &str, packets: Option<Integer>) -> PyResult<usize> {
    packets.map_or(Ok(usize::MAX), |packets| packets.size(argument))
}

#[pymethods]
impl Network {
    /// An empty network at time 0; `seed` makes initial sequence numbers, ephemeral ports, Poisson processes and
    /// loss on wires.
    #[new]
    fn new(seed: Integer) -> PyResult<Self> {
        let seeds = SplitMix64::new(seed.word("seed")?);
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
        self.add(&name, Member::Switch(node))
    }

    /// Adds a TCP host; its port is 0.
    #[pyo3(signature = (
        name, addresses, *, mtu, receive_buffer_bytes, send_buffer_bytes, nagle=true, delayed_ack_ns=None, tos=Integer::from(0),
        ttl=Integer::from(64), user_timeout_ns=None, batches=false, relays=false, reconnect_delay_ns=Integer::from(1_000_000_000), mac=None,
        gateway_mac=None
    ))]
    #[expect(
        clippy::too_many_arguments,
        reason = "they are keyword arguments in Python"
    )]
    fn add_host(
        &mut self,
        name: &str,
        addresses: Vec<String>,
        mtu: Integer,
        receive_buffer_bytes: Integer,
        send_buffer_bytes: Integer,
        nagle: bool,
        delayed_ack_ns: Option<Integer>,
        tos: Integer,
        ttl: Integer,
        user_timeout_ns: Option<Integer>,
        batches: bool,
        relays: bool,
        reconnect_delay_ns: Integer,
        mac: Option<&str>,
        gateway_mac: Option<&str>,
    ) -> PyResult<()> {
        let [_, _, number @ ..] = (self.hosts + 1).to_be_bytes();
        let own_mac = [LOCAL_MAC, 0, 0, 0, number[0], number[1]];
        let config = HostConfig {
            addresses: addresses
                .iter()
                .map(|text| address("addresses", text))
                .collect::<PyResult<_>>()?,
            mac: mac.map_or(Ok(own_mac), |text| arguments::mac("mac", text))?,
            any_mac: mac.is_none(),
            gateway_mac: gateway_mac.map_or(Ok([LOCAL_MAC, 0, 0, 0, 0, 0]), |text| {
                arguments::mac("gateway_mac", text)
            })?,
            tcp: TcpOptions {
                mtu: mtu.size("mtu")?,
                receive_buffer: receive_buffer_bytes.size("receive_buffer_bytes")?,
                send_buffer: send_buffer_bytes.size("send_buffer_bytes")?,
                nagle,
                delayed_ack: delayed_ack_ns
                    .map(|time| time.word("delayed_ack_ns"))
                    .transpose()?,
                tos: tos.up_to("tos", u64::from(u8::MAX))?,
                ttl: ttl.up_to("ttl", u64::from(u8::MAX))?,
                user_timeout: user_timeout_ns
                    .map(|time| time.word("user_timeout_ns"))
                    .transpose()?,
            },
            batches,
            relays,
            reconnect_delay: reconnect_delay_ns.word("reconnect_delay_ns")?,
            seed: self.seeds.clone().next_u64(),
        };
        let host = TcpHost::new(config).map_err(|error| refused(&error))?;
        self.add(name, Member::Host(Box::new(host)))?;
        self.seeds.next_u64();
        self.hosts += 1;
        Ok(())
    }

    /// Adds a Channel Interface Processor: its channel n has port 2n towards the host, 2n + 1 towards the network.
    ///
    /// With `max_llc2_sessions` it works as CSNA, with `cpu_ns_per_transaction` as TN3270 server, with neither it moves
    /// IP datagrams.
    #[pyo3(signature = (
        name, *, channel_bytes_per_s, block_bytes, read_buffers, write_buffers, cpu_ns_per_packet,
        blocks_per_interrupt=Integer::from(1), cpu_ps_per_byte=Integer::from(0), cpu_wait_ns=Integer::from(0),
        channels=Integer::from(1), max_llc2_sessions=None, cpu_ns_per_transaction=None, mtu_bytes=None,
        read_queue_packets=None, write_queue_packets=None, cpu_queue_packets=None
    ))]
    #[expect(
        clippy::too_many_arguments,
        reason = "they are keyword arguments in Python"
    )]
    fn add_cip(
        &mut self,
        name: &str,
        channel_bytes_per_s: Integer,
        block_bytes: Integer,
        read_buffers: Integer,
        write_buffers: Integer,
        cpu_ns_per_packet: Integer,
        blocks_per_interrupt: Integer,
        cpu_ps_per_byte: Integer,
        cpu_wait_ns: Integer,
        channels: Integer,
        max_llc2_sessions: Option<Integer>,
        cpu_ns_per_transaction: Option<Integer>,
        mtu_bytes: Option<Integer>,
        read_queue_packets: Option<Integer>,
        write_queue_packets: Option<Integer>,
        cpu_queue_packets: Option<Integer>,
    ) -> PyResult<()> {
        let mode = match (max_llc2_sessions, cpu_ns_per_transaction) {
            (None, None) => Mode::IpDatagram,
            (Some(sessions), None) => Mode::Csna {
                max_llc2_sessions: sessions.size("max_llc2_sessions")?,
            },
            (None, Some(time)) => Mode::Tn3270 {
                transaction_time: time.word("cpu_ns_per_transaction")?,
            },
            (Some(_), Some(_)) => {
                let message = "given with max_llc2_sessions, expected one of the two";
                return Err(wrong("cpu_ns_per_transaction", message));
            }
        };
        let config = CipConfig {
            mode,
            channels: channels.port("channels")?,
            blocks_per_interrupt: blocks_per_interrupt.word("blocks_per_interrupt")?,
            cpu_ps_per_byte: cpu_ps_per_byte.word("cpu_ps_per_byte")?,
            cpu_wait: cpu_wait_ns.word("cpu_wait_ns")?,
            channel_bytes_per_s: channel_bytes_per_s.word("channel_bytes_per_s")?,
            block_bytes: block_bytes.word("block_bytes")?,
            read_buffers: read_buffers.word("read_buffers")?,
            write_buffers: write_buffers.word("write_buffers")?,
            mtu: mtu_bytes
                .as_ref()
                .unwrap_or(&block_bytes)
                .size("mtu_bytes")?,
            write_queue_packets: limit("write_queue_packets", write_queue_packets)?,
            read_queue_packets: limit("read_queue_packets", read_queue_packets)?,
            cpu_time: cpu_ns_per_packet.word("cpu_ns_per_packet")?,
            cpu_queue_packets: limit("cpu_queue_packets", cpu_queue_packets)?,
        };
        let cip = Cip::new(config).map_err(|error| refused(&error))?;
        self.add(name, Member::Cip(Box::new(cip)))
    }

    /// Adds an OSA-2 on Ethernet: port 0 towards the host, port 1 towards the network.
    #[pyo3(signature = (name, *, rate_bps, mtu_bytes, latency_ns, queue_packets=None))]
    fn add_osa2(
        &mut self,
        name: &str,
        rate_bps: Integer,
        mtu_bytes: Integer,
        latency_ns: Integer,
        queue_packets: Option<Integer>,
    ) -> PyResult<()> {
        let config = Osa2Config {
            rate_bps: rate_bps.word("rate_bps")?,
            mtu: mtu_bytes.size("mtu_bytes")?,
            latency: latency_ns.word("latency_ns")?,
            queue_packets: limit("queue_packets", queue_packets)?,
        };
        let osa = Osa2::new(config).map_err(|error| refused(&error))?;
        self.add(name, Member::Osa2(Box::new(osa)))
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
            Member::Cip(_)
            | Member::Osa2(_)
            | Member::Osa(_)
            | Member::Line(_)
            | Member::Stations(_)
            | Member::SnaHost(_) => {
                // Something has to stand in its place for the moment in which it moves.
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

    /// Adds SNA stations that connect and then ask in turn, at most `frames_per_s` frames per second; their port is 0.
    #[pyo3(signature = (
        name, *, group, pus, lus_per_pu, frames_per_s, request_bytes, waits=true, start_ns=Integer::from(0)
    ))]
    #[expect(
        clippy::too_many_arguments,
        reason = "they are keyword arguments in Python"
    )]
    fn add_sna_stations(
        &mut self,
        name: &str,
        group: String,
        pus: Integer,
        lus_per_pu: Integer,
        frames_per_s: Integer,
        request_bytes: Integer,
        waits: bool,
        start_ns: Integer,
    ) -> PyResult<()> {
        let config = StationsConfig {
            pus: pus.up_to("pus", u64::from(u32::MAX))?,
            lus_per_pu: lus_per_pu.port("lus_per_pu")?,
            frames_per_s: frames_per_s.word("frames_per_s")?,
            request_bytes: request_bytes.size("request_bytes")?,
            waits,
            start: start_ns.word("start_ns")?,
        };
        let stations = Stations::new(config).map_err(|error| refused(&error))?;
        self.add(name, Member::Stations(Box::new(stations)))?;
        self.flow_names.insert(name.to_owned());
        self.flows.push(NamedFlow {
            name: name.to_owned(),
            group,
            host: self.find("name", name)?,
            number: 0,
            sink: None,
        });
        Ok(())
    }

    /// Adds a host whose SNA application answers every request at once; without `reply_bytes` it only takes them.
    #[pyo3(signature = (name, *, reply_bytes=None))]
    fn add_sna_host(&mut self, name: &str, reply_bytes: Option<Integer>) -> PyResult<()> {
        let length = reply_bytes
            .map(|bytes| bytes.size("reply_bytes"))
            .transpose()?;
        self.add(name, Member::SnaHost(SnaHost::new(length)))
    }

    /// Adds an OSA-Express in QDIO mode with its host's processors: port 0 towards the host's TCP, port 1 towards the LAN.
    #[pyo3(signature = (
        name, *, rate_bps, mtu_bytes, latency_ns, longest_hold_ns, buffer_bytes, buffers, bulk_bytes, processors,
        interrupt_ns, receive_ns, send_ns, application_ns, forward_ns,
        application_spread_percent=Integer::from(0), copy_ps_per_byte=Integer::from(0), checksum_ps_per_byte=Integer::from(0), lan_idle_ns=None, interactive_idle_ns=None, streaming_idle_ns=None,
        idle_interval_ns=None, workload_queueing=false, segmentation_offload=false, checksum_offload=true,
        priority_mask=Integer::from(255), priorities=Vec::new(), queue_packets=None, distributions=Vec::new(),
        forward_priority=Integer::from(1)
    ))]
    #[expect(
        clippy::too_many_arguments,
        reason = "they are keyword arguments in Python"
    )]
    fn add_osa(
        &mut self,
        name: &str,
        rate_bps: Integer,
        mtu_bytes: Integer,
        latency_ns: Integer,
        longest_hold_ns: Integer,
        buffer_bytes: Integer,
        buffers: Integer,
        bulk_bytes: Integer,
        processors: Integer,
        interrupt_ns: Integer,
        receive_ns: Integer,
        send_ns: Integer,
        application_ns: Integer,
        forward_ns: Integer,
        application_spread_percent: Integer,
        copy_ps_per_byte: Integer,
        checksum_ps_per_byte: Integer,
        lan_idle_ns: Option<Integer>,
        interactive_idle_ns: Option<Integer>,
        streaming_idle_ns: Option<Integer>,
        idle_interval_ns: Option<Integer>,
        workload_queueing: bool,
        segmentation_offload: bool,
        checksum_offload: bool,
        priority_mask: Integer,
        priorities: Vec<(Integer, Integer)>,
        queue_packets: Option<Integer>,
        distributions: Vec<(String, Vec<String>)>,
        forward_priority: Integer,
    ) -> PyResult<()> {
        let host = ProcessorConfig {
            processors: processors.up_to("processors", MAX_PROCESSORS)?,
            interrupt: interrupt_ns.word("interrupt_ns")?,
            receive: receive_ns.word("receive_ns")?,
            send: send_ns.word("send_ns")?,
            application: application_ns.word("application_ns")?,
            application_spread: application_spread_percent.word("application_spread_percent")?,
            forward: forward_ns.word("forward_ns")?,
            seed: self.seeds.clone().next_u64(),
            copy_ps: copy_ps_per_byte.up_to("copy_ps_per_byte", MAX_PS_PER_BYTE)?,
            checksum_ps: checksum_ps_per_byte.up_to("checksum_ps_per_byte", MAX_PS_PER_BYTE)?,
        };
        let config = OsaConfig {
            rate_bps: rate_bps.word("rate_bps")?,
            mtu: mtu_bytes.size("mtu_bytes")?,
            latency: latency_ns.word("latency_ns")?,
            priorities: osa::priorities(&priority_mask, priorities)?,
            queue_packets: limit("queue_packets", queue_packets)?,
            lan_idle: osa::lan_idle(
                lan_idle_ns,
                interactive_idle_ns,
                streaming_idle_ns,
                idle_interval_ns,
            )?,
            longest_hold: longest_hold_ns.word("longest_hold_ns")?,
            buffer_bytes: buffer_bytes.size("buffer_bytes")?,
            buffers: buffers.size("buffers")?,
            workload_queueing,
            bulk_bytes: bulk_bytes.word("bulk_bytes")?,
            segmentation_offload,
            checksum_offload,
            distributions: osa::distributions(distributions)?,
            forward_priority: forward_priority.up_to("forward_priority", u64::from(u8::MAX))?,
            host,
        };
        let osa = Osa::new(config).map_err(|error| refused(&error))?;
        self.add(name, Member::Osa(Box::new(osa)))?;
        self.seeds.next_u64();
        Ok(())
    }

    /// Adds a line between its ports 0 and 1 that does what a wire does, for nodes that have no wires of a network.
    #[pyo3(signature = (name, *, delay_ns=Integer::from(0), loss_per_million=Integer::from(0)))]
    fn add_line(
        &mut self,
        name: &str,
        delay_ns: Integer,
        loss_per_million: Integer,
    ) -> PyResult<()> {
        let config = self.wire(&delay_ns, &loss_per_million)?;
        let line = Line::new(config).map_err(|error| refused(&error))?;
        self.add(name, Member::Line(Box::new(line)))
    }

    /// Adds an end station that sends frames at given times and keeps what it receives; its port is 0.
    fn add_replay(&mut self, name: &str, frames: Vec<(Integer, Vec<u8>)>) -> PyResult<()> {
        let timed = frames
            .into_iter()
            .map(|(at, bytes)| Ok((at.word("frames")?, Frame::new(bytes))));
        let replay =
            Replay::new(timed.collect::<PyResult<_>>()?).map_err(|error| refused(&error))?;
        self.add(name, Member::Replay(replay))
    }

    /// What an end station has received, as (time in ns, frame).
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
    #[pyo3(signature = (node_a, port_a, node_b, port_b, delay_ns=Integer::from(0), loss_per_million=Integer::from(0)))]
    fn connect(
        &mut self,
        node_a: &str,
        port_a: Integer,
        node_b: &str,
        port_b: Integer,
        delay_ns: Integer,
        loss_per_million: Integer,
    ) -> PyResult<()> {
        let a = (self.find("node_a", node_a)?, port_a.port("port_a")?);
        let b = (self.find("node_b", node_b)?, port_b.port("port_b")?);
        let config = self.wire(&delay_ns, &loss_per_million)?;
        self.world.connect_by(a, b, config).map_err(failed)
    }

    /// Adds a client that asks and waits, over and over, and the service it asks.
    #[pyo3(signature = (
        *, name, group, client, server, client_address, server_address, server_port, request_bytes, reply_bytes,
        records_per_connection, start_ns, think_ns=Integer::from(0), pause_ns=Integer::from(0), stop_ns=None, tos=None
    ))]
    #[expect(
        clippy::too_many_arguments,
        reason = "they are keyword arguments in Python"
    )]
    fn add_request_response(
        &mut self,
        name: String,
        group: String,
        client: &str,
        server: &str,
        client_address: &str,
        server_address: &str,
        server_port: Integer,
        request_bytes: Integer,
        reply_bytes: Integer,
        records_per_connection: Integer,
        start_ns: Integer,
        think_ns: Integer,
        pause_ns: Integer,
        stop_ns: Option<Integer>,
        tos: Option<Integer>,
    ) -> PyResult<()> {
        let traffic = Traffic::Requests {
            request_bytes: request_bytes.word("request_bytes")?,
            reply_bytes: reply_bytes.word("reply_bytes")?,
            records_per_connection: records_per_connection.word("records_per_connection")?,
            pause: pause_ns.word("pause_ns")?,
        };
        let ends = Ends {
            name,
            group,
            client,
            server,
            client_address,
            server_address,
            server_port,
            start_ns,
            stop_ns,
            tos,
        };
        self.add_traffic(ends, traffic, think_ns.word("think_ns")?)
    }

    /// Adds a client that submits messages, one after another, and the peer that answers each.
    #[pyo3(signature = (
        *, name, group, client, server, client_address, server_address, server_port, permanent, schedule, answer_bytes,
        start_ns=Integer::from(0), tos=None
    ))]
    #[expect(
        clippy::too_many_arguments,
        reason = "they are keyword arguments in Python"
    )]
    fn add_messages(
        &mut self,
        name: String,
        group: String,
        client: &str,
        server: &str,
        client_address: &str,
        server_address: &str,
        server_port: Integer,
        permanent: bool,
        schedule: Vec<(Integer, Integer)>,
        answer_bytes: Integer,
        start_ns: Integer,
        tos: Option<Integer>,
    ) -> PyResult<()> {
        let schedule = schedule
            .iter()
            .map(|(at, bytes)| Ok((at.word("schedule")?, bytes.word("schedule")?)));
        let traffic = Traffic::Messages {
            permanent,
            schedule: schedule.collect::<PyResult<_>>()?,
            answer_bytes: answer_bytes.word("answer_bytes")?,
        };
        let ends = Ends {
            name,
            group,
            client,
            server,
            client_address,
            server_address,
            server_port,
            start_ns,
            stop_ns: None,
            tos,
        };
        self.add_traffic(ends, traffic, 0)
    }

    /// Adds a client that sends as much as TCP takes, and the sink that takes it.
    #[pyo3(signature = (
        *, name, group, client, server, client_address, server_address, server_port, start_ns, stop_ns=None,
        total_bytes=None, write_bytes=Integer::from(65_536), tos=None
    ))]
    #[expect(
        clippy::too_many_arguments,
        reason = "they are keyword arguments in Python"
    )]
    fn add_stream(
        &mut self,
        name: String,
        group: String,
        client: &str,
        server: &str,
        client_address: &str,
        server_address: &str,
        server_port: Integer,
        start_ns: Integer,
        stop_ns: Option<Integer>,
        total_bytes: Option<Integer>,
        write_bytes: Integer,
        tos: Option<Integer>,
    ) -> PyResult<()> {
        let traffic = Traffic::Stream {
            total_bytes: optional("total_bytes", total_bytes.as_ref())?,
            write_bytes: write_bytes.word("write_bytes")?,
        };
        let ends = Ends {
            name,
            group,
            client,
            server,
            client_address,
            server_address,
            server_port,
            start_ns,
            stop_ns,
            tos,
        };
        self.add_traffic(ends, traffic, 0)
    }

    /// Adds a client that sends UDP datagrams at a rate that nothing changes, and the sink that measures them.
    #[pyo3(signature = (
        *, name, group, client, server, client_address, server_address, server_port, payload_bytes, interval_ns,
        start_ns, stop_ns=None, pattern="periodic", tos=None
    ))]
    #[expect(
        clippy::too_many_arguments,
        reason = "they are keyword arguments in Python"
    )]
    fn add_datagrams(
        &mut self,
        name: String,
        group: String,
        client: &str,
        server: &str,
        client_address: &str,
        server_address: &str,
        server_port: Integer,
        payload_bytes: Integer,
        interval_ns: Integer,
        start_ns: Integer,
        stop_ns: Option<Integer>,
        pattern: &str,
        tos: Option<Integer>,
    ) -> PyResult<()> {
        let poisson_seed = match pattern {
            "periodic" => None,
            "poisson" => Some(self.seeds.next_u64()),
            _ => {
                let message = format!("'{pattern}' is given, periodic or poisson is expected");
                return Err(wrong("pattern", &message));
            }
        };
        let traffic = Traffic::Datagrams {
            payload_bytes: payload_bytes.size("payload_bytes")?,
            interval: interval_ns.word("interval_ns")?,
            poisson_seed,
        };
        let ends = Ends {
            name,
            group,
            client,
            server,
            client_address,
            server_address,
            server_port,
            start_ns,
            stop_ns,
            tos,
        };
        self.add_traffic(ends, traffic, 0)
    }

    /// Captures both directions of a port into a pcap file with nanosecond timestamps.
    fn tap(&mut self, node: &str, port: Integer, pcap_path: PathBuf) -> PyResult<()> {
        let id = self.find("node", node)?;
        self.world
            .tap(id, port.port("port")?, &pcap_path)
            .map_err(failed)
    }

    /// Lets time pass up to `until_ns`, and calls `progress` with the time now and then.
    #[pyo3(signature = (until_ns, progress=None))]
    fn run(
        &mut self,
        py: Python<'_>,
        until_ns: Integer,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let until = until_ns.word("until_ns")?;
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

    /// What streams and datagrams brought to their ends, in the order in which they were added.
    fn deliveries<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        statistics::deliveries(py, &self.world, &self.flows)
    }

    /// What nodes, wires and clients have counted.
    fn statistics<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        statistics::all(py, &self.world, &self.flows)
    }
}
