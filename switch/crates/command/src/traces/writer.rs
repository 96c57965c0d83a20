//! The thread that writes traces.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use phb_node::SwitchNode;
use phb_node::tracing::{Traced, Watch, unwatch};

use super::Told;
use super::options::Format;
use super::sink::{Sink, Written};
use crate::ending::reason;

const POLL: Duration = Duration::from_millis(100);

/// Bytes that are written at once.
const PIECE: usize = 256 << 10;

/// How far the thread is.
#[derive(Default)]
pub struct Progress {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    is_told_to_end: bool,
    is_over: bool,
    /// As many were written as were asked for.
    is_complete: bool,
    /// Traces that were taken from the queue and are not written yet.
    in_hand: u64,
    /// Traces that could not be written.
    lost: u64,
    /// Traces that were left out before those that were taken, by the switch's count.
    left_out: u64,
}

impl Progress {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether nothing more is written.
    pub fn is_over(&self) -> bool {
        self.lock().is_over
    }

    /// Has the thread end behind what waits, and waits up to `longest` for it. The number of traces that weren't written.
    pub fn close(&self, watch: &Watch, longest: Duration) -> u64 {
        let mut state = self.lock();
        state.is_told_to_end = true;
        let (state, _) = self
            .changed
            .wait_timeout_while(state, longest, |state| !state.is_over)
            .unwrap_or_else(PoisonError::into_inner);
        if state.is_complete {
            // What came later is not wanted.
            return state.lost + state.left_out;
        }
        let waiting = watch.take(Duration::ZERO).len() as u64;
        state.lost + state.in_hand + waiting + watch.left_out()
    }
}

pub struct Writer {
    pub node: Arc<Mutex<SwitchNode>>,
    pub watch: Arc<Watch>,
    pub sink: Sink,
    pub format: Format,
    /// How many are still wanted; None: all.
    pub count: Option<u64>,
    /// Traces that were left out since the last that was written, besides those that the switch counts.
    pub missing: u64,
    /// Where the first failure is told.
    pub told: Option<Told>,
    pub progress: Arc<Progress>,
}

impl Writer {
    pub fn run(mut self) {
        let mut piece = Piece::default();
        loop {
            // Before the queue is looked at, so that nothing that is in it by then is missed.
            let is_last = self.progress.lock().is_told_to_end;
            let wait = if is_last { Duration::ZERO } else { POLL };
            let taken = self.watch.take(wait);
            if taken.is_empty() && is_last {
                break;
            }
            self.progress.lock().in_hand = taken.len() as u64;
            if !self.write(taken, &mut piece) {
                break;
            }
        }
        unwatch(&self.node, &self.watch);
        self.progress.lock().is_over = true;
        self.progress.changed.notify_all();
    }

    /// Writes traces; false if nothing is to be written any more.
    fn write(&mut self, taken: VecDeque<Traced>, piece: &mut Piece) -> bool {
        for traced in taken {
            let missing = std::mem::take(&mut self.missing);
            piece.traces += 1;
            piece.missing += traced.left_out + missing;
            piece.left_out += traced.left_out;
            let bytes = &mut piece.bytes;
            match self.format {
                Format::Json => self.watch.append_json(&traced, missing, bytes),
                Format::Protobuf => self.watch.message(&traced, missing).append_protobuf(bytes),
            }
            self.count = self.count.map(|count| count - 1);
            let is_complete = self.count == Some(0);
            if (is_complete || piece.bytes.len() >= PIECE) && !self.flush(piece) {
                return false;
            }
        }
        self.flush(piece)
    }

    /// Writes what is encoded; false if nothing is to be written any more.
    fn flush(&mut self, piece: &mut Piece) -> bool {
        if piece.traces == 0 {
            return true;
        }
        let written = self.sink.write(&piece.bytes);
        let mut state = self.progress.lock();
        state.in_hand = state.in_hand.saturating_sub(piece.traces);
        state.left_out += piece.left_out;
        let (goes_on, failure) = match written {
            Written::Whole => (true, None),
            Written::Lost(error) => (true, Some(error)),
            Written::Over(error) => (false, Some(error)),
        };
        if failure.is_some() {
            state.lost += piece.traces;
            self.missing += piece.missing + piece.traces;
        }
        state.is_complete = self.count == Some(0);
        let goes_on = goes_on && !state.is_complete;
        drop(state);
        if let Some(error) = failure
            && let Some(told) = self.told.take()
        {
            let what = if goes_on {
                "traces are left out until it takes them again"
            } else {
                "no more is traced"
            };
            told.say(&format!("{}; {what}", reason(&error)));
        }
        piece.clear();
        goes_on
    }
}

/// Traces that are encoded and not written yet.
#[derive(Default)]
struct Piece {
    bytes: Vec<u8>,
    traces: u64,
    /// Those that were left out before them, as they say.
    missing: u64,
    /// The same as the switch's queue says.
    left_out: u64,
}

impl Piece {
    fn clear(&mut self) {
        self.bytes.clear();
        (self.traces, self.missing, self.left_out) = (0, 0, 0);
    }
}
