//! In a steady state, a packet on its way from arrival to departure allocates nothing.

mod common;

use allocation_counter::measure;
use phb_network::{Node, Output, Port, Time};
use phb_node::{CloneSession, Replica, SwitchNode, unlimited};
use phb_traffic_manager::{PortConfig, ShaperConfig};

fn switch(artifact: &str, port: PortConfig) -> SwitchNode {
    let ports = [(0, unlimited()), (1, port.clone()), (2, port)];
    let mut switch = common::switch(artifact, None, ports);
    let replicas: Vec<Replica> = [1, 2, 1]
        .map(|port| Replica {
            port,
            instance: port,
        })
        .into();
    switch
        .replication_mut()
        .set_group(5, Some(replicas.clone()));
    let session = CloneSession {
        replicas,
        ..CloneSession::default()
    };
    switch.replication_mut().set_session(5, Some(session));
    switch
}

/// Bursts of frames, as a runner brings them, and ticks until all have left.
fn run(switch: &mut SwitchNode, now: &mut Time, frames: &[(Port, Vec<u8>)], out: &mut Output) {
    for _ in 0..10 {
        out.begin(*now);
        let borrowed = frames.iter().map(|(port, frame)| (*port, &frame[..]));
        switch.receive_batch(*now, borrowed, out);
        while let Some(next) = switch.next_tick() {
            *now = next.max(*now);
            out.begin(*now);
            switch.tick(*now, out);
        }
    }
}

/// A burst for both ports.
fn frames(ingress: u8, egress: u8, length: impl Fn(u8) -> usize) -> Vec<(Port, Vec<u8>)> {
    let frame = |number| {
        let (times, priority, port) = (3, number % 4, 1 + number % 2);
        let mut frame = vec![ingress, egress, times, priority, 0, port];
        frame.extend([0, 5, 0, 5]); // group and session
        frame.extend([0, 0, 0, number]); // rank
        frame.resize(length(number), 0);
        (0, frame)
    };
    (0..40).map(frame).collect()
}

#[test]
fn a_packet_allocates_nothing() {
    const STEERED: &str = include_str!("programs/steered.json");
    const STEERED_RANKED: &str = include_str!("programs/steered_ranked.json");
    // The requests of ingress and of egress (see `steered.p4`): drop 1, multicast 2, clone 4, again 8.
    let requests = [
        (0, 0),
        (1, 0),
        (0, 1),
        (2, 0),
        (4, 0),
        (0, 4),
        (8, 0),
        (0, 8),
        (6, 0),
        (0, 12),
    ];
    let lines = [
        ("unlimited", unlimited()),
        (
            "a line",
            PortConfig {
                rate_bps: Some(1_000_000),
                ..unlimited()
            },
        ),
        (
            "a line with a ring",
            PortConfig {
                rate_bps: Some(1_000_000),
                transmit_ring: 4,
                ..unlimited()
            },
        ),
        (
            "a shaper",
            PortConfig {
                shaper: Some(ShaperConfig {
                    rate_bps: 1_000_000,
                    burst_bytes: 2000,
                    overhead_bytes: -14,
                }),
                transmit_ring: 1,
                ..unlimited()
            },
        ),
        (
            "queues",
            PortConfig {
                queues: 8,
                queue_rate_pps: Some(1000),
                ..unlimited()
            },
        ),
    ];
    for artifact in [STEERED, STEERED_RANKED] {
        for (line, config) in &lines {
            for (ingress, egress) in requests {
                let mut switch = switch(artifact, config.clone());
                let longest = frames(ingress, egress, |_| 500);
                let frames = frames(ingress, egress, |number| 60 + 10 * usize::from(number));
                let mut out = Output::new();
                let mut now = 0;
                // The first rounds make what the later ones use again.
                for frames in [&longest, &longest, &longest, &frames, &frames] {
                    run(&mut switch, &mut now, frames, &mut out);
                }
                let before = switch.statistics();
                let made = measure(|| run(&mut switch, &mut now, &frames, &mut out));
                assert_eq!(
                    made.count_total, 0,
                    "{line}, ingress {ingress}, egress {egress}"
                );
                let after = switch.statistics();
                assert_eq!(after.received - before.received, 400);
                assert_eq!(after.queued, 0);
            }
        }
    }
}

#[test]
fn the_counter_counts() {
    let made = measure(|| drop(std::hint::black_box(vec![1, 2, 3])));
    assert_eq!(made.count_total, 1);
}
