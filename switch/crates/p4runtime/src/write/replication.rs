//! PacketReplicationEngineEntry: multicast groups and clone sessions.

use phb_node::{CloneSession, Replica, Update as Change};

use super::{Operation, Step};
use crate::bytestring::number;
use crate::message::entity::{
    self, CloneSessionEntry, MulticastGroupEntry, PacketReplicationEngineEntry, ReplicaPort,
    ReplicationKind,
};
use crate::schema::Schema;
use crate::status::{Code, Refusal, Result, invalid};
use crate::store::Store;

/// v1model's priorities have 3 bits.
const HIGHEST_CLASS: u32 = 7;

pub(super) fn entry(
    operation: Operation,
    entry: PacketReplicationEngineEntry,
    schema: &Schema,
    store: &Store,
) -> Result<Step> {
    match entry.kind {
        Some(ReplicationKind::Multicast(group)) => multicast(operation, group, schema, store),
        Some(ReplicationKind::Clone(session)) => clone_session(operation, session, schema, store),
        None => invalid("the packet_replication_engine_entry has neither a group nor a session"),
    }
}

fn multicast(
    operation: Operation,
    mut entry: MulticastGroupEntry,
    schema: &Schema,
    store: &Store,
) -> Result<Step> {
    let id = entry.multicast_group_id;
    let what = format!("multicast group {id}");
    let group = number_of(id, &what)?;
    exists(operation, store.rest.multicast.contains_key(&id), &what)?;
    if operation == Operation::Delete {
        let change = Change::MulticastGroup {
            group,
            replicas: None,
        };
        return Ok(Step::new(vec![change], move |store| {
            store.rest_mut().multicast.remove(&id);
        }));
    }
    let receivers = receivers(&mut entry.replicas, &what, schema)?;
    let change = match receivers.iter().all(|replicas| replicas.len() == 1) {
        true => Change::MulticastGroup {
            group,
            replicas: Some(receivers.concat()),
        },
        false => Change::MulticastWithBackups { group, receivers },
    };
    Ok(Step::new(vec![change], move |store| {
        store.rest_mut().multicast.insert(id, entry);
    }))
}

fn clone_session(
    operation: Operation,
    mut entry: CloneSessionEntry,
    schema: &Schema,
    store: &Store,
) -> Result<Step> {
    let id = entry.session_id;
    let what = format!("clone session {id}");
    let session = number_of(id, &what)?;
    exists(operation, store.rest.clones.contains_key(&id), &what)?;
    if operation == Operation::Delete {
        let change = Change::CloneSession {
            session,
            value: None,
        };
        return Ok(Step::new(vec![change], move |store| {
            store.rest_mut().clones.remove(&id);
        }));
    }
    let receivers = receivers(&mut entry.replicas, &what, schema)?;
    let mut backups: Vec<Vec<Replica>> = receivers.iter().map(|all| all[1..].to_vec()).collect();
    if backups.iter().all(Vec::is_empty) {
        backups.clear();
    }
    if entry.class_of_service > HIGHEST_CLASS {
        return invalid(format!(
            "{what}: class_of_service {}; expected 0 to {HIGHEST_CLASS}",
            entry.class_of_service
        ));
    }
    let Ok(length) = u32::try_from(entry.packet_length_bytes) else {
        return invalid(format!("{what}: packet_length_bytes is negative"));
    };
    let value = CloneSession {
        replicas: receivers.iter().map(|all| all[0]).collect(),
        backups,
        class_of_service: entry.class_of_service as u8,
        packet_length_bytes: Some(length).filter(|length| *length > 0),
        group: None,
    };
    let change = Change::CloneSession {
        session,
        value: Some(value),
    };
    Ok(Step::new(vec![change], move |store| {
        store.rest_mut().clones.insert(id, entry);
    }))
}

/// 0 means none in P4Runtime.
fn number_of(id: u32, what: &str) -> Result<u16> {
    match u16::try_from(id) {
        Ok(number @ 1..) => Ok(number),
        _ => invalid(format!("{what}: expected a number from 1 to {}", u16::MAX)),
    }
}

fn exists(operation: Operation, exists: bool, what: &str) -> Result<()> {
    match (operation, exists) {
        (Operation::Insert, true) => {
            let message = format!("{what} exists already");
            Err(Refusal::new(Code::AlreadyExists, message))
        }
        (Operation::Modify | Operation::Delete, false) => {
            Err(Refusal::new(Code::NotFound, format!("there is no {what}")))
        }
        _ => Ok(()),
    }
}

/// The receivers of copies, each with its backups behind it; makes their ports canonical.
fn receivers(
    given: &mut [entity::Replica],
    what: &str,
    schema: &Schema,
) -> Result<Vec<Vec<Replica>>> {
    let mut receivers: Vec<Vec<Replica>> = Vec::with_capacity(given.len());
    for each in given {
        let port = match &mut each.port {
            // Messages from before P4Runtime 1.4 omit port 0.
            None => 0,
            Some(ReplicaPort::EgressPort(port)) => *port,
            Some(ReplicaPort::Port(port)) => port_of(port, what, schema)?,
        };
        let first = replica(port, each.instance, what, schema)?;
        let mut replicas = vec![first];
        for backup in &mut each.backup_replicas {
            let port = port_of(&mut backup.port, what, schema)?;
            let backup = replica(port, backup.instance, what, schema)?;
            if backup.port == first.port {
                return invalid(format!("{what}: port {port} can not be a backup of itself"));
            }
            replicas.push(backup);
        }
        receivers.push(replicas);
    }
    let all = receivers.iter().flatten();
    let mut sorted: Vec<(u16, u16)> = all
        .map(|replica| (replica.port, replica.instance))
        .collect();
    sorted.sort_unstable();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => invalid(format!(
            "{what}: port {} with instance {} is given twice",
            pair[0].0, pair[0].1
        )),
        None => Ok(receivers),
    }
}

fn port_of(given: &mut Vec<u8>, what: &str, schema: &Schema) -> Result<u32> {
    let port = schema.port(given, schema.port_bits(), format_args!("{what}, port"))?;
    let port = number(&port).and_then(|port| u32::try_from(port).ok());
    Ok(port.unwrap_or(u32::MAX))
}

fn replica(port: u32, instance: u32, what: &str, schema: &Schema) -> Result<Replica> {
    let Some(port) = schema.switch_port(port) else {
        return invalid(match schema.psa {
            Some(_) => format!("{what}: port {port} is none of this switch"),
            None => {
                let bits = schema.port_bits();
                format!("{what}: port {port} does not fit into {bits} bit")
            }
        });
    };
    let Ok(instance) = u16::try_from(instance) else {
        return invalid(format!(
            "{what}: instance {instance} does not fit into 16 bit"
        ));
    };
    Ok(Replica { port, instance })
}

#[cfg(test)]
mod tests {
    use phb_pipeline::PsaPorts;

    use super::*;

    /// The port of the switch that a group's replica gets.
    fn port_of(schema: &Schema, port: ReplicaPort) -> Result<u16> {
        let replica = entity::Replica {
            port: Some(port),
            instance: 7,
            backup_replicas: Vec::new(),
        };
        let mut given = [replica];
        receivers(&mut given, "multicast group 1", schema).map(|made| made[0][0].port)
    }

    #[test]
    fn replicas_name_ports_of_their_architecture() {
        let v1model = Schema::default();
        let psa = |cpu| Schema {
            psa: Some(PsaPorts::new(cpu)),
            ..Schema::default()
        };
        let rows = [
            (v1model.clone(), 511, Ok(511)),
            (v1model, 512, Err("port 512 does not fit into 9 bit")),
            (psa(None), 512, Ok(512)),
            (psa(None), 0xffff_fffa, Ok(0xfffa)),
            (psa(Some(64)), 0xffff_fffd, Ok(64)),
            (
                psa(None),
                0xffff_fffd,
                Err("port 4294967293 is none of this switch"),
            ),
            (
                psa(None),
                0x1_0000,
                Err("port 65536 is none of this switch"),
            ),
        ];
        for (schema, port, expected) in rows {
            let given = [
                ReplicaPort::EgressPort(port),
                ReplicaPort::Port(port.to_be_bytes().to_vec()),
            ];
            for given in given {
                let found = port_of(&schema, given).map_err(|refusal| refusal.message);
                match expected {
                    Ok(port) => assert_eq!(found, Ok(port)),
                    Err(words) if schema.psa.is_some() => {
                        assert_eq!(found, Err(format!("multicast group 1: {words}")));
                    }
                    Err(_) => assert!(found.is_err()),
                }
            }
        }
    }
}
