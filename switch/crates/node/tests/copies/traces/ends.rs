//! How a packet came, and each way to end.

use super::*;

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
