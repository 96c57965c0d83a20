//! Memory of records, which goes round between the switch's thread and the readers of traces.

use std::sync::{Mutex, PoisonError, TryLockError};

use phb_pipeline::trace::Record;

/// Records that are kept for reuse: at most some 20 MB.
const RECORDS: usize = 256;

#[derive(Debug, Default)]
pub(super) struct Pool {
    spare: Mutex<Vec<Record>>,
}

impl Pool {
    /// An empty record. The switch's thread does not wait for a reader that gives one back.
    pub(super) fn get(&self, number: u64, of: u64) -> Box<Record> {
        let spare = match self.spare.try_lock() {
            Ok(mut spare) => spare.pop(),
            Err(TryLockError::Poisoned(spare)) => spare.into_inner().pop(),
            Err(TryLockError::WouldBlock) => None,
        };
        let mut record = Box::new(spare.unwrap_or_default());
        record.clear(number, of);
        record
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        let spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        spare.len()
    }

    pub(super) fn put(&self, mut record: Record) {
        record.clear(0, 0);
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.len() < RECORDS {
            spare.push(record);
        }
    }
}
