//! What traces tell of the way of packets outside of the program (`steered.p4`).

mod ends;
mod readers;
mod waiting;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use phb_network::{Node, Output, Time};
use phb_node::tracing::{self, TRACES, WATCHERS};
use phb_node::{CloneSession, SwitchNode, Watch, unlimited};
use phb_pipeline::trace::{Ahead, CopyKind, Happening, Record};
use phb_trace::Filter;
use phb_traffic_manager::PortConfig;

use crate::common;
use crate::steered::*;

fn watched(switch: &mut SwitchNode, filter: &str) -> Arc<Watch> {
    let filter = Filter::parse(filter).expect("a filter");
    switch.watch(filter, 0).expect("there is room")
}

fn filter(text: &str) -> Filter {
    Filter::parse(text).expect("a filter")
}

/// Lets time pass until nothing moves.
fn settle(switch: &mut SwitchNode) -> Time {
    let mut now = switch.now();
    while let Some(next) = switch.next_event() {
        now = now.max(next);
        let mut out = Output::new();
        out.begin(now);
        switch.tick(now, &mut out);
    }
    now
}

/// The records that have ended, by their numbers.
fn records(watch: &Watch) -> Vec<Record> {
    let taken = watch.take(Duration::ZERO);
    let mut records: Vec<Record> = taken
        .iter()
        .map(|it| it.finished.record().clone())
        .collect();
    records.sort_by_key(|record| record.number);
    records
}

fn happened(record: &Record) -> Vec<(Time, Happening)> {
    record
        .happened()
        .map(|(time, it)| (time, it.clone()))
        .collect()
}

fn ahead(trace: u64, rank: Option<u64>, queue: u8, since: Time) -> Ahead {
    Ahead {
        trace,
        rank,
        queue,
        length: 100,
        ingress_port: 0,
        since,
    }
}
