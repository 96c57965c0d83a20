//! Counters and registers by id, and what has entries, for those who read cells from the switch itself.

use std::fmt::Write as _;
use std::sync::Arc;

use phb_pipeline::Pipeline;

use crate::Configuration;
use crate::schema::Schema;
use crate::status::{Code, Refusal, Result};

/// Arrays that a refusal names.
const NAMED: usize = 20;

/// An array of cells, by the name that the switch knows it by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Array {
    /// An indexed counter.
    Counter(String),
    /// A register.
    Register(String),
}

impl Configuration {
    /// Whether this is the very program that a switch runs.
    #[must_use]
    pub fn is_of(&self, pipeline: &Pipeline) -> bool {
        Arc::ptr_eq(&self.artifact, pipeline.artifact())
    }

    /// Tables, action profiles and value sets: ids, and the names that the switch knows them by.
    pub fn holders(&self) -> impl Iterator<Item = (u32, &str)> {
        let Schema {
            tables,
            profiles,
            value_sets,
            ..
        } = &self.schema;
        let tables = tables.iter().map(|(id, table)| (*id, table.name.as_str()));
        let profiles = profiles.iter().map(|(id, each)| (*id, each.name.as_str()));
        let value_sets = value_sets.iter().map(|(id, set)| (*id, set.name.as_str()));
        tables.chain(profiles).chain(value_sets)
    }

    /// The counter or register with an id.
    ///
    /// # Errors
    /// `NotFound`, with those that there are.
    pub fn array(&self, id: u32) -> Result<Array> {
        let (counters, registers) = (&self.schema.counters, &self.schema.registers);
        if let Some(counter) = counters.get(&id) {
            return Ok(Array::Counter(counter.name.clone()));
        }
        if let Some(register) = registers.get(&id) {
            return Ok(Array::Register(register.name.clone()));
        }
        let counters = counters.iter().map(|(id, array)| (id, &array.name));
        let registers = registers.iter().map(|(id, array)| (id, &array.name));
        let mut message = format!("the p4info has no counter or register with id {id}; it has ");
        let all: Vec<_> = counters.chain(registers).collect();
        if all.is_empty() {
            message += "none";
        }
        for (place, (id, name)) in all.iter().take(NAMED).enumerate() {
            let comma = if place > 0 { ", " } else { "" };
            // Writing to a string doesn't fail.
            let _ = write!(message, "{comma}{id} ({name})");
        }
        if let Some(more) = all.len().checked_sub(NAMED).filter(|more| *more > 0) {
            let _ = write!(message, " and {more} more");
        }
        Err(Refusal::new(Code::NotFound, message))
    }
}
