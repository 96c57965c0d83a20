//! Measures what the traffic manager promises: `cargo run --release -p phb-traffic-manager --example pifo [-- --json]`.
//!
//! The queue is measured at constant length, one pop and one push at a time (the hold model), with
//! several orders of ranks; the slowest is reported. Items are as large as a port's. The shaper is
//! measured in virtual time: a busy line's largest deviation in any window of one second.

use std::time::Instant;

use phb_traffic_manager::{Pifo, PortConfig, PortQueue};

/// Best of these runs: other load only slows. A short run may have a processor to itself.
const RUNS: usize = 100;
const OPERATIONS: usize = 40_000;
const NANOSECONDS_PER_SECOND: u64 = 1_000_000_000;

type Item = [u64; 5];

struct Figure {
    name: &'static str,
    value: f64,
    unit: &'static str,
}

/// SplitMix64.
fn random(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut word = *state;
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// The next rank, from the rank popped last, the number of the push, and a random number.
type Order = fn(u64, u64, u64) -> u64;

const ORDERS: [(&str, Order); 6] = [
    ("equal", |_, _, _| 7),
    ("ascending", |_, number, _| number * 1500),
    ("descending", |_, number, _| u64::MAX - number),
    ("random", |_, _, random| random),
    ("popped + random", |popped, _, random| {
        popped.wrapping_add(random % (1 << 20))
    }),
    // Finish tags of self-clocked fair queueing: levels, conversations of different weights.
    ("finish tags", |popped, _, random| {
        let level = (random & 3) << 60;
        let base = popped & ((1 << 60) - 1);
        level | (base + (1 << (random >> 2 & 15)) * (random >> 6 & 1023))
    }),
];

/// Nanoseconds for one push and one pop at a constant length.
fn hold(length: usize, order: Order) -> f64 {
    let mut queue: Pifo<Item> = Pifo::new();
    let (mut seed, mut number) = (1, 0);
    let mut next = |popped| {
        number += 1;
        order(popped, number, random(&mut seed))
    };
    for _ in 0..length {
        let rank = next(0);
        let _ = queue.push(rank, [rank; 5]);
    }
    // Brings the queue into this order's steady state.
    let mut turn = |operations: usize| {
        for _ in 0..operations {
            if let Some((rank, item)) = queue.pop() {
                let _ = queue.push(next(rank), item);
            }
        }
    };
    turn(2 * length);
    let mut best = f64::MAX;
    for _ in 0..RUNS {
        let start = Instant::now();
        turn(OPERATIONS);
        best = best.min(start.elapsed().as_nanos() as f64 / OPERATIONS as f64);
    }
    best
}

fn queue(name: &'static str, length: usize, report: bool) -> Figure {
    let mut worst: f64 = 0.0;
    for (order, next) in ORDERS {
        let nanoseconds = hold(length, next);
        worst = worst.max(nanoseconds);
        if report {
            println!("  {length} queued, {order}: {nanoseconds:.1} ns for push and pop");
        }
    }
    Figure {
        name,
        value: (1e9 / worst).round(),
        unit: "1/s",
    }
}

/// The largest relative deviation from `rate` of a busy line in any second of three.
///
/// A frame's bits pass evenly from the previous frame's end to its own. So a window carries most or
/// least where one of its ends is a frame's end.
fn deviation(rate: u64) -> f64 {
    let mut port: PortQueue<usize, ()> = PortQueue::new(PortConfig {
        rate_bps: Some(rate),
        ..PortConfig::default()
    });
    // The end of each frame, and the bits up to there.
    let mut ends = vec![(0u64, 0u64)];
    let mut seed = rate;
    let mut bits = 0;
    let mut now = 0;
    while now <= 3 * NANOSECONDS_PER_SECOND {
        let length = match random(&mut seed) % 8 {
            0..3 => 64,
            3 => 9018,
            4 => 64 + (random(&mut seed) % 1455) as usize,
            _ => 1514,
        };
        let _ = port.enqueue(now, 0, length);
        while let Some(queued) = port.pop(now) {
            port.transmit(now, queued.item, ());
            bits += 8 * queued.item as u64;
        }
        let Some(end) = port.next_departure() else {
            return f64::INFINITY;
        };
        now = end;
        port.depart(now);
        ends.push((now, bits));
    }
    let passed = |at: u64| {
        let next = ends.partition_point(|(end, _)| *end <= at);
        let ((from, before), Some((to, after))) = (ends[next - 1], ends.get(next)) else {
            return None;
        };
        let share = (at - from) as f64 / (to - from) as f64;
        Some(before as f64 + share * (after - before) as f64)
    };
    let windows = ends.iter().flat_map(|(end, _)| {
        let before = end.checked_sub(NANOSECONDS_PER_SECOND);
        [Some(*end), before]
    });
    let errors = windows.flatten().filter_map(|start| {
        let sent = passed(start + NANOSECONDS_PER_SECOND)? - passed(start)?;
        Some((sent / rate as f64 - 1.0).abs())
    });
    errors.fold(0.0, f64::max)
}

fn shaper() -> Figure {
    let rates = [
        64_000,
        224_000,
        1_536_000,
        2_048_000,
        10_000_000,
        44_736_000,
        155_520_000,
        1_000_000_000,
    ];
    Figure {
        name: "shaper.error",
        value: rates.into_iter().map(deviation).fold(0.0, f64::max),
        unit: "1",
    }
}

fn main() {
    let json = std::env::args().any(|argument| argument == "--json");
    let figures = [
        queue("pifo.1000.ops", 1000, !json),
        queue("pifo.1000000.ops", 1_000_000, !json),
        shaper(),
    ];
    if json {
        let rows = figures.map(|Figure { name, value, unit }| {
            format!("  {{\"name\": \"{name}\", \"value\": {value:e}, \"unit\": \"{unit}\"}}")
        });
        println!("[\n{}\n]", rows.join(",\n"));
    } else {
        for Figure { name, value, unit } in figures {
            println!("{name}: {value:e} {unit}");
        }
    }
}
