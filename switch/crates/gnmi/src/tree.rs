//! The tree that clients see: settings, state and counters.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use phb_node::SwitchNode;
use phb_p4runtime::status::Refusal;
use phb_pipeline::Pipeline;

use crate::counted::{self, Counted};
use crate::counters::ServerCounters;
use crate::interface::{Attachments, Interface};
use crate::message::{
    CapabilityResponse, GetRequest, GetResponse, Path as GivenPath, SetRequest, SetResponse,
    Update, UpdateResult, operation,
};
use crate::path_message::read;
use crate::paths::Path;
use crate::refusal::Result;
use crate::settings::{self, Ports, Settings};
use crate::snapshot::{Layout, Snapshot, Source};
use crate::{encoding, get, schema};

/// Of the gNMI specification.
const VERSION: &str = "0.10.0";

/// How long subscriptions share one snapshot: less than the shortest time between two samples by far.
const SHARED_NS: u64 = 2_000_000;

type Listener = Arc<dyn Fn() + Send + Sync>;

/// The settings, and how many there were before.
#[derive(Clone)]
struct Current {
    settings: Arc<Settings>,
    generation: u64,
    /// How many settings for a controller there were before.
    wanted: u64,
    /// Those that a controller says are in force.
    applied: Arc<Settings>,
    counted: Arc<Vec<Counted>>,
}

#[derive(Default)]
struct Cache {
    layout: Option<Arc<Layout>>,
    /// The last snapshot for subscriptions, and when it was taken.
    fresh: Option<(u64, Arc<Snapshot>)>,
}

/// The data of one switch.
pub struct Tree {
    node: Arc<Mutex<SwitchNode>>,
    interfaces: Vec<Interface>,
    attachments: Attachments,
    server: Arc<ServerCounters>,
    started: Ports,
    /// Held by the Set in progress.
    setting: Mutex<()>,
    current: Mutex<Current>,
    changes: AtomicU64,
    listeners: Mutex<Vec<Listener>>,
    cache: Mutex<Cache>,
}

impl Tree {
    /// Reads the ports once; from then on their rates and limits are set through this tree.
    /// `names` are those of interfaces, by port number. Other ports are called by their number. Of the port `hidden`
    /// clients see nothing.
    #[must_use]
    pub fn new(
        node: Arc<Mutex<SwitchNode>>,
        mut names: BTreeMap<u16, String>,
        hidden: Option<u16>,
        attachments: Attachments,
        server: Arc<ServerCounters>,
    ) -> Self {
        let mut by_name = BTreeMap::new();
        for (port, _) in lock(&node)
            .ports()
            .filter(|(port, _)| Some(*port) != hidden)
        {
            let name = names.remove(&port);
            by_name.insert(name.unwrap_or_else(|| port.to_string()), port);
        }
        let interfaces: Vec<Interface> = by_name
            .into_iter()
            .map(|(name, port)| Interface { name, port })
            .collect();
        let started = ports(&interfaces, &lock(&node));
        let settings = Arc::new(settings::initial(&started));
        Self {
            node,
            interfaces,
            attachments,
            server,
            started,
            setting: Mutex::default(),
            current: Mutex::new(Current {
                settings,
                generation: 0,
                wanted: 0,
                applied: Arc::default(),
                counted: Arc::default(),
            }),
            changes: AtomicU64::new(0),
            listeners: Mutex::default(),
            cache: Mutex::default(),
        }
    }

    /// Which models, encodings and version these are.
    #[must_use]
    pub fn capabilities() -> CapabilityResponse {
        CapabilityResponse {
            supported_models: schema::models(),
            supported_encodings: encoding::ENCODINGS.to_vec(),
            gnmi_version: VERSION.to_owned(),
        }
    }

    /// Gives values, one notification for each path.
    ///
    /// # Errors
    /// With the path: `InvalidArgument` for unknown leaves, `NotFound` for absent ones,
    /// `ResourceExhausted` for too many values. `Unimplemented` for unsupported encodings.
    pub fn get(&self, request: &GetRequest, timestamp_ns: i64) -> Result<GetResponse> {
        get::check(request)?;
        get::answer(request, &self.snapshot(), timestamp_ns)
    }

    /// Changes settings, all that the request names or none.
    ///
    /// # Errors
    /// `InvalidArgument`, with the path.
    pub fn set(&self, request: &SetRequest, timestamp_ns: i64) -> Result<SetResponse> {
        self.change(request)?;
        let listeners = lock(&self.listeners).clone();
        for listener in listeners {
            listener();
        }
        let updates = |updates: &[Update], op| -> Vec<UpdateResult> {
            let results = updates.iter();
            results
                .map(|update| UpdateResult {
                    path: Some(update.path.clone().unwrap_or_default()),
                    op,
                })
                .collect()
        };
        let deletions = request.delete.iter().cloned();
        let mut response: Vec<UpdateResult> = deletions
            .map(|path| UpdateResult {
                path: Some(path),
                op: operation::DELETE,
            })
            .collect();
        response.extend(updates(&request.replace, operation::REPLACE));
        response.extend(updates(&request.update, operation::UPDATE));
        Ok(SetResponse {
            prefix: request.prefix.clone(),
            response,
            timestamp: timestamp_ns,
        })
    }

    fn change(&self, request: &SetRequest) -> Result<()> {
        let _one_at_a_time = lock(&self.setting);
        let mut current = lock(&self.current).clone();
        let names = self.interfaces.iter().map(|interface| &interface.name);
        let wanted = settings::changed(&current.settings, request, names)?;
        let before = ports(&self.interfaces, &lock(&self.node));
        settings::check(&wanted, &before)?;
        current.counted = Arc::new(counted::all(&wanted, &before)?);
        let after = settings::port_configs(&wanted, &before, &self.started)?;
        let kept = settings::kept(&wanted);
        if kept != settings::kept(&current.settings) {
            current.wanted += 1;
        }
        if settings::applied(&wanted) == Some(current.wanted) {
            current.applied = Arc::new(kept);
        }
        {
            // Under one lock, so that no packet sees half of it.
            let mut node = lock(&self.node);
            for interface in &self.interfaces {
                let config = after.get(&interface.name);
                if let Some(config) = config
                    && Some(config) != before.get(&interface.name)
                {
                    node.set_port(interface.port, config.clone());
                }
            }
        }
        current.settings = Arc::new(wanted);
        current.generation += 1;
        let generation = current.generation;
        *lock(&self.current) = current;
        self.changes.store(generation, Ordering::Release);
        Ok(())
    }

    /// The paths that a Set names, prefix included, to check a client's rights.
    ///
    /// # Errors
    /// `InvalidArgument` for paths that [`set`](Self::set) refuses too.
    pub fn paths_of(request: &SetRequest) -> Result<Vec<Path>> {
        settings::check_size(request)?;
        let prefix = request.prefix.as_ref();
        let updates = [&request.replace, &request.update, &request.union_replace];
        let updated = updates.into_iter().flatten();
        let named = updated.map(|update| update.path.as_ref());
        let deleted = request.delete.iter().map(Some);
        deleted
            .chain(named)
            .map(|path: Option<&GivenPath>| read(path, prefix))
            .collect()
    }

    /// How many changes of the settings there were.
    #[must_use]
    pub fn changes(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// Adds a function to call after each change of the settings, on the thread that changed them.
    pub fn on_change(&self, listener: Box<dyn Fn() + Send + Sync>) {
        lock(&self.listeners).push(listener.into());
    }

    pub(crate) fn snapshot(&self) -> Arc<Snapshot> {
        self.take(&mut lock(&self.cache))
    }

    /// All leaves as they were at most [`SHARED_NS`] ago, settings as they are now.
    pub(crate) fn shared_snapshot(&self, now_ns: u64) -> Arc<Snapshot> {
        let mut cache = lock(&self.cache);
        if let Some((taken, snapshot)) = &cache.fresh
            && taken.abs_diff(now_ns) < SHARED_NS
            && snapshot.generation() == self.changes()
        {
            return Arc::clone(snapshot);
        }
        let snapshot = self.take(&mut cache);
        cache.fresh = Some((now_ns, Arc::clone(&snapshot)));
        snapshot
    }

    fn take(&self, cache: &mut Cache) -> Arc<Snapshot> {
        let current = lock(&self.current).clone();
        let (statistics, queues, execution, counted) = {
            let node = lock(&self.node);
            let interfaces = self.interfaces.iter();
            let queues = interfaces.map(|interface| node.queues(interface.port));
            let pipeline = node.pipeline();
            let execution = pipeline.map(Pipeline::execution);
            let counted = current.counted.iter().map(|each| each.read(pipeline));
            let counted = counted.collect();
            (node.statistics(), queues.collect(), execution, counted)
        };
        let mut attachments = (self.attachments)();
        let interfaces = self.interfaces.iter();
        let source = Source {
            settings: &current.settings,
            generation: current.generation,
            wanted: current.wanted,
            applied: &current.applied,
            counters: &current.counted,
            counted,
            interfaces: &self.interfaces,
            statistics,
            queues,
            attachments: interfaces
                .map(|interface| attachments.remove(&interface.port))
                .collect(),
            execution,
            server: &self.server,
        };
        let snapshot = Snapshot::new(&source, cache.layout.as_ref());
        cache.layout = Some(Arc::clone(&snapshot.layout));
        Arc::new(snapshot)
    }
}

fn ports(interfaces: &[Interface], node: &SwitchNode) -> Ports {
    let by_number: BTreeMap<u16, _> = node.ports().collect();
    let known = interfaces.iter().filter_map(|interface| {
        let config = *by_number.get(&interface.port)?;
        Some((interface.name.clone(), config.clone()))
    });
    known.collect()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The tree is shared by the threads of a server.
const _: fn() = || {
    fn shared<T: Send + Sync>() {}
    shared::<Tree>();
    shared::<Refusal>();
};

#[cfg(test)]
mod tests {
    use phb_node::SwitchConfig;
    use phb_pipeline::Executor;

    use super::*;

    #[test]
    fn subscriptions_share_snapshots_until_a_set() {
        let config = SwitchConfig {
            name: "test".to_owned(),
            cpu_port: None,
            drop_port: 511,
            seed: 1,
            executor: Executor::default(),
        };
        let node = Arc::new(Mutex::new(SwitchNode::new(config, [])));
        let attachments: Attachments = Arc::new(BTreeMap::new);
        let tree = Tree::new(node, BTreeMap::new(), None, attachments, Arc::default());
        let first = tree.shared_snapshot(SHARED_NS);
        let same = tree.shared_snapshot(2 * SHARED_NS - 1);
        assert!(Arc::ptr_eq(&first, &same));
        let later = tree.shared_snapshot(2 * SHARED_NS);
        assert!(!Arc::ptr_eq(&first, &later));
        assert!(Arc::ptr_eq(&first.layout, &later.layout));
        tree.set(&SetRequest::default(), 0).expect("it is set");
        let changed = tree.shared_snapshot(2 * SHARED_NS);
        assert!(!Arc::ptr_eq(&later, &changed));
    }
}
