//! Stations whose logical units ask and wait, as a Wandel & Goltermann Domino with SNAGEN.

use std::collections::VecDeque;

use phb_hosts::ConfigError;
use phb_hosts::HOST_PORT;
use phb_hosts::Transaction;
use phb_hosts::sna::{ADAPTER, DAF, Kind, Mac, connect, information, read};
use phb_network::{Frame, Node, Output, Port, Time};

use serde::Deserialize;

use super::statistics::SnaStatistics;

const SECOND: Time = 1_000_000_000;
/// Local addresses have eight bits; 0 is the physical unit itself.
const MAX_LUS: u16 = 255;
/// A station's address has 16 bits for its number.
const MAX_PUS: u32 = 1 << 16;

/// Parameters of SNA stations.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StationsConfig {
    /// Group of their transactions in reports.
    pub group: String,
    /// Physical units, each with an LLC2 connection.
    pub pus: u32,
    /// Logical units of each.
    pub lus_per_pu: u16,
    /// Frames per second of the generator.
    pub frames_per_s: u64,
    /// Length of a request unit, in bytes.
    pub request_bytes: u32,
    /// Whether a logical unit waits for the answer before its next request.
    #[serde(default = "yes")]
    pub waits: bool,
    /// Time of the first connection, in ns.
    #[serde(default)]
    pub start_ns: Time,
}

fn yes() -> bool {
    true
}

impl StationsConfig {
    fn check(&self) -> Result<(), ConfigError> {
        for (parameter, value, most) in [
            ("pus", u64::from(self.pus), u64::from(MAX_PUS)),
            ("lus_per_pu", u64::from(self.lus_per_pu), u64::from(MAX_LUS)),
            ("frames_per_s", self.frames_per_s, SECOND),
        ] {
            ConfigError::unless_within(parameter, value, 1, most)?;
        }
        ConfigError::unless_positive("request_bytes", u64::from(self.request_bytes))
    }
}

/// A generator with one port: it opens the connections of all stations; connected logical units ask
/// in turn, one frame per `1 / frames_per_s`.
#[derive(Debug)]
pub struct Stations {
    config: StationsConfig,
    unconnected: u32,
    /// Logical units without an open request: station and local address.
    idle: VecDeque<(u32, u8)>,
    /// Times of requests, by station and local address.
    asked: Vec<Option<Time>>,
    next: Time,
    /// Since when there is a frame to send.
    ready: Time,
    transactions: Vec<Transaction>,
    statistics: SnaStatistics,
}

impl Stations {
    /// A generator with no station connected.
    pub fn new(config: StationsConfig) -> Result<Self, ConfigError> {
        config.check()?;
        let units = config.pus as usize * usize::from(config.lus_per_pu);
        Ok(Self {
            unconnected: config.pus,
            idle: VecDeque::with_capacity(units),
            asked: vec![None; units],
            next: config.start_ns,
            ready: config.start_ns,
            transactions: Vec::new(),
            statistics: SnaStatistics::default(),
            config,
        })
    }

    /// Answered requests, in order of the answers; there is one flow, 0.
    #[must_use]
    pub fn transactions(&self) -> &[Transaction] {
        &self.transactions
    }

    /// The counters.
    #[must_use]
    pub fn statistics(&self) -> SnaStatistics {
        self.statistics
    }

    fn place(&self, station: u32, unit: u8) -> Option<usize> {
        let unit = u16::from(unit.checked_sub(1)?);
        let known = station < self.config.pus && unit < self.config.lus_per_pu;
        known.then(|| station as usize * usize::from(self.config.lus_per_pu) + usize::from(unit))
    }

    fn connected(&mut self, station: u32) {
        self.statistics.sessions += 1;
        for unit in 1..=self.config.lus_per_pu {
            self.idle
                .push_back((station, u8::try_from(unit).unwrap_or(u8::MAX)));
        }
    }

    fn answered(&mut self, now: Time, station: u32, unit: u8) {
        let asked = self
            .place(station, unit)
            .and_then(|place| self.asked[place].take());
        let Some(start) = asked else {
            self.statistics.unexpected += 1;
            return;
        };
        self.transactions.push(Transaction {
            flow: 0,
            start,
            end: now,
        });
        self.idle.push_back((station, unit));
    }

    /// When the next frame could leave; idle time is not made up for.
    fn due(&self) -> Time {
        self.next.max(self.ready)
    }

    fn send(&mut self, now: Time, out: &mut Output) {
        let buffer = out.buffer();
        let frame = if self.unconnected > 0 {
            let station = self.config.pus - self.unconnected;
            self.unconnected -= 1;
            connect(buffer, ADAPTER, address(station))
        } else if let Some((station, unit)) = self.idle.pop_front() {
            let ru = self.config.request_bytes as usize;
            if !self.config.waits {
                self.idle.push_back((station, unit));
            } else if let Some(place) = self.place(station, unit) {
                self.asked[place] = Some(now);
            }
            information(buffer, ADAPTER, address(station), 1, unit, ru)
        } else {
            return;
        };
        self.statistics.frames_sent += 1;
        // By the clock a tick can be late; the rate stays.
        self.next = self.due() + SECOND / self.config.frames_per_s;
        out.send(now, HOST_PORT, Frame::new(frame));
    }
}

fn address(station: u32) -> Mac {
    let [_, high, middle, low] = station.to_be_bytes();
    [0x40, 0, 0x30, high, middle, low]
}

impl Node for Stations {
    fn receive(&mut self, now: Time, _port: Port, frame: Frame, _out: &mut Output) {
        self.statistics.frames_received += 1;
        if self.unconnected == 0 && self.idle.is_empty() {
            self.ready = now;
        }
        let Some(header) = read(&frame.bytes) else {
            return;
        };
        let [_, _, _, high, middle, low] = header.destination;
        let station = u32::from_be_bytes([0, high, middle, low]);
        match header.kind {
            Kind::Accepted => self.connected(station),
            Kind::Refused => self.statistics.refused += 1,
            Kind::Information => self.answered(now, station, frame.bytes[DAF]),
            Kind::Connect => {}
        }
    }

    fn tick(&mut self, now: Time, out: &mut Output) {
        if self.next_tick().is_some_and(|due| due <= now) {
            self.send(now, out);
        }
    }

    fn next_tick(&self) -> Option<Time> {
        (self.unconnected > 0 || !self.idle.is_empty()).then(|| self.due())
    }
}
