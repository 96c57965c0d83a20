//! The loader: a bmv2 JSON artifact, as p4c-bm2-ss writes it for v1model, becomes a [`Program`].
//! There is one file per part of the artifact. Expressions are first read into a tree with the
//! range of every value (`ast`), then become instructions (`lower`).

mod actions;
mod assemble;
mod assignments;
mod ast;
mod conditions;
mod control;
mod deparser;
mod expressions;
mod externs;
mod fields;
mod headers;
mod json;
mod lists;
mod liveness;
mod lower;
mod methods;
mod names;
mod operations;
mod optimise;
mod parser;
mod pieces;
mod places;
mod pna;
mod primitives;
mod profiles;
mod propagate;
mod psa;
mod registers;
mod settings;
mod tables;
mod unions;
mod values;
mod wide;

use std::collections::HashMap;
use std::sync::Arc;

use json::Json;

use crate::error::LoadError;
use crate::program::{Dictionary, Instruction, Program};

/// Bytes of stack for the deepest expression of `json`: several times those of an unoptimised
/// build.
const STACK: usize = 64 << 20;

/// Loads an artifact, in a thread of its own: the caller's may have a small stack.
pub(crate) fn load(text: &str) -> Result<Program, LoadError> {
    in_thread(|| load_here(text, None))
}

/// Loads an artifact in the form that is traced, with the names of its parts.
pub(crate) fn load_traced(text: &str) -> Result<(Program, Dictionary), LoadError> {
    in_thread(|| {
        let mut names = Dictionary::default();
        let program = load_here(text, Some(&mut names))?;
        Ok((program, names))
    })
}

fn in_thread<T: Send>(load: impl FnOnce() -> Result<T, LoadError> + Send) -> Result<T, LoadError> {
    let failed = |message: String| LoadError {
        path: "/".into(),
        message,
    };
    std::thread::scope(|scope| {
        let loader = std::thread::Builder::new()
            .name("phb-load".into())
            .stack_size(STACK);
        match loader.spawn_scoped(scope, load) {
            Ok(thread) => thread
                .join()
                .unwrap_or_else(|_| Err(failed("the loader failed".into()))),
            Err(error) => Err(failed(format!("no thread to load in: {error}"))),
        }
    })
}

/// Where names are wanted, the program is left as the artifact has it.
fn load_here(text: &str, names_of: Option<&mut Dictionary>) -> Result<Program, LoadError> {
    let document = json::parse(text)?;
    let root = Json::root(&document);
    check_version(&root)?;
    let mut program = Program::default();
    let mut tables = Vec::new();
    let headers = headers::Headers::load(&root, &mut program)?;
    if psa::is_psa(&root) {
        psa::load(&root, &headers, &mut program)?;
    }
    if pna::is_pna(&root) {
        pna::load(&root, &headers, &mut program)?;
    }
    let extern_names = externs::ExternNames::load(&root, &headers, &mut program)?;
    let field_lists = lists::load_field_lists(&root, &headers, &mut program)?;
    lists::load_digests(&root, &headers, &mut program)?;
    let names = actions::Names {
        headers: &headers,
        externs: &extern_names,
        field_lists: &field_lists,
    };
    let words = actions::parameter_words(&root)?;
    if program.words + words > assemble::MOST_WORDS {
        return root
            .get("actions")?
            .refuse("the parameters of an action are too many");
    }
    let mut pool = assemble::Pool::new(program.words, words);
    program.parameters = pool.parameters;
    pool.marks = names_of.is_some().then(Vec::new);
    let mut additions = actions::Additions::default();
    let mut ids = HashMap::new();
    let mut bodies = Vec::new();
    for item in root.get("actions")?.items()? {
        let (mut action, mut body) =
            actions::load_action(&item, names, &program, &mut pool, &mut additions)?;
        bodies.push(body.clone());
        if !body.is_empty() {
            body.push(Instruction::Return);
            action.start = Some(assemble::append(&mut program.code, &body, &item)?);
        }
        ids.insert(item.get("id")?.number()?, program.actions.len() as u32);
        program.actions.push(action);
    }
    parser::load_parser(&root, names, &mut program, &mut pool, &mut additions)?;
    control::load_controls(
        &root,
        names,
        &ids,
        &bodies,
        &mut pool,
        &mut program,
        &mut tables,
    )?;
    deparser::load_deparsers(&root, names, &mut program, &mut pool, &mut additions)?;
    if program.is_pna {
        let before = pna::before_control(&root, &headers, &program, &mut pool)?;
        let start = assemble::append(&mut program.code, &before, &root)?;
        program.code.push(Instruction::Jump(program.ingress));
        program.ingress = start;
        // Nothing else is between a packet's queue and its deparser.
        program.egress = program.deparser.start.take().unwrap_or(program.egress);
    }
    program.calculations.append(&mut additions.calculations);
    externs::load_checksums(&root, &headers, &extern_names, &mut pool, &mut program)?;
    program.words = pool.words;
    program.wide = pool.wide;
    program.operations = pool.externs;
    program.messages = additions.messages;
    if names_of.is_none() {
        let scalars = headers.scalars(&program);
        let temporary = pool.first;
        optimise::optimise(&mut program, &mut tables, |place| {
            u32::from(place) >= temporary || scalars.contains(&place.into())
        });
        settings::take_out(&mut program, &mut tables);
    }
    program.tables = tables.into_iter().map(Arc::new).collect();
    if let Some(names_of) = names_of {
        *names_of = names::load(&root, &headers, &program, pool.marks.unwrap_or_default())?;
    }
    Ok(program)
}

fn check_version(root: &Json<'_>) -> Result<(), LoadError> {
    // Artifacts from before the format had versions have none.
    let Some(version) = root.find("__meta__").and_then(|meta| meta.find("version")) else {
        return Ok(());
    };
    let [major, _] = version.tuple()?;
    match major.number()? {
        2 => Ok(()),
        other => version.refuse(format!("bmv2 JSON version {other}; expected 2")),
    }
}
