//! The host's processors (CPs): costs of interrupts, and loss of order.
//!
//! An interrupt schedules an SRB, which takes a processor and handles the interrupt's packets one
//! after the other. The next interrupt schedules another SRB, on another processor if the first is
//! still at work; then both race. TCP handles one segment of a connection at a time: an SRB that
//! finds the connection locked is suspended until its turn. So SRBs with packets of one connection
//! take turns, and later packets overtake earlier ones. A queue served in order (the bulk queue of
//! IWQ) has one SRB: later packets are appended to its work, without an interrupt.
//!
//! Segments that TCP sends while it gets a packet from an SRB are that SRB's work: acknowledgements
//! at once, data after the interrupt's last packet, in TCP's order. Others are work of their own.

use std::collections::{HashMap, VecDeque};

use phb_hosts::frame::Endpoints;
use phb_network::random::SplitMix64;
use phb_network::{Frame, Time};

use super::configuration::OsaConfig;
use super::headers::parse;
use super::inbound::Arrived;
use super::offload::LargeSend;
use super::statistics::ProcessorStatistics;
use super::streaming::WorkId;

const PICOSECONDS_PER_NANOSECOND: u64 = 1_000;
const PERCENT: u64 = 100;

pub(super) enum Step {
    Interrupt,
    Receive(Arrived),
    Forward(Arrived),
    /// `application`: time of the application woken first, in ns.
    Send {
        large: LargeSend,
        application: Time,
    },
}

struct Running {
    began: Time,
    end: Time,
    work: WorkId,
    connection: Option<Endpoints>,
    step: Step,
}

#[derive(Default)]
struct Work {
    /// An interrupt scheduled it, which is not charged yet.
    interrupt: bool,
    /// Packets to take, by interrupt.
    batches: VecDeque<VecDeque<Arrived>>,
    acknowledgements: VecDeque<Frame>,
    /// Connections whose data wait to be sent.
    data: VecDeque<Endpoints>,
    /// An application's first message, and whether it has to be woken.
    message: Option<(LargeSend, bool)>,
    sends_on: Option<Endpoints>,
    /// The connection that it was granted.
    granted: Option<Endpoints>,
}

struct Lock {
    owner: WorkId,
    waiting: VecDeque<WorkId>,
}

pub(super) struct Processors {
    config: OsaConfig,
    running: Vec<Option<Running>>,
    works: HashMap<WorkId, Work>,
    next_work: WorkId,
    /// Waiting for a processor: resumed work, SRBs, applications, each in order.
    resumed: VecDeque<WorkId>,
    srbs: VecDeque<WorkId>,
    applications: VecDeque<WorkId>,
    locks: HashMap<Endpoints, Lock>,
    /// Data to be sent, in TCP's order.
    pending: HashMap<Endpoints, VecDeque<Frame>>,
    random: SplitMix64,
    pub statistics: ProcessorStatistics,
}

impl Processors {
    pub fn new(config: OsaConfig) -> Self {
        let running = std::iter::repeat_with(|| None)
            .take(config.processors)
            .collect();
        Self {
            random: SplitMix64::new(config.seed),
            config,
            running,
            works: HashMap::new(),
            next_work: 0,
            resumed: VecDeque::new(),
            srbs: VecDeque::new(),
            applications: VecDeque::new(),
            locks: HashMap::new(),
            pending: HashMap::new(),
            statistics: ProcessorStatistics::default(),
        }
    }

    fn schedule(&mut self, work: Work) -> WorkId {
        let id = self.next_work;
        self.next_work += 1;
        self.works.insert(id, work);
        id
    }

    /// Gives a batch to `srb`, if still at work, or a new SRB; `true` if that took an interrupt.
    pub fn dispatch(
        &mut self,
        now: Time,
        batch: VecDeque<Arrived>,
        srb: Option<WorkId>,
    ) -> (WorkId, bool) {
        if let Some((id, work)) = srb.and_then(|id| Some((id, self.works.get_mut(&id)?))) {
            work.batches.push_back(batch);
            return (id, false);
        }
        let id = self.schedule(Work {
            interrupt: true,
            batches: VecDeque::from([batch]),
            ..Work::default()
        });
        self.srbs.push_back(id);
        self.start_waiting(now);
        (id, true)
    }

    /// Takes TCP's acknowledgement of a packet from `id`.
    pub fn acknowledge(&mut self, now: Time, id: WorkId, frame: Frame) {
        let id = self.at_work(id);
        if let Some(work) = self.works.get_mut(&id) {
            work.acknowledgements.push_back(frame);
        }
        self.put_back(now, id);
        self.start_waiting(now);
    }

    /// Takes TCP's data in answer to a packet from `id`.
    pub fn answer(&mut self, now: Time, id: WorkId, frame: Frame, connection: Endpoints) {
        if !self.pending.contains_key(&connection) && self.append(now, &frame) {
            return;
        }
        self.pending.entry(connection).or_default().push_back(frame);
        let id = self.at_work(id);
        if let Some(work) = self.works.get_mut(&id)
            && !work.data.contains(&connection)
        {
            work.data.push_back(connection);
        }
        self.start_waiting(now);
    }

    /// The piece of work; if it has just ended, a new one in its place.
    fn at_work(&mut self, id: WorkId) -> WorkId {
        if self.works.contains_key(&id) {
            return id;
        }
        let id = self.schedule(Work::default());
        self.resumed.push_front(id);
        id
    }

    /// Has an SRB that has just gone on to its next packet send its acknowledgement first.
    fn put_back(&mut self, now: Time, id: WorkId) {
        for number in 0..self.running.len() {
            let next = self.running[number].take_if(|running| {
                running.work == id
                    && running.began == now
                    && matches!(running.step, Step::Receive(_) | Step::Forward(_))
            });
            if let Some(Running {
                step: Step::Receive(arrived) | Step::Forward(arrived),
                connection,
                ..
            }) = next
            {
                if let Some(work) = self.works.get_mut(&id) {
                    match work.batches.front_mut() {
                        Some(batch) => batch.push_front(arrived),
                        None => work.batches.push_front(VecDeque::from([arrived])),
                    }
                }
                self.unlock(connection);
                self.begin(now, number, Some(id));
            }
        }
    }

    /// Takes segments that TCP or an application starts; `application` charges for waking one.
    pub fn send(
        &mut self,
        now: Time,
        frame: Frame,
        connection: Option<Endpoints>,
        application: bool,
    ) {
        if let Some(waiting) = connection.and_then(|c| self.pending.get_mut(&c)) {
            waiting.push_back(frame); // keeps the connection's order
            return;
        }
        if self.append(now, &frame) {
            return;
        }
        let same = |id: &WorkId| {
            connection.is_some() && self.works.get(id).is_some_and(|w| w.sends_on == connection)
        };
        let at_work = self.running.iter().flatten().map(|running| running.work);
        let earlier = at_work.chain(self.applications.iter().copied()).find(same);
        if let Some((connection, work)) =
            connection.zip(earlier.and_then(|id| self.works.get_mut(&id)))
        {
            self.pending.entry(connection).or_default().push_back(frame);
            work.data.push_back(connection);
            return;
        }
        let id = self.schedule(Work {
            message: Some((LargeSend::new(frame), application)),
            sends_on: connection,
            ..Work::default()
        });
        self.applications.push_back(id);
        self.start_waiting(now);
    }

    /// Appends a segment to its connection's next large one.
    fn append(&mut self, now: Time, frame: &Frame) -> bool {
        if !self.config.segmentation_offload {
            return false;
        }
        for number in 0..self.running.len() {
            let Some(running) = self.running[number].as_mut().filter(|r| r.began == now) else {
                continue;
            };
            let Step::Send { large, .. } = &mut running.step else {
                continue;
            };
            if large.append(frame) {
                let more = large.segment_bytes.min(frame.len());
                let takes = self.bytes(more);
                if let Some(running) = self.running[number].as_mut() {
                    running.end += takes;
                }
                return true;
            }
        }
        let last = self
            .applications
            .back()
            .and_then(|id| self.works.get_mut(id));
        let message = last.and_then(|work| work.message.as_mut());
        message.is_some_and(|(large, _)| large.append(frame))
    }

    /// The end of the next step, and its processor.
    pub fn due(&self) -> Option<(Time, usize)> {
        let ends = self.running.iter().enumerate();
        ends.filter_map(|(number, running)| Some((running.as_ref()?.end, number)))
            .min()
    }

    /// Takes the step that ends at `due`, and begins the processor's next one.
    pub fn take(&mut self, due: Time, number: usize) -> Option<(WorkId, Step)> {
        let running = self.running[number].take_if(|running| running.end <= due)?;
        let took = running.end - running.began;
        match &running.step {
            Step::Interrupt => self.statistics.interrupt_ns += took,
            Step::Receive(_) => self.statistics.receive_ns += took,
            Step::Forward(_) => self.statistics.forward_ns += took,
            Step::Send { application, .. } => {
                self.statistics.application_ns += application;
                self.statistics.send_ns += took - application;
            }
        }
        self.unlock(running.connection);
        self.begin(due, number, Some(running.work));
        self.start_waiting(due);
        Some((running.work, running.step))
    }

    fn unlock(&mut self, connection: Option<Endpoints>) {
        let Some(connection) = connection else { return };
        let Some(lock) = self.locks.get_mut(&connection) else {
            return;
        };
        if let Some(next) = lock.waiting.pop_front() {
            lock.owner = next;
            if let Some(work) = self.works.get_mut(&next) {
                work.granted = Some(connection);
            }
            self.resumed.push_back(next);
        } else {
            self.locks.remove(&connection);
        }
    }

    /// Locks a connection for a piece of work, or queues for it.
    fn lock(&mut self, connection: Option<Endpoints>, id: WorkId) -> bool {
        let Some(connection) = connection else {
            return true;
        };
        let lock = self.locks.entry(connection).or_insert_with(|| Lock {
            owner: id,
            waiting: VecDeque::new(),
        });
        if lock.owner != id {
            lock.waiting.push_back(id);
        }
        lock.owner == id
    }

    fn start_waiting(&mut self, now: Time) {
        while let Some(number) = self.running.iter().position(Option::is_none) {
            if !self.begin(now, number, None) {
                return;
            }
        }
    }

    /// Starts a processor's next step, preferably of `first`; `false` if there is none.
    fn begin(&mut self, now: Time, number: usize, mut first: Option<WorkId>) -> bool {
        loop {
            let waiting = |queues: &mut Self| {
                queues
                    .resumed
                    .pop_front()
                    .or_else(|| queues.srbs.pop_front())
                    .or_else(|| queues.applications.pop_front())
            };
            let Some(id) = first.take().or_else(|| waiting(self)) else {
                return false;
            };
            let connection = self.next_connection(id);
            let Some(work) = self.works.get_mut(&id) else {
                continue;
            };
            let granted = work.granted.take();
            if granted != connection {
                self.unlock(granted); // an acknowledgement of another connection came in between
            }
            if !self.lock(connection, id) {
                continue;
            }
            let Some((step, takes)) = self.next(id) else {
                self.works.remove(&id);
                continue;
            };
            self.running[number] = Some(Running {
                began: now,
                end: now.saturating_add(takes),
                work: id,
                connection,
                step,
            });
            return true;
        }
    }

    /// The next step of a piece of work, consistent with `next_connection`.
    fn next(&mut self, id: WorkId) -> Option<(Step, Time)> {
        let work = self.works.get_mut(&id)?;
        if std::mem::take(&mut work.interrupt) {
            return Some((Step::Interrupt, self.config.interrupt_ns));
        }
        if let Some(frame) = work.acknowledgements.pop_front() {
            return Some(self.sending(LargeSend::new(frame), 0));
        }
        if let Some(arrived) = work.batches.front_mut().and_then(VecDeque::pop_front) {
            if arrived.forwards {
                return Some((Step::Forward(arrived), self.config.forward_ns));
            }
            let takes = self.config.receive_ns + self.bytes(arrived.frame.len());
            return Some((Step::Receive(arrived), takes));
        }
        if let Some((large, application)) = work.message.take() {
            let application = if application { self.application() } else { 0 };
            return Some(self.sending(large, application));
        }
        if let Some(large) = self.next_data(id) {
            return Some(self.sending(large, 0));
        }
        self.works.get_mut(&id)?.batches.pop_front()?;
        self.next(id)
    }

    /// The next data to send: up to a large segment, if offloaded.
    fn next_data(&mut self, id: WorkId) -> Option<LargeSend> {
        let connection = *self.works.get(&id)?.data.front()?;
        let waiting = self.pending.get_mut(&connection)?;
        let mut large = LargeSend::new(waiting.pop_front()?);
        while self.config.segmentation_offload
            && waiting.front().is_some_and(|next| large.append(next))
        {
            waiting.pop_front();
        }
        if waiting.is_empty() {
            self.pending.remove(&connection);
        }
        Some(large)
    }

    /// The connection of the next step of a piece of work; an application's own time has none.
    fn next_connection(&mut self, id: WorkId) -> Option<Endpoints> {
        let work = self.works.get_mut(&id)?;
        // Other work may have sent the connection's data.
        while let Some(connection) = work.data.front()
            && !self.pending.contains_key(connection)
        {
            work.data.pop_front();
        }
        if work.interrupt {
            return None;
        }
        if let Some(frame) = work.acknowledgements.front() {
            return parse(&frame.bytes)
                .filter(|packet| packet.tcp.is_some())
                .map(|packet| packet.outbound());
        }
        let of_batch = work.batches.front().and_then(VecDeque::front);
        if of_batch.is_none() && work.message.is_some() {
            return None;
        }
        if of_batch.is_none()
            && let Some(connection) = work.data.front()
        {
            return Some(*connection);
        }
        let arrived = of_batch.or_else(|| work.batches.iter().flatten().next())?;
        let packet = arrived.packet?;
        (packet.tcp.is_some() && !arrived.forwards).then(|| packet.inbound())
    }

    fn sending(&self, large: LargeSend, application: Time) -> (Step, Time) {
        let takes = application + self.config.send_ns + self.bytes(large.frame.len());
        (Step::Send { large, application }, takes)
    }

    fn application(&mut self) -> Time {
        let spread = self.config.application_ns * self.config.application_spread_percent / PERCENT;
        let drawn = self.random.below(2 * spread + 1);
        self.config.application_ns - spread + drawn
    }

    /// The time of `length` bytes, without their packet's.
    fn bytes(&self, length: usize) -> Time {
        let checksum_ps = if self.config.checksum_offload {
            0
        } else {
            self.config.checksum_ps_per_byte
        };
        length as u64 * (self.config.copy_ps_per_byte + checksum_ps) / PICOSECONDS_PER_NANOSECOND
    }
}
