//! Controls: tables, conditions and the order they are applied in, as instructions.

use std::collections::HashMap;

use super::actions::Names;
use super::assemble::{Assembler, Jumps, Pool, append};
use super::ast::Truth;
use super::expressions::Context;
use super::fields::Field;
use super::json::Json;
use super::lower::Lowering;
use super::names;
use super::pna;
use crate::error::LoadError;
use crate::program::{Address, END, Instruction, Program, Slot, TableShape};

/// Actions by their id in the artifact.
pub(crate) type ActionIds = HashMap<u32, u32>;

/// An action up to this length is put where it is called.
const LONGEST_INLINE: usize = 32;

/// A step of a control; the numbers are steps that follow.
pub(super) enum Node<'a> {
    Condition {
        truth: Truth,
        at: Json<'a>,
        /// The node itself.
        json: Json<'a>,
        yes: u32,
        no: u32,
    },
    Action {
        action: u32,
        json: Json<'a>,
        next: u32,
    },
    Table {
        table: u32,
    },
}

pub(crate) fn load_controls(
    root: &Json<'_>,
    names: Names<'_>,
    actions: &ActionIds,
    bodies: &[Vec<Instruction>],
    pool: &mut Pool,
    program: &mut Program,
    tables: &mut Vec<TableShape>,
) -> Result<(), LoadError> {
    program.code.push(Instruction::End);
    let end = program.code.len() as Address - 1;
    (program.ingress, program.egress) = (end, end);
    for item in root.get("pipelines")?.items()? {
        let name = item.get("name")?;
        let start = Control {
            json: &item,
            names,
            actions,
            nodes: HashMap::new(),
            keys: HashMap::new(),
        }
        .load(bodies, pool, program, tables)?;
        match name.text()? {
            "ingress" => program.ingress = start,
            pna::CONTROL if program.is_pna => program.ingress = start,
            "egress" => program.egress = start,
            other => {
                return name.refuse(format!(
                    "a control called {other:?}; expected ingress or egress"
                ));
            }
        }
    }
    Ok(())
}

pub(super) struct Control<'a, 'b> {
    pub(super) json: &'b Json<'a>,
    pub(super) names: Names<'b>,
    actions: &'b ActionIds,
    nodes: HashMap<&'a str, u32>,
    /// Key fields that are computed before the table is applied, by their place in the artifact.
    keys: HashMap<String, Field>,
}

impl<'a> Control<'a, '_> {
    fn load(
        mut self,
        bodies: &[Vec<Instruction>],
        pool: &mut Pool,
        program: &mut Program,
        tables: &mut Vec<TableShape>,
    ) -> Result<Address, LoadError> {
        let (items, conditions, calls) = (
            self.json.list("tables")?,
            self.json.list("conditionals")?,
            self.json.list("action_calls")?,
        );
        for (number, item) in items.iter().chain(&conditions).chain(&calls).enumerate() {
            let name = item.get("name")?;
            if self.nodes.insert(name.text()?, number as u32).is_some() {
                return name.refuse("another node of this control has the same name");
            }
        }
        let mut nodes = Vec::new();
        let mut prepared = Vec::new();
        let first_table = tables.len();
        for item in &items {
            prepared.push(self.compute_keys(item, pool, program)?);
            nodes.push(self.load_table(item, program, tables)?);
        }
        for item in &conditions {
            let context = Context {
                headers: self.names.headers,
                program,
                parameters: &[],
                parameters_at: 0,
            };
            let at = item.get("expression")?;
            nodes.push(Node::Condition {
                truth: context.truth(&at)?,
                at,
                json: item.clone(),
                yes: self.next(item.find("true_next"))?,
                no: self.next(item.find("false_next"))?,
            });
        }
        for item in &calls {
            let id = item.get("action_id")?;
            let action = self.action(&id)?;
            if !program.actions[action as usize].parameters.is_empty() {
                return id.refuse("an action that is called directly has no parameters");
            }
            nodes.push(Node::Action {
                action,
                json: item.clone(),
                next: self.next(item.find("next_node"))?,
            });
        }
        self.refuse_loops(&nodes, tables)?;
        let start = self.next(self.json.find("init_table"))?;
        let (code, addresses) = emit(&nodes, &prepared, start, bodies, program, pool, tables)?;
        let address = |node: u32, base: Address| match addresses.get(node as usize) {
            Some(Some(address)) => base + address,
            // The end, and nodes that nothing leads to.
            _ => base,
        };
        let base = append(&mut program.code, &code, self.json)?;
        for shape in &mut tables[first_table..] {
            for next in [&mut shape.hit, &mut shape.miss].into_iter().flatten() {
                *next = address(*next, base);
            }
            shape.otherwise = address(shape.otherwise, base);
            for action in &mut shape.actions {
                action.next = address(action.next, base);
            }
        }
        Ok(address(start, base))
    }

    /// Instructions that compute the keys of a table that are not fields.
    fn compute_keys(
        &mut self,
        table: &Json<'_>,
        pool: &mut Pool,
        program: &Program,
    ) -> Result<Vec<Instruction>, LoadError> {
        let context = Context {
            headers: self.names.headers,
            program,
            parameters: &[],
            parameters_at: 0,
        };
        let mut out = Assembler::new(pool);
        for key in table.get("key")?.items()? {
            let target = key.get("target")?;
            if !target.value.is_object() {
                continue;
            }
            let number = context.number(&target)?;
            let bits = number.range.bits.max(1);
            if number.range.negative {
                return target.refuse("a computed key field that may be negative is not supported");
            }
            let (span, _) = Lowering {
                at: &target,
                out: &mut out,
            }
            .exact_span(&number)?;
            let (word, words) = (span.first.into(), span.words.into());
            let slot = if words == 1 {
                Slot::Word { word }
            } else {
                Slot::Wide { word, words }
            };
            let field = Field {
                slot,
                bits,
                signed: false,
                valid: None,
                saturating: false,
            };
            self.keys.insert(target.path.clone(), field);
        }
        Ok(out.code)
    }

    pub(super) fn key_field(&self, target: &Json<'_>) -> Result<Field, LoadError> {
        match self.keys.get(&target.path) {
            Some(field) => Ok(*field),
            None => self.names.headers.field(target),
        }
    }

    pub(super) fn next(&self, name: Option<Json<'_>>) -> Result<u32, LoadError> {
        let Some(name) = name else { return Ok(END) };
        match self.nodes.get(name.text()?) {
            Some(node) => Ok(*node),
            None => name.refuse(format!(
                "no table or condition of this control is called {:?}",
                name.text()?
            )),
        }
    }

    pub(super) fn action(&self, id: &Json<'_>) -> Result<u32, LoadError> {
        match self.actions.get(&id.number()?) {
            Some(action) => Ok(*action),
            None => id.refuse("no action has this id"),
        }
    }

    /// P4 controls have no loops; one in the artifact would keep a packet for ever.
    fn refuse_loops(&self, nodes: &[Node<'_>], tables: &[TableShape]) -> Result<(), LoadError> {
        let successors = |node: u32| successors(&nodes[node as usize], tables);
        // Nodes are removed once nothing leads to them; those of a loop stay.
        let mut incoming = vec![0usize; nodes.len()];
        for node in 0..nodes.len() as u32 {
            for next in successors(node).into_iter().filter(|&next| next != END) {
                incoming[next as usize] += 1;
            }
        }
        let mut ready: Vec<u32> = (0..nodes.len() as u32)
            .filter(|&node| incoming[node as usize] == 0)
            .collect();
        let mut done = 0;
        while let Some(node) = ready.pop() {
            done += 1;
            for next in successors(node).into_iter().filter(|&next| next != END) {
                incoming[next as usize] -= 1;
                if incoming[next as usize] == 0 {
                    ready.push(next);
                }
            }
        }
        if done == nodes.len() {
            Ok(())
        } else {
            self.json.refuse("the control has a loop")
        }
    }
}

/// Where a step may lead, the most likely last.
fn successors(node: &Node<'_>, tables: &[TableShape]) -> Vec<u32> {
    match node {
        Node::Condition { yes, no, .. } => vec![*yes, *no],
        Node::Action { next, .. } => vec![*next],
        Node::Table { table } => {
            let shape = &tables[*table as usize];
            let fixed = [shape.hit, shape.miss, Some(shape.otherwise)]
                .into_iter()
                .flatten();
            fixed
                .chain(shape.actions.iter().map(|action| action.next))
                .collect()
        }
    }
}

/// Orders the steps, each before its likeliest successor. Address 0 is the end, others go by step.
fn emit(
    nodes: &[Node<'_>],
    prepared: &[Vec<Instruction>],
    start: u32,
    bodies: &[Vec<Instruction>],
    program: &Program,
    pool: &mut Pool,
    tables: &[TableShape],
) -> Result<(Vec<Instruction>, Vec<Option<Address>>), LoadError> {
    let mut out = Assembler::new(pool);
    out.push(Instruction::End);
    let mut addresses = vec![None; nodes.len()];
    let mut waiting: Vec<(Jumps, u32)> = Vec::new();
    let mut ready = vec![start];
    while let Some(mut number) = ready.pop() {
        let mut reached = false;
        loop {
            let (Some(node), Some(address)) = (
                nodes.get(number as usize),
                addresses.get_mut(number as usize),
            ) else {
                if reached {
                    out.push(Instruction::End);
                }
                break;
            };
            if let Some(address) = *address {
                if reached {
                    out.push(Instruction::Jump(address));
                }
                break;
            }
            *address = Some(out.here());
            reached = true;
            out.statement();
            match node {
                Node::Condition {
                    truth,
                    at,
                    json,
                    yes,
                    no,
                } => {
                    let mut jumps = Lowering { at, out: &mut out }.branch(truth, false)?;
                    if out.pool.marks.is_some() {
                        let on = out.jump(Instruction::Jump(0));
                        out.land(jumps);
                        out.note(|| names::condition(json, false));
                        jumps = out.jump(Instruction::Jump(0));
                        out.land(on);
                        out.note(|| names::condition(json, true));
                    }
                    waiting.push((jumps, *no));
                    ready.push(*no);
                    number = *yes;
                }
                Node::Action { action, json, next } => {
                    out.note(|| names::call(json, *action));
                    let body = &bodies[*action as usize];
                    if body.len() <= LONGEST_INLINE {
                        let here = out.here();
                        out.code
                            .extend(body.iter().map(|instruction| instruction.moved(here)));
                    } else if let Some(to) = program.actions[*action as usize].start {
                        let back = out.here() + 1;
                        out.push(Instruction::Call { to, back });
                    }
                    number = *next;
                }
                Node::Table { table } => {
                    let here = out.here();
                    let keys = prepared.get(number as usize).into_iter().flatten();
                    out.code
                        .extend(keys.map(|instruction| instruction.moved(here)));
                    out.push(Instruction::Table(*table));
                    ready.extend(successors(node, tables));
                    break;
                }
            }
        }
    }
    for (jumps, node) in waiting {
        let address = addresses.get(node as usize).copied().flatten();
        out.lead(jumps, address.unwrap_or(0));
    }
    Ok((out.code, addresses))
}
