//! The command line, read and checked: what a switch is to be started with.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use phb_traffic_manager::PortConfig;

use crate::arguments::Given;
use crate::ending::{Ended, input};
use crate::foreign;
use crate::listening::{self, Tls};
use crate::log::{self, Logging};
use crate::numbers::{number, number_as};
use crate::ports::{self, HIGHEST_PORT};
use crate::quoted::quoted;
use crate::serve::{Manners, UnixSocket};

/// The name of bmv2's switch: whoever calls the program by it wants bmv2's manners.
pub const NAME_OF_BMV2: &str = "simple_switch_grpc";

/// Packets in a strict-priority queue under bmv2's manners, unless the command line says otherwise.
///
/// simple_switch holds 64 too, but its egress thread empties the queues while the copies of a packet are still coming.
/// Here all copies are made at one moment, and tests for bmv2 send thousands of them to one port: 4,000 copies of one
/// packet are delivered.
pub const BMV2_QUEUE_DEPTH: usize = 16_384;

/// All that the command line says, checked as far as it can be without opening anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    /// The program to load at the start.
    pub program: Option<PathBuf>,
    /// What is attached to which port, in the order of the command line.
    pub interfaces: Vec<(u16, String)>,
    /// How ports transmit: those that have an interface, and the CPU port.
    pub ports: BTreeMap<u16, PortConfig>,
    /// P4Runtime's device id.
    pub device_id: u64,
    /// The port that leads to controllers.
    pub cpu_port: Option<u16>,
    /// The port that means drop.
    pub drop_port: u16,
    /// Where the server listens.
    pub address: String,
    /// Where it listens besides.
    pub unix: Option<UnixSocket>,
    /// How it is protected, if it is.
    pub tls: Option<Tls>,
    /// Whose word holds where bmv2 differs from the specification.
    pub manners: Manners,
    /// Where the log goes, and what is in it.
    pub logging: Logging,
    /// Where captures go.
    pub pcap: Option<PathBuf>,
    /// Files instead of interfaces, from that long after the start on.
    pub files_after: Option<Duration>,
    /// How long to look for further frames before sleeping.
    pub busy_poll: Duration,
    /// Of everything random in the program.
    pub seed: u64,
    /// Whether the start-up line is JSON.
    pub as_json: bool,
    /// The file that appears when controllers can connect.
    pub ready_file: Option<PathBuf>,
    /// What the user has to know about options.
    pub notices: Vec<String>,
}

/// Reads and checks what was given.
///
/// # Arguments
/// `name`: the program's own, without a path.
pub fn read(given: &Given, name: &str) -> Result<Options, Ended> {
    if let [_, extra @ ..] = &given.words[..]
        && !extra.is_empty()
    {
        let many = if extra.len() > 1 { "s" } else { "" };
        let extra: Vec<_> = extra
            .iter()
            .map(|word| word.display().to_string())
            .collect();
        let extra = extra.join(" ");
        return input(format!("Got unexpected extra argument{many} ({extra})"));
    }
    let device_id = number_as(given, "device-id", 0..=u64::MAX.into())?;
    let most_ports: u64 = number_as(given, "max-port-count", 0..=u64::MAX.into())?;
    let cpu_port = number(given, "cpu-port", 1..=HIGHEST_PORT.into())?;
    let cpu_port = cpu_port.and_then(|port| port.try_into().ok());
    let drop_port = number_as(given, "drop-port", 0..=HIGHEST_PORT.into())?;
    let queues = number_as(given, "priority-queues", 1..=u8::MAX.into())?;
    let files_after = number(given, "use-files", i128::MIN..=i128::MAX)?;
    let busy_poll = number_as(given, "busy-poll", 0..=1_000_000)?;
    let seed = number_as(given, "seed", 0..=u64::MAX.into())?;
    for (id, _) in foreign::WITHOUT_MEANING {
        if id == "thrift-port" || id.starts_with("max-") {
            number(given, id, i128::MIN..=i128::MAX)?;
        }
    }

    let mut notices = Vec::new();
    notices.extend(foreign::check(given)?);
    let interfaces = ports::attached(&given.all("interface"))?;
    check_ports(&interfaces, cpu_port, drop_port, most_ports)?;
    let manners = manners(given, name)?;
    let common = PortConfig {
        queues,
        strict_priority: given.has("strict-priority"),
        queue_depth: (manners == Manners::Bmv2).then_some(BMV2_QUEUE_DEPTH),
        ..PortConfig::default()
    };
    let numbers = interfaces.iter().map(|(port, _)| *port);
    let mut ports = ports::configured(numbers, &common, given)?;
    ports.extend(cpu_port.map(|port| (port, common)));
    let program = program(given, &mut notices)?;
    let logging = log::read(given, &mut notices)?;
    let pcap = captures(given, &mut notices)?;
    let (tls, of_tls) = listening::tls(given)?;
    notices.extend(of_tls);
    let address = given.text("grpc-server-addr").unwrap_or_default();
    Ok(Options {
        program,
        interfaces,
        ports,
        device_id,
        cpu_port,
        drop_port,
        address: listening::address(address)?,
        unix: given
            .text("grpc-unix-socket")
            .map(|text| listening::unix_socket(&text))
            .transpose()?,
        tls,
        manners,
        logging,
        pcap,
        files_after: files_after
            .map(|seconds| Duration::from_secs(seconds.clamp(0, u64::MAX.into()) as u64)),
        busy_poll: Duration::from_micros(busy_poll),
        seed,
        as_json: given.has("json"),
        ready_file: given.path("ready-file").map(Path::to_owned),
        notices,
    })
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

fn manners(given: &Given, name: &str) -> Result<Manners, Ended> {
    match given.text("like").as_deref() {
        None if name == NAME_OF_BMV2 => Ok(Manners::Bmv2),
        None | Some("specification") => Ok(Manners::Specification),
        Some("bmv2") => Ok(Manners::Bmv2),
        Some(other) => {
            let other = quoted(other);
            input(format!("--like {other}: expected bmv2 or specification"))
        }
    }
}

/// The program to load, if any.
fn program(given: &Given, notices: &mut Vec<String>) -> Result<Option<PathBuf>, Ended> {
    let program = given.words.first().map(PathBuf::from);
    match (program, given.has("no-p4")) {
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

/// Where captures go, if anywhere.
fn captures(given: &Given, notices: &mut Vec<String>) -> Result<Option<PathBuf>, Ended> {
    let Some(directory) = given.path("pcap") else {
        return Ok(None);
    };
    if given.has("use-files") {
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
    Ok(Some(directory.to_owned()))
}

#[cfg(test)]
#[path = "options_tests.rs"]
mod tests;
