//! What a trace says is what happened: its steps alone give the headers of the frame that left.

use std::collections::HashMap;

use phb_pipeline::trace::{Named, Part, Step, What};

/// A number as bits, the most significant first.
type Bits = Vec<bool>;

#[derive(Default)]
struct Header {
    valid: bool,
    /// Names and values in the order in which they lie on the wire.
    fields: Vec<(String, Bits)>,
}

/// The bits of a field of a step.
fn bits(value: phb_pipeline::trace::Value<'_>) -> Bits {
    let all: Bits = value
        .bytes()
        .flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1 == 1))
        .collect();
    all[all.len() - value.bits as usize..].to_vec()
}

fn fill(header: &mut Header, valid: bool, fields: &[Named<'_>]) {
    header.valid = valid;
    if valid {
        let named = fields.iter();
        header.fields = named
            .map(|field| (field.name.to_owned(), bits(field.value)))
            .collect();
    }
}

/// What the steps of a packet say of the frame that left.
struct Left {
    /// The headers that its last pass wrote.
    headers: Vec<u8>,
    /// Those of the pass before, or of PSA's ingress: what the last pass parsed begins with them.
    before: Vec<u8>,
    /// Whether a byte limit was set.
    limited: bool,
}

fn replay(steps: &[Step<'_>]) -> Left {
    let mut headers: HashMap<&str, Header> = HashMap::new();
    let (mut written, mut parsed) = (Bits::new(), Bits::new());
    let mut limited = false;
    let mut before = Part::Port;
    for step in steps {
        if step.part == Part::Parser && before != Part::Parser {
            headers.clear();
            // A pass that writes no header has no step of the deparser.
            parsed = std::mem::take(&mut written);
        }
        if step.part == Part::Deparser && before != Part::Deparser {
            written.clear();
        }
        before = step.part;
        match &step.what {
            What::Extract { header, fields, .. } => {
                fill(headers.entry(header).or_default(), true, fields);
            }
            What::Header {
                name,
                valid,
                fields,
            } => fill(headers.entry(name).or_default(), *valid, fields),
            What::Assign { field, value } => set(&mut headers, field, bits(*value)),
            What::Checksum {
                field, computed, ..
            } if step.part == Part::Deparser => set(&mut headers, field, bits(*computed)),
            What::Emit { header, .. } => {
                let header = &headers[header];
                assert!(header.valid, "an invalid header is written");
                written.extend(header.fields.iter().flat_map(|(_, bits)| bits.iter()));
            }
            What::Request { name, .. } => limited |= *name == "truncate",
            _ => {}
        }
    }
    Left {
        headers: bytes(&written),
        before: bytes(&parsed),
        limited,
    }
}

fn bytes(bits: &Bits) -> Vec<u8> {
    let bytes = bits.chunks(8).map(|bits| {
        let filled = bits.iter().chain(std::iter::repeat(&false)).take(8);
        filled.fold(0, |byte, bit| byte << 1 | u8::from(*bit))
    });
    bytes.collect()
}

fn set(headers: &mut HashMap<&str, Header>, field: &str, value: Bits) {
    // The name of a stack's element has a dot of its own only in older artifacts.
    for (at, _) in field.match_indices('.') {
        let (header, name) = (&field[..at], &field[at + 1..]);
        if let Some(header) = headers.get_mut(header)
            && let Some((_, known)) = header.fields.iter_mut().find(|(known, _)| known == name)
        {
            *known = value;
            return;
        }
    }
}

/// Compares what the steps give with the frame that left.
pub fn check(steps: &[Step<'_>], arrived: &[u8], sent: &[u8]) {
    let Left {
        headers,
        before,
        limited,
    } = replay(steps);
    let shown = headers.len().min(sent.len());
    let told = || {
        let lines = steps.iter().map(|step| format!("{:?}", step.what));
        lines.collect::<Vec<_>>().join("\n")
    };
    assert_eq!(headers[..shown], sent[..shown], "{}", told());
    assert!(limited || shown == headers.len());
    let payload = &sent[shown..];
    // Bytes that were not parsed, of the headers before or of the frame.
    let is_rest = |from: usize| {
        let rest = payload.strip_prefix(&before[from..]);
        rest.is_some_and(|rest| arrived.ends_with(rest))
    };
    assert!(
        limited || (0..=before.len()).rev().any(is_rest),
        "{sent:02x?} of {arrived:02x?}"
    );
}
