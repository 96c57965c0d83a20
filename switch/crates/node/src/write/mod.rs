//! Batches of control-plane changes, all or nothing where asked.
//!
//! While an atomic batch is applied, the inverse of each change is noted before it is made; the notes are carried out
//! in reverse order if a later change is refused.

mod apply;
mod undo;
mod update;

use std::borrow::Borrow;

use phb_pipeline::WriteError;

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
    /// Applies a batch in order, between two packets.
    ///
    /// With `atomic` the first refusal undoes everything before it; the others then fail with [`Failure::Aborted`].
    /// Without, every change is tried.
    pub fn write<U: Borrow<Update>>(
        &mut self,
        updates: &[U],
        atomic: bool,
    ) -> Vec<Result<(), Failure>> {
        let results = self.write_unsettled(updates, atomic);
        self.settle_tables();
        results
    }

    /// As [`SwitchNode::write`], for one of several batches after which [`SwitchNode::settle_tables`] is called.
    pub fn write_unsettled<U: Borrow<Update>>(
        &mut self,
        updates: &[U],
        atomic: bool,
    ) -> Vec<Result<(), Failure>> {
        if self.pipeline().is_none() {
            return vec![Err(Failure::NoPipeline); updates.len()];
        }
        if !atomic {
            let apply = |update: &U| apply(update.borrow(), self).map_err(Failure::Refused);
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

/// Applies everything, or nothing and says which change was refused.
fn apply_all<U: Borrow<Update>>(
    updates: &[U],
    node: &mut SwitchNode,
) -> Result<(), (usize, WriteError)> {
    let mut undo: Vec<Undo<'_>> = Vec::new();
    for (place, update) in updates.iter().map(Borrow::borrow).enumerate() {
        // Nothing comes after the last change that could make it necessary to undo it, unless it is half done itself.
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
    Ok(())
}

/// Whether a change that is refused may have been made in part.
fn undo_needed(update: &Update) -> bool {
    matches!(
        update,
        Update::Counters { .. } | Update::Registers { .. } | Update::Meters { .. }
    )
}
