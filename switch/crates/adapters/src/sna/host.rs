//! A mainframe whose application answers every request at once (ITPECHO).

use phb_hosts::sna::{DAF, Kind, OAF, information, read};
use phb_network::{Frame, Node, Output, Port, Time};

use serde::Deserialize;

use super::statistics::SnaStatistics;

/// Parameters of a host with an SNA application.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SnaHostConfig {
    /// Length of the answer to each request, in bytes; `None` answers nothing.
    #[serde(default)]
    pub reply_bytes: Option<u32>,
}

/// A host with any number of ports; it answers by the port of the request.
#[derive(Debug)]
pub struct SnaHost {
    config: SnaHostConfig,
    statistics: SnaStatistics,
}

impl SnaHost {
    /// A host.
    #[must_use]
    pub fn new(config: SnaHostConfig) -> Self {
        Self {
            config,
            statistics: SnaStatistics::default(),
        }
    }

    /// The counters.
    #[must_use]
    pub fn statistics(&self) -> SnaStatistics {
        self.statistics
    }
}

impl Node for SnaHost {
    fn receive(&mut self, now: Time, port: Port, frame: Frame, out: &mut Output) {
        self.statistics.frames_received += 1;
        let asked = read(&frame.bytes).filter(|header| header.kind == Kind::Information);
        let (Some(header), Some(ru)) = (asked, self.config.reply_bytes) else {
            return;
        };
        let (daf, oaf) = (frame.bytes[OAF], frame.bytes[DAF]);
        let reply = information(
            out.buffer(),
            header.source,
            header.destination,
            daf,
            oaf,
            ru as usize,
        );
        self.statistics.frames_sent += 1;
        out.send(now, port, Frame::new(reply));
    }

    fn tick(&mut self, _now: Time, _out: &mut Output) {}

    fn next_tick(&self) -> Option<Time> {
        None
    }
}
