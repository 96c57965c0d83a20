//! Options of ports: their interfaces, and how they transmit.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;

use clap::Args;
use phb_traffic_manager::PortConfig;

use crate::ending::{Ended, input};
use crate::quoted::{is_text, quoted};
use crate::rate;
use crate::values::number;

/// v1model's port fields have 9 bits.
pub const HIGHEST_PORT: u16 = 511;

/// The prefix of a TAP interface, which is made if there is none.
pub const TAP: &str = "tap:";

const HIGHEST_COUNT: u64 = u32::MAX as u64;

/// Options of ports and their lines.
#[derive(Debug, Args)]
pub struct LineOptions {
    #[arg(
        long,
        help = "Queue by priority also where the program ranks, as a switch without a PIFO."
    )]
    pub strict_priority: bool,
    #[arg(
        long,
        value_name = "PORT=RATE[:OVERHEAD]",
        help = "Line rate in bit/s (256k, 1.5Mbit/s), and bytes to add to each Ethernet frame's length; repeatable."
    )]
    port_rate: Vec<OsString>,
    #[arg(
        long,
        value_name = "PORT=N",
        help = "Frames that may wait between scheduler and line; repeatable."
    )]
    transmit_ring: Vec<OsString>,
    #[arg(
        long,
        value_name = "PORT=N",
        help = "Packets that may wait in the scheduler; repeatable."
    )]
    buffer_packets: Vec<OsString>,
    #[arg(
        long,
        value_name = "PORT=N",
        help = "Packets that may wait in each strict-priority queue, 64 unless given, 16384 like bmv2; repeatable."
    )]
    queue_depth: Vec<OsString>,
    #[arg(
        long,
        value_name = "PORT=PPS",
        help = "Packets per second that each strict-priority queue passes; repeatable."
    )]
    queue_rate: Vec<OsString>,
    #[arg(
        long,
        value_name = "MICROSECONDS",
        default_value = "0",
        value_parser = number::<u64>(0..=1_000_000),
        help = "How long to look for further frames before sleeping: less delay for more processor time."
    )]
    pub busy_poll: u64,
    #[arg(
        long,
        value_name = "PRIORITY",
        value_parser = number::<u8>(1..=99),
        help = "Run the thread of packets before all ordinary threads of the machine (SCHED_RR), at this priority."
    )]
    pub real_time: Option<u8>,
    #[arg(
        long,
        value_name = "N",
        default_value = "1",
        value_parser = number::<u64>(0..=u64::MAX.into()),
        help = "Seed of everything random in the program."
    )]
    pub seed: u64,
}

impl LineOptions {
    /// The options with values of the form `PORT=...`: name, example, meaning and values.
    fn of_ports(&self) -> [(&str, &str, Setter, &[OsString]); 5] {
        [
            ("port-rate", "2=256kbit/s:-7", set_rate, &self.port_rate),
            (
                "transmit-ring",
                "2=6",
                set_transmit_ring,
                &self.transmit_ring,
            ),
            ("buffer-packets", "2=40", set_buffer, &self.buffer_packets),
            ("queue-depth", "2=64", set_queue_depth, &self.queue_depth),
            ("queue-rate", "2=1000", set_queue_rate, &self.queue_rate),
        ]
    }
}

/// Sets something of a port by a text; the option is for messages.
type Setter = fn(&mut PortConfig, &str, &str) -> Result<(), Ended>;

/// Reads `PORT@INTERFACE`, in the order of the command line.
pub fn attached(given: &[OsString]) -> Result<Vec<(u16, String)>, Ended> {
    let mut interfaces: Vec<(u16, String)> = Vec::new();
    for each in given {
        let option = format!("--interface {}", quoted(each));
        let text = each.to_string_lossy();
        let (number, name) = match text.split_once('@') {
            Some((number, name)) if is_decimal(number) && !name.is_empty() => (number, name),
            _ => {
                return input(format!(
                    "{option}: expected PORT@INTERFACE, for example 0@veth0"
                ));
            }
        };
        if !is_text(each) {
            return input(format!("{option}: expected a name that can be printed"));
        }
        let number = port(number, &option)?;
        if let Some((_, other)) = interfaces.iter().find(|(other, _)| *other == number) {
            return input(format!("{option}: port {number} is {other} already"));
        }
        if interfaces.iter().any(|(_, other)| other == name) {
            return input(format!("{option}: {name} is attached already"));
        }
        interfaces.push((number, name.to_owned()));
    }
    Ok(interfaces)
}

/// Reads `PORT=...` of all options that have such values.
/// `ports` are those with an interface; each is `common` unless an option says otherwise.
pub fn configured(
    ports: impl IntoIterator<Item = u16>,
    common: &PortConfig,
    options: &LineOptions,
) -> Result<BTreeMap<u16, PortConfig>, Ended> {
    let mut configs: BTreeMap<u16, PortConfig> = ports
        .into_iter()
        .map(|port| (port, common.clone()))
        .collect();
    for (id, example, set, values) in options.of_ports() {
        let mut seen = BTreeSet::new();
        for each in values {
            let option = format!("--{id} {}", quoted(each));
            let text = each.to_string_lossy();
            let Some((number, value)) = text.split_once('=') else {
                return input(format!(
                    "{option}: expected PORT=..., for example {example}"
                ));
            };
            let number = port(number, &option)?;
            let Some(config) = configs.get_mut(&number) else {
                return input(format!("{option}: port {number} has no interface"));
            };
            if !seen.insert(number) {
                return input(format!("{option}: given twice for port {number}"));
            }
            set(config, value, &option)?;
        }
    }
    Ok(configs)
}

fn port(text: &str, option: &str) -> Result<u16, Ended> {
    match text.parse() {
        Ok(port) if is_decimal(text) && port <= HIGHEST_PORT => Ok(port),
        _ => input(format!(
            "{option}: expected a port from 0 to {HIGHEST_PORT}, got {}",
            quoted(text)
        )),
    }
}

fn is_decimal(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn set_rate(config: &mut PortConfig, text: &str, option: &str) -> Result<(), Ended> {
    let (rate, overhead) = rate::read(text, option)?;
    config.rate_bps = Some(rate);
    config.overhead_bytes = overhead;
    Ok(())
}

fn count(text: &str, option: &str, of: &str, lowest: u64) -> Result<u64, Ended> {
    match text.parse() {
        Ok(count) if is_decimal(text) && (lowest..=HIGHEST_COUNT).contains(&count) => Ok(count),
        _ => input(format!(
            "{option}: expected a number of {of} from {lowest}, got {}",
            quoted(text)
        )),
    }
}

fn count_of(text: &str, option: &str, of: &str, lowest: u64) -> Result<usize, Ended> {
    let counted = count(text, option, of, lowest)?;
    Ok(usize::try_from(counted).unwrap_or(usize::MAX))
}

fn set_transmit_ring(config: &mut PortConfig, text: &str, option: &str) -> Result<(), Ended> {
    config.transmit_ring = count_of(text, option, "frames", 0)?;
    Ok(())
}

fn set_buffer(config: &mut PortConfig, text: &str, option: &str) -> Result<(), Ended> {
    config.buffer_packets = count_of(text, option, "packets", 1)?;
    Ok(())
}

fn set_queue_depth(config: &mut PortConfig, text: &str, option: &str) -> Result<(), Ended> {
    config.queue_depth = Some(count_of(text, option, "packets", 1)?);
    config.held_queue_depth = None;
    Ok(())
}

fn set_queue_rate(config: &mut PortConfig, text: &str, option: &str) -> Result<(), Ended> {
    config.queue_rate_pps = Some(count(text, option, "packets per second", 1)?);
    Ok(())
}

#[cfg(test)]
#[path = "ports_tests.rs"]
mod tests;
