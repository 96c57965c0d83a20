//! Programs are replaced while packets come and wait: what native code took goes back to the system, and the packets
//! that get through are those that get through with the interpreter.

mod common;

use phb_network::{Node, Output, Port, Time, Transmission};
use phb_node::{DropReason, SwitchNode, unlimited};
use phb_pipeline::{Executor, Pipeline};
use phb_traffic_manager::PortConfig;

/// Two programs that read a frame in the same way (see `steered.p4`).
const PROGRAMS: [&str; 2] = [
    include_str!("programs/steered.json"),
    include_str!("programs/steered_ranked.json"),
];

fn pipeline(program: usize, executor: Executor) -> Pipeline {
    let pipeline = common::pipeline(PROGRAMS[program], executor);
    let execution = pipeline.execution();
    assert_eq!(execution.executor, executor, "{:?}", execution.reason);
    pipeline
}

/// A switch with a line of 1 Mbit/s, so that packets wait when the program goes.
fn switch() -> SwitchNode {
    let line = PortConfig {
        rate_bps: Some(1_000_000),
        ..unlimited()
    };
    common::switch(
        PROGRAMS[0],
        None,
        [(0, unlimited()), (1, line), (2, unlimited())],
    )
}

/// Frames for both ports; of some, egress sends a packet through ingress once more.
fn frames() -> Vec<(Port, Vec<u8>)> {
    let frame = |number: u8| {
        let again = if number.is_multiple_of(5) { 8 } else { 0 };
        let mut frame = vec![0, again, 1, 0, 0, 1 + number % 2];
        frame.extend([0, 0, 0, 0, 0, 0, 0, number]);
        frame.resize(60 + 7 * usize::from(number), number);
        (0, frame)
    };
    (0..20).map(frame).collect()
}

/// The packets of one round, in which the line sends some of those that wait.
fn round(switch: &mut SwitchNode, now: Time, frames: &[(Port, Vec<u8>)]) -> Vec<Transmission> {
    let (mut out, mut sent) = (Output::new(), Vec::new());
    out.begin(now);
    switch.receive_batch(
        now,
        frames.iter().map(|(port, frame)| (*port, &frame[..])),
        &mut out,
    );
    sent.extend(out.drain());
    let end = now + 5_000_000;
    while let Some(next) = switch.next_tick().filter(|next| *next <= end) {
        out.begin(next.max(now));
        switch.tick(next.max(now), &mut out);
        sent.extend(out.drain());
    }
    sent
}

/// Kibibytes of memory that the process has, and how many pieces of it can be executed and are no file's.
fn memory() -> (u64, usize) {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux");
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let resident = resident.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
    let maps = std::fs::read_to_string("/proc/self/maps").expect("Linux");
    let of_code = maps
        .lines()
        .map(|line| line.split_ascii_whitespace().collect::<Vec<_>>())
        .filter(|parts| parts.len() == 5 && parts[1].contains('x'));
    (resident.expect("a number"), of_code.count())
}

fn replace(times: usize) {
    let mut switches = [switch(), switch()];
    let executors = [Executor::Native, Executor::Interpreter];
    let frames = frames();
    let (mut now, mut sent, mut early) = (0, 0, None);
    for time in 0..times {
        let program = time % PROGRAMS.len();
        for (switch, executor) in switches.iter_mut().zip(executors) {
            switch.install(pipeline(program, executor));
        }
        let [native, interpreted] = switches
            .each_mut()
            .map(|switch| round(switch, now, &frames));
        assert_eq!(native, interpreted, "replacement {time}");
        assert_eq!(
            switches[0].statistics(),
            switches[1].statistics(),
            "replacement {time}"
        );
        assert_eq!(switches[0].check(), 0, "replacement {time}");
        sent += native.len();
        now += 6_000_000;
        if time == times / 3 {
            early = Some(memory());
        }
    }
    let statistics = switches[0].statistics();
    let reloaded = statistics.dropped.of(DropReason::Reloaded);
    println!(
        "{times} replacements, {sent} packets sent, {reloaded} waited for a program that went"
    );
    assert!(sent > 5 * times && reloaded > times as u64);
    // Nothing else is lost.
    assert_eq!(statistics.dropped.total(), reloaded);
    let ((early, code), (late, code_late)) = (early.expect("more than one replacement"), memory());
    println!(
        "memory {early} kB after a third of them, {late} kB at the end; {code_late} pieces of code"
    );
    assert_eq!(code_late, code, "code of programs that have gone");
    assert!(
        late <= early + 2048,
        "memory grew from {early} to {late} kB"
    );
}

#[test]
fn replaced_under_traffic() {
    replace(300);
}

#[test]
#[ignore = "takes minutes: a part of `make soak`"]
fn replaced_ten_thousand_times() {
    replace(10_000);
}
