use proptest::prelude::*;

use super::*;

fn config(rate_bps: u64, transmit_ring: usize) -> PortConfig {
    PortConfig {
        rate_bps: Some(rate_bps),
        transmit_ring,
        buffer_packets: 1000,
        ..PortConfig::default()
    }
}

/// Lets the port do everything due up to `now`; a packet is its own frame, `(name, length)`. Gives (time, name).
fn drive(port: &mut PortQueue<(u32, usize), u32>, now: u64, left: &mut Vec<(u64, u32)>) {
    loop {
        let event = port.next_event().filter(|at| *at <= now);
        let at = event.unwrap_or(now);
        left.extend(port.depart(at).map(|name| (at, name)));
        while let Some(queued) = port.pop(at) {
            port.transmit(at, queued.item.1, queued.item.0);
        }
        if event.is_none() && port.next_event().is_none_or(|next| next > now) {
            return;
        }
    }
}

#[test]
fn without_a_ring_the_choice_is_made_when_the_line_gets_free() {
    let mut port = PortQueue::new(config(8_000_000, 0)); // 1 µs per byte
    let mut left = Vec::new();
    for (now, rank, name) in [(0, 5, 1), (0, 5, 2), (50_000, 1, 3)] {
        port.enqueue(now, rank, (name, 100)).expect("there is room");
        drive(&mut port, now, &mut left);
    }
    drive(&mut port, 1_000_000, &mut left);
    assert_eq!(left, [(100_000, 1), (200_000, 3), (300_000, 2)]);
}

#[test]
fn what_is_in_the_ring_is_not_overtaken() {
    let mut port = PortQueue::new(config(8_000_000, 1));
    let mut left = Vec::new();
    for (now, rank, name) in [(0, 5, 1), (0, 5, 2), (50_000, 1, 3)] {
        port.enqueue(now, rank, (name, 100)).expect("there is room");
        drive(&mut port, now, &mut left);
    }
    drive(&mut port, 1_000_000, &mut left);
    assert_eq!(left, [(100_000, 1), (200_000, 2), (300_000, 3)]);
}

#[test]
fn a_full_buffer_gives_the_packet_back() {
    let mut port: PortQueue<&str, ()> = PortQueue::new(PortConfig {
        buffer_packets: 1,
        ..config(1, 0)
    });
    assert_eq!(port.enqueue(0, 0, "first"), Ok(()));
    assert_eq!(port.enqueue(0, 0, "second"), Err("second"));
    assert_eq!(port.held(), 1);
}

#[test]
fn without_a_rank_queues_have_limits_of_their_own() {
    let mut port: PortQueue<&str, ()> = PortQueue::new(PortConfig {
        queues: 2,
        queue_depth: Some(2),
        buffer_packets: 3,
        ..config(1, 0)
    });
    let cases = [
        (2, "no such queue", Some(Refusal::Priority)),
        (1, "first", None),
        (1, "second", None),
        (1, "third", Some(Refusal::Queue)),
        (0, "fourth", None),
        (0, "fifth", Some(Refusal::Buffer)),
    ];
    for (priority, name, refusal) in cases {
        let expected = refusal.map_or(Ok(()), |refusal| Err((refusal, name)));
        assert_eq!(port.enqueue_strict(7, priority, name), expected);
    }
    assert_eq!(
        (port.queue_depth(0), port.queue_depth(1), port.depth()),
        (1, 2, 3)
    );
    let popped = |queue, depth_at_enqueue, depth_at_dequeue, item| Queued {
        queue,
        enqueued_at: 7,
        depth_at_enqueue,
        depth_at_dequeue,
        item,
    };
    assert_eq!(port.pop(8), Some(popped(1, 0, 1, "first")));
    assert_eq!(port.pop(8), Some(popped(1, 1, 0, "second")));
    assert_eq!(port.pop(8), Some(popped(0, 0, 0, "fourth")));
    assert_eq!(port.held(), 0);
}

#[test]
fn a_port_waits_for_its_queues_and_for_its_line() {
    // A packet each 100 µs, and a line on which a packet of 300 bytes takes 300 µs.
    let mut port = PortQueue::new(PortConfig {
        queue_rate_pps: Some(10_000),
        ..config(8_000_000, 0)
    });
    let mut left = Vec::new();
    for (name, length) in (1..).zip([10, 10, 300, 10]) {
        port.enqueue_strict(0, 0, (name, length))
            .expect("there is room");
    }
    assert_eq!(port.next_event(), Some(0));
    drive(&mut port, 1_000_000, &mut left);
    assert_eq!(
        left,
        [(10_000, 1), (110_000, 2), (500_000, 3), (510_000, 4)]
    );
    assert_eq!(port.next_event(), None);
}

#[test]
fn what_another_program_left_behind_is_emptied_first() {
    let mut port: PortQueue<&str, ()> = PortQueue::new(PortConfig::default());
    port.enqueue_strict(0, 0, "priority")
        .expect("there is room");
    port.enqueue(0, u64::MAX, "rank").expect("there is room");
    let order: Vec<&str> = std::iter::from_fn(|| port.pop(0))
        .map(|queued| queued.item)
        .collect();
    assert_eq!(order, ["rank", "priority"]);
}

#[test]
fn overhead_counts_on_the_line_and_never_below_zero() {
    let mut port: PortQueue<(), ()> = PortQueue::new(PortConfig {
        overhead_bytes: -7,
        ..config(256_000, 0)
    });
    port.transmit(0, 1514, ());
    assert_eq!(port.next_departure(), Some(1507 * 31_250));
    assert!(port.depart(1507 * 31_250).is_some());
    port.transmit(1_000_000_000, 3, ());
    assert_eq!(port.next_departure(), Some(1_000_000_000));
}

#[test]
fn a_closed_line_holds_everything() {
    let mut port: PortQueue<(), ()> = PortQueue::new(config(0, 0));
    port.transmit(0, 100, ());
    assert_eq!(port.next_departure(), None);
    assert_eq!(port.depart(u64::MAX), None);
    assert_eq!(port.held(), 1);
}

/// Ends and lengths in bits of the frames that a busy line sends in two seconds and a bit.
fn busy(rate: u64, mut length: impl FnMut() -> usize) -> Vec<(u64, u64)> {
    let mut port = PortQueue::new(config(rate, 1));
    let mut ends = Vec::new();
    let mut now = 0;
    while now < 2_300_000_000 {
        while port.depth() == 0 || port.ready(now) {
            port.enqueue(now, 0, length()).expect("there is room");
            if let Some(queued) = port.pop(now) {
                port.transmit(now, queued.item, 8 * queued.item as u64);
            }
        }
        now = port.next_departure().expect("the line is busy");
        ends.extend(port.depart(now).map(|bits| (now, bits)));
    }
    ends
}

#[test]
fn every_second_of_a_busy_line_carries_its_rate() {
    const SECOND: u64 = 1_000_000_000;
    for rate in [64_000, 224_000, 2_048_000, 44_736_000, 155_520_000, SECOND] {
        let mut seed = rate;
        let ends = busy(rate, || {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            [60, 1514, 9018, 14 + (seed >> 53) as usize][(seed >> 62) as usize]
        });
        let longest = ends.iter().map(|(_, bits)| *bits).max().expect("frames");
        // Bits on the line up to a time: those of a frame pass evenly between the end before it and its own.
        let passed = |at: u64| {
            let (mut from, mut bits) = (0, 0.0);
            for (end, length) in &ends {
                if *end > at {
                    return bits + *length as f64 * (at - from) as f64 / (end - from) as f64;
                }
                (from, bits) = (*end, bits + *length as f64);
            }
            bits
        };
        for start in (0..20).map(|part| part * 65_000_003) {
            let carried = passed(start + SECOND) - passed(start);
            let error = (carried / rate as f64 - 1.0).abs();
            assert!(error < 1e-8, "{rate} bit/s from {start} ns: error {error}");

            let window = start + 1..=start + SECOND;
            let whole: u64 = ends
                .iter()
                .filter(|(end, _)| window.contains(end))
                .map(|(_, bits)| *bits)
                .sum();
            assert!(
                whole.abs_diff(rate) <= longest,
                "{rate} bit/s from {start} ns: {whole} bits left"
            );
        }
    }
}

proptest! {
    /// The model: a sorted list, a list of what has been committed to the line, and exact fractions of a ns.
    #[test]
    fn a_port_does_what_the_simple_model_does(
        rate in prop_oneof![64_000u64..10_000_000, Just(256_000), Just(100_000_000_000)],
        ring in 0usize..5,
        arrivals in prop::collection::vec((0u64..60_000_000, 0u64..8, 1usize..1600), 1..80),
    ) {
        let mut port = PortQueue::new(config(rate, ring));
        let mut left = Vec::new();
        let mut now = 0;
        let mut schedule = Vec::new();
        for (name, (pause, rank, length)) in (0u32..).zip(arrivals) {
            now += pause;
            schedule.push((now, rank, name, length));
            drive(&mut port, now, &mut left);
            port.enqueue(now, rank, (name, length)).expect("there is room");
            drive(&mut port, now, &mut left);
        }
        drive(&mut port, u64::MAX - 1, &mut left);
        prop_assert_eq!(left, model(rate, ring, &schedule));
    }
}

/// Steps from event to event (arrivals and departures; at one time, departures first).
fn model(rate: u64, ring: usize, schedule: &[(u64, u64, u32, usize)]) -> Vec<(u64, u32)> {
    let scale = u128::from(rate);
    let mut waiting: Vec<(u64, u32, usize)> = Vec::new();
    let mut committed: VecDeque<(u32, usize)> = VecDeque::new(); // the first of them is on the line
    let mut end: u128 = 0; // of the frame on the line, or of the last one: in 1/rate ns
    let mut left = Vec::new();
    let mut next = 0;
    loop {
        let departure =
            (!committed.is_empty()).then(|| u64::try_from(end.div_ceil(scale)).expect("short run"));
        let arrival = schedule.get(next).map(|arrival| arrival.0);
        let now = match (departure, arrival) {
            (Some(departure), Some(arrival)) => departure.min(arrival),
            (Some(only), None) | (None, Some(only)) => only,
            (None, None) => return left,
        };
        if departure == Some(now) {
            let (name, _) = committed.pop_front().expect("a frame is on the line");
            left.push((now, name));
            if let Some((_, length)) = committed.front() {
                end += *length as u128 * 8_000_000_000;
            }
        } else {
            let (_, rank, name, length) = schedule[next];
            next += 1;
            let place = waiting.partition_point(|(other, _, _)| *other <= rank);
            waiting.insert(place, (rank, name, length));
        }
        while !waiting.is_empty() && committed.len() <= ring {
            let (_, name, length) = waiting.remove(0);
            if committed.is_empty() {
                if u128::from(now) > end.div_ceil(scale) {
                    end = u128::from(now) * scale;
                }
                end += length as u128 * 8_000_000_000;
            }
            committed.push_back((name, length));
        }
    }
}
