//! Cisco SNA (CSNA): the CIP ends the LLC2 connections of the stations and takes their frames to VTAM.
//!
//! Every LLC2 connection, hence every physical unit, takes memory of the CIP's own: there is a limit to them
//! (`max-llc2-sessions`), and a station beyond it is answered "disconnected mode".

use std::collections::HashSet;

use phb_hosts::sna::{self, Kind, Mac};
use phb_network::Frame;

/// The outcome for a frame that has come from the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// It goes on to the host.
    ToHost,
    /// It has become the answer and goes back.
    Answered,
    /// It belongs to no LLC2 connection.
    NoSession,
}

/// The LLC2 connections of an adapter: which station, on which channel.
#[derive(Default)]
pub(crate) struct Sessions {
    open: HashSet<(u16, Mac)>,
    refused: u64,
}

impl Sessions {
    pub fn open(&self) -> u64 {
        self.open.len() as u64
    }

    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Looks at a frame from the network; what the adapter answers itself is put in its place.
    pub fn take(&mut self, channel: u16, limit: usize, frame: &mut Frame) -> Verdict {
        let Some(header) = sna::read(&frame.bytes) else {
            return Verdict::NoSession;
        };
        let station = (channel, header.source);
        match header.kind {
            Kind::Connect => {
                let accepted = self.open.contains(&station) || self.open.len() < limit;
                let answer = if accepted {
                    self.open.insert(station);
                    Kind::Accepted
                } else {
                    self.refused += 1;
                    Kind::Refused
                };
                sna::answer(&mut frame.bytes, answer);
                Verdict::Answered
            }
            Kind::Information if !self.open.contains(&station) => Verdict::NoSession,
            Kind::Information | Kind::Accepted | Kind::Refused => Verdict::ToHost,
        }
    }
}
