//! One port: packets wait in a PIFO or in strict-priority queues, frames pass a transmit ring and the line.

use std::collections::VecDeque;

use crate::ranked::{Place, Ranked};
use crate::shaper::Shaper;
use crate::strict::StrictQueues;
use crate::token_bucket::{ShaperConfig, TokenBucket};

/// Packets that wait at a port unless its configuration says otherwise. Programs are to drop earlier, by policy.
pub const DEFAULT_BUFFER_PACKETS: usize = 4096;

/// Packets in a strict-priority queue unless the port's configuration says otherwise, as in simple_switch.
pub const DEFAULT_QUEUE_DEPTH: usize = 64;

/// How a port transmits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PortConfig {
    /// The line's rate in bit/s, `None` for unlimited. 0 holds everything back.
    pub rate_bps: Option<u64>,
    /// Bytes added to the length of the Ethernet frame (without frame check sequence) for its transmission time: what
    /// the line's own framing adds or saves. PPP over HDLC, for example: -14 (no Ethernet header) + 4 (PPP header)
    /// + 3 (frame check sequence and flag).
    pub overhead_bytes: i32,
    /// Frames that may wait between the scheduler and the line, as in a router's hardware queue. No rank overtakes
    /// them. With 0 the next packet is chosen when the line gets free.
    pub transmit_ring: usize,
    /// Packets that may wait, in the PIFO or in all queues: the last line of defence, behind the program's own buffer
    /// admission.
    pub buffer_packets: usize,
    /// Strict-priority queues, for packets without a rank: priorities from 0 to one below, the highest first.
    pub queues: u8,
    /// Whether packets with a rank wait in the strict-priority queues too, as on a switch that has no PIFO.
    pub strict_priority: bool,
    /// Packets that may wait in one of these queues, [`DEFAULT_QUEUE_DEPTH`] unless given.
    pub queue_depth: Option<usize>,
    /// The highest rate of each of these queues, in packets per second; `None` and 0 are unlimited.
    pub queue_rate_pps: Option<u64>,
    /// The limit of the port's rate, besides that of its line.
    pub shaper: Option<ShaperConfig>,
}

impl Default for PortConfig {
    /// A port without a line rate or a shaper, with one queue.
    fn default() -> Self {
        Self {
            rate_bps: None,
            overhead_bytes: 0,
            transmit_ring: 0,
            buffer_packets: DEFAULT_BUFFER_PACKETS,
            queues: 1,
            strict_priority: false,
            queue_depth: None,
            queue_rate_pps: None,
            shaper: None,
        }
    }
}

impl PortConfig {
    /// The shaper if it has a burst: frames wait for its tokens before they go to the line.
    fn bucket(&self) -> Option<ShaperConfig> {
        self.shaper.filter(|shaper| shaper.burst_bytes > 0)
    }

    /// The rate of a shaper without a burst: frames take their time at this rate too.
    fn pace(&self) -> Option<u64> {
        let paced = self.shaper.filter(|shaper| shaper.burst_bytes == 0);
        paced.map(|shaper| shaper.rate_bps)
    }
}

/// A packet as it leaves its queue, with what queueing metadata needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queued<T> {
    /// The strict-priority queue it was in; 0 for the PIFO.
    pub queue: u8,
    /// When it was queued, in ns.
    pub enqueued_at: u64,
    /// How many packets were waiting in its queue when it came, itself not counted.
    pub depth_at_enqueue: usize,
    /// How many packets wait there now that it has left.
    pub depth_at_dequeue: usize,
    /// The packet.
    pub item: T,
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// As many packets wait at the port as its configuration allows.
    Buffer,
    /// As many packets wait in the queue as the port's configuration allows.
    Queue,
    /// There is no queue for its priority.
    Priority,
    /// It waited, last in rank, and one that goes before it had no room.
    PushedOut,
}

/// A frame after the scheduler.
struct Frame<F> {
    /// How many bytes the line counts.
    on_line: u64,
    /// How many bytes the shaper counts.
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

/// A packet in a queue.
struct Waiting<T> {
    enqueued_at: u64,
    depth_at_enqueue: usize,
    item: T,
}

/// A port's queue. `T` is a packet that waits for its turn, `F` a finished frame.
///
/// A packet has a rank and waits in the PIFO, if it is shaped for its bucket's tokens as well, or a priority and waits in
/// one of the strict-priority queues. A program gives the one or the other; should both wait, because another program has
/// come, the PIFO is emptied first.
///
/// Its driver calls [`depart`](Self::depart) when [`next_event`](Self::next_event) has come, and then,
/// as after every [`enqueue`](Self::enqueue), takes packets by [`pop`](Self::pop) and hands them to
/// [`transmit`](Self::transmit) as long as the port is [`ready`](Self::ready). A popped packet need not be transmitted:
/// the egress pipeline may drop it.
///
/// How many bytes a packet has is known when the egress pipeline has had it. So at a shaper with a burst one frame
/// waits for its tokens, outside the order of ranks, for as long as it would be on a line of the shaper's rate. The ring
/// is behind the shaper, as a router's hardware queue is: frames in it have had their tokens.
pub struct PortQueue<T, F> {
    config: PortConfig,
    pifo: Ranked<Waiting<T>>,
    strict: StrictQueues<Waiting<T>>,
    bucket: TokenBucket,
    /// The frame that waits for tokens, and when it will have them.
    gate: Option<(u64, Frame<F>)>,
    ring: VecDeque<Frame<F>>,
    pace: Shaper,
    shaper: Shaper,
    line: Option<(u64, F)>,
}

impl<T, F> PortQueue<T, F> {
    /// An empty port with an idle line.
    #[must_use]
    pub fn new(config: PortConfig) -> Self {
        let shaper = Shaper::new(config.rate_bps);
        let pace = Shaper::new(config.pace());
        let strict = StrictQueues::new(config.queue_rate_pps);
        let (rate_bps, burst_bytes) = rate_and_burst(config.bucket());
        Self {
            config,
            pifo: Ranked::new(),
            strict,
            bucket: TokenBucket::new(rate_bps, burst_bytes),
            gate: None,
            ring: VecDeque::new(),
            pace,
            shaper,
            line: None,
        }
    }

    /// The configuration.
    #[must_use]
    pub fn config(&self) -> &PortConfig {
        &self.config
    }

    /// Changes the configuration for what comes: the frame on the line leaves as announced, the one that waits for
    /// tokens starts as announced, and nothing that waits is dropped, also where it is more than the new limits allow. A
    /// shaper that is new at the port has its burst at once; one that is changed goes on with the tokens it has.
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
        if config.queue_rate_pps != self.config.queue_rate_pps {
            self.strict.set_rate(config.queue_rate_pps);
        }
        self.config = config;
    }

    /// Queues `item` at `now` (ns) by its rank, and behind the tokens of its class if it is shaped.
    ///
    /// # Errors
    /// As [`enqueue_in_place`](Self::enqueue_in_place), when the buffer is full.
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

    /// Queues `item` at `now` (ns) by its rank in the place of the packet with a rank that would be served last. That is
    /// `item` itself if none waits whose rank is higher: of equal ranks, the one that came last. So the most urgent
    /// packets wait (RFC 1812 section 5.3.6).
    ///
    /// # Errors
    /// Gives the dropped packet, and why: `item`, or the packet that it has pushed out.
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

    /// Queues `item` at `now` (ns) behind the others of its `priority`.
    ///
    /// # Errors
    /// Gives `item` back, and why.
    pub fn enqueue_strict(&mut self, now: u64, priority: u8, item: T) -> Result<(), (Refusal, T)> {
        if priority >= self.config.queues {
            return Err((Refusal::Priority, item));
        }
        let depth_at_enqueue = self.strict.depth(priority);
        if depth_at_enqueue >= self.config.queue_depth.unwrap_or(DEFAULT_QUEUE_DEPTH) {
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

    /// Whether a packet would be popped as soon as it is queued, alone: with a rank, or with this `priority`.
    #[must_use]
    pub fn is_free(&self, priority: Option<u8>) -> bool {
        self.line.is_none()
            && self.gate.is_none()
            && self.pifo.is_empty()
            && self.strict.is_empty()
            && self.config.buffer_packets > 0
            && priority.is_none_or(|priority| {
                priority < self.config.queues
                    && self.config.queue_depth != Some(0)
                    && self.config.queue_rate_pps.unwrap_or(0) == 0
            })
    }

    /// Whether [`pop`](Self::pop) gives a packet: one waits and is due, none waits for tokens, and the line is free or
    /// the ring has room. A line stays occupied until its frame has been taken by [`depart`](Self::depart).
    #[must_use]
    pub fn ready(&self, now: u64) -> bool {
        self.has_room()
            && (self.pifo.is_due(now)
                || (!self.strict.is_empty() && self.strict.first_due(now).is_some()))
    }

    fn has_room(&self) -> bool {
        self.gate.is_none() && (self.line.is_none() || self.ring.len() < self.config.transmit_ring)
    }

    /// Takes the packet whose turn it is if the port is [`ready`](Self::ready).
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

    /// Takes a packet that waits, due or not, of the one whose turn is first, with its queue.
    pub fn take_waiting(&mut self) -> Option<(u8, T)> {
        let ranked = self.pifo.take().map(|(_, waiting)| (0, waiting));
        let (queue, waiting) = ranked.or_else(|| self.strict.take())?;
        Some((queue, waiting.item))
    }

    /// Puts a frame of `frame_length` bytes (Ethernet, without frame check sequence) onto the line, or into the ring
    /// when the line is busy, as soon as the shaper has tokens for it. The ring takes it even when full: the caller must ask
    /// [`ready`](Self::ready) before.
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

    /// Behind the shaper: onto the line or into the ring.
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
        self.line = Some((end, frame.frame));
    }

    /// When the transmission of the frame on the line ends (ns).
    #[must_use]
    pub fn next_departure(&self) -> Option<u64> {
        self.line
            .as_ref()
            .map(|(end, _)| *end)
            .filter(|end| *end < u64::MAX)
    }

    /// When there is something to do (ns): a transmission ends, the frame that waits for tokens has them, or a packet
    /// becomes due that the port has room for.
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

    /// Takes the frame whose transmission ended at or before `now` (ns). The next one in the ring started at that very
    /// end, and one that waited for tokens when it had them, not at `now`.
    pub fn depart(&mut self, now: u64) -> Option<F> {
        self.open_gate(now);
        let (end, frame) = self
            .line
            .take_if(|(end, _)| *end <= now && *end < u64::MAX)?;
        if let Some(next) = self.ring.pop_front() {
            self.send(end, next);
        }
        Some(frame)
    }

    /// Lets the frame with tokens pass, unless a transmission ended before: that comes first.
    fn open_gate(&mut self, now: u64) {
        let ended = self.line.as_ref().map_or(u64::MAX, |(end, _)| *end);
        let gate = self
            .gate
            .take_if(|(start, _)| *start <= now && *start < ended);
        if let Some((start, frame)) = gate {
            self.forward(start, frame);
        }
    }

    /// How many packets wait in the PIFO and in the queues.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.pifo.len() + self.strict.len()
    }

    /// How many packets wait in one strict-priority queue; the PIFO's count as those of queue 0.
    #[must_use]
    pub fn queue_depth(&self, queue: u8) -> usize {
        let ranked = if queue == 0 { self.pifo.len() } else { 0 };
        ranked + self.strict.depth(queue)
    }

    /// How many frames wait in the ring.
    #[must_use]
    pub fn ring_depth(&self) -> usize {
        self.ring.len()
    }

    /// Everything the port holds: in the PIFO and the queues, at the shaper, in the ring and on the line.
    #[must_use]
    pub fn held(&self) -> usize {
        let between = self.ring.len() + usize::from(self.gate.is_some());
        self.depth() + between + usize::from(self.line.is_some())
    }
}

/// Rate and burst of a bucket; that of a port without one is never asked.
fn rate_and_burst(shaper: Option<ShaperConfig>) -> (u64, u32) {
    shaper.map_or((0, 0), |shaper| (shaper.rate_bps, shaper.burst_bytes))
}

#[cfg(test)]
mod tests;
