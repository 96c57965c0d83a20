//! What only artifacts of p4c-bm2-pna have: a parser, a control and a deparser called `main_...`, PNA's metadata, and
//! functions that say where a packet goes. One pass of a packet is v1model's ingress; what the deparser does before it
//! writes headers is egress.

use super::assemble::{Assembler, Pool};
use super::ast::Number;
use super::fields::Field;
use super::headers::Headers;
use super::json::Json;
use super::lower::Lowering;
use crate::error::LoadError;
use crate::program::{ExternOperation, Fit, Instruction, Program, Slot, WordField};

pub(super) const CONTROL: &str = "main_control";
const PARSER: &str = "main_parser";

const PARSER_INPUT: &str = "pna_main_parser_input_metadata";
const INPUT: &str = "pna_main_input_metadata";
const OUTPUT: &str = "pna_main_output_metadata";

/// The switch's ports have 16 bits: what is beyond is limited to a port that is not there.
const PORT_BITS: u32 = 16;

/// Whether an artifact is one for PNA, by the name of its parser.
pub(super) fn is_pna(root: &Json<'_>) -> bool {
    let parsers = root.list("parsers").unwrap_or_default();
    let named = |parser: &Json<'_>| parser.find("name")?.value.as_str().map(str::to_owned);
    parsers
        .iter()
        .any(|parser| named(parser).is_some_and(|name| name == PARSER))
}

/// Resolves the architecture's metadata. For the port that a packet is sent to it has no field, so it gets a word.
pub(super) fn load(
    root: &Json<'_>,
    headers: &Headers,
    program: &mut Program,
) -> Result<(), LoadError> {
    let field = |header: &str, name: &str| match headers
        .find(header)
        .and_then(|instance| headers.store(instance, name))
    {
        Some(field) => Ok(Some(field)),
        None => root.get("headers")?.refuse(format!(
            "no metadata {header} with a field {name}, which PNA has"
        )),
    };
    program.standard.ingress_port = field(PARSER_INPUT, "input_port")?;
    program.standard.ingress_global_timestamp = field(INPUT, "timestamp")?;
    program.standard.parser_error = field(INPUT, "parser_error")?;
    program.standard.priority = field(OUTPUT, "class_of_service")?;
    program.standard.egress_spec = Some(WordField {
        word: program.words,
        fit: Fit::new(PORT_BITS, false),
    });
    program.words += 1;
    program.is_pna = true;
    Ok(())
}

/// The word for the port that a packet is sent to, if the program is one for PNA.
pub(super) fn destination(program: &Program) -> Option<Field> {
    let port = program.standard.egress_spec.filter(|_| program.is_pna)?;
    let word = port.word;
    Some(Field {
        slot: Slot::Word { word },
        bits: PORT_BITS,
        signed: false,
        valid: None,
        saturating: true,
    })
}

/// What comes before the control: its input has the port of the parser's, and a packet that is sent nowhere is dropped.
pub(super) fn before_control(
    root: &Json<'_>,
    headers: &Headers,
    program: &Program,
    pool: &mut Pool,
) -> Result<Vec<Instruction>, LoadError> {
    let mut out = Assembler::new(pool);
    out.external(ExternOperation::MarkToDrop {
        egress_spec: program.standard.egress_spec,
        mcast_grp: None,
    });
    let port = |header: &str| headers.find_field(headers.find(header)?, "input_port");
    if let (Some(from), Some(to)) = (port(PARSER_INPUT), port(INPUT)) {
        let at = root;
        Lowering { at, out: &mut out }.assign(to, &Number::field(from))?;
    }
    Ok(out.code)
}
