//! Leaves of openconfig-qos: what a controller makes entries of, what the switch does itself, and counters of both.

use super::Kind;
use super::table::{QOS, Table};

const CLASSIFIER: &str = "qos/classifiers/classifier";
const TERM: &str = "qos/classifiers/classifier/terms/term";
const GROUP: &str = "qos/forwarding-groups/forwarding-group";
const NAMED_QUEUE: &str = "qos/queues/queue";
const PROFILE: &str = "qos/queue-management-profiles/queue-management-profile";
const POLICY: &str = "qos/scheduler-policies/scheduler-policy";
const SCHEDULER: &str = "qos/scheduler-policies/scheduler-policy/schedulers/scheduler";
const INPUT: &str = "qos/scheduler-policies/scheduler-policy/schedulers/scheduler/inputs/input";
const INTERFACE: &str = "qos/interfaces/interface";
const INPUT_CLASSIFIER: &str = "qos/interfaces/interface/input/classifiers/classifier";
const MATCHED: &str = "qos/interfaces/interface/input/classifiers/classifier/terms/term";
const INPUT_POLICY: &str = "qos/interfaces/interface/input/scheduler-policy";
const POLICED: &str = "qos/interfaces/interface/input/scheduler-policy/schedulers/scheduler";
const QUEUE: &str = "qos/interfaces/interface/output/queues/queue";

const OWN: &str = "phb-qos";
const TYPES: &str = "openconfig-qos-types";

pub(super) const LISTS: [(&str, &str); 13] = [
    (CLASSIFIER, "name"),
    (TERM, "id"),
    (GROUP, "name"),
    (NAMED_QUEUE, "name"),
    (PROFILE, "name"),
    (POLICY, "name"),
    (SCHEDULER, "sequence"),
    (INPUT, "id"),
    (INTERFACE, "interface-id"),
    (INPUT_CLASSIFIER, "type"),
    (MATCHED, "id"),
    (POLICED, "sequence"),
    (QUEUE, "name"),
];

pub(super) fn add(table: &mut Table) {
    classifiers(table);
    table.key(GROUP, "name", Kind::Text, QOS);
    table.configured(GROUP, "output-queue", Kind::Text, QOS);
    table.key(NAMED_QUEUE, "name", Kind::Text, QOS);
    table.configured(NAMED_QUEUE, "queue-id", Kind::Uint8, QOS);
    profiles(table);
    schedulers(table);
    interfaces(table);
}

fn classifiers(table: &mut Table) {
    table.key(CLASSIFIER, "name", Kind::Text, QOS);
    table.configured(CLASSIFIER, "type", Kind::Enumeration, QOS);
    table.key(TERM, "id", Kind::Text, QOS);
    for version in ["ipv4", "ipv6"] {
        let header = format!("{TERM}/conditions/{version}");
        table.configured(&header, "dscp", Kind::Uint8, QOS);
        table.configured(&header, "dscp-set", Kind::Uint8s, QOS);
        table.configured(&header, "source-address", Kind::Text, QOS);
        table.configured(&header, "destination-address", Kind::Text, QOS);
        table.configured(&header, "protocol", Kind::NumberOrText, QOS);
    }
    let transport = format!("{TERM}/conditions/transport");
    table.configured(&transport, "source-port", Kind::NumberOrText, QOS);
    table.configured(&transport, "destination-port", Kind::NumberOrText, QOS);
    let actions = format!("{TERM}/actions");
    table.configured(&actions, "target-group", Kind::Text, QOS);
    remarks(table, &format!("{actions}/remark"));
}

fn remarks(table: &mut Table, container: &str) {
    table.configured(container, "set-dscp", Kind::Uint8, QOS);
    table.configured(container, "set-dot1p", Kind::Uint8, QOS);
}

fn profiles(table: &mut Table) {
    table.key(PROFILE, "name", Kind::Text, QOS);
    let wred = format!("{PROFILE}/wred/uniform");
    for name in [
        "min-threshold",
        "max-threshold",
        "min-threshold-percent",
        "max-threshold-percent",
    ] {
        table.configured(&wred, name, Kind::Uint64, QOS);
    }
    for name in ["enable-ecn", "drop"] {
        table.configured(&wred, name, Kind::Boolean, QOS);
    }
    table.configured(&wred, "weight", Kind::Uint32, QOS);
    table.configured(&wred, "max-drop-probability-percent", Kind::Uint8, QOS);
}

fn schedulers(table: &mut Table) {
    table.key(POLICY, "name", Kind::Text, QOS);
    table.key(SCHEDULER, "sequence", Kind::Uint32, QOS);
    table.identity(SCHEDULER, "type", Kind::Identity, QOS, TYPES);
    table.configured(SCHEDULER, "priority", Kind::Enumeration, QOS);
    table.key(INPUT, "id", Kind::Text, QOS);
    table.configured(INPUT, "input-type", Kind::Enumeration, QOS);
    table.configured(INPUT, "queue", Kind::Text, QOS);
    table.configured(INPUT, "weight", Kind::Uint64, QOS);
    let one_rate = format!("{SCHEDULER}/one-rate-two-color");
    table.configured(&one_rate, "cir", Kind::Uint64, QOS);
    table.configured(&one_rate, "bc", Kind::Uint32, QOS);
    table.configured(&one_rate, "overhead", Kind::Int32, OWN);
    table.configured(&one_rate, "queuing-behavior", Kind::Text, QOS);
    table.configured(&one_rate, "max-queue-depth-packets", Kind::Uint32, QOS);
    treatments(table, &one_rate, &["exceed-action"]);
    let two_rates = format!("{SCHEDULER}/two-rate-three-color");
    for (name, kind) in [
        ("cir", Kind::Uint64),
        ("pir", Kind::Uint64),
        ("bc", Kind::Uint32),
        ("be", Kind::Uint32),
    ] {
        table.configured(&two_rates, name, kind, QOS);
    }
    treatments(table, &two_rates, &["exceed-action", "violate-action"]);
}

fn treatments(table: &mut Table, meter: &str, may_drop: &[&str]) {
    remarks(table, &format!("{meter}/conform-action"));
    for treatment in may_drop {
        let treatment = format!("{meter}/{treatment}");
        remarks(table, &treatment);
        table.configured(&treatment, "drop", Kind::Boolean, QOS);
    }
}

fn interfaces(table: &mut Table) {
    table.key(INTERFACE, "interface-id", Kind::Text, QOS);
    let reference = format!("{INTERFACE}/interface-ref");
    table.configured(&reference, "interface", Kind::Text, QOS);
    table.key(INPUT_CLASSIFIER, "type", Kind::Enumeration, QOS);
    table.configured(INPUT_CLASSIFIER, "name", Kind::Text, QOS);
    table.counted(
        MATCHED,
        "id",
        Kind::Text,
        &["matched-packets", "matched-octets"],
    );
    table.configured(INPUT_POLICY, "name", Kind::Text, QOS);
    table.counted(
        POLICED,
        "sequence",
        Kind::Uint32,
        &[
            "conforming-pkts",
            "conforming-octets",
            "exceeding-pkts",
            "exceeding-octets",
            "violating-pkts",
            "violating-octets",
        ],
    );
    let output = format!("{INTERFACE}/output/scheduler-policy");
    table.configured(&output, "name", Kind::Text, QOS);
    table.key(QUEUE, "name", Kind::Text, QOS);
    table.configured(QUEUE, "queue-management-profile", Kind::Text, QOS);
    table.counters(
        &format!("{QUEUE}/state"),
        QOS,
        &[
            "transmit-pkts",
            "transmit-octets",
            "dropped-pkts",
            "dropped-octets",
            "max-queue-len",
            "ecn-marked-pkts",
            "ecn-marked-octets",
        ],
    );
}
