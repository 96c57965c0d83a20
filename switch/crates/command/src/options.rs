//! The command line, read and checked: the configuration of the switch.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use phb_pipeline::Executor;
use phb_traffic_manager::{DEFAULT_QUEUE_DEPTH, PortConfig};

use crate::arguments::Given;
use crate::cli::{self, CommandLine};
use crate::ending::{Ended, input};
use crate::foreign;
use crate::listening::{self, Tls};
use crate::log::{self, LogOptions, Logging};
use crate::ports;
use crate::serve::{Manners, ThriftAddress, UnixSocket};
use crate::traces::{self, Place, Wanted};

/// The names of bmv2's switch; under them, the program has bmv2's manners.
pub const NAMES_OF_BMV2: [&str; 2] = ["simple_switch_grpc", WITHOUT_P4RUNTIME];

/// Under this one, it serves P4Runtime only at an address that is given.
const WITHOUT_P4RUNTIME: &str = "simple_switch";

/// The port of bmv2's runtime services in bmv2.
const THRIFT_PORT: u16 = 9090;

/// Packets in a strict-priority queue under bmv2's manners, unless the command line says otherwise.
/// simple_switch holds 64, but its egress thread empties queues while the copies of a packet come.
/// Here all copies come at once, and tests for bmv2 send thousands to one port: 4,000 copies of
/// one packet are delivered. An interface that holds frames back blocks that thread: there its
/// limit holds.
pub const BMV2_QUEUE_DEPTH: usize = 16_384;

/// The command line's meaning, checked as far as possible without opening anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    pub program: Option<PathBuf>,
    /// Ports and the names of their interfaces, in the order of the command line.
    pub interfaces: Vec<(u16, String)>,
    /// How ports transmit: those that have an interface, and the CPU port.
    pub ports: BTreeMap<u16, PortConfig>,
    pub device_id: u64,
    /// The port that leads to controllers.
    pub cpu_port: Option<u16>,
    pub drop_port: u16,
    /// Where P4Runtime and gNMI are served, if they are.
    pub address: Option<String>,
    /// bmv2's runtime services, if they are served.
    pub thrift: Option<Thrift>,
    /// A second place to listen at.
    pub unix: Option<UnixSocket>,
    pub tls: Option<Tls>,
    pub manners: Manners,
    pub logging: Logging,
    /// The traces of packets that are written, if any are.
    pub traces: Option<Wanted>,
    pub pcap: Option<PathBuf>,
    /// Files instead of interfaces, from that long after the start on.
    pub files_after: Option<Duration>,
    /// How long to look for further frames before sleeping.
    pub busy_poll: Duration,
    /// The priority of the packets' thread before ordinary threads.
    pub real_time: Option<u8>,
    /// Of everything random in the program.
    pub seed: u64,
    pub executor: Executor,
    pub as_json: bool,
    /// The file that appears when controllers can connect.
    pub ready_file: Option<PathBuf>,
    pub notices: Vec<String>,
}

/// Where bmv2's runtime services are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Thrift {
    pub address: ThriftAddress,
    pub port: u16,
    /// Whether somebody has asked for them; else the switch does without where the port is taken.
    pub is_asked: bool,
    /// Where what programs learn is published, if it is.
    pub notifications: Option<PathBuf>,
}

/// Reads and checks a command line; `name` is the program's own, without a path.
pub fn read(given: &Given, name: &str) -> Result<Options, Ended> {
    check_words(given)?;
    let CommandLine {
        program,
        general,
        target,
        lines,
        log,
        traces,
        tls,
    } = cli::read(given)?;
    let mut notices: Vec<String> = foreign::check(given)?.into_iter().collect();
    let interfaces = ports::attached(&general.interface)?;
    let (cpu_port, drop_port) = (target.cpu_port, target.drop_port);
    check_ports(&interfaces, cpu_port, drop_port, general.max_port_count)?;
    let manners = general.like.unwrap_or(match name {
        name if NAMES_OF_BMV2.contains(&name) => Manners::Bmv2,
        _ => Manners::Specification,
    });
    let executor = general.executor.unwrap_or_default();
    if let Err(why) = executor.check() {
        return input(format!("--executor {}: {why}", executor.name()));
    }
    let common = PortConfig {
        queues: target.priority_queues,
        strict_priority: lines.strict_priority,
        queue_depth: (manners == Manners::Bmv2).then_some(BMV2_QUEUE_DEPTH),
        held_queue_depth: (manners == Manners::Bmv2).then_some(DEFAULT_QUEUE_DEPTH),
        ..PortConfig::default()
    };
    let numbers = interfaces.iter().map(|(port, _)| *port);
    let mut ports = ports::configured(numbers, &common, &lines)?;
    ports.extend(cpu_port.map(|port| (port, common)));
    let program = check_program(program, general.no_p4, &mut notices)?;
    let logging = log::read(&log, &mut notices)?;
    let traces = traces::read(traces, &mut notices)?;
    if logging.console && traces.iter().any(|wanted| wanted.place == Place::Stdout) {
        return input("--log-console and --trace - exclude each other");
    }
    let pcap = captures(&log, &mut notices)?;
    let (tls, of_tls) = listening::tls(tls)?;
    notices.extend(of_tls);
    let unix = target.grpc_unix_socket;
    let notifications = target.notifications_addr.as_deref().map(notifications);
    let mut thrift = thrift(
        target.thrift_port,
        manners,
        tls.is_some(),
        general.device_id,
    );
    match (notifications.transpose()?, &mut thrift) {
        (Some(path), Some(thrift)) => thrift.notifications = Some(path),
        (Some(_), None) => {
            notices.push("--notifications-addr ignored (there is no --thrift-port)".to_owned())
        }
        (None, _) => {}
    }
    let is_served = name != WITHOUT_P4RUNTIME || given.has("grpc-server-addr");
    let address = is_served.then(|| listening::address(target.grpc_server_addr));
    Ok(Options {
        program,
        interfaces,
        ports,
        device_id: general.device_id,
        cpu_port,
        drop_port,
        address: address.transpose()?,
        thrift,
        unix: unix.map(|text| listening::unix_socket(&text)).transpose()?,
        tls,
        manners,
        logging,
        traces,
        pcap,
        files_after: log
            .use_files
            .map(|seconds| Duration::from_secs(seconds.clamp(0, u64::MAX.into()) as u64)),
        busy_poll: Duration::from_micros(lines.busy_poll),
        real_time: lines.real_time,
        seed: lines.seed,
        executor,
        as_json: log.json,
        ready_file: log.ready_file,
        notices,
    })
}

/// Who wants TLS doesn't want a port without it, unless they ask for that, too.
fn thrift(asked: Option<u16>, manners: Manners, with_tls: bool, device_id: u64) -> Option<Thrift> {
    let (address, default, notifications) = match manners {
        Manners::Bmv2 => (
            ThriftAddress::Everywhere,
            Some(THRIFT_PORT).filter(|_| !with_tls),
            Some(format!("/tmp/bmv2-{device_id}-notifications.ipc").into()),
        ),
        Manners::Specification => (ThriftAddress::Loopback, None, None),
    };
    Some(Thrift {
        address,
        port: asked.or(default)?,
        is_asked: asked.is_some(),
        notifications,
    })
}

/// Reads `ipc://PATH`.
fn notifications(address: &str) -> Result<PathBuf, Ended> {
    match address
        .strip_prefix("ipc://")
        .filter(|path| !path.is_empty())
    {
        Some(path) => Ok(path.into()),
        None => {
            let given = crate::quoted::quoted(address);
            input(format!("--notifications-addr {given}: expected ipc://PATH"))
        }
    }
}

fn check_words(given: &Given) -> Result<(), Ended> {
    let extra = given.words.get(1..).unwrap_or_default();
    if extra.is_empty() {
        return Ok(());
    }
    let many = if extra.len() > 1 { "s" } else { "" };
    let extra: Vec<_> = extra
        .iter()
        .map(|word| word.display().to_string())
        .collect();
    let extra = extra.join(" ");
    input(format!("Got unexpected extra argument{many} ({extra})"))
}

/// Whether every port has one job.
fn check_ports(
    interfaces: &[(u16, String)],
    cpu_port: Option<u16>,
    drop_port: u16,
    most: u64,
) -> Result<(), Ended> {
    let at = |port: u16| interfaces.iter().find(|(other, _)| *other == port);
    if let Some(port) = cpu_port
        && let Some((_, name)) = at(port)
    {
        return input(format!("--cpu-port {port}: the port is {name} already"));
    }
    if at(drop_port).is_some() || cpu_port == Some(drop_port) {
        return input(format!(
            "--drop-port {drop_port}: expected a port that is not in use"
        ));
    }
    let count = interfaces.len();
    if u64::try_from(count).is_ok_and(|count| count > most) {
        return input(format!(
            "--max-port-count {most}: there are {count} interfaces"
        ));
    }
    Ok(())
}

fn check_program(
    program: Option<PathBuf>,
    no_p4: bool,
    notices: &mut Vec<String>,
) -> Result<Option<PathBuf>, Ended> {
    match (program, no_p4) {
        (None, false) => input("give a program (bmv2 JSON), or --no-p4 to start without one"),
        (Some(program), true) => {
            let program = program.display();
            notices.push(format!(
                "{program} ignored (--no-p4 starts without a program)"
            ));
            Ok(None)
        }
        (program, _) => Ok(program),
    }
}

fn captures(options: &LogOptions, notices: &mut Vec<String>) -> Result<Option<PathBuf>, Ended> {
    let Some(directory) = options.pcap.clone() else {
        return Ok(None);
    };
    if options.use_files.is_some() {
        notices.push(
            "--pcap ignored (with --use-files, NAME_in.pcap and NAME_out.pcap are the captures)"
                .to_owned(),
        );
        return Ok(None);
    }
    if !directory.is_dir() {
        let directory = directory.display();
        return input(format!("--pcap {directory}: no such directory"));
    }
    Ok(Some(directory))
}

#[cfg(test)]
#[path = "options_tests.rs"]
mod tests;
