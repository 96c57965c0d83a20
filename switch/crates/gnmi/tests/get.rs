//! Capabilities and Get.

mod support;

use std::sync::atomic::Ordering;

use phb_gnmi::message::encoding::{ASCII, JSON, JSON_IETF, PROTO};
use phb_gnmi::message::typed_value::Value;
use phb_gnmi::message::{GetRequest, ModelData, Path, data};
use phb_gnmi::{Attachment, Code, Tree};
use phb_node::unlimited;
use phb_pipeline::{Executor, Options, Pipeline};
use phb_ports::Link;
use phb_traffic_manager::{PortConfig, ShaperConfig};
use serde_json::json;
use support::*;

const RANKED: &str = include_str!("../../../python/tests/programs/ranked.json");

#[test]
fn capabilities() {
    let response = Tree::capabilities();
    let models: Vec<&str> = response
        .supported_models
        .iter()
        .map(|model| model.name.as_str())
        .collect();
    let expected = [
        "openconfig-interfaces",
        "openconfig-if-ethernet",
        "openconfig-p4rt",
        "openconfig-qos",
        "phb-interfaces",
        "phb-qos",
        "phb-controller",
        "phb-program",
        "phb-server",
    ];
    assert_eq!(models, expected);
    let server = response.supported_models.last().expect("there are some");
    assert_eq!(
        (server.organization.as_str(), server.version.as_str()),
        ("phb", "0.1.0")
    );
    assert_eq!(response.supported_encodings, [JSON, JSON_IETF, PROTO]);
    assert_eq!(response.gnmi_version, "0.10.0");
}

#[test]
fn leaves() {
    let switch = switch();
    let root = "/interfaces/interface[name=eth2]/state";
    let values = switch.values(&[root]);
    let value = |name: &str| values[&format!("{root}/{name}")].clone();
    assert_eq!(value("name"), word("eth2"));
    assert_eq!(value("type"), word("ethernetCsmacd"));
    assert_eq!(value("id"), number(2));
    assert_eq!(value("ifindex"), number(2));
    assert_eq!(value("enabled"), Value::BoolVal(true));
    assert_eq!(value("oper-status"), word("UNKNOWN"));
    assert_eq!(value("counters/in-octets"), number(0));
    let names = switch.values(&["/interfaces/interface/name"]);
    let expected = [1, 2].map(|n| {
        (
            format!("/interfaces/interface[name=eth{n}]/name"),
            word(&format!("eth{n}")),
        )
    });
    assert_eq!(names, expected.into());
    assert_eq!(
        switch.values(&["/.../in-pkts"]),
        switch.values(&["/interfaces/*/state/counters/in-pkts"])
    );
    assert_eq!(switch.values(&["/.../in-pkts"]).len(), 2);
    let none = switch.values(&["/interfaces/interface[name=*]/state/counters/levitations"]);
    assert!(none.is_empty());
}

#[test]
fn what_a_runner_knows() {
    let switch = switch();
    switch.attach(
        1,
        Attachment {
            link: Link::Down,
            missed: 1,
            refused: 2,
            receive_errors: 3,
            send_errors: 4,
            discipline: Some("htb".to_owned()),
            held_back: 5,
            ifindex: Some(77),
        },
    );
    let root = "/interfaces/interface[name=eth1]/state";
    let values = switch.values(&[root]);
    for (name, expected) in [
        ("id", number(1)),
        ("ifindex", number(77)),
        ("oper-status", word("DOWN")),
        ("admin-status", word("UP")),
        ("counters/in-discards", number(3)),
        ("counters/in-errors", number(3)),
        ("counters/out-errors", number(4)),
        ("counters/out-held-back", number(5)),
        ("queueing-discipline", word("htb")),
    ] {
        assert_eq!(values[&format!("{root}/{name}")], expected, "{name}");
    }
}

/// How finsy asks for ports.
#[test]
fn ports_by_ifindex() {
    let switch = switch();
    let found = switch.values(&["/interfaces/interface[name=*]/state/ifindex"]);
    let expected = [1, 2].map(|n| {
        (
            format!("/interfaces/interface[name=eth{n}]/state/ifindex"),
            number(n),
        )
    });
    assert_eq!(found, expected.into());
}

#[test]
fn a_hidden_port() {
    let switch = switch_that_hides(3);
    let names = switch.values(&["/interfaces/interface[name=*]/name"]);
    assert_eq!(names.len(), 2, "{names:?}");
    let all = switch.values(&["/"]);
    assert!(all.keys().all(|path| !path.contains("[name=3]")));
}

#[test]
fn documents() {
    let slow = PortConfig {
        rate_bps: Some(64_000),
        shaper: Some(ShaperConfig {
            rate_bps: 64_000,
            burst_bytes: 1000,
            overhead_bytes: -14,
        }),
        ..unlimited()
    };
    let switch = switch_with([slow, unlimited()]);
    let policies = ["/qos/scheduler-policies"];
    let updates = switch.get(&policies, JSON_IETF, data::CONFIG);
    let [update] = updates.as_slice() else {
        panic!("{updates:?}");
    };
    assert_eq!(
        text(update.path.as_ref().expect("a path")),
        "/qos/scheduler-policies"
    );
    let leaves =
        json!({"bc": 1000, "cir": "64000", "phb-qos:overhead": -14, "queuing-behavior": "SHAPE"});
    let scheduler = json!({
        "config": {"sequence": 0}, "one-rate-two-color": {"config": leaves}, "sequence": 0,
    });
    let expected = json!({"openconfig-qos:scheduler-policy": [
        {"config": {"name": "eth1"}, "name": "eth1", "schedulers": {"scheduler": [scheduler]}}
    ]});
    assert_eq!(content(update.val.as_ref()), expected);
    let Some(Value::JsonIetfVal(data)) = update.val.as_ref().and_then(|value| value.value.as_ref())
    else {
        panic!("{update:?}");
    };
    assert!(
        data.starts_with(br#"{"openconfig-qos:scheduler-policy": [{"config": {"name": "eth1"}"#)
    );

    switch.update(&[(SPEED, word("SPEED_1GB"))]);
    let one = |path: &str, encoding| {
        let updates = switch.get(&[path], encoding, data::ALL);
        assert_eq!(updates.len(), 1, "{path}");
        content(updates[0].val.as_ref())
    };
    assert_eq!(one(SPEED, JSON_IETF), "openconfig-if-ethernet:SPEED_1GB");
    let cir = format!("{}/cir", SHAPER.replace("slow", "eth1"));
    assert_eq!(one(&cir, JSON), 64_000);
    assert_eq!(one(&cir, JSON_IETF), "64000");
    assert_eq!(one(ENABLED, JSON_IETF), true);
    let state = one("/interfaces/interface[name=eth1]/state", JSON_IETF);
    assert_eq!(state["openconfig-p4rt:id"], 1);
    assert_eq!(state["openconfig-interfaces:ifindex"], 1);
    assert_eq!(state["openconfig-interfaces:enabled"], true);
    assert_eq!(state["openconfig-interfaces:oper-status"], "UNKNOWN");
    assert_eq!(
        state["openconfig-interfaces:type"],
        "iana-if-type:ethernetCsmacd"
    );
    assert_eq!(state["openconfig-interfaces:counters"]["in-octets"], "0");
    let interface = one("/interfaces/interface[name=eth1]", JSON_IETF);
    assert_eq!(
        interface["openconfig-if-ethernet:ethernet"]["state"]["port-speed"],
        "openconfig-if-ethernet:SPEED_1GB"
    );
    let root = one("/", JSON);
    let members: Vec<&String> = root.as_object().expect("an object").keys().collect();
    assert_eq!(members, ["controller", "interfaces", "qos", "server"]);
    let entries = switch.get(&["/interfaces/interface"], JSON, data::ALL);
    let places = entries.iter().filter_map(|each| each.path.as_ref());
    let expected = [1, 2].map(|n| format!("/interfaces/interface[name=eth{n}]"));
    assert_eq!(places.map(text).collect::<Vec<_>>(), expected);
}

#[test]
fn kinds_of_leaves() {
    let switch = switch();
    let of = |kind| by_text(switch.get(&[], PROTO, kind));
    let (all, config, state) = (of(data::ALL), of(data::CONFIG), of(data::STATE));
    assert_eq!(of(data::OPERATIONAL), state);
    assert_eq!(all.len(), config.len() + state.len());
    assert!(config.keys().all(|path| !path.contains("/state/")));
}

#[test]
fn nothing() {
    let switch = switch();
    for (place, code, words) in [
        (
            "/interfaces/interface[name=eth9]/state",
            Code::NotFound,
            "/interfaces/interface[name=eth9]/state: there is nothing",
        ),
        (
            "/interfaces/levitation",
            Code::InvalidArgument,
            "/interfaces/levitation: the models here have no such node",
        ),
        (SPEED, Code::NotFound, "there is nothing"),
    ] {
        let refused = switch.ask(&[place], PROTO, data::ALL).expect_err(place);
        assert_eq!(refused.code, code, "{place}");
        assert!(refused.message.contains(words), "{}", refused.message);
    }
}

#[test]
fn refused() {
    let switch = switch();
    let bgp = ModelData {
        name: "openconfig-bgp".to_owned(),
        ..ModelData::default()
    };
    let cli = Path {
        origin: "cli".to_owned(),
        ..Path::default()
    };
    let empty = GetRequest::default;
    for (request, code, words) in [
        (
            GetRequest {
                encoding: ASCII,
                ..empty()
            },
            Code::Unimplemented,
            "encoding ASCII is not supported",
        ),
        (
            GetRequest {
                encoding: 9,
                ..empty()
            },
            Code::InvalidArgument,
            "encoding 9 is not supported",
        ),
        (
            GetRequest {
                r#type: 9,
                ..empty()
            },
            Code::InvalidArgument,
            "there is no type 9",
        ),
        (
            GetRequest {
                use_models: vec![bgp],
                ..empty()
            },
            Code::InvalidArgument,
            "there is no model 'openconfig-bgp' here",
        ),
        (
            GetRequest {
                path: vec![cli],
                ..empty()
            },
            Code::InvalidArgument,
            "there is no origin 'cli' here, only 'openconfig'",
        ),
        (
            GetRequest {
                path: vec![Path::default(); 1025],
                ..empty()
            },
            Code::InvalidArgument,
            "a Get of 1025 paths; no more than 1024 are answered at once",
        ),
    ] {
        let refused = switch.tree.get(&request, WALL_NS).expect_err(words);
        assert_eq!((refused.code, refused.message.as_str()), (code, words));
    }
}

#[test]
fn an_answer_has_a_bound() {
    let switch = switch();
    let leaves = switch.values(&["/"]).len();
    let most = 65_536 / leaves;
    let request = |paths| GetRequest {
        path: vec![Path::default(); paths],
        encoding: PROTO,
        ..GetRequest::default()
    };
    // Policies make the tree large enough for the bound to be within reach.
    assert!(most > 64);
    let names = (0..1000).map(|n| json!({"name": format!("p{n}")}));
    let policies: Vec<_> = names.collect();
    let all = json!({"scheduler-policy": policies});
    switch.update(&[("/qos/scheduler-policies", ietf(&all))]);
    let refused = switch
        .tree
        .get(&request(300), WALL_NS)
        .expect_err("too much");
    assert_eq!(refused.code, Code::ResourceExhausted);
    assert!(switch.tree.get(&request(10), WALL_NS).is_ok());
}

#[test]
fn prefix_and_target() {
    let switch = switch();
    let request = GetRequest {
        prefix: Some(Path {
            target: "switch".to_owned(),
            ..path("/interfaces/interface[name=eth1]")
        }),
        path: vec![path("/state/id")],
        encoding: PROTO,
        ..GetRequest::default()
    };
    let mut response = switch.tree.get(&request, WALL_NS).expect("an answer");
    let notification = response.notification.remove(0);
    assert_eq!(notification.timestamp, WALL_NS);
    let target = notification
        .prefix
        .as_ref()
        .map(|prefix| prefix.target.as_str());
    assert_eq!(target, Some("switch"));
    let places: Vec<String> = told(notification).into_keys().collect();
    assert_eq!(places, ["/interfaces/interface[name=eth1]/state/id"]);
}

#[test]
fn counters_move() {
    let switch = switch();
    let pipeline = Pipeline::load(RANKED, Options::default()).expect("the artifact loads");
    switch.install(pipeline);
    let (cir, depth) = (
        format!("{SHAPER}/cir"),
        format!("{SHAPER}/max-queue-depth-packets"),
    );
    switch.update(&[
        (&cir, number(256_000)),
        (&depth, number(2)),
        (BINDING, word("slow")),
    ]);
    let mut frame = vec![0; 1000];
    frame[5] = 1;
    switch.receive(2, &frame, 1_000_000);
    let counter = |interface: &str, name: &str| {
        let path = format!("/interfaces/interface[name={interface}]/state/counters/{name}");
        switch.values(&[&path])[&path].clone()
    };
    assert_eq!(counter("eth2", "in-octets"), number(1000));
    assert_eq!(counter("eth1", "out-octets"), number(1000));
    assert_eq!(counter("eth1", "out-pkts"), number(1));
    let queue = "/qos/interfaces/interface[interface-id=eth1]/output/queues/queue[name=0]/state";
    let expected = [
        ("name", word("0")),
        ("transmit-pkts", number(1)),
        ("transmit-octets", number(1000)),
        ("dropped-pkts", number(0)),
        ("dropped-octets", number(0)),
        ("max-queue-len", number(0)),
    ];
    let expected = expected.map(|(name, value)| (format!("{queue}/{name}"), value));
    assert_eq!(switch.values(&[queue]), expected.into());
}

#[test]
fn what_runs_the_program() {
    let state = |leaf: &str| format!("/program/state/{leaf}");
    for executor in [Executor::Native, Executor::Interpreter] {
        let switch = switch();
        assert_eq!(switch.values(&["/program/*/*"]), [].into());
        let options = Options {
            executor,
            ..Options::default()
        };
        switch.install(Pipeline::load(RANKED, options).expect("the artifact loads"));
        let values = switch.values(&["/program"]);
        assert_eq!(values[&state("executor")], word(executor.name()));
        let Value::UintVal(bytes) = values[&state("code-bytes")] else {
            panic!("{values:?}");
        };
        assert_eq!(bytes > 0, executor == Executor::Native);
        assert!(!values.contains_key(&state("reason")), "{values:?}");
        let updates = switch.get(&["/program"], JSON_IETF, data::STATE);
        let document = content(updates[0].val.as_ref());
        let expected = json!({"executor": executor.name(), "code-bytes": bytes.to_string()});
        assert_eq!(document["phb-program:state"], expected);
    }
}

/// More parser states than are compiled.
#[test]
fn why_the_program_is_interpreted() {
    let mut artifact: serde_json::Value = serde_json::from_str(RANKED).expect("it is JSON");
    let states = artifact["parsers"][0]["parse_states"].as_array_mut();
    let states = states.expect("it has states");
    let last = states.last().expect("there is one").clone();
    for number in 0..4096 {
        let mut further = last.clone();
        further["name"] = format!("further_{number}").into();
        further["id"] = (1000 + number).into();
        states.push(further);
    }
    let options = Options {
        executor: Executor::Native,
        ..Options::default()
    };
    let pipeline = Pipeline::load(&artifact.to_string(), options);
    let switch = switch();
    switch.install(pipeline.expect("the artifact loads"));
    let expected = [
        ("executor", word("interpreter")),
        ("code-bytes", number(0)),
        ("reason", word("it has more than 4096 parser states")),
    ];
    let expected = expected.map(|(leaf, value)| (format!("/program/state/{leaf}"), value));
    assert_eq!(switch.values(&["/program"]), expected.into());
}

#[test]
fn the_servers_counters() {
    let switch = switch();
    switch.counters.calls.fetch_add(3, Ordering::Relaxed);
    switch
        .counters
        .subscriptions
        .fetch_add(5, Ordering::Relaxed);
    let values = switch.values(&["/server"]);
    assert_eq!(values.len(), 16);
    assert_eq!(values["/server/state/counters/calls"], number(3));
    assert_eq!(values["/server/state/counters/subscriptions"], number(5));
    assert_eq!(values["/server/state/counters/connections"], number(0));
    let updates = switch.get(&["/server"], JSON_IETF, data::STATE);
    let document = content(updates[0].val.as_ref());
    assert_eq!(document["phb-server:state"]["counters"]["calls"], "3");
    let updates = switch.get(&[], JSON_IETF, data::STATE);
    let document = content(updates[0].val.as_ref());
    assert_eq!(
        document["phb-server:server"]["state"]["counters"]["calls"],
        "3"
    );
}

#[test]
fn a_name_with_a_slash_is_one_name() {
    let switch = switch();
    let mut path = path("/interfaces/interface/name");
    path.elem.remove(0);
    path.elem[0].name = "interfaces/interface".to_owned();
    let request = GetRequest {
        path: vec![path],
        ..GetRequest::default()
    };
    let refused = switch.tree.get(&request, WALL_NS).expect_err("no node");
    assert_eq!(refused.code, Code::InvalidArgument);
}

#[test]
fn each_leaf_is_told_once() {
    let switch = switch();
    let paths: Vec<String> = switch
        .get(&["/"], PROTO, data::ALL)
        .iter()
        .map(|update| text(update.path.as_ref().expect("a path")))
        .collect();
    let mut distinct = paths.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), paths.len());
}
