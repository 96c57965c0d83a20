//! Which packets are traced.

use phb_pipeline::trace::Record;

/// A filter: whether a frame that arrives gets a record, and whether the record of a packet, or of a copy, becomes a
/// trace when it ends.
#[derive(Debug, Clone, Default)]
pub struct Filter {}

/// A filter that is not understood, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilterError {
    /// Where in the text, in characters from 0.
    pub at: usize,
    /// What was found, and what was expected.
    pub message: String,
}

impl std::fmt::Display for FilterError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "character {}: {}", self.at + 1, self.message)
    }
}

impl std::error::Error for FilterError {}

impl Filter {
    /// Reads a filter; an empty one wants every packet.
    pub fn parse(text: &str) -> Result<Self, FilterError> {
        match text.trim() {
            "" => Ok(Self::default()),
            _ => Err(FilterError {
                at: 0,
                message: format!("found {text:?}; expected nothing, as filters are not read yet"),
            }),
        }
    }

    /// Whether a frame that arrives at a port is wanted, as far as this is known then.
    pub fn wants(&mut self, port: u16, frame: &[u8]) -> bool {
        let _ = (port, frame);
        true
    }

    /// Whether a packet of a wanted frame, or a copy of one, is wanted at its end.
    #[must_use]
    pub fn accepts(&self, record: &Record) -> bool {
        let _ = record;
        true
    }
}
