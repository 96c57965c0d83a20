//! Artifacts made to be expensive: a few kilobytes of them may ask for millions of instructions, or for time that grows
//! with the square of their length. They are compiled as long as that is cheap, and interpreted beyond.

use std::fs::read_to_string;
use std::process::Command;
use std::time::{Duration, Instant};

use phb_pipeline::{Executor, Options, Pipeline};
use serde_json::{Map, Value, json};

/// Megabytes and time that native code may take more than the interpreter, in an optimised build.
const MOST_MEMORY: u64 = 200;
const MOST_TIME: Duration = Duration::from_secs(4);

fn field(header: &str, name: &str) -> Value {
    json!({"type": "field", "value": [header, name]})
}

/// A field of metadata.
fn x(number: usize) -> Value {
    field("scalars", &format!("x{number}"))
}

/// A field of the header.
fn h(number: usize) -> Value {
    field("h", &format!("f{number}"))
}

fn number(value: usize) -> Value {
    json!({"type": "hexstr", "value": format!("{value:#x}")})
}

fn operation(op: &str, left: Value, right: Value) -> Value {
    json!({"type": "expression", "value": {"op": op, "left": left, "right": right}})
}

fn primitive(op: &str, parameters: &[Value]) -> Value {
    json!({"op": op, "parameters": parameters})
}

fn assign(to: Value, from: Value) -> Value {
    primitive("assign", &[to, from])
}

fn named(kind: &str, name: &str) -> Value {
    json!({"type": kind, "value": name})
}

/// A key of a table: a field of metadata.
fn key(kind: &str, number: usize) -> Value {
    json!({"match_type": kind, "name": format!("k{number}"), "target": ["scalars", format!("x{number}")], "mask": null})
}

/// Appends `if`s of one statement each.
fn ifs(count: usize, out: &mut Vec<Value>, body: impl Fn(usize) -> Value) {
    for at in 0..count {
        let port = field("standard_metadata", "ingress_port");
        let condition = operation("==", port, number(at % 500));
        let end = out.len() + 2;
        out.push(primitive("_jump_if_zero", &[condition, number(end)]));
        out.push(body(at));
    }
}

fn state(number: usize, operations: &[Value], key: &[Value], transitions: &[Value]) -> Value {
    json!({
        "name": format!("p{number}"), "id": number, "parser_ops": operations, "transitions": transitions,
        "transition_key": key,
    })
}

/// A case of a parser state, or the default without a value.
fn case(value: Option<String>, next: usize) -> Value {
    let kind = if value.is_some() { "hexstr" } else { "default" };
    json!({"type": kind, "value": value, "mask": null, "next_state": format!("p{next}")})
}

/// What an artifact has besides what all have.
#[derive(Default)]
struct Parts {
    /// Widths of the fields of metadata.
    scalars: Vec<u32>,
    /// Widths of the header's fields.
    header: Vec<u32>,
    actions: Vec<Vec<Value>>,
    /// Whether ingress calls the first action.
    called: bool,
    /// The tables of ingress, which all have all actions.
    tables: usize,
    keys: Vec<Value>,
    states: Vec<Value>,
    /// How often the header is written.
    written: usize,
    /// Checksums of all fields of the header.
    checksums: usize,
}

impl Parts {
    fn artifact(self) -> String {
        let fields = |prefix: &str, widths: &[u32]| -> Vec<Value> {
            let fields = widths.iter().enumerate();
            let fields = fields.map(|(at, bits)| json!([format!("{prefix}{at}"), bits, false]));
            fields.collect()
        };
        let ids: Vec<usize> = (0..self.actions.len()).collect();
        let names: Vec<String> = ids.iter().map(|id| format!("a{id}")).collect();
        let actions: Vec<Value> = ids
            .iter()
            .zip(&self.actions)
            .map(|(id, body)| {
                json!({"name": names[*id], "id": id, "runtime_data": [], "primitives": body})
            })
            .collect();
        let table = |at: usize| {
            let next = (at + 1 < self.tables).then(|| format!("t{}", at + 1));
            let nexts: Map<String, Value> = names
                .iter()
                .map(|name| (name.clone(), json!(next)))
                .collect();
            json!({
                "name": format!("t{at}"), "id": at, "key": self.keys, "match_type": "exact", "max_size": 16,
                "type": "simple", "with_counters": false, "support_timeout": false, "direct_meters": null,
                "action_ids": ids, "actions": names, "base_default_next": next, "next_tables": nexts,
            })
        };
        let tables: Vec<Value> = (0..self.tables).map(table).collect();
        let first = (self.tables > 0).then_some("t0");
        let calls: &[Value] =
            &[json!({"name": "call", "id": 0, "action_id": 0, "next_node": first})];
        let calls = if self.called { calls } else { &[] };
        let control = |name: &str, first: Option<&str>, tables: &[Value], calls: &[Value]| {
            json!({
                "name": name, "id": 0, "init_table": first, "tables": tables, "conditionals": [], "action_calls": calls,
                "action_profiles": [],
            })
        };
        let standard = [
            ("ingress_port", 9),
            ("egress_spec", 9),
            ("egress_port", 9),
            ("_padding", 5),
        ];
        let standard = standard.map(|(name, bits)| json!([name, bits, false]));
        let all: Vec<Value> = (0..self.header.len()).map(h).collect();
        let checksum = |id: usize| {
            json!({
                "name": format!("k{id}"), "id": id, "target": ["h", "f0"], "type": "generic", "calculation": "sum",
                "verify": true, "update": true, "if_cond": null,
            })
        };
        let checksums: Vec<Value> = (0..self.checksums).map(checksum).collect();
        let errors = [
            "NoError",
            "PacketTooShort",
            "NoMatch",
            "StackOutOfBounds",
            "HeaderTooShort",
            "ParserTimeout",
        ];
        let errors: Vec<(&str, usize)> = errors.into_iter().zip(0..).collect();
        let states = if self.states.is_empty() {
            vec![state(0, &[], &[], &[])]
        } else {
            self.states
        };
        let ingress = control(
            "ingress",
            if self.called { Some("call") } else { first },
            &tables,
            calls,
        );
        json!({
            "__meta__": {"version": [2, 23], "compiler": "none: made up"},
            "header_types": [
                {"name": "scalars_0", "fields": fields("x", &self.scalars)},
                {"name": "standard_metadata", "fields": standard},
                {"name": "h_t", "fields": fields("f", &self.header)},
            ],
            "headers": [
                {"name": "scalars", "id": 0, "header_type": "scalars_0", "metadata": true},
                {"name": "standard_metadata", "id": 1, "header_type": "standard_metadata", "metadata": true},
                {"name": "h", "id": 2, "header_type": "h_t", "metadata": false},
            ],
            "header_stacks": [], "header_union_types": [], "header_unions": [], "header_union_stacks": [],
            "field_lists": [], "errors": errors, "enums": [], "parse_vsets": [],
            "parsers": [{"name": "parser", "id": 0, "init_state": "p0", "parse_states": states}],
            "deparsers": [{"name": "deparser", "id": 0, "order": vec!["h"; self.written], "primitives": []}],
            "meter_arrays": [], "counter_arrays": [],
            "register_arrays": [{"name": "r", "id": 0, "size": 4, "bitwidth": 32}],
            "calculations": [{"name": "sum", "id": 0, "algo": "csum16", "input": all}],
            "learn_lists": [], "actions": actions,
            "pipelines": [ingress, control("egress", None, &[], &[])],
            "checksums": checksums, "force_arith": [], "extern_instances": [], "field_aliases": [],
        })
        .to_string()
    }
}

/// Kinds of expensive programs, with how many of what their comments in [`artifact`] tell: about as many as are compiled,
/// more than that, and a word of the reason.
const KINDS: [(&str, usize, usize, &str); 15] = [
    ("ifs", 8_000, 23_000, "steps"),
    ("live", 1_000, 1_500, "blocks"),
    ("memory", 1_000, 1_500, "blocks"),
    ("loops", 3_000, 6_000, "instructions"),
    ("registers", 1_900, 2_200, "blocks"),
    ("wide", 10, 100, "instructions"),
    ("shifts", 250, 400, "instructions"),
    ("products", 300, 500, "instructions"),
    ("hashes", 14, 1_000, "instructions"),
    ("checksums", 6, 100, "instructions"),
    ("tables", 300, 500, "instructions"),
    ("actions", 150, 300, "instructions"),
    ("cases", 90, 200, "instructions"),
    ("extracts", 4, 20, "instructions"),
    ("emits", 14, 60, "instructions"),
];

fn artifact(kind: &str, n: usize) -> String {
    let mut parts = Parts {
        called: true,
        ..Parts::default()
    };
    let mut body = Vec::new();
    match kind {
        // Places where ways part and meet.
        "ifs" => {
            let port = || field("standard_metadata", "egress_spec");
            ifs(n, &mut body, |at| assign(port(), number(at % 500)));
        }
        // Values that all are alive where ways meet, which have to be joined there.
        "live" => {
            parts.scalars = vec![32; n];
            parts.header = vec![32];
            body.extend((0..n).map(|at| assign(x(at), operation("^", h(0), number(at)))));
            ifs(n, &mut body, |at| assign(x(at), number(at)));
            body.extend((0..n).map(|at| assign(h(0), operation("^", h(0), x(at)))));
        }
        // Words of memory that are written on one of two ways.
        "memory" => {
            parts.header = vec![32; n];
            ifs(n, &mut body, |at| assign(h(at), number(at)));
        }
        // Jumps from anywhere to anywhere.
        "loops" => {
            parts.scalars = vec![32; 64];
            for at in 0..n {
                let condition = operation("==", x(at % 64), number(at % 500));
                let to = number(at * 7919 % n * 2);
                body.push(primitive("_jump_if_zero", &[condition, to]));
                let value = operation("^", x((at + 1) % 64), number(at));
                body.push(assign(x(at * 31 % 64), value));
            }
        }
        // Cells of a register, by indices of packets.
        "registers" => {
            parts.header = vec![32; 500];
            ifs(n, &mut body, |at| {
                let register = named("register_array", "r");
                primitive(
                    "register_write",
                    &[register, h(at % 500), h((at + 1) % 500)],
                )
            });
        }
        // Operations on numbers of 1,024 words.
        "wide" => {
            parts.scalars = vec![65_536; 2];
            body.extend((0..n).map(|_| assign(x(0), operation("^", x(0), x(1)))));
        }
        // Choices among words, by amounts of packets.
        "shifts" => {
            parts.scalars = vec![512];
            parts.header = vec![8];
            body.extend((0..n).map(|_| assign(x(0), operation("<<", x(0), h(0)))));
        }
        "products" => {
            parts.scalars = vec![256; 2];
            body.extend((0..n).map(|_| assign(x(0), operation("*", x(0), x(1)))));
        }
        // Hashes of a thousand fields.
        "hashes" => {
            parts.header = vec![32; 1000];
            parts.scalars = vec![32];
            let sum = named("calculation", "sum");
            let hash = [x(0), number(0), sum, number(65_536)];
            let hash = primitive("modify_field_with_hash_based_offset", &hash);
            body.extend(vec![hash; n]);
        }
        "checksums" => {
            parts.header = vec![32; 1000];
            parts.checksums = n;
        }
        // Tables that are searched by prefixes.
        "tables" => {
            parts.scalars = vec![32; 2];
            parts.keys = vec![key("lpm", 0)];
            parts.tables = n;
        }
        // Tables with as many actions, which do nothing.
        "actions" => {
            parts.scalars = vec![32];
            parts.keys = vec![key("exact", 0)];
            parts.actions = vec![Vec::new(); n - 1];
            parts.tables = n;
        }
        // States with many cases each.
        "cases" => {
            parts.header = vec![32];
            parts.states = (0..64)
                .map(|number| {
                    let value = |at| Some(format!("0x{at:08x}"));
                    let cases: Vec<Value> = (0..n)
                        .map(|at| case(value(at), (at + number) % 64))
                        .collect();
                    state(number, &[], &[h(0)], &cases)
                })
                .collect();
        }
        // States that extract a header of 4,000 fields.
        "extracts" => {
            parts.header = vec![8; 4000];
            let extract = [primitive("extract", &[named("regular", "h")])];
            parts.states = (0..n)
                .map(|number| state(number, &extract, &[], &[case(None, (number + 1) % n)]))
                .collect();
        }
        // A header of a thousand fields, written many times.
        "emits" => {
            parts.header = vec![8; 1000];
            parts.written = n;
        }
        other => panic!("no kind {other}"),
    }
    parts.actions.push(body);
    parts.artifact()
}

fn load(artifact: &str, executor: Executor) -> Pipeline {
    let options = Options {
        executor,
        ..Options::default()
    };
    Pipeline::load(artifact, options).unwrap_or_else(|error| panic!("{error}"))
}

/// Programs beyond the bounds are interpreted, for the reason given.
#[test]
fn programs_that_cost_too_much_are_interpreted() {
    for (kind, _, beyond, reason) in KINDS {
        let artifact = artifact(kind, beyond);
        let pipeline = load(&artifact, Executor::Native);
        let execution = pipeline.execution();
        let given = execution
            .reason
            .unwrap_or_else(|| panic!("{kind} is native"));
        assert!(given.contains(reason), "{kind}: {given}");
    }
}

/// Mebibytes that the process has had at most.
fn high_water() -> u64 {
    let status = read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kilobytes.unwrap() / 1024
}

/// Of a program that is loaded in a process of its own: mebibytes and milliseconds.
fn cost(kind: &str, n: usize, executor: Executor) -> (u64, u64) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "in_a_process_of_its_own",
            "--ignored",
            "--nocapture",
        ])
        .envs([
            ("HOSTILE_KIND", kind),
            ("HOSTILE_EXECUTOR", executor.name()),
        ])
        .env("HOSTILE_COUNT", n.to_string())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let line = text.lines().find_map(|line| line.split_once("cost: "));
    let numbers = line.and_then(|(_, line)| {
        let (memory, time) = line.split_once(' ')?;
        Some((memory.parse().ok()?, time.parse().ok()?))
    });
    numbers.unwrap_or_else(|| panic!("{kind}: {output:?}"))
}

#[test]
#[ignore = "the other tests start it"]
fn in_a_process_of_its_own() {
    let Ok(kind) = std::env::var("HOSTILE_KIND") else {
        return;
    };
    let count = std::env::var("HOSTILE_COUNT").unwrap().parse().unwrap();
    let native = std::env::var("HOSTILE_EXECUTOR").unwrap() == Executor::Native.name();
    let executor = if native {
        Executor::Native
    } else {
        Executor::Interpreter
    };
    let artifact = artifact(&kind, count);
    let start = Instant::now();
    let pipeline = load(&artifact, executor);
    let time = start.elapsed();
    assert_eq!(
        pipeline.execution().executor,
        executor,
        "{kind}: {}",
        pipeline.execution()
    );
    println!("cost: {} {}", high_water(), time.as_millis());
}

/// What the most expensive programs that are compiled cost: `cargo test --release -p phb-pipeline --test hostile --
/// --ignored --nocapture`.
#[test]
#[ignore = "for an optimised build: it measures"]
fn the_most_expensive_programs() {
    for (kind, most, _, _) in KINDS {
        let (memory, time) = cost(kind, most, Executor::Native);
        let (less_memory, less_time) = cost(kind, most, Executor::Interpreter);
        println!(
            "{kind:>10} {most:>5}: {time:>5} ms, interpreted {less_time:>4} ms; {memory:>3} MB, interpreted {less_memory:>3} MB"
        );
        assert!(memory <= less_memory + MOST_MEMORY, "{kind}");
        assert!(time <= less_time + MOST_TIME.as_millis() as u64, "{kind}");
    }
}
