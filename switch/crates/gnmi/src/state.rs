//! Leaves of settings in force and of counters: their paths, and in the same order their values.

use std::sync::Arc;

use phb_node::{DropReason, PortStatistics, QueueStatistics};
use phb_pipeline::Execution;
use phb_ports::Link;

use crate::counters;
use crate::interface::Attachment;
use crate::paths::{Element, Path};
use crate::settings::{interface_path, qos_interface_path};
use crate::value::Value;

/// Counted at the output port, all others at the input port. See [`PortStatistics`].
const OUTGOING: [DropReason; 7] = [
    DropReason::Buffer,
    DropReason::Queue,
    DropReason::Priority,
    DropReason::PushedOut,
    DropReason::Egress,
    DropReason::Reloaded,
    DropReason::CpuBuffer,
];

const PORT: [&str; 14] = [
    "id",
    "ifindex",
    "admin-status",
    "oper-status",
    "queueing-discipline",
    "counters/in-octets",
    "counters/in-pkts",
    "counters/in-discards",
    "counters/in-errors",
    "counters/out-octets",
    "counters/out-pkts",
    "counters/out-discards",
    "counters/out-errors",
    "counters/out-held-back",
];

const QUEUE: [&str; 7] = [
    "name",
    "state/name",
    "state/transmit-pkts",
    "state/transmit-octets",
    "state/dropped-pkts",
    "state/dropped-octets",
    "state/max-queue-len",
];

/// The leaf that says that a setting is in force.
pub(crate) fn applied(setting: &Path) -> Option<Path> {
    let at = setting.len().checked_sub(2)?;
    if setting.get(at)?.name != "config" {
        return None;
    }
    let mut elements = setting.to_vec();
    elements[at] = Element::new("state");
    Some(elements.into_iter().collect())
}

pub(crate) fn port_paths(name: &str) -> impl Iterator<Item = Path> {
    let state = interface_path(name).below("state");
    PORT.iter().map(move |names| state.below(names))
}

pub(crate) fn port_values(
    number: u16,
    counted: &PortStatistics,
    attachment: Option<&Attachment>,
) -> [Value; PORT.len()] {
    let drops = &counted.dropped;
    let outgoing: u64 = OUTGOING.iter().map(|reason| drops.of(*reason)).sum();
    let none = Attachment::default();
    let at_interface = attachment.unwrap_or(&none);
    let link = match attachment.map(|attachment| attachment.link) {
        None => "UNKNOWN",
        Some(Link::Up) => "UP",
        Some(Link::Down) => "DOWN",
        Some(Link::Absent) => "NOT_PRESENT",
    };
    let missed = at_interface.missed.saturating_add(at_interface.refused);
    let incoming = drops.total() - outgoing;
    let ifindex = at_interface.ifindex.unwrap_or(u32::from(number));
    [
        Value::Unsigned(u64::from(number)),
        Value::Unsigned(u64::from(ifindex)),
        Value::text("UP"),
        Value::text(link),
        Value::text(at_interface.discipline.as_deref().unwrap_or("none")),
        Value::Unsigned(counted.received_bytes),
        Value::Unsigned(counted.received_packets),
        Value::Unsigned(missed.saturating_add(incoming)),
        Value::Unsigned(at_interface.receive_errors),
        Value::Unsigned(counted.transmitted_bytes),
        Value::Unsigned(counted.transmitted_packets),
        Value::Unsigned(outgoing),
        Value::Unsigned(at_interface.send_errors),
        Value::Unsigned(at_interface.held_back),
    ]
}

pub(crate) fn queue_paths(name: &str, queues: usize) -> impl Iterator<Item = Path> {
    let all = qos_interface_path(name).below("output/queues");
    (0..queues).flat_map(move |priority| {
        let queue = all.with(Element::with_key("queue", "name", &priority.to_string()));
        QUEUE.map(|names| queue.below(names))
    })
}

pub(crate) fn queue_values(priority: usize, counted: &QueueStatistics) -> [Value; QUEUE.len()] {
    let name: Arc<str> = priority.to_string().into();
    [
        Value::Text(Arc::clone(&name)),
        Value::Text(name),
        Value::Unsigned(counted.passed_packets),
        Value::Unsigned(counted.passed_bytes),
        Value::Unsigned(counted.dropped_packets),
        Value::Unsigned(counted.dropped_bytes),
        Value::Unsigned(counted.waiting_bytes_max),
    ]
}

/// How the program runs, docs/operate/phb-program.yang: nothing without one, a reason only where there is one.
pub(crate) fn program(
    execution: Option<&Execution>,
) -> impl Iterator<Item = (&'static str, Value)> {
    let told = execution.map(|execution| {
        let bytes = u64::try_from(execution.code_bytes).unwrap_or(u64::MAX);
        let reason = execution.reason.as_deref();
        [
            Some(("executor", Value::text(execution.executor.name()))),
            Some(("code-bytes", Value::Unsigned(bytes))),
            reason.map(|reason| ("reason", Value::text(reason))),
        ]
    });
    told.into_iter().flatten().flatten()
}

pub(crate) fn program_path(leaf: &str) -> Path {
    let names = ["program", "state", leaf];
    names.into_iter().map(Element::new).collect()
}

pub(crate) fn wanted_path() -> Path {
    let names = ["controller", "state", "wanted"];
    names.into_iter().map(Element::new).collect()
}

pub(crate) fn server_paths() -> impl Iterator<Item = Path> {
    counters::LEAVES.iter().map(|leaf| {
        let names = ["server", "state", "counters", leaf];
        names.into_iter().map(Element::new).collect()
    })
}
