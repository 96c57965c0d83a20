//! The record of one packet: numbers, written by the packet thread.

use std::sync::Arc;

use super::dictionary::Dictionary;
use super::step::Happening;
use crate::time::Time;

/// What may happen outside of the program before steps are left out: a packet may be copied 16,384 times.
pub const HAPPENINGS: usize = 1024;

/// What the switch that carries a record keeps with it; the program does not look at it.
#[derive(Debug, Clone, Default)]
pub struct Carried {
    /// Who wants it, a bit for each.
    pub watchers: u64,
    /// The names of the program that writes it.
    pub dictionary: Option<Arc<Dictionary>>,
    /// Bytes that are counted for it while the packet waits.
    pub charged: usize,
    /// Packets that had left the port's queues when it was queued, and their bytes.
    pub served: (u64, u64),
}

/// What happened to one packet so far. It goes with the packet, and to its copies as a new one.
#[derive(Debug, Clone, Default)]
pub struct Record {
    /// Its number: from 1, in the order of arrivals and copies of a switch.
    pub number: u64,
    /// The number of the trace whose packet this one is a copy of; 0 if it arrived.
    pub of: u64,
    /// What the switch keeps with it.
    pub carried: Carried,
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

    /// Notes what happens outside of the program, at `time` (ns). Of more than [`HAPPENINGS`] the
    /// packet's end is noted all the same.
    pub fn note(&mut self, time: Time, happening: Happening) {
        let ends = matches!(
            happening,
            Happening::Departed { .. } | Happening::Dropped { .. }
        );
        if self.happened.len() < HAPPENINGS || ends {
            self.happened.push((self.words.len(), time, happening));
        } else {
            self.left_out = self.left_out.saturating_add(1);
        }
    }

    /// Bytes of memory that it takes, about.
    #[must_use]
    pub fn memory(&self) -> usize {
        let of = |happening: &Happening| match happening {
            Happening::Arrived { bytes, .. } | Happening::Departed { bytes, .. } => bytes.len(),
            Happening::Enqueued { behind, .. } | Happening::Dequeued { behind, .. } => {
                size_of_val(&behind[..])
            }
            _ => 0,
        };
        let apart: usize = self.happened.iter().map(|(_, _, what)| of(what)).sum();
        size_of::<Self>() + size_of_val(&self.words[..]) + size_of_val(&self.happened[..]) + apart
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
        self.carried = Carried::default();
        self.happened.clear();
        self.words.clear();
    }
}
