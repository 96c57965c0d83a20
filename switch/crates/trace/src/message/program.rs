//! Steps inside of the program.

#[cfg(test)]
use super::hex::{hex, hex_all};

messages! {
    /// A field, a part of a key or a parameter of an action, with its value.
    Field {
        #[prost(string, tag = "1")]
        name: String,
        #[prost(bytes = "vec", tag = "2")]
        #[serde(serialize_with = "hex")]
        value: Vec<u8>,
    }
    /// A parser enters a state.
    State {
        #[prost(string, tag = "1")]
        name: String,
    }
    /// A header is extracted.
    Extract {
        #[prost(string, tag = "1")]
        header: String,
        #[prost(uint32, tag = "2")]
        offset: u32,
        #[prost(uint32, tag = "3")]
        length: u32,
        #[prost(message, repeated, tag = "4")]
        fields: Vec<Field>,
    }
    /// A parser goes on, or ends.
    Select {
        #[prost(bytes = "vec", repeated, tag = "1")]
        #[serde(serialize_with = "hex_all")]
        keys: Vec<Vec<u8>>,
        #[prost(string, tag = "2")]
        next: String,
    }
    /// A parser ends with an error.
    ParserError {
        #[prost(string, tag = "1")]
        error: String,
    }
    /// Verified, or updated: the part says which.
    Checksum {
        #[prost(string, tag = "1")]
        field: String,
        #[prost(bytes = "vec", tag = "2")]
        #[serde(serialize_with = "hex")]
        computed: Vec<u8>,
        #[prost(bytes = "vec", tag = "3")]
        #[serde(serialize_with = "hex")]
        carried: Vec<u8>,
    }
    /// A condition decides.
    Condition {
        #[prost(string, tag = "1")]
        name: String,
        #[prost(bool, tag = "2")]
        holds: bool,
    }
    /// A table is applied.
    Table {
        #[prost(string, tag = "1")]
        name: String,
        #[prost(message, repeated, tag = "2")]
        key: Vec<Field>,
        #[prost(uint32, tag = "3")]
        entries: u32,
        #[prost(message, optional, tag = "4")]
        hit: Option<Entry>,
        #[prost(message, repeated, tag = "5")]
        others: Vec<Entry>,
        #[prost(uint32, tag = "6")]
        others_left_out: u32,
        #[prost(uint32, tag = "7")]
        member_plus_1: u32,
        #[prost(string, tag = "8")]
        action: String,
        #[prost(message, repeated, tag = "9")]
        parameters: Vec<Field>,
        #[prost(message, optional, tag = "10")]
        direct_counter: Option<Counter>,
        #[prost(message, optional, tag = "11")]
        direct_meter: Option<Meter>,
    }
    /// An entry that matches.
    Entry {
        #[prost(uint32, tag = "1")]
        number: u32,
        #[prost(int32, optional, tag = "2")]
        priority: Option<i32>,
        #[prost(message, repeated, tag = "3")]
        matches: Vec<Match>,
        #[prost(string, tag = "4")]
        action: String,
        #[prost(message, repeated, tag = "5")]
        parameters: Vec<Field>,
    }
    /// How an entry matches one field of the key.
    Match {
        #[prost(string, tag = "1")]
        kind: String,
        #[prost(bytes = "vec", tag = "2")]
        #[serde(serialize_with = "hex")]
        value: Vec<u8>,
        #[prost(bytes = "vec", tag = "3")]
        #[serde(serialize_with = "hex")]
        second: Vec<u8>,
        #[prost(uint32, tag = "4")]
        length: u32,
    }
    /// An action is called without a table.
    Call {
        #[prost(string, tag = "1")]
        action: String,
    }
    /// A primitive of the artifact begins; what it does are the steps after it.
    Statement {
        #[prost(string, tag = "1")]
        primitive: String,
    }
    /// A field has a new value.
    Assign {
        #[prost(string, tag = "1")]
        field: String,
        #[prost(bytes = "vec", tag = "2")]
        #[serde(serialize_with = "hex")]
        value: Vec<u8>,
    }
    /// A header becomes valid or invalid, or has the fields of another.
    Header {
        #[prost(string, tag = "1")]
        name: String,
        #[prost(bool, tag = "2")]
        valid: bool,
        #[prost(message, repeated, tag = "3")]
        fields: Vec<Field>,
    }
    /// A register is read or written.
    Register {
        #[prost(string, tag = "1")]
        name: String,
        #[prost(uint64, tag = "2")]
        index: u64,
        #[prost(bytes = "vec", tag = "3")]
        #[serde(serialize_with = "hex")]
        before: Vec<u8>,
        #[prost(bytes = "vec", tag = "4")]
        #[serde(serialize_with = "hex")]
        after: Vec<u8>,
        #[prost(bool, tag = "5")]
        written: bool,
    }
    /// A counter counts.
    Counter {
        #[prost(string, tag = "1")]
        name: String,
        #[prost(uint64, tag = "2")]
        index: u64,
        #[prost(bool, tag = "3")]
        beyond: bool,
        #[prost(uint64, tag = "4")]
        packets_before: u64,
        #[prost(uint64, tag = "5")]
        packets_after: u64,
        #[prost(uint64, tag = "6")]
        bytes_before: u64,
        #[prost(uint64, tag = "7")]
        bytes_after: u64,
    }
    /// A meter colours.
    Meter {
        #[prost(string, tag = "1")]
        name: String,
        #[prost(uint64, tag = "2")]
        index: u64,
        #[prost(string, tag = "3")]
        colour: String,
        #[prost(bool, tag = "4")]
        without_rates: bool,
        #[prost(uint64, tag = "5")]
        committed_before: u64,
        #[prost(uint64, tag = "6")]
        committed_after: u64,
        #[prost(uint64, tag = "7")]
        second_before: u64,
        #[prost(uint64, tag = "8")]
        second_after: u64,
    }
    /// An extern gives a result.
    Extern {
        #[prost(string, tag = "1")]
        name: String,
        #[prost(bytes = "vec", tag = "2")]
        #[serde(serialize_with = "hex")]
        result: Vec<u8>,
    }
    /// A request to the switch.
    Request {
        #[prost(string, tag = "1")]
        name: String,
        #[prost(uint64, tag = "2")]
        number: u64,
    }
    /// A header is written to the frame.
    Emit {
        #[prost(string, tag = "1")]
        header: String,
        #[prost(uint32, tag = "2")]
        offset: u32,
        #[prost(uint32, tag = "3")]
        length: u32,
    }
}
