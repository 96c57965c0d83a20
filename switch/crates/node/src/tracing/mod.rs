//! Traces: what happens to packets that somebody wants to see.
//!
//! ```text
//!   arrival -> Filter -> Record, which goes with the packet -> its end -> Watch -> reader
//!                        (at most OPEN, OPEN_BYTES)                      (bounded)
//! ```
//!
//! Each reader has a filter and a [`Watch`]. The switch never waits for one: what finds no room is left out,
//! and the next trace says how many were.

mod pool;
mod served;
mod watch;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use phb_network::{Port, Time};
use phb_pipeline::trace::{Ahead, Happening, Record, Tracer};
use phb_pipeline::{Packet, Pipeline};
use phb_trace::Filter;

use crate::ports::Ports;
use crate::switch::SwitchNode;
use pool::Pool;
pub use served::NAMED;
use served::Served;
pub use watch::{BYTES, Finished, TRACES, Traced, Watch};

/// Most readers at once.
pub const WATCHERS: usize = 64;

/// Packets with a record that may be in the switch; further ones are not traced.
pub const OPEN: usize = 65_536;

/// Bytes of memory that records of waiting packets may take.
pub const OPEN_BYTES: usize = 256 << 20;

/// Packets that are looked at, of those that wait, to find out which are ahead of one that comes. Of the copies that one
/// event causes each next one has a smaller share of these, so that all of them do not take long.
pub const LOOKED_AT: usize = 16_384;

/// Bytes of a frame that a record keeps for a reader who wants its headers.
pub const HEADER_BYTES: usize = 512;

/// A reader, as the switch's thread knows it.
struct Watcher {
    watch: Arc<Watch>,
    filter: Filter,
    /// The number of the first packet that it may want.
    from: u64,
}

/// A frame between egress and its departure.
struct TracedFrame {
    /// How many leave the port before it.
    departure: u64,
    /// It goes to the line, which takes its time.
    on_line: bool,
    record: Box<Record>,
}

/// Notes whose names a record is to be read with.
pub(crate) fn note_program(record: &mut Record, pipeline: &Pipeline) {
    if record.carried.dictionary.is_none() {
        record.carried.dictionary = pipeline.dictionary().cloned();
    }
}

/// The records that are under way, and those who want them.
#[derive(Default)]
pub(crate) struct Tracing {
    watchers: Vec<Option<Watcher>>,
    /// Records made so far.
    made: u64,
    open: usize,
    open_bytes: usize,
    pool: Arc<Pool>,
    /// By the places of ports.
    served: Vec<Served>,
    /// Frames that have not left yet, by the places of ports, in order.
    frames: Vec<VecDeque<TracedFrame>>,
    /// The port for which a packet passes egress; none if it is not there.
    at: Option<usize>,
    stray: Option<Box<Record>>,
    /// It is noted that the packet at hand is queued.
    noted: bool,
}

impl Tracing {
    /// Adds a reader, if there is room.
    pub(crate) fn watch(
        &mut self,
        name: &str,
        filter: Filter,
        frame_bytes: u32,
    ) -> Option<Arc<Watch>> {
        let free = self.watchers.iter().position(Option::is_none);
        let place = free.unwrap_or(self.watchers.len());
        if place >= WATCHERS {
            return None;
        }
        if place == self.watchers.len() {
            self.watchers.push(None);
        }
        let watch = Arc::new(Watch::new(name.to_owned(), frame_bytes));
        self.watchers[place] = Some(Watcher {
            watch: Arc::clone(&watch),
            filter,
            from: self.made + 1,
        });
        Some(watch)
    }

    pub(crate) fn unwatch(&mut self, watch: &Arc<Watch>) {
        for watcher in &mut self.watchers {
            watcher.take_if(|watcher| Arc::ptr_eq(&watcher.watch, watch));
        }
        while self.watchers.last().is_some_and(Option::is_none) {
            self.watchers.pop();
        }
    }

    /// Whether there is a reader.
    pub(crate) fn is_watched(&self) -> bool {
        !self.watchers.is_empty()
    }

    /// Those who want a record, or what happens to a copy of it.
    fn wanting(&self, record: &Record) -> impl Iterator<Item = (usize, &Watcher)> {
        let (bits, number) = (record.carried.watchers, record.number);
        let watchers = self.watchers.iter().enumerate();
        let known = watchers.filter_map(|(place, watcher)| Some((place, watcher.as_ref()?)));
        // A reader may have the place of one that has gone.
        known.filter(move |(place, watcher)| bits >> place & 1 != 0 && watcher.from <= number)
    }

    /// A record for a frame that arrives at `now` (ns), if somebody wants it and there is room.
    #[cold]
    pub(crate) fn arrives(
        &mut self,
        now: Time,
        port: Port,
        from_controller: bool,
        frame: &[u8],
    ) -> Option<Box<Record>> {
        let mut watchers = 0;
        for (place, watcher) in self.watchers.iter_mut().enumerate() {
            if let Some(watcher) = watcher
                && watcher.filter.wants(port, frame)
            {
                watchers |= 1 << place;
            }
        }
        let mut record = self.record(0, watchers)?;
        record.note(
            now,
            Happening::Arrived {
                port,
                from_controller,
                length: u32::try_from(frame.len()).unwrap_or(u32::MAX),
                bytes: self.kept(&record, frame),
            },
        );
        Some(record)
    }

    /// A new record for readers, if there are any and there is room.
    fn record(&mut self, of: u64, watchers: u64) -> Option<Box<Record>> {
        if watchers == 0 {
            return None;
        }
        if self.open >= OPEN || self.open_bytes >= OPEN_BYTES {
            for (place, watcher) in self.watchers.iter().enumerate() {
                if let Some(watcher) = watcher
                    && watchers >> place & 1 != 0
                {
                    watcher.watch.leave_out();
                }
            }
            return None;
        }
        self.made += 1;
        self.open += 1;
        let mut record = self.pool.get(self.made, of);
        record.carried.watchers = watchers;
        Some(record)
    }

    /// The bytes of a frame that those who want the record may show.
    pub(crate) fn kept(&self, record: &Record, frame: &[u8]) -> Vec<u8> {
        let wanted = self
            .wanting(record)
            .map(|(_, watcher)| match watcher.watch.frame_bytes() {
                0 => HEADER_BYTES,
                bytes => bytes as usize,
            });
        let most = wanted.max().unwrap_or(0);
        frame[..frame.len().min(most)].to_vec()
    }

    /// A record for a copy of a packet, for those who want that packet.
    #[cold]
    pub(crate) fn copy(&mut self, of: &Record) -> Option<Box<Record>> {
        let watchers = self
            .wanting(of)
            .fold(0, |bits, (place, _)| bits | 1 << place);
        self.record(of.number, watchers)
    }

    /// Notes a packet that leaves the queues of the port at a place.
    pub(crate) fn serves(&mut self, at: usize, packet: Ahead) {
        if at >= self.served.len() {
            self.served.resize_with(at + 1, Served::default);
        }
        self.served[at].add(packet);
    }

    /// Packets that have left the queues of the port at a place so far, and their bytes.
    pub(crate) fn served(&self, at: usize) -> (u64, u64) {
        self.served.get(at).map_or((0, 0), |served| served.count)
    }

    /// Packets that have left the queues of a port since the count `before`, their bytes, and the last of them.
    pub(crate) fn served_since(&self, at: usize, before: (u64, u64)) -> (u32, u64, Vec<Ahead>) {
        let served = self.served.get(at);
        served.map_or((0, 0, Vec::new()), |served| served.since(before))
    }

    /// Says for which port the packet is that passes egress next.
    pub(crate) fn turns_to(&mut self, at: Option<usize>) {
        self.at = at;
    }

    /// Takes the record from a packet that has become a frame, for a port or [for nowhere](Self::take_stray).
    #[cold]
    pub(crate) fn leaves(&mut self, pipeline: &Pipeline, ports: &Ports, packet: &mut Packet) {
        let Some(mut record) = packet.set_record(None) else {
            return;
        };
        note_program(&mut record, pipeline);
        self.charge(&mut record);
        let Some(at) = self.at else {
            self.stray = Some(record);
            return;
        };
        let port = &ports[at];
        if at >= self.frames.len() {
            self.frames.resize_with(at + 1, VecDeque::new);
        }
        self.frames[at].push_back(TracedFrame {
            departure: port.departures() + port.queue.frames() as u64,
            on_line: !port.queue.passes_at_once(),
            record,
        });
    }

    /// The record of a frame that leaves the port at a place, which so many have left, and whether it was on the line.
    pub(crate) fn departs(&mut self, at: usize, departures: u64) -> Option<(Box<Record>, bool)> {
        let is_it = |frame: &mut TracedFrame| frame.departure == departures;
        let frame = self.frames.get_mut(at)?.pop_front_if(is_it)?;
        Some((frame.record, frame.on_line))
    }

    /// The record of a frame for a port that isn't there.
    pub(crate) fn take_stray(&mut self) -> Option<Box<Record>> {
        self.stray.take()
    }

    /// Counts the memory of a record whose packet is about to be queued, and keeps whether that is noted.
    pub(crate) fn queued(&mut self, record: &mut Record, noted: bool) {
        self.charge(record);
        self.noted = noted;
    }

    /// Takes the note back that a packet is queued: there was no room for it.
    #[cold]
    pub(crate) fn refused(&self, packet: &mut Packet) {
        if let Some(record) = packet.record().filter(|_| self.noted) {
            record.retract();
        }
    }

    /// Counts the memory of a record whose packet waits.
    fn charge(&mut self, record: &mut Record) {
        let bytes = record.memory();
        self.open_bytes = self.open_bytes + bytes - record.carried.charged;
        record.carried.charged = bytes;
    }

    /// Gives a record whose packet has come to its end to those who want it.
    #[cold]
    pub(crate) fn finish(&mut self, record: Record) {
        self.open -= 1;
        self.open_bytes -= record.carried.charged;
        let bytes = record.memory();
        let finished = Arc::new(Finished::new(record, &self.pool));
        let record = finished.record();
        for (_, watcher) in self.wanting(record) {
            if watcher.filter.accepts(record) {
                watcher.watch.push(Arc::clone(&finished), bytes);
            }
        }
    }
}

/// Adds a reader of traces, who gets packets that the filter wants from now on, with the first `frame_bytes` of each
/// frame; with 0, those that the program parses as headers. `None` if there are [`WATCHERS`] already.
///
/// It loads the program once more in the form that is traced, while the switch goes on. To be ended by [`unwatch`].
#[must_use]
pub fn watch(node: &Mutex<SwitchNode>, filter: Filter, frame_bytes: u32) -> Option<Arc<Watch>> {
    let watch = lock(node).watch(filter, frame_bytes)?;
    equip(node);
    Some(watch)
}

/// Ends what [`watch`] began. Traces that wait can still be taken.
pub fn unwatch(node: &Mutex<SwitchNode>, watch: &Arc<Watch>) {
    lock(node).unwatch(watch);
}

/// Installs a program, as [`SwitchNode::install`], that can be traced if somebody watches.
pub fn install(node: &Mutex<SwitchNode>, mut pipeline: Pipeline) {
    prepare(node, &mut pipeline);
    lock(node).install(pipeline);
    equip(node);
}

/// Makes the program that runs one that can be traced, if somebody watches. To be called when another was installed
/// that was not [prepared](prepare).
pub fn equip(node: &Mutex<SwitchNode>) {
    loop {
        let untraced = lock(node).untraced_program();
        let Some(artifact) = untraced else {
            return;
        };
        let Ok(tracer) = Tracer::load(&artifact) else {
            return;
        };
        if lock(node).set_tracer(&artifact, tracer) {
            return;
        }
    }
}

/// Makes a program that is about to be installed one that can be traced, if somebody watches.
pub fn prepare(node: &Mutex<SwitchNode>, pipeline: &mut Pipeline) {
    if lock(node).is_watched()
        && pipeline.dictionary().is_none()
        && let Ok(tracer) = Tracer::load(pipeline.artifact())
    {
        pipeline.set_tracer(Some(Box::new(tracer)));
    }
}

fn lock(node: &Mutex<SwitchNode>) -> std::sync::MutexGuard<'_, SwitchNode> {
    node.lock().unwrap_or_else(PoisonError::into_inner)
}
