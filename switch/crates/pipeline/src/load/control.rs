//! Controls: tables, conditions and the order they are applied in.

use std::collections::HashMap;

use super::actions::Names;
use super::expressions::Context;
use super::json::Json;
use crate::error::LoadError;
use crate::program::{END, Node, Program};
use crate::tables::Table;

/// Actions by their id in the artifact.
pub(crate) type ActionIds = HashMap<u32, u32>;

/// Reads the ingress and egress control.
pub(crate) fn load_controls(
    root: &Json<'_>,
    names: Names<'_>,
    actions: &ActionIds,
    program: &mut Program,
    tables: &mut Vec<Table>,
) -> Result<(), LoadError> {
    (program.ingress, program.egress) = (END, END);
    for item in root.get("pipelines")?.items()? {
        let name = item.get("name")?;
        let start = Control {
            json: &item,
            names,
            actions,
            nodes: HashMap::new(),
        }
        .load(program, tables)?;
        match name.text()? {
            "ingress" => program.ingress = start,
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
    /// Node numbers by name.
    nodes: HashMap<&'a str, u32>,
}

impl<'a> Control<'a, '_> {
    fn load(mut self, program: &mut Program, tables: &mut Vec<Table>) -> Result<u32, LoadError> {
        let first = program.nodes.len() as u32;
        let (items, conditions, calls) = (
            self.json.list("tables")?,
            self.json.list("conditionals")?,
            self.json.list("action_calls")?,
        );
        for (number, item) in items.iter().chain(&conditions).chain(&calls).enumerate() {
            let name = item.get("name")?;
            if self
                .nodes
                .insert(name.text()?, first + number as u32)
                .is_some()
            {
                return name.refuse("another node of this control has the same name");
            }
        }
        for item in &items {
            let node = self.load_table(item, program, tables)?;
            program.nodes.push(node);
        }
        for item in &conditions {
            let context = Context {
                headers: self.names.headers,
                program,
                parameters: &[],
            };
            let condition = context.condition(&item.get("expression")?)?;
            let (yes, no) = (
                self.next(item.find("true_next"))?,
                self.next(item.find("false_next"))?,
            );
            program.nodes.push(Node::Condition { condition, yes, no });
        }
        for item in &calls {
            let id = item.get("action_id")?;
            let action = self.action(&id)?;
            if !program.actions[action as usize].parameters.is_empty() {
                return id.refuse("an action that is called directly has no parameters");
            }
            program.nodes.push(Node::Action {
                action,
                next: self.next(item.find("next_node"))?,
            });
        }
        self.refuse_loops(&program.nodes, first, tables)?;
        self.next(self.json.find("init_table"))
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
    fn refuse_loops(&self, nodes: &[Node], first: u32, tables: &[Table]) -> Result<(), LoadError> {
        let successors = |node: u32| -> Vec<u32> {
            match &nodes[node as usize] {
                Node::Condition { yes, no, .. } => vec![*yes, *no],
                Node::Action { next, .. } => vec![*next],
                Node::Table { table } => {
                    let shape = &tables[*table as usize].shape;
                    let fixed = [shape.hit, shape.miss, Some(shape.otherwise)]
                        .into_iter()
                        .flatten();
                    fixed
                        .chain(shape.actions.iter().map(|action| action.next))
                        .collect()
                }
            }
        };
        // Nodes are removed once nothing leads to them; what a loop holds stays.
        let mut incoming = vec![0usize; nodes.len()];
        for node in first..nodes.len() as u32 {
            for next in successors(node).into_iter().filter(|&next| next != END) {
                incoming[next as usize] += 1;
            }
        }
        let mut ready: Vec<u32> = (first..nodes.len() as u32)
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
        if done == nodes.len() - first as usize {
            Ok(())
        } else {
            self.json.refuse("the control has a loop")
        }
    }
}
