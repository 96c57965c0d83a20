//! Every operator on every kind of operand: fields of headers and metadata, parameters of actions, constants, of one
//! word and of several, as p4c writes them. Up to 256 bits none of them leaves native code, but for long divisions.

use serde_json::{Value, json};

use crate::choices::Choices;
use crate::pair::{Loaded, Pair};

/// Some of one word, of two, and of more, with and without room above.
const WIDTHS: [usize; 6] = [1, 33, 64, 65, 128, 256];

/// Pairs of kinds of operands, each kind on both sides.
const KINDS: [(&str, &str); 5] = [
    ("field", "parameter"),
    ("parameter", "local"),
    ("local", "constant"),
    ("constant", "field"),
    ("parameter", "parameter"),
];

fn operation(op: &str, left: &Value, right: &Value) -> Value {
    json!({"type": "expression", "value": {"op": op, "left": left, "right": right}})
}

fn number(value: usize) -> Value {
    json!({"type": "hexstr", "value": format!("{value:#x}")})
}

fn field(header: &str, name: &str) -> Value {
    json!({"type": "field", "value": [header, name]})
}

/// 2^`width` - 1.
fn ones(width: usize) -> Value {
    let first = (1 << (width % 4)) - 1;
    json!({"type": "hexstr", "value": format!("0x{first:x}{}", "f".repeat(width / 4))})
}

fn cut(value: &Value, width: usize) -> Value {
    operation("&", value, &ones(width))
}

fn operand(kind: &str, side: usize, width: usize) -> Value {
    match kind {
        "field" => field("in", ["a", "b"][side]),
        "parameter" => json!({"type": "local", "value": side}),
        "local" => field("scalars", ["a", "b"][side]),
        _ => {
            json!({"type": "hexstr", "value": format!("0x{}", &"1a5c3".repeat(26)[..width.div_ceil(4)])})
        }
    }
}

/// An amount of a shift; p4c lets it have eight bits.
fn amount(kind: &str) -> Value {
    match kind {
        "field" => field("in", "n"),
        "parameter" => json!({"type": "local", "value": 2}),
        "local" => field("scalars", "n"),
        _ => number(3),
    }
}

/// What is computed of two operands of a width.
fn results(left: &str, right: &str, width: usize) -> Vec<Value> {
    let (a, b, n) = (
        operand(left, 0, width),
        operand(right, 1, width),
        amount(right),
    );
    let signed = |value: &Value| operation("two_comp_mod", value, &number(width));
    let cast = |op, value: &Value| operation(op, value, &number(width));
    let (c, d) = (signed(&a), signed(&b));
    let truth = |op, left, right| {
        let truth = operation(op, left, right);
        json!({"type": "expression", "value": {"op": "b2d", "left": null, "right": truth}})
    };
    let word = |op| cut(&operation(op, &a, &b), width);
    let half = width / 2;
    let mut results: Vec<Value> = ["+", "-", "*", "&", "|", "^"].map(word).into();
    results.extend([
        // One that is cut to its width, and one that keeps all bits until it is shifted back.
        cut(&operation("<<", &a, &n), width),
        cut(&operation(">>", &operation("<<", &a, &n), &n), width),
        cut(&operation(">>", &a, &n), width),
        signed(&operation(">>", &c, &n)),
        cast("usat_cast", &operation("+", &a, &b)),
        cast("usat_cast", &operation("-", &a, &b)),
        cast("sat_cast", &operation("+", &c, &d)),
        cast("sat_cast", &operation("-", &c, &d)),
        // a[width - 1:half] ++ b, cut.
        cut(
            &operation(
                "|",
                &operation("<<", &operation(">>", &a, &number(half)), &number(3)),
                &cut(&b, 3),
            ),
            width,
        ),
        truth("<", &a, &b),
        truth("<=", &c, &d),
        truth(">", &c, &operation("-", &a, &b)),
        truth(">=", &operation("<<", &a, &number(1)), &b),
        truth("==", &operation("+", &a, &b), &d),
    ]);
    if width <= 64 || width > 256 {
        results.extend(["/", "%"].map(word));
    }
    results
}

fn artifact(width: usize) -> String {
    let mut primitives = vec![
        json!({"op": "add_header", "parameters": [{"type": "header", "value": "out"}]}),
        json!({"op": "assign", "parameters": [field("standard_metadata", "egress_spec"), number(1)]}),
    ];
    for (to, from) in [("a", "b"), ("b", "a"), ("n", "n")] {
        let parameters = [field("scalars", to), field("in", from)];
        primitives.push(json!({"op": "assign", "parameters": parameters}));
    }
    let mut fields = Vec::new();
    for (left, right) in KINDS {
        for value in results(left, right, width) {
            let name = format!("f{}", fields.len());
            let value = json!({"type": "expression", "value": value});
            let parameters = [field("out", &name), value];
            primitives.push(json!({"op": "assign", "parameters": parameters}));
            fields.push(json!([name, width, false]));
        }
    }
    let pad = |bits: usize| (8 - bits % 8) % 8;
    let all = fields.len() * width;
    if pad(all) > 0 {
        fields.push(json!(["pad", pad(all), false]));
    }
    let operands = |room| {
        let mut fields = vec![
            json!(["a", width, false]),
            json!(["b", width, false]),
            json!(["n", 8, false]),
        ];
        if room > 0 {
            fields.push(json!(["pad", room, false]));
        }
        fields
    };
    let standard = [
        ("ingress_port", 9),
        ("egress_spec", 9),
        ("egress_port", 9),
        ("_padding", 5),
    ]
    .map(|(name, bits)| json!([name, bits, false]));
    let control = |name: &str, first: Option<&str>, tables: &[Value]| {
        json!({
            "name": name, "id": 0, "init_table": first, "tables": tables, "conditionals": [], "action_calls": [],
            "action_profiles": [],
        })
    };
    let table = json!({
        "name": "t", "id": 0, "match_type": "exact", "max_size": 16, "type": "simple", "with_counters": false,
        "support_timeout": false, "direct_meters": null, "action_ids": [0], "actions": ["compute"],
        "key": [{"match_type": "exact", "name": "n", "target": ["in", "n"], "mask": null}],
        "base_default_next": null, "next_tables": {"compute": null},
        "default_entry": {
            "action_id": 0, "action_const": false, "action_entry_const": false, "action_data": ["0x1", "0x0", "0x2"],
        },
    });
    let state = json!({
        "name": "start", "id": 0, "transition_key": [],
        "parser_ops": [{"op": "extract", "parameters": [{"type": "regular", "value": "in"}]}],
        "transitions": [{"type": "default", "value": null, "mask": null, "next_state": null}],
    });
    json!({
        "__meta__": {"version": [2, 23], "compiler": "none: made up"},
        "header_types": [
            {"name": "scalars_0", "fields": operands(0)},
            {"name": "standard_metadata", "fields": standard},
            {"name": "in_t", "fields": operands(pad(2 * width))},
            {"name": "out_t", "fields": fields},
        ],
        "headers": [
            {"name": "scalars", "id": 0, "header_type": "scalars_0", "metadata": true},
            {"name": "standard_metadata", "id": 1, "header_type": "standard_metadata", "metadata": true},
            {"name": "in", "id": 2, "header_type": "in_t", "metadata": false},
            {"name": "out", "id": 3, "header_type": "out_t", "metadata": false},
        ],
        "header_stacks": [], "header_union_types": [], "header_unions": [], "header_union_stacks": [],
        "field_lists": [], "errors": [["NoError", 0]], "enums": [], "parse_vsets": [],
        "parsers": [{"name": "parser", "id": 0, "init_state": "start", "parse_states": [state]}],
        "deparsers": [{"name": "deparser", "id": 0, "order": ["out"], "primitives": []}],
        "meter_arrays": [], "counter_arrays": [], "register_arrays": [], "calculations": [], "learn_lists": [],
        "actions": [{
            "name": "compute", "id": 0, "primitives": primitives,
            "runtime_data": [
                {"name": "a", "bitwidth": width}, {"name": "b", "bitwidth": width}, {"name": "n", "bitwidth": 8},
            ],
        }],
        "pipelines": [control("ingress", Some("t"), &[table]), control("egress", None, &[])],
        "checksums": [], "force_arith": [], "extern_instances": [], "field_aliases": [],
    })
    .to_string()
}

/// Compares packets and writes of a program; gives in how many places its code computes elsewhere.
fn long_calls(width: usize) -> usize {
    let Loaded::Pair(mut pair) = Pair::load(&artifact(width)) else {
        panic!("{width} bits: the program is not native");
    };
    for seed in 0..48 {
        let bytes = crate::random_bytes(seed, 4096);
        let mut choices = Choices::new(&bytes);
        pair.write(&mut choices);
        let mut frame = choices.fitting(2 * width as u32);
        let ends = [
            width - 1,
            width,
            width + 1,
            width.next_multiple_of(64),
            64,
            128,
        ];
        let amount = choices.pick(&ends.map(|end| end as u8));
        frame.push([choices.word() as u8, amount][choices.up_to(1)]);
        pair.packet(0, &frame, &mut choices);
    }
    assert!(pair.writes_taken > 0 && pair.sent > 24, "{width} bits");
    pair.execution().long_calls
}

#[test]
fn every_operator_is_code_and_does_the_same() {
    for width in WIDTHS {
        assert_eq!(long_calls(width), 0, "{width} bits");
    }
}

/// Of each pair of operands 24: sums, differences, products, shifts, orders, saturation and division, not what goes bit by
/// bit. Four shifts by a constant are of no number of several words, and two more of the constant are.
#[test]
fn longer_numbers_are_computed_elsewhere() {
    assert_eq!(long_calls(513), 5 * 24 - 4 + 2);
}
