//! A port: a PIFO or strict-priority queues, a transmit ring, and the line.

use std::collections::VecDeque;

use crate::config::{DEFAULT_QUEUE_DEPTH, PortConfig};
use crate::outlet::Outlet;
use crate::ranked::{Place, Ranked};
use crate::shaper::Shaper;
use crate::strict::StrictQueues;
use crate::token_bucket::{ShaperConfig, TokenBucket};
use crate::waiting::{Held, Turn};

/// A dequeued packet with its queueing metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queued<T> {
    /// Its strict-priority queue; 0 for the PIFO.
    pub queue: u8,
    /// When it was queued, in ns.
    pub enqueued_at: u64,
    /// Packets in the queue before it came.
    pub depth_at_enqueue: usize,
    /// Packets in the queue after it left.
    pub depth_at_dequeue: usize,
    /// The packet.
    pub item: T,
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The port has as many packets as its configuration allows.
    Buffer,
    /// The queue has as many packets as the port's configuration allows.
    Queue,
    /// No queue has its priority.
    Priority,
    /// It was last in rank of those waiting, and made room for a packet before it.
    PushedOut,
}

struct Frame<F> {
    /// Bytes on the line.
    on_line: u64,
    /// Bytes for the shaper.
    shaped: u64,
    frame: F,
}

fn counted(frame_length: usize, overhead_bytes: i32) -> u64 {
    let bytes = i64::try_from(frame_length).unwrap_or(i64::MAX);
    bytes
        .saturating_add(i64::from(overhead_bytes))
        .max(0)
        .unsigned_abs()
}

struct Waiting<T> {
    enqueued_at: u64,
    depth_at_enqueue: usize,
    item: T,
}

/// A port's queue. `T` is a waiting packet, `F` a finished frame.
///
/// Packets with a rank wait in the PIFO, shaped ones also for their bucket's tokens, others in the
/// strict-priority queues. If both wait, after a change of programs, the PIFO is first.
///
/// Its driver calls [`depart`](Self::depart) at [`next_event`](Self::next_event). Then, and after
/// [`enqueue`](Self::enqueue), while [`ready`](Self::ready), it calls [`pop`](Self::pop), and
/// [`transmit`](Self::transmit) unless the egress pipeline drops the packet.
///
/// Only the egress pipeline knows a packet's length. So at a shaper with a burst one frame waits
/// for tokens outside the order of ranks, as long as on a line of the shaper's rate. The ring is
/// behind the shaper, as a router's hardware queue: its frames have had their tokens.
///
/// An [`Outlet`] that closes is behind all of these: the line keeps its frame, and packets wait.
pub struct PortQueue<T, F> {
    config: PortConfig,
    pifo: Ranked<Waiting<T>>,
    strict: StrictQueues<Waiting<T>>,
    bucket: TokenBucket,
    /// The frame waiting for tokens, and when it will have them.
    gate: Option<(u64, Frame<F>)>,
    ring: VecDeque<Frame<F>>,
    pace: Shaper,
    shaper: Shaper,
    line: Option<(u64, F)>,
    /// When the transmission on the line began.
    started: u64,
    /// Begin and end of the transmission before.
    last: (u64, u64),
    outlet: Outlet,
    /// Configuration and outlet let a packet pass that nothing is before.
    open: bool,
    /// A frame on an idle line leaves at once.
    at_once: bool,
    /// Packets that may wait in each strict-priority queue.
    depths: Vec<usize>,
}

impl<T, F> PortQueue<T, F> {
    /// An empty port.
    #[must_use]
    pub fn new(config: PortConfig) -> Self {
        let shaper = Shaper::new(config.rate_bps);
        let pace = Shaper::new(config.pace());
        let strict = StrictQueues::new(rates(&config));
        let (rate_bps, burst_bytes) = rate_and_burst(config.bucket());
        let mut port = Self {
            config,
            pifo: Ranked::new(),
            strict,
            bucket: TokenBucket::new(rate_bps, burst_bytes),
            gate: None,
            ring: VecDeque::new(),
            pace,
            shaper,
            line: None,
            started: 0,
            last: (0, 0),
            outlet: Outlet::Always,
            open: false,
            at_once: false,
            depths: Vec::new(),
        };
        port.set_outlet(Outlet::Always);
        port
    }

    /// Says what takes the frames behind the line from now on.
    pub fn set_outlet(&mut self, outlet: Outlet) {
        self.outlet = outlet;
        self.open = self.config.buffer_packets > 0 && outlet != Outlet::Closed;
        self.at_once = !self.config.takes_time() && outlet == Outlet::Always;
        let held = self
            .config
            .held_queue_depth
            .filter(|_| outlet != Outlet::Always);
        let depth = held.or(self.config.queue_depth);
        self.depths = self.config.depths(depth.unwrap_or(DEFAULT_QUEUE_DEPTH));
    }

    /// The configuration.
    #[must_use]
    pub fn config(&self) -> &PortConfig {
        &self.config
    }

    /// Changes the configuration. Frames on the line or waiting for tokens start and leave as
    /// announced; no waiting packet is dropped, even above the new limits. A new shaper has its
    /// burst at once; a changed one keeps its tokens.
    pub fn set_config(&mut self, config: PortConfig) {
        if config.bucket() != self.config.bucket() {
            let (rate_bps, burst_bytes) = rate_and_burst(config.bucket());
            if self.config.bucket().is_some() && config.bucket().is_some() {
                self.bucket.set(rate_bps, burst_bytes);
            } else {
                self.bucket = TokenBucket::new(rate_bps, burst_bytes);
            }
        }
        if config.pace() != self.config.pace() {
            self.pace.set_rate(config.pace());
        }
        if config.rate_bps != self.config.rate_bps {
            self.shaper.set_rate(config.rate_bps);
        }
        self.strict.set_rates(rates(&config));
        self.config = config;
        self.set_outlet(self.outlet);
    }

    /// Queues `item` at `now` (ns) by its rank, and its class's tokens if shaped. A full buffer
    /// acts as [`enqueue_in_place`](Self::enqueue_in_place).
    pub fn enqueue(
        &mut self,
        now: u64,
        place: impl Into<Place>,
        item: T,
    ) -> Result<(), (Refusal, T)> {
        let place = place.into();
        if self.depth() >= self.config.buffer_packets {
            return self.enqueue_in_place(now, place, item);
        }
        self.push(now, place, item)
    }

    #[inline]
    fn push(&mut self, now: u64, place: Place, item: T) -> Result<(), (Refusal, T)> {
        let waiting = Waiting {
            enqueued_at: now,
            depth_at_enqueue: self.pifo.len(),
            item,
        };
        self.pifo
            .push(now, place, waiting)
            .map_err(|refused| (Refusal::Buffer, refused.item))
    }

    /// Queues `item` at `now` (ns) in place of the packet that is last in rank: `item` itself,
    /// unless a higher rank waits; of equal ranks, the newest. So the most urgent packets stay (RFC
    /// 1812 section 5.3.6). The error is the dropped packet, and why.
    pub fn enqueue_in_place(
        &mut self,
        now: u64,
        place: impl Into<Place>,
        item: T,
    ) -> Result<(), (Refusal, T)> {
        let place = place.into();
        if self.pifo.last_rank().is_none_or(|last| last <= place.rank) {
            return Err((Refusal::Buffer, item));
        }
        let pushed_out = self.pifo.pop_last();
        self.push(now, place, item)?;
        pushed_out.map_or(Ok(()), |(_, last)| Err((Refusal::PushedOut, last.item)))
    }

    /// Queues `item` at `now` (ns) behind its `priority`; on failure gives it back, and why.
    pub fn enqueue_strict(&mut self, now: u64, priority: u8, item: T) -> Result<(), (Refusal, T)> {
        let Some(&depth) = self.depths.get(usize::from(priority)) else {
            return Err((Refusal::Priority, item));
        };
        let depth_at_enqueue = self.strict.depth(priority);
        if depth_at_enqueue >= depth {
            return Err((Refusal::Queue, item));
        }
        if self.depth() >= self.config.buffer_packets {
            return Err((Refusal::Buffer, item));
        }
        let waiting = Waiting {
            enqueued_at: now,
            depth_at_enqueue,
            item,
        };
        self.strict.push(now, priority, waiting);
        Ok(())
    }

    /// Whether a packet alone, with a rank or this `priority`, would be popped as soon as queued.
    #[must_use]
    pub fn is_free(&self, priority: Option<u8>) -> bool {
        self.line.is_none()
            && self.gate.is_none()
            && self.pifo.is_empty()
            && self.strict.is_empty()
            && self.open
            && priority.is_none_or(|priority| {
                self.depths
                    .get(usize::from(priority))
                    .is_some_and(|depth| *depth > 0)
                    && self.config.queue_rate(priority).unwrap_or(0) == 0
            })
    }

    /// Whether [`pop`](Self::pop) gives a packet: one is due, none waits for tokens, and the line
    /// or the ring has room. A closed outlet occupies an idle line. The line is occupied until [`depart`](Self::depart) takes its frame.
    #[must_use]
    pub fn ready(&self, now: u64) -> bool {
        self.has_room()
            && (self.pifo.is_due(now)
                || (!self.strict.is_empty() && self.strict.first_due(now).is_some()))
    }

    fn has_room(&self) -> bool {
        let idle = self.line.is_none() && self.outlet != Outlet::Closed;
        self.gate.is_none() && (idle || self.ring.len() < self.config.transmit_ring)
    }

    /// Takes the next packet if the port is [`ready`](Self::ready).
    pub fn pop(&mut self, now: u64) -> Option<Queued<T>> {
        if !self.has_room() {
            return None;
        }
        let (queue, waiting, depth_at_dequeue) = if let Some((_, waiting)) = self.pifo.pop(now) {
            (0, waiting, self.pifo.len())
        } else if self.strict.is_empty() {
            return None;
        } else {
            let (queue, waiting) = self.strict.pop(now)?;
            (queue, waiting, self.strict.depth(queue))
        };
        Some(Queued {
            queue,
            enqueued_at: waiting.enqueued_at,
            depth_at_enqueue: waiting.depth_at_enqueue,
            depth_at_dequeue,
            item: waiting.item,
        })
    }

    /// Takes a waiting packet, due or not, with its queue.
    pub fn take_waiting(&mut self) -> Option<(u8, T)> {
        let ranked = self.pifo.take().map(|(_, waiting)| (0, waiting));
        let (queue, waiting) = ranked.or_else(|| self.strict.take())?;
        Some((queue, waiting.item))
    }

    /// Whether a frame leaves as soon as it is transmitted: nothing is before it, neither line nor
    /// shaper has a rate, and the outlet never closes. Then it needs no
    /// [`transmit`](Self::transmit).
    #[must_use]
    pub fn passes_at_once(&self) -> bool {
        self.line.is_none() && self.gate.is_none() && self.at_once
    }

    /// Puts a frame of `frame_length` bytes (Ethernet, without frame check sequence) onto the line
    /// or into the ring, after the shaper. Ask [`ready`](Self::ready) first.
    pub fn transmit(&mut self, now: u64, frame_length: usize, frame: F) {
        let overhead = self.config.shaper.map_or(0, |shaper| shaper.overhead_bytes);
        let frame = Frame {
            on_line: counted(frame_length, self.config.overhead_bytes),
            shaped: counted(frame_length, overhead),
            frame,
        };
        if self.config.bucket().is_some() {
            let start = self.bucket.start(now, frame.shaped);
            if start > now {
                self.gate = Some((start, frame));
                return;
            }
        }
        self.forward(now, frame);
    }

    /// Puts a frame behind the shaper: onto the line or into the ring.
    fn forward(&mut self, now: u64, frame: Frame<F>) {
        if self.line.is_none() {
            self.send(now, frame);
        } else {
            self.ring.push_back(frame);
        }
    }

    fn send(&mut self, start: u64, frame: Frame<F>) {
        let mut end = self.shaper.send(start, frame.on_line);
        if self.pace.rate().is_some() {
            end = end.max(self.pace.send(start, frame.shaped));
        }
        self.started = start;
        self.line = Some((end, frame.frame));
    }

    /// End of the transmission on the line (ns), if its frame may leave then.
    #[must_use]
    pub fn next_departure(&self) -> Option<u64> {
        self.line
            .as_ref()
            .map(|(end, _)| *end)
            .filter(|end| *end < u64::MAX && self.outlet != Outlet::Closed)
    }

    /// The next event (ns): a transmission ends, a frame has tokens, or a packet becomes due.
    #[must_use]
    pub fn next_event(&self) -> Option<u64> {
        let start = self.gate.as_ref().map(|(start, _)| *start);
        let start = start.filter(|start| *start < u64::MAX);
        let line = [self.next_departure(), start].into_iter().flatten().min();
        if !self.has_room() {
            return line;
        }
        let strict = (!self.strict.is_empty()).then(|| self.strict.next_due());
        [line, strict.flatten(), self.pifo.next_due()]
            .into_iter()
            .flatten()
            .min()
    }

    /// Takes the frame whose transmission ended at or before `now` (ns). The ring's next started at
    /// that end, a frame waiting for tokens when it had them, not at `now`; where the outlet may have
    /// held the frame on the line, the next starts now.
    pub fn depart(&mut self, now: u64) -> Option<F> {
        self.open_gate(now);
        if self.outlet == Outlet::Closed {
            return None;
        }
        let (mut end, frame) = self
            .line
            .take_if(|(end, _)| *end <= now && *end < u64::MAX)?;
        self.last = (self.started, end);
        if self.outlet == Outlet::Open {
            self.set_outlet(Outlet::Closed);
            end = now;
        }
        if let Some(next) = self.ring.pop_front() {
            self.send(end, next);
        }
        Some(frame)
    }

    /// When the transmission of the frame that [`depart`](Self::depart) gave last began and ended (ns).
    #[must_use]
    pub fn last_transmission(&self) -> (u64, u64) {
        self.last
    }

    /// Passes the frame with tokens, unless a transmission ended before.
    fn open_gate(&mut self, now: u64) {
        let ended = self.line.as_ref().map_or(u64::MAX, |(end, _)| *end);
        let gate = self
            .gate
            .take_if(|(start, _)| *start <= now && *start < ended);
        if let Some((start, frame)) = gate {
            self.forward(start, frame);
        }
    }

    /// Packets in the PIFO and the queues.
    #[must_use]
    #[inline]
    pub fn depth(&self) -> usize {
        self.pifo.len() + self.strict.len()
    }

    /// All packets in the PIFO and the queues, in no order.
    pub fn waiting(&self) -> impl Iterator<Item = Held<'_, T>> {
        let ranked = self.pifo.iter().map(|(rank, arrival, waiting)| Held {
            turn: Turn::of_ranked(rank, arrival),
            rank: Some(rank),
            queue: 0,
            enqueued_at: waiting.enqueued_at,
            item: &waiting.item,
        });
        let strict = (0..).zip(self.strict.iter());
        ranked.chain(strict.map(|(place, (queue, waiting))| Held {
            turn: Turn::of_strict(queue, place),
            rank: None,
            queue,
            enqueued_at: waiting.enqueued_at,
            item: &waiting.item,
        }))
    }

    /// Packets in a strict-priority queue; the PIFO counts as queue 0.
    #[must_use]
    pub fn queue_depth(&self, queue: u8) -> usize {
        let ranked = if queue == 0 { self.pifo.len() } else { 0 };
        ranked + self.strict.depth(queue)
    }

    /// Frames in the ring.
    #[must_use]
    pub fn ring_depth(&self) -> usize {
        self.ring.len()
    }

    /// Frames behind the queues: in shaper, ring and line.
    #[must_use]
    #[cold]
    pub fn frames(&self) -> usize {
        self.held() - self.depth()
    }

    /// Packets and frames in PIFO, queues, shaper, ring and line.
    #[must_use]
    pub fn held(&self) -> usize {
        let between = self.ring.len() + usize::from(self.gate.is_some());
        self.depth() + between + usize::from(self.line.is_some())
    }
}

/// The rate of each strict-priority queue.
fn rates(config: &PortConfig) -> impl Iterator<Item = Option<u64>> + '_ {
    (0..config.queues).map(|priority| config.queue_rate(priority))
}

/// Rate and burst of a bucket; 0 without one.
fn rate_and_burst(shaper: Option<ShaperConfig>) -> (u64, u32) {
    shaper.map_or((0, 0), |shaper| (shaper.rate_bps, shaper.burst_bytes))
}

#[cfg(test)]
mod tests;
