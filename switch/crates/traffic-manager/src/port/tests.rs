use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::config::QueueConfig;

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

fn shaped(rate_bps: u64, burst_bytes: u32, transmit_ring: usize) -> PortConfig {
    PortConfig {
        shaper: Some(ShaperConfig {
            rate_bps,
            burst_bytes,
            overhead_bytes: 0,
        }),
        ..config(8_000_000, transmit_ring)
    }
}

/// Frames of 100 bytes at once, numbered from 1; their times of departure.
fn departures(config: PortConfig, frames: u32) -> Vec<u64> {
    let mut port = PortQueue::new(config);
    let mut left = Vec::new();
    for name in 1..=frames {
        port.enqueue(0, 5, (name, 100)).expect("there is room");
    }
    drive(&mut port, 0, &mut left);
    drive(&mut port, 100_000_000, &mut left);
    assert!(left.iter().map(|(_, name)| *name).eq(1..=frames));
    left.into_iter().map(|(at, _)| at).collect()
}

#[test]
fn a_burst_passes_at_the_rate_of_the_line_and_the_rest_at_that_of_the_shaper() {
    // 1 µs per byte on the line, 4 in the shaper. The fourth has had 300 µs when the third has left.
    let times = [
        100_000, 200_000, 300_000, 500_000, 900_000, 1_300_000, 1_700_000,
    ];
    for ring in [0, 1, 9] {
        assert_eq!(departures(shaped(2_000_000, 300, ring), 7), times);
    }
}

#[test]
fn a_shaper_without_a_burst_is_a_line_of_its_rate() {
    for ring in [0, 3] {
        let slow = departures(config(2_000_000, ring), 5);
        assert_eq!(slow, [400_000, 800_000, 1_200_000, 1_600_000, 2_000_000]);
        assert_eq!(departures(shaped(2_000_000, 0, ring), 5), slow);
    }
    // And the line stays one, where it is slower.
    let line = departures(config(8_000_000, 0), 5);
    for burst in [0, 300] {
        assert_eq!(departures(shaped(9_000_000, burst, 0), 5), line);
    }
}

#[test]
fn a_shaper_counts_its_own_bytes() {
    let counting = |burst_bytes, overhead_bytes| {
        let mut config = shaped(2_000_000, burst_bytes, 0);
        config.overhead_bytes = 10;
        config.shaper = config.shaper.map(|shaper| ShaperConfig {
            overhead_bytes,
            ..shaper
        });
        departures(config, 3)
    };
    assert_eq!(counting(0, -20), [320_000, 640_000, 960_000]);
    assert_eq!(counting(80, -20), [110_000, 430_000, 750_000]);
    assert_eq!(counting(80, 20), [270_000, 750_000, 1_230_000]);
}

#[test]
fn what_waits_for_tokens_waits_outside_of_the_order_alone() {
    for ring in [0, 5] {
        let mut port = PortQueue::new(shaped(2_000_000, 100, ring));
        let mut left = Vec::new();
        for (now, rank, name) in [(0, 5, 1), (0, 5, 2), (0, 5, 3), (250_000, 1, 4)] {
            drive(&mut port, now, &mut left);
            port.enqueue(now, rank, (name, 100)).expect("there is room");
            drive(&mut port, now, &mut left);
        }
        assert_eq!((port.held(), port.depth(), port.ring_depth()), (3, 2, 0));
        assert!(!port.ready(250_000) && !port.is_free(None));
        assert_eq!(port.next_event(), Some(400_000));
        drive(&mut port, 10_000_000, &mut left);
        let order = [(100_000, 1), (500_000, 2), (900_000, 4), (1_300_000, 3)];
        assert_eq!(left, order);
        assert_eq!(port.held(), 0);
    }
}

#[test]
fn whoever_comes_late_finds_frames_where_they_were_due() {
    let mut port = PortQueue::new(shaped(2_000_000, 100, 0));
    for name in [1, 2] {
        port.enqueue(0, 5, (name, 100)).expect("there is room");
    }
    let queued = port.pop(0).expect("one waits");
    port.transmit(0, queued.item.1, queued.item.0);
    assert_eq!(port.depart(150_000), Some(1));
    let queued = port.pop(150_000).expect("one waits");
    port.transmit(150_000, queued.item.1, queued.item.0);
    assert_eq!(port.depart(450_000), None);
    assert_eq!(port.next_departure(), Some(500_000));
    assert_eq!(port.depart(1_000_000), Some(2));
}

#[test]
fn a_new_shaper_leaves_what_has_its_turn_alone() {
    let mut port = PortQueue::new(shaped(2_000_000, 100, 0));
    let mut left = Vec::new();
    for name in 1..=4 {
        port.enqueue(0, 5, (name, 100)).expect("there is room");
    }
    drive(&mut port, 0, &mut left);
    drive(&mut port, 200_000, &mut left);
    port.set_config(shaped(1_000_000, 100, 0));
    drive(&mut port, 900_000, &mut left);
    assert_eq!(left, [(100_000, 1), (500_000, 2)]);
    assert_eq!(port.next_event(), Some(1_200_000));
    port.set_config(config(8_000_000, 0));
    drive(&mut port, 10_000_000, &mut left);
    assert_eq!(left[2..], [(1_300_000, 3), (1_400_000, 4)]);
    // A shaper that is new has its burst.
    port.set_config(shaped(1_000_000, 100, 0));
    port.enqueue(10_000_000, 5, (5, 100))
        .expect("there is room");
    drive(&mut port, 10_000_000, &mut left);
    drive(&mut port, 20_000_000, &mut left);
    assert_eq!(left[4..], [(10_100_000, 5)]);
}

#[test]
fn a_closed_shaper_holds_everything_back() {
    for burst in [0, 100] {
        let mut port = PortQueue::new(shaped(0, burst, 0));
        let mut left = Vec::new();
        for name in 1..=3 {
            port.enqueue(0, 5, (name, 100)).expect("there is room");
        }
        drive(&mut port, 0, &mut left);
        drive(&mut port, u64::MAX, &mut left);
        assert_eq!(left.len(), usize::from(burst > 0));
        assert_eq!(port.next_event(), None);
    }
}

#[test]
fn a_full_buffer_gives_the_packet_back() {
    let mut port: PortQueue<&str, ()> = PortQueue::new(PortConfig {
        buffer_packets: 1,
        ..config(1, 0)
    });
    assert_eq!(port.enqueue(0, 0, "first"), Ok(()));
    assert_eq!(
        port.enqueue(0, 0, "second"),
        Err((Refusal::Buffer, "second"))
    );
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
fn single_queues_have_depths_and_rates_of_their_own() {
    let own = |depth, rate_pps| QueueConfig { depth, rate_pps };
    let config = PortConfig {
        queues: 3,
        queue_depth: Some(1),
        queue_rate_pps: Some(1000),
        own: BTreeMap::from([(0, own(Some(2), None)), (2, own(None, Some(0)))]),
        ..PortConfig::default()
    };
    let mut port: PortQueue<&str, ()> = PortQueue::new(config.clone());
    assert!(port.is_free(Some(2)), "without a rate");
    assert!(!port.is_free(Some(0)) && !port.is_free(Some(3)));
    let fill = |port: &mut PortQueue<&str, ()>| {
        [0, 1, 2].map(|priority| {
            let taken = (0..4).filter(|_| port.enqueue_strict(0, priority, "it").is_ok());
            taken.count()
        })
    };
    assert_eq!(fill(&mut port), [2, 1, 1]);
    // The first of each is due at once, of queue 0 the second after its rate's time.
    let queues: Vec<u8> = std::iter::from_fn(|| port.pop(0).map(|it| it.queue)).collect();
    assert_eq!(queues, [2, 1, 0]);
    assert_eq!(port.pop(1_000_000).map(|it| it.queue), Some(0));
    port.set_config(PortConfig {
        own: BTreeMap::from([(1, own(Some(3), None))]),
        ..config
    });
    assert_eq!(fill(&mut port), [1, 3, 1]);
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

proptest! {
    /// In any time the shaped port passes no more than its rate, its burst and the frame that may
    /// be longer; and no frame leaves later than on a line of the shaper's rate.
    #[test]
    fn a_shaped_port_keeps_its_rate(
        rate_bps in 10_000u64..8_000_000, burst in 1u32..5000, ring in 0usize..4,
        packets in prop::collection::vec((0u64..5_000_000, 1usize..1500), 1..100),
    ) {
        let mut port = PortQueue::new(PortConfig { rate_bps: None, ..shaped(rate_bps, burst, ring) });
        let (mut left, mut now) = (Vec::new(), 0);
        for (name, (pause, length)) in packets.iter().enumerate() {
            now += pause;
            drive(&mut port, now, &mut left);
            let name = u32::try_from(name).expect("few");
            port.enqueue(now, 0, (name, *length)).expect("there is room");
            drive(&mut port, now, &mut left);
        }
        drive(&mut port, u64::MAX - 1, &mut left);
        prop_assert_eq!(left.len(), packets.len());
        let length = |name: u32| packets[name as usize].1 as u128 * 8_000_000_000;
        let most = u128::from(burst) * 8_000_000_000;
        let longest = left.iter().map(|(_, name)| length(*name)).max().unwrap_or(0).max(most);
        for first in 0..left.len() {
            let mut passed = 0;
            for (at, name) in &left[first..] {
                passed += length(*name);
                let came = u128::from(at - left[first].0 + 1) * u128::from(rate_bps);
                prop_assert!(passed <= longest + came);
            }
        }
        let mut line = PortQueue::new(config(rate_bps, ring));
        let (mut slower, mut now) = (Vec::new(), 0);
        for (name, (pause, length)) in packets.iter().enumerate() {
            now += pause;
            drive(&mut line, now, &mut slower);
            let name = u32::try_from(name).expect("few");
            line.enqueue(now, 0, (name, *length)).expect("there is room");
            drive(&mut line, now, &mut slower);
        }
        drive(&mut line, u64::MAX - 1, &mut slower);
        for (shaped, paced) in left.iter().zip(&slower) {
            prop_assert!(shaped.0 <= paced.0 && shaped.1 == paced.1);
        }
    }
}

proptest! {
    /// The model: a list of all that waits, sorted by rank and arrival, whose last packet is dropped when there are too
    /// many. Packets push out by permission, or at the port's own limit.
    #[test]
    fn what_is_kept_is_the_most_urgent_of_what_came(
        limit in 1usize..12,
        of_port in any::<bool>(),
        steps in prop::collection::vec(prop_oneof![3 => (0u64..6).prop_map(Some), 1 => Just(None)], 0..200),
    ) {
        let buffer_packets = if of_port { limit } else { 1000 };
        let mut port: PortQueue<usize, usize> = PortQueue::new(PortConfig {
            buffer_packets,
            ..config(8_000, 0)
        });
        let mut model: Vec<(u64, usize)> = Vec::new();
        for (name, step) in steps.into_iter().enumerate() {
            let Some(rank) = step else {
                let expected = if model.is_empty() { None } else { Some(model.remove(0).1) };
                prop_assert_eq!(port.pop(0).map(|queued| queued.item), expected);
                continue;
            };
            let full = model.len() >= limit;
            let place = model.partition_point(|(other, _)| *other <= rank);
            model.insert(place, (rank, name));
            let given = if full && !of_port {
                port.enqueue_in_place(0, rank, name)
            } else {
                port.enqueue(0, rank, name)
            };
            let expected = match full.then(|| model.pop()).flatten() {
                None => Ok(()),
                Some((_, last)) if last == name => Err((Refusal::Buffer, last)),
                Some((_, last)) => Err((Refusal::PushedOut, last)),
            };
            prop_assert_eq!(given, expected);
            prop_assert_eq!(port.depth(), model.len());
        }
    }
}

/// A port of idle line and no rate, whose outlet is as said, with three packets.
fn held(outlet: Outlet, transmit_ring: usize) -> PortQueue<(u32, usize), u32> {
    let mut port = PortQueue::new(PortConfig {
        transmit_ring,
        ..PortConfig::default()
    });
    port.set_outlet(outlet);
    for name in 1..=3 {
        port.enqueue_strict(0, 0, (name, 100)).expect("room");
    }
    port
}

#[test]
fn an_outlet_that_closes_lets_one_frame_out_each_time_it_is_opened() {
    let (mut port, mut left) = (held(Outlet::Open, 0), Vec::new());
    for (now, expected) in [(0, vec![1]), (5, vec![1, 2]), (9, vec![1, 2, 3])] {
        drive(&mut port, now, &mut left);
        drive(&mut port, now + 1, &mut left);
        let names: Vec<u32> = left.iter().map(|(_, name)| *name).collect();
        assert_eq!(names, expected);
        assert!(!port.is_free(Some(0)) && !port.ready(now + 1) && port.next_event().is_none());
        port.set_outlet(Outlet::Open);
    }
    assert!(port.is_free(Some(0)) && !port.passes_at_once());
    port.set_outlet(Outlet::Always);
    assert!(port.passes_at_once());
}

#[test]
fn what_waits_for_an_outlet_sees_the_queue_and_its_time() {
    let mut port = held(Outlet::Closed, 0);
    assert_eq!((port.pop(7), port.next_event()), (None, None));
    port.set_outlet(Outlet::Open);
    let queued = port.pop(1_000).expect("the first");
    assert_eq!((queued.enqueued_at, queued.depth_at_enqueue), (0, 0));
    assert_eq!((queued.depth_at_dequeue, queued.item), (2, (1, 100)));
}

#[test]
fn a_closed_outlet_holds_the_frame_on_the_line_and_those_in_the_ring() {
    let mut port = PortQueue::new(config(8_000_000, 1)); // 1 µs per byte
    port.set_outlet(Outlet::Closed);
    let mut left = Vec::new();
    for name in 1..=3 {
        port.enqueue(0, 0, (name, 100)).expect("room");
    }
    drive(&mut port, 0, &mut left);
    drive(&mut port, 500_000, &mut left);
    assert_eq!((left.len(), port.held(), port.next_event()), (0, 3, None));
    port.set_outlet(Outlet::Open);
    assert_eq!(port.depart(500_000), Some(1));
    // The next begins when the first has left, not when its own line would have been done.
    port.set_outlet(Outlet::Always);
    drive(&mut port, 1_000_000, &mut left);
    assert_eq!(left, [(600_000, 2), (700_000, 3)]);
}

#[test]
fn queues_at_an_outlet_that_closes_may_have_a_limit_of_their_own() {
    let mut port: PortQueue<u32, u32> = PortQueue::new(PortConfig {
        queue_depth: Some(4),
        held_queue_depth: Some(2),
        ..PortConfig::default()
    });
    for (outlet, most) in [
        (Outlet::Closed, 2),
        (Outlet::Open, 2),
        (Outlet::Always, 4),
        (Outlet::Closed, 4),
    ] {
        port.set_outlet(outlet);
        while port.enqueue_strict(0, 0, 1).is_ok() {}
        assert_eq!(port.depth(), most, "{outlet:?}");
    }
}

#[test]
fn an_outlet_stays_as_it_is_when_the_configuration_changes() {
    let mut port = held(Outlet::Closed, 0);
    port.set_config(PortConfig::default());
    assert!(!port.ready(0) && !port.is_free(None));
}
