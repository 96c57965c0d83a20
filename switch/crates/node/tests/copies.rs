//! Copies and passes: clones, multicast, resubmit, recirculate, digests, by frames that ask for them (`steered.p4`).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use phb_network::{Node, Output, Port, Time, Transmission};
use phb_node::path::{BUDGET, PASSES};
use phb_node::{CloneSession, DropReason, Replica, SwitchConfig, SwitchNode, Update, unlimited};
use phb_pipeline::{Entry, Match, Options, Pipeline};
use phb_traffic_manager::PortConfig;
use proptest::prelude::*;

const STEERED: &str = include_str!("programs/steered.json");
const STEERED_RANKED: &str = include_str!("programs/steered_ranked.json");
const CPU_PORT: Port = 510;
/// A port that the switch does not have.
const NOWHERE: Port = 300;

const DROP: u8 = 1;
const MULTICAST: u8 = 2;
const CLONE: u8 = 4;
const AGAIN: u8 = 8;
const DIGEST: u8 = 16;

fn switch(artifact: &str, ports: impl IntoIterator<Item = (Port, PortConfig)>) -> SwitchNode {
    let config = SwitchConfig {
        name: "test".to_owned(),
        cpu_port: Some(CPU_PORT),
        drop_port: 511,
        seed: 1,
    };
    let mut switch = SwitchNode::new(config, ports);
    switch.install(Pipeline::load(artifact, Options::default()).expect("the artifact loads"));
    switch
}

fn three_ports(artifact: &str) -> SwitchNode {
    switch(artifact, (0..3).map(|port| (port, unlimited())))
}

/// 8 Mbit/s: a byte takes a microsecond.
fn line() -> PortConfig {
    PortConfig {
        rate_bps: Some(8_000_000),
        ..unlimited()
    }
}

/// The requests of a frame.
#[derive(Clone, Copy, Debug, Default)]
struct Steering {
    ingress: u8,
    egress: u8,
    times: u8,
    priority: u8,
    port: u16,
    group: u16,
    session: u16,
    rank: u32,
}

impl Steering {
    fn frame(self) -> Vec<u8> {
        let mut bytes = vec![self.ingress, self.egress, self.times, self.priority];
        bytes.extend(self.port.to_be_bytes());
        bytes.extend(self.group.to_be_bytes());
        bytes.extend(self.session.to_be_bytes());
        bytes.extend(self.rank.to_be_bytes());
        bytes.resize(100, 0);
        bytes
    }
}

/// The report that egress has written into a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Seen {
    port: Port,
    length: usize,
    passes: u8,
    instance_type: u8,
    egress_rid: u16,
}

fn seen(sent: &Transmission) -> Seen {
    let bytes = &sent.frame.bytes;
    assert_eq!(bytes[16..18], sent.port.to_be_bytes(), "egress_port");
    Seen {
        port: sent.port,
        length: bytes.len(),
        passes: bytes[14],
        instance_type: bytes[15],
        egress_rid: u16::from_be_bytes([bytes[18], bytes[19]]),
    }
}

fn receive(switch: &mut SwitchNode, now: Time, steering: Steering) -> Vec<Transmission> {
    let mut out = Output::new();
    out.begin(now);
    switch.receive_frame(now, 0, &steering.frame(), &mut out);
    assert_eq!(switch.check(), 0);
    out.drain().collect()
}

fn replicas(replicas: &[(Port, u16)]) -> Vec<Replica> {
    let replica = |(port, instance): &(Port, u16)| Replica {
        port: *port,
        instance: *instance,
    };
    replicas.iter().map(replica).collect()
}

fn session(members: &[(Port, u16)]) -> Option<CloneSession> {
    Some(CloneSession {
        replicas: replicas(members),
        ..CloneSession::default()
    })
}

/// One frame each, and what leaves: (port, length, passes, instance type, rid).
#[test]
fn what_a_frame_asks_for_is_what_leaves() {
    let base = Steering {
        times: 1,
        port: 1,
        group: 5,
        session: 7,
        ..Steering::default()
    };
    type Sent<'a> = &'a [(Port, usize, u8, u8, u16)];
    let cases: [(&str, Steering, Sent<'_>); 11] = [
        ("nothing", base, &[(1, 100, 1, 0, 0)]),
        (
            "multicast; one of four members is at no port",
            Steering {
                ingress: MULTICAST,
                ..base
            },
            &[(1, 100, 1, 5, 10), (2, 100, 1, 5, 20), (1, 100, 1, 5, 11)],
        ),
        (
            "a clone at ingress, cut",
            Steering {
                ingress: CLONE,
                ..base
            },
            &[(1, 100, 1, 0, 0), (2, 50, 1, 1, 3)],
        ),
        (
            "a clone at ingress of what is dropped",
            Steering {
                ingress: CLONE | DROP,
                ..base
            },
            &[(2, 50, 1, 1, 3)],
        ),
        (
            "a clone at egress, which asks for none any more",
            Steering {
                egress: CLONE,
                times: 2,
                ..base
            },
            &[(1, 100, 1, 0, 0), (2, 50, 2, 2, 3)],
        ),
        (
            "a clone at egress of what is dropped",
            Steering {
                egress: CLONE | DROP,
                times: 2,
                ..base
            },
            &[(2, 50, 2, 2, 3)],
        ),
        (
            "no such session",
            Steering {
                ingress: CLONE,
                session: 8,
                ..base
            },
            &[(1, 100, 1, 0, 0)],
        ),
        (
            "resubmitted four times",
            Steering {
                ingress: AGAIN,
                times: 4,
                ..base
            },
            &[(1, 100, 4, 0, 0)],
        ),
        (
            "recirculated: a pass through ingress, one through egress, and again",
            Steering {
                egress: AGAIN,
                times: 8,
                ..base
            },
            &[(1, 100, 8, 0, 0)],
        ),
        (
            "recirculated from a port that is not there, which then drops it",
            Steering {
                egress: AGAIN,
                times: 8,
                port: NOWHERE,
                ..base
            },
            &[],
        ),
        (
            "dropped",
            Steering {
                ingress: DROP,
                ..base
            },
            &[],
        ),
    ];
    for artifact in [STEERED, STEERED_RANKED] {
        for (what, steering, expected) in &cases {
            let mut switch = three_ports(artifact);
            let group = replicas(&[(1, 10), (2, 20), (NOWHERE, 0), (1, 11)]);
            switch.replication_mut().set_group(5, Some(group));
            let mut cut = session(&[(2, 3)]).expect("a session");
            cut.packet_length_bytes = Some(50);
            switch.replication_mut().set_session(7, Some(cut));
            let sent = receive(&mut switch, 0, *steering);
            let mut sent: Vec<Seen> = sent.iter().map(seen).collect();
            let mut expected: Vec<Seen> = expected
                .iter()
                .map(|(port, length, passes, instance_type, egress_rid)| Seen {
                    port: *port,
                    length: *length,
                    passes: *passes,
                    instance_type: *instance_type,
                    egress_rid: *egress_rid,
                })
                .collect();
            let key = |seen: &Seen| (seen.port, seen.instance_type, seen.egress_rid);
            sent.sort_by_key(key);
            expected.sort_by_key(key);
            assert_eq!(sent, expected, "{what}");
        }
    }
}

#[test]
fn copies_and_passes_are_counted() {
    let mut switch = three_ports(STEERED);
    switch
        .replication_mut()
        .set_group(5, Some(replicas(&[(1, 0), (2, 0), (NOWHERE, 0)])));
    switch
        .replication_mut()
        .set_session(7, session(&[(1, 0), (2, 0)]));
    let base = Steering {
        times: 3,
        port: 1,
        session: 7,
        ..Steering::default()
    };
    for (ingress, egress, group, session) in [
        (MULTICAST, 0, 5, 0),
        (MULTICAST, 0, 6, 0),
        (CLONE, 0, 0, 7),
        (CLONE, 0, 0, 8),
        (AGAIN, 0, 0, 0),
        (0, AGAIN, 0, 0),
    ] {
        receive(
            &mut switch,
            0,
            Steering {
                ingress,
                egress,
                group,
                session,
                ..base
            },
        );
    }
    let statistics = switch.statistics();
    let counts = [
        statistics.received,
        statistics.copied,
        statistics.resubmitted,
        statistics.recirculated,
        statistics.transmitted,
        statistics.dropped.of(DropReason::UnknownPort),
        statistics.dropped.of(DropReason::Multicast),
        statistics.dropped.of(DropReason::CloneSession),
        statistics.dropped.total(),
    ];
    assert_eq!(counts, [6, 2 + 2 + 1, 3, 1, 2 + 3 + 1 + 1 + 1, 1, 1, 1, 3]);
}

#[test]
fn no_packet_passes_without_end() {
    let forever = Steering {
        times: 255,
        port: 1,
        group: 5,
        session: 7,
        ..Steering::default()
    };
    let cases = [
        (AGAIN, 0),
        (0, AGAIN),
        (AGAIN | CLONE, AGAIN | CLONE),
        (MULTICAST, AGAIN),
        (MULTICAST | CLONE, AGAIN | CLONE),
        (0, CLONE),
        (0, CLONE | DROP),
    ];
    for artifact in [STEERED, STEERED_RANKED] {
        for (ingress, egress) in cases {
            let mut switch = three_ports(artifact);
            let members = [(1, 0), (2, 0), (1, 1), (NOWHERE, 0)];
            switch
                .replication_mut()
                .set_group(5, Some(replicas(&members)));
            switch.replication_mut().set_session(7, session(&members));
            receive(
                &mut switch,
                0,
                Steering {
                    ingress,
                    egress,
                    ..forever
                },
            );
            let statistics = switch.statistics();
            assert!(statistics.dropped.of(DropReason::Passes) > 0);
            assert_eq!(statistics.queued, 0);
            let passes = statistics.resubmitted + statistics.recirculated;
            assert!(passes <= u64::from(BUDGET));
            if ingress | egress == AGAIN {
                assert_eq!(passes, u64::from(PASSES));
            }
        }
    }
}

/// Its other requests are not done; the next packet passes.
#[test]
fn a_packet_in_a_loop_without_end_is_dropped() {
    let drop = "\"op\":\"mark_to_drop\"";
    let itself = "\"op\":\"_jump\",\"parameters\":[{\"type\":\"hexstr\",\"value\":\"0x0\"}]";
    assert_eq!(STEERED.matches(drop).count(), 2);
    let artifact = STEERED.replace(drop, &format!("{itself}}}, {{{drop}"));
    let everything = DROP | MULTICAST | CLONE | AGAIN | DIGEST;
    for (ingress, egress) in [(everything, 0), (0, everything)] {
        let mut switch = three_ports(&artifact);
        switch
            .replication_mut()
            .set_group(5, Some(replicas(&[(1, 0), (2, 0)])));
        switch
            .replication_mut()
            .set_session(7, session(&[(1, 0), (2, 0)]));
        let steering = Steering {
            ingress,
            egress,
            times: 2,
            port: 1,
            group: 5,
            session: 7,
            ..Steering::default()
        };
        assert_eq!(receive(&mut switch, 0, steering).len(), 0);
        let statistics = switch.statistics();
        assert_eq!(statistics.dropped.of(DropReason::Passes), 1);
        assert_eq!(statistics.dropped.total(), 1);
        let others = [
            statistics.copied,
            statistics.resubmitted,
            statistics.recirculated,
            statistics.digests,
        ];
        assert_eq!(others, [0; 4]);
        let steering = Steering {
            port: 1,
            ..Steering::default()
        };
        assert_eq!(receive(&mut switch, 1000, steering).len(), 1);
    }
}

#[test]
fn digests_wait_for_a_controller() {
    let mut switch = three_ports(STEERED);
    let digests = switch.digests();
    let steering = Steering {
        ingress: DIGEST,
        times: 1,
        port: 1,
        rank: 0x01_0203,
        ..Steering::default()
    };
    for _ in 0..5000 {
        receive(&mut switch, 0, steering);
    }
    let statistics = switch.statistics();
    assert_eq!(
        (statistics.digests, statistics.digests_lost),
        (5000, 5000 - 4096)
    );
    let taken = digests.take(Duration::ZERO);
    assert_eq!(taken.len(), 4096);
    assert_eq!(taken[0].fields, [vec![0, 1], vec![0, 1, 2, 3]]);
}

#[test]
fn the_class_of_a_session_is_the_priority_of_its_copies() {
    // Of the three packets, the first is on the line when the clone comes.
    let leaving = |queues, class_of_service| {
        let mut switch = switch(
            STEERED,
            [(0, unlimited()), (1, PortConfig { queues, ..line() })],
        );
        let mut value = session(&[(1, 9)]).expect("a session");
        value.class_of_service = class_of_service;
        switch.replication_mut().set_session(7, Some(value));
        let plain = Steering {
            times: 1,
            port: 1,
            session: 7,
            ..Steering::default()
        };
        receive(&mut switch, 0, plain);
        receive(&mut switch, 0, plain);
        receive(
            &mut switch,
            0,
            Steering {
                ingress: CLONE | DROP,
                ..plain
            },
        );
        let mut out = Output::new();
        let mut rids = Vec::new();
        while let Some(now) = switch.next_tick() {
            out.begin(now);
            switch.tick(now, &mut out);
            rids.extend(out.sent().iter().map(|sent| seen(sent).egress_rid));
        }
        rids
    };
    assert_eq!(leaving(8, 0), [0, 0, 9]);
    assert_eq!(leaving(8, 5), [0, 9, 0]);
    assert_eq!(leaving(2, 5), [0, 9, 0], "the highest queue there is");
    assert_eq!(leaving(1, 5), [0, 0, 9], "the only queue");
}

#[test]
fn a_port_without_a_pifo_queues_ranked_packets_by_priority() {
    let leaving = |strict_priority| {
        let config = PortConfig {
            queues: 3,
            queue_depth: Some(2),
            strict_priority,
            ..line()
        };
        let mut switch = switch(STEERED_RANKED, [(0, unlimited()), (1, config)]);
        for (priority, rank) in [(1, 9), (0, 1), (1, 3), (2, 4), (1, 2), (1, 0), (3, 5)] {
            let steering = Steering {
                port: 1,
                priority,
                rank,
                ..Steering::default()
            };
            receive(&mut switch, 0, steering);
        }
        let passed: Vec<u64> = switch
            .queues(1)
            .iter()
            .map(|it| it.passed_packets)
            .collect();
        let dropped = switch.statistics().dropped;
        let dropped = [DropReason::Queue, DropReason::Priority].map(|reason| dropped.of(reason));
        let mut out = Output::new();
        let mut ranks = Vec::new();
        while let Some(now) = switch.next_tick() {
            out.begin(now);
            switch.tick(now, &mut out);
            ranks.extend(out.sent().iter().map(|sent| sent.frame.bytes[13]));
        }
        assert_eq!(switch.check(), 0);
        (ranks, passed, dropped)
    };
    // The first packet meets a free line.
    assert_eq!(
        leaving(false),
        (vec![9, 0, 1, 2, 3, 4, 5], vec![1, 0, 0], [0, 0])
    );
    assert_eq!(leaving(true), (vec![9, 4, 3, 2, 1], vec![0, 1, 0], [1, 1]));
}

#[test]
fn queues_without_a_rank_have_depths_and_counters_of_their_own() {
    let config = PortConfig {
        queues: 3,
        queue_depth: Some(2),
        ..line()
    };
    let mut switch = switch(STEERED, [(0, unlimited()), (1, config)]);
    for priority in [0, 2, 2, 2, 1, 3, 0, 0] {
        receive(
            &mut switch,
            0,
            Steering {
                port: 1,
                priority,
                ..Steering::default()
            },
        );
    }
    let dropped = switch.statistics().dropped;
    let by_reason = [DropReason::Queue, DropReason::Priority, DropReason::Buffer];
    assert_eq!(by_reason.map(|reason| dropped.of(reason)), [1, 1, 0]);
    let queues = |switch: &SwitchNode| -> Vec<[u64; 5]> {
        let queues = switch.queues(1).into_iter();
        let fields = queues.map(|it| {
            [
                it.depth,
                it.depth_max,
                it.passed_packets,
                it.passed_bytes,
                it.dropped_packets,
            ]
        });
        fields.collect()
    };
    assert_eq!(
        queues(&switch),
        [[2, 2, 1, 100, 0], [1, 1, 0, 0, 0], [2, 2, 0, 0, 1]]
    );
    let mut out = Output::new();
    let mut depths = Vec::new();
    while let Some(now) = switch.next_tick() {
        out.begin(now);
        switch.tick(now, &mut out);
        // enq_qdepth and deq_qdepth, of the packet's own queue.
        depths.extend(out.sent().iter().map(|sent| {
            (
                sent.frame.bytes[3],
                sent.frame.bytes[21],
                sent.frame.bytes[23],
            )
        }));
    }
    assert_eq!(
        depths,
        [
            (0, 0, 0),
            (2, 0, 1),
            (2, 1, 0),
            (1, 0, 0),
            (0, 0, 1),
            (0, 1, 0)
        ]
    );
    assert_eq!(
        queues(&switch),
        [[0, 2, 3, 300, 0], [0, 1, 1, 100, 0], [0, 2, 2, 200, 1]]
    );
    assert_eq!(switch.queues(9), []);
}

#[test]
fn idle_entries_are_found_on_ticks() {
    const MS: Time = 1_000_000;
    let mut switch = three_ports(STEERED);
    assert_eq!(switch.next_tick(), None);
    let entry = |port: u8, idle_timeout_ns| Entry {
        matches: vec![(
            "headers.steering.port".to_owned(),
            Match::Exact(vec![0, port]),
        )],
        action: "NoAction".to_owned(),
        idle_timeout_ns,
        ..Entry::default()
    };
    let updates = [(1, 250 * MS), (2, 250 * MS), (3, 0)].map(|(port, timeout)| Update::Insert {
        table: "SteeredIngress.known".to_owned(),
        entry: entry(port, timeout),
    });
    let woken = Arc::new(AtomicBool::new(false));
    let sees = Arc::clone(&woken);
    switch.set_waker(Some(Box::new(move || sees.store(true, Ordering::Relaxed))));
    assert!(switch.write(&updates, true).iter().all(Result::is_ok));
    assert!(
        woken.load(Ordering::Relaxed),
        "a runner that waits has to know of the search"
    );

    let mut found = Vec::new();
    let mut out = Output::new();
    while let Some(now) = switch.next_tick().filter(|now| *now < 1000 * MS) {
        assert_eq!(switch.next_event(), None);
        out.begin(now);
        switch.tick(now, &mut out);
        for (table, entry) in switch.take_idle() {
            assert_eq!(table, "SteeredIngress.known");
            let Match::Exact(port) = &entry.matches[0].1 else {
                panic!("an exact match: {entry:?}");
            };
            found.push((now / MS, port.clone()));
        }
        // A packet meets entry 2 until 400 ms.
        if now <= 400 * MS {
            receive(
                &mut switch,
                now,
                Steering {
                    port: 2,
                    ..Steering::default()
                },
            );
        }
    }
    assert_eq!(
        found,
        [(400, vec![0, 1]), (700, vec![0, 1]), (700, vec![0, 2])]
    );
    assert!(switch.take_pipeline().is_some());
    assert_eq!(switch.next_tick(), None);
}

fn steering() -> impl Strategy<Value = Steering> {
    let times = prop_oneof![8 => 0u8..6, 1 => Just(255)];
    let port = prop_oneof![8 => 0u16..3, 1 => Just(NOWHERE), 1 => Just(CPU_PORT), 1 => Just(511)];
    (
        0u8..32,
        0u8..16,
        times,
        0u8..4,
        port,
        0u16..4,
        0u16..4,
        0u32..4,
    )
        .prop_map(
            |(ingress, egress, times, priority, port, group, session, rank)| Steering {
                ingress,
                egress,
                times,
                priority,
                port,
                group,
                session,
                rank,
            },
        )
}

#[derive(Clone, Debug)]
enum Step {
    Receive(Port, Steering),
    PacketOut(Steering),
    Tick(Time),
    Group(u16, Option<Vec<(Port, u16)>>),
    Session(u16, Option<Vec<(Port, u16)>>, u8, Option<u32>),
    Install(bool),
    TakeOut,
}

fn step() -> impl Strategy<Value = Step> {
    let member = (
        prop_oneof![8 => 0u16..3, 1 => Just(NOWHERE), 1 => Just(CPU_PORT)],
        0u16..4,
    );
    let members = prop::option::weighted(0.9, prop::collection::vec(member, 0..5));
    prop_oneof![
        20 => (0u16..4, steering()).prop_map(|(port, steering)| Step::Receive(port, steering)),
        2 => steering().prop_map(Step::PacketOut),
        10 => (0u64..2_000_000).prop_map(Step::Tick),
        4 => (0u16..4, members.clone()).prop_map(|(group, members)| Step::Group(group, members)),
        4 => (0u16..4, members, 0u8..8, prop::option::of(0u32..200))
            .prop_map(|(session, members, class, length)| Step::Session(session, members, class, length)),
        1 => any::<bool>().prop_map(Step::Install),
        1 => Just(Step::TakeOut),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Packets are conserved after every step, and everything leaves in the end.
    #[test]
    fn packets_and_their_copies_are_conserved(
        steps in prop::collection::vec(step(), 1..60),
        ranked in any::<bool>(),
        strict_priority in any::<bool>(),
        queues in 1u8..5,
        queue_depth in prop::option::of(0usize..5),
        queue_rate_pps in prop::option::of(0u64..10_000),
        buffer_packets in 1usize..20,
    ) {
        let artifacts = [STEERED, STEERED_RANKED];
        let slow = PortConfig { queues, strict_priority, queue_depth, queue_rate_pps, buffer_packets, ..line() };
        let ports = [(0, PortConfig { queues: 4, ..unlimited() }), (1, slow), (2, unlimited())];
        let mut switch = switch(artifacts[usize::from(ranked)], ports);
        let packet_ins = switch.packet_ins();
        let (mut now, mut sent, mut seen_by_cpu) = (0, 0, 0);
        let mut out = Output::new();
        for step in steps {
            out.begin(now);
            match step {
                Step::Receive(port, steering) => switch.receive_frame(now, port, &steering.frame(), &mut out),
                Step::PacketOut(steering) => prop_assert!(switch.packet_out(steering.frame())),
                Step::Tick(later) => {
                    now += later;
                    out.begin(now);
                    switch.tick(now, &mut out);
                }
                Step::Group(group, members) => switch.replication_mut().set_group(group, members.map(|it| replicas(&it))),
                Step::Session(number, members, class_of_service, packet_length_bytes) => {
                    let value = members.map(|members| CloneSession {
                        replicas: replicas(&members),
                        class_of_service,
                        packet_length_bytes,
                    });
                    switch.replication_mut().set_session(number, value);
                }
                Step::Install(ranked) => {
                    let artifact = artifacts[usize::from(ranked)];
                    switch.install(Pipeline::load(artifact, Options::default()).expect("the artifact loads"));
                }
                Step::TakeOut => drop(switch.take_pipeline()),
            }
            sent += out.sent().len();
            seen_by_cpu += packet_ins.take(Duration::ZERO).len();
            prop_assert_eq!(switch.check(), 0);
        }
        while let Some(next) = switch.next_tick() {
            now = now.max(next);
            out.begin(now);
            switch.tick(now, &mut out);
            sent += out.sent().len();
            seen_by_cpu += packet_ins.take(Duration::ZERO).len();
            prop_assert_eq!(switch.check(), 0);
        }
        let statistics = switch.statistics();
        prop_assert_eq!(statistics.queued, 0);
        prop_assert_eq!(statistics.transmitted, sent as u64);
        prop_assert_eq!(statistics.to_cpu, seen_by_cpu as u64);
    }
}
