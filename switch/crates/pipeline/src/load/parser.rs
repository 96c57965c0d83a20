//! The parser: states, extractions, selections.

use std::collections::HashMap;

use super::actions::{Additions, Names};
use super::assemble::{Assembler, Pool};
use super::expressions::Context;
use super::json::Json;
use super::lower::Lowering;
use super::operations::{Operation, Writing, lookahead};
use super::psa;
use crate::error::LoadError;
use crate::program::{
    Cases, END, ErrorCodes, Instruction, ParserOperation, ParserState, Place, Program, SelectCase,
    SelectCondition, Span, ValueSetShape, View,
};

/// Members of a value set whose size nobody says.
const MOST_MEMBERS: u32 = 1024;

pub(crate) fn load_parser(
    root: &Json<'_>,
    names: Names<'_>,
    program: &mut Program,
    pool: &mut Pool,
    additions: &mut Additions,
) -> Result<(), LoadError> {
    program.errors = load_errors(root)?;
    let mut value_sets = HashMap::new();
    for item in root.list("parse_vsets")? {
        let name = item.get("name")?.text()?.to_owned();
        value_sets.insert(name.clone(), program.value_sets.len() as u32);
        program.value_sets.push(ValueSetShape {
            name,
            // Sets had no size once.
            size: item
                .find("max_size")
                .map_or(Ok(MOST_MEMBERS), |size| size.number())?,
            bits: Vec::new(),
            view: None,
        });
    }
    let parsers = root.get("parsers")?;
    let mut loader = Loader {
        names,
        numbers: HashMap::new(),
        value_sets,
        program,
        pool,
        additions,
    };
    if loader.program.psa.is_some() {
        let [ingress, egress] = psa::PARSERS;
        loader.program.initial_state = loader.load(&psa::item(&parsers, ingress)?)?;
        let start = loader.load(&psa::item(&parsers, egress)?)?;
        if let Some(psa) = &mut loader.program.psa {
            psa.egress_state = start;
        }
        return Ok(());
    }
    let items = parsers.items()?;
    let [parser] = items.as_slice() else {
        return parsers.refuse("expected exactly one parser");
    };
    loader.program.initial_state = loader.load(parser)?;
    Ok(())
}

fn state_number(name: &Json<'_>, numbers: &HashMap<&str, u32>) -> Result<u32, LoadError> {
    match numbers.get(name.text()?) {
        Some(number) => Ok(*number),
        None => name.refuse(format!("no parser state is called {:?}", name.text()?)),
    }
}

/// The numbers of core.p4's errors. Those that a program doesn't declare, as older ones don't have all of them, follow its
/// own, as in bmv2.
fn load_errors(root: &Json<'_>) -> Result<ErrorCodes, LoadError> {
    let mut declared = HashMap::new();
    for item in root.list("errors")? {
        let [name, number] = item.tuple()?;
        declared.insert(name.text()?, u64::from(number.number()?));
    }
    let mut unused = declared.values().max().map_or(0, |number| number + 1);
    let mut code = |name| {
        declared.get(name).copied().unwrap_or_else(|| {
            unused += 1;
            unused - 1
        })
    };
    // In this order bmv2 numbers those that aren't declared.
    Ok(ErrorCodes {
        no_error: code("NoError"),
        packet_too_short: code("PacketTooShort"),
        no_match: code("NoMatch"),
        stack_out_of_bounds: code("StackOutOfBounds"),
        header_too_short: code("HeaderTooShort"),
        parser_timeout: code("ParserTimeout"),
        parser_invalid_argument: code("ParserInvalidArgument"),
    })
}

/// A value set that a state selects on, in which of its cases, and by which keys.
struct UsedSet<'a> {
    case: usize,
    set: u32,
    widths: Vec<u32>,
    masks: Box<[u64]>,
    at: Json<'a>,
}

struct Loader<'a, 'p> {
    names: Names<'a>,
    numbers: HashMap<&'a str, u32>,
    value_sets: HashMap<String, u32>,
    program: &'p mut Program,
    pool: &'p mut Pool,
    additions: &'p mut Additions,
}

impl<'a> Loader<'a, '_> {
    /// Appends the states of a parser; gives the first one's number.
    fn load(&mut self, parser: &Json<'a>) -> Result<u32, LoadError> {
        let items = parser.get("parse_states")?.items()?;
        let first = self.program.states.len() as u32;
        self.numbers.clear();
        for (number, item) in (first..).zip(&items) {
            self.numbers.insert(item.get("name")?.text()?, number);
        }
        let start = match parser.find("init_state") {
            None => END,
            Some(name) => state_number(&name, &self.numbers)?,
        };
        for item in &items {
            let state = self.load_state(item)?;
            self.program.states.push(state);
        }
        Ok(start)
    }

    fn load_state(&mut self, item: &Json<'a>) -> Result<ParserState, LoadError> {
        // Until a state is complete, the program is only read.
        let mut code = std::mem::take(&mut self.program.code);
        let state = self.read_state(item, &mut code);
        self.program.code = code;
        let (mut state, used) = state?;
        for used in used {
            let case = used.case;
            let seen = self.seen(used)?;
            if let Cases::Any(cases) = &mut state.cases {
                cases[case].condition = SelectCondition::Member(seen);
            }
        }
        sort_exact(&mut state);
        Ok(state)
    }

    /// The set that a state selects on: the one that it names, or one that has the same members.
    fn seen(&mut self, used: UsedSet<'a>) -> Result<u32, LoadError> {
        let sets = &mut self.program.value_sets;
        let set = &mut sets[used.set as usize];
        if set.bits.is_empty() {
            set.bits.clone_from(&used.widths);
        }
        if set.bits.iter().sum::<u32>() != used.widths.iter().sum::<u32>() {
            return used
                .at
                .refuse("two states select on this value set by keys of different widths");
        }
        let whole = used.masks.iter().all(|mask| *mask == u64::MAX);
        if set.bits == used.widths && whole {
            return Ok(used.set);
        }
        let (name, size, bits) = (set.name.clone(), set.size, used.widths);
        let view = Some(View {
            of: used.set,
            masks: used.masks,
        });
        let same = |known: &ValueSetShape| known.view == view && known.bits == bits;
        let number = sets.iter().position(same).unwrap_or(sets.len());
        if number == sets.len() {
            sets.push(ValueSetShape {
                name,
                size,
                bits,
                view,
            });
        }
        Ok(number as u32)
    }

    fn read_state(
        &mut self,
        item: &Json<'a>,
        code: &mut Vec<Instruction>,
    ) -> Result<(ParserState, Vec<UsedSet<'a>>), LoadError> {
        let context = Context {
            headers: self.names.headers,
            program: self.program,
            parameters: &[],
            parameters_at: 0,
        };
        let mut out = Assembler::new(self.pool);
        let mut writing = Writing {
            operations: Vec::new(),
            code,
            at: item,
        };
        for operation in item.list("parser_ops")? {
            out.statement();
            Operation {
                json: &operation,
                context,
                names: self.names,
                writing: &mut writing,
                out: &mut out,
                additions: self.additions,
            }
            .load()?;
        }
        out.statement();
        let mut keys = Vec::new();
        let mut widths = Vec::new();
        for key in item.list("transition_key")? {
            load_key(
                &key,
                context,
                &mut writing,
                &mut out,
                &mut keys,
                &mut widths,
            )?;
        }
        writing.flush(&mut out)?;
        let mut cases = Vec::new();
        let mut otherwise = None;
        let mut used = Vec::new();
        for transition in item.list("transitions")? {
            let next = match transition.find("next_state") {
                None => END,
                Some(name) => state_number(&name, &self.numbers)?,
            };
            let value = || transition.get("value");
            // Artifacts of older compilers: only the value tells a default.
            let kind = match transition.find("type") {
                Some(kind) => kind.text()?,
                None if value()?.text()? == "default" => "default",
                None => "hexstr",
            };
            let condition = match kind {
                "default" => {
                    otherwise = Some(next);
                    continue;
                }
                "hexstr" => {
                    let values = split(&value()?, &widths)?;
                    let masks = match transition.find("mask") {
                        Some(mask) => split(&mask, &widths)?,
                        None => vec![u64::MAX; values.len()],
                    };
                    let words = values.into_iter().zip(masks);
                    SelectCondition::Masked(
                        words.map(|(value, mask)| (value & mask, mask)).collect(),
                    )
                }
                "parse_vset" => {
                    let value = value()?;
                    let name = value.text()?;
                    let Some(&set) = self.value_sets.get(name) else {
                        return value.refuse(format!("no value set is called {name:?}"));
                    };
                    let masks = match transition.find("mask") {
                        Some(mask) => split(&mask, &widths)?,
                        None => vec![u64::MAX; keys.len()],
                    };
                    used.push(UsedSet {
                        case: cases.len(),
                        set,
                        widths: widths.clone(),
                        masks: masks.into(),
                        at: value,
                    });
                    SelectCondition::Member(set)
                }
                other => {
                    return transition
                        .get("type")?
                        .refuse(format!("a transition on {other:?} is not supported"));
                }
            };
            cases.push(SelectCase { condition, next });
        }
        let state = ParserState {
            operations: writing.operations,
            keys,
            cases: Cases::Any(cases),
            otherwise,
        };
        Ok((state, used))
    }
}

/// Where a state selects by the whole of one word, its cases become a table.
fn sort_exact(state: &mut ParserState) {
    let ([_], Cases::Any(cases)) = (state.keys.as_slice(), &state.cases) else {
        return;
    };
    let mut exact: Vec<(u64, u32)> = Vec::new();
    for case in cases {
        match &case.condition {
            SelectCondition::Masked(words) if words[0].1 == u64::MAX => {
                // Of equal values the first counts.
                if !exact.iter().any(|known| known.0 == words[0].0) {
                    exact.push((words[0].0, case.next));
                }
            }
            _ => return,
        }
    }
    exact.sort_by_key(|case| case.0);
    state.cases = Cases::Exact(exact);
}

fn load_key(
    key: &Json<'_>,
    context: Context<'_>,
    writing: &mut Writing<'_, '_>,
    out: &mut Assembler<'_>,
    keys: &mut Vec<Place>,
    widths: &mut Vec<u32>,
) -> Result<(), LoadError> {
    if key.find("type").map(|kind| kind.text()).transpose()? == Some("lookahead") {
        let (offset, bits) = lookahead(&key.get("value")?)?;
        let to = out.temporary(bits.div_ceil(64).max(1), key)?;
        writing.push(ParserOperation::Lookahead { to, offset, bits }, out)?;
        keys.extend((to.first..to.first + to.words).rev());
        widths.push(bits.max(1));
        return Ok(());
    }
    let number = context.number(key)?;
    let bits = number.range.bits + u32::from(number.range.negative);
    let mut lowering = Lowering { at: key, out };
    let span = if bits <= 64 {
        let place = lowering.place(&number)?;
        let first = if number.range.negative && bits < 64 {
            // A signed key is compared by its bits.
            let to = lowering.out.word(key)?;
            lowering.copy(place, to, 64 - bits as u8);
            to
        } else {
            place
        };
        Span { first, words: 1 }
    } else {
        let (span, _) = lowering.exact_span(&number)?;
        if number.range.negative && !bits.is_multiple_of(64) {
            return key.refuse("a signed select key of more than 64 bits is not supported");
        }
        span
    };
    keys.extend((span.first..span.first + span.words).rev());
    widths.push(bits.max(1));
    Ok(())
}

/// Cuts a select value, with whole bytes for every key, into the words of the keys.
fn split(json: &Json<'_>, widths: &[u32]) -> Result<Vec<u64>, LoadError> {
    let value = json.hexadecimal()?;
    let total: u32 = widths.iter().map(|width| width.div_ceil(8)).sum();
    if value.negative || value.magnitude.len() > total as usize {
        return json.refuse(format!("expected a value of at most {total} bytes"));
    }
    let bytes = value.padded(total as usize);
    let mut words = Vec::new();
    let mut rest = &bytes[..];
    for width in widths {
        let (field, after) = rest.split_at(width.div_ceil(8) as usize);
        rest = after;
        words.extend(key_words(field));
    }
    Ok(words)
}

/// Big-endian bytes as words, most significant first.
fn key_words(bytes: &[u8]) -> impl Iterator<Item = u64> {
    let words = bytes.rchunks(8).rev();
    words.map(|bytes| {
        bytes
            .iter()
            .fold(0u64, |sum, byte| sum << 8 | u64::from(*byte))
    })
}
