//! Cisco SNA (CSNA): the CIP ends the stations' LLC2 connections and takes their frames to VTAM.
//!
//! Every LLC2 connection (physical unit) takes memory of the CIP. Beyond their limit
//! (`max-llc2-sessions`) a station is answered "disconnected mode".

use std::collections::HashSet;

use phb_hosts::sna::{self, Kind, Mac};
use phb_network::Frame;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    ToHost,
    /// The frame has become the answer and goes back.
    Answered,
    NoSession,
}

/// The LLC2 connections of an adapter, by station and channel.
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

    /// Handles a frame from the network; the adapter's own answer replaces it.
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
