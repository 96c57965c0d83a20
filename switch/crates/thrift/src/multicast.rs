//! The services `simple_pre` and `simple_pre_lag`: multicast groups of nodes, each with an instance, ports and LAGs.
//!
//! The switch holds the groups' replicas, which are the truth. Nodes and LAGs are kept here. Before each call they are
//! brought in line with the replicas: a group that another server has written gets nodes of its own.

use std::collections::{BTreeMap, BTreeSet};

use phb_node::{Failure, Replica, Replication, SwitchNode, Update};
use phb_pipeline::Pipeline;
use serde_json::{Value as Json, json};

use crate::artifact::Artifact;
use crate::call::{Fault, Outcome, Services};
use crate::limits;
use crate::wire::{Fields, Value};

/// Codes of InvalidMcOperation.
const TABLE_FULL: i32 = 1;
const INVALID_MGID: i32 = 2;
const INVALID_MGRP_HANDLE: i32 = 3;
const INVALID_L1_HANDLE: i32 = 4;
const ERROR: i32 = 5;

/// Ports and LAGs have numbers below this.
const PORTS: usize = 512;
const LAGS: usize = 256;

/// bmv2 takes the member of a LAG by a hash of which it says that it is to come; it is this.
const LAG_HASH: usize = 0xff;

type Numbers = BTreeSet<u16>;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Node {
    instance: u16,
    ports: Numbers,
    lags: Numbers,
    group: Option<u16>,
}

/// Nodes and LAGs.
#[derive(Clone, Debug, Default)]
pub struct Multicast {
    /// Each group's nodes, in the order in which they were associated.
    groups: BTreeMap<u16, Vec<u32>>,
    nodes: BTreeMap<u32, Node>,
    lags: BTreeMap<u16, Numbers>,
}

pub fn call(services: &Services, method: &str, arguments: Fields<'_>, with_lags: bool) -> Outcome {
    if method == "bm_mc_get_entries" {
        let node = services.node();
        let mut kept = services.kept();
        kept.multicast.follow(node.replication());
        let text = kept.multicast.told(with_lags).to_string();
        return Ok(text.as_str().into());
    }
    let plan = |_: &Artifact, node: &SwitchNode, _: &Pipeline| {
        let mut changed = services.kept().multicast.clone();
        changed.follow(node.replication());
        let value = changed.change(method, arguments, with_lags)?;
        let updates = changed.updates(node.replication())?;
        Ok((updates, (changed, value)))
    };
    let refused = |_: &Failure| Fault::Code(ERROR);
    services.change(plan, refused, |_, (changed, value)| {
        services.kept().multicast = changed;
        Ok(value)
    })
}

/// The numbers of the ones in a string of zeros and ones, the last of which is number 0.
fn numbers(map: &[u8], most: usize) -> Result<Numbers, Fault> {
    let mut found = Numbers::new();
    for (place, digit) in map.iter().rev().enumerate() {
        match digit {
            b'0' => {}
            b'1' if place < most => {
                found.insert(place as u16);
            }
            _ => return Err(Fault::Code(ERROR)),
        }
    }
    Ok(found)
}

impl Multicast {
    /// Removes everything, as the switch has.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    fn change(
        &mut self,
        method: &str,
        arguments: Fields<'_>,
        with_lags: bool,
    ) -> Result<Value, Fault> {
        match method {
            "bm_mc_mgrp_create" => {
                let given = arguments.int(2);
                let number = u16::try_from(given).map_err(|_| Fault::Code(INVALID_MGID))?;
                self.groups.entry(number).or_default();
                return Ok(Value::I32(given));
            }
            "bm_mc_mgrp_destroy" => {
                let number = u16::try_from(arguments.int(2)).ok();
                for node in number
                    .and_then(|number| self.groups.remove(&number))
                    .unwrap_or_default()
                {
                    self.node(node)?.group = None;
                }
            }
            "bm_mc_node_create" => {
                let node = Node {
                    instance: u16::try_from(arguments.int(2)).map_err(|_| Fault::Code(ERROR))?,
                    ports: numbers(arguments.bytes(3), PORTS)?,
                    lags: numbers(arguments.bytes(4), LAGS).filter_lags(with_lags)?,
                    group: None,
                };
                return Ok(Value::I32(self.add(node)?.cast_signed()));
            }
            "bm_mc_node_update" => {
                let ports = numbers(arguments.bytes(3), PORTS)?;
                let lags = numbers(arguments.bytes(4), LAGS).filter_lags(with_lags)?;
                let node = self.node(arguments.int(2).cast_unsigned())?;
                (node.ports, node.lags) = (ports, lags);
            }
            "bm_mc_node_associate" => {
                let (group, handle) = self.group_and_node(arguments)?;
                let node = self.node(handle)?;
                if node.group.is_some() {
                    return Err(Fault::Code(ERROR));
                }
                node.group = Some(group);
                self.groups.entry(group).or_default().push(handle);
            }
            "bm_mc_node_dissociate" => {
                let (group, handle) = self.group_and_node(arguments)?;
                let node = self.node(handle)?;
                if node.group != Some(group) {
                    return Err(Fault::Code(ERROR));
                }
                node.group = None;
                self.leave(group, handle);
            }
            "bm_mc_node_destroy" => {
                let handle = arguments.int(2).cast_unsigned();
                let Some(node) = self.nodes.remove(&handle) else {
                    return Err(Fault::Code(INVALID_L1_HANDLE));
                };
                if let Some(group) = node.group {
                    self.leave(group, handle);
                }
            }
            "bm_mc_set_lag_membership" if with_lags => {
                let lag = u16::try_from(arguments.int(2)).ok();
                let Some(lag) = lag.filter(|lag| usize::from(*lag) < LAGS) else {
                    return Err(Fault::Code(ERROR));
                };
                self.lags.insert(lag, numbers(arguments.bytes(3), PORTS)?);
            }
            _ => return Err(Fault::NoMethod),
        }
        Ok(Value::Void)
    }

    fn node(&mut self, handle: u32) -> Result<&mut Node, Fault> {
        let node = self.nodes.get_mut(&handle);
        node.ok_or(Fault::Code(INVALID_L1_HANDLE))
    }

    /// Arguments 2 and 3, which exist.
    fn group_and_node(&mut self, arguments: Fields<'_>) -> Result<(u16, u32), Fault> {
        let handle = arguments.int(3).cast_unsigned();
        self.node(handle)?;
        let group = u16::try_from(arguments.int(2)).ok();
        match group.filter(|group| self.groups.contains_key(group)) {
            Some(group) => Ok((group, handle)),
            None => Err(Fault::Code(INVALID_MGRP_HANDLE)),
        }
    }

    fn leave(&mut self, group: u16, handle: u32) {
        if let Some(nodes) = self.groups.get_mut(&group) {
            nodes.retain(|node| *node != handle);
        }
    }

    /// Gives a node the least handle that is free.
    fn add(&mut self, node: Node) -> Result<u32, Fault> {
        if self.nodes.len() >= limits::NODES {
            return Err(Fault::Code(TABLE_FULL));
        }
        let places = self.nodes.keys().zip(0..);
        let handle = places
            .take_while(|(known, place)| **known == *place)
            .count() as u32;
        self.nodes.insert(handle, node);
        Ok(handle)
    }

    /// The copies that a group's nodes make, in bmv2's order.
    fn replicas(&self, group: u16) -> Result<Vec<Replica>, Fault> {
        let mut replicas = Vec::new();
        let nodes = self.groups.get(&group).into_iter().flatten();
        for node in nodes.filter_map(|handle| self.nodes.get(handle)) {
            let lags = node.lags.iter().filter_map(|lag| {
                let ports = self.lags.get(lag)?;
                let place = LAG_HASH.checked_rem(ports.len())?;
                ports.iter().nth(place).copied()
            });
            replicas.extend(node.ports.iter().copied().chain(lags).map(|port| Replica {
                port,
                instance: node.instance,
            }));
            if replicas.len() > limits::REPLICAS {
                return Err(Fault::Code(TABLE_FULL));
            }
        }
        Ok(replicas)
    }

    /// The changes that give the switch these groups.
    fn updates(&self, replication: &Replication) -> Result<Vec<Update>, Fault> {
        let mut updates = Vec::new();
        for group in self.groups.keys() {
            let replicas = self.replicas(*group)?;
            if replication.group(*group).map(AsRef::as_ref) != Some(&replicas[..]) {
                updates.push(Update::MulticastGroup {
                    group: *group,
                    replicas: Some(replicas),
                });
            }
        }
        let gone = replication.groups().into_iter();
        updates.extend(
            gone.filter(|group| !self.groups.contains_key(group))
                .map(|group| Update::MulticastGroup {
                    group,
                    replicas: None,
                }),
        );
        Ok(updates)
    }

    /// Gives groups whose replicas are not those of their nodes new nodes.
    fn follow(&mut self, replication: &Replication) {
        let known: Vec<u16> = self.groups.keys().copied().collect();
        for group in known {
            let replicas = replication.group(group).map(AsRef::as_ref);
            let same = self
                .replicas(group)
                .is_ok_and(|own| replicas == Some(&own[..]));
            if !same {
                for node in self.groups.remove(&group).unwrap_or_default() {
                    self.nodes.remove(&node);
                }
            }
        }
        for group in replication.groups() {
            if self.groups.contains_key(&group) {
                continue;
            }
            let mut nodes: Vec<Node> = Vec::new();
            let replicas = replication.group(group).map_or(&[][..], AsRef::as_ref);
            for replica in replicas {
                let has_room = nodes
                    .last()
                    .filter(|node| node.instance == replica.instance)
                    .and_then(|node| node.ports.last())
                    .is_some_and(|last| *last < replica.port);
                if !has_room {
                    nodes.push(Node {
                        instance: replica.instance,
                        group: Some(group),
                        ..Node::default()
                    });
                }
                if let Some(node) = nodes.last_mut() {
                    node.ports.insert(replica.port);
                }
            }
            // A node too many is not shown, and its copies are made all the same.
            let handles = nodes.into_iter().map_while(|node| self.add(node).ok());
            let handles = handles.collect();
            self.groups.insert(group, handles);
        }
    }

    /// As bmv2 tells its clients. Its second level has a node for each of the first.
    fn told(&self, with_lags: bool) -> Json {
        let groups = self.groups.iter();
        let groups: Vec<Json> = groups
            .map(|(id, nodes)| json!({"id": id, "l1_handles": nodes}))
            .collect();
        let nodes = || self.nodes.iter();
        let first: Vec<Json> = nodes()
            .map(|(handle, node)| json!({"handle": handle, "rid": node.instance, "l2_handle": handle}))
            .collect();
        let second: Vec<Json> = nodes()
            .map(|(handle, node)| json!({"handle": handle, "ports": node.ports, "lags": node.lags}))
            .collect();
        let mut all = json!({"mgrps": groups, "l1_handles": first, "l2_handles": second});
        if with_lags {
            let lags = self.lags.iter();
            let lags: Vec<Json> = lags
                .map(|(id, ports)| json!({"id": id, "ports": ports}))
                .collect();
            all["lags"] = lags.into();
        }
        all
    }
}

trait FilterLags {
    fn filter_lags(self, with_lags: bool) -> Self;
}

impl FilterLags for Result<Numbers, Fault> {
    /// `simple_pre` has no such argument.
    fn filter_lags(self, with_lags: bool) -> Self {
        if with_lags { self } else { Ok(Numbers::new()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(fields: Vec<(i16, Value)>) -> Value {
        Value::Struct(fields)
    }

    fn changed(multicast: &mut Multicast, method: &str, fields: Vec<(i16, Value)>) -> Outcome {
        multicast.change(method, Fields::of(&arguments(fields)), true)
    }

    fn int(value: i32) -> Value {
        Value::I32(value)
    }

    fn made() -> Multicast {
        let mut made = Multicast::default();
        for (method, fields) in [
            ("bm_mc_mgrp_create", vec![(2, int(7))]),
            (
                "bm_mc_node_create",
                vec![(2, int(1)), (3, "110".into()), (4, "".into())],
            ),
            (
                "bm_mc_node_create",
                vec![(2, int(2)), (3, "".into()), (4, "10".into())],
            ),
            (
                "bm_mc_set_lag_membership",
                vec![(2, Value::I16(1)), (3, "111000".into())],
            ),
            ("bm_mc_node_associate", vec![(2, int(7)), (3, int(1))]),
            ("bm_mc_node_associate", vec![(2, int(7)), (3, int(0))]),
        ] {
            changed(&mut made, method, fields)
                .unwrap_or_else(|fault| panic!("{method}: {fault:?}"));
        }
        made
    }

    fn replica(port: u16, instance: u16) -> Replica {
        Replica { port, instance }
    }

    #[test]
    fn nodes_make_replicas_in_their_order() {
        let replicas = made().replicas(7);
        assert_eq!(
            replicas,
            Ok(vec![replica(3, 2), replica(1, 1), replica(2, 1)])
        );
    }

    #[test]
    fn refusals() {
        for (method, fields, code) in [
            ("bm_mc_mgrp_create", vec![(2, int(65_536))], INVALID_MGID),
            ("bm_mc_node_create", vec![(2, int(-1))], ERROR),
            ("bm_mc_node_create", vec![(3, "2".into())], ERROR),
            (
                "bm_mc_node_associate",
                vec![(2, int(8)), (3, int(0))],
                INVALID_MGRP_HANDLE,
            ),
            (
                "bm_mc_node_associate",
                vec![(2, int(7)), (3, int(9))],
                INVALID_L1_HANDLE,
            ),
            (
                "bm_mc_node_associate",
                vec![(2, int(7)), (3, int(0))],
                ERROR,
            ),
            ("bm_mc_node_destroy", vec![(2, int(5))], INVALID_L1_HANDLE),
            (
                "bm_mc_set_lag_membership",
                vec![(2, Value::I16(256))],
                ERROR,
            ),
        ] {
            let outcome = changed(&mut made(), method, fields);
            assert_eq!(outcome, Err(Fault::Code(code)), "{method}");
        }
    }

    #[test]
    fn what_others_write_gets_nodes() {
        let mut multicast = made();
        let mut replication = Replication::default();
        replication.set_group(7, Some(vec![replica(4, 0), replica(5, 0), replica(5, 0)]));
        replication.set_group(9, Some(Vec::new()));
        multicast.follow(&replication);
        let told = multicast.told(false);
        assert_eq!(
            told["mgrps"],
            json!([{"id": 7, "l1_handles": [0, 1]}, {"id": 9, "l1_handles": []}])
        );
        assert_eq!(told["l2_handles"][0]["ports"], json!([4, 5]));
        assert_eq!(multicast.updates(&replication), Ok(Vec::new()));
        replication.set_group(7, None);
        multicast.follow(&replication);
        assert_eq!(multicast.told(false)["l1_handles"], json!([]));
    }
}
