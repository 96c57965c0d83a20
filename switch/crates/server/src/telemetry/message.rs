//! The messages of `telemetry.proto`, which says what their fields mean.

#[derive(Clone, PartialEq, prost::Message)]
pub struct WatchRequest {
    #[prost(uint64, tag = "1")]
    pub device_id: u64,
    #[prost(uint64, tag = "2")]
    pub interval_ns: u64,
    #[prost(message, repeated, tag = "3")]
    pub ranges: Vec<Range>,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub struct Range {
    #[prost(uint32, tag = "1")]
    pub array_id: u32,
    #[prost(uint32, tag = "2")]
    pub first: u32,
    #[prost(uint32, tag = "3")]
    pub count: u32,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Sample {
    #[prost(uint64, tag = "1")]
    pub time_ns: u64,
    #[prost(uint64, tag = "2")]
    pub instance: u64,
    #[prost(uint64, tag = "3")]
    pub writes: u64,
    #[prost(message, repeated, tag = "4")]
    pub cells: Vec<Cells>,
    #[prost(bool, tag = "5")]
    pub more: bool,
    #[prost(message, repeated, tag = "6")]
    pub written: Vec<Written>,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub struct Written {
    #[prost(uint32, tag = "1")]
    pub id: u32,
    #[prost(uint64, tag = "2")]
    pub writes: u64,
}

#[derive(Clone, PartialEq, prost::Message)]
pub struct Cells {
    #[prost(uint32, tag = "1")]
    pub range: u32,
    #[prost(uint32, repeated, tag = "2")]
    pub index: Vec<u32>,
    #[prost(uint64, repeated, tag = "3")]
    pub packets: Vec<u64>,
    #[prost(uint64, repeated, tag = "4")]
    pub bytes: Vec<u64>,
    #[prost(uint64, repeated, tag = "5")]
    pub value: Vec<u64>,
}
