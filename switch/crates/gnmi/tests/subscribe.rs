//! Subscriptions, with a clock of the test's.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use phb_gnmi::message::encoding::{JSON, JSON_IETF, PROTO};
use phb_gnmi::message::typed_value::Value;
use phb_gnmi::message::{
    ModelData, Notification, Path, Poll, SubscribeRequest, SubscribeResponse, Subscription,
    SubscriptionList, list_mode, mode, request, response,
};
use phb_gnmi::{Attachment, Code, Refusal, Subscriber};
use phb_pipeline::{Executor, Options, Pipeline};
use phb_ports::Link;
use support::*;

const STATE: &str = "/interfaces/interface[name=eth1]/ethernet/state/port-speed";
const IN_PKTS: &str = "/interfaces/interface[name=eth1]/state/counters/in-pkts";
const STATUS: &str = "/interfaces/interface[name=eth1]/state/oper-status";
const RANKED: &str = include_str!("../../../python/tests/programs/ranked.json");
const MS: u64 = 1_000_000;
const START: u64 = 1_000 * MS;

fn of(place: &str, mode: i32) -> Subscription {
    Subscription {
        path: Some(path(place)),
        mode,
        ..Subscription::default()
    }
}

fn list(mode: i32, subscription: Vec<Subscription>) -> SubscriptionList {
    SubscriptionList {
        subscription,
        mode,
        encoding: PROTO,
        ..SubscriptionList::default()
    }
}

fn stream(subscription: Subscription) -> SubscriptionList {
    list(list_mode::STREAM, vec![subscription])
}

fn subscribe(list: SubscriptionList) -> SubscribeRequest {
    SubscribeRequest {
        request: Some(request::Request::Subscribe(list)),
    }
}

fn poll() -> SubscribeRequest {
    SubscribeRequest {
        request: Some(request::Request::Poll(Poll {})),
    }
}

fn begin(
    switch: &Switch,
    list: SubscriptionList,
) -> Result<(Subscriber, Vec<SubscribeResponse>), Refusal> {
    Subscriber::begin(Arc::clone(&switch.tree), subscribe(list), START, WALL_NS)
}

/// The values up to the word that this was all.
fn begun(switch: &Switch, list: SubscriptionList) -> (Subscriber, BTreeMap<String, Value>) {
    let (subscriber, mut answers) = begin(switch, list).expect("it is answered");
    let last = answers.pop().and_then(|answer| answer.response);
    assert_eq!(last, Some(response::Response::SyncResponse(true)));
    (subscriber, values(answers))
}

fn notifications(answers: Vec<SubscribeResponse>) -> Vec<Notification> {
    let notifications = answers.into_iter().map(|answer| match answer.response {
        Some(response::Response::Update(notification)) => notification,
        other => panic!("{other:?}"),
    });
    notifications.collect()
}

fn values(answers: Vec<SubscribeResponse>) -> BTreeMap<String, Value> {
    notifications(answers).into_iter().flat_map(told).collect()
}

fn one(place: &str, value: Value) -> BTreeMap<String, Value> {
    [(place.to_owned(), value)].into()
}

#[test]
fn once() {
    let switch = switch();
    let wanted = list(
        list_mode::ONCE,
        vec![
            of(IN_PKTS, 0),
            of("/interfaces/interface/state/id", 0),
            of(IN_PKTS, 0),
        ],
    );
    let (mut subscriber, values) = begun(&switch, wanted);
    let mut expected = one(IN_PKTS, number(0));
    for n in [1, 2] {
        let id = format!("/interfaces/interface[name=eth{n}]/state/id");
        expected.insert(id, number(n));
    }
    assert_eq!(values, expected);
    assert!(subscriber.is_once() && !subscriber.is_poll() && !subscriber.is_stream());
    assert_eq!(subscriber.due(), None);
    assert_eq!(subscriber.next(START, WALL_NS), []);
    let refused = subscriber.request(poll(), WALL_NS).expect_err("no polls");
    assert_eq!(refused.message, "polls are for subscriptions of mode POLL");
}

#[test]
fn polls() {
    let switch = switch();
    let (mut subscriber, values) = begun(&switch, list(list_mode::POLL, vec![of(STATE, 0)]));
    assert!(values.is_empty());
    assert!(subscriber.is_poll());
    switch.update(&[(SPEED, word("SPEED_1GB"))]);
    let answers = subscriber.request(poll(), WALL_NS).expect("an answer");
    assert_eq!(answers.len(), 2);
    let notification = notifications(answers[..1].to_vec()).remove(0);
    assert_eq!(notification.timestamp, WALL_NS);
    assert_eq!(told(notification), one(STATE, word("SPEED_1GB")));
    let again = subscribe(list(list_mode::POLL, vec![of(STATE, 0)]));
    let refused = subscriber.request(again, WALL_NS).expect_err("no poll");
    assert_eq!(refused.code, Code::InvalidArgument);
    assert_eq!(
        refused.message,
        "after the subscription list there may be polls only"
    );
}

#[test]
fn polls_may_be_quiet_at_first() {
    let switch = switch();
    let wanted = SubscriptionList {
        updates_only: true,
        ..list(list_mode::POLL, vec![of(IN_PKTS, 0)])
    };
    let (mut subscriber, values) = begun(&switch, wanted);
    assert!(values.is_empty());
    let answers = subscriber.request(poll(), WALL_NS).expect("an answer");
    assert_eq!(answers.len(), 2);
}

#[test]
fn changes_of_settings() {
    let switch = switch();
    let interface = "/interfaces/interface[name=eth1]/ethernet";
    let wanted = list(
        list_mode::STREAM,
        vec![
            of(interface, mode::ON_CHANGE),
            of("/qos/interfaces", mode::ON_CHANGE),
        ],
    );
    let (mut subscriber, values) = begun(&switch, wanted);
    assert!(subscriber.is_stream());
    assert!(
        values
            .keys()
            .all(|place| place.starts_with("/qos/interfaces/"))
    );
    assert_eq!(subscriber.due(), Some(START + 200 * MS));
    let mut now = START + MS;
    assert_eq!(subscriber.next(now, WALL_NS), []);
    let mut next = |subscriber: &mut Subscriber| {
        // Within the time that snapshots are shared.
        now += MS / 2;
        assert!(subscriber.due() <= Some(now));
        let answers = subscriber.next(now, WALL_NS);
        assert!(subscriber.due() > Some(now));
        answers
    };
    switch.update(&[(SPEED, word("SPEED_1GB"))]);
    let both = |one: &str, value: &str| {
        [
            (one.to_owned(), word(value)),
            (one.replace("config", "state"), word(value)),
        ]
        .into()
    };
    assert_eq!(
        self::values(next(&mut subscriber)),
        both(SPEED, "SPEED_1GB")
    );
    switch.update(&[
        (&format!("{SHAPER}/cir"), number(7)),
        (BINDING, word("slow")),
    ]);
    assert_eq!(self::values(next(&mut subscriber)), both(BINDING, "slow"));
    switch.delete(&[SPEED]);
    let gone = notifications(next(&mut subscriber));
    assert_eq!(gone.len(), 1);
    let deleted: BTreeSet<String> = gone[0].delete.iter().map(text).collect();
    assert_eq!(deleted, [SPEED, STATE].map(str::to_owned).into());
    assert!(gone[0].update.is_empty());
    // Nothing of what it takes.
    switch.update(&[(&format!("{SHAPER}/cir"), number(8))]);
    assert_eq!(next(&mut subscriber), []);
}

#[test]
fn changes_of_links() {
    let switch = switch();
    switch.attach(1, Attachment::default());
    let (mut subscriber, values) = begun(&switch, stream(of(STATUS, mode::ON_CHANGE)));
    assert_eq!(values, one(STATUS, word("UP")));
    for (link, status) in [
        (Link::Absent, "NOT_PRESENT"),
        (Link::Down, "DOWN"),
        (Link::Up, "UP"),
    ] {
        let attachment = Attachment {
            link,
            ..Attachment::default()
        };
        switch.attach(1, attachment);
        let due = subscriber.due().expect("a stream");
        assert_eq!(
            self::values(subscriber.next(due, WALL_NS)),
            one(STATUS, word(status))
        );
        let due = subscriber.due().expect("a stream");
        assert_eq!(subscriber.next(due, WALL_NS), []);
    }
}

/// finsy subscribes to its ports so, and takes the status for a word.
#[test]
fn an_enumeration_in_json_is_a_word() {
    let switch = switch();
    switch.attach(1, Attachment::default());
    for (encoding, expected) in [
        (JSON, word("UP")),
        (PROTO, word("UP")),
        (JSON_IETF, Value::JsonIetfVal(b"\"UP\"".to_vec())),
    ] {
        let wanted = SubscriptionList {
            encoding,
            ..stream(of(STATUS, mode::ON_CHANGE))
        };
        assert_eq!(begun(&switch, wanted).1, one(STATUS, expected));
    }
    let wanted = SubscriptionList {
        encoding: JSON,
        ..stream(of("/interfaces/interface[name=eth1]/config/name", 0))
    };
    let (_, values) = begun(&switch, wanted);
    let expected = Value::JsonVal(b"\"eth1\"".to_vec());
    assert_eq!(values.into_values().collect::<Vec<_>>(), [expected]);
}

fn sampled(interval: u64) -> Subscription {
    Subscription {
        sample_interval: interval,
        ..of(IN_PKTS, mode::SAMPLE)
    }
}

#[test]
fn samples() {
    let switch = switch();
    let (mut subscriber, values) = begun(&switch, stream(sampled(10 * MS)));
    assert_eq!(values, one(IN_PKTS, number(0)));
    let mut next = |now: u64| {
        let answers = subscriber.next(START + now * MS, WALL_NS);
        (
            self::values(answers),
            subscriber.due().map(|due| (due - START) / MS),
        )
    };
    assert_eq!(next(9), (BTreeMap::new(), Some(10)));
    assert_eq!(next(10), (one(IN_PKTS, number(0)), Some(20)));
    switch.receive(1, &[0; 60], 1);
    assert_eq!(next(20), (one(IN_PKTS, number(1)), Some(30)));
    // Behind time, samples are left out.
    assert_eq!(next(77), (one(IN_PKTS, number(1)), Some(80)));
    // A change of settings is no sample.
    switch.update(&[(SPEED, word("SPEED_1GB"))]);
    assert_eq!(next(78), (BTreeMap::new(), Some(80)));
}

#[test]
fn samples_without_repetition() {
    let switch = switch();
    let wanted = SubscriptionList {
        updates_only: true,
        ..stream(Subscription {
            suppress_redundant: true,
            ..sampled(10 * MS)
        })
    };
    let (mut subscriber, values) = begun(&switch, wanted);
    assert!(values.is_empty());
    assert_eq!(subscriber.next(START + 10 * MS, WALL_NS), []);
    switch.receive(1, &[0; 60], 1);
    let answers = subscriber.next(START + 20 * MS, WALL_NS);
    assert_eq!(self::values(answers), one(IN_PKTS, number(1)));
    assert_eq!(subscriber.next(START + 30 * MS, WALL_NS), []);
}

#[test]
fn the_servers_counters_can_be_sampled() {
    let switch = switch();
    let calls = "/server/state/counters/calls";
    let wanted = stream(Subscription {
        sample_interval: 10 * MS,
        ..of(calls, mode::SAMPLE)
    });
    let (mut subscriber, values) = begun(&switch, wanted);
    assert_eq!(values, one(calls, number(0)));
    switch
        .counters
        .calls
        .fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    let answers = subscriber.next(START + 10 * MS, WALL_NS);
    assert_eq!(self::values(answers), one(calls, number(1)));
}

#[test]
fn another_program_is_a_change() {
    let switch = switch();
    let executor = "/program/state/executor";
    let (mut subscriber, values) = begun(&switch, stream(of("/program", mode::ON_CHANGE)));
    assert_eq!(values, [].into());
    for wanted in [Executor::Native, Executor::Interpreter] {
        let options = Options {
            executor: wanted,
            ..Options::default()
        };
        switch.install(Pipeline::load(RANKED, options).expect("the artifact loads"));
        let due = subscriber.due().expect("a stream");
        let values = self::values(subscriber.next(due, WALL_NS));
        assert_eq!(values[executor], word(wanted.name()));
        assert!(
            values.contains_key("/program/state/code-bytes"),
            "{values:?}"
        );
    }
}

#[test]
fn heartbeat() {
    let switch = switch();
    switch.update(&[(SPEED, word("SPEED_1GB"))]);
    let wanted = stream(Subscription {
        heartbeat_interval: 1,
        ..of(SPEED, mode::ON_CHANGE)
    });
    let (mut subscriber, values) = begun(&switch, wanted);
    assert_eq!(values, one(SPEED, word("SPEED_1GB")));
    for _ in 0..2 {
        let due = subscriber.due().expect("a stream");
        let answers = subscriber.next(due, WALL_NS);
        assert_eq!(self::values(answers), one(SPEED, word("SPEED_1GB")));
    }
}

#[test]
fn target_defined_takes_both() {
    let switch = switch();
    let wanted = stream(of("/interfaces/interface[name=eth1]", mode::TARGET_DEFINED));
    let (mut subscriber, values) = begun(&switch, wanted);
    assert!(values.contains_key(IN_PKTS));
    switch.update(&[(SPEED, word("SPEED_1GB"))]);
    let answers = subscriber.next(START + MS, WALL_NS);
    let places: Vec<String> = self::values(answers).into_keys().collect();
    assert_eq!(places, [SPEED, STATE]);
    let answers = subscriber.next(START + 10_000 * MS, WALL_NS);
    let sampled = self::values(answers);
    assert_eq!(sampled.len(), 9);
    assert!(sampled.contains_key(IN_PKTS));
}

#[test]
fn the_target_comes_back() {
    let switch = switch();
    let wanted = SubscriptionList {
        prefix: Some(Path {
            target: "switch".to_owned(),
            ..path("/interfaces/interface[name=eth1]/state")
        }),
        ..list(list_mode::ONCE, vec![of("/id", 0)])
    };
    let (_, mut answers) = begin(&switch, wanted).expect("it is answered");
    answers.pop();
    let notification = notifications(answers).remove(0);
    let prefix = notification.prefix.expect("a prefix");
    assert_eq!((prefix.target.as_str(), prefix.elem.len()), ("switch", 0));
}

/// A large tree comes in several messages, and what is due in several answers.
#[test]
fn much_comes_in_pieces() {
    let switch = switch();
    let names = (0..1000).map(|n| serde_json::json!({"name": format!("p{n}")}));
    let policies: Vec<_> = names.collect();
    let all = ietf(&serde_json::json!({"scheduler-policy": policies}));
    switch.update(&[("/qos/scheduler-policies", all)]);
    let subscription = Subscription {
        sample_interval: 10 * MS,
        ..of("/qos/scheduler-policies", mode::SAMPLE)
    };
    let wanted = list(list_mode::STREAM, vec![subscription.clone(); 20]);
    let (mut subscriber, values) = begun(&switch, wanted);
    assert_eq!(values.len(), 3000);
    let now = START + 10 * MS;
    let mut told = 0;
    let mut pieces = 0;
    while subscriber.due() <= Some(now) {
        let notifications = notifications(subscriber.next(now, WALL_NS));
        told += notifications
            .iter()
            .map(|each| each.update.len())
            .sum::<usize>();
        pieces += 1;
    }
    assert_eq!(told, 20 * 3000);
    assert!(pieces > 2);
    let wanted = list(list_mode::STREAM, vec![subscription; 100]);
    let refused = begin(&switch, wanted).map(|_| ()).expect_err("too much");
    assert_eq!(refused.code, Code::ResourceExhausted);
}

#[test]
fn refused() {
    let switch = switch();
    let unknown = ModelData {
        name: "x".to_owned(),
        ..ModelData::default()
    };
    let everything = || list(0, vec![of("/", 0)]);
    for (wanted, words) in [
        (list(0, vec![]), "the subscription list is empty"),
        (list(9, vec![of("/", 0)]), "there is no mode 9"),
        (
            list(0, vec![of("/x", 0)]),
            "/x: the models here have no such node",
        ),
        (
            list(0, vec![of(IN_PKTS, mode::ON_CHANGE)]),
            "counters can be sampled only",
        ),
        (list(0, vec![of(IN_PKTS, 9)]), "there is no mode 9"),
        (
            list(0, vec![sampled(5)]),
            "sample_interval is 5 ns; expected at least 10000000",
        ),
        (
            SubscriptionList {
                use_models: vec![unknown],
                ..everything()
            },
            "there is no model 'x' here",
        ),
        (
            SubscriptionList {
                encoding: 9,
                ..everything()
            },
            "encoding 9 is not supported",
        ),
        (
            list(0, vec![of("/", 0); 129]),
            "a list of 129 subscriptions; no more than 128 are answered at once",
        ),
    ] {
        let refused = begin(&switch, wanted).map(|_| ()).expect_err(words);
        assert_eq!(refused.code, Code::InvalidArgument);
        assert!(refused.message.contains(words), "{}", refused.message);
    }
    for first in [poll(), SubscribeRequest::default()] {
        let begun = Subscriber::begin(Arc::clone(&switch.tree), first, START, WALL_NS);
        let refused = begun.map(|_| ()).expect_err("no list");
        assert_eq!(
            refused.message,
            "the first message has to be a subscription list"
        );
    }
}
