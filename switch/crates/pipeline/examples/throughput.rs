//! Packets per second of the pipeline alone, on one core: `cargo run --release -p phb-pipeline --example throughput`.
//!
//! Native code and the interpreter run in turn, unless `--native` or `--interpreter` asks for one. `--json` prints a list
//! of `{name, value, unit}`; a program's name (`qos`, `router`) measures only that one, and a number after it runs that
//! many packets once, for a profiler.
//!
//! - qos: the project's own program with 1,000 multi-field rules and 10,000 routes, flow WFQ on every port.
//! - router: `switch/programs/router.p4` with 10,000 routes.
//! - load: from the text of the project's own program, without entries, until its first packet has left the pipeline.
//!
//! A figure is the median of several turns; how much faster native code is, the median of the turns' ratios.

use std::time::Instant;

use phb_pipeline::{
    EgressVerdict, Entry, Executor, Match, Options, Pipeline, QueueMetadata, Verdict,
};

/// A program's name, and what loads it with its entries.
type Program = (&'static str, fn(Executor) -> Pipeline);

const TURNS: usize = 15;
const LOADS: usize = 9;
const PACKETS: usize = 100_000;
const FRAMES: usize = 1024;
const RULES: u32 = 1_000;
const ROUTES: u32 = 10_000;
const PORTS: u32 = 16;
const PHB: &str = "p4src/build/phb.json";

/// A measured value: its name, value, and unit.
type Figure = (String, f64, &'static str);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |wanted: &str| arguments.iter().any(|argument| argument == wanted);
    let packets = arguments.iter().find_map(|argument| argument.parse().ok());
    let (turns, packets) = packets.map_or((TURNS, PACKETS), |packets| (1, packets));
    let executors: Vec<Executor> = [Executor::Native, Executor::Interpreter]
        .into_iter()
        .filter(|executor| match executor {
            Executor::Native => !has("--interpreter") && compiles(),
            Executor::Interpreter => !has("--native"),
        })
        .collect();
    let programs: [Program; 2] = [("qos", qos), ("router", router)];
    let all = !has("load") && programs.iter().all(|(name, _)| !has(name));
    let mut figures = Vec::new();
    for (name, build) in programs {
        if all || has(name) {
            figures.extend(throughput(name, build, &executors, turns, packets));
        }
    }
    if all || has("load") {
        figures.extend(loads(&executors));
    }
    if has("--json") {
        let rows: Vec<String> = figures
            .iter()
            .map(|(name, value, unit)| {
                format!(r#"{{"name": "{name}", "value": {value}, "unit": "{unit}"}}"#)
            })
            .collect();
        println!("[{}]", rows.join(", "));
    } else {
        for (name, value, unit) in figures {
            let each = if unit == "packets/s" {
                format!(", {:.1} ns each", 1e9 / value)
            } else {
                String::new()
            };
            println!("{name}: {value} {unit}{each}");
        }
    }
}

/// Whether native code can be made here; says why not otherwise.
fn compiles() -> bool {
    let reason = load(PHB, Executor::Native).execution().reason;
    if let Some(reason) = &reason {
        eprintln!("no native code: {reason}");
    }
    reason.is_none()
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// An executor's part of a figure's name; native code is what runs unless told otherwise.
fn of(executor: Executor) -> &'static str {
    match executor {
        Executor::Native => "",
        Executor::Interpreter => ".interpreter",
    }
}

fn throughput(
    name: &str,
    build: fn(Executor) -> Pipeline,
    executors: &[Executor],
    turns: usize,
    packets: usize,
) -> Vec<Figure> {
    let frames = frames();
    let mut pipelines: Vec<Pipeline> = executors.iter().map(|executor| build(*executor)).collect();
    let mut seconds = vec![Vec::new(); executors.len()];
    for _ in 0..turns {
        for (pipeline, seconds) in pipelines.iter_mut().zip(&mut seconds) {
            seconds.push(run(pipeline, &frames, packets));
        }
    }
    let mut figures = Vec::new();
    for (executor, seconds) in executors.iter().zip(&seconds) {
        let name = format!("pipeline.{name}{}.pps", of(*executor));
        let rate = (1.0 / median(seconds.clone())).round();
        figures.push((name, rate, "packets/s"));
    }
    if let [native, interpreter] = &seconds[..] {
        let ratios = native
            .iter()
            .zip(interpreter)
            .map(|(native, other)| other / native);
        figures.push((
            format!("pipeline.{name}.native_over_interpreter"),
            median(ratios.collect()),
            "x",
        ));
    }
    figures
}

/// Seconds until the first packet has left, and what native code adds to them.
fn loads(executors: &[Executor]) -> Vec<Figure> {
    let mut text = text(PHB);
    let frames = frames();
    let mut seconds = vec![Vec::new(); executors.len()];
    for _ in 0..LOADS {
        // Code is shared by pipelines of the same text.
        text.push(' ');
        for (executor, seconds) in executors.iter().zip(&mut seconds) {
            let start = Instant::now();
            let mut pipeline = loaded(PHB, &text, *executor);
            let mut packet = pipeline.ingress(0, 0, &frames[0]).packet;
            pipeline.egress(0, &mut packet, &QueueMetadata::default());
            pipeline.deparse(&mut packet, &mut Vec::new());
            seconds.push(start.elapsed().as_secs_f64());
        }
    }
    let medians: Vec<f64> = seconds.into_iter().map(median).collect();
    let mut figures: Vec<Figure> = executors
        .iter()
        .zip(&medians)
        .map(|(executor, seconds)| (format!("load{}.s", of(*executor)), *seconds, "s"))
        .collect();
    if let [native, interpreter] = medians[..] {
        figures.push(("load.extra.s".into(), native - interpreter, "s"));
    }
    figures
}

/// Seconds per packet. Packets leave the queue in batches, as from a transmit ring.
#[inline(never)]
fn run(pipeline: &mut Pipeline, frames: &[Vec<u8>], packets: usize) -> f64 {
    const BATCH: usize = 32;
    let mut out = Vec::with_capacity(2048);
    let mut waiting = Vec::with_capacity(BATCH);
    let mut now = 1_000_000_000;
    let (mut sent, mut bytes) = (0usize, 0usize);
    let start = Instant::now();
    for number in 0..packets {
        now += 600;
        let frame = &frames[number % frames.len()];
        let processed = pipeline.ingress(now, (number % 4) as u16, frame);
        match processed.verdict {
            Verdict::Unicast { port, .. } => waiting.push((port, processed.packet)),
            _ => pipeline.recycle(processed.packet),
        }
        if waiting.len() == BATCH || number + 1 == packets {
            for (port, mut packet) in waiting.drain(..) {
                let queue = QueueMetadata {
                    egress_port: port,
                    enq_timestamp_ns: now,
                    deq_timedelta_ns: 5_000,
                    ..QueueMetadata::default()
                };
                if pipeline.egress(now, &mut packet, &queue).verdict == EgressVerdict::Transmit {
                    pipeline.deparse(&mut packet, &mut out);
                    sent += 1;
                    bytes += out.len();
                }
                pipeline.recycle(packet);
            }
        }
    }
    let seconds = start.elapsed().as_secs_f64() / packets as f64;
    assert_eq!(sent, packets, "every packet has a route");
    assert!(bytes > packets * 60);
    seconds
}

fn text(path: &str) -> String {
    let path = format!("{}/../../../{path}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn load(path: &str, executor: Executor) -> Pipeline {
    loaded(path, &text(path), executor)
}

fn loaded(path: &str, text: &str, executor: Executor) -> Pipeline {
    let options = Options {
        executor,
        ..Options::default()
    };
    Pipeline::load(text, options).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn insert(
    pipeline: &mut Pipeline,
    table: &str,
    priority: i32,
    matches: Vec<(&str, Match)>,
    action: &str,
    params: &[(&str, u64)],
) {
    let named = matches
        .into_iter()
        .map(|(name, found)| (name.to_owned(), found));
    let params = params
        .iter()
        .map(|(name, value)| ((*name).to_owned(), bytes(*value)));
    let entry = Entry {
        matches: named.collect(),
        priority,
        action: action.to_owned(),
        params: params.collect(),
        ..Entry::default()
    };
    pipeline
        .table_insert(table, &entry)
        .unwrap_or_else(|error| panic!("{table}: {error}"));
}

fn bytes(value: u64) -> Vec<u8> {
    value.to_be_bytes().to_vec()
}

fn exact(value: u64) -> Match {
    Match::Exact(bytes(value))
}

fn range(low: u64, high: u64) -> Match {
    Match::Range {
        low: bytes(low),
        high: bytes(high),
    }
}

/// Prefixes of 16 to 24 bits below 10.0.0.0/8, and a default.
fn routes(pipeline: &mut Pipeline, table: &str, action: &str) {
    let route = |number: u32, value: u64, prefix_len: u32, pipeline: &mut Pipeline| {
        let value = bytes(value);
        insert(
            pipeline,
            table,
            0,
            vec![("destination", Match::Lpm { value, prefix_len })],
            action,
            &[
                ("port", u64::from(number % PORTS + 1)),
                ("source_mac", 0x0600_0000_0000 + u64::from(number)),
                ("destination_mac", 0x0600_0001_0000 + u64::from(number)),
            ],
        );
    };
    route(0, 0, 0, pipeline);
    for number in 1..ROUTES {
        let length = 24 - u32::from(number.is_multiple_of(10)) * (number / 10 % 8);
        let network = (number * 6) << 8;
        let address = 0x0a00_0000 | network;
        let mask = u32::MAX << (32 - length);
        if length < 24 && network & !mask != 0 {
            // Shorter prefixes where they start on their own boundary, so that none is there twice.
            route(number, address.into(), 24, pipeline);
        } else {
            route(number, (address & mask).into(), length, pipeline);
        }
    }
}

fn router(executor: Executor) -> Pipeline {
    let mut pipeline = load("switch/programs/build/router.json", executor);
    routes(
        &mut pipeline,
        "RouterIngress.ipv4_route",
        "RouterIngress.route",
    );
    pipeline.settle();
    pipeline
}

fn qos(executor: Executor) -> Pipeline {
    let mut pipeline = load(PHB, executor);
    routes(
        &mut pipeline,
        "PhbIngress.forward.ipv4_route",
        "PhbIngress.forward.route",
    );
    let table = "PhbIngress.classify.multi_field_ipv4";
    for rule in 0..RULES {
        let number = u64::from(rule);
        let network = 0x0a00_0000 | (number % 250) << 16;
        let mut matches = vec![
            ("source", range(network, network | 0xffff)),
            (
                "destination_port",
                range(number / 250 * 1000, number / 250 * 1000 + 999),
            ),
        ];
        if rule % 3 == 0 {
            matches.push((
                "protocol",
                Match::Ternary {
                    value: vec![6],
                    mask: vec![0xff],
                },
            ));
        }
        if rule % 4 == 0 {
            matches.push(("destination", range(0x0a00_0000, 0x0aff_ffff)));
        }
        if rule % 5 == 0 {
            matches.push((
                "tos",
                Match::Ternary {
                    value: vec![0],
                    mask: vec![0x03],
                },
            ));
        }
        insert(
            &mut pipeline,
            table,
            1 + rule as i32,
            matches,
            "PhbIngress.classify.set_class",
            &[
                ("policy", number),
                ("stream", 0),
                ("traffic_class", number % 16),
            ],
        );
        if rule % 2 == 0 {
            insert(
                &mut pipeline,
                "PhbIngress.mark.remark",
                0,
                vec![("policy", exact(number))],
                "PhbIngress.mark.set_tos",
                &[("value", (number % 8) << 5), ("mask", 0xe0)],
            );
        }
    }
    // As every push draws them.
    let keys: Vec<u64> = (1..=5)
        .map(|number: u64| number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
        .collect();
    let keys: Vec<(&str, u64)> = ["key0", "key1", "key2", "key3", "key4"]
        .into_iter()
        .zip(keys)
        .collect();
    insert(
        &mut pipeline,
        "PhbIngress.conversation.flow_key",
        0,
        vec![("ipv4", exact(1)), ("ipv6", exact(0))],
        "PhbIngress.conversation.keyed_ipv4",
        &keys,
    );
    for port in 1..=PORTS {
        insert(
            &mut pipeline,
            "PhbIngress.conversation.port_scheduler",
            1,
            vec![("egress_port", exact(port.into()))],
            "PhbIngress.conversation.flow_wfq",
            &[
                ("profile", u64::from(port)),
                ("base", u64::from(port) * 1024),
                ("conversations", 256),
                ("overhead", 24),
            ],
        );
        insert(
            &mut pipeline,
            "PhbIngress.buffer.port_limit",
            0,
            vec![("profile", exact(port.into()))],
            "PhbIngress.buffer.set_limits",
            &[("hold_queue_packets", 1000), ("conversation_packets", 64)],
        );
        weights(&mut pipeline, port.into());
    }
    pipeline.settle();
    pipeline
}

/// The weight of a flow by port.
fn weights(pipeline: &mut Pipeline, profile: u64) {
    for precedence in 0..8 {
        insert(
            pipeline,
            "PhbIngress.schedule.weight",
            0,
            vec![
                ("profile", exact(profile)),
                ("precedence", exact(precedence)),
            ],
            "PhbIngress.schedule.weighted",
            &[("level", 0), ("weight", 4096 / (precedence + 1))],
        );
    }
}

/// IPv4 packets of many hosts, TCP and UDP, 64 to 512 bytes, all of them routed.
fn frames() -> Vec<Vec<u8>> {
    let mut state = 1u64;
    let mut random = move |below: u32| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as u32) % below
    };
    (0..FRAMES)
        .map(|_| {
            let length = [64, 128, 128, 256, 512][random(5) as usize];
            let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0];
            let tcp = random(2) == 0;
            let total = (length - 14) as u16;
            let mut header = vec![0x45, (random(8) << 5) as u8];
            header.extend_from_slice(&total.to_be_bytes());
            header.extend_from_slice(&[0x12, 0x34, 0x40, 0, 64, if tcp { 6 } else { 17 }, 0, 0]);
            let source = 0x0a00_0000 | random(1 << 24);
            let destination = 0x0a00_0000 | random(1 << 24);
            header.extend_from_slice(&source.to_be_bytes());
            header.extend_from_slice(&destination.to_be_bytes());
            let mut sum: u32 = header
                .chunks(2)
                .map(|pair| u32::from(pair[0]) << 8 | u32::from(pair[1]))
                .sum();
            sum = (sum & 0xffff) + (sum >> 16);
            sum = (sum & 0xffff) + (sum >> 16);
            header[10..12].copy_from_slice(&(!(sum as u16)).to_be_bytes());
            frame.extend_from_slice(&header);
            frame.extend_from_slice(&(random(60_000) as u16).to_be_bytes());
            frame.extend_from_slice(&(random(4_000) as u16).to_be_bytes());
            frame.resize(length, 0x5a);
            // A TCP segment that neither opens nor closes, as nearly all are.
            frame[46] = 0x50;
            frame[47] = 0x10;
            frame
        })
        .collect()
}
