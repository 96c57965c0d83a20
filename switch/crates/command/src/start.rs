//! Starts a switch by its options, and runs it until it is told to stop.

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use phb_node::{RealTime, RunnerConfig, SwitchConfig, SwitchNode};
use phb_pipeline::Pipeline;
use phb_ports::{CapturedPort, Counters, FilePort, PacketPort, Port, PortError, TapPort};

use crate::announce::{self, Listening};
use crate::bindings;
use crate::ending::{Ended, input, reason};
use crate::failures::{Failures, OfPorts};
use crate::listening;
use crate::log::Log;
use crate::options::Options;
use crate::packets::Packets;
use crate::ports::TAP;
use crate::serve::{
    self, Attachment, Attachments, Server, ServerConfig, ThriftAddress, ThriftServer,
};
use crate::stopping::Stopping;
use crate::system;
use crate::traces::Traces;

/// How often to look whether all is well.
const CHECK: Duration = Duration::from_millis(500);

type Node = Arc<Mutex<SwitchNode>>;

/// Runs a switch; also fails if files that it was to write are not whole.
pub fn start(options: &Options) -> Result<(), Ended> {
    phb_ports::give_memory_back();
    system::allow_descriptors();
    let stopping = Stopping::new()?;
    let failures = Arc::new(Failures::default());
    let log = Log::open(&options.logging, &failures)?;
    let ended = run(options, &stopping, &failures);
    log.close();
    ended?;
    // The log is written to its end by now.
    failures.check()
}

fn run(options: &Options, stopping: &Stopping, failures: &Arc<Failures>) -> Result<(), Ended> {
    for notice in &options.notices {
        tracing::info!(target: "switch", "{notice}");
    }
    let node = switch(options)?;
    let authorization = match &options.tls {
        None => None,
        Some(tls) => {
            serve::check(&tls.files)?;
            tls.bindings.as_deref().map(bindings::read).transpose()?
        }
    };
    let ports = open_all(options)?;
    let attachments = attachments(options, &ports);
    let started = Instant::now();
    let mut runner = runner(options, &node, ports)?;
    let server = match &options.address {
        None => None,
        Some(address) => {
            let config = ServerConfig {
                unix: options.unix.clone(),
                tls: options.tls.as_ref().map(|tls| tls.files.clone()),
                authorization,
                names: options.interfaces.iter().cloned().collect(),
                attachments: Arc::clone(&attachments),
                manners: options.manners,
                workers: serve::workers(),
                ..ServerConfig::new(options.device_id, address)
            };
            match Server::start(Arc::clone(&node), config) {
                Ok(server) => Some(server),
                Err(error) => return input(error.to_string()),
            }
        }
    };
    let thrift = serve::thrift(options, &node, server.as_ref(), attachments, started)?;
    let listening = Listening {
        grpc: options
            .address
            .as_deref()
            .zip(server.as_ref())
            .map(|(given, server)| listening_at(given, server.address())),
        thrift: thrift.as_ref().map(ThriftServer::port),
    };
    let ended = serve(options, stopping, failures, &node, &mut runner, &listening);
    runner.stop();
    // Its clients' changes go by the other server.
    drop(thrift);
    if let Some(server) = server {
        server.stop();
    }
    ended
}

/// Forwards packets until told to stop, with a server that listens.
fn serve(
    options: &Options,
    stopping: &Stopping,
    failures: &Arc<Failures>,
    node: &Node,
    runner: &mut RealTime,
    listening: &Listening,
) -> Result<(), Ended> {
    let _packets = Packets::start(node, &options.logging)?;
    let is_log_apart = options.logging.is_apart();
    let traces = options.traces.as_ref();
    let mut traces = traces
        .map(|wanted| Traces::start(node, wanted, failures, is_log_apart))
        .transpose()?;
    match runner.start() {
        Ok(_) => {}
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            return input(
                "--real-time needs root, the capability CAP_SYS_NICE, or a limit of that priority (ulimit -r)",
            );
        }
        Err(error) => return Err(Ended::Failed(format!("stopped: {}", reason(&error)))),
    }
    if options.tls.is_none()
        && let Some(address) = &options.address
        && !listening::is_local(address)
    {
        tracing::warn!(
            target: "server",
            "listening at {address} without TLS: whoever reaches it can program the switch"
        );
    }
    if let (Some(port), Some(thrift)) = (listening.thrift, &options.thrift)
        && thrift.address == ThriftAddress::Everywhere
    {
        tracing::warn!(
            target: "thrift",
            "listening at port {port} for Thrift: whoever reaches it can program the switch"
        );
    }
    announce::started(options, listening)?;
    let mut of_ports = OfPorts::new(failures, is_log_apart);
    while !stopping.wait(CHECK) {
        of_ports.say(runner);
        traces.iter_mut().for_each(Traces::look);
        if !runner.is_running() {
            // A thread that has panicked says so when it is waited for.
            runner.stop();
            let why = runner
                .error()
                .unwrap_or_else(|| "the thread ended".to_owned());
            return Err(Ended::Failed(format!("stopped: {why}")));
        }
    }
    runner.stop();
    of_ports.say(runner);
    announce::stopped(&lock(node).statistics(), runner);
    Ok(())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn switch(options: &Options) -> Result<Node, Ended> {
    let config = SwitchConfig {
        name: "switch".to_owned(),
        cpu_port: options.cpu_port,
        drop_port: options.drop_port,
        seed: options.seed,
        executor: options.executor,
    };
    let of_program = config.of_program();
    let mut node = SwitchNode::new(config, options.ports.clone());
    if let Some(path) = &options.program {
        let started = Instant::now();
        let pipeline = load(path, of_program)?;
        let (path, took) = (path.display(), started.elapsed().as_millis());
        tracing::info!(
            target: "switch",
            "loaded {path} in {took} ms: {}; a controller's p4info has to come with SetForwardingPipelineConfig",
            pipeline.execution()
        );
        node.install(pipeline);
    }
    Ok(Arc::new(Mutex::new(node)))
}

fn load(path: &Path, options: phb_pipeline::Options) -> Result<Pipeline, Ended> {
    let name = path.display();
    let artifact = match std::fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) => return input(format!("{name}: {}", reason(&error))),
    };
    let Ok(artifact) = String::from_utf8(artifact) else {
        return input(format!("{name}: not a bmv2 JSON: it is not UTF-8"));
    };
    Pipeline::load(&artifact, options).or_else(|error| input(format!("{name}: {error}")))
}

type Ports = Vec<(u16, Box<dyn Port>)>;

fn open_all(options: &Options) -> Result<Ports, Ended> {
    let mut ports = Vec::new();
    for (number, name) in &options.interfaces {
        match open(name, options) {
            Ok(port) => ports.push((*number, port)),
            Err(error) => return input(error.to_string()),
        }
    }
    // Messages about ports are in their order.
    ports.sort_by_key(|(number, _)| *number);
    Ok(ports)
}

fn open(name: &str, options: &Options) -> Result<Box<dyn Port>, PortError> {
    let port: Box<dyn Port> = if let Some(after) = options.files_after {
        let wait = u64::try_from(after.as_nanos()).unwrap_or(u64::MAX);
        let (input, output) = (format!("{name}_in.pcap"), format!("{name}_out.pcap"));
        let files = [&input, &output].map(|file| Some(Path::new(file)));
        Box::new(FilePort::open(name, files[0], files[1], wait)?)
    } else if let Some(name) = name.strip_prefix(TAP) {
        Box::new(TapPort::open(name)?)
    } else {
        Box::new(PacketPort::open(name)?)
    };
    match &options.pcap {
        None => Ok(port),
        Some(directory) => Ok(Box::new(CapturedPort::new(port, directory)?)),
    }
}

fn runner(options: &Options, node: &Node, ports: Ports) -> Result<RealTime, Ended> {
    let config = RunnerConfig {
        busy_poll: options.busy_poll,
        real_time: options.real_time,
        report: Arc::new(|line| tracing::info!(target: "ports", "{line}")),
    };
    RealTime::new(Arc::clone(node), ports, config)
        .map_err(|error| Ended::Failed(format!("stopped: {}", reason(&error))))
}

fn attachments(options: &Options, ports: &Ports) -> Attachments {
    let are_files = options.files_after.is_some();
    let ports: Vec<(u16, String, Arc<Counters>)> = ports
        .iter()
        .map(|(number, port)| {
            let counters = Arc::clone(port.counters());
            (*number, port.name().to_owned(), counters)
        })
        .collect();
    Arc::new(move || {
        let attached = ports.iter().map(|(number, name, counters)| {
            let counted = counters.read();
            let index = if are_files { None } else { index(name) };
            let attachment = Attachment {
                link: counted.link,
                missed: counted.missed,
                refused: counted.refused,
                receive_errors: counted.receive_errors,
                send_errors: counted.send_errors,
                discipline: counted.discipline,
                held_back: counted.held_back,
                ifindex: index,
            };
            (*number, attachment)
        });
        attached.collect::<BTreeMap<_, _>>()
    })
}

/// The interface gets a new one when it comes back.
fn index(name: &str) -> Option<u32> {
    nix::net::if_::if_nametoindex(name).ok()
}

/// The listening address in the user's words, with the port chosen for 0.
fn listening_at(given: &str, listening: &str) -> String {
    match (given.rsplit_once(':'), listening.rsplit_once(':')) {
        (Some((host, _)), Some((_, port))) if !given.starts_with("unix:") => {
            format!("{host}:{port}")
        }
        _ => given.to_owned(),
    }
}
