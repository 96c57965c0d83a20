//! Frames for the integration tests, and a pipeline with a queue that never holds a packet.

pub mod psa;
pub mod repository;

use phb_pipeline::{
    EgressVerdict, Entry, Match, Options, Pipeline, Processed, QueueMetadata, Verdict,
};
use serde_json::Value;

/// Settings for the executor that the tests are for.
pub fn options() -> Options {
    Options {
        executor: crate::EXECUTOR,
        ..Options::default()
    }
}

/// An artifact of `tests/programs`, as text.
pub fn text(name: &str) -> String {
    let path = format!("{}/tests/programs/{name}.json", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// An artifact of `tests/programs`, to be changed.
pub fn artifact(name: &str) -> Value {
    serde_json::from_str(&text(name)).unwrap()
}

/// Loads an artifact, given by its path from the crate's folder.
pub fn load(path: &str) -> Pipeline {
    let path = format!("{}/{path}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    Pipeline::load(&text, options()).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Runs a frame through; the port and the frame that leaves, or why none does.
pub fn run(
    pipeline: &mut Pipeline,
    now: u64,
    port: u16,
    frame: &[u8],
) -> Result<(u16, Vec<u8>), Verdict> {
    let Processed {
        mut packet,
        verdict,
        ..
    } = pipeline.ingress(now, port, frame);
    let Verdict::Unicast {
        port: egress_port, ..
    } = verdict
    else {
        pipeline.recycle(packet);
        return Err(verdict);
    };
    let queue = QueueMetadata {
        egress_port,
        enq_timestamp_ns: now,
        ..QueueMetadata::default()
    };
    if pipeline.egress(now, &mut packet, &queue).verdict == EgressVerdict::Drop {
        pipeline.recycle(packet);
        return Err(Verdict::Drop);
    }
    let mut out = Vec::new();
    pipeline.deparse(&mut packet, &mut out);
    pipeline.recycle(packet);
    Ok((egress_port, out))
}

/// An entry; each key field with its match, each parameter with its value.
pub fn entry(
    matches: &[(&str, Match)],
    priority: i32,
    action: &str,
    params: &[(&str, u128)],
) -> Entry {
    Entry {
        matches: matches
            .iter()
            .map(|(name, matched)| ((*name).to_owned(), matched.clone()))
            .collect(),
        priority,
        action: action.to_owned(),
        params: params
            .iter()
            .map(|(name, value)| ((*name).to_owned(), number(*value)))
            .collect(),
        ..Entry::default()
    }
}

/// A value as P4Runtime carries it.
pub fn number(value: u128) -> Vec<u8> {
    value.to_be_bytes().to_vec()
}

pub fn exact(value: u128) -> Match {
    Match::Exact(number(value))
}

pub fn lpm(value: u128, prefix_len: u32) -> Match {
    Match::Lpm {
        value: number(value),
        prefix_len,
    }
}

pub fn ternary(value: u128, mask: u128) -> Match {
    Match::Ternary {
        value: number(value),
        mask: number(mask),
    }
}

pub fn optional(value: u128) -> Match {
    Match::Optional(Some(number(value)))
}

pub fn range(low: u128, high: u128) -> Match {
    Match::Range {
        low: number(low),
        high: number(high),
    }
}

pub const ETHERNET: [u8; 14] = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];

/// An Ethernet frame with an IPv4 header (its checksum correct) and `payload`.
pub fn ipv4(
    source: u32,
    destination: u32,
    protocol: u8,
    tos: u8,
    options: &[u8],
    payload: &[u8],
) -> Vec<u8> {
    let mut header = vec![
        0x45 + (options.len() / 4) as u8,
        tos,
        0,
        0,
        0x12,
        0x34,
        0x40,
        0,
        64,
        protocol,
        0,
        0,
    ];
    header.extend_from_slice(&source.to_be_bytes());
    header.extend_from_slice(&destination.to_be_bytes());
    header.extend_from_slice(options);
    let total = (header.len() + payload.len()) as u16;
    header[2..4].copy_from_slice(&total.to_be_bytes());
    let sum = checksum(&header);
    header[10..12].copy_from_slice(&sum.to_be_bytes());
    [&ETHERNET[..], &header, payload].concat()
}

/// A TCP segment without options, checksum zero.
pub fn tcp(source_port: u16, destination_port: u16, data: &[u8]) -> Vec<u8> {
    let mut segment = Vec::new();
    segment.extend_from_slice(&source_port.to_be_bytes());
    segment.extend_from_slice(&destination_port.to_be_bytes());
    segment.extend_from_slice(&[0, 0, 0, 1, 0, 0, 0, 2, 0x50, 0x10, 0x20, 0, 0, 0, 0, 0]);
    segment.extend_from_slice(data);
    segment
}

/// RFC 1071, one word after the other.
pub fn checksum(data: &[u8]) -> u16 {
    let mut sum = 0u32;
    for pair in data.chunks(2) {
        sum += u32::from(pair[0]) << 8 | u32::from(pair.get(1).copied().unwrap_or(0));
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}
