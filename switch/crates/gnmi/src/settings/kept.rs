//! Settings that a controller makes entries of, and those that the switch does itself.
//!
//! A scheduler policy without inputs and meters is a shaper, which the switch does at once. All else of openconfig-qos
//! says how a program is to treat packets, which this switch knows nothing of: it keeps it for a controller, and shows
//! it as state when a controller says that it is so.

use std::collections::BTreeSet;

use super::{Settings, at_or_below, policy_path};
use crate::paths::{Element, Path};
use crate::value::Value;

/// The settings that are a controller's.
pub(crate) fn kept(settings: &Settings) -> Settings {
    let own = Own::of(settings);
    let qos = [Element::new("qos")];
    let kept = at_or_below(settings, &qos).filter(|(path, value)| !own.has(path, value));
    kept.map(|(path, value)| (path.clone(), value.clone()))
        .collect()
}

/// Whether the switch itself does each of the settings, in their order.
pub(crate) fn own(settings: &Settings) -> Vec<bool> {
    let own = Own::of(settings);
    let each = settings.iter();
    each.map(|(path, value)| own.has(path, value)).collect()
}

/// Names of scheduler policies that are shapers.
struct Own<'a>(BTreeSet<&'a str>);

impl<'a> Own<'a> {
    fn of(settings: &'a Settings) -> Self {
        let policies = policy_path("");
        let above = &policies[..policies.len() - 1];
        let (mut shapers, mut others) = (BTreeSet::new(), BTreeSet::new());
        for (path, value) in at_or_below(settings, above) {
            let Some((_, name)) = path.get(above.len()).and_then(|it| it.keys.first()) else {
                continue;
            };
            shapers.insert(name.as_str());
            if is_treatment(path, value) {
                others.insert(name.as_str());
            }
        }
        Self(shapers.difference(&others).copied().collect())
    }

    fn has(&self, path: &Path, value: &Value) -> bool {
        let named = path.iter().map(|element| element.name.as_str());
        let names: Vec<&str> = named.take(5).collect();
        match names.as_slice() {
            ["qos", "scheduler-policies", "scheduler-policy", ..] => {
                let name = path[2].keys.first().map_or("", |(_, name)| name.as_str());
                self.0.contains(name)
            }
            [
                "qos",
                "interfaces",
                "interface",
                "output",
                "scheduler-policy",
            ] => value.as_text().is_some_and(|name| self.0.contains(name)),
            ["qos", "interfaces", "interface", "input" | "output", ..] => false,
            ["qos", "interfaces", ..] => true,
            ["qos", ..] => false,
            _ => true,
        }
    }
}

/// Whether a leaf of a scheduler policy makes it more than a shaper.
fn is_treatment(path: &Path, value: &Value) -> bool {
    let treats = |element: &Element| {
        matches!(
            element.name.as_str(),
            "inputs" | "two-rate-three-color" | "conform-action" | "exceed-action" | "priority"
        )
    };
    path.iter().any(treats)
        || path.last().is_some_and(|last| {
            last.name == "queuing-behavior" && value.as_text() == Some("POLICE")
        })
}
