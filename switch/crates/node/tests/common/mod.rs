//! What the tests of this folder start from: a program, and a switch that runs it.

use phb_network::Port;
use phb_node::{SwitchConfig, SwitchNode};
use phb_pipeline::{Executor, Options, Pipeline};
use phb_traffic_manager::PortConfig;

/// Loads an artifact for an executor.
pub fn pipeline(artifact: &str, executor: Executor) -> Pipeline {
    let options = Options {
        executor,
        ..Options::default()
    };
    Pipeline::load(artifact, options).expect("the artifact loads")
}

/// A switch with a program; drop port 511, seed 1.
pub fn switch(
    artifact: &str,
    cpu_port: Option<Port>,
    ports: impl IntoIterator<Item = (Port, PortConfig)>,
) -> SwitchNode {
    let config = SwitchConfig {
        name: "test".to_owned(),
        cpu_port,
        drop_port: 511,
        seed: 1,
        executor: Executor::default(),
    };
    let mut switch = SwitchNode::new(config, ports);
    switch.install(pipeline(artifact, Executor::default()));
    switch
}
