//! Messages of what the switch and its program have noted.

use phb_pipeline::trace as noted;
use phb_pipeline::trace::{Dictionary, Happening, Matched, Named, Record, Value};

use crate::message::{self, Field, Step, Trace, What};

/// What a trace says besides its steps.
#[derive(Debug, Clone, Copy, Default)]
pub struct About<'a> {
    /// The switch's name.
    pub switch: &'a str,
    /// Bytes of each frame that are shown, counted from its start; 0: those that the program parses as headers, or
    /// writes as headers.
    pub frame_bytes: u32,
    /// Traces that were lost before this one.
    pub left_out: u64,
}

impl Trace {
    /// The trace of a finished record. `dictionary` is that of the program that wrote it.
    #[must_use]
    pub fn of(dictionary: &Dictionary, record: &Record, about: &About<'_>) -> Self {
        let steps = dictionary.steps(record);
        let kept = Kept::of(record, about.frame_bytes);
        Self {
            number: record.number,
            of: record.of,
            switch: about.switch.to_owned(),
            time_ns: steps.first().map_or(0, |step| step.time),
            steps: steps.iter().map(|step| step_of(step, &kept)).collect(),
            steps_left_out: record.left_out(),
            traces_left_out: about.left_out,
        }
    }
}

/// Bytes of the frames that are shown.
pub(crate) struct Kept {
    pub(crate) arrived: usize,
    pub(crate) departed: usize,
}

impl Kept {
    pub(crate) fn of(record: &Record, frame_bytes: u32) -> Self {
        let (arrived, departed) = match frame_bytes {
            0 => (record.parsed().unwrap_or(0), record.emitted().unwrap_or(0)),
            bytes => (bytes, bytes),
        };
        Self {
            arrived: arrived as usize,
            departed: departed as usize,
        }
    }
}

/// Big-endian, as few bytes as the width takes; at least one.
fn bytes(value: Value<'_>) -> Vec<u8> {
    match value.bits {
        0 => vec![0],
        _ => value.bytes().collect(),
    }
}

fn field(named: &Named<'_>) -> Field {
    Field {
        name: named.name.to_owned(),
        value: bytes(named.value),
    }
}

fn fields(named: &[Named<'_>]) -> Vec<Field> {
    named.iter().map(field).collect()
}

fn source(source: &noted::Source) -> message::Source {
    message::Source {
        file: source.file.clone(),
        line: source.line,
        column: source.column,
        fragment: source.fragment.clone(),
    }
}

fn matched(matched: &Matched<'_>) -> message::Match {
    let (kind, value, second, length) = match *matched {
        Matched::Exact(value) => ("exact", value, None, 0),
        Matched::Prefix(value, length) => ("prefix", value, None, length),
        Matched::Ternary(value, mask) => ("ternary", value, Some(mask), 0),
        Matched::Range(low, high) => ("range", low, Some(high), 0),
    };
    message::Match {
        kind: kind.to_owned(),
        value: bytes(value),
        second: second.map(bytes).unwrap_or_default(),
        length,
    }
}

fn entry(entry: &noted::EntryStep<'_>) -> message::Entry {
    message::Entry {
        number: entry.number,
        priority: entry.priority,
        matches: entry.matches.iter().map(matched).collect(),
        action: entry.action.unwrap_or_default().to_owned(),
        parameters: fields(&entry.parameters),
    }
}

fn counter(name: &str, index: u64, counts: Option<[(u64, u64); 2]>) -> message::Counter {
    let [before, after] = counts.unwrap_or_default();
    message::Counter {
        name: name.to_owned(),
        index,
        beyond: counts.is_none(),
        packets_before: before.0,
        packets_after: after.0,
        bytes_before: before.1,
        bytes_after: after.1,
    }
}

fn meter(meter: &noted::MeterStep<'_>) -> message::Meter {
    let [committed_before, committed_after] = meter.committed.unwrap_or_default();
    let [second_before, second_after] = meter.second.unwrap_or_default();
    message::Meter {
        name: meter.name.to_owned(),
        index: meter.index,
        colour: colour(meter.colour).to_owned(),
        without_rates: meter.committed.is_none(),
        committed_before,
        committed_after,
        second_before,
        second_after,
    }
}

pub(crate) fn colour(colour: u64) -> &'static str {
    match colour {
        0 => "green",
        1 => "yellow",
        _ => "red",
    }
}

fn table(table: &noted::TableStep<'_>) -> message::Table {
    message::Table {
        name: table.name.to_owned(),
        key: fields(&table.key),
        entries: table.entries,
        hit: table.hit.as_ref().map(entry),
        others: table.others.iter().map(entry).collect(),
        others_left_out: table.others_left,
        member_plus_1: table.member.map_or(0, |member| member.saturating_add(1)),
        action: table.action.unwrap_or_default().to_owned(),
        parameters: fields(&table.parameters),
        direct_counter: table.counter.map(|counts| counter("", 0, Some(counts))),
        direct_meter: table.meter.as_ref().map(meter),
    }
}

fn ahead(ahead: &[noted::Ahead]) -> Vec<message::Ahead> {
    let each = ahead.iter().map(|ahead| message::Ahead {
        trace: ahead.trace,
        rank: ahead.rank,
        queue: ahead.queue.into(),
        length: ahead.length,
        ingress_port: ahead.ingress_port.into(),
        since_ns: ahead.since,
    });
    each.collect()
}

fn cut(bytes: &[u8], most: usize) -> Vec<u8> {
    bytes[..bytes.len().min(most)].to_vec()
}

fn happening(happening: &Happening, kept: &Kept) -> What {
    match happening {
        Happening::Arrived {
            port,
            from_controller,
            length,
            bytes,
        } => What::Arrived(message::Arrived {
            port: (*port).into(),
            from_controller: *from_controller,
            length: *length,
            frame: cut(bytes, kept.arrived),
        }),
        Happening::Enqueued {
            port,
            rank,
            queue,
            depth,
            ahead: places,
            ahead_bytes,
            behind,
        } => What::Enqueued(message::Enqueued {
            port: (*port).into(),
            rank: *rank,
            queue: (*queue).into(),
            depth: *depth,
            ahead: *places,
            ahead_bytes: *ahead_bytes,
            behind: ahead(behind),
        }),
        Happening::Dequeued {
            port,
            waited_ns,
            served,
            served_bytes,
            behind,
            depth,
        } => What::Dequeued(message::Dequeued {
            port: (*port).into(),
            waited_ns: *waited_ns,
            served: *served,
            served_bytes: *served_bytes,
            behind: ahead(behind),
            depth: *depth,
        }),
        Happening::Sending { port, length, ends } => What::Sending(message::Sending {
            port: (*port).into(),
            length: *length,
            ends_ns: *ends,
        }),
        Happening::Departed {
            port,
            to_controller,
            length,
            bytes,
        } => What::Departed(message::Departed {
            port: (*port).into(),
            to_controller: *to_controller,
            length: *length,
            frame: cut(bytes, kept.departed),
        }),
        Happening::Dropped { reason, port } => What::Dropped(message::Dropped {
            reason: (*reason).to_owned(),
            port: port.map(Into::into),
        }),
        Happening::Copied { kind, trace, group } => What::Copied(message::Copied {
            kind: kind.name().to_owned(),
            trace: *trace,
            group: (*group).into(),
        }),
    }
}

pub(crate) fn step_of(step: &noted::Step<'_>, kept: &Kept) -> Step {
    Step {
        time_ns: step.time,
        part: step.part.name().to_owned(),
        source: step.source.map(source),
        what: Some(what(&step.what, kept)),
    }
}

fn what(what: &noted::What<'_>, kept: &Kept) -> What {
    match what {
        noted::What::Happened(happened) => happening(happened, kept),
        noted::What::State { name } => What::State(message::State {
            name: (*name).to_owned(),
        }),
        noted::What::Extract {
            header,
            offset,
            length,
            fields: of_header,
        } => What::Extract(message::Extract {
            header: (*header).to_owned(),
            offset: *offset,
            length: *length,
            fields: fields(of_header),
        }),
        noted::What::Select { keys, next } => What::Select(message::Select {
            keys: keys.iter().copied().map(bytes).collect(),
            next: (*next).to_owned(),
        }),
        noted::What::ParserError { error } => What::ParserError(message::ParserError {
            error: (*error).to_owned(),
        }),
        noted::What::Checksum {
            field,
            computed,
            carried,
        } => What::Checksum(message::Checksum {
            field: (*field).to_owned(),
            computed: bytes(*computed),
            carried: bytes(*carried),
        }),
        noted::What::Condition { name, holds } => What::Condition(message::Condition {
            name: (*name).to_owned(),
            holds: *holds,
        }),
        noted::What::Table(step) => What::Table(table(step)),
        noted::What::Call { action } => What::Call(message::Call {
            action: (*action).to_owned(),
        }),
        noted::What::Statement { primitive } => What::Statement(message::Statement {
            primitive: (*primitive).to_owned(),
        }),
        noted::What::Assign { field, value } => What::Assign(message::Assign {
            field: (*field).to_owned(),
            value: bytes(*value),
        }),
        noted::What::Header {
            name,
            valid,
            fields: of_header,
        } => What::Header(message::Header {
            name: (*name).to_owned(),
            valid: *valid,
            fields: fields(of_header),
        }),
        noted::What::Register {
            name,
            index,
            before,
            after,
            written,
        } => What::Register(message::Register {
            name: (*name).to_owned(),
            index: *index,
            before: bytes(*before),
            after: bytes(*after),
            written: *written,
        }),
        noted::What::Counter {
            name,
            index,
            counts,
        } => What::Counter(counter(name, *index, *counts)),
        noted::What::Meter(step) => What::Meter(meter(step)),
        noted::What::Extern { name, result } => What::Extern(message::Extern {
            name: (*name).to_owned(),
            result: bytes(*result),
        }),
        noted::What::Request { name, number } => What::Request(message::Request {
            name: (*name).to_owned(),
            number: *number,
        }),
        noted::What::Emit {
            header,
            offset,
            length,
        } => What::Emit(message::Emit {
            header: (*header).to_owned(),
            offset: *offset,
            length: *length,
        }),
    }
}
