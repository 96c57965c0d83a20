//! The ports' configuration by the settings.

use std::collections::BTreeSet;

use phb_traffic_manager::{DEFAULT_BUFFER_PACKETS, PortConfig, ShaperConfig};

use super::checks::speed;
use super::{Ports, Settings, at_or_below, binding_path, interface_path, policy_path};
use crate::paths::{Element, Path};
use crate::refusal::{Result, quoted, wrong};
use crate::value::Value;

/// The ports' configuration by checked settings; `InvalidArgument` has the path.
/// `ports` are the present ones; `started`, those at the start, fill what settings leave open.
pub(crate) fn port_configs(settings: &Settings, ports: &Ports, started: &Ports) -> Result<Ports> {
    let mut result = Ports::new();
    for (name, present) in ports {
        let started = started.get(name).unwrap_or(present);
        let config = port_config(settings, name, present.clone(), started)?;
        result.insert(name.clone(), config);
    }
    Ok(result)
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

/// The path of the shaper in the policy that a port is bound to: of its scheduler that has no queues for inputs.
fn scheduler(settings: &Settings, binding: &Path) -> Result<Option<Path>> {
    let Some(name) = settings.get(binding).and_then(Value::as_text) else {
        return Ok(None);
    };
    let policy = policy_path(name);
    let mut with_inputs = BTreeSet::new();
    let mut all = BTreeSet::new();
    let depth = policy.len() + 2;
    for (path, _) in at_or_below(settings, &policy) {
        let Some(scheduler) = path.get(..depth).filter(|_| path.len() > depth) else {
            continue;
        };
        if path[depth].name == "inputs" {
            with_inputs.insert(scheduler);
        }
        if path[depth].name == "sequence" {
            all.insert(scheduler);
        }
    }
    let shapers: Vec<&[Element]> = all.difference(&with_inputs).copied().collect();
    match shapers.as_slice() {
        [] => Ok(None),
        [only] => {
            let scheduler: Path = only.iter().cloned().collect();
            Ok(Some(scheduler.below("one-rate-two-color/config")))
        }
        several => {
            let message = format!(
                "the scheduler policy {} has {} schedulers without inputs; a port has one shaper",
                quoted(name),
                several.len()
            );
            Err(wrong(binding, message))
        }
    }
}
