//! Options of traces.

use std::path::PathBuf;

use clap::{Args, ValueHint};

use crate::ending::{Ended, input};
use crate::quoted::quoted;
use crate::values::{number, path, text, word};

/// What traces of packets are written, and where.
#[derive(Debug, Args)]
pub struct TraceOptions {
    #[arg(
        long,
        value_name = "FILE",
        value_parser = path(),
        value_hint = ValueHint::FilePath,
        help = "Write what happens to packets, step by step, to a file, a named pipe, or - for stdout. (default: none)"
    )]
    trace: Option<PathBuf>,
    #[arg(
        long,
        value_name = "FORMAT",
        value_parser = word(&[("json", Format::Json), ("protobuf", Format::Protobuf)], "json or protobuf"),
        help = "How: JSON, a trace a line, or protobuf messages, each behind its length. (default: json, of a file .pb protobuf)"
    )]
    trace_format: Option<Format>,
    #[arg(
        long,
        value_name = "TEXT",
        value_parser = text(),
        help = "Which packets, for example 'ingress-port 1 and dst 10.0.0.0/8', or 'dropped or waited 5ms'. (default: all)"
    )]
    trace_filter: Option<String>,
    #[arg(
        long,
        value_name = "N",
        value_parser = number::<u64>(1..=u64::MAX.into()),
        help = "Stop after so many traces. (default: never)"
    )]
    trace_count: Option<u64>,
    #[arg(
        long,
        value_name = "N",
        value_parser = number::<u32>(1..=65_535),
        help = "Bytes of each frame in its trace. (default: those that the program parses as headers)"
    )]
    trace_frame_bytes: Option<u32>,
}

/// How traces are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A line each.
    Json,
    /// Messages of trace.proto, each behind its length as a varint.
    Protobuf,
}

/// Where traces are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    Stdout,
    File(PathBuf),
}

/// The traces of packets that are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    pub place: Place,
    pub format: Format,
    /// It can be read: this has been tried.
    pub filter: String,
    /// None: without end.
    pub count: Option<u64>,
    /// None: what the program parses as headers.
    pub frame_bytes: Option<u32>,
}

/// Checks the options, and adds notices about those without effect.
pub fn read(options: TraceOptions, notices: &mut Vec<String>) -> Result<Option<Wanted>, Ended> {
    let Some(path) = options.trace else {
        let of_traces = [
            ("trace-format", options.trace_format.is_some()),
            ("trace-filter", options.trace_filter.is_some()),
            ("trace-count", options.trace_count.is_some()),
            ("trace-frame-bytes", options.trace_frame_bytes.is_some()),
        ];
        let ignored = of_traces.iter().filter(|(_, is_given)| *is_given);
        notices.extend(ignored.map(|(id, _)| format!("--{id} ignored (there is no --trace)")));
        return Ok(None);
    };
    let is_protobuf = path.extension().is_some_and(|extension| extension == "pb");
    let format = options.trace_format.unwrap_or(match is_protobuf {
        true => Format::Protobuf,
        false => Format::Json,
    });
    let filter = options.trace_filter.unwrap_or_default();
    if let Err(error) = phb_trace::Filter::parse(&filter) {
        return input(format!("--trace-filter {}: {error}", quoted(&filter)));
    }
    Ok(Some(Wanted {
        place: match path.as_os_str() == "-" {
            true => Place::Stdout,
            false => Place::File(path),
        },
        format,
        filter,
        count: options.trace_count,
        frame_bytes: options.trace_frame_bytes,
    }))
}
