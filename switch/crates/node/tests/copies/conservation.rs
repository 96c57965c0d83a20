//! The law of the counters, over any steps.

use std::time::Duration;

use phb_network::{Node, Output, Port, Time};
use phb_node::{CloneSession, unlimited};
use phb_pipeline::Executor;
use phb_traffic_manager::PortConfig;
use proptest::prelude::*;

use crate::common::pipeline;
use crate::steered::*;

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
                        ..CloneSession::default()
                    });
                    switch.replication_mut().set_session(number, value);
                }
                Step::Install(ranked) => {
                    let artifact = artifacts[usize::from(ranked)];
                    switch.install(pipeline(artifact, Executor::default()));
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
