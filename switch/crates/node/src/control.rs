//! The way for changes of a switch that more than one server programs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use phb_pipeline::Pipeline;

use crate::switch::SwitchNode;
use crate::tracing;
use crate::write::{Failure, Update};

/// The changes to make of a switch as it is.
pub type Plan<'a> = &'a mut dyn FnMut(&SwitchNode) -> Vec<Update>;

/// Looks at a switch after its changes.
pub type Done<'a> = &'a mut dyn FnMut(&SwitchNode);

/// A switch, and whoever else has to hear of its changes. Reads go to the switch itself.
pub trait Control: Send + Sync {
    /// The switch.
    fn node(&self) -> &Arc<Mutex<SwitchNode>>;

    /// Makes the changes that `plan` wants of the switch as it is, all or none, as [`SwitchNode::write`]; then shows the
    /// switch to `done`. No other write comes between.
    fn write(&self, plan: Plan<'_>, done: Done<'_>) -> Vec<Result<(), Failure>>;

    /// As [`SwitchNode::install`].
    fn install(&self, pipeline: Pipeline);

    /// As [`SwitchNode::clear`].
    fn clear(&self);
}

/// A switch that nobody else programs.
impl Control for Arc<Mutex<SwitchNode>> {
    fn node(&self) -> &Self {
        self
    }

    fn write(&self, plan: Plan<'_>, done: Done<'_>) -> Vec<Result<(), Failure>> {
        let mut node = lock(self);
        let updates = plan(&node);
        let results = node.write(&updates, true);
        done(&node);
        results
    }

    fn install(&self, pipeline: Pipeline) {
        tracing::install(self, pipeline);
    }

    fn clear(&self) {
        lock(self).clear();
    }
}

fn lock(node: &Mutex<SwitchNode>) -> MutexGuard<'_, SwitchNode> {
    node.lock().unwrap_or_else(PoisonError::into_inner)
}
