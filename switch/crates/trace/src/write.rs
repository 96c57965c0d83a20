//! Traces in files and streams.

use prost::Message as _;

use crate::message::Trace;

impl Trace {
    /// Appends a line of JSON, with its end.
    pub fn append_json(&self, to: &mut Vec<u8>) {
        // Neither writing to memory nor these types can fail.
        if serde_json::to_writer(&mut *to, self).is_ok() {
            to.push(b'\n');
        }
    }

    /// Appends the message, with its length in front as a varint.
    pub fn append_protobuf(&self, to: &mut Vec<u8>) {
        // Memory of a vector grows as needed.
        let _ = self.encode_length_delimited(to);
    }
}
