//! The result of a packet that needs no look-up: one place per table, which native code reads and each
//! write refreshes.

use super::Table;

/// A table's state for native code.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Site {
    /// [`Site::LOOK_UP`], [`Site::MISSED`] or [`Site::PASSED`].
    pub(crate) state: u32,
    /// The outcome of a miss.
    pub(crate) outcome: u32,
    /// Address of the runtime data of a miss.
    pub(crate) parameters: usize,
}

impl Site {
    /// There are entries.
    pub(crate) const LOOK_UP: u32 = 0;
    /// No entries: every packet takes the default action.
    pub(crate) const MISSED: u32 = 1;
    /// No entries, and a default action that does nothing, or none.
    pub(crate) const PASSED: u32 = 2;
}

impl Table {
    /// Writes the site anew, after entries came or went or the default action changed.
    pub(super) fn refresh_site(&mut self) {
        let missed = self.missed();
        self.site = Site {
            outcome: missed.outcome,
            parameters: missed.parameters.as_ptr().expose_provenance(),
            state: match (self.is_empty(), self.passed) {
                (false, _) => Site::LOOK_UP,
                (true, None) => Site::MISSED,
                (true, Some(_)) => Site::PASSED,
            },
        };
    }
}
