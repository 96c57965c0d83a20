//! A trace as a line of JSON, straight from its steps: a message in between would take most of the time.
//!
//! Names and their order are those of `trace.proto`; what is zero, empty or false is left out.

use itoa::Integer;
use phb_pipeline::trace::{
    Ahead, Dictionary, EntryStep, Happening, Matched, MeterStep, Named, Record, Source, Step,
    TableStep, Value, What,
};

use crate::of::{About, Kept};

/// Appends the trace of a finished record, a line with its end. `dictionary` is that of the program that wrote it.
pub fn append_json(dictionary: &Dictionary, record: &Record, about: &About<'_>, to: &mut Vec<u8>) {
    let steps = dictionary.steps(record);
    let kept = Kept::of(record, about.frame_bytes);
    let mut trace = Object::begin(to);
    trace.number("number", record.number);
    trace.number("of", record.of);
    trace.text("switch", about.switch);
    trace.number("time_ns", steps.first().map_or(0, |step| step.time));
    trace.list("steps", &steps, |step, to| self::step(step, &kept, to));
    trace.number("steps_left_out", record.left_out());
    trace.number("traces_left_out", about.left_out);
    trace.end();
    to.push(b'\n');
}

/// An object that is being written.
struct Object<'a> {
    to: &'a mut Vec<u8>,
    is_empty: bool,
}

impl<'a> Object<'a> {
    fn begin(to: &'a mut Vec<u8>) -> Self {
        to.push(b'{');
        Self { to, is_empty: true }
    }

    fn end(self) {
        self.to.push(b'}');
    }

    fn name(&mut self, name: &str) -> &mut Vec<u8> {
        if !std::mem::take(&mut self.is_empty) {
            self.to.push(b',');
        }
        self.to.push(b'"');
        self.to.extend_from_slice(name.as_bytes());
        self.to.extend_from_slice(b"\":");
        self.to
    }

    fn text(&mut self, name: &str, value: &str) {
        if !value.is_empty() {
            text(value, self.name(name));
        }
    }

    fn number(&mut self, name: &str, value: impl Integer + Default + PartialEq) {
        self.present(
            name,
            Some(value).filter(|value| *value != Default::default()),
        );
    }

    /// A number that is written if it is there, zero, too.
    fn present(&mut self, name: &str, value: Option<impl Integer>) {
        if let Some(value) = value {
            let mut digits = itoa::Buffer::new();
            let digits = digits.format(value).as_bytes();
            self.name(name).extend_from_slice(digits);
        }
    }

    fn flag(&mut self, name: &str, value: bool) {
        if value {
            self.name(name).extend_from_slice(b"true");
        }
    }

    fn value(&mut self, name: &str, value: Value<'_>) {
        number(value, self.name(name));
    }

    fn frame(&mut self, name: &str, bytes: &[u8], most: usize) {
        let bytes = &bytes[..bytes.len().min(most)];
        if !bytes.is_empty() {
            let to = self.name(name);
            to.push(b'"');
            bytes.iter().for_each(|byte| digits(*byte, to));
            to.push(b'"');
        }
    }

    fn object(&mut self, name: &str, fill: impl FnOnce(&mut Object<'_>)) {
        let mut object = Object::begin(self.name(name));
        fill(&mut object);
        object.end();
    }

    fn list<T>(&mut self, name: &str, items: &[T], mut write: impl FnMut(&T, &mut Vec<u8>)) {
        if items.is_empty() {
            return;
        }
        let to = self.name(name);
        for (number, item) in items.iter().enumerate() {
            to.push(if number == 0 { b'[' } else { b',' });
            write(item, to);
        }
        to.push(b']');
    }

    fn fields(&mut self, name: &str, fields: &[Named<'_>]) {
        self.list(name, fields, |field, to| {
            let mut object = Object::begin(to);
            object.text("name", field.name);
            object.value("value", field.value);
            object.end();
        });
    }
}

fn text(text: &str, to: &mut Vec<u8>) {
    // Without a way out in between, so that many bytes are looked at together.
    let is_strange = |byte: u8| (byte < b' ') | (byte == b'"') | (byte == b'\\');
    if !text.bytes().fold(false, |any, byte| any | is_strange(byte)) {
        to.push(b'"');
        to.extend_from_slice(text.as_bytes());
        to.push(b'"');
    } else {
        // Neither writing to memory nor text can fail.
        let _ = serde_json::to_writer(to, text);
    }
}

/// A number of the program: at least two digits.
fn number(value: Value<'_>, to: &mut Vec<u8>) {
    to.extend_from_slice(b"\"0x");
    if value.bits == 0 {
        digits(0, to);
    }
    value.bytes().for_each(|byte| digits(byte, to));
    to.push(b'"');
}

fn digits(byte: u8, to: &mut Vec<u8>) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    to.extend([byte >> 4, byte & 15].map(|digit| DIGITS[usize::from(digit)]));
}

fn step(step: &Step<'_>, kept: &Kept, to: &mut Vec<u8>) {
    let mut object = Object::begin(to);
    object.number("time_ns", step.time);
    object.text("part", step.part.name());
    if let Some(place) = step.source {
        object.object("source", |object| source(place, object));
    }
    match &step.what {
        What::Happened(happening) => happened(happening, kept, &mut object),
        what => inside(what, &mut object),
    }
    object.end();
}

fn source(source: &Source, object: &mut Object<'_>) {
    object.text("file", &source.file);
    object.number("line", source.line);
    object.number("column", source.column);
    object.text("fragment", &source.fragment);
}

fn happened(happening: &Happening, kept: &Kept, step: &mut Object<'_>) {
    match happening {
        Happening::Arrived {
            port,
            from_controller,
            length,
            bytes,
        } => step.object("arrived", |object| {
            object.number("port", *port);
            object.flag("from_controller", *from_controller);
            object.number("length", *length);
            object.frame("frame", bytes, kept.arrived);
        }),
        Happening::Enqueued {
            port,
            rank,
            queue,
            depth,
            ahead: places,
            ahead_bytes,
            behind,
        } => step.object("enqueued", |object| {
            object.number("port", *port);
            object.present("rank", *rank);
            object.number("queue", *queue);
            object.number("depth", *depth);
            object.number("ahead", *places);
            object.number("ahead_bytes", *ahead_bytes);
            object.list("behind", behind, ahead);
        }),
        Happening::Dequeued {
            port,
            waited_ns,
            served,
            served_bytes,
            behind,
            depth,
        } => step.object("dequeued", |object| {
            object.number("port", *port);
            object.number("waited_ns", *waited_ns);
            object.number("served", *served);
            object.number("served_bytes", *served_bytes);
            object.list("behind", behind, ahead);
            object.number("depth", *depth);
        }),
        Happening::Sending { port, length, ends } => step.object("sending", |object| {
            object.number("port", *port);
            object.number("length", *length);
            object.number("ends_ns", *ends);
        }),
        Happening::Departed {
            port,
            to_controller,
            length,
            bytes,
        } => step.object("departed", |object| {
            object.number("port", *port);
            object.flag("to_controller", *to_controller);
            object.number("length", *length);
            object.frame("frame", bytes, kept.departed);
        }),
        Happening::Dropped { reason, port } => step.object("dropped", |object| {
            object.text("reason", reason);
            object.present("port", *port);
        }),
        Happening::Copied { kind, trace, group } => step.object("copied", |object| {
            object.text("kind", kind.name());
            object.number("trace", *trace);
            object.number("group", *group);
        }),
    }
}

fn ahead(ahead: &Ahead, to: &mut Vec<u8>) {
    let mut object = Object::begin(to);
    object.number("trace", ahead.trace);
    object.present("rank", ahead.rank);
    object.number("queue", ahead.queue);
    object.number("length", ahead.length);
    object.number("ingress_port", ahead.ingress_port);
    object.number("since_ns", ahead.since);
    object.end();
}

fn inside(what: &What<'_>, step: &mut Object<'_>) {
    match *what {
        // It is written apart.
        What::Happened(_) => {}
        What::State { name } => step.object("state", |object| object.text("name", name)),
        What::Extract {
            header,
            offset,
            length,
            ref fields,
        } => step.object("extract", |object| {
            object.text("header", header);
            object.number("offset", offset);
            object.number("length", length);
            object.fields("fields", fields);
        }),
        What::Select { ref keys, next } => step.object("select", |object| {
            object.list("keys", keys, |key, to| number(*key, to));
            object.text("next", next);
        }),
        What::ParserError { error } => {
            step.object("parser_error", |object| object.text("error", error));
        }
        What::Checksum {
            field,
            computed,
            carried,
        } => step.object("checksum", |object| {
            object.text("field", field);
            object.value("computed", computed);
            object.value("carried", carried);
        }),
        What::Condition { name, holds } => step.object("condition", |object| {
            object.text("name", name);
            object.flag("holds", holds);
        }),
        What::Table(ref applied) => step.object("table", |object| table(applied, object)),
        What::Call { action } => step.object("call", |object| object.text("action", action)),
        What::Statement { primitive } => {
            step.object("statement", |object| object.text("primitive", primitive));
        }
        What::Assign { field, value } => step.object("assign", |object| {
            object.text("field", field);
            object.value("value", value);
        }),
        What::Header {
            name,
            valid,
            ref fields,
        } => step.object("header", |object| {
            object.text("name", name);
            object.flag("valid", valid);
            object.fields("fields", fields);
        }),
        What::Register {
            name,
            index,
            before,
            after,
            written,
        } => step.object("register", |object| {
            object.text("name", name);
            object.number("index", index);
            object.value("before", before);
            object.value("after", after);
            object.flag("written", written);
        }),
        What::Counter {
            name,
            index,
            counts,
        } => step.object("counter", |object| counter(name, index, counts, object)),
        What::Meter(ref passed) => step.object("meter", |object| meter(passed, object)),
        What::Extern { name, result } => step.object("extern", |object| {
            object.text("name", name);
            object.value("result", result);
        }),
        What::Request { name, number } => step.object("request", |object| {
            object.text("name", name);
            object.number("number", number);
        }),
        What::Emit {
            header,
            offset,
            length,
        } => step.object("emit", |object| {
            object.text("header", header);
            object.number("offset", offset);
            object.number("length", length);
        }),
    }
}

fn table(table: &TableStep<'_>, object: &mut Object<'_>) {
    object.text("name", table.name);
    object.fields("key", &table.key);
    object.number("entries", table.entries);
    if let Some(hit) = &table.hit {
        object.object("hit", |object| entry(hit, object));
    }
    object.list("others", &table.others, |other, to| {
        let mut object = Object::begin(to);
        entry(other, &mut object);
        object.end();
    });
    object.number("others_left_out", table.others_left);
    let member = table.member.map_or(0, |member| member.saturating_add(1));
    object.number("member_plus_1", member);
    object.text("action", table.action.unwrap_or_default());
    object.fields("parameters", &table.parameters);
    if let Some(counts) = table.counter {
        object.object("direct_counter", |object| {
            counter("", 0, Some(counts), object)
        });
    }
    if let Some(direct) = &table.meter {
        object.object("direct_meter", |object| meter(direct, object));
    }
}

fn entry(entry: &EntryStep<'_>, object: &mut Object<'_>) {
    object.number("number", entry.number);
    object.present("priority", entry.priority);
    object.list("matches", &entry.matches, |matched, to| {
        let mut object = Object::begin(to);
        let (kind, value, second, length) = match *matched {
            Matched::Exact(value) => ("exact", value, None, 0),
            Matched::Prefix(value, length) => ("prefix", value, None, length),
            Matched::Ternary(value, mask) => ("ternary", value, Some(mask), 0),
            Matched::Range(low, high) => ("range", low, Some(high), 0),
        };
        object.text("kind", kind);
        object.value("value", value);
        if let Some(second) = second {
            object.value("second", second);
        }
        object.number("length", length);
        object.end();
    });
    object.text("action", entry.action.unwrap_or_default());
    object.fields("parameters", &entry.parameters);
}

fn counter(name: &str, index: u64, counts: Option<[(u64, u64); 2]>, object: &mut Object<'_>) {
    let [before, after] = counts.unwrap_or_default();
    object.text("name", name);
    object.number("index", index);
    object.flag("beyond", counts.is_none());
    object.number("packets_before", before.0);
    object.number("packets_after", after.0);
    object.number("bytes_before", before.1);
    object.number("bytes_after", after.1);
}

fn meter(meter: &MeterStep<'_>, object: &mut Object<'_>) {
    let [committed_before, committed_after] = meter.committed.unwrap_or_default();
    let [second_before, second_after] = meter.second.unwrap_or_default();
    object.text("name", meter.name);
    object.number("index", meter.index);
    object.text("colour", crate::of::colour(meter.colour));
    object.flag("without_rates", meter.committed.is_none());
    object.number("committed_before", committed_before);
    object.number("committed_after", committed_after);
    object.number("second_before", second_before);
    object.number("second_after", second_after);
}

#[cfg(test)]
#[path = "json_tests.rs"]
mod tests;
