//! What traces tell of the way of packets outside of the program (`steered.p4`).

use std::sync::{Arc, Mutex};
use std::time::Duration;

use phb_network::{Node, Output, Time};
use phb_node::tracing::{self, TRACES, WATCHERS};
use phb_node::{CloneSession, SwitchNode, Watch, unlimited};
use phb_pipeline::trace::{Ahead, CopyKind, Happening, Record};
use phb_trace::Filter;
use phb_traffic_manager::PortConfig;

use crate::common;
use crate::steered::*;

fn watched(switch: &mut SwitchNode, filter: &str) -> Arc<Watch> {
    let filter = Filter::parse(filter).expect("a filter");
    switch.watch(filter, 0).expect("there is room")
}

fn filter(text: &str) -> Filter {
    Filter::parse(text).expect("a filter")
}

/// Lets time pass until nothing moves.
fn settle(switch: &mut SwitchNode) -> Time {
    let mut now = switch.now();
    while let Some(next) = switch.next_event() {
        now = now.max(next);
        let mut out = Output::new();
        out.begin(now);
        switch.tick(now, &mut out);
    }
    now
}

/// The records that have ended, by their numbers.
fn records(watch: &Watch) -> Vec<Record> {
    let taken = watch.take(Duration::ZERO);
    let mut records: Vec<Record> = taken
        .iter()
        .map(|it| it.finished.record().clone())
        .collect();
    records.sort_by_key(|record| record.number);
    records
}

fn happened(record: &Record) -> Vec<(Time, Happening)> {
    record
        .happened()
        .map(|(time, it)| (time, it.clone()))
        .collect()
}

fn ahead(trace: u64, rank: Option<u64>, queue: u8, since: Time) -> Ahead {
    Ahead {
        trace,
        rank,
        queue,
        length: 100,
        ingress_port: 0,
        since,
    }
}

/// The ranks of three packets of 100 bytes at a line of 1 byte per µs; the third overtakes the second.
#[test]
fn a_trace_says_behind_whom_a_packet_waited() {
    let mut switch = switch(STEERED_RANKED, [(0, unlimited()), (1, line())]);
    let watch = watched(&mut switch, "");
    for (now, rank) in [(0, 5), (10, 5), (20, 3), (30, 5)] {
        let steering = Steering {
            port: 1,
            rank,
            ..Steering::default()
        };
        receive(&mut switch, now, steering);
    }
    let end = settle(&mut switch);
    assert_eq!(end, 400_000);
    let records = records(&watch);
    let [first, second, third, fourth] = &records.iter().map(happened).collect::<Vec<_>>()[..]
    else {
        panic!("{records:?}");
    };
    let enqueued = |rank, depth, behind: &[Ahead]| Happening::Enqueued {
        port: 1,
        rank: Some(rank),
        queue: 0,
        depth,
        ahead: behind.len() as u32,
        ahead_bytes: behind.len() as u64 * 100,
        behind: behind.to_vec(),
    };
    let dequeued = |waited_ns, behind: &[Ahead], depth| Happening::Dequeued {
        port: 1,
        waited_ns,
        served: behind.len() as u32,
        served_bytes: behind.len() as u64 * 100,
        behind: behind.to_vec(),
        depth,
    };
    let sending = |ends| Happening::Sending {
        port: 1,
        length: 100,
        ends,
    };
    let bytes = Steering {
        port: 1,
        rank: 5,
        ..Steering::default()
    }
    .frame();
    let arrived = Happening::Arrived {
        port: 0,
        from_controller: false,
        length: 100,
        bytes,
    };
    assert_eq!(
        first[..4],
        [
            (0, arrived),
            (0, enqueued(5, 0, &[])),
            (0, dequeued(0, &[], 0)),
            (0, sending(100_000)),
        ]
    );
    let of = |trace, rank, since| ahead(trace, Some(rank), 0, since);
    assert_eq!(
        second[1..4],
        [
            (10, enqueued(5, 0, &[])),
            (200_000, dequeued(199_990, &[of(3, 3, 20)], 1)),
            (200_000, sending(300_000)),
        ]
    );
    assert_eq!(
        third[1..4],
        [
            (20, enqueued(3, 1, &[])),
            (100_000, dequeued(99_980, &[], 2)),
            (100_000, sending(200_000)),
        ]
    );
    assert_eq!(
        fourth[1..4],
        [
            (30, enqueued(5, 2, &[of(3, 3, 20), of(2, 5, 10)])),
            (300_000, dequeued(299_970, &[of(3, 3, 20), of(2, 5, 10)], 0)),
            (300_000, sending(400_000)),
        ]
    );
    for (happened, ends) in [
        (first, 100_000),
        (third, 200_000),
        (second, 300_000),
        (fourth, 400_000),
    ] {
        let (
            time,
            Happening::Departed {
                port: 1,
                to_controller: false,
                length: 100,
                ..
            },
        ) = &happened[4]
        else {
            panic!("{happened:?}");
        };
        assert_eq!((*time, happened.len()), (ends, 5));
    }
}

#[test]
fn packets_that_are_not_traced_are_named_without_a_number() {
    let port = PortConfig {
        queues: 4,
        ..line()
    };
    let mut switch = switch(STEERED, [(0, unlimited()), (1, port)]);
    let watch = watched(&mut switch, "every 3");
    for (now, priority) in [(0, 0), (1, 2), (2, 1)] {
        receive(
            &mut switch,
            now,
            Steering {
                port: 1,
                priority,
                ..Steering::default()
            },
        );
    }
    settle(&mut switch);
    let records = records(&watch);
    let [record] = &records[..] else {
        panic!("{records:?}");
    };
    let happened = happened(record);
    let behind = vec![ahead(0, None, 2, 1)];
    assert_eq!(
        happened[1].1,
        Happening::Enqueued {
            port: 1,
            rank: None,
            queue: 1,
            depth: 0,
            ahead: 1,
            ahead_bytes: 100,
            behind: behind.clone()
        }
    );
    assert_eq!(
        happened[2],
        (
            200_000,
            Happening::Dequeued {
                port: 1,
                waited_ns: 199_998,
                served: 1,
                served_bytes: 100,
                behind,
                depth: 0
            }
        )
    );
}

#[test]
fn of_many_packets_ahead_the_first_are_named() {
    let mut switch = switch(STEERED_RANKED, [(0, unlimited()), (1, line())]);
    let watch = watched(&mut switch, "every 101");
    // One is on the line; a hundred wait, the last come first in rank.
    for rank in (0..101).rev() {
        receive(
            &mut switch,
            1000,
            Steering {
                port: 1,
                rank: if rank == 0 { 70 } else { rank },
                ..Steering::default()
            },
        );
    }
    settle(&mut switch);
    let happened = happened(&records(&watch)[0]);
    let Happening::Enqueued {
        depth: 99,
        ahead: 70,
        ahead_bytes: 7000,
        behind,
        ..
    } = &happened[1].1
    else {
        panic!("{happened:?}");
    };
    assert!(behind.iter().map(|it| it.rank).eq((1..=16).map(Some)));
    let Happening::Dequeued {
        served: 70,
        served_bytes: 7000,
        behind,
        ..
    } = &happened[2].1
    else {
        panic!("{happened:?}");
    };
    assert!(behind.iter().map(|it| it.rank).eq((55..=70).map(Some)));
}

/// One frame each; how its traces end.
#[test]
fn each_way_to_end_has_its_trace() {
    let base = Steering {
        times: 1,
        port: 1,
        group: 5,
        session: 7,
        ..Steering::default()
    };
    let copy = |kind, trace, group| format!("{} {trace} {group}", CopyKind::name(kind));
    let cases: Vec<(&str, Steering, Vec<&str>, Vec<String>)> = vec![
        ("nothing", base, vec!["sent 1"], vec![]),
        (
            "to a controller",
            Steering {
                port: CPU_PORT,
                ..base
            },
            vec!["to_cpu 510"],
            vec![],
        ),
        (
            "dropped at ingress",
            Steering {
                ingress: DROP,
                ..base
            },
            vec!["ingress 0"],
            vec![],
        ),
        (
            "dropped at egress",
            Steering {
                egress: DROP,
                times: 2,
                ..base
            },
            vec!["egress 1"],
            vec![],
        ),
        (
            "nowhere",
            Steering {
                port: NOWHERE,
                ..base
            },
            vec!["unknown_port 0"],
            vec![],
        ),
        (
            "no queue",
            Steering {
                priority: 3,
                ..base
            },
            vec!["priority 1"],
            vec![],
        ),
        (
            "no such group",
            Steering {
                ingress: MULTICAST,
                group: 6,
                ..base
            },
            vec!["multicast 0"],
            vec![],
        ),
        (
            "multicast",
            Steering {
                ingress: MULTICAST,
                ..base
            },
            vec!["sent 1", "sent 1", "unknown_port 0"],
            vec![copy(CopyKind::Replica, 2, 5), copy(CopyKind::Replica, 3, 5)],
        ),
        (
            "a clone of what is dropped",
            Steering {
                ingress: CLONE | DROP,
                ..base
            },
            vec!["ingress 0", "sent 2"],
            vec![copy(CopyKind::CloneIngress, 2, 7)],
        ),
        (
            "a clone at egress",
            Steering {
                egress: CLONE,
                times: 2,
                ..base
            },
            vec!["sent 1", "sent 2"],
            vec![copy(CopyKind::CloneEgress, 2, 7)],
        ),
        (
            "no such session",
            Steering {
                ingress: CLONE,
                session: 8,
                ..base
            },
            vec!["sent 1", "clone_session 0"],
            vec![copy(CopyKind::CloneIngress, 2, 8)],
        ),
        (
            "twice through ingress",
            Steering {
                ingress: AGAIN,
                ..base
            },
            vec!["sent 1"],
            vec![copy(CopyKind::Resubmit, 1, 0)],
        ),
        (
            "twice through all",
            Steering {
                egress: AGAIN,
                times: 1,
                ..base
            },
            vec!["sent 1"],
            vec![],
        ),
        (
            "again and again",
            Steering {
                ingress: AGAIN,
                times: 255,
                ..base
            },
            vec!["passes 0"],
            vec![copy(CopyKind::Resubmit, 1, 0); 64],
        ),
    ];
    for (name, steering, ends, copies) in cases {
        let mut switch = three_ports(STEERED);
        switch
            .replication_mut()
            .set_group(5, Some(replicas(&[(1, 0), (NOWHERE, 0), (1, 1)])));
        let session = CloneSession {
            replicas: replicas(&[(2, 0)]),
            ..CloneSession::default()
        };
        switch.replication_mut().set_session(7, Some(session));
        let watch = watched(&mut switch, "");
        receive(&mut switch, 1, steering);
        settle(&mut switch);
        let records = records(&watch);
        let end = |record: &Record| match record.happened().next_back() {
            Some((
                _,
                Happening::Departed {
                    port,
                    to_controller: false,
                    ..
                },
            )) => format!("sent {port}"),
            Some((
                _,
                Happening::Departed {
                    port,
                    to_controller: true,
                    ..
                },
            )) => format!("to_cpu {port}"),
            Some((_, Happening::Dropped { reason, port })) => {
                format!("{reason} {}", port.expect("a port counts it"))
            }
            other => panic!("{name}: {other:?}"),
        };
        assert_eq!(records.iter().map(end).collect::<Vec<_>>(), ends, "{name}");
        let made = records[0].happened().filter_map(|(_, it)| match it {
            Happening::Copied { kind, trace, group } => Some(copy(*kind, *trace, *group)),
            _ => None,
        });
        assert_eq!(made.collect::<Vec<_>>(), copies, "{name}");
        for record in &records[1..] {
            assert_eq!(record.of, 1, "{name}");
        }
    }
}

#[test]
fn what_is_refused_pushed_out_or_reloaded_has_its_trace() {
    let slow = PortConfig {
        rate_bps: Some(0),
        buffer_packets: 2,
        ..unlimited()
    };
    let mut switch = switch(STEERED_RANKED, [(0, unlimited()), (1, slow)]);
    let watch = watched(&mut switch, "dropped");
    // The first is on the line for ever, the next two wait; then one that is refused, and one that is not.
    for rank in [1, 1, 8, 9, 2] {
        receive(
            &mut switch,
            rank.into(),
            Steering {
                port: 1,
                rank,
                ..Steering::default()
            },
        );
    }
    let counted = |switch: &SwitchNode| {
        let queue = switch.queues(1)[0];
        let waiting = [queue.waiting_bytes, queue.waiting_bytes_max];
        (queue.dropped_packets, queue.dropped_bytes, waiting)
    };
    assert_eq!(counted(&switch), (2, 200, [200, 200]));
    switch.drop_waiting();
    assert_eq!(counted(&switch), (2, 200, [0, 200]));
    let ends: Vec<(u64, usize, &str)> = records(&watch)
        .iter()
        .map(|record| {
            let Some((
                _,
                Happening::Dropped {
                    reason,
                    port: Some(1),
                },
            )) = record.happened().next_back()
            else {
                panic!("{record:?}");
            };
            (record.number, record.happened().count(), *reason)
        })
        .collect();
    // One that is refused was never queued.
    assert_eq!(
        ends,
        [
            (2, 3, "reloaded"),
            (3, 3, "pushed_out"),
            (4, 2, "buffer"),
            (5, 3, "reloaded")
        ]
    );
}

#[test]
fn arrivals_at_no_port_and_without_a_program_are_traced() {
    let mut switch = three_ports(STEERED);
    let watch = watched(&mut switch, "");
    let mut out = Output::new();
    switch.receive_frame(1, 77, &Steering::default().frame(), &mut out);
    drop(switch.take_pipeline());
    switch.receive_frame(2, 0, &Steering::default().frame(), &mut out);
    let ends: Vec<_> = records(&watch)
        .iter()
        .map(|record| happened(record)[1].clone())
        .collect();
    let dropped = |reason, port| Happening::Dropped { reason, port };
    assert_eq!(
        ends,
        [
            (1, dropped("unknown_port", None)),
            (2, dropped("no_pipeline", Some(0)))
        ]
    );
}

#[test]
fn what_a_controller_sends_says_so() {
    let mut switch = three_ports(STEERED);
    let watch = watched(&mut switch, "ingress-port 510");
    assert!(
        switch.packet_out(
            Steering {
                port: 1,
                ..Steering::default()
            }
            .frame()
        )
    );
    settle(&mut switch);
    let records = records(&watch);
    let first = happened(&records[0])[0].clone();
    assert!(
        matches!(
            first.1,
            Happening::Arrived {
                port: CPU_PORT,
                from_controller: true,
                ..
            }
        ),
        "{first:?}"
    );
}

#[test]
fn a_full_queue_of_traces_leaves_out_and_says_so() {
    let mut switch = three_ports(STEERED);
    let watch = watched(&mut switch, "");
    let other = watched(&mut switch, "every 1000");
    let frame = Steering {
        port: 1,
        ..Steering::default()
    };
    for now in 0..TRACES as Time + 5 {
        receive(&mut switch, now, frame);
    }
    assert_eq!((watch.left_out(), other.left_out()), (5, 0));
    let taken = watch.take(Duration::ZERO);
    assert_eq!(taken.len(), TRACES);
    assert!(taken.iter().all(|traced| traced.left_out == 0));
    receive(&mut switch, 1_000_000, frame);
    let next = watch.take(Duration::ZERO);
    assert_eq!(
        next.iter()
            .map(|traced| traced.left_out)
            .collect::<Vec<_>>(),
        [5]
    );
    assert_eq!(watch.message(&next[0], 0).traces_left_out, 5);
    assert_eq!(other.take(Duration::ZERO).len(), TRACES / 1000);
    assert_eq!(switch.statistics().transmitted, TRACES as u64 + 6);
}

#[test]
fn who_comes_in_the_place_of_another_gets_nothing_of_its_packets() {
    let mut switch = switch(STEERED, [(0, unlimited()), (1, line())]);
    let first = watched(&mut switch, "");
    receive(
        &mut switch,
        0,
        Steering {
            port: 1,
            ..Steering::default()
        },
    );
    switch.unwatch(&first);
    let second = watched(&mut switch, "");
    receive(
        &mut switch,
        1,
        Steering {
            port: 1,
            ..Steering::default()
        },
    );
    settle(&mut switch);
    assert!(first.take(Duration::ZERO).is_empty());
    let numbers: Vec<u64> = records(&second)
        .iter()
        .map(|record| record.number)
        .collect();
    assert_eq!(numbers, [2]);
}

#[test]
fn readers_are_bounded_and_go() {
    let node = Mutex::new(three_ports(STEERED));
    let readers: Vec<_> = (0..WATCHERS)
        .map(|_| tracing::watch(&node, filter(""), 0).expect("there is room"))
        .collect();
    assert!(tracing::watch(&node, filter(""), 0).is_none());
    let traced = |node: &Mutex<SwitchNode>| {
        let node = node.lock().expect("nobody panicked");
        (
            node.is_watched(),
            node.pipeline().expect("a program").dictionary().is_some(),
        )
    };
    assert_eq!(traced(&node), (true, true));
    for reader in &readers {
        tracing::unwatch(&node, reader);
    }
    assert_eq!(traced(&node), (false, false));
    assert!(tracing::watch(&node, filter(""), 0).is_some());
}

#[test]
fn a_program_is_installed_ready_to_be_traced_if_somebody_watches() {
    let node = Mutex::new(three_ports(STEERED));
    let install = || {
        tracing::install(
            &node,
            common::pipeline(STEERED_RANKED, phb_pipeline::Executor::default()),
        );
        let node = node.lock().expect("nobody panicked");
        node.pipeline().expect("a program").dictionary().is_some()
    };
    assert!(!install());
    let reader = tracing::watch(&node, filter(""), 0).expect("there is room");
    assert!(install());
    tracing::unwatch(&node, &reader);
    assert!(!install());
}

#[test]
fn the_listener_is_told_of_the_first() {
    let mut switch = three_ports(STEERED);
    let watch = watched(&mut switch, "");
    let told = Arc::new(Mutex::new(0));
    let counter = Arc::clone(&told);
    watch.set_listener(Some(Arc::new(move || {
        *counter.lock().expect("nobody panicked") += 1
    })));
    let mut arrive = || {
        receive(
            &mut switch,
            0,
            Steering {
                port: 1,
                ..Steering::default()
            },
        );
        *told.lock().expect("nobody panicked")
    };
    assert_eq!((arrive(), arrive()), (1, 1));
    assert_eq!(watch.take(Duration::ZERO).len(), 2);
    assert_eq!(arrive(), 2);
}
