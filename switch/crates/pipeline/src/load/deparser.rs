//! Deparsers: the headers that are written, and what is done before.

use super::actions::{Additions, Names, load_primitives};
use super::assemble::{Assembler, Pool, append};
use super::expressions::Context;
use super::json::Json;
use super::psa;
use crate::error::LoadError;
use crate::program::{Deparser, Instruction, Program};

/// Reads the deparser of v1model, which has no statements, or the two of PSA.
pub(super) fn load_deparsers(
    root: &Json<'_>,
    names: Names<'_>,
    program: &mut Program,
    pool: &mut Pool,
    additions: &mut Additions,
) -> Result<(), LoadError> {
    let deparsers = root.get("deparsers")?;
    if program.psa.is_some() {
        let [ingress, egress] = psa::DEPARSERS;
        let ingress = psa::item(&deparsers, ingress)?;
        let ingress = load_deparser(&ingress, names, program, pool, additions)?;
        let egress = psa::item(&deparsers, egress)?;
        program.deparser = load_deparser(&egress, names, program, pool, additions)?;
        if let Some(psa) = &mut program.psa {
            psa.ingress_deparser = ingress;
        }
        return Ok(());
    }
    let items = deparsers.items()?;
    let [deparser] = items.as_slice() else {
        return deparsers.refuse("expected exactly one deparser");
    };
    if let Some(first) = deparser.list("primitives")?.first()
        && !program.is_pna
    {
        return first.refuse("statements other than emit are not supported in a deparser");
    }
    program.deparser = load_deparser(deparser, names, program, pool, additions)?;
    Ok(())
}

fn load_deparser(
    json: &Json<'_>,
    names: Names<'_>,
    program: &mut Program,
    pool: &mut Pool,
    additions: &mut Additions,
) -> Result<Deparser, LoadError> {
    let mut deparser = Deparser::default();
    for name in json.get("order")?.items()? {
        deparser.emitted.push(names.headers.instance(&name)?.span);
    }
    deparser.in_bytes = deparser.emitted.iter().all(|header| {
        let fields = program.layouts[header.layout as usize].fields.iter();
        fields
            .map(|field| field.bits)
            .sum::<u32>()
            .is_multiple_of(8)
    });
    if let Some(primitives) = json.find("primitives") {
        let context = Context {
            headers: names.headers,
            program,
            parameters: &[],
            parameters_at: 0,
        };
        let mut out = Assembler::new(pool);
        load_primitives(&primitives, context, names, &mut out, additions)?;
        let mut code = out.code;
        if !code.is_empty() {
            code.push(Instruction::End);
            deparser.start = Some(append(&mut program.code, &code, json)?);
        }
    }
    Ok(deparser)
}
