//! The names of a program's parts, and their places in the sources (`source_info`).

use super::headers::Headers;
use super::json::Json;
use crate::error::LoadError;
use crate::program::{
    ActionNames, Dictionary, FieldName, HeaderName, Mark, MarkKind, NO_FIELD, Program, Slot, Source,
};

/// Characters of a fragment of the sources that are kept.
const FRAGMENT: usize = 200;

/// A place in the sources; none where the artifact doesn't tell it, or not as p4c does.
fn source(json: &Json<'_>) -> Option<Source> {
    let info = json.find("source_info")?;
    let number = |key: &str| info.find(key).and_then(|value| value.number().ok());
    let text = |key: &str| info.find(key).and_then(|value| value.text().ok());
    let fragment = text("source_fragment").unwrap_or_default();
    Some(Source {
        file: text("filename")?.to_owned(),
        line: number("line")?,
        column: number("column").map_or(0, |column| column.saturating_add(1)),
        fragment: fragment.chars().take(FRAGMENT).collect(),
    })
}

/// A primitive, or an operation of a parser.
pub(super) fn statement(json: &Json<'_>) -> Mark {
    let name = json.find("op").and_then(|name| name.text().ok());
    Mark {
        kind: MarkKind::Statement(name.unwrap_or_default().to_owned()),
        source: source(json),
    }
}

/// How a condition of a control was decided.
pub(super) fn condition(json: &Json<'_>, holds: bool) -> Mark {
    let name = json.find("name").and_then(|name| name.text().ok());
    Mark {
        kind: MarkKind::Condition(name.unwrap_or_default().to_owned(), holds),
        source: source(json),
    }
}

/// An action that is called without a table.
pub(super) fn call(json: &Json<'_>, action: u32) -> Mark {
    Mark {
        kind: MarkKind::Call(action),
        source: source(json),
    }
}

pub(super) fn load(
    root: &Json<'_>,
    headers: &Headers,
    program: &Program,
    marks: Vec<Mark>,
) -> Result<Dictionary, LoadError> {
    let words = program.words as usize;
    let mut names = Dictionary {
        marks,
        field_of: vec![NO_FIELD; words],
        header_of: vec![NO_FIELD; words],
        tables: program.tables.clone(),
        registers: (program.registers.iter())
            .map(|shape| (shape.name.clone(), shape.bits))
            .collect(),
        counters: (program.counters.iter())
            .map(|shape| shape.name.clone())
            .collect(),
        meters: (program.meters.iter())
            .map(|shape| shape.name.clone())
            .collect(),
        actions: (program.actions.iter())
            .map(|action| ActionNames {
                name: action.name.clone(),
                parameters: action.parameters.clone(),
            })
            .collect(),
        ..Dictionary::default()
    };
    for item in root.get("headers")?.items()? {
        let name = item.get("name")?;
        let instance = headers.instance(&name)?;
        add_header(&mut names, headers, program, name.text()?, instance);
    }
    for parser in root.get("parsers")?.items()? {
        for state in parser.get("parse_states")?.items()? {
            names.states.push(state.get("name")?.text()?.to_owned());
        }
    }
    for item in root.list("errors")? {
        let [name, number] = item.tuple()?;
        let error = (u64::from(number.number()?), name.text()?.to_owned());
        names.errors.push(error);
    }
    for pipeline in root.get("pipelines")?.items()? {
        for table in pipeline.list("tables")? {
            if let Some(source) = source(&table) {
                let name = table.get("name")?.text()?;
                names.sources.insert(name.to_owned(), source);
            }
        }
    }
    Ok(names)
}

fn add_header(
    names: &mut Dictionary,
    headers: &Headers,
    program: &Program,
    name: &str,
    instance: super::fields::Instance,
) {
    let layout = &program.layouts[instance.span.layout as usize];
    let types = &program.header_types[instance.span.layout as usize];
    let number = names.headers.len() as u32;
    let first = names.fields.len() as u32;
    for (field, (short, _)) in headers.fields(instance).zip(&types.fields) {
        let taken = match field.slot {
            Slot::Variable { length_word, .. } => {
                names.variables.push(names.fields.len() as u32);
                length_word..length_word + 1
            }
            slot => slot
                .words()
                .map_or(0..0, |(word, words)| word..word + words),
        };
        names.field_of[taken.start as usize..taken.end as usize].fill(names.fields.len() as u32);
        names.fields.push(FieldName {
            name: format!("{name}.{short}"),
            short: short.clone(),
            bits: field.bits,
            slot: field.slot,
            header: number,
        });
    }
    names.header_of[instance.span.word as usize] = number;
    names.headers.push(HeaderName {
        name: name.to_owned(),
        span: instance.span,
        fields: first..names.fields.len() as u32,
        words: layout.words,
        span_bytes: layout.bytes,
    });
}
