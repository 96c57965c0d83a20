//! Streaming connections: the host's TCP finds them and registers their 5-tuples.
//!
//! The source says that TCP detects bulk-data connections, not how. Here a connection streams once
//! enough payload bytes have gone one way and none the other; payload the other way ends that.
//! Alternating requests and replies never stream. The other way carries acknowledgements.

use std::collections::HashMap;

use phb_hosts::frame::Endpoints;
use phb_network::Time;

use super::headers::{Packet, Segment};

/// Number of an SRB or a sending application, in order of scheduling.
pub(super) type WorkId = u64;

/// Beyond this, connections that don't stream are forgotten and start to count anew.
const MAX_CONNECTIONS: usize = 65_536;

#[derive(Default)]
struct State {
    /// Payload bytes in each direction since the last in the other.
    inbound: u64,
    outbound: u64,
    streams: bool,
    /// Sequence number after the highest given to the host.
    expected: Option<u32>,
    /// The host's last segment: its time and its work.
    delivered: Option<(Time, WorkId)>,
}

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

    pub fn streams(&self, endpoints: &Endpoints) -> bool {
        self.known.get(endpoints).is_some_and(|state| state.streams)
    }

    pub fn streaming(&self) -> u64 {
        self.known.values().filter(|state| state.streams).count() as u64
    }

    /// Notes a segment from `work` to the host's TCP; `true` if a later one came before.
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

    /// Notes a segment from the host's TCP. Gives the work that handed TCP a segment of this
    /// connection at this time: it sends the answer.
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

    /// A connection's state, from its first payload to FIN or RST.
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
