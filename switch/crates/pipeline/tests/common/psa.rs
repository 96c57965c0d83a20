//! Artifacts for PSA, put together as p4c-bm2-psa writes them.

use serde_json::{Value, json};

/// The fields of `ask` with their widths, as they lie in a frame.
const ASK: [(&str, u32); 11] = [
    ("drop", 8),
    ("resubmit", 8),
    ("clone", 8),
    ("session", 8),
    ("group", 16),
    ("class", 8),
    ("port", 32),
    ("then", 32),
    ("egress_drop", 8),
    ("egress_clone", 8),
    ("egress_session", 8),
];

const SEEN: [(&str, u32); 6] = [
    ("path", 8),
    ("port", 32),
    ("instance", 16),
    ("class", 8),
    ("ingress_path", 8),
    ("ingress_port", 32),
];

const METADATA: [(&str, &[(&str, u32)]); 7] = [
    (
        "psa_ingress_parser_input_metadata",
        &[("ingress_port", 32), ("packet_path", 32)],
    ),
    (
        "psa_ingress_input_metadata",
        &[
            ("ingress_port", 32),
            ("packet_path", 32),
            ("ingress_timestamp", 64),
            ("parser_error", 32),
        ],
    ),
    (
        "psa_ingress_output_metadata",
        &[
            ("class_of_service", 8),
            ("clone", 1),
            ("clone_session_id", 16),
            ("drop", 1),
            ("resubmit", 1),
            ("multicast_group", 32),
            ("egress_port", 32),
        ],
    ),
    (
        "psa_egress_parser_input_metadata",
        &[("egress_port", 32), ("packet_path", 32)],
    ),
    (
        "psa_egress_input_metadata",
        &[
            ("class_of_service", 8),
            ("egress_port", 32),
            ("packet_path", 32),
            ("instance", 16),
            ("egress_timestamp", 64),
            ("parser_error", 32),
        ],
    ),
    (
        "psa_egress_output_metadata",
        &[("clone", 1), ("clone_session_id", 16), ("drop", 1)],
    ),
    ("psa_egress_deparser_input_metadata", &[("egress_port", 32)]),
];

pub fn field(header: &str, name: &str) -> Value {
    json!({"type": "field", "value": [header, name]})
}

pub fn assign(to: Value, from: Value) -> Value {
    json!({"op": "assign", "parameters": [to, from]})
}

pub fn header_type(name: &str, fields: &[(&str, u32)]) -> Value {
    let fields: Vec<_> = fields
        .iter()
        .map(|(name, bits)| json!([name, bits, false]))
        .collect();
    json!({"name": format!("{name}_t"), "id": 0, "fields": fields})
}

pub fn header(id: usize, name: &str, metadata: bool) -> Value {
    json!({"name": name, "id": id, "header_type": format!("{name}_t"), "metadata": metadata, "pi_omit": true})
}

/// A parser of `ask`, on some path with `seen` before it.
fn parser(name: &str, with_seen: u32) -> Value {
    let extract = |header: &str| json!([{"op": "extract", "parameters": [{"type": "regular", "value": header}]}]);
    let to =
        |next: Value| json!([{"type": "default", "value": null, "mask": null, "next_state": next}]);
    json!({"name": name, "id": 0, "init_state": "start", "parse_states": [
        {
            "name": "start", "id": 0, "parser_ops": [],
            "transition_key": [field(&format!("psa_{name}_input_metadata"), "packet_path")],
            "transitions": [
                {"type": "hexstr", "value": format!("0x{with_seen:08x}"), "mask": null, "next_state": "seen"},
                {"type": "default", "value": null, "mask": null, "next_state": "ask"},
            ],
        },
        {"name": "seen", "id": 1, "parser_ops": extract("seen"), "transitions": to(json!("ask")), "transition_key": []},
        {"name": "ask", "id": 2, "parser_ops": extract("ask"), "transitions": to(json!(null)), "transition_key": []},
    ]})
}

/// A control that calls one of two actions, by the path of a packet.
fn control(name: &str, special: u32, actions: [u32; 2]) -> Value {
    let call =
        |name: &str, id: u32| json!({"name": name, "id": id, "action_id": id, "next_node": null});
    json!({
        "name": name, "id": 0, "init_table": "which", "tables": [], "action_profiles": [],
        "conditionals": [{
            "name": "which", "id": 0, "true_next": "special", "false_next": "usual",
            "expression": {"type": "expression", "value": {
                "op": "==",
                "left": field(&format!("psa_{name}_input_metadata"), "packet_path"),
                "right": {"type": "hexstr", "value": format!("0x{special:08x}")},
            }},
        }],
        "action_calls": [call("usual", actions[0]), call("special", actions[1])],
    })
}

/// What ingress does: only on the first pass of a packet, clones and further passes.
fn ingress(id: u32, first: bool, port: &str) -> Value {
    let out = |name: &str| field("psa_ingress_output_metadata", name);
    let input = |name: &str| field("psa_ingress_input_metadata", name);
    let ask = |name: &str| field("ask", name);
    let mut primitives = vec![
        assign(out("drop"), ask("drop")),
        assign(out("multicast_group"), ask("group")),
        assign(out("class_of_service"), ask("class")),
        assign(out("egress_port"), ask(port)),
        assign(field("scalars", "path"), input("packet_path")),
        assign(field("scalars", "port"), input("ingress_port")),
    ];
    if first {
        primitives.extend([
            assign(out("resubmit"), ask("resubmit")),
            assign(out("clone"), ask("clone")),
            assign(out("clone_session_id"), ask("session")),
        ]);
    }
    json!({"name": format!("ingress_{id}"), "id": id, "runtime_data": [], "primitives": primitives})
}

fn egress(id: u32, clone: bool) -> Value {
    let out = |name: &str| field("psa_egress_output_metadata", name);
    let input = |name: &str| field("psa_egress_input_metadata", name);
    let (ask, seen) = (
        |name: &str| field("ask", name),
        |name: &str| field("seen", name),
    );
    let mut primitives = vec![
        json!({"op": "add_header", "parameters": [{"type": "header", "value": "seen"}]}),
        assign(seen("path"), input("packet_path")),
        assign(seen("port"), input("egress_port")),
        assign(seen("instance"), input("instance")),
        assign(seen("class"), input("class_of_service")),
        assign(seen("ingress_path"), field("scalars", "path")),
        assign(seen("ingress_port"), field("scalars", "port")),
    ];
    if clone {
        primitives.extend([
            assign(out("drop"), ask("egress_drop")),
            assign(out("clone"), ask("egress_clone")),
            assign(out("clone_session_id"), ask("egress_session")),
        ]);
    }
    json!({"name": format!("egress_{id}"), "id": id, "runtime_data": [], "primitives": primitives})
}

/// An artifact without tables and arrays; of the other members some may be changed.
pub fn artifact(
    types: Vec<Value>,
    headers: Vec<Value>,
    parsers: [Value; 2],
    deparsers: [Value; 2],
    actions: Vec<Value>,
    pipelines: [Value; 2],
) -> Value {
    let (mut types, mut headers) = (types, headers);
    for (name, fields) in METADATA {
        types.push(header_type(name, fields));
        headers.push(header(headers.len(), name, true));
    }
    json!({
        "header_types": types, "headers": headers, "header_stacks": [], "header_union_types": [],
        "header_unions": [], "header_union_stacks": [], "field_lists": [], "errors": [["NoError", 0]], "enums": [],
        "parsers": parsers, "parse_vsets": [], "deparsers": deparsers,
        "meter_arrays": [], "counter_arrays": [], "register_arrays": [], "calculations": [], "learn_lists": [],
        "actions": actions, "pipelines": pipelines,
        "checksums": [], "force_arith": [], "extern_instances": [], "field_aliases": [],
        "__meta__": {"version": [2, 23], "compiler": "https://github.com/p4lang/p4c"},
    })
}

/// A program for which each frame says by its header `ask` what both halves are to do with it; `seen`, which egress
/// puts before it, says what egress knew.
pub fn paths() -> Value {
    let types = vec![
        header_type("scalars", &[("path", 32), ("port", 32)]),
        header_type("ask", &ASK),
        header_type("seen", &SEEN),
    ];
    let headers = vec![
        header(0, "scalars", true),
        header(1, "ask", false),
        header(2, "seen", false),
    ];
    let actions = vec![
        ingress(0, true, "port"),
        ingress(1, false, "then"),
        egress(2, true),
        egress(3, false),
    ];
    artifact(
        types,
        headers,
        [parser("ingress_parser", 6), parser("egress_parser", 4)],
        [
            json!({"name": "ingress_deparser", "id": 0, "order": ["ask"], "primitives": []}),
            json!({"name": "egress_deparser", "id": 1, "order": ["seen", "ask"], "primitives": []}),
        ],
        actions,
        [control("ingress", 0, [1, 0]), control("egress", 4, [2, 3])],
    )
}
