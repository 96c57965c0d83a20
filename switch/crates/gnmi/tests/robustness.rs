//! No request, however odd, does anything but succeed or be refused with a status; a refused one changes nothing.

mod support;

use std::sync::Arc;

use phb_gnmi::message::encoding::{JSON, JSON_IETF, PROTO};
use phb_gnmi::message::typed_value::Value;
use phb_gnmi::message::{
    GetRequest, Path, PathElem, SetRequest, SubscribeRequest, Subscription, SubscriptionList,
    TypedValue, Update, data, request,
};
use phb_gnmi::{Code, Subscriber};
use phb_node::unlimited;
use phb_traffic_manager::PortConfig;
use proptest::prelude::*;
use prost::Message;
use serde_json::{Map, Value as Json};
use support::*;

/// Where the leaves are, without keys.
const PLACES: [&str; 24] = [
    "interfaces/interface/name",
    "interfaces/interface/config/name",
    "interfaces/interface/config/type",
    "interfaces/interface/config/enabled",
    "interfaces/interface/state/ifindex",
    "interfaces/interface/state/counters/in-pkts",
    "interfaces/interface/ethernet/config/port-speed",
    "qos/scheduler-policies/scheduler-policy/name",
    "qos/scheduler-policies/scheduler-policy/schedulers/scheduler/sequence",
    "qos/scheduler-policies/scheduler-policy/schedulers/scheduler/one-rate-two-color/config/cir",
    "qos/scheduler-policies/scheduler-policy/schedulers/scheduler/one-rate-two-color/config/overhead",
    "qos/scheduler-policies/scheduler-policy/schedulers/scheduler/one-rate-two-color/config/max-queue-depth-packets",
    "qos/interfaces/interface/config/interface-id",
    "qos/interfaces/interface/output/scheduler-policy/config/name",
    "qos/interfaces/interface/output/queues/queue/state/name",
    "qos/classifiers/classifier/terms/term/conditions/ipv4/config/dscp-set",
    "qos/classifiers/classifier/terms/term/actions/config/target-group",
    "qos/forwarding-groups/forwarding-group/config/name",
    "qos/interfaces/interface/output/queues/queue/config/name",
    "controller/config/applied",
    "controller/counters/counter/path",
    "controller/counters/counter/config/cells",
    "program/state/executor",
    "server/state/counters/calls",
];

fn key_of(depth: usize, names: &[&str]) -> Option<&'static str> {
    match (names[0], names[depth - 1], depth) {
        ("interfaces", "interface", 2) | (_, "scheduler-policy", 3) | (_, "queue", 6) => {
            Some("name")
        }
        (_, "scheduler", 5) => Some("sequence"),
        (_, "classifier" | "forwarding-group", 3) => Some("name"),
        (_, "term", 5) => Some("id"),
        (_, "counter", 3) => Some("path"),
        ("qos", "interface", 3) => Some("interface-id"),
        _ => None,
    }
}

fn name() -> impl Strategy<Value = String> {
    let words = PLACES.iter().flat_map(|place| place.split('/'));
    let odd = ["*", "...", "x", "openconfig-qos:qos", "openconfig:", ""];
    let names: Vec<String> = words.chain(odd).map(str::to_owned).collect();
    prop::sample::select(names)
}

/// A path of the models, with keys where they belong, and now and then a mistake.
fn real_path() -> impl Strategy<Value = Path> {
    let keys = prop::sample::select(vec!["eth1", "eth2", "slow", "0", "1"]);
    let keys = prop::collection::vec((keys, 0..10_u8), 9);
    (prop::sample::select(PLACES.to_vec()), 0..10_usize, keys).prop_map(|(place, length, keys)| {
        let names: Vec<&str> = place.split('/').collect();
        let mut path = Path::default();
        for depth in 1..=length.min(names.len()) {
            let mut elem = PathElem {
                name: names[depth - 1].to_owned(),
                ..PathElem::default()
            };
            let (value, mistake) = keys[depth - 1];
            if let Some(key) = key_of(depth, &names)
                && mistake > 0
            {
                elem.key.insert(key.to_owned(), value.to_owned());
            }
            path.elem.push(elem);
        }
        path
    })
}

fn odd_path() -> impl Strategy<Value = Path> {
    let key = prop::sample::select(vec!["name", "interface-id", "sequence", "x"]);
    let value = prop::sample::select(vec!["eth1", "0", "007", "*", ""]);
    let keys = prop::collection::btree_map(
        key.prop_map(str::to_owned),
        value.prop_map(str::to_owned),
        0..2,
    );
    let elem = (name(), keys).prop_map(|(name, key)| PathElem { name, key });
    prop::collection::vec(elem, 0..9).prop_map(|elem| Path {
        elem,
        ..Path::default()
    })
}

fn any_path() -> impl Strategy<Value = Path> {
    prop_oneof![3 => real_path(), 1 => odd_path()]
}

fn any_json() -> impl Strategy<Value = Json> {
    let scalar = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<f64>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any::<u64>().prop_map(Json::from),
        (0..4_u64).prop_map(Json::from),
        any::<String>().prop_map(Json::from),
        prop::sample::select(vec!["SPEED_1GB", "SHAPE", "eth1", "7"]).prop_map(Json::from),
    ];
    scalar.prop_recursive(5, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Json::from),
            prop::collection::vec((name(), inner), 0..4)
                .prop_map(|members| Json::from(Map::from_iter(members))),
        ]
    })
}

fn any_value() -> impl Strategy<Value = TypedValue> {
    let value = prop_oneof![
        4 => any_json().prop_map(|content| Some(ietf(&content))),
        1 => any::<Vec<u8>>().prop_map(|data| Some(Value::JsonVal(data))),
        1 => any::<String>().prop_map(|text| Some(Value::StringVal(text))),
        1 => prop::sample::select(vec!["SPEED_1GB", "slow", "eth1"]).prop_map(|text| Some(word(text))),
        1 => any::<u64>().prop_map(|number| Some(Value::UintVal(number))),
        1 => any::<i64>().prop_map(|number| Some(Value::IntVal(number))),
        1 => any::<bool>().prop_map(|value| Some(Value::BoolVal(value))),
        1 => prop::sample::select(vec![None, Some(Value::DoubleVal(f64::NAN))]),
    ];
    value.prop_map(|value| TypedValue { value })
}

fn updates() -> impl Strategy<Value = Vec<Update>> {
    let update = (any_path(), any_value()).prop_map(|(path, val)| Update {
        path: Some(path),
        val: Some(val),
        duplicates: 0,
    });
    prop::collection::vec(update, 0..3)
}

fn limited() -> Switch {
    let slow = PortConfig {
        rate_bps: Some(64_000),
        buffer_packets: 7,
        ..unlimited()
    };
    switch_with([slow, unlimited()])
}

fn configuration(switch: &Switch) -> Vec<Update> {
    switch.get(&[], PROTO, data::CONFIG)
}

proptest! {
    #[test]
    fn set(
        update in updates(),
        replace in updates(),
        delete in prop::collection::vec(any_path(), 0..2),
    ) {
        let switch = limited();
        let (before, ports) = (configuration(&switch), switch.ports());
        let request = SetRequest { update, replace, delete, ..SetRequest::default() };
        if let Err(refused) = switch.tree.set(&request, WALL_NS) {
            prop_assert_eq!(refused.code, Code::InvalidArgument);
            prop_assert_eq!(configuration(&switch), before);
            prop_assert_eq!(switch.ports(), ports);
        }
        // What is there can be told in every encoding, and set again as it is. The first Set makes of a port's buffer at
        // the start a policy's, which bounds its queues too.
        switch.set(&SetRequest::default());
        let (settings, ports) = (configuration(&switch), switch.ports());
        for encoding in [JSON, JSON_IETF] {
            let document = switch.get(&[], encoding, data::CONFIG);
            let replace = vec![Update {
                path: None,
                ..document[0].clone()
            }];
            switch.set(&SetRequest { replace, ..SetRequest::default() });
            prop_assert_eq!(configuration(&switch), settings.clone());
            prop_assert_eq!(switch.ports(), ports.clone());
        }
    }

    #[test]
    fn get(path in any_path(), encoding in prop::sample::select(vec![JSON, JSON_IETF, PROTO])) {
        let switch = limited();
        let request = GetRequest {
            path: vec![path],
            encoding,
            ..GetRequest::default()
        };
        match switch.tree.get(&request, WALL_NS) {
            Ok(response) => {
                for update in response.notification.iter().flat_map(|each| &each.update) {
                    if encoding != PROTO {
                        content(update.val.as_ref());
                    }
                }
            }
            Err(refused) => {
                let known = matches!(refused.code, Code::InvalidArgument | Code::NotFound);
                prop_assert!(known, "{:?}", refused);
            }
        }
    }

    #[test]
    fn subscribe(
        path in any_path(), mode in -1..4_i32, list_mode in -1..4_i32, sample_interval in any::<u64>(),
        heartbeat_interval in any::<u64>(), now in any::<u64>(), updates in updates(),
    ) {
        let switch = limited();
        let subscription = Subscription {
            path: Some(path),
            mode,
            sample_interval,
            heartbeat_interval,
            ..Subscription::default()
        };
        let list = SubscriptionList {
            subscription: vec![subscription],
            mode: list_mode,
            ..SubscriptionList::default()
        };
        let first = SubscribeRequest { request: Some(request::Request::Subscribe(list)) };
        match Subscriber::begin(Arc::clone(&switch.tree), first, now, WALL_NS) {
            Ok((mut subscriber, answers)) => {
                prop_assert!(!answers.is_empty());
                let request = SetRequest { update: updates, ..SetRequest::default() };
                let _ = switch.tree.set(&request, WALL_NS);
                for now in [now, now.saturating_add(1 << 40), u64::MAX, 0] {
                    subscriber.next(now, WALL_NS);
                    prop_assert!(subscriber.due().is_some() == subscriber.is_stream());
                }
            }
            Err(refused) => prop_assert_eq!(refused.code, Code::InvalidArgument),
        }
    }

    /// Every message is read, and written again as it was.
    #[test]
    fn messages(update in updates(), delete in prop::collection::vec(any_path(), 0..3)) {
        let request = SetRequest { update, delete, ..SetRequest::default() };
        let serialized = request.encode_to_vec();
        let again = SetRequest::decode(serialized.as_slice()).expect("it is one");
        prop_assert_eq!(again.encode_to_vec(), serialized);
    }
}
