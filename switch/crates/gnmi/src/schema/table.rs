//! The leaves, one by one.
//!
//! The names are those of openconfig-interfaces, -if-ethernet, -p4rt and -qos as published at
//! github.com/openconfig/public, and of five models of our own, docs/operate/phb-interfaces.yang,
//! phb-qos.yang, phb-controller.yang, phb-program.yang and phb-server.yang.

use super::{Kind, Leaf};
use crate::counters;

pub(super) const INTERFACES: &str = "openconfig-interfaces";
pub(super) const ETHERNET: &str = "openconfig-if-ethernet";
const P4RT: &str = "openconfig-p4rt";
pub(super) const QOS: &str = "openconfig-qos";
const OWN_INTERFACES: &str = "phb-interfaces";
const OWN_QOS: &str = "phb-qos";
pub(super) const PROGRAM: &str = "phb-program";
pub(super) const SERVER: &str = "phb-server";
pub(super) const CONTROLLER: &str = "phb-controller";

const OPENCONFIG: &str = "OpenConfig working group";

/// Name, organization and version of each model.
pub(crate) const MODELS: [(&str, &str, &str); 9] = [
    (INTERFACES, OPENCONFIG, "3.7.1"),
    (ETHERNET, OPENCONFIG, "2.13.0"),
    (P4RT, OPENCONFIG, "0.4.0"),
    (QOS, OPENCONFIG, "2.2.0"),
    (OWN_INTERFACES, "phb", "0.1.0"),
    (OWN_QOS, "phb", "0.1.0"),
    (CONTROLLER, "phb", "0.1.0"),
    (PROGRAM, "phb", "0.1.0"),
    (SERVER, "phb", "0.1.0"),
];

/// Identities of `ETHERNET_SPEED`, in bit/s.
pub(crate) const SPEEDS: [(&str, u64); 14] = [
    ("SPEED_10MB", 10_000_000),
    ("SPEED_100MB", 100_000_000),
    ("SPEED_1GB", 1_000_000_000),
    ("SPEED_2500MB", 2_500_000_000),
    ("SPEED_5GB", 5_000_000_000),
    ("SPEED_10GB", 10_000_000_000),
    ("SPEED_25GB", 25_000_000_000),
    ("SPEED_40GB", 40_000_000_000),
    ("SPEED_50GB", 50_000_000_000),
    ("SPEED_100GB", 100_000_000_000),
    ("SPEED_200GB", 200_000_000_000),
    ("SPEED_400GB", 400_000_000_000),
    ("SPEED_600GB", 600_000_000_000),
    ("SPEED_800GB", 800_000_000_000),
];

const INTERFACE: &str = "interfaces/interface";
const INTERFACE_STATE: &str = "interfaces/interface/state";
const COUNTED: &str = "controller/counters/counter";

pub(super) fn lists() -> impl Iterator<Item = (&'static str, &'static str)> {
    let own = [(INTERFACE, "name"), (COUNTED, "path")];
    own.into_iter().chain(super::qos::LISTS)
}

const INTERFACE_COUNTERS: [&str; 8] = [
    "in-octets",
    "in-pkts",
    "in-discards",
    "in-errors",
    "out-octets",
    "out-pkts",
    "out-discards",
    "out-errors",
];

#[derive(Default)]
pub(super) struct Table(Vec<Leaf>);

impl Table {
    fn leaf(&mut self, container: &str, name: &str, kind: Kind, module: &'static str) -> &mut Leaf {
        let index = self.0.len();
        let names = container.split('/').chain([name]);
        self.0.push(Leaf {
            index,
            names: names.map(str::to_owned).collect(),
            kind,
            module,
            writable: false,
            is_counter: false,
            identity_module: "",
        });
        &mut self.0[index]
    }

    pub(super) fn counters(&mut self, container: &str, module: &'static str, names: &[&str]) {
        for name in names {
            self.leaf(container, name, Kind::Uint64, module).is_counter = true;
        }
    }

    /// A list of counters, which has no settings: its key and what is counted.
    pub(super) fn counted(&mut self, container: &str, key: &str, kind: Kind, names: &[&str]) {
        let state = format!("{container}/state");
        self.leaf(container, key, kind, QOS);
        self.leaf(&state, key, kind, QOS);
        self.counters(&state, QOS, names);
    }

    /// A list's key: it may be set, but only to the value that the path has.
    pub(super) fn key(&mut self, container: &str, name: &str, kind: Kind, module: &'static str) {
        self.leaf(container, name, kind, module).writable = true;
        self.configured(container, name, kind, module);
    }

    /// A leaf that can be set, and the one beside it with the value in force.
    pub(super) fn configured(
        &mut self,
        container: &str,
        name: &str,
        kind: Kind,
        module: &'static str,
    ) {
        self.identity(container, name, kind, module, "");
    }

    pub(super) fn identity(
        &mut self,
        container: &str,
        name: &str,
        kind: Kind,
        module: &'static str,
        identity_module: &'static str,
    ) {
        for (place, writable) in [("config", true), ("state", false)] {
            let leaf = self.leaf(&format!("{container}/{place}"), name, kind, module);
            leaf.writable = writable;
            leaf.identity_module = identity_module;
        }
    }
}

pub(super) fn leaves() -> Vec<Leaf> {
    let mut table = Table::default();
    table.key(INTERFACE, "name", Kind::Text, INTERFACES);
    table.identity(
        INTERFACE,
        "type",
        Kind::Identity,
        INTERFACES,
        "iana-if-type",
    );
    table.configured(INTERFACE, "description", Kind::Text, INTERFACES);
    table.configured(INTERFACE, "enabled", Kind::Boolean, INTERFACES);
    table.leaf(INTERFACE_STATE, "id", Kind::Uint32, P4RT);
    // The kernel's index of the interface, or P4Runtime's port number where there is no interface or no kernel's.
    table.leaf(INTERFACE_STATE, "ifindex", Kind::Uint32, INTERFACES);
    for name in ["admin-status", "oper-status"] {
        table.leaf(INTERFACE_STATE, name, Kind::Enumeration, INTERFACES);
    }
    table.counters(
        &format!("{INTERFACE_STATE}/counters"),
        INTERFACES,
        &INTERFACE_COUNTERS,
    );
    table.leaf(
        INTERFACE_STATE,
        "queueing-discipline",
        Kind::Text,
        OWN_INTERFACES,
    );
    table.counters(
        &format!("{INTERFACE_STATE}/counters"),
        OWN_INTERFACES,
        &["out-held-back"],
    );
    table.identity(
        &format!("{INTERFACE}/ethernet"),
        "port-speed",
        Kind::Identity,
        ETHERNET,
        ETHERNET,
    );
    super::qos::add(&mut table);
    table.configured("controller", "applied", Kind::Uint64, CONTROLLER);
    table.configured("controller", "problem", Kind::Text, CONTROLLER);
    table.leaf("controller/state", "wanted", Kind::Uint64, CONTROLLER);
    table.key(COUNTED, "path", Kind::Text, CONTROLLER);
    table.configured(COUNTED, "cells", Kind::Text, CONTROLLER);
    table.leaf("program/state", "executor", Kind::Enumeration, PROGRAM);
    table.leaf("program/state", "code-bytes", Kind::Uint64, PROGRAM);
    table.leaf("program/state", "reason", Kind::Text, PROGRAM);
    table.counters("server/state/counters", SERVER, counters::LEAVES);
    table.0
}
