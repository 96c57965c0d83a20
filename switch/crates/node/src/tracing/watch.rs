//! Finished traces on their way to those who asked for them.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use phb_pipeline::trace::{Dictionary, Record};
use phb_trace::About;
use phb_trace::message::Trace;

use super::pool::Pool;
use crate::packet_in::Listener;

/// Traces that wait for a reader, unless it says [how many](Watch::hold); further ones are left out.
pub const TRACES: usize = 16_384;

/// Bytes of memory that they may take.
pub const BYTES: usize = 64 << 20;

/// A packet's record that is complete. All who want it share it; its memory is used again.
#[derive(Debug)]
pub struct Finished {
    record: Record,
    pool: Arc<Pool>,
}

impl Finished {
    pub(super) fn new(record: Record, pool: &Arc<Pool>) -> Self {
        Self {
            record,
            pool: Arc::clone(pool),
        }
    }

    /// What was noted.
    #[must_use]
    pub fn record(&self) -> &Record {
        &self.record
    }
}

impl Drop for Finished {
    fn drop(&mut self) {
        self.pool.put(std::mem::take(&mut self.record));
    }
}

/// A trace for one reader.
#[derive(Debug)]
pub struct Traced {
    /// The record.
    pub finished: Arc<Finished>,
    /// Traces that this reader did not get before this one.
    pub left_out: u64,
}

struct Queue {
    /// Most traces, and most bytes.
    most: (usize, usize),
    traced: VecDeque<Traced>,
    bytes: usize,
    /// Left out since the last that waits.
    missing: u64,
    left_out: u64,
    listener: Option<Listener>,
}

impl Default for Queue {
    fn default() -> Self {
        Self {
            most: (TRACES, BYTES),
            traced: VecDeque::new(),
            bytes: 0,
            missing: 0,
            left_out: 0,
            listener: None,
        }
    }
}

/// A bounded queue between the switch's thread and one reader. The switch never waits for it: what finds no room is
/// left out, and counted.
pub struct Watch {
    switch: String,
    frame_bytes: u32,
    queue: Mutex<Queue>,
    arrived: Condvar,
}

impl fmt::Debug for Watch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Watch").finish_non_exhaustive()
    }
}

impl Watch {
    pub(super) fn new(switch: String, frame_bytes: u32) -> Self {
        Self {
            switch,
            frame_bytes,
            queue: Mutex::default(),
            arrived: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn frame_bytes(&self) -> u32 {
        self.frame_bytes
    }

    pub(super) fn push(&self, finished: Arc<Finished>, bytes: usize) {
        let mut queue = self.lock();
        let (traces, most_bytes) = queue.most;
        if queue.traced.len() >= traces || queue.bytes + bytes > most_bytes {
            queue.missing += 1;
            queue.left_out += 1;
            return;
        }
        let first = queue.traced.is_empty();
        queue.bytes += bytes;
        let left_out = std::mem::take(&mut queue.missing);
        queue.traced.push_back(Traced { finished, left_out });
        if first {
            let listener = queue.listener.clone();
            drop(queue);
            self.arrived.notify_one();
            if let Some(tell) = listener {
                tell();
            }
        }
    }

    /// Notes a packet that is wanted and can't be traced.
    pub(super) fn leave_out(&self) {
        let mut queue = self.lock();
        queue.missing += 1;
        queue.left_out += 1;
    }

    /// Sets how many traces may wait, and how many bytes of memory they may take.
    pub fn hold(&self, traces: usize, bytes: usize) {
        self.lock().most = (traces, bytes);
    }

    /// Takes all traces, after waiting up to `timeout` for the first.
    #[must_use]
    pub fn take(&self, timeout: Duration) -> VecDeque<Traced> {
        let mut queue = self.lock();
        if !timeout.is_zero() {
            let empty = |queue: &mut Queue| queue.traced.is_empty();
            let waited = self.arrived.wait_timeout_while(queue, timeout, empty);
            (queue, _) = waited.unwrap_or_else(PoisonError::into_inner);
        }
        queue.bytes = 0;
        std::mem::take(&mut queue.traced)
    }

    /// Gives `show` what a trace that was taken here is made of. The reader itself has lost `missing` before it.
    fn with<T>(
        &self,
        traced: &Traced,
        missing: u64,
        show: impl FnOnce(&Dictionary, &Record, &About<'_>) -> T,
    ) -> T {
        let record = traced.finished.record();
        let about = About {
            switch: &self.switch,
            frame_bytes: self.frame_bytes,
            left_out: traced.left_out.saturating_add(missing),
        };
        match &record.carried.dictionary {
            Some(dictionary) => show(dictionary, record, &about),
            None => show(&Dictionary::default(), record, &about),
        }
    }

    /// The message of a trace that was taken here, before which the reader itself has lost `missing` others.
    #[must_use]
    pub fn message(&self, traced: &Traced, missing: u64) -> Trace {
        self.with(traced, missing, Trace::of)
    }

    /// Appends the same as a line of JSON, with its end.
    pub fn append_json(&self, traced: &Traced, missing: u64, to: &mut Vec<u8>) {
        self.with(traced, missing, |dictionary, record, about| {
            phb_trace::append_json(dictionary, record, about, to);
        });
    }

    /// Traces that this reader did not get, for too many waited or were under way.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.lock().left_out
    }

    /// Sets the function to call when there is something to take.
    pub fn set_listener(&self, listener: Option<Listener>) {
        self.lock().listener = listener;
    }
}
