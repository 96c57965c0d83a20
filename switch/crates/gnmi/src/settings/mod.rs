//! Settings: line rates, shapers, queue limits, and what is kept for a controller. A request is worked out on a copy,
//! checked whole, then applied.
//!
//! A port's line rate is the smaller of its rate at the start and its Ethernet speed. The scheduler without inputs
//! of its policy is a shaper in front of the line.

mod change;
mod checks;
mod kept;
mod ports;

use std::collections::BTreeMap;
use std::ops::Bound;

use phb_traffic_manager::{DEFAULT_BUFFER_PACKETS, PortConfig};

use crate::paths::{Element, Path};
use crate::schema::{self, Kind};
use crate::value::Value;

pub(crate) use change::{changed, check_size};
pub(crate) use checks::check;
pub(crate) use kept::{kept, own};
pub(crate) use ports::port_configs;

/// Every writable leaf that has a value.
pub(crate) type Settings = BTreeMap<Path, Value>;

pub(crate) type Ports = BTreeMap<String, PortConfig>;

const ETHERNET: &str = "ethernetCsmacd";
const SHAPE: &str = "SHAPE";

pub(crate) fn interface_path(name: &str) -> Path {
    let elements = [
        Element::new("interfaces"),
        Element::with_key("interface", "name", name),
    ];
    elements.into_iter().collect()
}

pub(crate) fn qos_interface_path(name: &str) -> Path {
    let elements = [
        Element::new("qos"),
        Element::new("interfaces"),
        Element::with_key("interface", "interface-id", name),
    ];
    elements.into_iter().collect()
}

fn policy_path(name: &str) -> Path {
    let elements = [
        Element::new("qos"),
        Element::new("scheduler-policies"),
        Element::with_key("scheduler-policy", "name", name),
    ];
    elements.into_iter().collect()
}

fn first_scheduler_path(policy: &Path) -> Path {
    let scheduler = Element::with_key("scheduler", "sequence", "0");
    policy.below("schedulers").with(scheduler)
}

fn binding_path(interface: &str) -> Path {
    qos_interface_path(interface).below("output/scheduler-policy/config/name")
}

/// The settings at the start: shapers and queue limits become a policy named after the interface.
pub(crate) fn initial(ports: &Ports) -> Settings {
    let mut settings = Settings::new();
    for (name, config) in ports {
        let limited = config.buffer_packets != DEFAULT_BUFFER_PACKETS;
        if config.shaper.is_none() && !limited {
            continue;
        }
        let shaper = first_scheduler_path(&policy_path(name)).below("one-rate-two-color/config");
        let mut say = |leaf, value| set(&mut settings, shaper.below(leaf), value);
        say("queuing-behavior", Value::text(SHAPE));
        if let Some(shaper) = config.shaper {
            say("cir", Value::Unsigned(shaper.rate_bps));
            say("bc", Value::Unsigned(u64::from(shaper.burst_bytes)));
            say("overhead", Value::Signed(shaper.overhead_bytes));
        }
        if limited {
            let packets = Value::Unsigned(config.buffer_packets as u64);
            say("max-queue-depth-packets", packets);
        }
        set(&mut settings, binding_path(name), Value::text(name));
    }
    add_interfaces(&mut settings, ports.keys());
    settings
}

/// Interfaces stay when their settings are deleted.
fn add_interfaces<'a>(settings: &mut Settings, names: impl Iterator<Item = &'a String>) {
    for name in names {
        let config = interface_path(name).below("config");
        set(settings, config.below("name"), Value::text(name));
        let defaults = [
            ("type", Value::text(ETHERNET)),
            ("enabled", Value::Boolean(true)),
        ];
        for (leaf, value) in defaults {
            settings.entry(config.below(leaf)).or_insert(value);
        }
        let id = qos_interface_path(name).below("config/interface-id");
        set(settings, id, Value::text(name));
    }
}

/// Which settings of its own a controller says are in force, by the number that they had.
pub(crate) fn applied(settings: &Settings) -> Option<u64> {
    let path: Path = ["controller", "config", "applied"]
        .into_iter()
        .map(Element::new)
        .collect();
    settings.get(&path)?.as_unsigned()
}

/// Sets a leaf and the keys of its list entries, which are always as the path says.
fn set(settings: &mut Settings, path: Path, value: Value) {
    let mut keys = Vec::new();
    for (depth, element) in path.iter().enumerate() {
        for (key, text) in &element.keys {
            let entry: Path = path.iter().take(depth + 1).cloned().collect();
            let leaf = entry.below(key);
            let value = match schema::leaf(&leaf).map(|leaf| leaf.kind) {
                Some(Kind::Uint32) => Value::Unsigned(text.parse().unwrap_or_default()),
                _ => Value::text(text),
            };
            keys.push((entry.below("config").below(key), value.clone()));
            keys.push((leaf, value));
        }
    }
    settings.insert(path, value);
    settings.extend(keys);
}

/// The settings at and below a path without wildcards.
pub(crate) fn at_or_below<'a>(
    settings: &'a Settings,
    path: &[Element],
) -> impl Iterator<Item = (&'a Path, &'a Value)> {
    settings
        .range::<[Element], _>((Bound::Included(path), Bound::Unbounded))
        .take_while(move |(each, _)| each.starts_with(path))
}
