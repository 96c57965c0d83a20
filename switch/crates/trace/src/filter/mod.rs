//! Which packets are traced: a small language in the manner of pcap filters.
//!
//! ```text
//! text --words--> words --parse--> Expression of Conditions --Filter--> at arrival: frame; at the end: record
//! ```

mod condition;
mod expression;
mod frame;
mod parse;
mod words;

use std::fmt;

use phb_pipeline::trace::Record;

use condition::{AtArrival, AtEnd, Condition};
use expression::Expression;
use frame::Frame;

/// A filter: whether a frame that arrives gets a record, and whether the record of a packet, or of a copy, becomes a
/// trace when it ends. The default wants every packet.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// All of these hold for a frame that is wanted.
    arrival: Vec<Expression<AtArrival>>,
    /// Of frames that are wanted otherwise one of so many.
    every: Option<u64>,
    /// Frames that were wanted but for `every`.
    counted: u64,
    /// All of these hold for a record that becomes a trace.
    end: Vec<Expression<AtEnd>>,
}

/// A filter that is not understood, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterError {
    /// Where in the text, in characters from 0.
    pub at: usize,
    /// What was found, and what was expected.
    pub message: String,
}

impl fmt::Display for FilterError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "character {}: {}", self.at + 1, self.message)
    }
}

impl std::error::Error for FilterError {}

impl Filter {
    /// Reads a filter; an empty one wants every packet.
    pub fn parse(text: &str) -> Result<Self, FilterError> {
        let mut filter = Self::default();
        let Some(whole) = parse::parse(text)? else {
            return Ok(filter);
        };
        for part in whole.conjuncts() {
            match part {
                Expression::Is((at, Condition::Every(count))) => {
                    if filter.every.replace(count).is_some() {
                        return Err(FilterError {
                            at,
                            message: "found a second 'every'; expected one at most".to_owned(),
                        });
                    }
                }
                part if part.any(&|(_, condition)| matches!(condition, Condition::AtEnd(_))) => {
                    filter.end.push(part.only(&|condition| match condition {
                        Condition::AtEnd(condition) => Ok(condition),
                        Condition::AtArrival(_) => Err(MIXED),
                        Condition::Every(_) => Err(EVERY),
                    })?);
                }
                part => filter.arrival.push(part.only(&|condition| match condition {
                    Condition::AtArrival(condition) => Ok(condition),
                    Condition::AtEnd(_) => Err(MIXED),
                    Condition::Every(_) => Err(EVERY),
                })?),
            }
        }
        Ok(filter)
    }

    /// Whether a frame that arrives at a port is wanted, as far as this is known then.
    pub fn wants(&mut self, port: u16, frame: &[u8]) -> bool {
        if !self.arrival.is_empty() {
            let frame = Frame::of(port, frame);
            let holds =
                |part: &Expression<AtArrival>| part.holds(&|condition| condition.holds(&frame));
            if !self.arrival.iter().all(holds) {
                return false;
            }
        }
        let Some(every) = self.every else {
            return true;
        };
        self.counted += 1;
        self.counted.is_multiple_of(every)
    }

    /// Whether a packet of a wanted frame, or a copy of one, is wanted at its end.
    #[must_use]
    pub fn accepts(&self, record: &Record) -> bool {
        let holds = |part: &Expression<AtEnd>| part.holds(&|condition| condition.holds(record));
        self.end.iter().all(holds)
    }
}

const MIXED: &str = "a condition on the frame beside one on what becomes of the packet; expected these two kinds joined \
    by 'and' alone, not within one 'or', 'not' or pair of parentheses";
const EVERY: &str =
    "'every' within an 'or', 'not' or pair of parentheses; expected it joined to the rest by 'and'";

#[cfg(test)]
mod tests;
