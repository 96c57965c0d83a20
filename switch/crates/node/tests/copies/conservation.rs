//! The law of the counters, over any steps.

use std::collections::BTreeSet;
use std::time::Duration;

use phb_network::{Node, Output, Port, Time};
use phb_node::{CloneSession, DropReason, Drops, Watch, unlimited};
use phb_pipeline::Executor;
use phb_pipeline::trace::{Happening, Tracer};
use phb_trace::Filter;
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

/// What traces tell.
#[derive(Default)]
struct Traces {
    numbers: BTreeSet<u64>,
    left_out: u64,
    transmitted: u64,
    to_cpu: u64,
    dropped: Drops,
}

impl Traces {
    fn take(&mut self, watch: &Watch) {
        for traced in watch.take(Duration::ZERO) {
            let record = traced.finished.record();
            assert!(self.numbers.insert(record.number), "{record:?}");
            assert!(record.of < record.number);
            let is_end = |happening: &Happening| {
                matches!(
                    happening,
                    Happening::Departed { .. } | Happening::Dropped { .. }
                )
            };
            let ends = record.happened().filter(|(_, happening)| is_end(happening));
            assert_eq!(ends.count(), 1, "{record:?}");
            match record
                .happened()
                .next_back()
                .map(|(_, happening)| happening)
            {
                Some(Happening::Departed { to_controller, .. }) => {
                    *(if *to_controller {
                        &mut self.to_cpu
                    } else {
                        &mut self.transmitted
                    }) += 1;
                }
                Some(Happening::Dropped { reason, .. }) => {
                    let mut known = DropReason::ALL.into_iter();
                    let named = known.find(|known| known.name() == *reason);
                    self.dropped.count(named.expect("a reason"));
                }
                other => panic!("{other:?} ends it: {record:?}"),
            }
        }
        self.left_out = watch.left_out();
    }
}

#[derive(Clone, Debug)]
enum Step {
    Receive(Port, Steering),
    PacketOut(Steering),
    Tick(Time),
    Group(u16, Option<Vec<(Port, u16)>>),
    Session(u16, Option<Vec<(Port, u16)>>, u8, Option<u32>),
    /// The ranked program or the other, that can be traced or not.
    Install(bool, bool),
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
        1 => any::<(bool, bool)>().prop_map(|(ranked, traced)| Step::Install(ranked, traced)),
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
        watched in prop::bool::weighted(0.3),
    ) {
        let artifacts = [STEERED, STEERED_RANKED];
        let slow = PortConfig { queues, strict_priority, queue_depth, queue_rate_pps, buffer_packets, ..line() };
        let ports = [(0, PortConfig { queues: 4, ..unlimited() }), (1, slow), (2, unlimited())];
        let mut switch = switch(artifacts[usize::from(ranked)], ports);
        let packet_ins = switch.packet_ins();
        let watch = watched.then(|| switch.watch(Filter::default(), 0).expect("nobody else watches"));
        let mut traces = Traces::default();
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
                Step::Install(ranked, traced) => {
                    let artifact = artifacts[usize::from(ranked)];
                    let mut pipeline = pipeline(artifact, Executor::default());
                    let tracer = traced.then(|| Tracer::load(artifact).expect("it was loaded already"));
                    pipeline.set_tracer(tracer.map(Box::new));
                    switch.install(pipeline);
                }
                Step::TakeOut => drop(switch.take_pipeline()),
            }
            sent += out.sent().len();
            seen_by_cpu += packet_ins.take(Duration::ZERO).len();
            prop_assert_eq!(switch.check(), 0);
            if let Some(watch) = &watch {
                traces.take(watch);
            }
        }
        while let Some(next) = switch.next_tick() {
            now = now.max(next);
            out.begin(now);
            switch.tick(now, &mut out);
            sent += out.sent().len();
            seen_by_cpu += packet_ins.take(Duration::ZERO).len();
            prop_assert_eq!(switch.check(), 0);
            if let Some(watch) = &watch {
                traces.take(watch);
            }
        }
        let statistics = switch.statistics();
        prop_assert_eq!(statistics.queued, 0);
        for queue in (0..3).flat_map(|port| switch.queues(port)) {
            prop_assert_eq!((queue.depth, queue.waiting_bytes), (0, 0));
            // The shortest frame has 14 bytes.
            prop_assert!(queue.dropped_bytes >= queue.dropped_packets);
            prop_assert_eq!(queue.waiting_bytes_max == 0, queue.depth_max == 0);
        }
        prop_assert_eq!(statistics.transmitted, sent as u64);
        prop_assert_eq!(statistics.to_cpu, seen_by_cpu as u64);

        // Each packet and each copy has one trace, which ends as it was counted.
        let came = statistics.received + statistics.injected + statistics.copied;
        prop_assert!(!watched || traces.numbers.len() as u64 + traces.left_out == came);
        if watched && traces.left_out == 0 {
            prop_assert!((1..=came).eq(traces.numbers));
            prop_assert_eq!(traces.transmitted, statistics.transmitted);
            prop_assert_eq!(traces.to_cpu, statistics.to_cpu);
            prop_assert_eq!(traces.dropped, statistics.dropped);
        }
    }
}
