//! The record of one packet: numbers, written by the packet thread.

use super::step::Happening;
use crate::time::Time;

/// What happened to one packet so far. It goes with the packet, and to its copies as a new one.
#[derive(Debug, Clone, Default)]
pub struct Record {
    /// Its number: from 1, in the order of arrivals and copies of a switch.
    pub number: u64,
    /// The number of the trace whose packet this one is a copy of; 0 if it arrived.
    pub of: u64,
    /// What happened outside of the program, each with the number of words written before it.
    pub(crate) happened: Vec<(usize, Time, Happening)>,
    /// What happened inside.
    pub(crate) words: Vec<u64>,
    /// Steps that found no room.
    pub(crate) left_out: u32,
}

impl Record {
    /// An empty record.
    #[must_use]
    pub fn new(number: u64, of: u64) -> Self {
        Self {
            number,
            of,
            ..Self::default()
        }
    }

    /// Notes what happens outside of the program, at `time` (ns).
    pub fn note(&mut self, time: Time, happening: Happening) {
        self.happened.push((self.words.len(), time, happening));
    }

    /// What has happened outside of the program so far, with times (ns).
    pub fn happened(&self) -> impl DoubleEndedIterator<Item = (Time, &Happening)> {
        self.happened.iter().map(|(_, time, what)| (*time, what))
    }

    /// Steps that found no room, because the record is bounded.
    #[must_use]
    pub fn left_out(&self) -> u32 {
        self.left_out
    }

    /// Empties it, to be used for another packet.
    pub fn clear(&mut self, number: u64, of: u64) {
        (self.number, self.of, self.left_out) = (number, of, 0);
        self.happened.clear();
        self.words.clear();
    }
}
