//! Options of bmv2 that have no meaning or can't be done here, each with the reason.

use crate::arguments::Given;
use crate::ending::{Ended, input};

/// Accepted, with one notice: the switch works without them.
pub const WITHOUT_MEANING: [(&str, &str); 7] = [
    (
        "nanolog",
        "there are no nanomsg event logs; --log-console and --log-file log packets",
    ),
    ("debugger", "there is no debugger"),
    ("debugger-addr", "there is no debugger"),
    (
        "disable-swap",
        "a controller may always replace the program",
    ),
    ("max-mc-groups", "multicast tables grow as needed"),
    ("max-l1-entries", "multicast tables grow as needed"),
    ("max-l2-entries", "multicast tables grow as needed"),
];

/// Refused: the switch can't do them.
pub const REFUSED: [(&str, &str); 4] = [
    (
        "restore-state",
        "state files of bmv2 can't be read; write the entries through P4Runtime",
    ),
    (
        "load-modules",
        "externs in shared objects can't be loaded; all of v1model's are built in",
    ),
    (
        "packet-in",
        "ports are interfaces, TAP devices or pcap files, not nanomsg sockets",
    ),
    (
        "dp-grpc-server-addr",
        "ports are interfaces, TAP devices or pcap files, not a gRPC channel",
    ),
];

/// Refuses options that can't be done; gives a notice about those without meaning.
pub fn check(given: &Given) -> Result<Option<String>, Ended> {
    if let Some((id, why)) = REFUSED.iter().find(|(id, _)| given.has(id)) {
        return input(format!("--{id}: {why}"));
    }
    let mut by_reason: Vec<(&str, Vec<String>)> = Vec::new();
    for (id, why) in WITHOUT_MEANING.iter().filter(|(id, _)| given.has(id)) {
        let name = format!("--{id}");
        match by_reason.iter_mut().find(|(reason, _)| reason == why) {
            Some((_, names)) => names.push(name),
            None => by_reason.push((why, vec![name])),
        }
    }
    let parts = by_reason
        .iter()
        .map(|(why, names)| format!("{} ignored ({why})", names.join(", ")));
    let line = parts.collect::<Vec<_>>().join("; ");
    Ok((!line.is_empty()).then_some(line))
}
