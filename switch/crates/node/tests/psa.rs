//! Packets of a program for PSA: what its two halves ask for is what leaves, in the order of the specification.

#[path = "../../pipeline/tests/common/psa.rs"]
mod program;

use std::sync::Mutex;
use std::time::Duration;

use allocation_counter::measure;
use phb_network::{Frame, Node, Output, Port};
use phb_node::path::PASSES;
use phb_node::{
    CloneSession, DropReason, Drops, Replica, SwitchConfig, SwitchNode, tracing, unlimited,
};
use phb_pipeline::trace::Happening;
use phb_pipeline::{Executor, Pipeline};
use phb_trace::Filter;
use phb_traffic_manager::PortConfig;

const CPU: Port = 64;
const PORT_CPU: u32 = 0xffff_fffd;
const RECIRCULATE: u32 = 0xffff_fffa;

/// What a frame asks for; `then` is the port of its second pass.
#[derive(Clone, Copy, Default)]
struct Ask {
    drop: u8,
    resubmit: u8,
    clone: u8,
    session: u8,
    group: u16,
    class: u8,
    port: u32,
    then: u32,
    egress_drop: u8,
    egress_clone: u8,
    egress_session: u8,
}

/// What egress had seen: path, port, instance, class, and ingress's path and port.
type Seen = (u8, u32, u16, u8, u8, u32);

impl Ask {
    fn frame(self) -> Vec<u8> {
        let mut frame = vec![self.drop, self.resubmit, self.clone, self.session];
        frame.extend(self.group.to_be_bytes());
        frame.push(self.class);
        frame.extend(self.port.to_be_bytes());
        frame.extend(self.then.to_be_bytes());
        frame.extend([self.egress_drop, self.egress_clone, self.egress_session]);
        frame.extend(b"payload");
        frame
    }
}

/// The header that egress has put before a frame, which is otherwise as it came.
fn seen(frame: &[u8], ask: Ask) -> Seen {
    assert_eq!(&frame[13..], ask.frame());
    let long = |at: usize| u32::from_be_bytes(frame[at..at + 4].try_into().unwrap());
    let instance = u16::from_be_bytes([frame[5], frame[6]]);
    (frame[0], long(1), instance, frame[7], frame[8], long(9))
}

/// The ports by which frames leave, and what they say.
fn send(switch: &mut SwitchNode, port: Port, ask: Ask) -> Vec<(Port, Seen)> {
    let mut out = Output::new();
    out.begin(0);
    switch.receive(0, port, Frame::new(ask.frame()), &mut out);
    out.drain()
        .map(|sent| (sent.port, seen(&sent.frame.bytes, ask)))
        .collect()
}

/// Ports 1 to 4 with four queues each. Group 5 has ports 1 (instance 10) and 2 (20). Session 7 goes to port 3 (30) with
/// class 2, session 8 to port 4 (40) and to that for recirculation.
fn switch() -> SwitchNode {
    let queues = PortConfig {
        queues: 4,
        ..unlimited()
    };
    let ports = (1..=4).map(|port| (port, queues.clone()));
    let config = SwitchConfig {
        name: "psa".to_owned(),
        cpu_port: Some(CPU),
        drop_port: 511,
        seed: 1,
        executor: Executor::default(),
    };
    let artifact = program::paths().to_string();
    let pipeline = Pipeline::load(&artifact, config.of_program()).expect("the artifact loads");
    let mut switch = SwitchNode::new(config, ports);
    switch.install(pipeline);
    let replica = |port, instance| Replica { port, instance };
    let session = |replicas, class_of_service| CloneSession {
        replicas,
        class_of_service,
        ..CloneSession::default()
    };
    let replication = switch.replication_mut();
    replication.set_group(5, Some(vec![replica(1, 10), replica(2, 20)]));
    replication.set_session(7, Some(session(vec![replica(3, 30)], 2)));
    let recirculated = vec![replica(4, 40), replica(0xfffa, 41)];
    replication.set_session(8, Some(session(recirculated, 0)));
    switch
}

fn asking() -> Ask {
    Ask {
        port: 1,
        then: 2,
        session: 7,
        egress_session: 7,
        ..Ask::default()
    }
}

#[test]
fn what_a_frame_asks_for_is_what_leaves() {
    type Row<'a> = (&'a str, fn(&mut Ask), &'a [(Port, Seen)]);
    let usual = (1, (1, 1, 0, 0, 0, 4));
    let clone = (3, (3, 3, 30, 2, 0, 0));
    let egress_clone = (3, (4, 3, 30, 2, 0, 0));
    let rows: [Row<'_>; 16] = [
        ("one port", |_| {}, &[usual]),
        ("dropped", |ask| ask.drop = 1, &[]),
        (
            "a drop comes before another pass and multicast",
            |ask| (ask.drop, ask.resubmit, ask.group) = (1, 1, 5),
            &[],
        ),
        (
            "multicast comes before one port",
            |ask| ask.group = 5,
            &[(1, (2, 1, 10, 0, 0, 4)), (2, (2, 2, 20, 0, 0, 4))],
        ),
        ("a group that isn't there", |ask| ask.group = 6, &[]),
        (
            "resubmitted before multicast, which the second pass asks for, too",
            |ask| (ask.resubmit, ask.group) = (1, 5),
            &[(1, (2, 1, 10, 0, 5, 4)), (2, (2, 2, 20, 0, 5, 4))],
        ),
        (
            "resubmitted, with the port that it came from",
            |ask| ask.resubmit = 1,
            &[(2, (1, 2, 0, 0, 5, 4))],
        ),
        (
            "cloned at ingress, with the session's class and without metadata",
            |ask| ask.clone = 1,
            &[usual, clone],
        ),
        (
            "cloned and dropped",
            |ask| (ask.clone, ask.drop) = (1, 1),
            &[clone],
        ),
        (
            "a session that isn't there",
            |ask| (ask.clone, ask.session) = (1, 9),
            &[usual],
        ),
        (
            "recirculated",
            |ask| ask.port = RECIRCULATE,
            &[(2, (1, 2, 0, 0, 6, RECIRCULATE))],
        ),
        (
            "cloned at egress",
            |ask| ask.egress_clone = 1,
            &[usual, egress_clone],
        ),
        (
            "cloned at egress and dropped there",
            |ask| (ask.egress_clone, ask.egress_drop) = (1, 1),
            &[egress_clone],
        ),
        (
            "a class that has a queue",
            |ask| ask.class = 3,
            &[(1, (1, 1, 0, 3, 0, 4))],
        ),
        (
            "a class that has none goes the way of class 0",
            |ask| ask.class = 9,
            &[(1, (1, 1, 0, 9, 0, 4))],
        ),
        (
            "a clone that is recirculated is dropped by its second ingress",
            |ask| (ask.clone, ask.session, ask.drop) = (1, 8, 1),
            &[(4, (3, 4, 40, 0, 0, 0))],
        ),
    ];
    for (name, change, expected) in rows {
        let mut switch = switch();
        let mut ask = asking();
        change(&mut ask);
        let mut sent = send(&mut switch, 4, ask);
        sent.sort_unstable();
        assert_eq!(sent, expected, "{name}");
        balanced(&switch);
        sent = send_traced(ask);
        sent.sort_unstable();
        assert_eq!(sent, expected, "{name}, traced");
    }
}

/// What leaves, as above, when all packets are traced: each packet and each copy has a trace that ends as it was counted.
fn send_traced(ask: Ask) -> Vec<(Port, Seen)> {
    let node = Mutex::new(switch());
    let watch = tracing::watch(&node, Filter::default(), 0).expect("there is room");
    let mut switch = node.into_inner().expect("nobody panicked");
    let sent = send(&mut switch, 4, ask);
    let statistics = switch.statistics();
    let traces = watch.take(Duration::ZERO);
    let came = statistics.received + statistics.copied;
    assert_eq!(traces.len() as u64, came);
    let mut dropped = Drops::default();
    for traced in &traces {
        let record = traced.finished.record();
        let steps = watch.message(traced, 0).steps;
        match record.happened().next_back() {
            Some((_, Happening::Departed { .. })) => {
                assert!(
                    steps.iter().any(|step| step.part == "deparser"),
                    "{steps:?}"
                );
            }
            Some((_, Happening::Dropped { reason, .. })) => {
                let mut known = DropReason::ALL.into_iter();
                let named = known.find(|known| known.name() == *reason);
                dropped.count(named.expect("a reason"));
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(dropped, statistics.dropped);
    sent
}

fn balanced(switch: &SwitchNode) {
    assert_eq!(switch.statistics().imbalance(), 0);
}

#[test]
fn ports_that_no_switch_has_and_passes_without_end_are_counted() {
    let rows = [
        (9, 2, DropReason::UnknownPort),
        (0x0001_0001, 2, DropReason::UnknownPort),
        (RECIRCULATE, RECIRCULATE, DropReason::Passes),
        (RECIRCULATE, 9, DropReason::UnknownPort),
    ];
    for (port, then, reason) in rows {
        let mut switch = switch();
        let ask = Ask {
            port,
            then,
            ..asking()
        };
        assert_eq!(send(&mut switch, 4, ask), []);
        assert_eq!(send_traced(ask), []);
        let total = switch.statistics();
        assert_eq!(total.dropped.of(reason), 1, "{port:x} {then:x}");
        if reason == DropReason::Passes {
            assert_eq!(total.recirculated, u64::from(PASSES));
        }
        balanced(&switch);
    }
}

#[test]
fn controllers_have_the_port_of_psa() {
    let mut switch = switch();
    let ins = switch.packet_ins();
    let mut to_cpu = |ask: Ask| {
        assert_eq!(send(&mut switch, 4, ask), []);
        seen(&ins.take(Duration::ZERO)[0], ask)
    };
    let direct = Ask {
        port: PORT_CPU,
        ..asking()
    };
    assert_eq!(to_cpu(direct), (1, PORT_CPU, 0, 0, 0, 4));
    // The session that every switch for PSA begins with.
    let cloned = Ask {
        clone: 1,
        drop: 1,
        session: 0,
        ..asking()
    };
    assert_eq!(to_cpu(cloned), (3, PORT_CPU, 0, 0, 0, 0));
    let mut out = Output::new();
    out.begin(0);
    assert!(switch.packet_out(asking().frame()));
    switch.tick(0, &mut out);
    let sent: Vec<_> = out.drain().collect();
    assert_eq!(
        seen(&sent[0].frame.bytes, asking()),
        (1, 1, 0, 0, 0, PORT_CPU)
    );
}

#[test]
fn a_packet_allocates_nothing() {
    let requests: [fn(&mut Ask); 5] = [
        |_| {},
        |ask| ask.group = 5,
        |ask| ask.clone = 1,
        |ask| (ask.egress_clone, ask.resubmit) = (1, 1),
        |ask| ask.port = RECIRCULATE,
    ];
    for change in requests {
        let mut ask = asking();
        change(&mut ask);
        let (mut switch, mut out, frame) = (switch(), Output::new(), ask.frame());
        let mut run = |times| {
            for _ in 0..times {
                out.begin(0);
                switch.receive_frame(0, 4, &frame, &mut out);
            }
        };
        // The first ones make what the later ones use again.
        run(20);
        assert_eq!(measure(|| run(20)).count_total, 0);
    }
}
