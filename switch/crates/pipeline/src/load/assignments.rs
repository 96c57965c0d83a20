//! Assignments of whole headers, unions and stacks.

use super::expressions::{Expression, HeaderTerm};
use super::fields::Instance;
use super::json::Json;
use super::lower::Lowering;
use super::primitives::Primitive;
use crate::error::LoadError;
use crate::program::{ExternOperation, HeaderReference, Instruction};

impl Primitive<'_, '_, '_, '_> {
    /// For a member of a union, invalidates the others when it becomes valid.
    pub(super) fn only_member(&mut self, header: HeaderReference) {
        let valid = header.first.word;
        let others = self.names.headers.unions().others(valid);
        if header.element.is_none() && !others.is_empty() {
            self.out
                .external(ExternOperation::OnlyMember { valid, others });
        }
    }

    pub(super) fn copy_header(
        &mut self,
        to: HeaderReference,
        from: &HeaderTerm,
        at: &Json<'_>,
    ) -> Result<(), LoadError> {
        if to.first.layout != from.instance().span.layout {
            return self.json.refuse("the two headers are of different types");
        }
        if let HeaderTerm::Choose(parts) = from {
            let (condition, yes, no) = &**parts;
            let other = Lowering { at, out: self.out }.branch(condition, false)?;
            self.copy_header(to, yes, at)?;
            let end = self.out.jump(Instruction::Jump(0));
            self.out.land(other);
            self.copy_header(to, no, at)?;
            self.out.land(end);
            return Ok(());
        }
        let from = self.context.reference(from, at, self.out)?;
        self.out.external(ExternOperation::CopyHeader { from, to });
        self.only_member(to);
        Ok(())
    }

    /// Copies every member; of the source's at most one is valid.
    pub(super) fn assign_union(&mut self) -> Result<(), LoadError> {
        let unions = self.names.headers.unions();
        let members = |index: usize| -> Result<_, LoadError> {
            let at = self.argument(index)?;
            match self.context.expression(&at)? {
                Expression::Union(union) => Ok(unions.members(union)),
                _ => at.refuse("expected a header union"),
            }
        };
        let (to, from) = (members(0)?, members(1)?);
        let layouts = |members: &[Instance]| -> Vec<u32> {
            members.iter().map(|member| member.span.layout).collect()
        };
        if layouts(to) != layouts(from) {
            return self.json.refuse("the two unions are of different types");
        }
        for (to, from) in to.iter().zip(from) {
            let reference = |instance: &Instance| HeaderReference {
                first: instance.span,
                element: None,
            };
            self.out.external(ExternOperation::CopyHeader {
                from: reference(from),
                to: reference(to),
            });
        }
        Ok(())
    }

    pub(super) fn assign_stack(&mut self) -> Result<(), LoadError> {
        let to = self.context.stacks(&self.argument(0)?)?;
        let from = self.context.stacks(&self.argument(1)?)?;
        let shapes = |stacks: &[u32]| -> Vec<(u32, u32)> {
            let stacks = stacks
                .iter()
                .map(|stack| &self.context.program.stacks[*stack as usize]);
            stacks
                .map(|stack| (stack.size, stack.first.layout))
                .collect()
        };
        if shapes(&to) != shapes(&from) {
            return self
                .json
                .refuse("the two header stacks are of different types");
        }
        for (&to, &from) in to.iter().zip(&from) {
            self.out.external(ExternOperation::CopyStack { from, to });
        }
        Ok(())
    }
}
