//! The parser: states, extractions, selections.

use std::collections::HashMap;

use super::actions::{Names, assign_field, load_primitives};
use super::ast::Number;
use super::expressions::Context;
use super::json::Json;
use super::lower::Lowering;
use crate::error::LoadError;
use crate::expression::Word;
use crate::packet::Slot;
use crate::program::{
    END, ErrorCodes, HeaderSpan, Operation, ParserOperation, Program, SelectCase, SelectKey, State,
    Target,
};

/// Reads the one parser of a v1model program.
pub(crate) fn load_parser(
    root: &Json<'_>,
    names: Names<'_>,
    program: &mut Program,
) -> Result<(), LoadError> {
    program.errors = load_errors(root)?;
    let parsers = root.get("parsers")?.items()?;
    let [parser] = parsers.as_slice() else {
        return root.get("parsers")?.refuse("expected exactly one parser");
    };
    let items = parser.get("parse_states")?.items()?;
    let mut numbers = HashMap::new();
    for (number, item) in items.iter().enumerate() {
        numbers.insert(item.get("name")?.text()?, number as u32);
    }
    program.initial_state = match parser.find("init_state") {
        None => END,
        Some(name) => state_number(&name, &numbers)?,
    };
    for item in &items {
        let state = load_state(item, &numbers, names, program)?;
        program.states.push(state);
    }
    Ok(())
}

fn state_number(name: &Json<'_>, numbers: &HashMap<&str, u32>) -> Result<u32, LoadError> {
    match numbers.get(name.text()?) {
        Some(number) => Ok(*number),
        None => name.refuse(format!("no parser state is called {:?}", name.text()?)),
    }
}

/// The numbers of core.p4's errors; a program that declares none never sees them, so any will do.
fn load_errors(root: &Json<'_>) -> Result<ErrorCodes, LoadError> {
    let mut codes = ErrorCodes {
        packet_too_short: 1,
        no_match: 2,
        stack_out_of_bounds: 3,
        header_too_short: 4,
        parser_timeout: 5,
        parser_invalid_argument: 6,
    };
    for item in root.list("errors")? {
        let [name, number] = item.tuple()?;
        let number = u64::from(number.number()?);
        match name.text()? {
            "PacketTooShort" => codes.packet_too_short = number,
            "NoMatch" => codes.no_match = number,
            "StackOutOfBounds" => codes.stack_out_of_bounds = number,
            "HeaderTooShort" => codes.header_too_short = number,
            "ParserTimeout" => codes.parser_timeout = number,
            "ParserInvalidArgument" => codes.parser_invalid_argument = number,
            _ => {}
        }
    }
    Ok(codes)
}

fn load_state(
    item: &Json<'_>,
    numbers: &HashMap<&str, u32>,
    names: Names<'_>,
    program: &Program,
) -> Result<State, LoadError> {
    let context = Context {
        headers: names.headers,
        program,
        parameters: &[],
    };
    let mut operations = Vec::new();
    for operation in item.list("parser_ops")? {
        load_operation(&operation, context, names, &mut operations)?;
    }
    let mut keys = Vec::new();
    // Width of each key field, as select values are written: padded to whole bytes.
    let mut widths = Vec::new();
    for key in item.list("transition_key")? {
        load_key(&key, context, &mut keys, &mut widths)?;
    }
    let mut cases = Vec::new();
    let mut otherwise = None;
    for transition in item.list("transitions")? {
        let next = match transition.find("next_state") {
            None => END,
            Some(name) => state_number(&name, numbers)?,
        };
        let kind = transition.get("type")?;
        match kind.text()? {
            "default" => otherwise = Some(next),
            "hexstr" => {
                let values = split(&transition.get("value")?, &widths)?;
                let masks = match transition.find("mask") {
                    Some(mask) => split(&mask, &widths)?,
                    None => vec![u64::MAX; values.len()],
                };
                let words = values
                    .into_iter()
                    .zip(masks)
                    .map(|(value, mask)| (value & mask, mask))
                    .collect();
                cases.push(SelectCase { words, next });
            }
            other => return kind.refuse(format!("a transition on {other:?} is not supported")),
        }
    }
    Ok(State {
        operations,
        keys,
        cases,
        otherwise,
    })
}

fn load_key(
    key: &Json<'_>,
    context: Context<'_>,
    keys: &mut Vec<SelectKey>,
    widths: &mut Vec<u32>,
) -> Result<(), LoadError> {
    if key.find("type").map(|kind| kind.text()).transpose()? == Some("lookahead") {
        let (offset, bits) = lookahead(&key.get("value")?)?;
        if bits > 64 {
            return key.refuse("a lookahead of more than 64 bits is not supported in a select");
        }
        keys.push(SelectKey::Lookahead { offset, bits });
        widths.push(bits);
        return Ok(());
    }
    let number = context.number(key)?;
    let lowering = Lowering { at: key };
    // A signed key is compared by its bits.
    let bits = number.range.bits + u32::from(number.range.negative);
    match bits {
        0..=64 => keys.push(SelectKey::Value(masked(lowering.word(&number)?, bits))),
        65..=128 => {
            let double = lowering.double(&number)?;
            let high = crate::expression::Double::ShiftRight {
                signed: false,
                operands: Box::new((double.clone(), Word::Constant(64))),
            };
            keys.push(SelectKey::Value(masked(
                Word::Truncate(Box::new(high)),
                bits - 64,
            )));
            keys.push(SelectKey::Value(Word::Truncate(Box::new(double))));
        }
        _ => return key.refuse("a select key of more than 128 bits is not supported"),
    }
    widths.push(bits.max(1));
    Ok(())
}

fn masked(word: Word, bits: u32) -> Word {
    if bits < 64 {
        Word::Mask(Box::new(word), crate::bits::mask(bits))
    } else {
        word
    }
}

/// Cuts a select value into the words of its keys.
fn split(json: &Json<'_>, widths: &[u32]) -> Result<Vec<u64>, LoadError> {
    let value = json.hexadecimal()?;
    let total: u32 = widths.iter().map(|width| width.div_ceil(8)).sum();
    if value.negative || value.magnitude.len() > total as usize {
        return json.refuse(format!("expected a value of at most {total} bytes"));
    }
    let bytes = super::lower::padded(&value.magnitude, total as usize);
    let mut words = Vec::new();
    let mut rest = &bytes[..];
    for width in widths {
        let (field, after) = rest.split_at(width.div_ceil(8) as usize);
        rest = after;
        let (high, low) = field.split_at(field.len().saturating_sub(8));
        let number = |bytes: &[u8]| {
            bytes
                .iter()
                .fold(0u64, |sum, byte| sum << 8 | u64::from(*byte))
        };
        if !high.is_empty() {
            words.push(number(high));
        }
        words.push(number(low));
    }
    Ok(words)
}

fn lookahead(pair: &Json<'_>) -> Result<(u32, u32), LoadError> {
    let [offset, bits] = pair.tuple()?;
    let (offset, bits) = (offset.number()?, bits.number()?);
    if offset > 1 << 20 || bits > 1 << 20 {
        return pair.refuse("a lookahead beyond any packet");
    }
    Ok((offset, bits))
}

fn load_operation(
    json: &Json<'_>,
    context: Context<'_>,
    names: Names<'_>,
    operations: &mut Vec<ParserOperation>,
) -> Result<(), LoadError> {
    let name = json.get("op")?;
    let parameters = json.get("parameters")?;
    match name.text()? {
        "extract" => {
            let [what] = parameters.tuple()?;
            operations.push(extract(&what, None, context)?);
        }
        "extract_VL" => {
            let [what, length] = parameters.tuple()?;
            let length = context.word(&length)?;
            operations.push(extract(&what, Some(length), context)?);
        }
        "set" => {
            let [target, source] = parameters.tuple()?;
            operations.push(set(&target, &source, context)?);
        }
        "verify" => {
            let [condition, error] = parameters.tuple()?;
            operations.push(ParserOperation::Verify {
                condition: context.condition(&condition)?,
                error: context.word(&error)?,
            });
        }
        "advance" => {
            let [bits] = parameters.tuple()?;
            operations.push(ParserOperation::Advance {
                bits: context.word(&bits)?,
            });
        }
        "shift" => {
            let [bytes] = parameters.tuple()?;
            let bits = Word::Constant(u64::from(bytes.number()?) * 8);
            operations.push(ParserOperation::Advance { bits });
        }
        "primitive" => {
            let primitives = load_primitives(&parameters, context, names)?;
            for primitive in primitives {
                if matches!(primitive, Operation::Jump(_) | Operation::JumpUnless { .. }) {
                    return json.refuse("jumps are not supported in a parser");
                }
                operations.push(ParserOperation::Primitive(primitive));
            }
        }
        other => return name.refuse(format!("parser operation {other:?} is not supported")),
    }
    Ok(())
}

fn set(
    target: &Json<'_>,
    source: &Json<'_>,
    context: Context<'_>,
) -> Result<ParserOperation, LoadError> {
    let place = target.get("value")?;
    if target.get("type")?.text()? != "field" {
        return target.refuse("expected a field to set");
    }
    let field = context.headers.field(&place)?;
    if source.get("type")?.text()? == "lookahead" {
        let (offset, bits) = lookahead(&source.get("value")?)?;
        let target = match field.slot {
            Slot::Word { word } => Target::Word {
                word,
                fit: field.fit(),
            },
            Slot::Wide { word, words: 2 } => Target::Double {
                word,
                fit: field.fit(),
            },
            Slot::Wide { .. } | Slot::Variable { .. } => {
                return target.refuse("a lookahead of more than 128 bits is not supported");
            }
        };
        if bits > 128 {
            return source.refuse("a lookahead of more than 128 bits is not supported");
        }
        return Ok(ParserOperation::Lookahead {
            target,
            offset,
            bits,
        });
    }
    let value: Number = context.number(source)?;
    Ok(ParserOperation::Primitive(assign_field(
        field, &value, source,
    )?))
}

fn extract(
    what: &Json<'_>,
    variable_bits: Option<Word>,
    context: Context<'_>,
) -> Result<ParserOperation, LoadError> {
    let kind = what.get("type")?;
    let name = what.get("value")?;
    let check = |span: HeaderSpan| -> Result<(), LoadError> {
        let layout = &context.program.layouts[span.layout as usize];
        let has_varbit = layout
            .fields
            .iter()
            .any(|field| matches!(field.slot, Slot::Variable { .. }));
        if has_varbit != variable_bits.is_some() {
            return what.refuse(
                "a header with a varbit needs a length to extract, and only such a header",
            );
        }
        let total: u32 = layout.fields.iter().map(|field| field.bits).sum();
        if !total.is_multiple_of(8) {
            return what.refuse("the header is not a whole number of bytes");
        }
        Ok(())
    };
    match kind.text()? {
        "regular" => {
            let instance = context.headers.instance(&name)?;
            check(instance.span)?;
            Ok(ParserOperation::Extract {
                header: instance.span,
                variable_bits,
            })
        }
        "stack" => {
            let stack = context.headers.stack(&name)?;
            check(context.program.stacks[stack as usize].first)?;
            Ok(ParserOperation::ExtractNext {
                stack,
                variable_bits,
            })
        }
        other => kind.refuse(format!("extracting a {other:?} is not supported")),
    }
}
