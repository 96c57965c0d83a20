//! Runs a node on ports, by the monotonic clock: a switch, or any other [`LiveNode`].
//!
//! One thread waits for frames and for the node's next tick. Each time it wakes it reads the clock
//! once, locks the node once, and hands it up to `BATCH` frames per port, out of the kernel's
//! memory; it sends outside the lock, once per port. A frame that leaves later waits here for its
//! time. A frame that the kernel does not take is counted, never retried: the node sets the line's
//! rate, not the interface.
//!
//! Unless a port is held back by what somebody has set on its interface, and the node can wait for
//! it. Then each frame is sent as soon as it leaves the node, so that the queues of the node know
//! before the next one whether the interface had room.

mod live;
mod passing;

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use phb_network::{Output, Port, Time};
use phb_ports::{Clock, Counters, Event, Link, LinkChange, Links, PortCounters, Waiter};

use crate::switch::AHEAD;

pub use live::LiveNode;

use passing::{Later, Ports};

/// Frames taken from one port before the others get their turn.
const BATCH: usize = 64;

/// How often to look at descriptors too, not only at the rings, while frames keep coming.
const LOOK: Duration = Duration::from_millis(1);

/// Reports a change of a port to the user.
pub type Report = Arc<dyn Fn(&str) + Send + Sync>;

/// The settings of a runner.
#[derive(Clone)]
pub struct RunnerConfig {
    /// How long to look for further frames after one before sleeping: saves waking up, for at most
    /// that much processor time per frame.
    pub busy_poll: Duration,
    /// Priority of the thread in the class SCHED_RR, 1 to 99: it runs before all ordinary threads of
    /// the machine. Without one it is an ordinary thread itself.
    pub real_time: Option<u8>,
    /// Called when an interface has gone, or is back.
    pub report: Report,
}

impl Default for RunnerConfig {
    fn default() -> Self {
        Self {
            busy_poll: Duration::ZERO,
            real_time: None,
            report: Arc::new(|message| eprintln!("phb-switch: {message}")),
        }
    }
}

struct Shared {
    node: Arc<Mutex<dyn LiveNode>>,
    ports: Mutex<Ports>,
    counters: Vec<(Port, String, Arc<Counters>)>,
    config: RunnerConfig,
    stop: AtomicBool,
    wake: Arc<Event>,
    epoch: Instant,
    error: Mutex<Option<String>>,
    failures: Mutex<Vec<String>>,
}

/// A runner, with its thread while it runs.
pub struct RealTime {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl RealTime {
    /// A runner that does not run yet; time 0 of the node is now. Fails without event descriptor.
    pub fn new<N: LiveNode + 'static>(
        node: Arc<Mutex<N>>,
        ports: impl IntoIterator<Item = (Port, Box<dyn phb_ports::Port>)>,
        config: RunnerConfig,
    ) -> io::Result<Self> {
        let ports = Ports::new(ports);
        let counters = ports.attached.iter().map(|each| {
            let name = each.port.name().to_owned();
            (each.number, name, Arc::clone(each.port.counters()))
        });
        let shared = Shared {
            node,
            counters: counters.collect(),
            ports: Mutex::new(ports),
            config,
            stop: AtomicBool::new(false),
            wake: Arc::new(Event::new()?),
            epoch: Instant::now(),
            error: Mutex::new(None),
            failures: Mutex::default(),
        };
        Ok(Self {
            shared: Arc::new(shared),
            thread: None,
        })
    }

    /// Starts the thread; `false` if it runs already. Fails if the system gives no thread, or not the
    /// wanted priority.
    pub fn start(&mut self) -> io::Result<bool> {
        if self.is_running() {
            return Ok(false);
        }
        self.shared.stop.store(false, Ordering::Release);
        *lock(&self.shared.error) = None;
        let wake = Arc::clone(&self.shared.wake);
        let epoch = self.shared.epoch;
        let mut node = lock(&self.shared.node);
        node.set_waker(Some(Box::new(move || wake.set())));
        node.set_clock(Some(Box::new(move || nanoseconds(epoch.elapsed()))));
        drop(node);
        let shared = Arc::clone(&self.shared);
        let name = format!("node-{}", lock(&shared.node).name());
        let thread = std::thread::Builder::new()
            .name(name)
            .spawn(move || shared.run())?;
        let priority = self.shared.config.real_time;
        let set = priority.map(|priority| phb_ports::run_in_real_time(&thread, priority));
        self.thread = Some(thread);
        if let Some(Err(error)) = set {
            self.stop();
            return Err(error);
        }
        Ok(true)
    }

    /// Stops the thread and waits for its end.
    pub fn stop(&mut self) {
        let Some(thread) = self.thread.take() else {
            return;
        };
        self.shared.stop.store(true, Ordering::Release);
        self.shared.wake.set();
        if thread.join().is_err() {
            *lock(&self.shared.error) = Some("the thread panicked".to_owned());
        }
        let mut node = lock(&self.shared.node);
        node.set_waker(None);
        node.set_clock(None);
    }

    /// Whether the thread runs.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.thread
            .as_ref()
            .is_some_and(|thread| !thread.is_finished())
    }

    /// Why the thread has ended by itself, if it has.
    #[must_use]
    pub fn error(&self) -> Option<String> {
        lock(&self.shared.error).clone()
    }

    /// The ports' files that failed, and why. The node goes on without them.
    #[must_use]
    pub fn failures(&self) -> Vec<String> {
        lock(&self.shared.failures).clone()
    }

    /// Name and counters by port, in the order given.
    #[must_use]
    pub fn statistics(&self) -> Vec<(Port, String, PortCounters)> {
        self.shared
            .counters
            .iter()
            .map(|(number, name, counters)| (*number, name.clone(), counters.read()))
            .collect()
    }
}

impl Drop for RealTime {
    fn drop(&mut self) {
        self.stop();
    }
}

fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn nanoseconds(duration: Duration) -> Time {
    Time::try_from(duration.as_nanos()).unwrap_or(Time::MAX)
}

impl Shared {
    fn run(&self) {
        let mut ports = lock(&self.ports);
        if let Err(error) = self.serve(&mut ports) {
            *lock(&self.error) = Some(error.to_string());
        }
        self.collect_failures(&mut ports);
    }

    fn now(&self) -> Time {
        nanoseconds(self.epoch.elapsed())
    }

    fn serve(&self, ports: &mut Ports) -> io::Result<()> {
        let mut links = Links::new()?;
        let has_queues = lock(&self.node).has_queues();
        for each in &mut ports.attached {
            each.outlet = None;
            if has_queues {
                each.port.hold_back();
            }
        }
        ports.held = true;
        // Changes between the opening of the interfaces and the subscription.
        self.follow(ports, None);
        self.begin(ports);
        let mut out = Output::new();
        let mut later = Later::default();
        let mut waiter = Waiter::new();
        // Descriptors of ports without rings must be asked each time.
        let every = ports.attached.iter().all(|each| each.port.has_rings());
        let look = if every { nanoseconds(LOOK) } else { 0 };
        let busy_poll = nanoseconds(self.config.busy_poll);
        let (mut looked, mut last_frame) = (0, 0);
        while !self.stop.load(Ordering::Acquire) {
            let now = self.now();
            out.begin(now);
            let next_tick = if ports.held {
                let mut node = lock(&self.node);
                if ports.pass_one_by_one(now, &mut *node, &mut out, &mut later) {
                    last_frame = now;
                }
                node.next_tick()
            } else {
                let mut node = lock(&self.node);
                node.tick(now, &mut out);
                let ahead = node.looks_ahead();
                let together = if ahead { AHEAD } else { BATCH };
                for each in ports.attached.iter_mut().filter(|each| each.readable) {
                    let number = each.number;
                    for _ in 0..BATCH / together {
                        if ahead {
                            let mut frames = [&[][..]; AHEAD];
                            let count = each.port.waiting(&mut frames);
                            node.look_ahead(&frames[..count]);
                        }
                        each.readable = each.port.receive(now, together, &mut |frame| {
                            (last_frame, each.dirty) = (now, true);
                            node.receive_borrowed(now, number, frame, &mut out);
                        });
                        if !each.readable {
                            break;
                        }
                    }
                }
                node.next_tick()
            };
            ports.send(now, &out, &mut later);
            ports.flush();
            let busy = ports.attached.iter().any(|each| each.readable);
            let arrivals = ports
                .attached
                .iter()
                .filter_map(|each| each.port.next_arrival());
            let due = arrivals.chain(next_tick).chain(later.due()).min();
            if (busy || now.saturating_sub(last_frame) < busy_poll) && now - looked < look {
                ports.look_at_rings(now);
                continue;
            }
            let timeout = if busy || now.saturating_sub(last_frame) < busy_poll {
                Some(Duration::ZERO)
            } else {
                due.map(|due| Duration::from_nanos(due.saturating_sub(self.now())))
            };
            self.wait(ports, &mut waiter, &mut links, timeout)?;
            looked = now;
        }
        Ok(())
    }

    /// Gives the ports the clock, the first time.
    fn begin(&self, ports: &mut Ports) {
        if std::mem::replace(&mut ports.started, true) {
            return;
        }
        let since_1970 = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let first = ports
            .attached
            .iter()
            .filter_map(|each| each.port.first_timestamp());
        let clock = Clock {
            at_zero: nanoseconds(since_1970.unwrap_or_default()).saturating_sub(self.now()),
            replay_from: first.min().unwrap_or(0),
        };
        for each in &mut ports.attached {
            each.port.start(&clock);
        }
    }

    /// Waits until a port is readable, an interface changes, the thread is woken, or a timeout.
    fn wait(
        &self,
        ports: &mut Ports,
        waiter: &mut Waiter,
        links: &mut Links,
        timeout: Option<Duration>,
    ) -> io::Result<()> {
        let own = [Some(self.wake.descriptor()), Some(links.descriptor())];
        let of_ports = ports.attached.iter().map(|each| each.port.descriptor());
        let held = if ports.held { &ports.attached[..] } else { &[] };
        let blocked = held.iter().map(|each| each.port.blocked());
        waiter.wait(own.into_iter().chain(of_ports), blocked, timeout)?;
        if waiter.is_ready(0) {
            self.wake.clear();
        }
        let behind = own.len() + ports.attached.len();
        for (place, each) in ports.attached.iter_mut().enumerate() {
            each.readable |= waiter.is_ready(own.len() + place);
            if waiter.is_in_trouble(own.len() + place) {
                each.port.trouble();
            }
            if waiter.is_ready(behind + place) {
                each.port.make_room();
            }
            each.readable |= each.port.next_arrival().is_some();
        }
        self.collect_failures(ports);
        if waiter.is_ready(1) {
            self.follow(ports, links.changes());
        }
        Ok(())
    }

    fn collect_failures(&self, ports: &mut Ports) {
        for each in &mut ports.attached {
            while let Some(complaint) = each.port.complaint() {
                lock(&self.failures).push(complaint);
            }
        }
    }

    /// Tells the ports what has changed; without `changes`, how each interface is now.
    fn follow(&self, ports: &mut Ports, changes: Option<Vec<LinkChange>>) {
        let mut states = Vec::new();
        for each in &mut ports.attached {
            let name = each.port.name();
            let now;
            let changes: &[LinkChange] = match &changes {
                Some(changes) => changes,
                None => {
                    now = [LinkChange::of(name)];
                    &now
                }
            };
            for change in changes {
                if let Some(message) = each.port.link_changed(change) {
                    (self.config.report)(&format!("port {}: {message}", each.number));
                    each.readable = true;
                }
            }
            states.push((each.number, each.port.counters().link() == Link::Up));
        }
        let mut node = lock(&self.node);
        for (port, up) in states {
            node.set_port_up(port, up);
        }
        ports.held |= ports.any_held();
    }
}
