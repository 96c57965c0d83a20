//! A switch of two ports with its tree, and requests to it.

#![allow(dead_code)] // each test uses some of it

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use phb_gnmi::message::encoding::PROTO;
use phb_gnmi::message::typed_value::Value;
use phb_gnmi::message::{
    GetRequest, Notification, Path, PathElem, SetRequest, SetResponse, TypedValue, Update,
};
use phb_gnmi::{Attachment, Refusal, ServerCounters, Tree};
use phb_network::{Node, Output};
use phb_node::{SwitchConfig, SwitchNode, unlimited};
use phb_pipeline::{Executor, Pipeline};
use phb_traffic_manager::PortConfig;

pub const SPEED: &str = "/interfaces/interface[name=eth1]/ethernet/config/port-speed";
pub const POLICY: &str = "/qos/scheduler-policies/scheduler-policy[name=slow]";
pub const SHAPER: &str = "/qos/scheduler-policies/scheduler-policy[name=slow]/schedulers/scheduler[sequence=0]/one-rate-two-color/config";
pub const BINDING: &str =
    "/qos/interfaces/interface[interface-id=eth1]/output/scheduler-policy/config/name";
pub const ENABLED: &str = "/interfaces/interface[name=eth1]/config/enabled";

pub const WALL_NS: i64 = 1_700_000_000_000_000_000;

pub type Attached = Arc<Mutex<BTreeMap<u16, Attachment>>>;

pub struct Switch {
    pub node: Arc<Mutex<SwitchNode>>,
    pub tree: Arc<Tree>,
    pub attached: Attached,
    pub counters: Arc<ServerCounters>,
}

/// A switch with ports 1 and 2.
pub fn switch() -> Switch {
    switch_with([unlimited(), unlimited()])
}

pub fn switch_with(ports: [PortConfig; 2]) -> Switch {
    build((1..).zip(ports), None)
}

/// A switch with ports 1 to 3, of which the tree hides one.
pub fn switch_that_hides(port: u16) -> Switch {
    build((1..=3).map(|port| (port, unlimited())), Some(port))
}

fn build(ports: impl Iterator<Item = (u16, PortConfig)>, hidden: Option<u16>) -> Switch {
    let config = SwitchConfig {
        name: "test".to_owned(),
        cpu_port: None,
        drop_port: 511,
        seed: 1,
        executor: Executor::default(),
    };
    let node = SwitchNode::new(config, ports);
    let node = Arc::new(Mutex::new(node));
    let names = [(1, "eth1".to_owned()), (2, "eth2".to_owned())];
    let attached = Attached::default();
    let attachments = Arc::clone(&attached);
    let counters = Arc::new(ServerCounters::default());
    let tree = Tree::new(
        Arc::clone(&node),
        names.into(),
        hidden,
        Arc::new(move || attachments.lock().expect("no panic").clone()),
        Arc::clone(&counters),
    );
    Switch {
        node,
        tree: Arc::new(tree),
        attached,
        counters,
    }
}

impl Switch {
    pub fn ports(&self) -> Vec<PortConfig> {
        let node = self.node.lock().expect("no panic");
        node.ports().map(|(_, config)| config.clone()).collect()
    }

    pub fn install(&self, pipeline: Pipeline) {
        self.node.lock().expect("no panic").install(pipeline);
    }

    pub fn receive(&self, port: u16, frame: &[u8], now: u64) {
        let mut out = Output::new();
        out.begin(now);
        let mut node = self.node.lock().expect("no panic");
        node.receive_frame(now, port, frame, &mut out);
        while let Some(tick) = node.next_tick() {
            out.begin(tick);
            node.tick(tick, &mut out);
        }
    }

    pub fn attach(&self, port: u16, attachment: Attachment) {
        let mut attached = self.attached.lock().expect("no panic");
        attached.insert(port, attachment);
    }

    pub fn ask(&self, paths: &[&str], encoding: i32, kind: i32) -> Result<Vec<Update>, Refusal> {
        let request = GetRequest {
            path: paths.iter().map(|each| path(each)).collect(),
            encoding,
            r#type: kind,
            ..GetRequest::default()
        };
        let response = self.tree.get(&request, WALL_NS)?;
        let notifications = response.notification.into_iter();
        Ok(notifications.flat_map(|each| each.update).collect())
    }

    pub fn get(&self, paths: &[&str], encoding: i32, kind: i32) -> Vec<Update> {
        self.ask(paths, encoding, kind).expect("an answer")
    }

    pub fn values(&self, paths: &[&str]) -> BTreeMap<String, Value> {
        by_text(self.get(paths, PROTO, 0))
    }

    pub fn set(&self, request: &SetRequest) -> SetResponse {
        self.tree.set(request, WALL_NS).expect("it is set")
    }

    pub fn update(&self, updates: &[(&str, Value)]) -> SetResponse {
        self.set(&updating(updates))
    }

    pub fn delete(&self, paths: &[&str]) -> SetResponse {
        self.set(&deleting(paths))
    }
}

pub fn updating(updates: &[(&str, Value)]) -> SetRequest {
    SetRequest {
        update: updates
            .iter()
            .map(|(place, value)| update(place, value.clone()))
            .collect(),
        ..SetRequest::default()
    }
}

pub fn deleting(paths: &[&str]) -> SetRequest {
    SetRequest {
        delete: paths.iter().map(|each| path(each)).collect(),
        ..SetRequest::default()
    }
}

pub fn update(place: &str, value: Value) -> Update {
    Update {
        path: Some(path(place)),
        val: Some(TypedValue { value: Some(value) }),
        duplicates: 0,
    }
}

pub fn word(text: &str) -> Value {
    Value::StringVal(text.to_owned())
}

pub fn number(number: u64) -> Value {
    Value::UintVal(number)
}

pub fn ietf(content: &serde_json::Value) -> Value {
    Value::JsonIetfVal(content.to_string().into_bytes())
}

/// The content of a JSON document.
pub fn content(value: Option<&TypedValue>) -> serde_json::Value {
    match value.and_then(|value| value.value.as_ref()) {
        Some(Value::JsonVal(data) | Value::JsonIetfVal(data)) => {
            serde_json::from_slice(data).expect("it is JSON")
        }
        other => panic!("{other:?} is not JSON"),
    }
}

pub fn by_text(updates: Vec<Update>) -> BTreeMap<String, Value> {
    let pairs = updates.into_iter().map(|update| {
        let value = update.val.and_then(|value| value.value);
        (
            text(&update.path.unwrap_or_default()),
            value.expect("a value"),
        )
    });
    pairs.collect()
}

pub fn told(notification: Notification) -> BTreeMap<String, Value> {
    assert_eq!(notification.delete, []);
    by_text(notification.update)
}

/// Reads /a/b[k=v]; what keys have is never a slash here.
pub fn path(given: &str) -> Path {
    let parts = given.split('/').filter(|part| !part.is_empty());
    let elem = parts.map(|part| {
        let part = part.replace(']', "");
        let mut words = part.split('[');
        let name = words.next().unwrap_or_default().to_owned();
        let pairs = words.filter_map(|word| word.split_once('='));
        let key = pairs
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect();
        PathElem { name, key }
    });
    Path {
        elem: elem.collect(),
        ..Path::default()
    }
}

pub fn text(path: &Path) -> String {
    let mut text = String::new();
    for each in &path.elem {
        text.push('/');
        text.push_str(&each.name);
        for (key, value) in &each.key {
            text.push_str(&format!("[{key}={value}]"));
        }
    }
    text
}
