//! Behind whom a packet waited.

use super::*;

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
