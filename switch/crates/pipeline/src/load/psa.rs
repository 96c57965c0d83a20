//! What only artifacts of p4c-bm2-psa have: two parsers, two deparsers, and PSA's metadata.

use super::headers::Headers;
use super::json::Json;
use crate::error::LoadError;
use crate::program::{Program, Psa, PsaFields, WordField};

/// The names of the parsers and deparsers, that of ingress first.
pub(super) const PARSERS: [&str; 2] = ["ingress_parser", "egress_parser"];
pub(super) const DEPARSERS: [&str; 2] = ["ingress_deparser", "egress_deparser"];

/// Whether an artifact is one for PSA, by the names of its parsers.
pub(super) fn is_psa(root: &Json<'_>) -> bool {
    let named = |parser: &Json<'_>| parser.find("name")?.value.as_str().map(str::to_owned);
    let parsers = root.list("parsers").unwrap_or_default();
    parsers
        .iter()
        .any(|parser| named(parser).is_some_and(|name| PARSERS.contains(&&*name)))
}

/// The item of an array by its name.
pub(super) fn item<'a>(array: &Json<'a>, wanted: &str) -> Result<Json<'a>, LoadError> {
    for item in array.items()? {
        if item.get("name")?.text()? == wanted {
            return Ok(item);
        }
    }
    array.refuse(format!("nothing here is called {wanted:?}, which PSA has"))
}

/// Resolves the architecture's metadata; parsers and deparsers follow.
pub(super) fn load(
    root: &Json<'_>,
    headers: &Headers,
    program: &mut Program,
) -> Result<(), LoadError> {
    let fields = fields(root, headers)?;
    program.standard.instance_type = Some(fields.egress_parser_path);
    program.standard.egress_rid = Some(fields.instance);
    program.standard.priority = Some(fields.class_of_service);
    program.psa = Some(Psa {
        egress_state: crate::program::END,
        ingress_deparser: crate::program::Deparser::default(),
        fields,
    });
    Ok(())
}

fn fields(root: &Json<'_>, headers: &Headers) -> Result<PsaFields, LoadError> {
    let field = |part: &str, name: &str| -> Result<WordField, LoadError> {
        let header = format!("psa_{part}_metadata");
        let instance = headers.find(&header);
        match instance.and_then(|instance| headers.store(instance, name)) {
            Some(field) => Ok(field),
            None => root.get("headers")?.refuse(format!(
                "no metadata {header} with a field {name}, which PSA has"
            )),
        }
    };
    let (parsing, input, output) = ("ingress_parser_input", "ingress_input", "ingress_output");
    let (parsing_again, into, out) = ("egress_parser_input", "egress_input", "egress_output");
    Ok(PsaFields {
        ingress_parser_port: field(parsing, "ingress_port")?,
        ingress_parser_path: field(parsing, "packet_path")?,
        ingress_port: field(input, "ingress_port")?,
        ingress_path: field(input, "packet_path")?,
        ingress_timestamp: field(input, "ingress_timestamp")?,
        ingress_error: field(input, "parser_error")?,
        class_of_service: field(output, "class_of_service")?,
        ingress_clone: field(output, "clone")?,
        ingress_session: field(output, "clone_session_id")?,
        ingress_drop: field(output, "drop")?,
        resubmit: field(output, "resubmit")?,
        multicast_group: field(output, "multicast_group")?,
        out_port: field(output, "egress_port")?,
        egress_parser_port: field(parsing_again, "egress_port")?,
        egress_parser_path: field(parsing_again, "packet_path")?,
        egress_class: field(into, "class_of_service")?,
        egress_port: field(into, "egress_port")?,
        egress_path: field(into, "packet_path")?,
        instance: field(into, "instance")?,
        egress_timestamp: field(into, "egress_timestamp")?,
        egress_error: field(into, "parser_error")?,
        egress_clone: field(out, "clone")?,
        egress_session: field(out, "clone_session_id")?,
        egress_drop: field(out, "drop")?,
        deparser_port: field("egress_deparser_input", "egress_port")?,
    })
}
