//! The ports' configuration by the settings.

use phb_traffic_manager::{DEFAULT_BUFFER_PACKETS, PortConfig, ShaperConfig};

use super::{
    ETHERNET, Ports, SHAPE, Settings, at_or_below, binding_path, interface_path, policy_path,
};
use crate::paths::Path;
use crate::refusal::{Result, quoted, wrong};
use crate::schema::{self, Leaf, SPEEDS};
use crate::value::Value;

const HIGHEST_RATE: u64 = i64::MAX as u64;

/// Checks settings as a whole and gives the ports' configuration; `InvalidArgument` has the path.
/// `ports` are the present ones; `started`, those at the start, fill what settings leave open.
pub(crate) fn port_configs(settings: &Settings, ports: &Ports, started: &Ports) -> Result<Ports> {
    for (path, value) in settings {
        if let Some(leaf) = schema::leaf(path) {
            check_leaf(path, leaf, value, ports)?;
        }
    }
    let mut result = Ports::new();
    for (name, present) in ports {
        let started = started.get(name).unwrap_or(present);
        let config = port_config(settings, name, present.clone(), started)?;
        result.insert(name.clone(), config);
    }
    Ok(result)
}

fn check_leaf(path: &Path, leaf: &Leaf, value: &Value, ports: &Ports) -> Result<()> {
    let names: Vec<&str> = leaf.names.iter().map(String::as_str).collect();
    let text = value.as_text().unwrap_or_default();
    let message = match (names.as_slice(), leaf.name()) {
        (
            ["interfaces", "interface", "name"]
            | ["qos", "interfaces", "interface", "interface-id"],
            _,
        ) if !ports.contains_key(text) => {
            format!("there is no interface {value}")
        }
        (_, "type") if text != ETHERNET => format!("expected {ETHERNET}, found {value}"),
        (_, "enabled") if *value != Value::Boolean(true) => "ports can't be shut here".to_owned(),
        (_, "port-speed") if speed(text).is_none() => {
            let known: Vec<&str> = SPEEDS.iter().map(|(name, _)| *name).collect();
            format!("expected one of {}, found {value}", known.join(", "))
        }
        (_, "queuing-behavior") if text != SHAPE => {
            format!("expected {SHAPE}, found {value}; policing is the program's")
        }
        (_, "cir") if !matches!(value, Value::Unsigned(1..=HIGHEST_RATE)) => {
            format!("expected a rate from 1 to {HIGHEST_RATE} bit/s, found {value}")
        }
        (_, "max-queue-depth-packets") if *value == Value::Unsigned(0) => {
            "expected at least 1 packet".to_owned()
        }
        _ => return Ok(()),
    };
    Err(wrong(path, message))
}

fn speed(name: &str) -> Option<u64> {
    let known = SPEEDS.iter().find(|(known, _)| *known == name);
    known.map(|(_, rate)| *rate)
}

fn port_config(
    settings: &Settings,
    name: &str,
    mut present: PortConfig,
    started: &PortConfig,
) -> Result<PortConfig> {
    let speed_path = interface_path(name).below("ethernet/config/port-speed");
    let configured = settings.get(&speed_path).and_then(Value::as_text);
    let rates = [started.rate_bps, configured.and_then(speed)];
    present.rate_bps = rates.into_iter().flatten().min();
    present.buffer_packets = DEFAULT_BUFFER_PACKETS;
    present.queue_depth = started.queue_depth;
    present.held_queue_depth = started.held_queue_depth;
    present.shaper = None;
    if let Some(scheduler) = scheduler(settings, &binding_path(name))? {
        present.shaper = shaper(settings, &scheduler, present.overhead_bytes)?;
        let depth = settings.get(&scheduler.below("max-queue-depth-packets"));
        let depth = depth.and_then(Value::as_unsigned);
        if let Some(depth) = depth.and_then(|depth| usize::try_from(depth).ok()) {
            present.buffer_packets = depth;
            present.queue_depth = Some(depth);
            present.held_queue_depth = None;
        }
    }
    Ok(present)
}

/// A port's scheduler as a shaper, if it has a rate. Its overhead is the line's unless set.
fn shaper(
    settings: &Settings,
    scheduler: &Path,
    line_overhead: i32,
) -> Result<Option<ShaperConfig>> {
    let of = |leaf| settings.get(&scheduler.below(leaf));
    let (rate, burst, overhead) = (of("cir"), of("bc"), of("overhead"));
    let Some(rate_bps) = rate.and_then(Value::as_unsigned) else {
        for (leaf, value) in [("bc", burst), ("overhead", overhead)] {
            if value.is_some() {
                return Err(wrong(&scheduler.below(leaf), "a shaper without a cir"));
            }
        }
        return Ok(None);
    };
    let burst = burst.and_then(Value::as_unsigned).unwrap_or_default();
    let overhead = overhead.and_then(Value::as_signed);
    Ok(Some(ShaperConfig {
        rate_bps,
        burst_bytes: u32::try_from(burst).unwrap_or(u32::MAX),
        overhead_bytes: overhead.unwrap_or(line_overhead),
    }))
}

/// The path of the scheduler in the policy that a port is bound to.
fn scheduler(settings: &Settings, binding: &Path) -> Result<Option<Path>> {
    let Some(name) = settings.get(binding).and_then(Value::as_text) else {
        return Ok(None);
    };
    let policy = policy_path(name);
    if !settings.contains_key(&policy.below("name")) {
        let message = format!("there is no scheduler policy {}", quoted(name));
        return Err(wrong(binding, message));
    }
    let depth = policy.len() + 2;
    let schedulers: Vec<&Path> = at_or_below(settings, &policy)
        .map(|(path, _)| path)
        .filter(|path| path.len() == depth + 1)
        .filter(|path| path.last().is_some_and(|last| last.name == "sequence"))
        .collect();
    match schedulers.as_slice() {
        [] => Ok(None),
        [only] => {
            let scheduler: Path = only.iter().take(depth).cloned().collect();
            Ok(Some(scheduler.below("one-rate-two-color/config")))
        }
        several => {
            let message = format!(
                "the scheduler policy {} has {} schedulers; a port has one shaper",
                quoted(name),
                several.len()
            );
            Err(wrong(binding, message))
        }
    }
}
