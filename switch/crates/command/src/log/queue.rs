//! Lines on their way to the thread that writes them.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::format::Line;

const CAPACITY: usize = 16_384;

/// A bounded queue. Its lock is held for as long as it takes to move a line.
#[derive(Default)]
pub struct Queue {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    lines: VecDeque<Line>,
    /// Lines that found no room since the last that did.
    lost: u64,
    closed: bool,
    finished: bool,
}

impl Queue {
    /// Hands a line over, if there is room.
    pub fn put(&self, line: Line) {
        let mut state = self.lock();
        if state.closed {
            return;
        }
        if state.lines.len() >= CAPACITY {
            state.lost += 1;
            return;
        }
        state.lines.push_back(line);
        drop(state);
        self.changed.notify_all();
    }

    /// Waits for the next line; also gives the number of lines lost since the last. None if closed.
    pub fn take(&self) -> Option<(Line, u64)> {
        let state = self.lock();
        let mut state = self
            .changed
            .wait_while(state, |state| state.lines.is_empty() && !state.closed)
            .unwrap_or_else(PoisonError::into_inner);
        let line = state.lines.pop_front()?;
        let lost = std::mem::take(&mut state.lost);
        Some((line, lost))
    }

    pub fn finish(&self) {
        self.lock().finished = true;
        self.changed.notify_all();
    }

    /// Takes no more lines; waits up to `longest` for the rest to be written. Whether they were.
    pub fn close(&self, longest: Duration) -> bool {
        let mut state = self.lock();
        state.closed = true;
        self.changed.notify_all();
        let (state, _) = self
            .changed
            .wait_timeout_while(state, longest, |state| !state.finished)
            .unwrap_or_else(PoisonError::into_inner);
        state.finished
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
