//! The service `simple_switch`: mirroring, queues, time.

use std::time::Duration;

use phb_node::{CloneSession, Failure, Replica, SwitchNode, Update};
use phb_pipeline::Pipeline;
use phb_traffic_manager::{PortConfig, QueueConfig};

use crate::artifact::Artifact;
use crate::call::{Fault, Outcome, Services};
use crate::wire::{Fields, Value};

/// The code of InvalidMirroringOperation.
const SESSION_NOT_FOUND: i32 = 1;

/// Sessions have numbers below this, as in bmv2.
const SESSIONS: i32 = 1 << 15;

/// Ports have numbers below this.
const PORTS: i32 = 512;

pub fn call(services: &Services, method: &str, arguments: Fields<'_>) -> Outcome {
    let session = arguments.int(1);
    match method {
        "mirroring_session_add" => {
            let config = arguments.fields(2);
            let number = |id| config.get(id).map(|_| config.int(id));
            add(services, session, number(1), number(2))
        }
        "mirroring_session_delete" => delete(services, session),
        "mirroring_session_get" => {
            let (port, group) = get(services, session)?;
            let fields = [(1, port), (2, group)].into_iter();
            let given = fields.filter_map(|(id, number)| Some((id, Value::I32(number?.into()))));
            Ok(Value::Struct(given.collect()))
        }
        "mirroring_mapping_add" => {
            let added = add(services, session, Some(arguments.int(2)), None);
            Ok(Value::I32(added.is_ok().into()))
        }
        "mirroring_mapping_delete" => Ok(Value::I32(delete(services, session).is_ok().into())),
        "mirroring_mapping_get_egress_port" => {
            let port = get(services, session).ok().and_then(|(port, _)| port);
            Ok(Value::I32(port.map_or(-1, i32::from)))
        }
        "set_egress_priority_queue_depth" => one_queue(services, arguments, |own, value| {
            own.depth = usize::try_from(value).ok();
        }),
        "set_egress_queue_depth" => queues(services, arguments, depth),
        "set_all_egress_queue_depths" => all_queues(services, arguments, depth),
        "set_egress_priority_queue_rate" => one_queue(services, arguments, |own, value| {
            own.rate_pps = u64::try_from(value).ok();
        }),
        "set_egress_queue_rate" => queues(services, arguments, rate),
        "set_all_egress_queue_rates" => all_queues(services, arguments, rate),
        "get_time_elapsed_us" => Ok(microseconds(services.elapsed())),
        "get_time_since_epoch_us" => Ok(microseconds(Services::since_epoch())),
        _ => Err(Fault::NoMethod),
    }
}

fn microseconds(time: Duration) -> Value {
    Value::I64(i64::try_from(time.as_micros()).unwrap_or(i64::MAX))
}

fn number(session: i32) -> Option<u16> {
    let session = Some(session).filter(|session| (0..SESSIONS).contains(session));
    session.and_then(|session| u16::try_from(session).ok())
}

fn add(services: &Services, session: i32, port: Option<i32>, group: Option<i32>) -> Outcome {
    let Some(session) = number(session) else {
        let words = format!(
            "mirroring session {session}: expected 0 to {}",
            SESSIONS - 1
        );
        return Err(Fault::other(words));
    };
    let port = port.map(|port| match u16::try_from(port) {
        Ok(number) if port < PORTS => Ok(number),
        _ => Err(Fault::other(format!(
            "port {port}: expected 0 to {}",
            PORTS - 1
        ))),
    });
    let group = group.map(|group| {
        u16::try_from(group)
            .map_err(|_| Fault::other(format!("multicast group {group}: expected 0 to 65535")))
    });
    let replicas = port.transpose()?.map(|port| Replica { port, instance: 0 });
    let value = CloneSession {
        replicas: replicas.into_iter().collect(),
        group: group.transpose()?,
        ..CloneSession::default()
    };
    let plan = |_: &Artifact, _: &SwitchNode, _: &Pipeline| {
        let value = Some(value.clone());
        Ok(vec![Update::CloneSession { session, value }])
    };
    services.make(plan, refused)
}

fn refused(_: &Failure) -> Fault {
    Fault::other("the switch refuses the session")
}

fn delete(services: &Services, session: i32) -> Outcome {
    let plan = |_: &Artifact, node: &SwitchNode, _: &Pipeline| {
        let known =
            number(session).filter(|session| node.replication().session(*session).is_some());
        match known {
            Some(session) => Ok(vec![Update::CloneSession {
                session,
                value: None,
            }]),
            None => Err(Fault::Code(SESSION_NOT_FOUND)),
        }
    };
    services.make(plan, refused)
}

/// Port and group. A session of P4Runtime with several replicas has neither.
fn get(services: &Services, session: i32) -> Result<(Option<u16>, Option<u16>), Fault> {
    let node = services.node();
    let given = number(session).and_then(|session| node.replication().given_session(session));
    let Some(given) = given else {
        return Err(Fault::Code(SESSION_NOT_FOUND));
    };
    let port = match &given.replicas[..] {
        [only] => Some(only.port),
        _ => None,
    };
    Ok((port, given.group))
}

fn depth(config: &mut PortConfig, value: i64) {
    config.queue_depth = usize::try_from(value).ok();
    config.held_queue_depth = None;
    for own in config.own.values_mut() {
        own.depth = None;
    }
}

/// 0 is unlimited, as in bmv2.
fn rate(config: &mut PortConfig, value: i64) {
    config.queue_rate_pps = u64::try_from(value).ok();
    for own in config.own.values_mut() {
        own.rate_pps = None;
    }
}

type Setting = fn(&mut PortConfig, i64);

/// Changes the port of the first argument. bmv2 has queues for ports that are not there, too; nothing waits in them.
fn change(
    services: &Services,
    arguments: Fields<'_>,
    set: impl FnOnce(&mut PortConfig),
) -> Outcome {
    let mut node = services.node();
    let port = arguments.int(1);
    let known = node.ports().find(|(number, _)| i32::from(*number) == port);
    if let Some((number, config)) = known {
        let mut config = config.clone();
        set(&mut config);
        node.set_port(number, config);
    }
    Ok(Value::I32(0))
}

/// All queues of a port.
fn queues(services: &Services, arguments: Fields<'_>, set: Setting) -> Outcome {
    change(services, arguments, |config| set(config, arguments.long(2)))
}

/// One queue of a port. As in bmv2, of a port without such a queue nothing changes.
fn one_queue(
    services: &Services,
    arguments: Fields<'_>,
    set: impl FnOnce(&mut QueueConfig, i64),
) -> Outcome {
    change(services, arguments, |config| {
        if let Some(own) = own(config, arguments.int(2)) {
            set(own, arguments.long(3));
        }
    })
}

fn own(config: &mut PortConfig, priority: i32) -> Option<&mut QueueConfig> {
    let priority = u8::try_from(priority).ok();
    let known = priority.filter(|priority| *priority < config.queues)?;
    Some(config.own.entry(known).or_default())
}

fn all_queues(services: &Services, arguments: Fields<'_>, set: Setting) -> Outcome {
    let mut node = services.node();
    let ports: Vec<(u16, PortConfig)> = node
        .ports()
        .map(|(number, config)| (number, config.clone()))
        .collect();
    for (number, mut config) in ports {
        set(&mut config, arguments.long(1));
        node.set_port(number, config);
    }
    Ok(Value::I32(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_all_queues_get_single_ones_lose() {
        let mut config = PortConfig {
            queues: 2,
            ..PortConfig::default()
        };
        for priority in [-1, 2, 256] {
            assert_eq!(own(&mut config, priority), None);
        }
        for priority in [0, 1] {
            let of_one = own(&mut config, priority).expect("there is such a queue");
            (of_one.depth, of_one.rate_pps) = (Some(7), Some(8));
        }
        depth(&mut config, 9);
        assert_eq!((config.queue_depth, config.queue_rate_pps), (Some(9), None));
        let only_rate = QueueConfig {
            depth: None,
            rate_pps: Some(8),
        };
        assert_eq!(config.own.values().collect::<Vec<_>>(), [&only_rate; 2]);
        rate(&mut config, 10);
        assert_eq!(own(&mut config, 1), Some(&mut QueueConfig::default()));
    }
}
