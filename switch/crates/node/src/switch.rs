//! The switch as a node.

use std::collections::BTreeSet;
use std::sync::Arc;

use phb_network::{Frame, Node, Output, Port, Time};
use phb_pipeline::trace::Tracer;
use phb_pipeline::{Entry, Executor, Options, Pipeline};
use phb_trace::Filter;
use phb_traffic_manager::{Outlet, PortConfig};

use crate::digests::Digests;
use crate::idle::Idle;
use crate::packet_in::PacketIns;
use crate::packet_log::PacketLog;
use crate::path::PacketPath;
use crate::ports::unlimited;
use crate::replication::{CloneSession, Replication};
use crate::statistics::{DropReason, QueueStatistics, Statistics};
use crate::tracing::Watch;
use crate::write::EntryWrites;

/// Frames for which tables look ahead at once.
pub(crate) const AHEAD: usize = 32;

/// The settings of a switch besides its program and its ports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchConfig {
    /// The name in messages and networks.
    pub name: String,
    /// The port that leads to controllers, if any.
    pub cpu_port: Option<Port>,
    /// The port that stands for "drop" in the program (511 in v1model).
    pub drop_port: Port,
    /// Seed of everything random in the program.
    pub seed: u64,
    /// What runs programs that are loaded by these settings.
    pub executor: Executor,
}

impl SwitchConfig {
    /// The settings that a program is loaded with.
    #[must_use]
    pub fn of_program(&self) -> Options {
        Options {
            seed: self.seed,
            drop_port: self.drop_port,
            cpu_port: self.cpu_port,
            executor: self.executor,
        }
    }
}

/// A switch: takes frames and gives them later, by a program and a queue per port, without clock or
/// interface. Programming it between two calls of [`Node`] is atomic for packets.
pub struct SwitchNode {
    config: SwitchConfig,
    path: PacketPath,
    idle: Idle,
    /// Ports that are down.
    down: BTreeSet<Port>,
    packet_outs: Vec<Vec<u8>>,
    packet_out_bytes: usize,
    waker: Option<Waker>,
    clock: Option<Clock>,
    /// Times that counters have begun anew.
    beginnings: u64,
    pub(crate) entry_writes: EntryWrites,
}

/// Wakes a waiting runner, because the switch has something to do.
pub type Waker = Box<dyn Fn() + Send>;

/// Tells a runner's time, for those who look at a switch from outside.
pub type Clock = Box<dyn Fn() -> Time + Send>;

impl SwitchNode {
    /// A switch with these ports and no program. A CPU port not among `ports` is added, unlimited.
    #[must_use]
    pub fn new(config: SwitchConfig, ports: impl IntoIterator<Item = (Port, PortConfig)>) -> Self {
        let cpu_port = config.cpu_port;
        let mut switch = Self {
            path: PacketPath::new(cpu_port, config.drop_port),
            config,
            idle: Idle::default(),
            down: BTreeSet::new(),
            packet_outs: Vec::new(),
            packet_out_bytes: 0,
            waker: None,
            clock: None,
            beginnings: 0,
            entry_writes: EntryWrites::default(),
        };
        for (number, port) in ports {
            switch.set_port(number, port);
        }
        if let Some(number) = cpu_port
            && switch.path.ports.place(number).is_none()
        {
            switch.set_port(number, unlimited());
        }
        switch
    }

    /// The settings besides its program and its ports.
    #[must_use]
    pub fn config(&self) -> &SwitchConfig {
        &self.config
    }

    /// The program, if one is loaded.
    #[must_use]
    pub fn pipeline(&self) -> Option<&Pipeline> {
        self.path.pipeline.as_ref()
    }

    pub(crate) fn pipeline_mut(&mut self) -> Option<&mut Pipeline> {
        self.wake();
        self.path.pipeline.as_mut()
    }

    /// Installs a program. Multicast groups, clone sessions and waiting packets of the one before
    /// go: see [`drop_waiting`](Self::drop_waiting).
    pub fn install(&mut self, pipeline: Pipeline) {
        self.drop_waiting();
        self.beginnings += 1;
        self.entry_writes.forget_program();
        self.set_replication(Replication::default());
        let is_logged = self.path.is_logged();
        let pipeline = self.path.pipeline.insert(pipeline);
        pipeline.set_ports_down(&self.down);
        pipeline.set_logging(is_logged);
        if let Some(port) = self.config.cpu_port.filter(|_| pipeline.is_psa()) {
            let session = CloneSession::to_controllers(port);
            self.path
                .replication
                .set_session(CloneSession::TO_CPU, Some(session));
        }
    }

    /// Takes the program out, with its entries and state.
    pub fn take_pipeline(&mut self) -> Option<Pipeline> {
        self.drop_waiting();
        self.beginnings += 1;
        self.path.pipeline.take()
    }

    /// Brings back the entries, default actions, counters, registers and meters of the program as they
    /// were when it was loaded, and removes all multicast groups. Clone sessions stay.
    pub fn clear(&mut self) {
        if let Some(pipeline) = self.pipeline_mut() {
            pipeline.clear();
        }
        self.beginnings += 1;
        self.path.replication.clear_groups();
    }

    /// Drops the queued packets of all ports as [`DropReason::Reloaded`], and tells the program,
    /// because another program cannot read them. Frames after egress still leave.
    pub fn drop_waiting(&mut self) {
        self.path.drop_waiting();
    }

    /// The multicast groups and clone sessions.
    #[must_use]
    pub fn replication(&self) -> &Replication {
        &self.path.replication
    }

    /// The multicast groups and clone sessions, to be changed.
    pub fn replication_mut(&mut self) -> &mut Replication {
        &mut self.path.replication
    }

    /// Takes over all multicast groups and clone sessions of another switch.
    pub fn set_replication(&mut self, replication: Replication) {
        self.path.replication = replication;
        self.path.replication.set_down(&self.down);
    }

    /// Says whether a port is up. Members of groups that watch one that isn't, and replicas that have backups, are left
    /// out; nothing else changes, since packets for it are lost at its interface.
    pub fn set_port_up(&mut self, port: Port, up: bool) {
        let changed = match up {
            true => self.down.remove(&port),
            false => self.down.insert(port),
        };
        if changed {
            self.path.replication.set_down(&self.down);
            if let Some(pipeline) = &mut self.path.pipeline {
                pipeline.set_ports_down(&self.down);
            }
        }
    }

    /// Takes the tables and entries found idle on ticks, each again after another timeout.
    pub fn take_idle(&mut self) -> Vec<(String, Entry)> {
        self.idle.take()
    }

    /// The ports and how they transmit, in the order of their numbers.
    pub fn ports(&self) -> impl Iterator<Item = (Port, &PortConfig)> {
        let ports = self.path.ports.iter();
        ports.map(|port| (port.number, port.queue.config()))
    }

    /// Adds a port, or changes how it transmits from the next frame on.
    pub fn set_port(&mut self, number: Port, config: PortConfig) {
        self.path.ports.set(number, config);
    }

    /// Says at `now` (ns) whether frames may leave a port, and sends what may.
    pub fn set_outlet(&mut self, now: Time, number: Port, outlet: Outlet, out: &mut Output) {
        if let Some(place) = self.path.ports.place(number) {
            self.path.ports.set_outlet(place, outlet);
            self.path.advance(now, place, out);
        }
    }

    /// Where frames for controllers wait.
    #[must_use]
    pub fn packet_ins(&self) -> Arc<PacketIns> {
        Arc::clone(&self.path.packet_ins)
    }

    /// Where the program's messages for controllers wait.
    #[must_use]
    pub fn digests(&self) -> Arc<Digests> {
        Arc::clone(&self.path.digests)
    }

    /// Sets the log of packets and of the program's messages (`log_msg`), if there is one.
    pub fn set_packet_log(&mut self, log: Option<Arc<PacketLog>>) {
        if let Some(pipeline) = &mut self.path.pipeline {
            pipeline.set_logging(log.is_some());
        }
        self.path.set_log(log);
    }

    /// Adds a reader of traces, as [`tracing::watch`](crate::tracing::watch) does, but leaves the program as it is: unless
    /// it has a tracer, traces have no steps inside of it.
    #[must_use]
    pub fn watch(&mut self, filter: Filter, frame_bytes: u32) -> Option<Arc<Watch>> {
        let tracing = self.path.begin_tracing();
        tracing.watch(&self.config.name, filter, frame_bytes)
    }

    /// Ends what [`watch`](Self::watch) began. Traces that wait can still be taken.
    pub fn unwatch(&mut self, watch: &Arc<Watch>) {
        if let Some(tracing) = &mut self.path.tracing {
            tracing.unwatch(watch);
            self.path.end_tracing();
        }
        if !self.is_watched()
            && let Some(pipeline) = &mut self.path.pipeline
        {
            pipeline.set_tracer(None);
        }
    }

    /// Whether somebody reads traces.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        let tracing = self.path.tracing.as_ref();
        tracing.is_some_and(|tracing| tracing.is_watched())
    }

    /// The program's artifact, if it is to be traced and can't be.
    pub(crate) fn untraced_program(&self) -> Option<Arc<str>> {
        self.program_without_tracer().filter(|_| self.is_watched())
    }

    /// The program's artifact, if it can't be traced.
    pub(crate) fn program_without_tracer(&self) -> Option<Arc<str>> {
        let pipeline = self.path.pipeline.as_ref()?;
        let untraced = pipeline.dictionary().is_none();
        untraced.then(|| Arc::clone(pipeline.artifact()))
    }

    /// Takes the form of a program that is traced; `false` if another one runs that is to be traced.
    pub(crate) fn set_tracer(&mut self, artifact: &Arc<str>, tracer: Tracer) -> bool {
        match self.untraced_program() {
            None => true,
            Some(runs) if Arc::ptr_eq(&runs, artifact) => {
                if let Some(pipeline) = &mut self.path.pipeline {
                    pipeline.set_tracer(Some(Box::new(tracer)));
                }
                true
            }
            Some(_) => false,
        }
    }

    /// Takes a frame from a controller; `false` without a CPU port. It enters the pipeline there
    /// with the next call of [`Node`]; [`Node::next_tick`] tells the runner so.
    #[must_use]
    pub fn packet_out(&mut self, frame: Vec<u8>) -> bool {
        if self.config.cpu_port.is_none() {
            return false;
        }
        self.path.statistics.injected += 1;
        self.packet_out_bytes += frame.len();
        self.packet_outs.push(frame);
        self.wake();
        true
    }

    /// The number of frames from controllers that wait for the pipeline, and their bytes.
    #[must_use]
    pub fn packet_outs_waiting(&self) -> (usize, usize) {
        (self.packet_outs.len(), self.packet_out_bytes)
    }

    /// Wakes a runner that waits, because something may be due earlier now.
    fn wake(&self) {
        if let Some(waker) = &self.waker {
            waker();
        }
    }

    /// The time: a runner's, or else when the switch last did something.
    #[must_use]
    pub fn now(&self) -> Time {
        let clock = self.clock.as_ref();
        clock.map_or(self.path.now, |clock| clock().max(self.path.now))
    }

    /// Lets time pass to `now` without anything happening.
    pub fn pass(&mut self, now: Time) {
        self.path.now = self.path.now.max(now);
    }

    /// Sets the clock of the runner, which packets don't read.
    pub fn set_clock(&mut self, clock: Option<Clock>) {
        self.clock = clock;
    }

    /// How many times counters have begun anew: with a program, without one, or [cleared](Self::clear).
    #[must_use]
    pub fn beginnings(&self) -> u64 {
        self.beginnings
    }

    /// How many times entries of tables, groups of action profiles and their members were written.
    #[must_use]
    pub fn entry_writes(&self) -> &EntryWrites {
        &self.entry_writes
    }

    /// Sets the function to call when a frame comes from a controller.
    pub fn set_waker(&mut self, waker: Option<Waker>) {
        self.waker = waker;
    }

    /// The counters now.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        let mut statistics = self.path.statistics.clone();
        statistics.queued = self.packet_outs.len() as u64;
        let (lost, lost_bytes) = self.path.packet_ins.lost();
        statistics.to_cpu -= lost;
        statistics.dropped.add(DropReason::CpuBuffer, lost);
        for port in self.path.ports.iter() {
            let mut of_port = port.statistics;
            of_port.queued = port.queue.held() as u64;
            if self.config.cpu_port == Some(port.number) {
                of_port.dropped.add(DropReason::CpuBuffer, lost);
                of_port.transmitted_packets = of_port.transmitted_packets.saturating_sub(lost);
                of_port.transmitted_bytes = of_port.transmitted_bytes.saturating_sub(lost_bytes);
            }
            statistics.queued += of_port.queued;
            statistics.ports.push((port.number, of_port));
        }
        statistics
    }

    /// The counters of a port's queues by priority; a program with ranks has one queue.
    #[must_use]
    pub fn queues(&self, number: Port) -> Vec<QueueStatistics> {
        let place = self.path.ports.place(number);
        place.map_or_else(Vec::new, |place| self.path.ports[place].queue_statistics())
    }

    /// Left side minus right side of the conservation law (see [`Statistics::imbalance`]).
    #[must_use]
    pub fn check(&self) -> i128 {
        self.statistics().imbalance()
    }

    /// When a packet moves next (ns). Unlike ticks, which also look for idle entries, this ends.
    #[must_use]
    pub fn next_event(&self) -> Option<Time> {
        if !self.packet_outs.is_empty() {
            return Some(0);
        }
        self.path.ports.next_event()
    }

    /// Takes a frame at `port` at `now` (ns), as [`Node::receive`] does, from the caller's memory.
    pub fn receive_frame(&mut self, now: Time, port: Port, frame: &[u8], out: &mut Output) {
        self.take_packet_outs(now, out);
        self.path.receive(now, port, frame, out);
    }

    /// Whether the program has a table so large that [`look_ahead`](Self::look_ahead) is worth it.
    #[must_use]
    pub fn looks_ahead(&self) -> bool {
        let pipeline = self.path.pipeline.as_ref();
        pipeline.is_some_and(Pipeline::looks_ahead)
    }

    /// Fetches what large tables have for frames that come next.
    pub fn look_ahead<'a>(&self, frames: impl Iterator<Item = &'a [u8]> + Clone) {
        if let Some(pipeline) = &self.path.pipeline {
            pipeline.look_ahead(frames);
        }
    }

    /// Takes frames that arrive together, in order, each as [`receive_frame`](Self::receive_frame).
    pub fn receive_batch<'a>(
        &mut self,
        now: Time,
        frames: impl IntoIterator<Item = (Port, &'a [u8]), IntoIter: Clone>,
        out: &mut Output,
    ) {
        self.take_packet_outs(now, out);
        let mut frames = frames.into_iter();
        loop {
            let ahead = frames.clone().take(AHEAD);
            self.look_ahead(ahead.map(|(_, frame)| frame));
            let mut next = frames.by_ref().take(AHEAD).peekable();
            if next.peek().is_none() {
                return;
            }
            for (port, frame) in next {
                self.path.receive(now, port, frame, out);
            }
        }
    }

    fn take_packet_outs(&mut self, now: Time, out: &mut Output) {
        let Some(cpu_port) = self.config.cpu_port else {
            return;
        };
        if self.packet_outs.is_empty() {
            return;
        }
        self.packet_out_bytes = 0;
        for frame in std::mem::take(&mut self.packet_outs) {
            self.path.enter(now, cpu_port, &frame, out);
            out.recycle(Frame::new(frame));
        }
    }
}

impl Node for SwitchNode {
    fn receive(&mut self, now: Time, port: Port, frame: Frame, out: &mut Output) {
        self.receive_frame(now, port, &frame.bytes, out);
        out.recycle(frame);
    }

    fn tick(&mut self, now: Time, out: &mut Output) {
        if let Some(pipeline) = &mut self.path.pipeline {
            self.idle.search(now, pipeline);
        }
        self.take_packet_outs(now, out);
        for at in 0..self.path.ports.count() {
            if self.path.ports[at].is_due(now) {
                self.path.advance(now, at, out);
            }
        }
    }

    fn next_tick(&self) -> Option<Time> {
        let pipeline = self.path.pipeline.as_ref();
        let search = pipeline.and_then(|pipeline| self.idle.next_search(pipeline));
        let event = self.next_event();
        [event, search].into_iter().flatten().min()
    }
}

#[cfg(test)]
mod tests;
