//! The forwarding-pipeline configuration: verified, saved, committed, read back.
//!
//! A configuration under test or saved but not committed lives in a switch of its own without ports, a *shadow*: writes
//! after VERIFY_AND_SAVE go there, and COMMIT hands the finished program with its entries to the real switch in one step.

use std::collections::BTreeMap;
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
    /// The names of interfaces, by port.
    names: BTreeMap<u16, String>,
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
    pub fn new(node: Node, manners: Manners, names: BTreeMap<u16, String>) -> Self {
        Self {
            node,
            manners,
            names,
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

    /// Somebody else has given the switch a program. The p4info stays if it describes that one, too; else clients have to
    /// bring one.
    pub fn replaced(&mut self) {
        let Some(old) = self.committed.take() else {
            return;
        };
        let node = self.node.lock().unwrap_or_else(PoisonError::into_inner);
        let artifact = node
            .pipeline()
            .map(|pipeline| Arc::clone(pipeline.artifact()));
        drop(node);
        let (Some(artifact), Ok(configuration)) = (
            artifact,
            Configuration::new(&old.p4info, &self.node, &self.names),
        ) else {
            return;
        };
        self.committed = Some(Arc::new(Loaded {
            configuration,
            node: Mutex::new(Arc::clone(&self.node)),
            p4info: old.p4info.clone(),
            device_config: Bytes::copy_from_slice(artifact.as_bytes()),
            cookie: None,
        }));
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
        let program = checked(&config.p4_device_config, &p4info)?;
        let artifact = match std::str::from_utf8(&program) {
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
            let mut pipeline = match Pipeline::load(artifact, live.of_program()) {
                Ok(pipeline) => pipeline,
                Err(error) => return invalid(error.to_string()),
            };
            let (took, execution) = (started.elapsed().as_millis(), pipeline.execution());
            tracing::info!(target: "p4runtime", "a controller's program, loaded in {took} ms: {execution}");
            phb_node::tracing::prepare(&self.node, &mut pipeline);
            let mut shadow = SwitchNode::new(live, []);
            shadow.install(pipeline);
            let shadow = Arc::new(Mutex::new(shadow));
            Ok((Configuration::new(&p4info, &shadow, &self.names)?, shadow))
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
            device_config: kept(&config.p4_device_config),
            cookie: config.cookie,
        }))
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

/// Checks the sizes of a config; gives the program, without PI's old wrapping.
fn checked(device_config: &Bytes, p4info: &Bytes) -> Result<Bytes> {
    let program = unwrapped(device_config)?;
    if program.is_empty() {
        return invalid("the config has no p4_device_config: expected the bmv2 JSON that p4c made");
    }
    bounded("p4info", p4info, limits::P4INFO_BYTES)?;
    bounded("p4_device_config", device_config, limits::PROGRAM_BYTES)?;
    Ok(program)
}

fn bounded(what: &str, bytes: &Bytes, most: usize) -> Result<()> {
    if bytes.len() > most {
        let found = bytes.len();
        return refuse(
            Code::ResourceExhausted,
            format!("the {what} has {found} bytes; the most is {most}"),
        );
    }
    Ok(())
}

/// The program within PI's old p4.tmp.P4DeviceConfig, or what is not wrapped, as it is.
///
/// The two can't be mistaken for each other: JSON begins with white space or a brace, none of which is the tag
/// of a field of that message.
fn unwrapped(device_config: &Bytes) -> Result<Bytes> {
    const REASSIGN: u8 = 1 << 3;
    const EXTRAS: u8 = 2 << 3 | 2;
    const DEVICE_DATA: u8 = 3 << 3 | 2;
    if !matches!(
        device_config.first(),
        Some(&(REASSIGN | EXTRAS | DEVICE_DATA))
    ) {
        return Ok(device_config.clone());
    }
    match WrappedDeviceConfig::decode(device_config.clone()) {
        Ok(wrapped) => Ok(wrapped.device_data),
        Err(error) => invalid(format!(
            "the p4_device_config is neither bmv2 JSON nor a whole p4.tmp.P4DeviceConfig around it: {error}"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapped_programs_and_bare_ones_are_told_apart() {
        let program = br#"{"__meta__": {}}"#;
        let data = [&[0x1a, program.len() as u8][..], program].concat();
        let reassign = [0x08, 0x01];
        let extras = [
            0x12, 0x0a, 0x0a, 0x08, 0x0a, 0x04, b'p', b'o', b'r', b't', 0x12, 0x00,
        ];
        for (config, expected) in [
            (program.to_vec(), &program[..]),
            (b"\n\t {}".to_vec(), b"\n\t {}"),
            (b"not JSON".to_vec(), b"not JSON"),
            (Vec::new(), b""),
            (data.clone(), program),
            ([&reassign, &data[..]].concat(), program),
            ([&reassign[..], &extras, &data].concat(), program),
            ([&data, &reassign[..]].concat(), program),
            (reassign.to_vec(), b""),
        ] {
            assert_eq!(
                unwrapped(&config.clone().into()).unwrap(),
                expected,
                "{config:?}"
            );
        }
    }

    #[test]
    fn what_is_neither_is_refused() {
        for config in [
            &[0x1a, 0x7f, b'{'][..],
            &[0x08],
            &[0x12, 0xff],
            &[0x08, 0x01, b'{'],
        ] {
            let refusal = unwrapped(&Bytes::copy_from_slice(config)).unwrap_err();
            let expected = "the p4_device_config is neither bmv2 JSON nor a whole p4.tmp.P4DeviceConfig around it: ";
            assert!(refusal.message.starts_with(expected), "{}", refusal.message);
        }
    }
}
