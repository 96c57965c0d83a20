use proptest::prelude::*;

use super::*;
use crate::config::PortConfig;
use crate::port::PortQueue;

fn place(rank: u64, bucket: u32, rate_bps: u64, burst_bytes: u32, bytes: u32) -> Place {
    let shaping = Some(Shaping {
        bucket,
        rate_bps,
        burst_bytes,
        bytes,
    });
    Place { rank, shaping }
}

#[test]
fn a_shaped_class_leaves_the_line_to_the_others() {
    let mut ranked = Ranked::new();
    // 1 byte each µs: a burst of one packet, then one each 100 µs.
    for (rank, item) in [(0, 'a'), (1, 'b'), (2, 'c')] {
        let place = place(rank, 7, 8_000_000, 100, 100);
        ranked.push(0, place, item).expect("there is room");
    }
    ranked.push(0, Place::from(9), 'x').expect("there is room");
    ranked.push(0, Place::from(9), 'y').expect("there is room");
    let mut left = Vec::new();
    for now in [0, 0, 99_999, 99_999, 100_000, 100_000, 200_000] {
        left.extend(ranked.pop(now).map(|(_, item)| (now, item)));
    }
    assert_eq!(
        left,
        [
            (0, 'a'),
            (0, 'x'),
            (99_999, 'y'),
            (100_000, 'b'),
            (200_000, 'c')
        ]
    );
}

#[test]
fn a_new_rate_is_that_of_what_waits_too() {
    let mut ranked = Ranked::new();
    for (rank, rate) in [(0, 8_000), (1, 8_000), (2, 8_000_000)] {
        let place = place(rank, 7, rate, 100, 100);
        ranked.push(0, place, rank).expect("there is room");
    }
    assert_eq!(ranked.pop(0), Some((0, 0)));
    assert_eq!(ranked.next_due(), Some(100_000));
}

#[test]
fn the_last_rank_is_looked_for_among_those_held_back_too() {
    let mut ranked = Ranked::new();
    ranked.push(0, Place::from(5), 'x').expect("there is room");
    ranked
        .push(0, place(8, 1, 8_000, 100, 1000), 'a')
        .expect("there is room");
    assert_eq!(ranked.pop_last(), Some((8, 'a')));
    assert_eq!(ranked.pop_last(), Some((5, 'x')));
    assert_eq!(ranked.pop_last(), None);
}

/// A packet that comes: pause before it (ns), class (0 is not shaped), bytes, rank.
type Arrival = (u64, u32, u32, u64);

fn arrivals() -> impl Strategy<Value = Vec<Arrival>> {
    let one = (
        prop_oneof![3 => Just(0u64), 1 => 0u64..4_000_000],
        0u32..3,
        60u32..1514,
        0u64..20,
    );
    prop::collection::vec(one, 1..150)
}

/// Rate and burst of classes 1 and 2.
const RATES: [(u64, u32); 2] = [(1_000_000, 4000), (3_333_333, 100)];
/// The line, 10 Mbit/s: 1 byte takes 800 ns.
const LINE_BPS: u64 = 10_000_000;

proptest! {
    /// The model is the promise: in every interval a class sends no more than its rate brings and its burst, or its longest
    /// packet, holds; no packet waits at an idle line unless it has to; and in a class rank decides, then arrival.
    #[test]
    fn a_class_keeps_to_its_rate_and_the_line_to_its_work(arrivals in arrivals()) {
        let config = PortConfig { rate_bps: Some(LINE_BPS), ..PortConfig::default() };
        let mut port: PortQueue<usize, usize> = PortQueue::new(config);
        // (time, number) of every start on the line, in order.
        let mut started: Vec<(u64, usize)> = Vec::new();
        let mut now = 0;
        let mut came = Vec::new();
        let mut send = |port: &mut PortQueue<usize, usize>, now: u64| {
            while let Some(queued) = port.pop(now) {
                port.transmit(now, arrivals[queued.item].2 as usize, queued.item);
                started.push((now, queued.item));
            }
        };
        for (number, (pause, class, bytes, rank)) in arrivals.iter().copied().enumerate() {
            now += pause;
            while let Some(event) = port.next_event().filter(|event| *event <= now) {
                port.depart(event);
                send(&mut port, event);
            }
            came.push(now);
            let shaped = class.checked_sub(1).map(|class| RATES[class as usize]);
            let place = shaped.map_or(Place::from(rank), |(rate, burst)| place(rank, class, rate, burst, bytes));
            port.enqueue(now, place, number).expect("there is room");
            send(&mut port, now);
        }
        while let Some(event) = port.next_event() {
            port.depart(event);
            send(&mut port, event);
        }
        prop_assert_eq!(started.len(), arrivals.len());

        for (class, (rate, burst)) in (1u32..).zip(RATES) {
            let of_class: Vec<(u64, usize)> =
                started.iter().copied().filter(|(_, number)| arrivals[*number].1 == class).collect();
            let longest = of_class.iter().map(|(_, number)| arrivals[*number].2).max().unwrap_or(0);
            for first in 0..of_class.len() {
                let mut bits = 0u128;
                for (at, number) in &of_class[first..] {
                    bits += u128::from(arrivals[*number].2) * 8;
                    let brought = u128::from(rate) * u128::from(at - of_class[first].0);
                    let held = u128::from(burst.max(longest)) * 8;
                    prop_assert!(bits * 1_000_000_000 <= brought + held * 1_000_000_000);
                }
            }
            for pair in of_class.windows(2) {
                let [(_, one), (at, other)] = [pair[0], pair[1]];
                let before = (arrivals[one].3, one) < (arrivals[other].3, other);
                prop_assert!(before || came[other] >= pair[0].0, "{one} before {other} at {at}");
            }
        }
        // While a packet that isn't shaped waits, the line never pauses.
        let mut free = 0;
        let mut idle = Vec::new();
        for (at, number) in &started {
            if *at > free {
                idle.push((free, *at));
            }
            free = at + u64::from(arrivals[*number].2) * 800;
        }
        for (at, number) in started.iter().filter(|(_, number)| arrivals[*number].1 == 0) {
            prop_assert!(idle.iter().all(|(from, to)| *to <= came[*number] || *from >= *at));
        }
    }
}
