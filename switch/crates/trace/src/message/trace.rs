//! A trace and its steps.

use super::program::{
    Assign, Call, Checksum, Condition, Counter, Emit, Extern, Extract, Header, Meter, ParserError,
    Register, Request, Select, State, Statement, Table,
};
use super::switch::{Arrived, Copied, Departed, Dequeued, Dropped, Enqueued, Sending};

messages! {
    /// What happened to one packet.
    Trace {
        #[prost(uint64, tag = "1")]
        number: u64,
        #[prost(uint64, tag = "2")]
        of: u64,
        #[prost(string, tag = "3")]
        switch: String,
        #[prost(uint64, tag = "4")]
        time_ns: u64,
        #[prost(message, repeated, tag = "5")]
        steps: Vec<Step>,
        #[prost(uint32, tag = "6")]
        steps_left_out: u32,
        #[prost(uint64, tag = "7")]
        traces_left_out: u64,
    }
    /// A place in the P4 sources.
    Source {
        #[prost(string, tag = "1")]
        file: String,
        #[prost(uint32, tag = "2")]
        line: u32,
        #[prost(uint32, tag = "3")]
        column: u32,
        #[prost(string, tag = "4")]
        fragment: String,
    }
    /// One step of a packet.
    Step {
        #[prost(uint64, tag = "1")]
        time_ns: u64,
        #[prost(string, tag = "2")]
        part: String,
        #[prost(message, optional, tag = "3")]
        source: Option<Source>,
        #[prost(oneof = "What", tags = "10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33")]
        #[serde(flatten)]
        what: Option<What>,
    }
}

oneof! {
    /// What a step does.
    What {
        #[prost(message, tag = "10")]
        Arrived(Arrived),
        #[prost(message, tag = "11")]
        State(State),
        #[prost(message, tag = "12")]
        Extract(Extract),
        #[prost(message, tag = "13")]
        Select(Select),
        #[prost(message, tag = "14")]
        ParserError(ParserError),
        #[prost(message, tag = "15")]
        Checksum(Checksum),
        #[prost(message, tag = "16")]
        Condition(Condition),
        #[prost(message, tag = "17")]
        Table(Table),
        #[prost(message, tag = "18")]
        Call(Call),
        #[prost(message, tag = "19")]
        Statement(Statement),
        #[prost(message, tag = "20")]
        Assign(Assign),
        #[prost(message, tag = "21")]
        Header(Header),
        #[prost(message, tag = "22")]
        Register(Register),
        #[prost(message, tag = "23")]
        Counter(Counter),
        #[prost(message, tag = "24")]
        Meter(Meter),
        #[prost(message, tag = "25")]
        Extern(Extern),
        #[prost(message, tag = "26")]
        Request(Request),
        #[prost(message, tag = "27")]
        Emit(Emit),
        #[prost(message, tag = "28")]
        Enqueued(Enqueued),
        #[prost(message, tag = "29")]
        Dequeued(Dequeued),
        #[prost(message, tag = "30")]
        Sending(Sending),
        #[prost(message, tag = "31")]
        Departed(Departed),
        #[prost(message, tag = "32")]
        Dropped(Dropped),
        #[prost(message, tag = "33")]
        Copied(Copied),
    }
}
