//! Set.

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use phb_gnmi::message::encoding::PROTO;
use phb_gnmi::message::typed_value::Value;
use phb_gnmi::message::{Path, SetRequest, TypedValue, Update, data, operation};
use phb_gnmi::{Code, Tree};
use phb_node::unlimited;
use phb_traffic_manager::{PortConfig, ShaperConfig};
use serde_json::json;
use support::*;

fn shaper(rate_bps: u64, burst_bytes: u32, overhead_bytes: i32) -> Option<ShaperConfig> {
    Some(ShaperConfig {
        rate_bps,
        burst_bytes,
        overhead_bytes,
    })
}

fn of_shaper(leaf: &str) -> String {
    format!("{SHAPER}/{leaf}")
}

#[test]
fn shaper_and_speed() {
    let started = PortConfig {
        overhead_bytes: -7,
        transmit_ring: 6,
        ..unlimited()
    };
    let switch = switch_with([started.clone(), unlimited()]);
    let (cir, depth) = (of_shaper("cir"), of_shaper("max-queue-depth-packets"));
    let response = switch.update(&[
        (&cir, number(256_000)),
        (&depth, number(40)),
        (BINDING, word("slow")),
    ]);
    let operations: Vec<i32> = response.response.iter().map(|each| each.op).collect();
    assert_eq!(operations, [operation::UPDATE; 3]);
    assert_eq!(response.timestamp, WALL_NS);
    let mut limited = PortConfig {
        buffer_packets: 40,
        queue_depth: Some(40),
        shaper: shaper(256_000, 0, -7),
        ..started.clone()
    };
    assert_eq!(switch.ports(), [limited.clone(), unlimited()]);
    switch.update(&[(&of_shaper("bc"), number(8000))]);
    limited.shaper = shaper(256_000, 8000, -7);
    assert_eq!(switch.ports()[0], limited);
    let overhead = of_shaper("overhead");
    switch.update(&[(&overhead, Value::IntVal(-14))]);
    limited.shaper = shaper(256_000, 8000, -14);
    assert_eq!(switch.ports()[0], limited);
    let state = overhead.replace("config", "state");
    assert_eq!(switch.values(&[&state])[&state], Value::IntVal(-14));
    switch.update(&[(SPEED, word("SPEED_10MB"))]);
    let port = &switch.ports()[0];
    assert_eq!(
        (port.rate_bps, port.shaper),
        (Some(10_000_000), limited.shaper)
    );
    switch.delete(&[BINDING]);
    let unshaped = PortConfig {
        rate_bps: Some(10_000_000),
        ..started.clone()
    };
    assert_eq!(switch.ports()[0], unshaped);
    switch.set(&SetRequest {
        delete: vec![path(POLICY)],
        ..updating(&[(SPEED, word("SPEED_100GB"))])
    });
    assert_eq!(switch.ports()[0].rate_bps, Some(100_000_000_000));
    let state = SPEED.replace("config", "state");
    assert_eq!(switch.values(&[&state])[&state], word("SPEED_100GB"));
    switch.delete(&["/interfaces", "/qos"]);
    assert_eq!(switch.ports()[0], started);
    assert_eq!(
        switch.values(&["/interfaces/interface/config/name"]).len(),
        2
    );
    assert_eq!(
        switch
            .values(&["/interfaces/interface/config/enabled"])
            .len(),
        2
    );
}

#[test]
fn what_a_port_starts_with_is_a_policy() {
    let started = PortConfig {
        buffer_packets: 77,
        shaper: shaper(64_000, 0, -14),
        ..unlimited()
    };
    let switch = switch_with([started.clone(), unlimited()]);
    let shaper = SHAPER.replace("slow", "eth1");
    let expected = [
        ("cir", number(64_000)),
        ("bc", number(0)),
        ("overhead", Value::IntVal(-14)),
        ("queuing-behavior", word("SHAPE")),
        ("max-queue-depth-packets", number(77)),
    ];
    let expected = expected.map(|(leaf, value)| (format!("{shaper}/{leaf}"), value));
    assert_eq!(switch.values(&[&shaper]), expected.into());
    assert_eq!(switch.values(&[BINDING])[BINDING], word("eth1"));
    switch.update(&[(&BINDING.replace("eth1", "eth2"), word("eth1"))]);
    assert_eq!(switch.ports()[0].shaper, started.shaper);
    assert_eq!(switch.ports()[1].shaper, started.shaper);
    assert_eq!(switch.ports()[1].buffer_packets, 77);
}

#[test]
fn the_line_is_what_the_command_line_said_or_slower() {
    let started = PortConfig {
        rate_bps: Some(64_000_000),
        ..unlimited()
    };
    let switch = switch_with([started, unlimited()]);
    for (speed, rate) in [("SPEED_10MB", 10_000_000), ("SPEED_1GB", 64_000_000)] {
        switch.update(&[(SPEED, word(speed))]);
        assert_eq!(switch.ports()[0].rate_bps, Some(rate));
    }
    switch.delete(&["/interfaces", "/qos"]);
    assert_eq!(switch.ports()[0].rate_bps, Some(64_000_000));
}

#[test]
fn documents() {
    let switch = switch();
    let policy = |shaper: serde_json::Value| {
        let scheduler = json!({
            "sequence": 3, "config": {"sequence": 3}, "one-rate-two-color": {"config": shaper},
        });
        json!({"name": "slow", "config": {"name": "slow"}, "schedulers": {"scheduler": [scheduler]}})
    };
    let slow = policy(json!({"cir": "64000", "queuing-behavior": "SHAPE"}));
    let binding = json!({
        "interface-id": "eth2", "output": {"scheduler-policy": {"config": {"name": "slow"}}},
    });
    let all = json!({
        "openconfig-qos:scheduler-policies": {"scheduler-policy": [slow]},
        "openconfig-qos:interfaces": {"interface": [binding]},
    });
    switch.update(&[("/qos", ietf(&all))]);
    assert_eq!(switch.ports()[1].shaper, shaper(64_000, 0, 0));
    let slower = policy(json!({"cir": 9600}));
    let replacing = |place: &str, content: &serde_json::Value| SetRequest {
        replace: vec![update(place, ietf(content))],
        ..SetRequest::default()
    };
    let response = switch.set(&replacing(POLICY, &slower));
    assert_eq!(response.response[0].op, operation::REPLACE);
    assert_eq!(switch.ports()[1].shaper, shaper(9600, 0, 0));
    // What a replacement does not name is gone; the binding would point to nothing.
    let request = replacing("/qos/scheduler-policies", &json!({}));
    let refused = switch.tree.set(&request, WALL_NS).expect_err("a binding");
    assert!(
        refused
            .message
            .starts_with("/qos/interfaces/interface[interface-id=eth2]")
    );
    assert!(
        refused
            .message
            .ends_with("there is no scheduler policy 'slow'")
    );
    assert_eq!(switch.ports()[1].shaper, shaper(9600, 0, 0));
}

fn json_val(text: &str) -> Value {
    Value::JsonVal(text.as_bytes().to_vec())
}

fn refusals() -> Vec<(SetRequest, String)> {
    let shaper = of_shaper;
    let one =
        |place: &str, value: Value, words: &str| (updating(&[(place, value)]), words.to_owned());
    let at = |place: &str, value: Value, words: &str| {
        (updating(&[(place, value)]), format!("{place}: {words}"))
    };
    let interface = "/interfaces/interface[name=eth1]";
    let too_deep = format!("{}{}", "[".repeat(300), "]".repeat(300));
    let long = "x".repeat(257);
    let mut cases = vec![
        at(
            SPEED,
            word("SPEED_3MB"),
            "expected one of SPEED_10MB, SPEED_100MB",
        ),
        one(
            &SPEED.replace("eth1", "eth9"),
            word("SPEED_1GB"),
            "there is no interface 'eth9'",
        ),
        at(SPEED, number(7), "expected an identity, found 7"),
        at(
            &shaper("cir"),
            word("fast"),
            "expected a number from 0 to 18446744073709551615, found \"fast\"",
        ),
        at(
            &shaper("cir"),
            number(0),
            "expected a rate from 1 to 9223372036854775807 bit/s, found 0",
        ),
        at(&shaper("cir"), number(1 << 63), "expected a rate from 1"),
        one(
            &shaper("max-queue-depth-packets"),
            number(0),
            "expected at least 1 packet",
        ),
        one(
            &shaper("max-queue-depth-packets"),
            number(1 << 32),
            "expected a number from 0 to 4294967295",
        ),
        at(
            &shaper("queuing-behavior"),
            word("LEVITATE"),
            "expected SHAPE or POLICE, found 'LEVITATE'",
        ),
        at(
            &shaper("bc"),
            number(1 << 32),
            "expected a number from 0 to 4294967295",
        ),
        at(
            &shaper("bc"),
            Value::IntVal(-1),
            "expected a number from 0 to",
        ),
        at(
            &shaper("overhead"),
            number(1 << 31),
            "expected a number from -2147483648 to 2147483647, found 2147483648",
        ),
        at(
            &shaper("be"),
            number(7),
            "the models here have no such node",
        ),
        at(
            BINDING,
            word("absent"),
            "there is no scheduler policy 'absent'",
        ),
        one(
            &format!("{interface}/state/oper-status"),
            word("UP"),
            "oper-status: can't be set",
        ),
        one(
            &format!("{interface}/state/ifindex"),
            number(3),
            "ifindex: can't be set",
        ),
        one(
            "/program/state/executor",
            word("native"),
            "executor: can't be set",
        ),
        one(
            "/server/state/counters/calls",
            number(3),
            "calls: can't be set",
        ),
        one(
            &format!("{interface}/config/name"),
            word("eth2"),
            "found 'eth2', which is not the key",
        ),
        one(
            &format!("{interface}/config/type"),
            word("other"),
            "expected ethernetCsmacd",
        ),
        at(ENABLED, Value::BoolVal(false), "ports can't be shut here"),
        at(ENABLED, json_val("false"), "ports can't be shut here"),
        at(ENABLED, number(1), "expected true or false, found 1"),
        at(ENABLED, json_val("yes"), "the value is not JSON"),
        one(
            "/interfaces/interface[name=*]/ethernet/config/port-speed",
            word("x"),
            "a wildcard can't be set",
        ),
        one(
            "/interfaces/interface/ethernet/config/port-speed",
            word("x"),
            "interface: expected the key name",
        ),
        one(
            "/interfaces[name=x]/interface",
            word("x"),
            "interfaces: expected no key",
        ),
        at("/interfaces", json_val("{"), "the value is not JSON"),
        at("/interfaces", json_val("slow"), "the value is not JSON"),
        at("/interfaces", json_val(&too_deep), "the value is not JSON"),
        at(
            "/interfaces",
            json_val("[]"),
            "expected an object, found []",
        ),
        at("/interfaces", word("x"), "expected an object, found \"x\""),
        one(
            "/interfaces",
            json_val("{\"interface\": {}}"),
            "expected a list, found {}",
        ),
        one(
            "/interfaces",
            json_val("{\"interface\": [{}]}"),
            "an entry has no key name",
        ),
        one(
            "/interfaces",
            json_val("{\"interface\": [{\"name\": true}]}"),
            "an entry has no key name",
        ),
        one(
            "/interfaces",
            json_val("{\"interface\": [7]}"),
            "expected a list of objects, found 7",
        ),
        at(
            "/levitation",
            json_val("{}"),
            "the models here have no such node",
        ),
        one(
            "/interfaces",
            json_val("{\"levitation\": {}}"),
            "/interfaces/levitation: the models here have no such node",
        ),
        at(
            SPEED,
            Value::BoolVal(true),
            "a value of type bool_val fits no leaf here",
        ),
        at(
            SPEED,
            Value::DoubleVal(1.0),
            "a value of type double_val fits no leaf here",
        ),
        one(
            &shaper("cir").replace("[sequence=0]", "[sequence=x]"),
            number(7),
            "sequence: expected a number from 0 to 4294967295, found 'x'",
        ),
        one(
            &shaper("cir").replace("[sequence=0]", "[sequence=007]"),
            number(7),
            "found '007'",
        ),
        one(
            &POLICY.replace("slow", &long),
            json_val(
                "{\"config\": {}, \"schedulers\": {\"scheduler\": [{\"sequence\": 1, \"config\": {\"sequence\": 1}}]}}",
            ),
            "a name of 257 bytes; no more than 256 are kept",
        ),
        one(
            BINDING,
            word(&long),
            "a name of 257 bytes; no more than 256 are kept",
        ),
        one(
            "/qos",
            json_val(&format!("\"{}\"", "x".repeat(65_536))),
            "/qos: a document of 65538 bytes; no more than 65536 are read",
        ),
        // What is quoted is cut.
        one(
            "/qos",
            json_val(&format!("\"{}\"", "x".repeat(100))),
            &format!("/qos: expected an object, found \"{}...", "x".repeat(56)),
        ),
        (
            deleting(&["/levitation"]),
            "/levitation: the models here have no such node".to_owned(),
        ),
        (
            deleting(&[&format!("{interface}/state/oper-status")]),
            "can't be set".to_owned(),
        ),
        (
            updating(&[
                (&shaper("cir"), number(7)),
                (&shaper("cir").replace("=0", "=1"), number(8)),
                (BINDING, word("slow")),
            ]),
            "the scheduler policy 'slow' has 2 schedulers without inputs; a port has one shaper"
                .to_owned(),
        ),
        (
            SetRequest {
                update: vec![Update {
                    path: Some(path(SPEED)),
                    ..Update::default()
                }],
                ..SetRequest::default()
            },
            "a value of type nothing fits no leaf here".to_owned(),
        ),
        (
            SetRequest {
                union_replace: vec![Update::default()],
                ..SetRequest::default()
            },
            "union_replace is not supported".to_owned(),
        ),
        (
            SetRequest {
                delete: vec![path("/x"); 1025],
                ..SetRequest::default()
            },
            "a Set of 1025 operations; no more than 1024 are done at once".to_owned(),
        ),
    ];
    for leaf in ["bc", "overhead"] {
        cases.push((
            updating(&[(&shaper(leaf), number(7)), (BINDING, word("slow"))]),
            format!("{}: a shaper without a cir", shaper(leaf)),
        ));
    }
    cases
}

/// Each request has something right in front of what is wrong.
#[test]
fn all_or_nothing() {
    let switch = switch();
    let places = ["/interfaces/interface/config", "/qos"];
    let before = switch.values(&places);
    for (mut request, words) in refusals() {
        let right = SPEED.replace("eth1", "eth2");
        if request.delete.len() < 1000 {
            request.update.insert(0, update(&right, word("SPEED_1GB")));
        }
        let refused = switch.tree.set(&request, WALL_NS).expect_err(&words);
        assert_eq!(refused.code, Code::InvalidArgument, "{words}");
        assert!(
            refused.message.contains(&words),
            "{} - {words}",
            refused.message
        );
        assert_eq!(switch.ports(), [unlimited(), unlimited()]);
        assert_eq!(switch.values(&places), before);
    }
    assert_eq!(switch.tree.changes(), 0);
}

#[test]
fn ports_are_enabled() {
    let switch = switch();
    for value in [Value::BoolVal(true), json_val("true")] {
        switch.update(&[(ENABLED, value)]);
    }
    switch.delete(&[ENABLED]);
    let state = ENABLED.replace("config", "state");
    for leaf in [ENABLED, &state] {
        assert_eq!(switch.values(&[leaf])[leaf], Value::BoolVal(true));
    }
}

/// pygnmi sends text so.
#[test]
fn text_may_lack_its_quotes() {
    let switch = switch();
    let cir = of_shaper("cir");
    switch.update(&[
        (SPEED, json_val("SPEED_1GB")),
        (&cir, json_val("64000")),
        (
            &of_shaper("queuing-behavior"),
            Value::JsonIetfVal(b"SHAPE".to_vec()),
        ),
        (BINDING, Value::JsonIetfVal(b"slow".to_vec())),
    ]);
    assert_eq!(switch.ports()[0].shaper, shaper(64_000, 0, 0));
    assert_eq!(switch.ports()[0].rate_bps, Some(1_000_000_000));
    let longest = "\u{e9}".repeat(128);
    let bound = switch
        .tree
        .set(&updating(&[(BINDING, json_val(&longest))]), WALL_NS);
    assert!(
        bound
            .expect_err("no policy")
            .message
            .contains("there is no scheduler policy")
    );
    for odd in ["", "a\nb", "a\u{7}", &"x".repeat(257)] {
        let refused = switch
            .tree
            .set(&updating(&[(BINDING, json_val(odd))]), WALL_NS);
        let message = refused.expect_err("odd").message;
        assert!(message.ends_with("the value is not JSON"), "{message}");
    }
    let binary = Value::JsonVal(vec![b'x', 0xff]);
    let refused = switch.tree.set(&updating(&[(BINDING, binary)]), WALL_NS);
    assert!(
        refused
            .expect_err("odd")
            .message
            .ends_with("the value is not JSON")
    );
    // A number's text is not one.
    let refused = switch
        .tree
        .set(&updating(&[(&cir, json_val("fast"))]), WALL_NS);
    assert!(
        refused
            .expect_err("odd")
            .message
            .ends_with("the value is not JSON")
    );
}

#[test]
fn settings_have_a_bound() {
    let switch = switch();
    let policies = |from: usize, to: usize| {
        let names = (from..to)
            .map(|n| json!({"name": format!("p{n}"), "config": {"name": format!("p{n}")}}));
        let all: Vec<serde_json::Value> = names.collect();
        ietf(&json!({"scheduler-policy": all}))
    };
    let place = "/qos/scheduler-policies";
    switch.update(&[(place, policies(0, 1000)), (place, policies(1000, 1024))]);
    let refused = switch
        .tree
        .set(&updating(&[(place, policies(1024, 1025))]), WALL_NS);
    assert_eq!(
        refused.expect_err("one too many").message,
        "/qos/scheduler-policies: there would be 1025 scheduler policies; no more than 1024 are kept"
    );
    switch.delete(&["/qos/scheduler-policies/scheduler-policy[name=p7]"]);
    switch.update(&[(place, policies(1024, 1025))]);
    let schedulers: Vec<_> = (0..1025).map(|n| json!({"sequence": n})).collect();
    let content = ietf(&json!({"scheduler": schedulers}));
    let place = "/qos/scheduler-policies/scheduler-policy[name=p1]/schedulers";
    let refused = switch.tree.set(&updating(&[(place, content)]), WALL_NS);
    assert_eq!(
        refused.expect_err("one too many").message,
        "/qos/scheduler-policies: there would be 1025 schedulers; no more than 1024 are kept"
    );
}

#[test]
fn deletions_take_wildcards() {
    let switch = switch();
    switch.update(&[
        (SPEED, word("SPEED_1GB")),
        (&SPEED.replace("eth1", "eth2"), word("SPEED_1GB")),
        (&of_shaper("cir"), number(7)),
    ]);
    switch.delete(&["/interfaces/interface[name=*]/ethernet", "/.../schedulers"]);
    assert!(switch.values(&["/.../port-speed"]).is_empty());
    assert!(switch.values(&["/.../cir"]).is_empty());
    assert_eq!(switch.values(&[&format!("{POLICY}/name")]).len(), 1);
    switch.delete(&["/qos/scheduler-policies/scheduler-policy"]);
    let refused = switch.ask(&[POLICY], PROTO, 0).expect_err("nothing");
    assert_eq!(refused.code, Code::NotFound);
}

#[test]
fn keys_go_with_their_entry_only() {
    let scheduler = format!("{POLICY}/schedulers/scheduler[sequence=0]");
    for deleted in [
        &format!("{POLICY}/name"),
        &format!("{POLICY}/config"),
        &format!("{scheduler}/sequence"),
        &format!("{scheduler}/config/sequence"),
        "/.../sequence",
        "/qos/scheduler-policies/scheduler-policy/.../name",
    ] {
        let switch = switch();
        switch.update(&[(&of_shaper("cir"), number(7))]);
        let settings = || switch.get(&[], PROTO, data::CONFIG);
        let before = settings();
        switch.delete(&[deleted]);
        assert_eq!(settings(), before, "{deleted}");
    }
}

#[test]
fn what_a_set_names() {
    let prefix = Path {
        origin: "openconfig".to_owned(),
        ..path("/interfaces")
    };
    let request = SetRequest {
        prefix: Some(prefix),
        delete: vec![path("/interface[name=*]")],
        replace: vec![update("/interface[name=eth1]/config", json_val("{}"))],
        update: vec![Update {
            path: None,
            val: Some(TypedValue::default()),
            duplicates: 0,
        }],
        ..SetRequest::default()
    };
    let paths = Tree::paths_of(&request).expect("paths");
    let texts: Vec<String> = paths.iter().map(ToString::to_string).collect();
    let expected = [
        "/interfaces/interface[name=*]",
        "/interfaces/interface[name=eth1]/config",
        "/interfaces",
    ];
    assert_eq!(texts, expected);
    assert_eq!(paths[0][1].name, "interface");
    assert!(Tree::paths_of(&deleting(&["/cli:/show"])).is_err());
    let many = SetRequest {
        delete: vec![path("/x"); 1025],
        ..SetRequest::default()
    };
    assert!(Tree::paths_of(&many).is_err());
}

#[test]
fn listeners_hear_of_changes() {
    let switch = switch();
    let heard = Arc::new(AtomicU64::new(0));
    let (tree, counter) = (Arc::downgrade(&switch.tree), Arc::clone(&heard));
    switch.tree.on_change(Box::new(move || {
        let tree = tree.upgrade().expect("a tree");
        counter.store(tree.changes(), Ordering::Relaxed);
    }));
    switch.update(&[(SPEED, word("SPEED_1GB"))]);
    assert_eq!(heard.load(Ordering::Relaxed), 1);
    let refused = switch.tree.set(&updating(&[(SPEED, word("x"))]), WALL_NS);
    assert!(refused.is_err());
    assert_eq!(heard.load(Ordering::Relaxed), 1);
    switch.delete(&[SPEED]);
    assert_eq!(heard.load(Ordering::Relaxed), 2);
}
