//! All leaves of one moment, those that belong together side by side.
//!
//! Which leaves there are changes seldom, their values always. So their places are found once (a
//! layout), and a snapshot adds the values; subscriptions look up their places once per layout.

use std::sync::Arc;

use phb_node::{QueueStatistics, Statistics};
use phb_pipeline::Execution;

use crate::counted::{self, Counted};
use crate::counters::ServerCounters;
use crate::interface::{Attachment, Interface};
use crate::paths::{Element, Path};
use crate::schema::{self, Leaf};
use crate::settings::{self, Settings};
use crate::state;
use crate::value::Value;

#[derive(Clone, Copy)]
pub(crate) struct Datum<'a> {
    pub path: &'a Path,
    pub leaf: &'static Leaf,
    /// It is a setting, and no state.
    pub is_set: bool,
    pub value: &'a Value,
}

pub(crate) struct Place {
    pub path: Path,
    pub leaf: &'static Leaf,
    is_set: bool,
}

impl Place {
    pub(crate) fn datum<'a>(&'a self, value: &'a Value) -> Datum<'a> {
        Datum {
            path: &self.path,
            leaf: self.leaf,
            is_set: self.is_set,
            value,
        }
    }
}

pub(crate) struct Layout {
    /// In the order of their text, element by element.
    pub places: Vec<Place>,
    /// The generation of the settings.
    generation: u64,
    /// How many queues each port has.
    queues: Vec<usize>,
    /// The leaves that say how the program runs.
    program: Vec<&'static str>,
    /// For each setting, whether a leaf says that the switch does it.
    own: Vec<bool>,
    /// Which counters the program has.
    counted: Vec<bool>,
    /// Keys of the entries that those stand in.
    keys: Vec<Value>,
    /// Indices into `places`, in the order that values are gathered in.
    order: Vec<usize>,
}

impl Layout {
    fn new(source: &Source<'_>) -> Self {
        let mut gathered = Vec::new();
        let mut own = settings::own(source.settings);
        for (setting, own) in source.settings.keys().zip(&mut own) {
            gathered.push(setting.clone());
            let state = in_force(setting).filter(|_| *own);
            *own = state.is_some();
            gathered.extend(state);
        }
        // What has no state is a key, and stands among the settings.
        gathered.extend(
            source
                .applied
                .keys()
                .map(|setting| in_force(setting).unwrap_or_else(|| setting.clone())),
        );
        gathered.push(state::wanted_path());
        for (interface, queues) in source.interfaces.iter().zip(&source.queues) {
            gathered.extend(state::port_paths(&interface.name));
            gathered.extend(state::queue_paths(&interface.name, queues.len()));
        }
        let program = source.program_leaves();
        gathered.extend(program.iter().copied().map(state::program_path));
        gathered.extend(state::server_paths());
        let counted = source.counted();
        let present = source
            .counters
            .iter()
            .zip(&counted)
            .filter(|(_, is_there)| **is_there);
        let present: Vec<&Counted> = present.map(|(counter, _)| counter).collect();
        gathered.extend(present.iter().map(|counter| counter.path.clone()));
        let mut keys = Vec::new();
        for (path, value) in present.into_iter().flat_map(counted::keys) {
            gathered.push(path);
            keys.push(value);
        }

        let words = |path: &Path| -> Vec<String> { path.iter().map(Element::to_string).collect() };
        let mut sorted: Vec<(Vec<String>, usize, Path)> = gathered
            .into_iter()
            .enumerate()
            .map(|(at, path)| (words(&path), at, path))
            .collect();
        sorted.sort();
        let mut order = vec![usize::MAX; sorted.len()];
        let mut places = Vec::with_capacity(sorted.len());
        for (_, at, path) in sorted {
            // Of several values for one leaf the first one counts.
            let again = places.last().is_some_and(|last: &Place| last.path == path);
            // All gathered paths are of the models.
            if !again && let Some(leaf) = schema::leaf(&path) {
                order[at] = places.len();
                let is_set = source.settings.contains_key(&path);
                places.push(Place { path, leaf, is_set });
            }
        }
        Self {
            places,
            generation: source.generation,
            queues: source.queue_counts(),
            program,
            own,
            counted,
            keys,
            order,
        }
    }

    fn is_of(&self, source: &Source<'_>) -> bool {
        self.generation == source.generation
            && self.queues == source.queue_counts()
            && self.program == source.program_leaves()
            && self.counted == source.counted()
    }
}

/// The leaf of the models that says that a setting is in force.
fn in_force(setting: &Path) -> Option<Path> {
    state::applied(setting).filter(|state| schema::leaf(state).is_some())
}

pub(crate) struct Source<'a> {
    pub settings: &'a Settings,
    pub generation: u64,
    pub wanted: u64,
    /// Settings that a controller says are in force.
    pub applied: &'a Settings,
    pub counters: &'a [Counted],
    /// By counter; None where the program has no such.
    pub counted: Vec<Option<u64>>,
    pub interfaces: &'a [Interface],
    pub statistics: Statistics,
    /// By interface, then by priority.
    pub queues: Vec<Vec<QueueStatistics>>,
    /// By interface.
    pub attachments: Vec<Option<Attachment>>,
    /// None without a program.
    pub execution: Option<Execution>,
    pub server: &'a ServerCounters,
}

impl Source<'_> {
    fn queue_counts(&self) -> Vec<usize> {
        self.queues.iter().map(Vec::len).collect()
    }

    fn counted(&self) -> Vec<bool> {
        self.counted.iter().map(Option::is_some).collect()
    }

    fn program_leaves(&self) -> Vec<&'static str> {
        let leaves = state::program(self.execution.as_ref());
        leaves.map(|(leaf, _)| leaf).collect()
    }
}

pub(crate) struct Snapshot {
    pub layout: Arc<Layout>,
    /// In the order of the layout's places.
    pub values: Vec<Value>,
}

impl Snapshot {
    /// `known` is a layout that may still be valid.
    pub(crate) fn new(source: &Source<'_>, known: Option<&Arc<Layout>>) -> Self {
        let layout = match known {
            Some(layout) if layout.is_of(source) => Arc::clone(layout),
            _ => Arc::new(Layout::new(source)),
        };
        let mut values = vec![Value::Boolean(false); layout.places.len()];
        let mut order = layout.order.iter();
        let mut put = |value: Value| {
            if let Some(slot) = order.next().and_then(|at| values.get_mut(*at)) {
                *slot = value;
            }
        };
        for (value, own) in source.settings.values().zip(&layout.own) {
            put(value.clone());
            if *own {
                put(value.clone());
            }
        }
        for value in source.applied.values() {
            put(value.clone());
        }
        put(Value::Unsigned(source.wanted));
        let of_interfaces = source.interfaces.iter().zip(&source.attachments);
        for ((interface, attachment), queues) in of_interfaces.zip(&source.queues) {
            let ports = &source.statistics.ports;
            let counted = ports
                .binary_search_by_key(&interface.port, |(port, _)| *port)
                .map(|at| ports[at].1)
                .unwrap_or_default();
            for value in state::port_values(interface.port, &counted, attachment.as_ref()) {
                put(value);
            }
            for (priority, queue) in queues.iter().enumerate() {
                for value in state::queue_values(priority, queue) {
                    put(value);
                }
            }
        }
        for (_, value) in state::program(source.execution.as_ref()) {
            put(value);
        }
        for count in source.server.read() {
            put(Value::Unsigned(count));
        }
        for count in source.counted.iter().flatten() {
            put(Value::Unsigned(*count));
        }
        for key in &layout.keys {
            put(key.clone());
        }
        Self { layout, values }
    }

    pub(crate) fn generation(&self) -> u64 {
        self.layout.generation
    }

    pub(crate) fn data(&self) -> impl Iterator<Item = Datum<'_>> {
        let both = self.layout.places.iter().zip(&self.values);
        both.map(|(place, value)| place.datum(value))
    }
}
