//! Reads records: numbers become steps with the names of the program.

use super::reader::Reader;
use super::step::{Step, What};
use crate::program::Dictionary;
use crate::record::Record;

impl Dictionary {
    /// The steps of a packet, in the order in which they happened.
    #[must_use]
    pub fn steps<'a>(&'a self, record: &'a Record) -> Vec<Step<'a>> {
        let mut steps = Vec::with_capacity(record.words.len() / 4);
        let mut reader = Reader::new(self, &record.words);
        let mut happened = record.happened.iter().peekable();
        loop {
            while let Some((_, time, happening)) =
                happened.next_if(|(at, ..)| *at <= reader.at() || reader.is_at_end())
            {
                reader.time = *time;
                steps.push(Step {
                    time: *time,
                    part: happening.part(),
                    source: None,
                    what: What::Happened(happening),
                });
            }
            match reader.next() {
                Some(step) => steps.extend(step),
                None => return steps,
            }
        }
    }
}
