//! Copies and passes: clones, multicast, resubmit, recirculate, digests, by frames that ask for them (`steered.p4`).

#[path = "../common/mod.rs"]
mod common;
mod conservation;
mod idle;
mod queues;
mod steered;
mod traces;

use std::time::Duration;

use phb_network::Port;
use phb_node::DropReason;
use phb_node::path::{BUDGET, PASSES};

use steered::*;

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
fn backups_have_the_copies_of_ports_that_are_down() {
    let mut switch = three_ports(STEERED);
    let receivers = [&[(1, 10), (2, 11)][..], &[(2, 20), (0, 21), (1, 22)]].map(replicas);
    switch
        .replication_mut()
        .set_group_with_backups(5, receivers.to_vec());
    let to_group = Steering {
        ingress: MULTICAST,
        times: 1,
        port: 1,
        group: 5,
        ..Steering::default()
    };
    let mut at = 0;
    for (down, expected) in [
        (&[][..], [(1, 10), (2, 20)]),
        (&[1], [(2, 11), (2, 20)]),
        (&[2], [(0, 21), (1, 10)]),
        (&[2, 0], [(1, 10), (1, 22)]),
        // With nothing left, the first.
        (&[0, 1, 2], [(1, 10), (2, 20)]),
        (&[7], [(1, 10), (2, 20)]),
    ] {
        for port in 0..8 {
            switch.set_port_up(port, !down.contains(&port));
        }
        at += 1_000_000;
        let mut sent: Vec<(Port, u16)> = receive(&mut switch, at, to_group)
            .iter()
            .map(seen)
            .map(|seen| (seen.port, seen.egress_rid))
            .collect();
        sent.sort_unstable();
        assert_eq!(sent, expected, "{down:?}");
    }
    switch
        .replication_mut()
        .set_group(5, Some(replicas(&[(1, 1)])));
    assert_eq!(switch.replication().preferences(5), None);
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
