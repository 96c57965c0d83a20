//! Traces as protobuf, in files and streams.

use prost::Message as _;

use crate::message::Trace;

impl Trace {
    /// Appends the message, with its length in front as a varint.
    pub fn append_protobuf(&self, to: &mut Vec<u8>) {
        // Memory of a vector grows as needed.
        let _ = self.encode_length_delimited(to);
    }
}
