//! Which connections stream: the host's TCP finds out and registers their 5-tuples with the adapter.
//!
//! The source says that TCP detects bulk-data connections, not how. Here a connection streams once a number of payload
//! bytes has gone one way and none the other; payload the other way ends that. A connection on which requests and
//! replies alternate never streams. Which way the bulk goes makes no difference: what comes in for a connection that
//! streams out are its acknowledgements.

use std::collections::HashMap;

use phb_hosts::frame::Endpoints;
use phb_network::Time;

use super::headers::{Packet, Segment};

/// The number of an SRB, or of an application that sends, in the order of being scheduled.
pub(super) type WorkId = u64;

/// Connections remembered at most. Beyond, those that don't stream are forgotten; they start to count anew.
const MAX_CONNECTIONS: usize = 65_536;

#[derive(Default)]
struct State {
    /// Payload bytes in each direction since there was some in the other.
    inbound: u64,
    outbound: u64,
    streams: bool,
    /// The sequence number after the highest that the host was given.
    expected: Option<u32>,
    /// When the host was last given a segment, and by which piece of work.
    delivered: Option<(Time, WorkId)>,
}

/// The connections of a host.
pub(super) struct Connections {
    bulk_bytes: u64,
    known: HashMap<Endpoints, State>,
}

impl Connections {
    pub fn new(bulk_bytes: u64) -> Self {
        Self {
            bulk_bytes,
            known: HashMap::new(),
        }
    }

    /// Whether a connection is registered as streaming.
    pub fn streams(&self, endpoints: &Endpoints) -> bool {
        self.known.get(endpoints).is_some_and(|state| state.streams)
    }

    /// How many connections are registered.
    pub fn streaming(&self) -> u64 {
        self.known.values().filter(|state| state.streams).count() as u64
    }

    /// The host's TCP gets a segment from `work` at `now`; tells whether it comes after a later one.
    pub fn deliver(&mut self, now: Time, packet: &Packet, work: WorkId) -> bool {
        let Some(segment) = packet.tcp else {
            return false;
        };
        let endpoints = packet.inbound();
        let bulk_bytes = self.bulk_bytes;
        let Some(state) = self.state(endpoints, &segment) else {
            return false;
        };
        state.delivered = Some((now, work));
        if segment.payload == 0 {
            return false;
        }
        state.inbound += segment.payload as u64;
        state.outbound = 0;
        state.streams = state.inbound >= bulk_bytes;
        let late = state
            .expected
            .is_some_and(|expected| expected.wrapping_sub(segment.after()).cast_signed() >= 0);
        if !late {
            state.expected = Some(segment.after());
        }
        late
    }

    /// The host's TCP sends a segment at `now`. Gives the work that handed it a segment of this connection at this
    /// very time: what TCP sends then is part of it.
    pub fn send(&mut self, now: Time, packet: &Packet) -> Option<WorkId> {
        let segment = packet.tcp?;
        let bulk_bytes = self.bulk_bytes;
        let state = self.state(packet.outbound(), &segment)?;
        if segment.payload > 0 {
            state.outbound += segment.payload as u64;
            state.inbound = 0;
            state.streams = state.outbound >= bulk_bytes;
        }
        let (at, work) = state.delivered?;
        (at == now).then_some(work)
    }

    /// The connection's state. It begins with the first payload and ends with FIN or RST.
    fn state(&mut self, endpoints: Endpoints, segment: &Segment) -> Option<&mut State> {
        if segment.ends {
            self.known.remove(&endpoints);
            return None;
        }
        if segment.payload > 0 && !self.known.contains_key(&endpoints) {
            if self.known.len() >= MAX_CONNECTIONS {
                self.known.retain(|_, state| state.streams);
            }
            self.known.insert(endpoints, State::default());
        }
        self.known.get_mut(&endpoints)
    }
}
