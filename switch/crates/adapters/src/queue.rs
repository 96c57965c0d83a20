//! Limits of queues.

/// Whether a queue of that length takes nothing more; without a limit it takes everything.
pub(crate) fn is_full(length: usize, limit: Option<usize>) -> bool {
    limit.is_some_and(|limit| length >= limit)
}
