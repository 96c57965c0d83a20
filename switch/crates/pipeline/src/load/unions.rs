//! Header unions: of their members, at most one is valid.

use std::collections::HashMap;

use super::fields::Instance;
use super::json::Json;
use crate::error::LoadError;

/// For each member of the unions in a stack, its name and the stack that it makes.
type MemberStacks = Vec<(String, u32)>;

#[derive(Default)]
pub(crate) struct Unions {
    unions: Vec<Vec<Instance>>,
    names: HashMap<String, u32>,
    stacks: Vec<MemberStacks>,
    stack_names: HashMap<String, u32>,
}

impl Unions {
    pub(crate) fn add(&mut self, name: String, members: Vec<Instance>) {
        self.names.insert(name, self.unions.len() as u32);
        self.unions.push(members);
    }

    pub(crate) fn add_stack(&mut self, name: String, members: MemberStacks) {
        self.stack_names.insert(name, self.stacks.len() as u32);
        self.stacks.push(members);
    }

    pub(crate) fn union(&self, name: &Json<'_>) -> Result<u32, LoadError> {
        match self.names.get(name.text()?) {
            Some(union) => Ok(*union),
            None => name.refuse(format!("no header union is called {:?}", name.text()?)),
        }
    }

    pub(crate) fn members(&self, union: u32) -> &[Instance] {
        &self.unions[union as usize]
    }

    pub(crate) fn stack(&self, name: &Json<'_>) -> Result<u32, LoadError> {
        match self.stack_names.get(name.text()?) {
            Some(stack) => Ok(*stack),
            None => name.refuse(format!(
                "no stack of header unions is called {:?}",
                name.text()?
            )),
        }
    }

    pub(crate) fn member_stacks(&self, stack: u32) -> Box<[u32]> {
        let members = self.stacks[stack as usize].iter();
        members.map(|(_, stack)| *stack).collect()
    }

    /// The stack of one member of a union stack, and those of the others.
    pub(crate) fn member(
        &self,
        stack: &Json<'_>,
        member: &Json<'_>,
    ) -> Result<(u32, Box<[u32]>), LoadError> {
        let members = &self.stacks[self.stack(stack)? as usize];
        let wanted = member.text()?;
        let Some((_, found)) = members.iter().find(|(name, _)| name == wanted) else {
            return member.refuse(format!("the union has no member {wanted:?}"));
        };
        let others = members.iter().filter(|(name, _)| name != wanted);
        Ok((*found, others.map(|(_, stack)| *stack).collect()))
    }

    /// The validity words of the headers that cannot be valid together with the one at `word`.
    pub(crate) fn others(&self, word: u32) -> Box<[u32]> {
        let is = |member: &Instance| member.span.word == word;
        if let Some(members) = self.unions.iter().find(|members| members.iter().any(is)) {
            let others = members.iter().filter(|member| !is(member));
            return others.map(|member| member.span.word).collect();
        }
        Box::default()
    }
}
