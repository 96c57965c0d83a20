//! A mainframe with an application that answers every request at once (ITPECHO).

use phb_network::{Frame, Node, Output, Port, Time};

use super::{DAF, Kind, OAF, SnaStatistics, information, read};

/// A host as a node with any number of ports; the answer leaves by the port of the request.
#[derive(Debug)]
pub struct SnaHost {
    reply_bytes: Option<usize>,
    statistics: SnaStatistics,
}

impl SnaHost {
    /// A host that answers `reply_bytes` to each request; with `None` it only takes what comes.
    #[must_use]
    pub fn new(reply_bytes: Option<usize>) -> Self {
        Self {
            reply_bytes,
            statistics: SnaStatistics::default(),
        }
    }

    /// What the host has counted.
    #[must_use]
    pub fn statistics(&self) -> SnaStatistics {
        self.statistics
    }
}

impl Node for SnaHost {
    fn receive(&mut self, now: Time, port: Port, frame: Frame, out: &mut Output) {
        self.statistics.frames_received += 1;
        let asked = read(&frame.bytes).filter(|header| header.kind == Kind::Information);
        let (Some(header), Some(ru)) = (asked, self.reply_bytes) else {
            return;
        };
        let (daf, oaf) = (frame.bytes[OAF], frame.bytes[DAF]);
        let reply = information(
            out.buffer(),
            header.source,
            header.destination,
            daf,
            oaf,
            ru,
        );
        self.statistics.frames_sent += 1;
        out.send(now, port, Frame::new(reply));
    }

    fn tick(&mut self, _now: Time, _out: &mut Output) {}

    fn next_tick(&self) -> Option<Time> {
        None
    }
}
