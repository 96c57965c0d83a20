//! Measures what the switch costs beside its pipeline: `cargo run --release -p phb-node --example path [-- --json]`.
//!
//! The same program runs the same frames twice, on the pipeline alone (ingress, egress, deparser) and through a switch
//! (ports, counters, queue, shaper, output); the difference is the switch's. The program is a small one, so that the
//! difference stands out.
//!
//! `traced` is a packet with everything that happens to it in a line of JSON, on one thread.
//!
//! `alone`, `unlimited`, `line` or `traced` and a number run that many rounds of 64 packets of it once, for a profiler.

use std::time::{Duration, Instant};

use phb_network::{Node, Output, Port};
use phb_node::{SwitchConfig, SwitchNode, unlimited};
use phb_pipeline::trace::Tracer;
use phb_pipeline::{Executor, Options, Pipeline, QueueMetadata};
use phb_trace::Filter;
use phb_traffic_manager::PortConfig;

const PROGRAM: &str = include_str!("../tests/programs/steered_ranked.json");
const BATCH: usize = 64;
const ROUNDS: usize = 20;
const RUNS: usize = 2_000;

fn pipeline() -> Pipeline {
    Pipeline::load(PROGRAM, Options::default()).expect("the artifact loads")
}

fn frame(rank: u8) -> Vec<u8> {
    let mut frame = vec![0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, rank];
    frame.resize(128, 0);
    frame
}

/// The number of rounds asked for.
fn asked() -> Option<usize> {
    std::env::args().find_map(|argument| argument.parse().ok())
}

/// Nanoseconds per packet, the best of some runs; all rounds that are asked for are one.
fn best(runs: usize, mut round: impl FnMut(u64)) -> f64 {
    let (runs, rounds) = asked().map_or((runs, ROUNDS), |rounds| (1, rounds));
    let mut best = f64::MAX;
    let mut number = 0;
    for _ in 0..runs {
        let start = Instant::now();
        for _ in 0..rounds {
            number += 1;
            round(number);
        }
        best = best.min(start.elapsed().as_nanos() as f64 / (rounds * BATCH) as f64);
    }
    best
}

fn alone(frames: &[(Port, Vec<u8>)]) -> f64 {
    let mut pipeline = pipeline();
    let mut out = Vec::new();
    let metadata = QueueMetadata {
        egress_port: 1,
        ..QueueMetadata::default()
    };
    best(RUNS, |now| {
        for (port, frame) in frames {
            let mut packet = pipeline.ingress(now, *port, frame).packet;
            pipeline.egress(now, &mut packet, &metadata);
            pipeline.deparse(&mut packet, &mut out);
            std::hint::black_box(&out);
            pipeline.recycle(packet);
        }
    })
}

/// Each round a batch comes, and time passes until it has left.
fn switched(frames: &[(Port, Vec<u8>)], line: PortConfig) -> f64 {
    rounds(frames, line, false)
}

/// The same, with a trace of each packet that becomes a line of JSON.
fn traced(frames: &[(Port, Vec<u8>)], line: PortConfig) -> f64 {
    rounds(frames, line, true)
}

fn rounds(frames: &[(Port, Vec<u8>)], line: PortConfig, is_traced: bool) -> f64 {
    let config = SwitchConfig {
        name: "measured".to_owned(),
        cpu_port: None,
        drop_port: 511,
        seed: 1,
        executor: Executor::default(),
    };
    let mut switch = SwitchNode::new(config, [(0, unlimited()), (1, line)]);
    let mut pipeline = pipeline();
    let mut watch = None;
    if is_traced {
        let tracer = Tracer::load(PROGRAM).expect("the artifact loads");
        pipeline.set_tracer(Some(Box::new(tracer)));
        watch = switch.watch(Filter::default(), 0);
    }
    switch.install(pipeline);
    let mut out = Output::new();
    let mut now = 0;
    let mut lines = Vec::new();
    // A traced packet takes ten times as long.
    best(if is_traced { RUNS / 10 } else { RUNS }, |_| {
        out.begin(now);
        let borrowed = frames.iter().map(|(port, frame)| (*port, &frame[..]));
        switch.receive_batch(now, borrowed, &mut out);
        std::hint::black_box(out.sent());
        while let Some(next) = switch.next_tick() {
            now = next;
            out.begin(now);
            switch.tick(now, &mut out);
            std::hint::black_box(out.sent());
        }
        if let Some(watch) = &watch {
            lines.clear();
            for traced in watch.take(Duration::ZERO) {
                watch.append_json(&traced, 0, &mut lines);
            }
            std::hint::black_box(&lines);
        }
    })
}

fn main() {
    let json = std::env::args().any(|argument| argument == "--json");
    let frames: Vec<(Port, Vec<u8>)> = (0..BATCH as u8)
        .map(|number| (0, frame(number.wrapping_mul(37))))
        .collect();
    let line = PortConfig {
        rate_bps: Some(10_000_000_000),
        ..unlimited()
    };
    if asked().is_some() {
        let nanoseconds = match std::env::args().nth(1).as_deref() {
            Some("alone") => alone(&frames),
            Some("unlimited") => switched(&frames, unlimited()),
            Some("traced") => traced(&frames, line),
            _ => switched(&frames, line),
        };
        return println!("{nanoseconds:.1} ns per packet");
    }
    let alone = alone(&frames);
    let figures = [
        ("switch.pipeline.ns", alone),
        (
            "switch.unlimited.ns",
            switched(&frames, unlimited()) - alone,
        ),
        ("switch.line.ns", switched(&frames, line.clone()) - alone),
        ("switch.traced.ns", traced(&frames, line)),
    ];
    let rows = figures.map(|(name, value)| {
        if json {
            format!("  {{\"name\": \"{name}\", \"value\": {value:.1}, \"unit\": \"ns\"}}")
        } else {
            format!("{name}: {value:.1} ns per packet")
        }
    });
    if json {
        println!("[\n{}\n]", rows.join(",\n"));
    } else {
        println!("{}", rows.join("\n"));
    }
}
