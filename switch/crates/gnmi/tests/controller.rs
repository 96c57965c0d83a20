//! What a controller does for the switch: settings that it makes entries of, and counters that are the program's.

mod support;

use std::collections::BTreeMap;

use phb_gnmi::message::encoding::{JSON, JSON_IETF, PROTO};
use phb_gnmi::message::typed_value::Value;
use phb_gnmi::message::{ScalarArray, SetRequest, TypedValue, data};
use phb_pipeline::{Executor, Options, Pipeline};
use serde_json::{Value as Json, json};
use support::*;

const PHB: &str = include_str!("../../../../p4src/build/phb.json");
const WANTED: &str = "/controller/state/wanted";
const APPLIED: &str = "/controller/config/applied";
const DSCPS: &str =
    "/qos/classifiers/classifier[name=dscp]/terms/term[id=0]/conditions/ipv4/config/dscp-set";
const GROUP: &str =
    "/qos/classifiers/classifier[name=dscp]/terms/term[id=0]/actions/config/target-group";

/// A switch that is asked for a class by DSCP, a strict queue and a weighed one, with early detection.
fn qos() -> Json {
    let input = |queue: &str, weight: &str| {
        let config = json!({"id": queue, "input-type": "QUEUE", "queue": queue, "weight": weight});
        json!({"id": queue, "config": config})
    };
    let scheduler = |sequence: u32, priority: Option<&str>, input: Json| {
        let mut config = json!({"sequence": sequence});
        if let Some(priority) = priority {
            config["priority"] = priority.into();
        }
        json!({"sequence": sequence, "config": config, "inputs": {"input": [input]}})
    };
    let named = |names: &[&str]| -> Vec<Json> {
        let names = names.iter();
        names
            .map(|name| json!({"name": name, "config": {"name": name}}))
            .collect()
    };
    let term = json!({
        "id": "0",
        "config": {"id": "0"},
        "conditions": {"ipv4": {"config": {"dscp-set": [48, 46, 48]}}},
        "actions": {"config": {"target-group": "high"}},
    });
    json!({
        "queues": {"queue": named(&["NC1", "BE1"])},
        "forwarding-groups": {"forwarding-group": [
            {"name": "high", "config": {"name": "high", "output-queue": "NC1"}},
        ]},
        "classifiers": {"classifier": [
            {"name": "dscp", "config": {"name": "dscp", "type": "IPV4"}, "terms": {"term": [term]}},
        ]},
        "queue-management-profiles": {"queue-management-profile": [{
            "name": "ecn",
            "config": {"name": "ecn"},
            "wred": {"uniform": {"config": {
                "min-threshold": "80000", "max-threshold": "18446744073709551615",
                "enable-ecn": true, "max-drop-probability-percent": 1,
            }}},
        }]},
        "scheduler-policies": {"scheduler-policy": [{
            "name": "out",
            "config": {"name": "out"},
            "schedulers": {"scheduler": [
                scheduler(0, Some("STRICT"), input("NC1", "200")),
                scheduler(1, None, input("BE1", "1")),
            ]},
        }]},
        "interfaces": {"interface": [
            {
                "interface-id": "eth1",
                "config": {"interface-id": "eth1"},
                "input": {"classifiers": {"classifier": [
                    {"type": "IPV4", "config": {"type": "IPV4", "name": "dscp"}},
                ]}},
            },
            {
                "interface-id": "eth2",
                "config": {"interface-id": "eth2"},
                "interface-ref": {"config": {"interface": "eth2"}},
                "output": {
                    "scheduler-policy": {"config": {"name": "out"}},
                    "queues": {"queue": [
                        {"name": "BE1", "config": {"name": "BE1", "queue-management-profile": "ecn"}},
                    ]},
                },
            },
        ]},
    })
}

fn replacing(content: &Json) -> SetRequest {
    SetRequest {
        replace: vec![update("/qos", ietf(content))],
        ..SetRequest::default()
    }
}

fn state(switch: &Switch) -> BTreeMap<String, Value> {
    by_text(switch.get(&["/qos"], PROTO, data::STATE))
}

#[test]
fn settings_are_kept_and_are_state_when_a_controller_says_so() {
    let switch = switch();
    let before = state(&switch);
    assert_eq!(switch.values(&[WANTED])[WANTED], number(0));
    switch.set(&replacing(&qos()));
    let reference = "/qos/interfaces/interface[interface-id=eth2]/interface-ref/state/interface";
    let mut with_reference = before.clone();
    with_reference.insert(reference.to_owned(), word("eth2"));
    assert_eq!(state(&switch), with_reference);
    assert_eq!(switch.values(&[WANTED])[WANTED], number(1));
    let dscps = |path: &str| switch.values(&[path]).remove(path);
    let numbers = [46, 48].map(|it| TypedValue::from(number(it))).to_vec();
    let numbers = Some(Value::LeaflistVal(ScalarArray { element: numbers }));
    assert_eq!(dscps(DSCPS), numbers);
    // The same again is no change, nor are shapers and interfaces.
    switch.set(&replacing(&qos()));
    switch.update(&[(SPEED, word("SPEED_1GB"))]);
    assert_eq!(switch.values(&[WANTED])[WANTED], number(1));
    for stale in [0, 2] {
        switch.update(&[(APPLIED, number(stale))]);
        assert_eq!(state(&switch), with_reference);
    }
    switch.update(&[(APPLIED, number(1))]);
    let in_force = DSCPS.replace("config", "state");
    assert_eq!(dscps(&in_force), numbers);
    let binding = BINDING.replace("eth1", "eth2").replace("config", "state");
    assert_eq!(state(&switch)[&binding], word("out"));
    // What is asked for next is not in force until the controller says so; what was is.
    switch.delete(&["/qos"]);
    assert_eq!(switch.values(&[WANTED])[WANTED], number(2));
    assert_eq!(dscps(&in_force), numbers);
    let queues = switch.get(&["/qos/queues"], JSON_IETF, data::ALL);
    let entry = |name: &str| json!({"name": name, "state": {"name": name}});
    assert_eq!(
        content(queues[0].val.as_ref()),
        json!({"openconfig-qos:queue": [entry("BE1"), entry("NC1")]})
    );
    switch.update(&[(APPLIED, number(2))]);
    assert_eq!(state(&switch), before);
}

#[test]
fn documents_come_back_as_they_went_in() {
    let switch = switch();
    switch.set(&replacing(&qos()));
    let got = switch.get(&["/qos"], JSON, data::CONFIG);
    let got = content(got[0].val.as_ref());
    for list in ["queues", "forwarding-groups", "queue-management-profiles"] {
        let entries = |of: &Json| {
            of[list]
                .as_object()
                .map(|it| it.values().cloned().collect::<Vec<_>>())
        };
        assert_eq!(entries(&got).map(|it| it.len()), Some(1), "{list}");
    }
    let term = &got["classifiers"]["classifier"][0]["terms"]["term"][0];
    assert_eq!(
        term["conditions"]["ipv4"]["config"]["dscp-set"],
        json!([46, 48])
    );
    switch.set(&replacing(&got));
    assert_eq!(switch.values(&[WANTED])[WANTED], number(1));
}

#[test]
fn a_shaper_beside_queues_is_the_switchs() {
    let switch = switch();
    let mut asked = qos();
    let policy = &mut asked["scheduler-policies"]["scheduler-policy"][0];
    let schedulers = policy["schedulers"]["scheduler"]
        .as_array_mut()
        .expect("a list");
    let shaper = json!({"cir": "256000", "queuing-behavior": "SHAPE"});
    schedulers.push(json!({
        "sequence": 7, "config": {"sequence": 7}, "one-rate-two-color": {"config": shaper},
    }));
    switch.set(&replacing(&asked));
    let rate = switch.ports()[1].shaper.map(|shaper| shaper.rate_bps);
    assert_eq!((rate, switch.ports()[0].shaper), (Some(256_000), None));
}

#[test]
fn wrong_settings() {
    let switch = switch();
    switch.set(&replacing(&qos()));
    let threshold =
        "/qos/queue-management-profiles/queue-management-profile[name=ecn]/wred/uniform/config";
    let input = "/qos/interfaces/interface[interface-id=eth1]/input";
    let group = "/qos/forwarding-groups/forwarding-group[name=high]/config/output-queue";
    let scheduler =
        "/qos/scheduler-policies/scheduler-policy[name=out]/schedulers/scheduler[sequence=0]";
    let list = |numbers: &[u64]| {
        let numbers = numbers.iter().map(|it| TypedValue::from(number(*it)));
        Value::LeaflistVal(ScalarArray {
            element: numbers.collect(),
        })
    };
    let cases = [
        (DSCPS.to_owned(), list(&[64]), "expected DSCPs from 0 to 63, found [64]"),
        (DSCPS.to_owned(), list(&[256]), "expected a list of numbers from 0 to 255, found [256]"),
        (DSCPS.to_owned(), word("46"), "expected a list of numbers from 0 to 255, found \"46\""),
        (GROUP.to_owned(), word("low"), "there is no forwarding group 'low'"),
        (group.to_owned(), word("AF1"), "there is no queue 'AF1'"),
        (format!("{input}/classifiers/classifier[type=IPV4]/config/name"), word("x"), "there is no classifier 'x'"),
        (format!("{input}/classifiers/classifier[type=MPLS]/config/name"), word("dscp"), "expected IPV4 or IPV6, found 'MPLS'"),
        (format!("{input}/scheduler-policy/config/name"), word("x"), "there is no scheduler policy 'x'"),
        (
            format!("{threshold}/max-threshold"),
            number(79_999),
            "min-threshold: found 80000, which is above the max-threshold, 79999",
        ),
        (
            format!("{threshold}/min-threshold-percent"),
            number(101),
            "expected a percentage from 0 to 100, found 101",
        ),
        (format!("{threshold}/max-drop-probability-percent"), number(101), "expected a percentage from 0 to 100, found 101"),
        (format!("{scheduler}/config/type"), word("ROUND_ROBIN"), "expected ONE_RATE_TWO_COLOR or TWO_RATE_THREE_COLOR"),
        (format!("{scheduler}/config/priority"), word("LOOSE"), "expected STRICT, found 'LOOSE'"),
        (format!("{scheduler}/inputs/input[id=x]/config/queue"), word("x"), "there is no queue 'x'"),
        (format!("{scheduler}/inputs/input[id=x]/config/input-type"), word("IN_PROFILE"), "expected QUEUE"),
        (format!("{scheduler}/two-rate-three-color/config/pir"), number(0), "expected a rate from 1 to"),
        ("/qos/interfaces/interface[interface-id=eth1]/interface-ref/config/interface".to_owned(), word("eth9"), "there is no interface 'eth9'"),
        ("/qos/classifiers/classifier[name=dscp]/terms/term[id=0]/conditions/mpls/config/traffic-class".to_owned(), number(1), "the models here have no such node"),
        ("/controller/state/wanted".to_owned(), number(1), "can't be set"),
    ];
    for (place, value, words) in cases {
        let refused = switch.tree.set(&updating(&[(&place, value)]), WALL_NS);
        let message = refused.expect_err(words).message;
        assert!(message.contains(words), "{message}");
    }
    assert_eq!(switch.values(&[WANTED])[WANTED], number(1));
}

fn counted(path: &str, cells: &str) -> Json {
    json!({"path": path, "config": {"path": path, "cells": cells}})
}

fn set_counted(switch: &Switch, counters: &[Json]) -> Result<(), String> {
    let request = SetRequest {
        replace: vec![update(
            "/controller/counters",
            ietf(&json!({"counter": counters})),
        )],
        ..SetRequest::default()
    };
    let set = switch.tree.set(&request, WALL_NS);
    set.map(|_| ()).map_err(|refused| refused.message)
}

#[test]
fn counters_of_the_program_are_counters_of_the_models() {
    let switch = switch();
    let queue = "/qos/interfaces/interface[interface-id=eth2]/output/queues/queue[name=A]b\\/1]";
    let state =
        "/qos/interfaces/interface[interface-id=eth2]/output/queues/queue[name=A\\]b\\\\/1]/state";
    let term = "/qos/interfaces/interface[interface-id=eth1]/input/classifiers/classifier[type=IPV4]/terms/term[id=3]";
    set_counted(
        &switch,
        &[
            counted(
                &format!("{state}/transmit-octets"),
                "PhbEgress.conversation_transmitted[7]",
            ),
            counted(
                &format!("{state}/dropped-pkts"),
                "PhbEgress.conversation_refused[2..4], PhbEgress.conversation_transmitted[7]",
            ),
            counted(
                &format!("{state}/ecn-marked-pkts"),
                "PhbEgress.levitated[7]",
            ),
            counted(
                &format!("{state}/ecn-marked-octets"),
                "PhbEgress.conversation_refused[100000]",
            ),
            counted(
                &format!("{term}/state/matched-packets"),
                "PhbEgress.conversation_refused[4]",
            ),
        ],
    )
    .expect("they are set");
    assert!(switch.values(&["/qos/.../transmit-octets"]).len() == 2);
    let options = Options {
        executor: Executor::Interpreter,
        ..Options::default()
    };
    let mut pipeline = Pipeline::load(PHB, options).expect("the artifact loads");
    for (name, index, count) in [
        ("PhbEgress.conversation_transmitted", 7, (10, 1000)),
        ("PhbEgress.conversation_refused", 1, (99, 99)),
        ("PhbEgress.conversation_refused", 2, (1, 20)),
        ("PhbEgress.conversation_refused", 4, (3, 60)),
    ] {
        pipeline
            .counter_write(name, index, count)
            .expect("there is such a cell");
    }
    switch.install(pipeline);
    let expected = [
        ("name", word("A]b\\/1")),
        ("state/dropped-pkts", number(14)),
        ("state/name", word("A]b\\/1")),
        ("state/transmit-octets", number(1000)),
    ];
    let expected = expected.map(|(leaf, value)| (format!("{queue}/{leaf}"), value));
    let told = |paths: &[&str]| by_text(switch.get(paths, PROTO, 0));
    let queues: BTreeMap<String, Value> =
        told(&["/qos/interfaces/interface[interface-id=eth2]/output/queues"])
            .into_iter()
            .filter(|(place, _)| !place.contains("[name=0]"))
            .collect();
    assert_eq!(queues, expected.into());
    let matched = [
        ("id", word("3")),
        ("state/id", word("3")),
        ("state/matched-packets", number(3)),
    ];
    let matched = matched.map(|(leaf, value)| (format!("{term}/{leaf}"), value));
    assert_eq!(
        told(&["/qos/interfaces/interface[interface-id=eth1]/input/classifiers/classifier/terms"]),
        matched.into()
    );
    let document = switch.get(
        &["/qos/interfaces/interface[interface-id=eth2]/output/queues"],
        JSON,
        0,
    );
    let document = content(document[0].val.as_ref());
    assert_eq!(document["queue"][1]["state"]["dropped-pkts"], 14);
    set_counted(&switch, &[]).expect("they are gone");
    assert!(switch.values(&["/qos/.../transmit-octets"]).len() == 2);
}

#[test]
fn wrong_counters() {
    let switch = switch();
    let state = "/qos/interfaces/interface[interface-id=eth2]/output/queues/queue[name=A]/state";
    let path = format!("{state}/transmit-pkts");
    let no_counter = "expected the path of a counter of openconfig-qos";
    let cases = [
        (path.as_str(), "", "expected cells such as"),
        (&path, "sent", "expected cells such as"),
        (&path, "sent[1", "expected cells such as"),
        (&path, "sent[x]", "expected cells such as"),
        (&path, "sent[3..2]", "expected cells such as"),
        (&path, "[3]", "expected cells such as"),
        (
            &path,
            "sent[0..65536]",
            "there would be more than 65536 cells",
        ),
        (
            &path,
            "sent[0..4294967295]",
            "there would be more than 65536 cells",
        ),
        (&format!("{state}/name"), "sent[1]", no_counter),
        (&path.replace("[name=A]", ""), "sent[1]", no_counter),
        (&path.replace("[name=A]", "[name=*]"), "sent[1]", no_counter),
        (&path.replace("[name=A]", "[name=A"), "sent[1]", no_counter),
        (&path[1..], "sent[1]", no_counter),
        ("/server/state/counters/calls", "sent[1]", no_counter),
        (
            &path.replace("eth2", "eth9"),
            "sent[1]",
            "there is no interface 'eth9'",
        ),
    ];
    for (path, cells, words) in cases {
        let refused = set_counted(&switch, &[counted(path, cells)]).expect_err(words);
        assert!(refused.contains(words), "{refused}");
    }
}
