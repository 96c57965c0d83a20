//! The forwarding-pipeline configuration: verified, saved, committed, read back.
//!
//! A configuration under test or saved but not committed lives in a switch of its own without ports, a *shadow*: writes
//! after VERIFY_AND_SAVE go there, and COMMIT hands the finished program with its entries to the real switch in one step.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use bytes::Bytes;
use phb_node::SwitchNode;
use phb_p4runtime::{Code, Configuration};
use phb_pipeline::Pipeline;
use prost::Message;

use super::message::{
    Cookie, GotPipelineConfig, PipelineConfig, SetPipelineConfig, WrappedDeviceConfig,
};
use crate::authorization::{Result, refuse};
use crate::config::{Manners, Node};
use crate::limits;

/// Numbers of SetForwardingPipelineConfigRequest.Action.
const VERIFY: i32 = 1;
const VERIFY_AND_SAVE: i32 = 2;
const VERIFY_AND_COMMIT: i32 = 3;
const COMMIT: i32 = 4;
const RECONCILE_AND_COMMIT: i32 = 5;

/// Numbers of GetForwardingPipelineConfigRequest.ResponseType.
const ALL: i32 = 0;
const P4INFO_AND_COOKIE: i32 = 2;
const DEVICE_CONFIG_AND_COOKIE: i32 = 3;

/// A loaded program with its p4info, its entities, and the switch that runs it.
pub struct Loaded {
    pub configuration: Configuration,
    node: Mutex<Node>,
    p4info: Bytes,
    device_config: Bytes,
    cookie: Option<Cookie>,
}

impl Loaded {
    /// The switch that has the program: another one after the commit.
    pub fn node(&self) -> Node {
        Arc::clone(&self.node.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The configuration of one switch: the one that forwards, and one that may wait to be committed.
pub struct Configurations {
    node: Node,
    manners: Manners,
    committed: Option<Arc<Loaded>>,
    saved: Option<Arc<Loaded>>,
}

fn invalid<T>(message: impl Into<String>) -> Result<T> {
    refuse(Code::InvalidArgument, message)
}

/// Refuses calls before there is a program.
pub fn none_yet<T>() -> Result<T> {
    refuse(
        Code::FailedPrecondition,
        "No forwarding pipeline config set for this device",
    )
}

impl Configurations {
    pub fn new(node: Node, manners: Manners) -> Self {
        Self {
            node,
            manners,
            committed: None,
            saved: None,
        }
    }

    /// The configuration that handles packets.
    pub fn committed(&self) -> Option<&Arc<Loaded>> {
        self.committed.as_ref()
    }

    /// The configuration that Read and Write refer to: the saved one if there is one.
    pub fn active(&self) -> Result<&Arc<Loaded>> {
        match self.saved.as_ref().or(self.committed.as_ref()) {
            Some(loaded) => Ok(loaded),
            None => none_yet(),
        }
    }

    /// Does what `action` says (specification, "SetForwardingPipelineConfig RPC"), all or nothing.
    pub fn set(&mut self, request: SetPipelineConfig) -> Result<()> {
        match request.action {
            VERIFY => {
                self.build(request)?;
            }
            VERIFY_AND_SAVE => self.saved = Some(self.build(request)?),
            VERIFY_AND_COMMIT => {
                let built = self.build(request)?;
                self.commit(built);
            }
            COMMIT if request.config.is_some() => {
                return invalid("COMMIT takes no config: it commits the saved one");
            }
            COMMIT => match self.saved.take() {
                Some(saved) => self.commit(saved),
                None => {
                    return refuse(
                        Code::NotFound,
                        "no config has been saved: VERIFY_AND_SAVE comes before COMMIT",
                    );
                }
            },
            RECONCILE_AND_COMMIT => {
                let built = self.build(request)?;
                if let Some(old) = &self.committed {
                    let (node, old_node) = (built.node(), old.node());
                    built
                        .configuration
                        .carry_over(&node, &old.configuration, &old_node)?;
                }
                self.commit(built);
            }
            _ => {
                return invalid(
                    "the action is not set, or not one of SetForwardingPipelineConfigRequest.Action",
                );
            }
        }
        Ok(())
    }

    fn commit(&mut self, loaded: Arc<Loaded>) {
        loaded.configuration.commit(&loaded.node(), &self.node);
        let mut at = loaded.node.lock().unwrap_or_else(PoisonError::into_inner);
        *at = Arc::clone(&self.node);
        drop(at);
        self.committed = Some(loaded);
        self.saved = None;
    }

    fn build(&self, request: SetPipelineConfig) -> Result<Arc<Loaded>> {
        let Some(config) = request.config else {
            return invalid("the request has no config");
        };
        let p4info = config.p4info.unwrap_or_default();
        let device_config = self.checked(config.p4_device_config, &p4info)?;
        let artifact = match std::str::from_utf8(&device_config) {
            Ok(artifact) => artifact,
            Err(error) => {
                let place = error.valid_up_to();
                return invalid(format!(
                    "the p4_device_config is not bmv2 JSON: byte {place} is not UTF-8"
                ));
            }
        };
        let live = {
            let node = self.node.lock().unwrap_or_else(PoisonError::into_inner);
            node.config().clone()
        };
        let load = || {
            phb_ports::yield_to_packets();
            let started = Instant::now();
            let pipeline = match Pipeline::load(artifact, live.of_program()) {
                Ok(pipeline) => pipeline,
                Err(error) => return invalid(error.to_string()),
            };
            let (took, execution) = (started.elapsed().as_millis(), pipeline.execution());
            tracing::info!(target: "p4runtime", "a controller's program, loaded in {took} ms: {execution}");
            let mut shadow = SwitchNode::new(live, []);
            shadow.install(pipeline);
            let shadow = Arc::new(Mutex::new(shadow));
            Ok((Configuration::new(&p4info, &shadow)?, shadow))
        };
        // On its own thread, whose priority can't be raised again: packets go on meanwhile.
        let loaded = std::thread::scope(|scope| scope.spawn(load).join());
        let Ok(loaded) = loaded else {
            return refuse(Code::Internal, "the server has a bug; its log says more");
        };
        let (configuration, shadow) = loaded?;
        // Not slices, which would keep the whole request.
        let kept = |bytes: &Bytes| Bytes::copy_from_slice(bytes);
        Ok(Arc::new(Loaded {
            configuration,
            node: Mutex::new(shadow),
            p4info: kept(&p4info),
            device_config: kept(&device_config),
            cookie: config.cookie,
        }))
    }

    /// Checks the sizes of a config; gives the device config without PI's old wrapping.
    fn checked(&self, mut device_config: Bytes, p4info: &Bytes) -> Result<Bytes> {
        if device_config.is_empty() {
            return invalid(
                "the config has no p4_device_config: expected the bmv2 JSON that p4c made",
            );
        }
        if p4info.len() > limits::P4INFO_BYTES {
            return refuse(
                Code::ResourceExhausted,
                format!(
                    "the p4info has {} bytes; the most is {}",
                    p4info.len(),
                    limits::P4INFO_BYTES
                ),
            );
        }
        if let Some(inner) = unwrapped(&device_config) {
            if self.manners != Manners::Bmv2 {
                return invalid(
                    "the p4_device_config is wrapped in PI's old p4.tmp.P4DeviceConfig: expected the bmv2 JSON that p4c made; \
                     `phb-switch --like bmv2` takes it",
                );
            }
            device_config = inner;
        }
        if device_config.len() > limits::PROGRAM_BYTES {
            return refuse(
                Code::ResourceExhausted,
                format!(
                    "the p4_device_config has {} bytes; the most is {}",
                    device_config.len(),
                    limits::PROGRAM_BYTES
                ),
            );
        }
        Ok(device_config)
    }

    /// The committed configuration, or the parts of it that `response_type` names; empty if there is none.
    pub fn get(&self, response_type: i32) -> Result<GotPipelineConfig> {
        let Some(current) = &self.committed else {
            return match self.manners {
                Manners::Specification => Ok(GotPipelineConfig { config: None }),
                Manners::Bmv2 => none_yet(),
            };
        };
        let wants = |part: i32| response_type == ALL || response_type == part;
        let device_config = wants(DEVICE_CONFIG_AND_COOKIE).then(|| current.device_config.clone());
        Ok(GotPipelineConfig {
            config: Some(PipelineConfig {
                p4info: wants(P4INFO_AND_COOKIE).then(|| current.p4info.clone()),
                p4_device_config: device_config.unwrap_or_default(),
                cookie: current.cookie,
            }),
        })
    }
}

/// The program within PI's old p4.tmp.P4DeviceConfig, if it is wrapped so.
fn unwrapped(device_config: &Bytes) -> Option<Bytes> {
    let first = device_config
        .iter()
        .find(|byte| !byte.is_ascii_whitespace());
    if first == Some(&b'{') {
        return None;
    }
    let wrapped = WrappedDeviceConfig::decode(device_config.clone()).ok()?;
    let inner = wrapped.device_data;
    let first = inner.iter().find(|byte| !byte.is_ascii_whitespace());
    (first == Some(&b'{')).then_some(inner)
}
