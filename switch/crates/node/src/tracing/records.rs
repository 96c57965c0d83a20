//! Records that are under way, and those who want them.

use std::collections::VecDeque;
use std::sync::Arc;

use phb_network::{Port, Time};
use phb_pipeline::trace::{Ahead, Happening, Record};
use phb_pipeline::{Packet, Pipeline};
use phb_trace::Filter;

use super::pool::Pool;
use super::served::Served;
use super::watch::{Finished, Watch};
use super::{HEADER_BYTES, OPEN, OPEN_BYTES, WATCHERS};
use crate::ports::Ports;

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

/// What may be under way.
struct Most {
    packets: usize,
    bytes: usize,
}

impl Default for Most {
    fn default() -> Self {
        Self {
            packets: OPEN,
            bytes: OPEN_BYTES,
        }
    }
}

/// The records that are under way, and those who want them.
#[derive(Default)]
pub(crate) struct Tracing {
    watchers: Vec<Option<Watcher>>,
    /// Records made so far.
    made: u64,
    /// Those that are under way, and their memory in bytes.
    open: usize,
    open_bytes: usize,
    most: Most,
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

    /// Nothing under way, after so many records.
    pub(crate) fn after(made: u64) -> Self {
        Self {
            made,
            ..Self::default()
        }
    }

    /// Records made so far.
    pub(crate) fn made(&self) -> u64 {
        self.made
    }

    /// Whether there is neither a reader nor a packet with a record.
    pub(crate) fn is_over(&self) -> bool {
        self.open == 0 && !self.is_watched()
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
        if self.open >= self.most.packets || self.open_bytes >= self.most.bytes {
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

#[cfg(test)]
mod tests;
