//! Options that name a port: what is attached to it, and how it transmits.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;

use phb_traffic_manager::PortConfig;

use crate::arguments::Given;
use crate::ending::{Ended, input};
use crate::quoted::{is_text, quoted};
use crate::rate;

/// v1model's port fields have 9 bits.
pub const HIGHEST_PORT: u16 = 511;

/// Before the name of an interface: a TAP interface, which is made if there is none.
pub const TAP: &str = "tap:";

const HIGHEST_COUNT: u64 = u32::MAX as u64;

/// Options with a value of the form `PORT=...`, each with an example.
const OPTIONS: [(&str, &str, Setter); 5] = [
    ("port-rate", "2=256kbit/s:-7", set_rate),
    ("transmit-ring", "2=6", set_transmit_ring),
    ("buffer-packets", "2=40", set_buffer),
    ("queue-depth", "2=64", set_queue_depth),
    ("queue-rate", "2=1000", set_queue_rate),
];

/// Sets something of a port by a text; the option is for messages.
type Setter = fn(&mut PortConfig, &str, &str) -> Result<(), Ended>;

/// Reads `PORT@INTERFACE`, in the order of the command line.
pub fn attached(given: &[&OsStr]) -> Result<Vec<(u16, String)>, Ended> {
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
///
/// `ports` are those that have an interface; each is `common` where no option says otherwise.
pub fn configured(
    ports: impl IntoIterator<Item = u16>,
    common: &PortConfig,
    given: &Given,
) -> Result<BTreeMap<u16, PortConfig>, Ended> {
    let mut configs: BTreeMap<u16, PortConfig> = ports
        .into_iter()
        .map(|port| (port, common.clone()))
        .collect();
    for (id, example, set) in OPTIONS {
        let mut seen = BTreeSet::new();
        for each in given.all(id) {
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
    Ok(())
}

fn set_queue_rate(config: &mut PortConfig, text: &str, option: &str) -> Result<(), Ended> {
    config.queue_rate_pps = Some(count(text, option, "packets per second", 1)?);
    Ok(())
}

#[cfg(test)]
#[path = "ports_tests.rs"]
mod tests;
