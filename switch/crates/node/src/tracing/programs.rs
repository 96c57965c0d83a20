//! Readers come and go, and programs are made ready to be traced for them, while the switch goes on.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use phb_pipeline::Pipeline;
use phb_pipeline::trace::Tracer;
use phb_trace::Filter;

use super::Watch;
use crate::switch::SwitchNode;

/// Adds a reader of traces, who gets packets that the filter wants from now on, with the first `frame_bytes` of each
/// frame; with 0, those that the program parses as headers. `None` if there are [`WATCHERS`](super::WATCHERS) already.
///
/// It loads the program once more in the form that is traced, while the switch goes on, and begins when that is there:
/// a reader of few traces would get none with the program's steps. To be ended by [`unwatch`].
#[must_use]
pub fn watch(node: &Mutex<SwitchNode>, filter: Filter, frame_bytes: u32) -> Option<Arc<Watch>> {
    let mut made: Option<(Arc<str>, Option<Tracer>)> = None;
    loop {
        let mut switch = lock(node);
        let untraced = switch.program_without_tracer();
        if let Some(artifact) = untraced
            && !made
                .as_ref()
                .is_some_and(|(of, _)| Arc::ptr_eq(of, &artifact))
        {
            drop(switch);
            let tracer = Tracer::load(&artifact).ok();
            made = Some((artifact, tracer));
            continue;
        }
        let watch = switch.watch(filter, frame_bytes)?;
        if let Some((artifact, Some(tracer))) = made {
            switch.set_tracer(&artifact, tracer);
        }
        return Some(watch);
    }
}

/// Ends what [`watch`] began. Traces that wait can still be taken.
pub fn unwatch(node: &Mutex<SwitchNode>, watch: &Arc<Watch>) {
    lock(node).unwatch(watch);
}

/// Installs a program, as [`SwitchNode::install`], that can be traced if somebody watches.
pub fn install(node: &Mutex<SwitchNode>, mut pipeline: Pipeline) {
    prepare(node, &mut pipeline);
    lock(node).install(pipeline);
    equip(node);
}

/// Makes the program that runs one that can be traced, if somebody watches. To be called when another was installed
/// that was not [prepared](prepare).
pub fn equip(node: &Mutex<SwitchNode>) {
    loop {
        let untraced = lock(node).untraced_program();
        let Some(artifact) = untraced else {
            return;
        };
        let Ok(tracer) = Tracer::load(&artifact) else {
            return;
        };
        if lock(node).set_tracer(&artifact, tracer) {
            return;
        }
    }
}

/// Makes a program that is about to be installed one that can be traced, if somebody watches.
pub fn prepare(node: &Mutex<SwitchNode>, pipeline: &mut Pipeline) {
    if lock(node).is_watched()
        && pipeline.dictionary().is_none()
        && let Ok(tracer) = Tracer::load(pipeline.artifact())
    {
        pipeline.set_tracer(Some(Box::new(tracer)));
    }
}

fn lock(node: &Mutex<SwitchNode>) -> MutexGuard<'_, SwitchNode> {
    node.lock().unwrap_or_else(PoisonError::into_inner)
}
