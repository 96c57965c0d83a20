//! Discrete-event loop and wires.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::agenda::Agenda;
use crate::error::WorldError;
use crate::following::{Following, Way};
use crate::losses::Losses;
use crate::node::{Frame, Node, Output, Port, Time};
use crate::pcap::PcapWriter;

/// Progress reports of `run_until`: a smooth bar and a prompt stop, at no cost.
const PROGRESS_REPORTS: u64 = 40;

/// A run gives up after so many events of one time. Draining large queues at an unlimited rate
/// stays far below; a timer that does not move or a loop of wires without delay goes on for ever.
const EVENTS_AT_ONE_TIME: u64 = 1_000_000;

/// A node's place in a [`World`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(usize);

/// End of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Every event up to and including the end time is done.
    Completed,
    /// The progress callback asked to stop; a later `run_until` goes on from here.
    Stopped,
}

/// Counters of a port. Frames sent are received at the wire's other end, lost, or on their way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortCounters {
    /// Frames sent onto the wire.
    pub sent_frames: u64,
    /// Bytes of Ethernet frames without frame check sequence.
    pub sent_bytes: u64,
    /// Frames that were lost on the wire.
    pub lost_frames: u64,
    /// Frames received from the wire.
    pub received_frames: u64,
    /// Bytes of Ethernet frames without frame check sequence.
    pub received_bytes: u64,
    /// Frames sent without a wire; they are lost.
    pub unconnected_frames: u64,
}

/// Parameters of a wire, for both directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WireConfig {
    /// Time of a frame on its way, in ns.
    #[serde(default)]
    pub delay_ns: Time,
    /// Lost frames of a million, independently in either direction.
    #[serde(default)]
    pub loss_per_million: u32,
    /// Draws the losses; the network gives it.
    #[serde(skip)]
    pub seed: u64,
}

struct Wire {
    peer: NodeId,
    peer_port: Port,
    delay: Time,
    losses: Losses,
}

#[derive(Default)]
struct PortState {
    wire: Option<Wire>,
    counters: PortCounters,
    tap: Option<usize>,
}

struct NodeState {
    name: String,
    ports: Vec<PortState>,
    /// The node's earliest tick on the agenda; others are stale.
    armed: Option<Time>,
    /// The node's next tick when it was last asked.
    wanted: Option<Time>,
}

impl NodeState {
    fn port(&mut self, port: Port) -> &mut PortState {
        let index = usize::from(port);
        if index >= self.ports.len() {
            self.ports.resize_with(index + 1, PortState::default);
        }
        &mut self.ports[index]
    }
}

struct Tap {
    path: PathBuf,
    writer: PcapWriter<BufWriter<File>>,
}

enum Happening {
    Tick,
    /// A node sent the frame ahead of time.
    Departure(Port, Frame),
    Arrival(Port, Frame),
}

struct Event {
    node: NodeId,
    happening: Happening,
}

/// Nodes, wires, and future events. Methods may panic at another world's id.
///
/// `N` is the type of nodes: boxed by default; an enum gives the owner its nodes back by kind.
pub struct World<N: Node = Box<dyn Node>> {
    nodes: Vec<N>,
    states: Vec<NodeState>,
    taps: Vec<Tap>,
    agenda: Agenda<Event>,
    now: Time,
    events: u64,
    events_now: u64,
    frames_in_flight: u64,
    /// Frames sent ahead of time that are still in their node.
    frames_to_depart: u64,
    capture_error: Option<WorldError>,
    following: Option<Box<Following>>,
}

impl<N: Node> Default for World<N> {
    fn default() -> Self {
        Self::new()
    }
}

impl<N: Node> World<N> {
    /// An empty world at time 0.
    #[must_use]
    pub fn new() -> Self {
        Self {
            nodes: Vec::new(),
            states: Vec::new(),
            taps: Vec::new(),
            agenda: Agenda::new(),
            now: 0,
            events: 0,
            events_now: 0,
            frames_in_flight: 0,
            frames_to_depart: 0,
            capture_error: None,
            following: None,
        }
    }

    /// Adds a node; fails with [`WorldError::DuplicateName`].
    pub fn add_node(&mut self, name: &str, node: N) -> Result<NodeId, WorldError> {
        if self.find(name).is_some() {
            return Err(WorldError::DuplicateName(name.to_owned()));
        }
        self.nodes.push(node);
        self.states.push(NodeState {
            name: name.to_owned(),
            ports: Vec::new(),
            armed: None,
            wanted: None,
        });
        Ok(NodeId(self.nodes.len() - 1))
    }

    /// Joins two ports by a wire with `delay` (ns) and no losses; fails if a port has one.
    pub fn connect(
        &mut self,
        a: (NodeId, Port),
        b: (NodeId, Port),
        delay: Time,
    ) -> Result<(), WorldError> {
        let config = WireConfig {
            delay_ns: delay,
            ..WireConfig::default()
        };
        self.connect_by(a, b, config)
    }

    /// Joins two ports by a wire; fails if a port has one or `loss_per_million` is too large.
    pub fn connect_by(
        &mut self,
        a: (NodeId, Port),
        b: (NodeId, Port),
        config: WireConfig,
    ) -> Result<(), WorldError> {
        let losses = Losses::of_both_directions(config.loss_per_million, config.seed)?;
        for (node, port) in [a, b] {
            if self.states[node.0].port(port).wire.is_some() || a == b {
                return Err(WorldError::PortInUse {
                    node: self.states[node.0].name.clone(),
                    port,
                });
            }
        }
        for ((here, there), losses) in [(a, b), (b, a)].into_iter().zip(losses) {
            self.states[here.0.0].port(here.1).wire = Some(Wire {
                peer: there.0,
                peer_port: there.1,
                delay: config.delay_ns,
                losses,
            });
        }
        Ok(())
    }

    /// Captures a port's frames in both directions, in order of time, as a nanosecond pcap file.
    /// Fails with [`WorldError::Capture`] if it can't be created; later errors end the run.
    pub fn tap(&mut self, node: NodeId, port: Port, path: &Path) -> Result<(), WorldError> {
        let writer = File::create(path)
            .and_then(|file| PcapWriter::new(BufWriter::new(file)))
            .map_err(|error| WorldError::Capture {
                path: path.to_owned(),
                error,
            })?;
        self.taps.push(Tap {
            path: path.to_owned(),
            writer,
        });
        self.states[node.0].port(port).tap = Some(self.taps.len() - 1);
        Ok(())
    }

    /// Follows packets from now on, in place of those before. What is followed doesn't change what happens.
    pub fn follow(&mut self, following: Following) {
        self.following = Some(Box::new(following));
    }

    /// What is followed.
    #[must_use]
    pub fn following(&self) -> Option<&Following> {
        self.following.as_deref()
    }

    /// The node's name.
    #[must_use]
    pub fn name(&self, id: NodeId) -> &str {
        &self.states[id.0].name
    }

    /// The node of this name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<NodeId> {
        self.states
            .iter()
            .position(|state| state.name == name)
            .map(NodeId)
    }

    /// All nodes, in the order of adding.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, &str, &N)> {
        self.nodes
            .iter()
            .zip(&self.states)
            .enumerate()
            .map(|(i, (node, state))| (NodeId(i), state.name.as_str(), node))
    }

    /// A node.
    #[must_use]
    pub fn node(&self, id: NodeId) -> &N {
        &self.nodes[id.0]
    }

    /// A node, for changes between runs.
    pub fn node_mut(&mut self, id: NodeId) -> &mut N {
        &mut self.nodes[id.0]
    }

    /// Ports of a node with a wire or any frame, in ascending order.
    pub fn ports(&self, id: NodeId) -> impl Iterator<Item = (Port, PortCounters)> {
        let ports = self.states[id.0].ports.iter().enumerate();
        ports
            .filter(|(_, state)| state.wire.is_some() || state.counters != PortCounters::default())
            .filter_map(|(port, state)| Some((Port::try_from(port).ok()?, state.counters)))
    }

    /// Events so far: ticks, departures, arrivals.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Frames sent and not arrived.
    #[must_use]
    pub fn frames_in_flight(&self) -> u64 {
        self.frames_in_flight
    }

    /// Frames on a wire: those in flight that have left their node.
    #[must_use]
    pub fn frames_on_wires(&self) -> u64 {
        self.frames_in_flight - self.frames_to_depart
    }

    /// Frames lost on all wires.
    #[must_use]
    pub fn lost_frames(&self) -> u64 {
        let ports = self.states.iter().flat_map(|state| &state.ports);
        ports.map(|port| port.counters.lost_frames).sum()
    }

    /// Frames sent without a wire by all nodes.
    #[must_use]
    pub fn unconnected_frames(&self) -> u64 {
        let ports = self.states.iter().flat_map(|state| &state.ports);
        ports.map(|port| port.counters.unconnected_frames).sum()
    }

    /// The current time, in ns.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Runs every event up to and including `until` (ns), which becomes the current time.
    ///
    /// Calls `progress` with the time about forty times, evenly over virtual time; `false` stops
    /// the run early. Fails with [`WorldError::Stuck`], [`WorldError::Capture`].
    pub fn run_until(
        &mut self,
        until: Time,
        progress: &mut dyn FnMut(Time) -> bool,
    ) -> Result<Ended, WorldError> {
        for index in 0..self.nodes.len() {
            self.arm(NodeId(index)); // the owner may have changed nodes since the last run
        }
        let report_every = (until.saturating_sub(self.now) / PROGRESS_REPORTS).max(1);
        let mut next_report = self.now.saturating_add(report_every);
        let mut out = Output::new();
        let mut ended = Ended::Completed;
        while let Some((at, event)) = self.agenda.take(until) {
            self.count_event(at, event.node)?;
            self.process(at, event, &mut out);
            if self.now >= next_report {
                next_report = self.now.saturating_add(report_every);
                if !progress(self.now) {
                    ended = Ended::Stopped;
                    break;
                }
            }
        }
        if ended == Ended::Completed {
            self.now = self.now.max(until);
        }
        self.flush_taps();
        match self.capture_error.take() {
            Some(error) => Err(error),
            None => Ok(ended),
        }
    }

    fn process(&mut self, at: Time, event: Event, out: &mut Output) {
        let Event { node, happening } = event;
        match happening {
            Happening::Tick => {
                let state = &mut self.states[node.0];
                if state.armed != Some(at) {
                    return;
                }
                state.armed = None;
                // A timer that moved back stays on the agenda: its old event does nothing here.
                if state.wanted.is_some_and(|due| due <= at) {
                    self.events += 1;
                    out.begin(at);
                    self.nodes[node.0].tick(at, out);
                }
            }
            Happening::Departure(port, frame) => {
                self.events += 1;
                self.frames_to_depart -= 1;
                self.depart(node, port, frame);
                return;
            }
            Happening::Arrival(port, frame) => {
                self.events += 1;
                self.frames_in_flight -= 1;
                let state = self.states[node.0].port(port);
                state.counters.received_frames += 1;
                state.counters.received_bytes += frame.len() as u64;
                let tap = state.tap;
                self.capture(tap, &frame);
                self.pass(node, port, Way::Arrived, &frame);
                out.begin(at);
                self.nodes[node.0].receive(at, port, frame, out);
            }
        }
        for sent in out.drain() {
            self.frames_in_flight += 1;
            if sent.at > at {
                self.frames_to_depart += 1;
                self.schedule(sent.at, node, Happening::Departure(sent.port, sent.frame));
            } else {
                self.depart(node, sent.port, sent.frame);
            }
        }
        self.arm(node);
    }

    fn depart(&mut self, node: NodeId, port: Port, frame: Frame) {
        let state = self.states[node.0].port(port);
        let Some(wire) = &mut state.wire else {
            state.counters.unconnected_frames += 1;
            self.frames_in_flight -= 1;
            return;
        };
        state.counters.sent_frames += 1;
        state.counters.sent_bytes += frame.len() as u64;
        let (peer, peer_port, delay) = (wire.peer, wire.peer_port, wire.delay);
        let is_lost = wire.losses.take_next();
        state.counters.lost_frames += u64::from(is_lost);
        let tap = state.tap;
        self.capture(tap, &frame);
        let way = if is_lost { Way::Lost } else { Way::Left };
        self.pass(node, port, way, &frame);
        if is_lost {
            self.frames_in_flight -= 1;
            return;
        }
        let arrives = self.now.saturating_add(delay);
        self.schedule(arrives, peer, Happening::Arrival(peer_port, frame));
    }

    fn schedule(&mut self, at: Time, node: NodeId, happening: Happening) {
        self.agenda.add(at, Event { node, happening });
    }

    /// Puts a tick on the agenda, unless one is early enough.
    fn arm(&mut self, node: NodeId) {
        let state = &mut self.states[node.0];
        state.wanted = self.nodes[node.0].next_tick();
        let Some(wanted) = state.wanted else {
            return;
        };
        let wanted = wanted.max(self.now);
        if state.armed.is_none_or(|armed| wanted < armed) {
            state.armed = Some(wanted);
            self.schedule(wanted, node, Happening::Tick);
        }
    }

    fn count_event(&mut self, at: Time, node: NodeId) -> Result<(), WorldError> {
        if at > self.now {
            self.now = at;
            self.events_now = 0;
        }
        self.events_now += 1;
        if self.events_now > EVENTS_AT_ONE_TIME {
            return Err(WorldError::Stuck {
                node: self.states[node.0].name.clone(),
                at: self.now,
            });
        }
        Ok(())
    }

    fn capture(&mut self, tap: Option<usize>, frame: &Frame) {
        let Some(tap) = tap.and_then(|index| self.taps.get_mut(index)) else {
            return;
        };
        if let Err(error) = tap.writer.write(self.now, &frame.bytes) {
            self.capture_error.get_or_insert(WorldError::Capture {
                path: tap.path.clone(),
                error,
            });
        }
    }

    fn pass(&mut self, node: NodeId, port: Port, way: Way, frame: &Frame) {
        if let Some(following) = &mut self.following {
            following.pass(self.now, node, port, way, &frame.bytes);
        }
    }

    fn flush_taps(&mut self) {
        for tap in &mut self.taps {
            if let Err(error) = tap.writer.flush() {
                self.capture_error.get_or_insert(WorldError::Capture {
                    path: tap.path.clone(),
                    error,
                });
            }
        }
    }
}

#[cfg(test)]
mod tests;
