//! The names of a program's parts and their places in the sources: for traces, never for packets.

use std::sync::Arc;

use super::action::Parameter;
use super::slot::{HeaderSpan, Slot};
use super::table::TableShape;

/// A place in the P4 sources, as far as the artifact tells it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Source {
    /// The file, as the compiler was given it.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; 0 if unknown.
    pub column: u32,
    /// The beginning of the statement.
    pub fragment: String,
}

/// What a mark in the code stands for.
#[derive(Debug, Clone)]
pub(crate) struct Mark {
    pub(crate) kind: MarkKind,
    pub(crate) source: Option<Source>,
}

#[derive(Debug, Clone)]
pub(crate) enum MarkKind {
    /// A primitive of this name.
    Statement(String),
    /// A condition of this name, and how it was decided.
    Condition(String, bool),
    /// An action that is called without a table, by its number.
    Call(u32),
}

/// A word of a packet that belongs to no field: an intermediate result.
pub(crate) const NO_FIELD: u32 = u32::MAX;

#[derive(Debug)]
pub(crate) struct FieldName {
    /// `header.field`.
    pub(crate) name: String,
    /// The name within its header.
    pub(crate) short: String,
    pub(crate) bits: u32,
    /// Where it is in a packet.
    pub(crate) slot: Slot,
    pub(crate) header: u32,
}

#[derive(Debug)]
pub(crate) struct HeaderName {
    pub(crate) name: String,
    pub(crate) span: HeaderSpan,
    /// The first of its fields, and how many there are.
    pub(crate) fields: std::ops::Range<u32>,
    /// Words in a packet, with that of validity, and bytes for a varbit.
    pub(crate) words: u32,
    pub(crate) span_bytes: u32,
}

#[derive(Debug)]
pub(crate) struct ActionNames {
    pub(crate) name: String,
    pub(crate) parameters: Vec<Parameter>,
}

/// Names, widths and sources of one loaded program: what traces are read with.
#[derive(Debug, Default)]
pub struct Dictionary {
    pub(crate) marks: Vec<Mark>,
    pub(crate) headers: Vec<HeaderName>,
    pub(crate) fields: Vec<FieldName>,
    /// The varbits among them.
    pub(crate) variables: Vec<u32>,
    /// The field of each word of a packet, or [`NO_FIELD`]. A header's first word is its validity.
    pub(crate) field_of: Vec<u32>,
    /// The header whose validity a word is, or [`NO_FIELD`].
    pub(crate) header_of: Vec<u32>,
    pub(crate) states: Vec<String>,
    pub(crate) errors: Vec<(u64, String)>,
    pub(crate) actions: Vec<ActionNames>,
    pub(crate) tables: Vec<Arc<TableShape>>,
    /// Where tables are declared, by their names.
    pub(crate) sources: std::collections::HashMap<String, Source>,
    /// Name and width of the cells.
    pub(crate) registers: Vec<(String, u32)>,
    pub(crate) counters: Vec<String>,
    pub(crate) meters: Vec<String>,
}

impl Dictionary {
    pub(crate) fn fields_of(&self, header: &HeaderName) -> &[FieldName] {
        &self.fields[header.fields.start as usize..header.fields.end as usize]
    }

    pub(crate) fn has_variable(&self, header: u32) -> bool {
        let fields = &self.headers[header as usize].fields;
        self.variables.iter().any(|field| fields.contains(field))
    }
}
