//! Actions: runtime data, and primitives one after the other.

use std::collections::HashMap;

use super::assemble::{Assembler, Jumps, Pool};
use super::expressions::Context;
use super::externs::ExternNames;
use super::headers::Headers;
use super::json::Json;
use super::names;
use super::primitives::Primitive;
use crate::error::LoadError;
use crate::program::{
    Action, Address, Calculation, FieldList, Instruction, LogMessage, Parameter, Program,
};

/// The longest parameter of an action, in bits.
const WIDEST_PARAMETER: u32 = 1 << 16;

#[derive(Clone, Copy)]
pub(crate) struct Names<'a> {
    pub(crate) headers: &'a Headers,
    pub(crate) externs: &'a ExternNames,
    /// Field lists by their id in the artifact.
    pub(crate) field_lists: &'a HashMap<u32, FieldList>,
}

/// Additions of primitives to the program besides instructions.
#[derive(Default)]
pub(crate) struct Additions {
    pub(crate) messages: Vec<LogMessage>,
    /// Calculations of hashes that are called, and sums; they follow those of the artifact.
    pub(crate) calculations: Vec<Calculation>,
}

/// Words that the parameters of the largest action take.
pub(crate) fn parameter_words(root: &Json<'_>) -> Result<u32, LoadError> {
    let mut most = 0;
    for action in root.get("actions")?.items()? {
        let mut words = 0u32;
        for item in action.list("runtime_data")? {
            let width = item.get("bitwidth")?;
            let bits = width.number()?;
            if bits == 0 || bits > WIDEST_PARAMETER {
                return width.refuse(format!(
                    "an action parameter of {bits} bits; 1 to {WIDEST_PARAMETER} are supported"
                ));
            }
            words = words.saturating_add(bits.div_ceil(64));
        }
        most = most.max(words);
    }
    Ok(most)
}

pub(crate) fn load_action(
    json: &Json<'_>,
    names: Names<'_>,
    program: &Program,
    pool: &mut Pool,
    additions: &mut Additions,
) -> Result<(Action, Vec<Instruction>), LoadError> {
    let mut parameters = Vec::new();
    let mut words = 0;
    for item in json.list("runtime_data")? {
        let bits = item.get("bitwidth")?.number()?;
        parameters.push(Parameter {
            name: item.get("name")?.text()?.to_owned(),
            bits,
            word: words,
        });
        words += bits.div_ceil(64);
    }
    let context = Context {
        headers: names.headers,
        program,
        parameters: &parameters,
        parameters_at: pool.parameters,
    };
    let mut out = Assembler::new(pool);
    load_primitives(
        &json.get("primitives")?,
        context,
        names,
        &mut out,
        additions,
    )?;
    let code = out.code;
    let action = Action {
        name: json.get("name")?.text()?.to_owned(),
        parameters,
        words,
        start: None,
        settings: Box::default(),
        reads_parameters: true,
    };
    Ok((action, code))
}

/// Reads the primitives of an action, or of a parser state.
pub(crate) fn load_primitives(
    json: &Json<'_>,
    context: Context<'_>,
    names: Names<'_>,
    out: &mut Assembler<'_>,
    additions: &mut Additions,
) -> Result<(), LoadError> {
    let items = json.items()?;
    // Jumps by the primitive they lead to, and where the primitives begin.
    let mut waiting: HashMap<usize, Jumps> = HashMap::new();
    let mut starts: Vec<Address> = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        if let Some(jumps) = waiting.remove(&index) {
            out.land(jumps);
        }
        out.statement();
        starts.push(out.here());
        out.note(|| names::statement(item));
        let mut primitive = Primitive {
            json: item,
            arguments: item.list("parameters")?,
            context,
            names,
            out,
            additions,
        };
        if let Some((jumps, to)) = primitive.emit()? {
            if to > items.len() {
                return item.refuse("jumps stay within the action");
            }
            match starts.get(to) {
                Some(start) => out.repeat(*start, jumps),
                None => {
                    let others = waiting.remove(&to).unwrap_or_default();
                    waiting.insert(to, others.and(jumps));
                }
            }
        }
    }
    if let Some(jumps) = waiting.remove(&items.len()) {
        out.land(jumps);
    }
    Ok(())
}
