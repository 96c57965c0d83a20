//! A stream: each path with its own rhythm.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Teller;
use crate::get::{MOST_VALUES, too_many};
use crate::message::{SubscribeResponse, Subscription, SubscriptionList, mode};
use crate::paths::Path;
use crate::pattern::Pattern;
use crate::refusal::{Result, wrong};
use crate::schema;
use crate::snapshot::{Datum, Layout, Snapshot};
use crate::tree::Tree;
use crate::value::Value;

const SHORTEST_SAMPLE_NS: u64 = 10_000_000;
const DEFAULT_SAMPLE_NS: u64 = 1_000_000_000;
const TARGET_DEFINED_SAMPLE_NS: u64 = 10_000_000_000;

/// How often links are looked at; changes of settings are sent at once.
const LOOK_NS: u64 = 200_000_000;

/// The most leaves of one answer; further ones come with the next.
const MOST_AT_ONCE: usize = 4_096;

pub(super) struct Stream {
    watches: Vec<Watch>,
    /// Changes of settings seen so far.
    changes: u64,
}

impl Stream {
    pub(super) fn new(
        wanted: &SubscriptionList,
        patterns: &[Arc<Pattern>],
        changes: u64,
        now_ns: u64,
    ) -> Result<Self> {
        let mut watches = Vec::new();
        for (given, pattern) in wanted.subscription.iter().zip(patterns) {
            for counters in [false, true] {
                watches.extend(Watch::new(given, pattern, counters, now_ns)?);
            }
        }
        Ok(Self { watches, changes })
    }

    /// Notes the present leaves, which the first answer has.
    pub(super) fn start(&mut self, snapshot: &Snapshot, now_ns: u64) -> Result<()> {
        let mut taken = 0;
        for watch in &mut self.watches {
            watch.start(snapshot, now_ns);
            taken += watch.last.len();
            if taken > MOST_VALUES {
                return Err(too_many(MOST_VALUES));
            }
        }
        Ok(())
    }

    pub(super) fn due(&self, changes: u64) -> u64 {
        if changes != self.changes && self.watches.iter().any(|watch| watch.on_change) {
            return 0;
        }
        let times = self.watches.iter().map(|watch| watch.next_ns);
        times.min().unwrap_or(u64::MAX)
    }

    pub(super) fn next(
        &mut self,
        tree: &Tree,
        teller: &Teller,
        now_ns: u64,
        wall_ns: i64,
    ) -> Vec<SubscribeResponse> {
        let changes = tree.changes();
        if changes != self.changes {
            self.changes = changes;
            for watch in self.watches.iter_mut().filter(|watch| watch.on_change) {
                watch.next_ns = watch.next_ns.min(now_ns);
            }
        }
        let watches = self.watches.iter_mut();
        let mut ready: Vec<&mut Watch> = watches.filter(|watch| watch.next_ns <= now_ns).collect();
        let mut answers = Vec::new();
        if ready.is_empty() {
            return answers;
        }
        let snapshot = tree.shared_snapshot(now_ns);
        // Those waiting longest come first, so none waits for ever.
        ready.sort_by_key(|watch| watch.next_ns);
        let mut told = 0;
        for watch in ready {
            told += watch.tell(&snapshot, teller, now_ns, wall_ns, &mut answers);
            if told > MOST_AT_ONCE {
                break;
            }
        }
        answers
    }
}

struct Watch {
    pattern: Arc<Pattern>,
    /// Whether it takes counters, or all else.
    counters: bool,
    on_change: bool,
    interval_ns: u64,
    suppress_redundant: bool,
    heartbeat_ns: u64,
    next_ns: u64,
    next_heartbeat_ns: u64,
    /// Indices of its leaves in `layout`.
    places: Vec<usize>,
    layout: Option<Arc<Layout>>,
    /// Values at the last look.
    last: Vec<Value>,
}

impl Watch {
    /// The part of a subscription that takes counters, or all else; `None` if it takes none.
    fn new(
        given: &Subscription,
        pattern: &Arc<Pattern>,
        counters: bool,
        now_ns: u64,
    ) -> Result<Option<Self>> {
        let path = pattern.path();
        let asked = given.sample_interval;
        let asked = (asked > 0).then_some(asked);
        let (on_change, interval) = match given.mode {
            mode::ON_CHANGE if counters => {
                if schema::leaf(path).is_some_and(|leaf| leaf.is_counter) {
                    return Err(wrong(path, "counters can be sampled only"));
                }
                return Ok(None);
            }
            mode::ON_CHANGE => (true, LOOK_NS),
            mode::TARGET_DEFINED if !counters => (true, LOOK_NS),
            mode::TARGET_DEFINED => (false, asked.unwrap_or(TARGET_DEFINED_SAMPLE_NS)),
            mode::SAMPLE => (false, asked.unwrap_or(DEFAULT_SAMPLE_NS)),
            other => return Err(wrong(path, format!("there is no mode {other}"))),
        };
        if interval < SHORTEST_SAMPLE_NS {
            let message =
                format!("sample_interval is {interval} ns; expected at least {SHORTEST_SAMPLE_NS}");
            return Err(wrong(path, message));
        }
        Ok(Some(Self {
            pattern: Arc::clone(pattern),
            counters,
            on_change,
            interval_ns: interval,
            suppress_redundant: given.suppress_redundant,
            heartbeat_ns: given.heartbeat_interval,
            next_ns: now_ns,
            next_heartbeat_ns: now_ns.saturating_add(given.heartbeat_interval),
            places: Vec::new(),
            layout: None,
            last: Vec::new(),
        }))
    }

    fn start(&mut self, snapshot: &Snapshot, now_ns: u64) {
        self.find(&snapshot.layout);
        self.last = self.values(snapshot);
        self.next_ns = now_ns.saturating_add(self.interval_ns);
    }

    fn find(&mut self, layout: &Arc<Layout>) {
        let places = layout.places.iter().enumerate();
        self.places = places
            .filter(|(_, place)| {
                place.leaf.is_counter == self.counters
                    && self.pattern.covers(&place.path, place.leaf)
            })
            .map(|(at, _)| at)
            .collect();
        self.layout = Some(Arc::clone(layout));
    }

    fn values(&self, snapshot: &Snapshot) -> Vec<Value> {
        let places = self.places.iter();
        places.map(|at| snapshot.values[*at].clone()).collect()
    }

    /// Sends a watch's leaves that are due; gives their number.
    fn tell(
        &mut self,
        snapshot: &Snapshot,
        teller: &Teller,
        now_ns: u64,
        wall_ns: i64,
        answers: &mut Vec<SubscribeResponse>,
    ) -> usize {
        let beat = self.heartbeat_ns > 0 && self.next_heartbeat_ns <= now_ns;
        if beat {
            self.next_heartbeat_ns = now_ns.saturating_add(self.heartbeat_ns);
        }
        let changes_only = (self.on_change || self.suppress_redundant) && !beat;
        let before = self.look(snapshot);
        let told: Vec<Datum<'_>> = self
            .places
            .iter()
            .zip(&self.last)
            .enumerate()
            .filter(|(at, (_, value))| !changes_only || before.value(*at) != Some(*value))
            .map(|(_, (place, value))| {
                let place = &snapshot.layout.places[*place];
                place.datum(value)
            })
            .collect();
        // If late, samples are left out rather than sent in a burst.
        let missed = now_ns.saturating_sub(self.next_ns) / self.interval_ns;
        let further = self.interval_ns.saturating_mul(missed.saturating_add(1));
        self.next_ns = self.next_ns.saturating_add(further);
        teller.deletions(before.gone.iter(), wall_ns, answers);
        teller.updates(&told, wall_ns, answers);
        told.len() + before.gone.len()
    }

    /// Takes the present values; gives those before.
    fn look(&mut self, snapshot: &Snapshot) -> Before {
        let known = self.layout.as_ref();
        if let Some(layout) = known.filter(|layout| !Arc::ptr_eq(layout, &snapshot.layout)) {
            let layout = Arc::clone(layout);
            let places = self.places.iter().map(|at| &layout.places[*at].path);
            let mut by_path: BTreeMap<&Path, Value> =
                places.zip(std::mem::take(&mut self.last)).collect();
            self.find(&snapshot.layout);
            self.last = self.values(snapshot);
            let found = self
                .places
                .iter()
                .map(|at| by_path.remove(&snapshot.layout.places[*at].path));
            let values = found.collect();
            return Before {
                values,
                gone: by_path.into_keys().cloned().collect(),
            };
        }
        let present = self.values(snapshot);
        let last = std::mem::replace(&mut self.last, present);
        Before {
            values: last.into_iter().map(Some).collect(),
            gone: Vec::new(),
        }
    }
}

struct Before {
    /// By the present places.
    values: Vec<Option<Value>>,
    /// Paths that are not there any more.
    gone: Vec<Path>,
}

impl Before {
    fn value(&self, at: usize) -> Option<&Value> {
        self.values.get(at).and_then(Option::as_ref)
    }
}
