//! Queues of copies and of packets without a rank.

use phb_network::{Node, Output};
use phb_node::{DropReason, SwitchNode, unlimited};
use phb_traffic_manager::PortConfig;

use crate::steered::*;

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
    let queues = |switch: &SwitchNode| -> Vec<[u64; 8]> {
        let queues = switch.queues(1).into_iter();
        let fields = queues.map(|it| {
            [
                it.depth,
                it.depth_max,
                it.passed_packets,
                it.passed_bytes,
                it.dropped_packets,
                it.dropped_bytes,
                it.waiting_bytes,
                it.waiting_bytes_max,
            ]
        });
        fields.collect()
    };
    assert_eq!(
        queues(&switch),
        [
            [2, 2, 1, 100, 0, 0, 200, 200],
            [1, 1, 0, 0, 0, 0, 100, 100],
            [2, 2, 0, 0, 1, 100, 200, 200]
        ]
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
        [
            [0, 2, 3, 300, 0, 0, 0, 200],
            [0, 1, 1, 100, 0, 0, 0, 100],
            [0, 2, 2, 200, 1, 100, 0, 200]
        ]
    );
    assert_eq!(switch.queues(9), []);
}
