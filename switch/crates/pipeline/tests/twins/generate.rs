//! Artifacts such as p4c could have made: random header types, parsers, expressions, actions with jumps and loops,
//! tables, externs, checksums. What is declared is always the same kinds of things under the same names; how wide they
//! are, and what is done with them, is chosen.

use serde_json::{Value, json};

use crate::choices::Choices;

const WIDTHS: [u32; 26] = [
    8, 1, 2, 4, 7, 9, 12, 13, 16, 24, 31, 32, 33, 48, 56, 63, 64, 65, 72, 100, 127, 128, 129, 160,
    192, 200,
];

/// Elements of each header stack.
const ELEMENTS: usize = 3;

/// A field that a program may name.
#[derive(Debug, Clone)]
struct Field {
    header: &'static str,
    name: String,
    bits: u32,
}

/// Headers by name, with their types; elements of stacks and members of unions come by their stack or union.
const HEADERS: [(&str, usize); 5] = [("a", 0), ("b", 0), ("c", 1), ("u.x", 0), ("u.y", 2)];

/// Stacks by name, with the types of their elements: two alike, and those of the union stack's members are not named.
const STACKS: [(&str, usize); 2] = [("s", 1), ("r", 1)];

const TYPES: usize = 3;

struct Generator<'c, 'a> {
    choices: &'c mut Choices<'a>,
    /// Fields of each header type.
    types: Vec<Vec<(String, u32)>>,
    /// Fields of metadata that statements may set.
    metadata: Vec<Field>,
    /// Widths of the parameters of the action that is being made.
    parameters: Vec<u32>,
    /// Depth of loops that is being made.
    loops: usize,
    /// Statements that may still be made for one action.
    left: usize,
}

/// An artifact, as JSON.
pub fn artifact(choices: &mut Choices<'_>) -> Value {
    let mut generator = Generator {
        choices,
        types: Vec::new(),
        metadata: Vec::new(),
        parameters: Vec::new(),
        loops: 0,
        left: 0,
    };
    generator.artifact()
}

fn field(header: &str, name: &str) -> Value {
    json!({"type": "field", "value": [header, name]})
}

fn hexadecimal(bytes: &[u8]) -> Value {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    json!({"type": "hexstr", "value": format!("0x{digits}")})
}

fn number(value: u64) -> Value {
    json!({"type": "hexstr", "value": format!("{value:#x}")})
}

/// All ones of a width.
fn ones(bits: u32) -> Value {
    let mut bytes = vec![0xff; bits.div_ceil(8) as usize];
    if !bits.is_multiple_of(8) {
        bytes[0] = (1 << (bits % 8)) - 1;
    }
    hexadecimal(&bytes)
}

fn operation(op: &str, left: Value, right: Value) -> Value {
    json!({"type": "expression", "value": {"op": op, "left": left, "right": right}})
}

fn cut(value: Value, bits: u32) -> Value {
    operation("&", value, ones(bits))
}

fn primitive(op: &str, parameters: &[Value]) -> Value {
    json!({"op": op, "parameters": parameters})
}

fn named(kind: &str, name: &str) -> Value {
    json!({"type": kind, "value": name})
}

impl Generator<'_, '_> {
    fn width(&mut self) -> u32 {
        self.choices.pick(&WIDTHS)
    }

    fn narrow(&mut self) -> u32 {
        self.width().min(64)
    }

    fn constant(&mut self) -> Value {
        let bits = self.width();
        let value = self.choices.fitting(bits);
        hexadecimal(&value)
    }

    // What can be read and set

    /// Any field that is not of a stack.
    fn a_field(&mut self) -> Field {
        if self.choices.one_in(2) {
            let (header, kind) = self.choices.pick(&HEADERS);
            let (name, bits) = self.choices.pick(&self.types[kind]);
            return Field { header, name, bits };
        }
        self.choices.pick(&self.metadata)
    }

    fn narrow_field(&mut self) -> Value {
        for _ in 0..4 {
            let found = self.a_field();
            if found.bits <= 64 {
                return field(found.header, &found.name);
            }
        }
        field("standard_metadata", "egress_spec")
    }

    /// An element of a stack by a computed index.
    fn element(&mut self, depth: usize) -> (Value, usize) {
        let (stack, kind) = self.choices.pick(&STACKS);
        let index = if self.choices.one_in(2) {
            self.number(depth)
        } else {
            number(self.choices.up_to(ELEMENTS) as u64)
        };
        let index = cut(index, 2);
        (
            operation(
                "dereference_header_stack",
                named("header_stack", stack),
                index,
            ),
            kind,
        )
    }

    /// A place to assign to, or to read.
    fn place(&mut self, depth: usize) -> Value {
        match self.choices.up_to(9) {
            8 => {
                let (stack, kind) = self.choices.pick(&STACKS);
                let (name, _) = self.choices.pick(&self.types[kind]);
                json!({"type": "stack_field", "value": [stack, name]})
            }
            9 if depth > 0 => {
                let (element, kind) = self.element(depth - 1);
                let position = self.choices.up_to(self.types[kind].len() - 1);
                operation("access_field", element, json!(position))
            }
            _ => {
                let found = self.a_field();
                field(found.header, &found.name)
            }
        }
    }

    // Expressions

    fn number(&mut self, depth: usize) -> Value {
        if depth == 0 || self.choices.one_in(4) {
            return match self.choices.up_to(5) {
                0 => self.constant(),
                1 if !self.parameters.is_empty() => {
                    json!({"type": "runtime_data", "value": self.choices.up_to(self.parameters.len() - 1)})
                }
                _ => self.place(depth),
            };
        }
        let depth = depth - 1;
        let bits = self.width();
        match self.choices.up_to(15) {
            0..=3 => {
                let op = self.choices.pick(&["+", "-", "*", "+"]);
                let value = operation(op, self.number(depth), self.number(depth));
                if self.choices.one_in(8) {
                    value
                } else {
                    cut(value, bits)
                }
            }
            4 | 5 => {
                let op = self.choices.pick(&["&", "|", "^"]);
                operation(op, self.number(depth), self.number(depth))
            }
            6 => {
                let by = number(self.choices.up_to(70) as u64);
                cut(operation("<<", self.number(depth), by), bits)
            }
            7 => {
                let by = number(self.choices.up_to(140) as u64);
                operation(">>", self.number(depth), by)
            }
            8 => {
                let by = cut(self.number(depth), 8);
                cut(operation("<<", self.number(depth), by), bits)
            }
            9 => operation(">>", self.number(depth), cut(self.number(depth), 8)),
            10 => cut(operation("~", Value::Null, self.number(depth)), bits),
            11 => operation("two_comp_mod", self.number(depth), number(bits.into())),
            12 => {
                let op = self.choices.pick(&["usat_cast", "sat_cast"]);
                operation(op, self.number(depth), number(bits.into()))
            }
            13 => {
                let (yes, no) = (self.number(depth), self.number(depth));
                let condition = self.truth(depth);
                json!({"type": "expression", "value": {"op": "?", "left": yes, "right": no, "cond": condition}})
            }
            14 => operation("b2d", Value::Null, self.truth(depth)),
            _ => {
                let op = self.choices.pick(&["/", "%"]);
                operation(
                    op,
                    cut(self.number(depth), bits),
                    cut(self.number(depth), bits),
                )
            }
        }
    }

    /// A number of at most 64 bits, mostly small.
    fn index(&mut self) -> Value {
        let bits = self.choices.pick(&[2, 3, 4, 32, 64]);
        cut(self.number(1), bits)
    }

    fn truth(&mut self, depth: usize) -> Value {
        let deeper = depth.saturating_sub(1);
        match self.choices.up_to(if depth == 0 { 5 } else { 10 }) {
            0..=3 => {
                let op = self.choices.pick(&["==", "!=", "<", "<=", ">", ">="]);
                operation(op, self.number(deeper), self.number(deeper))
            }
            4 => {
                let (header, _) = self.choices.pick(&HEADERS);
                operation("d2b", Value::Null, field(header, "$valid$"))
            }
            5 => json!({"type": "bool", "value": self.choices.one_in(2)}),
            6 | 7 => {
                let op = self.choices.pick(&["and", "or"]);
                operation(op, self.truth(deeper), self.truth(deeper))
            }
            8 => operation("not", Value::Null, self.truth(deeper)),
            9 => operation("valid_union", Value::Null, named("header_union", "u")),
            _ => {
                let (element, _) = self.element(deeper);
                operation("valid", Value::Null, element)
            }
        }
    }

    // Statements

    fn a_header(&mut self) -> Value {
        if self.choices.one_in(4) {
            return self.element(1).0;
        }
        let (header, _) = self.choices.pick(&HEADERS);
        named("header", header)
    }

    fn assignment(&mut self) -> Value {
        let target = self.place(1);
        primitive("assign", &[target, self.number(3)])
    }

    /// Appends statements; jumps lead to places in `out`.
    fn statements(&mut self, most: usize, out: &mut Vec<Value>) {
        for _ in 0..self.choices.up_to(most) {
            if self.left == 0 {
                return;
            }
            self.left -= 1;
            match self.choices.up_to(31) {
                0..=9 => {
                    let assignment = self.assignment();
                    out.push(assignment);
                }
                10..=12 => self.branch(out),
                13 if self.loops < 2 => self.round(out),
                14 if self.choices.one_in(40) => {
                    // A loop that nothing ends but the steps.
                    let back = self.choices.up_to(out.len());
                    let stay = self.truth(1);
                    out.push(primitive("_jump_if_zero", &[stay, number(back as u64)]));
                }
                _ => {
                    let statement = self.external();
                    out.push(statement);
                }
            }
        }
    }

    /// `if`, with or without `else`.
    fn branch(&mut self, out: &mut Vec<Value>) {
        let at = out.len();
        let condition = self.truth(2);
        out.push(Value::Null);
        self.statements(3, out);
        let mut end = out.len();
        if self.choices.one_in(2) {
            out.push(Value::Null);
            end = out.len();
            self.statements(3, out);
            out[end - 1] = primitive("_jump", &[number(out.len() as u64)]);
        }
        out[at] = primitive("_jump_if_zero", &[condition, number(end as u64)]);
    }

    /// A loop of a few rounds.
    fn round(&mut self, out: &mut Vec<Value>) {
        let counter = field("scalars", ["n0", "n1"][self.loops]);
        self.loops += 1;
        let rounds = number(self.choices.up_to(9) as u64);
        out.push(primitive("assign", &[counter.clone(), rounds]));
        let start = out.len();
        out.push(Value::Null);
        self.statements(4, out);
        let less = cut(operation("-", counter.clone(), number(1)), 8);
        out.push(primitive("assign", &[counter.clone(), less]));
        out.push(primitive("_jump", &[number(start as u64)]));
        let goes_on = operation("!=", counter, number(0));
        out[start] = primitive("_jump_if_zero", &[goes_on, number(out.len() as u64)]);
        self.loops -= 1;
    }

    /// A statement that is neither an assignment nor a jump.
    fn external(&mut self) -> Value {
        let list = |choices: &mut Choices<'_>| number(choices.up_to(2) as u64);
        match self.choices.up_to(26) {
            0 => {
                let header = self.a_header();
                primitive("add_header", &[header])
            }
            1 => {
                let header = self.a_header();
                primitive("remove_header", &[header])
            }
            2 => primitive(
                "assign_header",
                &[named("header", "a"), named("header", "b")],
            ),
            3 => {
                let (element, _) = self.element(1);
                let pair = [named("header", "c"), element];
                let [to, from] = if self.choices.one_in(2) {
                    pair
                } else {
                    [pair[1].clone(), pair[0].clone()]
                };
                primitive("assign_header", &[to, from])
            }
            4 | 5 => {
                let op = self.choices.pick(&["push", "pop"]);
                let (stack, _) = self.choices.pick(&STACKS);
                let count = number(self.choices.up_to(ELEMENTS + 1) as u64);
                primitive(op, &[named("header_stack", stack), count])
            }
            6 => primitive(
                "assign_header_stack",
                &[named("header_stack", "s"), named("header_stack", "r")],
            ),
            7 => {
                let header = self
                    .choices
                    .pick(&["standard_metadata", "standard_metadata", "copy"]);
                primitive("mark_to_drop", &[named("header", header)])
            }
            8 => {
                let values = vec![self.number(1), self.number(0)];
                let text = json!({"type": "string", "value": "said {} and {}."});
                primitive(
                    "log_msg",
                    &[text, json!({"type": "parameters_vector", "value": values})],
                )
            }
            9 => {
                let op = self.choices.pick(&["assert", "assume"]);
                primitive(op, &[self.truth(1)])
            }
            10 if self.choices.one_in(4) => primitive("exit", &[]),
            11 => primitive("truncate", &[self.index()]),
            12..=14 => {
                let counter = self.choices.pick(&["counter", "counter", "counted"]);
                primitive("count", &[named("counter_array", counter), self.index()])
            }
            15 | 16 => {
                let register = self.choices.pick(&["narrow", "wide", "empty"]);
                let target = self.place(1);
                primitive(
                    "register_read",
                    &[target, named("register_array", register), self.index()],
                )
            }
            17 | 18 => {
                let register = self.choices.pick(&["narrow", "wide", "empty"]);
                let index = self.index();
                primitive(
                    "register_write",
                    &[named("register_array", register), index, self.number(2)],
                )
            }
            19 => {
                let index = self.index();
                primitive(
                    "execute_meter",
                    &[named("meter_array", "meter"), index, self.narrow_field()],
                )
            }
            20 | 21 => {
                let calculation = self.choices.pick(&["h0", "h1", "h2", "h3"]);
                let target = self.place(1);
                let (base, modulus) = (self.number(0), self.number(0));
                let calculation = named("calculation", calculation);
                primitive(
                    "modify_field_with_hash_based_offset",
                    &[target, base, calculation, modulus],
                )
            }
            22 => {
                let target = self.narrow_field();
                let (low, high) = (self.index(), self.index());
                primitive("modify_field_rng_uniform", &[target, low, high])
            }
            23 => {
                let op = self
                    .choices
                    .pick(&["clone_ingress_pkt_to_egress", "clone_egress_pkt_to_egress"]);
                let session = self.number(0);
                primitive(op, &[session, list(self.choices)])
            }
            24 if self.choices.one_in(3) => primitive("resubmit", &[list(self.choices)]),
            25 if self.choices.one_in(3) => primitive("recirculate", &[list(self.choices)]),
            26 => primitive("generate_digest", &[number(0), number(1)]),
            _ => {
                let egress_spec = field("standard_metadata", "egress_spec");
                let port = number(self.choices.up_to(4) as u64);
                primitive("assign", &[egress_spec, port])
            }
        }
    }

    // Declarations

    fn header_types(&mut self) -> Value {
        let mut types = Vec::new();
        for kind in 0..TYPES {
            let mut fields = Vec::new();
            let mut total = 0;
            for position in 0..=self.choices.up_to(3) {
                let bits = self.width();
                total += bits;
                fields.push((
                    format!("f{position}"),
                    bits,
                    self.choices.one_in(6),
                    self.choices.one_in(12),
                ));
            }
            if total % 8 != 0 {
                fields.push(("rest".into(), 8 - total % 8, false, false));
            }
            let names = fields.iter().map(|(name, bits, ..)| (name.clone(), *bits));
            self.types.push(names.collect());
            types.push(json!({"name": format!("type_{kind}"), "fields": fields}));
        }
        let mut scalars = vec![
            json!(["n0", 8, false]),
            json!(["n1", 8, false]),
            json!(["m._tm_rank0", 64, false]),
        ];
        if self.choices.one_in(4) {
            scalars.push(json!(["m._tm_dropped0", 1, false]));
        }
        for position in 0..8 {
            let (name, bits) = (format!("x{position}"), self.width());
            scalars.push(json!([
                name,
                bits,
                self.choices.one_in(6),
                self.choices.one_in(12)
            ]));
            self.metadata.push(Field {
                header: "scalars",
                name,
                bits,
            });
        }
        self.metadata.push(Field {
            header: "scalars",
            name: "m._tm_rank0".into(),
            bits: 64,
        });
        let standard = [
            ("ingress_port", 9),
            ("egress_spec", 9),
            ("egress_port", 9),
            ("instance_type", 32),
            ("packet_length", 32),
            ("enq_timestamp", 32),
            ("enq_qdepth", 19),
            ("deq_timedelta", 32),
            ("deq_qdepth", 19),
            ("ingress_global_timestamp", 48),
            ("egress_global_timestamp", 48),
            ("mcast_grp", 16),
            ("egress_rid", 16),
            ("checksum_error", 1),
            ("parser_error", 32),
            ("priority", 3),
            ("_padding", 3),
        ];
        for (name, bits) in standard {
            // A multicast group that is often set would hide everything else.
            if name != "mcast_grp" || self.choices.one_in(4) {
                self.metadata.push(Field {
                    header: "standard_metadata",
                    name: name.into(),
                    bits,
                });
            }
        }
        let standard: Vec<Value> = standard
            .iter()
            .map(|(name, bits)| json!([name, bits, false]))
            .collect();
        types.push(json!({"name": "scalars_0", "fields": scalars}));
        types.push(json!({"name": "standard_metadata", "fields": standard}));
        let longest = 2 + self.choices.up_to(20);
        types.push(json!({
            "name": "variable_t", "max_length": longest,
            "fields": [["length", 8, false], ["kind", 8, false], ["options", "*"]],
        }));
        json!(types)
    }

    fn calculations(&mut self) -> Value {
        let mut calculations = Vec::new();
        for name in ["h0", "h1", "h2", "h3", "sum"] {
            let all = ["csum16", "crc16", "crc32", "xor16", "identity", "random"];
            let algo = if name == "sum" {
                "csum16"
            } else {
                self.choices.pick(&all)
            };
            let mut input = Vec::new();
            for _ in 0..=self.choices.up_to(4) {
                input.push(match self.choices.up_to(7) {
                    0 => {
                        let bits = self.width();
                        let value = hexadecimal(&self.choices.fitting(bits))["value"].clone();
                        // Rarely, the value does not fit.
                        json!({"type": "hexstr", "value": value, "bitwidth": bits.next_multiple_of(8)})
                    }
                    1 => {
                        let (header, _) = self.choices.pick(&HEADERS);
                        named("header", header)
                    }
                    _ => {
                        let found = self.a_field();
                        field(found.header, &found.name)
                    }
                });
            }
            if self.choices.one_in(5) {
                input.push(json!({"type": "payload", "value": null}));
            }
            calculations.push(json!({"name": name, "algo": algo, "input": input}));
        }
        json!(calculations)
    }

    fn lists(&mut self) -> Vec<Value> {
        (0..=self.choices.up_to(3))
            .map(|_| {
                let found = self.a_field();
                field(found.header, &found.name)
            })
            .collect()
    }

    fn parser(&mut self) -> Value {
        let most = 1 + self.choices.up_to(5);
        let states: Vec<Value> = (0..=most).map(|state| self.state(state, most)).collect();
        json!([{"name": "parser", "id": 0, "init_state": "p0", "parse_states": states}])
    }

    fn state(&mut self, state: usize, most: usize) -> Value {
        let mut operations = Vec::new();
        for _ in 0..self.choices.up_to(3) {
            let operation = self.parser_operation();
            operations.push(operation);
        }
        let mut keys = Vec::new();
        let mut bytes = 0;
        let has_set = self.choices.one_in(4);
        for _ in 0..if has_set { 1 } else { self.choices.up_to(2) } {
            if self.choices.one_in(3) {
                let bits = if has_set { 16 } else { self.width() };
                keys.push(json!({"type": "lookahead", "value": [self.choices.up_to(16), bits]}));
                bytes += bits.div_ceil(8);
            } else {
                // The loader knows how wide the key is; here it is cut to a width.
                let bits = if has_set { 16 } else { self.width() };
                let key = cut(operation("|", self.number(1), ones(bits)), bits);
                let found = self.a_field();
                let (key, bits) = if has_set || found.bits > 64 || self.choices.one_in(3) {
                    (key, bits)
                } else {
                    (field(found.header, &found.name), found.bits)
                };
                keys.push(key);
                bytes += bits.div_ceil(8);
            }
        }
        let mut transitions = Vec::new();
        for _ in 0..if keys.is_empty() {
            0
        } else {
            self.choices.up_to(4)
        } {
            let next = self.next_state(state, most);
            let mut value = vec![0; bytes as usize];
            if self.choices.one_in(2) {
                value = self.choices.bytes(bytes as usize);
            } else if let Some(last) = value.last_mut() {
                *last = self.choices.up_to(3) as u8;
            }
            let mask = if self.choices.one_in(3) {
                hexadecimal(&self.choices.bytes(bytes as usize))["value"].clone()
            } else {
                Value::Null
            };
            let value = hexadecimal(&value)["value"].clone();
            transitions
                .push(json!({"type": "hexstr", "value": value, "mask": mask, "next_state": next}));
        }
        if has_set {
            let next = self.next_state(state, most);
            let at = self.choices.up_to(transitions.len());
            transitions.insert(
                at,
                json!({"type": "parse_vset", "value": "set", "mask": null, "next_state": next}),
            );
        }
        if !self.choices.one_in(6) {
            let next = self.next_state(state, most);
            transitions
                .push(json!({"type": "default", "value": null, "mask": null, "next_state": next}));
        }
        json!({
            "name": format!("p{state}"), "id": state, "parser_ops": operations, "transitions": transitions,
            "transition_key": keys,
        })
    }

    /// A later state, mostly; none is the end.
    fn next_state(&mut self, state: usize, most: usize) -> Value {
        let next = if self.choices.one_in(6) {
            self.choices.up_to(most)
        } else {
            state + 1 + self.choices.up_to(1)
        };
        if next > most {
            Value::Null
        } else {
            json!(format!("p{next}"))
        }
    }

    fn parser_operation(&mut self) -> Value {
        match self.choices.up_to(15) {
            0..=5 => {
                let (header, _) = self.choices.pick(&HEADERS);
                primitive("extract", &[named("regular", header)])
            }
            6 | 7 => {
                let (stack, _) = self.choices.pick(&STACKS);
                primitive("extract", &[named("stack", stack)])
            }
            8 => {
                let member = self.choices.pick(&["x", "y"]);
                primitive(
                    "extract",
                    &[json!({"type": "union_stack", "value": ["w", member]})],
                )
            }
            9 => {
                // Whole bytes, mostly.
                let length = self.index();
                let bits = if self.choices.one_in(4) {
                    length
                } else {
                    cut(operation("<<", length, number(3)), 8)
                };
                primitive("extract_VL", &[named("regular", "v"), bits])
            }
            10 => {
                let bits = self.width();
                let from = json!({"type": "lookahead", "value": [self.choices.up_to(12), bits]});
                let found = self.a_field();
                primitive("set", &[field(found.header, &found.name), from])
            }
            11 | 12 => {
                let target = self.place(1);
                primitive("set", &[target, self.number(2)])
            }
            13 => {
                let error = number(self.choices.up_to(9) as u64);
                primitive("verify", &[self.truth(1), error])
            }
            14 => {
                let bits =
                    self.choices.up_to(5) * 8 + self.choices.up_to(1) * self.choices.up_to(7);
                primitive("advance", &[number(bits as u64)])
            }
            _ => {
                self.left = 6;
                let mut statements = Vec::new();
                self.statements(2, &mut statements);
                primitive("primitive", &statements)
            }
        }
    }

    fn actions(&mut self, count: usize) -> (Vec<Value>, Vec<Vec<u32>>) {
        let mut actions = Vec::new();
        let mut all = Vec::new();
        for id in 0..count {
            self.parameters = (0..self.choices.up_to(3)).map(|_| self.width()).collect();
            self.left = 20;
            let mut primitives = Vec::new();
            // The first does nothing, and the second only sets fields.
            match id {
                0 => self.parameters.clear(),
                1 => {
                    for parameter in 0..self.parameters.len() {
                        let found = self.a_field();
                        let value = json!({"type": "runtime_data", "value": parameter});
                        primitives.push(primitive(
                            "assign",
                            &[field(found.header, &found.name), value],
                        ));
                    }
                }
                _ => self.statements(7, &mut primitives),
            }
            let data = self.parameters.iter().enumerate();
            let data: Vec<Value> = data
                .map(|(at, bits)| json!({"name": format!("d{at}"), "bitwidth": bits}))
                .collect();
            actions.push(json!({"name": format!("act{id}"), "id": id, "runtime_data": data, "primitives": primitives}));
            all.push(std::mem::take(&mut self.parameters));
        }
        (actions, all)
    }

    fn control(&mut self, control: &str, actions: &[Vec<u32>], extra: &mut Extra) -> Value {
        let count = 1 + self.choices.up_to(5);
        let (mut tables, mut conditions, mut calls) = (Vec::new(), Vec::new(), Vec::new());
        for node in 0..count {
            let next = |choices: &mut Choices<'_>| {
                let next = if choices.one_in(4) {
                    node + 1 + choices.up_to(2)
                } else {
                    node + 1
                };
                if next >= count {
                    Value::Null
                } else {
                    json!(format!("{control}.{next}"))
                }
            };
            let name = format!("{control}.{node}");
            match self.choices.up_to(6) {
                0 | 1 => {
                    let (yes, no) = (next(self.choices), next(self.choices));
                    conditions.push(json!({
                        "name": name, "id": node, "expression": self.truth(2), "true_next": yes, "false_next": no,
                    }));
                }
                2 => {
                    let free: Vec<usize> = (0..actions.len())
                        .filter(|id| actions[*id].is_empty())
                        .collect();
                    let (action, next) = (self.choices.pick(&free), next(self.choices));
                    calls.push(
                        json!({"name": name, "id": node, "action_id": action, "next_node": next}),
                    );
                }
                _ => {
                    let mut targets = Vec::new();
                    for _ in 0..actions.len() + 2 {
                        targets.push(next(self.choices));
                    }
                    let table = self.table(&name, node, actions, &targets, extra);
                    tables.push(table);
                }
            }
        }
        let algo = self.choices.pick(&["crc16", "crc32", "identity", "xor16"]);
        let profile = json!({
            "name": format!("{control}.profile"), "id": 0, "max_size": 6,
            "selector": {"algo": algo, "input": self.lists()},
        });
        json!({
            "name": control, "id": 0, "init_table": format!("{control}.0"), "tables": tables,
            "conditionals": conditions, "action_calls": calls, "action_profiles": [profile],
        })
    }

    fn table(
        &mut self,
        name: &str,
        id: usize,
        actions: &[Vec<u32>],
        targets: &[Value],
        extra: &mut Extra,
    ) -> Value {
        let mut keys = Vec::new();
        let mut widths = Vec::new();
        let style = self.choices.up_to(4);
        for position in 0..self.choices.up_to(3) {
            let kind = match style {
                0 | 1 => "exact",
                2 if position == 0 => "lpm",
                2 => "exact",
                _ => self
                    .choices
                    .pick(&["ternary", "range", "exact", "optional"]),
            };
            let (target, bits) = match self.choices.up_to(5) {
                0 => {
                    let bits = self.narrow();
                    (cut(self.number(2), bits), bits)
                }
                1 => (json!([self.choices.pick(&HEADERS).0, "$valid$"]), 1),
                _ => {
                    let found = self.a_field();
                    (json!([found.header, found.name]), found.bits)
                }
            };
            let mask = if self.choices.one_in(8) {
                hexadecimal(&self.choices.bytes(bits.div_ceil(8) as usize))["value"].clone()
            } else {
                Value::Null
            };
            widths.push((kind, bits));
            keys.push(json!({"match_type": kind, "name": format!("k{position}"), "target": target, "mask": mask}));
        }
        let mut ids: Vec<usize> = (0..actions.len())
            .filter(|_| !self.choices.one_in(2))
            .collect();
        if ids.is_empty() {
            ids.push(1);
        }
        let mut next = serde_json::Map::new();
        if self.choices.one_in(3) {
            next.insert("__HIT__".into(), targets[0].clone());
            next.insert("__MISS__".into(), targets[1].clone());
        } else {
            for action in &ids {
                // Mostly one place, as where nothing follows on an action of its own.
                let target = if self.choices.one_in(2) {
                    action + 2
                } else {
                    1
                };
                next.insert(format!("act{action}"), targets[target].clone());
            }
        }
        let indirect = self.choices.one_in(6);
        let control = name.split('.').next().unwrap_or_default();
        let names: Vec<String> = ids.iter().map(|id| format!("act{id}")).collect();
        let mut table = json!({
            "name": name, "id": id, "key": keys, "match_type": "exact", "max_size": 16,
            "type": if indirect { "indirect_ws" } else { "simple" },
            "with_counters": self.choices.one_in(3), "support_timeout": self.choices.one_in(5),
            "direct_meters": null, "action_ids": ids, "actions": names, "base_default_next": targets[1],
            "next_tables": next,
        });
        if indirect {
            table["action_profile"] = json!(format!("{control}.profile"));
        } else {
            let data = |action: usize, choices: &mut Choices<'_>| -> Vec<Value> {
                let values = actions[action].iter();
                values
                    .map(|bits| hexadecimal(&choices.fitting(*bits))["value"].clone())
                    .collect()
            };
            if self.choices.one_in(2) {
                let action = self.choices.pick(&ids);
                let constant = self.choices.one_in(3);
                table["default_entry"] = json!({
                    "action_id": action, "action_const": constant, "action_data": data(action, self.choices),
                    "action_entry_const": constant,
                });
            }
            if !widths.is_empty() && self.choices.one_in(6) {
                let mut entries = Vec::new();
                for priority in 1..=self.choices.up_to(3) {
                    let matches: Vec<Value> = widths
                        .iter()
                        .map(|(kind, bits)| self.constant_match(kind, *bits))
                        .collect();
                    let action = self.choices.pick(&ids);
                    entries.push(json!({
                        "match_key": matches, "priority": priority,
                        "action_entry": {"action_id": action, "action_data": data(action, self.choices)},
                    }));
                }
                table["entries"] = json!(entries);
            }
        }
        if self.choices.one_in(3) {
            extra
                .counters
                .push(json!({"name": format!("{name}.count"), "is_direct": true, "binding": name}));
        }
        if self.choices.one_in(5) {
            let kind = self.choices.pick(&["bytes", "packets"]);
            let target = self.narrow_field()["value"].clone();
            extra.meters.push(json!({
                "name": format!("{name}.meter"), "is_direct": true, "rate_count": 2, "type": kind, "binding": name,
                "result_target": target,
            }));
        }
        table
    }

    fn constant_match(&mut self, kind: &str, bits: u32) -> Value {
        let value = hexadecimal(&self.choices.fitting(bits))["value"].clone();
        match kind {
            "exact" => json!({"match_type": "exact", "key": value}),
            "lpm" => {
                json!({"match_type": "lpm", "key": value, "prefix_length": self.choices.up_to(bits as usize)})
            }
            "range" => json!({"match_type": "range", "start": "0x0", "end": value}),
            _ => {
                let mask = hexadecimal(&self.choices.fitting(bits))["value"].clone();
                json!({"match_type": kind, "key": value, "mask": mask})
            }
        }
    }

    fn checksums(&mut self) -> Value {
        let mut checksums = Vec::new();
        for id in 0..self.choices.up_to(3) {
            let target = self.narrow_field()["value"].clone();
            let calculation = self.choices.pick(&["sum", "h0", "sum"]);
            let (verify, update) = (self.choices.one_in(2), !self.choices.one_in(2));
            checksums.push(json!({
                "name": format!("c{id}"), "id": id, "target": target, "type": "generic", "calculation": calculation,
                "verify": verify, "update": update, "if_cond": self.truth(2),
            }));
        }
        json!(checksums)
    }

    fn artifact(&mut self) -> Value {
        let header_types = self.header_types();
        let mut headers = Vec::new();
        let mut add = |name: String, kind: &str, metadata: bool| {
            let id = headers.len();
            headers
                .push(json!({"name": name, "id": id, "header_type": kind, "metadata": metadata}));
            id
        };
        for (name, kind) in [
            ("scalars", "scalars_0"),
            ("standard_metadata", "standard_metadata"),
            ("copy", "standard_metadata"),
        ] {
            add(name.into(), kind, true);
        }
        let kind = |number: usize| format!("type_{number}");
        let fixed: Vec<usize> = HEADERS
            .iter()
            .map(|(name, number)| add((*name).into(), &kind(*number), false))
            .collect();
        add("v".into(), "variable_t", false);
        let stack = |(name, number): &(&str, usize),
                     add: &mut dyn FnMut(String, &str, bool) -> usize| {
            let ids = (0..ELEMENTS)
                .map(|element| add(format!("{name}[{element}]"), &kind(*number), false));
            let ids: Vec<usize> = ids.collect();
            json!({"name": name, "id": ids[0], "header_type": kind(*number), "size": ELEMENTS, "header_ids": ids})
        };
        let stacks: Vec<Value> = STACKS.iter().map(|found| stack(found, &mut add)).collect();
        let mut unions = vec![
            json!({"name": "u", "id": 0, "union_type": "union_t", "header_ids": [fixed[3], fixed[4]]}),
        ];
        for element in 0..ELEMENTS {
            let members = [("x", 0), ("y", 2)].map(|(member, number)| {
                add(format!("w[{element}].{member}"), &kind(number), false)
            });
            unions.push(json!({
                "name": format!("w[{element}]"), "id": element + 1, "union_type": "union_t", "header_ids": members,
            }));
        }
        let mut order: Vec<Value> = headers
            .iter()
            .filter(|header| header["metadata"] == false)
            .map(|header| header["name"].clone())
            .collect();
        let first = self.choices.up_to(order.len() - 1);
        order.rotate_left(first);
        order.truncate(order.len() - self.choices.up_to(2));

        let calculations = self.calculations();
        let count = 3 + self.choices.up_to(4);
        let (actions, parameters) = self.actions(count);
        let parser = self.parser();
        let mut extra = Extra::default();
        let ingress = self.control("ingress", &parameters, &mut extra);
        let egress = self.control("egress", &parameters, &mut extra);
        extra
            .counters
            .push(json!({"name": "counter", "id": 0, "size": 5, "is_direct": false}));
        extra
            .counters
            .push(json!({"name": "counted", "id": 1, "size": 1, "is_direct": false}));
        let unit = self.choices.pick(&["bytes", "packets"]);
        extra.meters.push(
            json!({"name": "meter", "id": 0, "is_direct": false, "size": 4, "rate_count": 2, "type": unit}),
        );
        let (narrow, wide) = (self.narrow(), 64 + self.width());
        let field_lists: Vec<Value> = (1..3)
            .map(|id| json!({"id": id, "name": format!("l{id}"), "elements": self.lists()}))
            .collect();
        let digest = self.lists();
        let errors = [
            "NoError",
            "PacketTooShort",
            "NoMatch",
            "StackOutOfBounds",
            "HeaderTooShort",
            "ParserTimeout",
            "ParserInvalidArgument",
        ];
        let errors: Vec<(&str, usize)> = errors.into_iter().zip(0..).collect();
        let aliases: Vec<Value> = [
            ("queueing_metadata", "enq_timestamp"),
            ("queueing_metadata", "enq_qdepth"),
            ("queueing_metadata", "deq_timedelta"),
            ("queueing_metadata", "deq_qdepth"),
            ("intrinsic_metadata", "ingress_global_timestamp"),
            ("intrinsic_metadata", "egress_global_timestamp"),
            ("intrinsic_metadata", "mcast_grp"),
            ("intrinsic_metadata", "egress_rid"),
            ("intrinsic_metadata", "priority"),
        ]
        .iter()
        .map(|(header, name)| json!([format!("{header}.{name}"), ["standard_metadata", name]]))
        .collect();
        let union_type =
            json!({"name": "union_t", "id": 0, "headers": [["x", "type_0"], ["y", "type_2"]]});
        let union_stack = json!({
            "name": "w", "id": 0, "union_type": "union_t", "size": ELEMENTS, "header_union_ids": [1, 2, 3],
        });
        json!({
            "__meta__": {"version": [2, 23], "compiler": "none: made up"},
            "header_types": header_types, "headers": headers, "header_stacks": stacks,
            "header_union_types": [union_type], "header_unions": unions, "header_union_stacks": [union_stack],
            "field_lists": field_lists, "errors": errors, "enums": [], "parsers": parser,
            "parse_vsets": [{"name": "set", "id": 0, "compressed_bitwidth": 16, "max_size": 3}],
            "deparsers": [{"name": "deparser", "id": 0, "order": order, "primitives": []}],
            "meter_arrays": extra.meters, "counter_arrays": extra.counters,
            "register_arrays": [
                {"name": "narrow", "id": 0, "size": 4, "bitwidth": narrow},
                {"name": "wide", "id": 1, "size": 3, "bitwidth": wide},
                {"name": "empty", "id": 2, "size": 0, "bitwidth": 16},
            ],
            "calculations": calculations,
            "learn_lists": [{"id": 1, "name": "digest", "elements": digest}],
            "actions": actions, "pipelines": [ingress, egress], "checksums": self.checksums(), "force_arith": [],
            "extern_instances": [], "field_aliases": aliases,
        })
    }
}

/// Direct counters and meters of tables.
#[derive(Default)]
struct Extra {
    counters: Vec<Value>,
    meters: Vec<Value>,
}
