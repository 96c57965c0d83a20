//! The switch itself: its program, ports, and state as a whole.

use std::time::{Duration, Instant};

use phb_node::{SwitchNode, Update};
use phb_pipeline::{CrcParameters, Pipeline};

use crate::artifact::Artifact;
use crate::call::{Fault, Outcome, Services};
use crate::learning::Learning;
use crate::limits;
use crate::wire::{Fields, Value};

/// Codes of InvalidSwapOperation.
const ONGOING_SWAP: i32 = 2;
const NO_ONGOING_SWAP: i32 = 3;

/// Codes of InvalidLearnOperation.
const INVALID_LIST_ID: i32 = 1;

/// The code of InvalidDevMgrOperation.
const DEVICE_ERROR: i32 = 1;

/// Codes of InvalidCrcOperation and InvalidToeplitzHashOperation.
const INVALID_CALCULATION_NAME: i32 = 1;
const WRONG_TYPE_CALCULATION: i32 = 2;

/// Codes of InvalidIdLookup.
const INVALID_RESOURCE_TYPE: i32 = 0;
const INVALID_RESOURCE_NAME: i32 = 1;

pub fn call(services: &Services, method: &str, arguments: Fields<'_>) -> Outcome {
    match method {
        "bm_learning_ack"
        | "bm_learning_ack_buffer"
        | "bm_learning_set_timeout"
        | "bm_learning_set_buffer_size" => learning(services, method, arguments),
        "bm_load_new_config" => load(services, arguments.bytes(1)),
        "bm_swap_configs" => swap(services),
        // Ports are those of the command line.
        "bm_dev_mgr_add_port" | "bm_dev_mgr_remove_port" => Err(Fault::Code(DEVICE_ERROR)),
        "bm_dev_mgr_show_ports" => Ok(ports(services)),
        "bm_mgmt_get_info" => Ok(info(services)),
        "bm_set_crc16_custom_parameters" => set_crc(services, arguments, 16),
        "bm_set_crc32_custom_parameters" => set_crc(services, arguments, 32),
        "bm_set_toeplitz_hash_key" => toeplitz(services, arguments),
        "bm_reset_state" => reset(services),
        "bm_get_config" => services.read(|artifact, _| Ok(artifact.text().into())),
        "bm_get_config_md5" => services.read(|artifact, _| Ok(Value::Bytes(artifact.md5()))),
        "bm_get_id_from_name" => number(services, arguments),
        "bm_serialize_state" => Err(Fault::other(
            "bmv2's format of serialized state is not written here: read the entries instead",
        )),
        _ => Err(Fault::NoMethod),
    }
}

fn learning(services: &Services, method: &str, arguments: Fields<'_>) -> Outcome {
    let list = arguments.int(2);
    services.read(|artifact, _| match artifact.has_learn_list(list) {
        true => Ok(()),
        false => Err(Fault::Code(INVALID_LIST_ID)),
    })?;
    let now = Instant::now();
    let number = |value: i32| u32::try_from(value).unwrap_or_default();
    let mut kept = services.kept();
    match method {
        "bm_learning_ack" => {
            let samples = arguments.list(4).iter().filter_map(|sample| match sample {
                Value::I32(sample) => usize::try_from(*sample).ok(),
                _ => None,
            });
            let (id, samples) = (
                arguments.long(3).cast_unsigned(),
                samples.collect::<Vec<_>>(),
            );
            kept.learning.acknowledge(list, id, &samples, now);
        }
        "bm_learning_ack_buffer" => {
            let id = arguments.long(3).cast_unsigned();
            kept.learning.acknowledge_all(list, id, now);
        }
        "bm_learning_set_timeout" => {
            let timeout = Duration::from_millis(number(arguments.int(3)).into());
            kept.learning.set_timeout(list, timeout, now);
        }
        _ => kept
            .learning
            .set_size(list, number(arguments.int(3)) as usize, now),
    }
    Ok(Value::Void)
}

/// Loads a program, on a thread of its own that gives way to packets.
fn load(services: &Services, artifact: &[u8]) -> Outcome {
    if services.kept().next.is_some() {
        return Err(Fault::Code(ONGOING_SWAP));
    }
    if artifact.len() > limits::PROGRAM_BYTES {
        return Err(Fault::other(format!(
            "the program has {} bytes; the most is {}",
            artifact.len(),
            limits::PROGRAM_BYTES
        )));
    }
    let Ok(artifact) = std::str::from_utf8(artifact) else {
        return Err(Fault::other(
            "the program is not bmv2 JSON: it is not UTF-8",
        ));
    };
    let options = services.node().config().of_program();
    let load = || {
        phb_ports::yield_to_packets();
        let started = Instant::now();
        let mut loaded = Pipeline::load(artifact, options);
        if let Ok(pipeline) = &mut loaded {
            phb_node::tracing::prepare(services.switch.control.node(), pipeline);
        }
        (loaded, started.elapsed().as_millis())
    };
    let loaded = std::thread::scope(|scope| scope.spawn(load).join());
    match loaded {
        Ok((Ok(pipeline), took)) => {
            let execution = pipeline.execution();
            tracing::info!(target: "thrift", "a client's program, loaded in {took} ms: {execution}");
            let mut kept = services.kept();
            if kept.next.is_some() {
                return Err(Fault::Code(ONGOING_SWAP));
            }
            kept.next = Some(pipeline);
            Ok(Value::Void)
        }
        Ok((Err(error), _)) => Err(Fault::other(error.to_string())),
        Err(_) => Err(Fault::other(
            "the program could not be loaded: a bug of the switch",
        )),
    }
}

fn swap(services: &Services) -> Outcome {
    let next = services.kept().next.take();
    let pipeline = next.ok_or(Fault::Code(NO_ONGOING_SWAP))?;
    services.switch.control.install(pipeline);
    Ok(Value::Void)
}

fn ports(services: &Services) -> Value {
    let ports = (services.switch.ports)().into_iter().map(|port| {
        Value::Struct(vec![
            (1, Value::I32(port.number.into())),
            (2, port.interface.as_str().into()),
            (3, Value::Bool(port.is_up)),
            (4, Value::Map(Vec::new())),
        ])
    });
    Value::List(ports.collect())
}

fn info(services: &Services) -> Value {
    Value::Struct(vec![
        (1, Value::I64(services.switch.device_id.cast_signed())),
        (2, Value::I32(services.port.into())),
        (3, services.notifications.as_str().into()),
    ])
}

fn set_crc(services: &Services, arguments: Fields<'_>, width: u32) -> Outcome {
    let given = arguments.fields(3);
    // What a signed field has at the left of the CRC's width is cut by the pipeline.
    let number = |id| given.long(id).cast_unsigned();
    let parameters = CrcParameters {
        polynomial: number(1),
        initial: number(2),
        last: number(3),
        bytes_reflected: given.flag(4),
        remainder_reflected: given.flag(5),
    };
    let plan = |artifact: &Artifact, _: &SwitchNode, pipeline: &Pipeline| {
        let calculation = arguments.text(2).to_owned();
        if artifact.calculation(&calculation).is_none() {
            return Err(Fault::Code(INVALID_CALCULATION_NAME));
        }
        match pipeline.custom_crc(&calculation) {
            Ok((known, _)) if known == width => Ok(vec![Update::Crc {
                calculation,
                parameters,
            }]),
            _ => Err(Fault::Code(WRONG_TYPE_CALCULATION)),
        }
    };
    services.make(plan, |_| Fault::Code(WRONG_TYPE_CALCULATION))
}

/// No program that the pipeline loads has a Toeplitz hash.
fn toeplitz(services: &Services, arguments: Fields<'_>) -> Outcome {
    services.read(|artifact, _| {
        let known = artifact.calculation(arguments.text(2)).is_some();
        Err(Fault::Code(match known {
            true => WRONG_TYPE_CALCULATION,
            false => INVALID_CALCULATION_NAME,
        }))
    })
}

fn reset(services: &Services) -> Outcome {
    services.switch.control.clear();
    let mut kept = services.kept();
    kept.multicast.clear();
    kept.default_members = super::DefaultMembers::default();
    kept.learning = Learning::default();
    Ok(Value::Void)
}

fn number(services: &Services, arguments: Fields<'_>) -> Outcome {
    services.read(
        |artifact, _| match artifact.number(arguments.int(2), arguments.text(3)) {
            None => Err(Fault::Code(INVALID_RESOURCE_TYPE)),
            Some(None) => Err(Fault::Code(INVALID_RESOURCE_NAME)),
            Some(Some(number)) => Ok(Value::I32(number)),
        },
    )
}
