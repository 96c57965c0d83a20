//! The names of a program's parts, to read records with.

use super::record::Record;
use super::step::{Step, What};

/// Names, widths and sources of one loaded program. It is shared by all who read its traces.
#[derive(Debug, Default)]
pub struct Dictionary {}

impl Dictionary {
    /// The steps of a packet, in the order in which they happened.
    #[must_use]
    pub fn steps<'a>(&'a self, record: &'a Record) -> Vec<Step<'a>> {
        let happened = record.happened();
        let steps = happened.map(|(time, happening)| Step {
            time,
            part: happening.part(),
            source: None,
            what: What::Happened(happening),
        });
        steps.collect()
    }
}
