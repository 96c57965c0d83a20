//! Batches of control-plane changes, all or nothing where asked: in an atomic batch the inverse of
//! each change is noted before it is made; after a refusal they are made in reverse order.

mod apply;
mod count;
mod undo;
mod update;

use std::borrow::Borrow;

use phb_pipeline::WriteError;

pub use count::EntryWrites;
pub use update::{Cells, Member, Update};

use crate::switch::SwitchNode;
use apply::apply;
use undo::Undo;

/// Why a change of a batch was not made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The pipeline refused it.
    Refused(WriteError),
    /// The switch has no program.
    NoPipeline,
    /// Another change of an atomic batch was refused.
    Aborted,
}

impl SwitchNode {
    /// Applies a batch in order, between two packets. If `atomic`, the first refusal undoes all
    /// before it, and the others fail with [`Failure::Aborted`]; if not, every change is tried.
    pub fn write<U: Borrow<Update>>(
        &mut self,
        updates: &[U],
        atomic: bool,
    ) -> Vec<Result<(), Failure>> {
        let results = self.write_unsettled(updates, atomic);
        self.settle_tables();
        results
    }

    /// As [`SwitchNode::write`]; call [`SwitchNode::settle_tables`] after the last batch.
    pub fn write_unsettled<U: Borrow<Update>>(
        &mut self,
        updates: &[U],
        atomic: bool,
    ) -> Vec<Result<(), Failure>> {
        if self.pipeline().is_none() {
            return vec![Err(Failure::NoPipeline); updates.len()];
        }
        if !atomic {
            let apply = |update: &U| {
                apply(update.borrow(), self).map_err(Failure::Refused)?;
                self.entry_writes.count(update.borrow());
                Ok(())
            };
            return updates.iter().map(apply).collect();
        }
        match apply_all(updates, self) {
            Ok(()) => vec![Ok(()); updates.len()],
            Err((place, refusal)) => {
                let mut results = vec![Err(Failure::Aborted); updates.len()];
                results[place] = Err(Failure::Refused(refusal));
                results
            }
        }
    }

    /// Makes look-ups fast again after changes.
    pub fn settle_tables(&mut self) {
        if let Some(pipeline) = self.pipeline_mut() {
            pipeline.settle();
        }
    }
}

/// Applies everything, or nothing and gives the change that was refused.
fn apply_all<U: Borrow<Update>>(
    updates: &[U],
    node: &mut SwitchNode,
) -> Result<(), (usize, WriteError)> {
    let mut undo: Vec<Undo<'_>> = Vec::new();
    for (place, update) in updates.iter().map(Borrow::borrow).enumerate() {
        // The last change needs no undoing, unless it may be half done itself.
        let last = place + 1 == updates.len();
        let inverse = (!last || undo_needed(update)).then(|| Undo::of(update, node));
        if let Err(refusal) = apply(update, node) {
            let half = inverse.filter(|_| undo_needed(update));
            for inverse in half.into_iter().chain(undo.into_iter().rev()) {
                let undone = inverse.apply(node);
                debug_assert!(undone.is_ok(), "a change could not be undone: {undone:?}");
            }
            return Err((place, refusal));
        }
        undo.extend(inverse);
    }
    for update in updates {
        node.entry_writes.count(update.borrow());
    }
    Ok(())
}

/// Whether a change that is refused may have been made in part.
fn undo_needed(update: &Update) -> bool {
    matches!(
        update,
        Update::Counters { .. } | Update::Registers { .. } | Update::Meters { .. }
    )
}
