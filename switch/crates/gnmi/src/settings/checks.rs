//! Settings as a whole: values and references.

use super::{ETHERNET, Ports, SHAPE, Settings};
use crate::paths::{Element, Path};
use crate::refusal::{Result, wrong};
use crate::schema::{self, Leaf, SPEEDS};
use crate::value::Value;

const HIGHEST_RATE: u64 = i64::MAX as u64;

const HIGHEST_DSCP: u64 = 63;
const HIGHEST_PRIORITY: u64 = 7;

/// Leaves that name an entry of a list by its key: their ends, and the list.
const REFERENCES: [(&[&str], &[&str]); 8] = [
    (
        &["actions", "config", "target-group"],
        &["forwarding-groups", "forwarding-group"],
    ),
    (&["config", "output-queue"], &["queues", "queue"]),
    (&["input", "config", "queue"], &["queues", "queue"]),
    (
        &["input", "classifiers", "classifier", "config", "name"],
        &["classifiers", "classifier"],
    ),
    (
        &["queue", "config", "queue-management-profile"],
        &["queue-management-profiles", "queue-management-profile"],
    ),
    (
        &["input", "scheduler-policy", "config", "name"],
        &["scheduler-policies", "scheduler-policy"],
    ),
    (
        &["output", "scheduler-policy", "config", "name"],
        &["scheduler-policies", "scheduler-policy"],
    ),
    (
        &["interface-ref", "config", "interface"],
        &["interfaces", "interface"],
    ),
];

/// `InvalidArgument` has the path.
pub(crate) fn check(settings: &Settings, ports: &Ports) -> Result<()> {
    for (path, value) in settings {
        if let Some(leaf) = schema::leaf(path) {
            check_leaf(path, leaf, value, ports)?;
            check_reference(settings, path, leaf, value)?;
            check_order(settings, path, leaf, value)?;
        }
    }
    Ok(())
}

fn check_leaf(path: &Path, leaf: &Leaf, value: &Value, ports: &Ports) -> Result<()> {
    let names: Vec<&str> = leaf.names.iter().map(String::as_str).collect();
    let text = value.as_text().unwrap_or_default();
    let number = value.as_unsigned().unwrap_or_default();
    let one_of = |known: &[&str]| {
        let known = known.join(" or ");
        format!("expected {known}, found {value}")
    };
    let message = match (names.as_slice(), leaf.name()) {
        (
            ["interfaces", "interface", "name"]
            | ["qos", "interfaces", "interface", "interface-id"],
            _,
        ) if !ports.contains_key(text) => {
            format!("there is no interface {value}")
        }
        (["interfaces", ..], "type") if text != ETHERNET => one_of(&[ETHERNET]),
        (["qos", ..], "type") if names.contains(&"classifier") => match text {
            "IPV4" | "IPV6" => return Ok(()),
            _ => one_of(&["IPV4", "IPV6"]),
        },
        (["qos", ..], "type") => match text {
            "ONE_RATE_TWO_COLOR" | "TWO_RATE_THREE_COLOR" => return Ok(()),
            _ => one_of(&["ONE_RATE_TWO_COLOR", "TWO_RATE_THREE_COLOR"]),
        },
        (_, "priority") if text != "STRICT" => one_of(&["STRICT"]),
        (_, "input-type") if text != "QUEUE" => one_of(&["QUEUE"]),
        (_, "enabled") if *value != Value::Boolean(true) => "ports can't be shut here".to_owned(),
        (_, "port-speed") if speed(text).is_none() => {
            let known: Vec<&str> = SPEEDS.iter().map(|(name, _)| *name).collect();
            format!("expected one of {}, found {value}", known.join(", "))
        }
        (_, "queuing-behavior") if text != SHAPE && text != "POLICE" => one_of(&[SHAPE, "POLICE"]),
        (_, "cir" | "pir") if !(1..=HIGHEST_RATE).contains(&number) => {
            format!("expected a rate from 1 to {HIGHEST_RATE} bit/s, found {value}")
        }
        (_, "max-queue-depth-packets") if number == 0 => "expected at least 1 packet".to_owned(),
        (_, "dscp" | "set-dscp") if number > HIGHEST_DSCP => {
            format!("expected a DSCP from 0 to {HIGHEST_DSCP}, found {value}")
        }
        (_, "dscp-set") if value.numbers().iter().any(|each| *each > HIGHEST_DSCP) => {
            format!("expected DSCPs from 0 to {HIGHEST_DSCP}, found {value}")
        }
        (_, "set-dot1p") if number > HIGHEST_PRIORITY => {
            format!("expected a priority from 0 to {HIGHEST_PRIORITY}, found {value}")
        }
        (_, name) if name.ends_with("-percent") && number > 100 => {
            format!("expected a percentage from 0 to 100, found {value}")
        }
        _ => return Ok(()),
    };
    Err(wrong(path, message))
}

/// A leaf that names an entry of a list names one that is there.
fn check_reference(settings: &Settings, path: &Path, leaf: &Leaf, value: &Value) -> Result<()> {
    let Some(name) = value.as_text() else {
        return Ok(());
    };
    let refers = REFERENCES.iter().find(|(end, _)| {
        let names = leaf.names.iter().rev().map(String::as_str);
        leaf.names.len() > end.len() && end.iter().rev().copied().eq(names.take(end.len()))
    });
    let Some((_, list)) = refers else {
        return Ok(());
    };
    let top = path.first().filter(|_| list[0] != "interfaces");
    let elements = top.cloned().into_iter();
    let list: Path = elements
        .chain([
            Element::new(list[0]),
            Element::with_key(list[1], "name", name),
        ])
        .collect();
    if settings.contains_key(&list.below("name")) {
        return Ok(());
    }
    let kind = list.last().map_or("", |last| last.name.as_str());
    let message = format!("there is no {} {value}", kind.replace('-', " "));
    Err(wrong(path, message))
}

/// A minimum is not above its maximum.
fn check_order(settings: &Settings, path: &Path, leaf: &Leaf, value: &Value) -> Result<()> {
    let Some(of) = leaf.name().strip_prefix("min-threshold") else {
        return Ok(());
    };
    let above: Path = path.iter().rev().skip(1).rev().cloned().collect();
    let maximum = settings.get(&above.below(&format!("max-threshold{of}")));
    match maximum.and_then(Value::as_unsigned) {
        Some(maximum) if value.as_unsigned() > Some(maximum) => {
            let message = format!("found {value}, which is above the max-threshold{of}, {maximum}");
            Err(wrong(path, message))
        }
        _ => Ok(()),
    }
}

pub(super) fn speed(name: &str) -> Option<u64> {
    let known = SPEEDS.iter().find(|(known, _)| *known == name);
    known.map(|(_, rate)| *rate)
}
