//! Changes by other servers of the same switch, which clients of P4Runtime read back.

use std::sync::{Arc, Mutex};

use phb_node::{Control, Done, Failure, Plan, SwitchNode, Update, tracing};
use phb_pipeline::Pipeline;

use super::{Service, lock};

/// To be used by threads that are not the server's own: they wait for writes and programs in progress.
impl Control for Service {
    fn node(&self) -> &Arc<Mutex<SwitchNode>> {
        &self.node
    }

    fn write(&self, plan: Plan<'_>, done: Done<'_>) -> Vec<Result<(), Failure>> {
        let device = self.device.blocking_lock();
        match device.configurations.committed() {
            Some(loaded) => loaded.configuration.write_natively(&self.node, plan, done),
            None => {
                let mut node = lock(&self.node);
                let updates: Vec<Update> = plan(&node);
                let results = node.write(&updates, true);
                done(&node);
                results
            }
        }
    }

    fn install(&self, pipeline: Pipeline) {
        let mut device = self.device.blocking_lock();
        tracing::install(&self.node, pipeline);
        device.configurations.replaced();
        self.publish(&device);
    }

    fn clear(&self) {
        let device = self.device.blocking_lock();
        match device.configurations.committed() {
            Some(loaded) => loaded.configuration.clear(&self.node),
            None => lock(&self.node).clear(),
        }
    }
}
