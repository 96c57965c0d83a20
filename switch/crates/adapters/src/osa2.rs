//! An OSA-2 in LCS mode: a host's adapter on Fast Ethernet.
//!
//! Its Ethernet is part of the node, in both directions at once (full duplex): the adapter
//! serializes sent and received frames, so the other end should have no rate. Each direction has a
//! finite queue; packets take a fixed time through the adapter, and may overlap.

use std::collections::VecDeque;

use phb_hosts::ConfigError;
use phb_hosts::frame::ETHERNET_HEADER;
use phb_hosts::{HOST_PORT, NETWORK_PORT};
use phb_network::{Frame, Node, Output, Port, Time};
use phb_traffic_manager::Shaper;
use serde::Deserialize;

use crate::ethernet::wire_bytes;
use crate::queue::is_full;
use crate::statistics::{AdapterStatistics, DirectionStatistics};

/// Parameters of an OSA-2 and its Ethernet.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Osa2Config {
    /// The Ethernet's rate in bit/s.
    pub rate_bps: u64,
    /// The largest IP datagram, in bytes.
    pub mtu_bytes: usize,
    /// Time of a packet through the adapter, without its time on the wire, in ns.
    pub latency_ns: Time,
    /// Packets that may wait for the wire, in each direction; `None` is no limit.
    #[serde(default)]
    pub queue_packets: Option<usize>,
}

/// One direction.
struct Lane {
    queue: VecDeque<Frame>,
    wire: Shaper,
    /// The frame on the wire, and its end (ns).
    passing: Option<(Time, Frame)>,
    leaves_by: Port,
    statistics: DirectionStatistics,
}

impl Lane {
    fn new(rate_bps: u64, leaves_by: Port) -> Self {
        let wire = Shaper::new(Some(rate_bps));
        Self {
            queue: VecDeque::new(),
            wire,
            passing: None,
            leaves_by,
            statistics: DirectionStatistics::default(),
        }
    }

    fn receive(&mut self, now: Time, frame: Frame, config: &Osa2Config) {
        self.statistics.receive(frame.len());
        if frame.len().saturating_sub(ETHERNET_HEADER) > config.mtu_bytes {
            self.statistics.dropped_too_large += 1;
            self.statistics.held -= 1;
        } else if self.passing.is_some() && is_full(self.queue.len(), config.queue_packets) {
            self.statistics.dropped_queue_full += 1;
            self.statistics.held -= 1;
        } else {
            self.queue.push_back(frame);
            self.start(now);
        }
    }

    fn start(&mut self, now: Time) {
        if self.passing.is_none()
            && let Some(frame) = self.queue.pop_front()
        {
            let end = self.wire.send(now, wire_bytes(frame.len()));
            self.passing = Some((end, frame));
        }
    }

    fn tick(&mut self, now: Time, latency: Time, out: &mut Output) {
        while let Some((end, frame)) = self.passing.take_if(|(end, _)| *end <= now) {
            self.statistics.send(frame.len());
            out.send(end.saturating_add(latency).max(now), self.leaves_by, frame);
            self.start(end);
        }
    }

    fn due(&self) -> Option<Time> {
        self.passing.as_ref().map(|(end, _)| *end)
    }
}

/// An OSA-2: two ports.
pub struct Osa2 {
    config: Osa2Config,
    outbound: Lane,
    inbound: Lane,
}

impl Osa2 {
    /// An idle adapter.
    pub fn new(config: Osa2Config) -> Result<Self, ConfigError> {
        ConfigError::unless_positive("rate_bps", config.rate_bps)?;
        ConfigError::unless_positive("mtu_bytes", config.mtu_bytes as u64)?;
        let outbound = Lane::new(config.rate_bps, NETWORK_PORT);
        let inbound = Lane::new(config.rate_bps, HOST_PORT);
        Ok(Self {
            config,
            outbound,
            inbound,
        })
    }

    /// The parameters.
    #[must_use]
    pub fn config(&self) -> &Osa2Config {
        &self.config
    }

    /// The counters. A packet counts as sent when its transmission has ended.
    #[must_use]
    pub fn statistics(&self) -> AdapterStatistics {
        AdapterStatistics {
            outbound: self.outbound.statistics,
            inbound: self.inbound.statistics,
            ..AdapterStatistics::default()
        }
    }
}

impl Node for Osa2 {
    fn receive(&mut self, now: Time, port: Port, frame: Frame, out: &mut Output) {
        self.tick(now, out);
        let lane = if port == HOST_PORT {
            &mut self.outbound
        } else {
            &mut self.inbound
        };
        lane.receive(now, frame, &self.config);
    }

    fn tick(&mut self, now: Time, out: &mut Output) {
        self.outbound.tick(now, self.config.latency_ns, out);
        self.inbound.tick(now, self.config.latency_ns, out);
    }

    fn next_tick(&self) -> Option<Time> {
        match (self.outbound.due(), self.inbound.due()) {
            (Some(outbound), Some(inbound)) => Some(outbound.min(inbound)),
            (outbound, inbound) => outbound.or(inbound),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use phb_network::Transmission;

    fn config() -> Osa2Config {
        Osa2Config {
            rate_bps: 100_000_000,
            mtu_bytes: 1500,
            latency_ns: 50_000,
            queue_packets: Some(2),
        }
    }

    fn finish(osa: &mut Osa2, out: &mut Output) -> Vec<(Time, Port, usize)> {
        let note = |sent: Transmission| (sent.at, sent.port, sent.frame.len());
        let mut left: Vec<_> = out.drain().map(note).collect();
        while let Some(due) = osa.next_tick() {
            out.begin(due);
            osa.tick(due, out);
            left.extend(out.drain().map(note));
        }
        left
    }

    #[test]
    fn frames_take_their_time_on_the_wire_and_through_the_adapter() {
        let mut osa = Osa2::new(config()).expect("a good configuration");
        let mut out = Output::new();
        osa.receive(0, HOST_PORT, Frame::new(vec![0; 1514]), &mut out);
        osa.receive(0, HOST_PORT, Frame::new(vec![0; 54]), &mut out);
        osa.receive(0, NETWORK_PORT, Frame::new(vec![0; 1514]), &mut out);
        // 1514 + 4 + 20 bytes at 80 ns; 64 + 20 bytes for the short one; both directions at once
        let full = 1538 * 80;
        let mut left = finish(&mut osa, &mut out);
        left.sort_unstable();
        let expected = [
            (full + 50_000, 0, 1514),
            (full + 50_000, 1, 1514),
            (full + 84 * 80 + 50_000, 1, 54),
        ];
        assert_eq!(left, expected);
    }

    #[test]
    fn every_drop_is_counted_by_its_reason() {
        let mut osa = Osa2::new(config()).expect("a good configuration");
        let mut out = Output::new();
        osa.receive(0, HOST_PORT, Frame::new(vec![0; 1515]), &mut out);
        for _ in 0..5 {
            osa.receive(0, HOST_PORT, Frame::new(vec![0; 100]), &mut out);
        }
        let held = osa.statistics().outbound;
        assert_eq!(
            (held.dropped_too_large, held.dropped_queue_full, held.held),
            (1, 2, 3)
        );
        assert_eq!(held.received, held.sent + held.dropped() + held.held);
        finish(&mut osa, &mut out);
        let sent = osa.statistics().outbound;
        assert_eq!((sent.sent, sent.sent_bytes, sent.held), (3, 300, 0));
    }

    #[test]
    fn wrong_parameters_are_named() {
        let error = Osa2::new(Osa2Config {
            rate_bps: 0,
            ..config()
        })
        .err()
        .expect("no rate");
        assert_eq!(
            error.to_string(),
            "rate_bps: 0 is given, at least 1 is expected"
        );
    }
}
