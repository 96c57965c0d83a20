//! Measures look-ups: `cargo run --release -p phb-pipeline --example classify [-- --json]`.
//!
//! A figure is what a packet takes through a table with its entries, less what the same packet takes through the same
//! table while it is empty: key, look-up, and the action. Packets are chosen by rule, each of which has the same chance, and by chance
//! within the rule; for rule sets made to hurt, also anywhere, and the worse of both counts. Everything follows from a
//! seed. Standard error has a line for each set of rules, standard output the figures. `--only TEXT` leaves out sets
//! without it in their name. `--writes` measures how long writes to large tables take, too.

mod rules;

use std::time::Instant;

use phb_pipeline::{Entry, Match, Options, Pipeline, Verdict};
use rules::{FIELDS, Random, Rule, Table};

/// Of each batch of packets the best of these many runs counts, for everything else on the machine only makes it worse.
const RUNS: usize = 15;
const PACKETS: usize = 16_384;
const BATCH: usize = 512;

fn bytes(value: u64) -> Vec<u8> {
    value.to_be_bytes().to_vec()
}

fn entry(table: Table, rule: &Rule, number: usize, of: usize) -> Entry {
    let mut matches = Vec::new();
    for (field, &(name, bits)) in FIELDS.iter().enumerate() {
        let (first, second) = rule.fields[field];
        let full = (1 << bits) - 1;
        let matched = match table.kinds()[field] {
            'r' if (first, second) == (0, full) => continue,
            'r' => Match::Range {
                low: bytes(first),
                high: bytes(second),
            },
            't' if second == 0 => continue,
            't' => Match::Ternary {
                value: bytes(first),
                mask: bytes(second),
            },
            'l' if second == 0 => continue,
            'l' => Match::Lpm {
                value: bytes(first),
                prefix_len: second.count_ones(),
            },
            'e' => Match::Exact(bytes(first)),
            _ => continue,
        };
        matches.push((format!("hdr.key.{name}"), matched));
    }
    let priority = if table.has_priorities() {
        (of - number) as i32
    } else {
        0
    };
    Entry {
        matches,
        priority,
        action: "ClassifyIngress.answer".into(),
        params: vec![("rule".into(), bytes(number as u64))],
        ..Entry::default()
    }
}

fn frame(table: Table, values: &[u64; 5]) -> Vec<u8> {
    let [source, destination, source_port, destination_port, protocol] = *values;
    let mut frame = vec![table as u8, protocol as u8];
    frame.extend((source_port as u16).to_be_bytes());
    frame.extend((destination_port as u16).to_be_bytes());
    frame.extend((source as u32).to_be_bytes());
    frame.extend((destination as u32).to_be_bytes());
    frame.resize(64, 0);
    frame
}

/// Lowers `best`, nanoseconds per batch, by one run; how many packets went to port 1, where hits go. Before each
/// `ahead` frames, tables look ahead for them; with zero, never.
fn run(pipeline: &mut Pipeline, frames: &[Vec<u8>], ahead: usize, best: &mut [f64]) -> usize {
    let mut hits = 0;
    for (batch, best) in frames.chunks(BATCH).zip(best) {
        let start = Instant::now();
        for (at, frame) in batch.iter().enumerate() {
            if ahead > 0 && at % ahead == 0 {
                pipeline.look_ahead(batch[at..].iter().take(ahead).map(Vec::as_slice));
            }
            let processed = pipeline.ingress(0, 0, frame);
            hits += usize::from(matches!(
                processed.verdict,
                Verdict::Unicast { port: 1, .. }
            ));
            pipeline.recycle(processed.packet);
        }
        *best = best.min(start.elapsed().as_nanos() as f64);
    }
    hits
}

/// Nanoseconds per look-up, packet by packet, and where tables look ahead for 32 packets at a time.
fn measure(what: &str, artifact: &str, table: Table, rules: &[Rule], anywhere: bool) -> (f64, f64) {
    let only = std::env::args()
        .skip_while(|argument| argument != "--only")
        .nth(1);
    if only.is_some_and(|only| !what.contains(&only)) {
        return (0.0, 0.0);
    }
    let load = || match Pipeline::load(artifact, Options::default()) {
        Ok(pipeline) => pipeline,
        Err(error) => panic!("{error}"),
    };
    let (mut empty, mut filled) = (load(), load());
    let start = Instant::now();
    let mut refused = 0;
    for (number, rule) in rules.iter().enumerate() {
        let entry = entry(table, rule, number, rules.len());
        // The same rule may come twice.
        refused += usize::from(filled.table_insert(table.name(), &entry).is_err());
    }
    filled.settle();
    let written = start.elapsed();
    let mut random = Random::new(99);
    let (mut worst, mut ahead): (f64, f64) = (0.0, 0.0);
    let mut text = String::new();
    for by_rule in [true, false] {
        if !by_rule && !anywhere {
            continue;
        }
        let frames: Vec<Vec<u8>> = (0..PACKETS)
            .map(|_| {
                let rule = &rules[random.below(rules.len() as u64) as usize];
                let values = if by_rule {
                    rule.point(table, &mut random)
                } else {
                    rules::anywhere(&mut random)
                };
                frame(table, &values)
            })
            .collect();
        let mut base = vec![f64::MAX; PACKETS / BATCH];
        let (mut full, mut batches, mut hits) = (base.clone(), base.clone(), 0);
        for _ in 0..RUNS {
            run(&mut empty, &frames, 0, &mut base);
            hits = run(&mut filled, &frames, 0, &mut full);
            run(&mut filled, &frames, 32, &mut batches);
        }
        let hit = hits * 100 / PACKETS;
        let base: f64 = base.iter().sum();
        let each = |all: &[f64]| (all.iter().sum::<f64>() - base) / PACKETS as f64;
        let time = each(&full);
        ahead = ahead.max(each(&batches));
        text += &format!("  {time:7.1} ns ({hit:3} % hit)");
        worst = worst.max(time);
    }
    let entries = rules.len() - refused;
    if table == Table::Routes {
        text += &format!("  {ahead:7.1} ns ahead of 32");
    }
    eprintln!("{what:<34} {entries:>8} entries{text}  written in {written:.1?}");
    (worst, ahead)
}

/// Writes 100,000 entries at once and another 4,000 one by one: what the former take, and the longest of the latter.
fn writes(what: &str, artifact: &str, table: Table, rules: &[Rule]) {
    let mut pipeline = match Pipeline::load(artifact, Options::default()) {
        Ok(pipeline) => pipeline,
        Err(error) => panic!("{error}"),
    };
    let entries: Vec<Entry> = rules
        .iter()
        .enumerate()
        .map(|(number, rule)| entry(table, rule, number, rules.len()))
        .collect();
    let (many, single) = entries.split_at(rules.len() - 4000);
    // An entry that comes twice is refused, which takes no longer.
    let start = Instant::now();
    for entry in many {
        let _ = pipeline.table_insert(table.name(), entry);
    }
    pipeline.settle();
    let all = start.elapsed();
    let longest = single.iter().map(|entry| {
        let start = Instant::now();
        let _ = pipeline.table_insert(table.name(), entry);
        pipeline.settle();
        start.elapsed()
    });
    let longest = longest.max().unwrap_or_default();
    let many = many.len();
    eprintln!(
        "{what:<34} {many:>8} entries  written in {all:.1?}, then one in {longest:.1?} at most"
    );
}

fn main() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../programs/build/classify.json"
    );
    let artifact = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut random = Random::new(1);
    let mut figures = Vec::new();
    let mut add = |name: &str, value: f64| figures.push((name.to_owned(), value));
    for count in [100, 1000, 10_000] {
        let rules = rules::policy(count, &mut random);
        let name = format!("classify.{count}.ns");
        let time = measure(
            &format!("policy of {count}"),
            &artifact,
            Table::Policy,
            &rules,
            false,
        )
        .0;
        if count != 1000 {
            add(&name, time);
        }
    }
    let mut hostile: f64 = 0.0;
    for (name, table, make) in rules::HOSTILE {
        let rules: Vec<Rule> = (0..10_000)
            .map(|number| make(number, &mut random))
            .collect();
        hostile = hostile.max(measure(name, &artifact, table, &rules, true).0);
    }
    add("classify.hostile.ns", hostile);
    for count in [1000, 1_000_000] {
        let rules = rules::routes(count, &mut random);
        let (single, ahead) = measure("routes", &artifact, Table::Routes, &rules, false);
        if count == 1_000_000 {
            add("lpm.1000000.ns", single);
            add("lpm.batch.ns", ahead);
        }
    }
    let rules = rules::flows(100_000, &mut random);
    measure("flows", &artifact, Table::Flows, &rules, false);
    if std::env::args().any(|argument| argument == "--writes") {
        let rules = rules::policy(104_000, &mut random);
        writes("policy", &artifact, Table::Policy, &rules);
        for (name, table, make) in rules::HOSTILE {
            let rules: Vec<Rule> = (0..104_000)
                .map(|number| make(number, &mut random))
                .collect();
            writes(name, &artifact, table, &rules);
        }
    }
    if std::env::args().any(|argument| argument == "--json") {
        let figure = |(name, value): &(String, f64)| {
            format!("{{\"name\": \"{name}\", \"value\": {value:.1}, \"unit\": \"ns\"}}")
        };
        let figures: Vec<String> = figures.iter().map(figure).collect();
        println!("[{}]", figures.join(", "));
    } else {
        for (name, value) in figures {
            println!("{name:<24} {value:8.1} ns");
        }
    }
}
