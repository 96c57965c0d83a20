//! The switch as a node, driven by frames that say what the program (`ranked.p4`) is to do with them.

mod common;

use common::pipeline;
use phb_network::{Frame, Node, Output, Port, Time, Transmission};
use phb_node::{DropReason, SwitchNode, Update, unlimited};
use phb_pipeline::{Entry, Executor, Match};
use phb_traffic_manager::{PortConfig, ShaperConfig};
use proptest::prelude::*;

const RANKED: &str = include_str!("../../../python/tests/programs/ranked.json");
const ROUTER: &str = include_str!("../../../python/tests/programs/router.json");
const CPU_PORT: Port = 510;

fn switch(ports: impl IntoIterator<Item = (Port, PortConfig)>) -> SwitchNode {
    common::switch(RANKED, Some(CPU_PORT), ports)
}

/// 8 Mbit/s: a byte takes a microsecond.
fn line() -> PortConfig {
    PortConfig {
        rate_bps: Some(8_000_000),
        ..unlimited()
    }
}

#[derive(Clone, Copy, Debug)]
struct Wanted {
    port: u16,
    rank: u64,
    verdict: u8,
    egress_drop: bool,
    length: usize,
}

impl Wanted {
    fn to(port: u16, rank: u64) -> Self {
        Self {
            port,
            rank,
            verdict: 0,
            egress_drop: false,
            length: 1000,
        }
    }

    fn frame(self) -> Frame {
        let mut bytes = vec![self.verdict, 0, 0, 0];
        bytes.extend(self.port.to_be_bytes());
        bytes.extend(&self.rank.to_be_bytes()[2..]);
        bytes.extend(if self.egress_drop {
            [0xde, 0xad]
        } else {
            [0, 0]
        });
        bytes.resize(self.length.max(14), 0);
        Frame::new(bytes)
    }
}

fn receive(switch: &mut SwitchNode, now: Time, port: Port, wanted: Wanted) -> Vec<Transmission> {
    let mut out = Output::new();
    out.begin(now);
    switch.receive(now, port, wanted.frame(), &mut out);
    out.drain().collect()
}

/// Everything that leaves up to `until`.
fn run(switch: &mut SwitchNode, until: Time) -> Vec<Transmission> {
    let mut sent = Vec::new();
    let mut out = Output::new();
    let mut now = 0;
    while let Some(tick) = switch.next_tick().filter(|tick| *tick <= until) {
        now = now.max(tick);
        out.begin(now);
        switch.tick(now, &mut out);
        sent.extend(out.drain());
    }
    sent
}

fn rank_of(frame: &Frame) -> u64 {
    frame.bytes[6..12]
        .iter()
        .fold(0, |rank, byte| rank << 8 | u64::from(*byte))
}

#[test]
fn lower_ranks_go_first_and_the_line_paces() {
    let mut switch = switch([(0, unlimited()), (1, line())]);
    for rank in [50, 40, 30, 40, 20] {
        assert!(receive(&mut switch, 0, 0, Wanted::to(1, rank)).is_empty());
    }
    let sent = run(&mut switch, Time::MAX);
    let order: Vec<(Time, u64)> = sent
        .iter()
        .map(|each| (each.at, rank_of(&each.frame)))
        .collect();
    // The first was on the line before the others came.
    let expected = [
        (1_000_000, 50),
        (2_000_000, 20),
        (3_000_000, 30),
        (4_000_000, 40),
        (5_000_000, 40),
    ];
    assert_eq!(order, expected);
}

#[test]
fn the_transmit_ring_is_served_in_order_of_arrival() {
    let mut switch = switch([
        (0, unlimited()),
        (
            1,
            PortConfig {
                transmit_ring: 2,
                ..line()
            },
        ),
    ]);
    for rank in [50, 40, 30, 20, 10] {
        receive(&mut switch, 0, 0, Wanted::to(1, rank));
    }
    let order: Vec<u64> = run(&mut switch, Time::MAX)
        .iter()
        .map(|each| rank_of(&each.frame))
        .collect();
    assert_eq!(order, [50, 40, 30, 10, 20]);
}

#[test]
fn egress_sees_the_queue() {
    let mut switch = switch([(0, unlimited()), (1, line())]);
    for _ in 0..3 {
        receive(&mut switch, 0, 0, Wanted::to(1, 0));
    }
    let sent = run(&mut switch, Time::MAX);
    // ranked.p4 writes the depth met (packets) and the time spent in the queue (µs) into the frame.
    let seen: Vec<(u8, u32)> = sent
        .iter()
        .map(|each| {
            let bytes = &each.frame.bytes;
            (
                bytes[0],
                u32::from_be_bytes([0, bytes[1], bytes[2], bytes[3]]),
            )
        })
        .collect();
    assert_eq!(seen, [(0, 0), (0, 1000), (1, 2000)]);
    let statistics = switch.statistics();
    let (number, port) = statistics.ports[1];
    assert_eq!(
        (number, port.queue_depth_max, port.queue_delay_packets),
        (1, 2, 3)
    );
    assert_eq!(
        (port.queue_delay_sum, port.queue_delay_max),
        (3_000_000, 2_000_000)
    );
}

#[test]
fn without_a_rank_the_highest_priority_goes_first() {
    let queues = PortConfig {
        queues: 8,
        ..line()
    };
    let mut switch = switch([(0, unlimited()), (1, queues)]);
    switch.install(pipeline(ROUTER, Executor::default()));
    let parameter = |name: &str, value: u8| vec![(name.to_owned(), vec![value])];
    let connect = Entry {
        matches: vec![("ingress_port".to_owned(), Match::Exact(vec![0]))],
        action: "RouterIngress.forward".to_owned(),
        params: parameter("port", 1),
        ..Entry::default()
    };
    let mut updates = vec![Update::Insert {
        table: "RouterIngress.cross_connect".to_owned(),
        entry: connect,
    }];
    // The type of service is the priority.
    updates.extend((1..8).map(|class| Update::Insert {
        table: "RouterIngress.classify".to_owned(),
        entry: Entry {
            matches: vec![(
                "tos".to_owned(),
                Match::Ternary {
                    value: vec![class],
                    mask: vec![255],
                },
            )],
            priority: 1,
            action: "RouterIngress.set_class".to_owned(),
            params: parameter("traffic_class", class),
            ..Entry::default()
        },
    }));
    assert!(switch.write(&updates, true).iter().all(Result::is_ok));

    let mut out = Output::new();
    for tos in [0, 3, 7, 3, 1] {
        let mut bytes = vec![0; 12];
        bytes.extend([0x08, 0x00, 0x45, tos]);
        bytes.resize(100, 0);
        switch.receive(0, 0, Frame::new(bytes), &mut out);
    }
    let order: Vec<u8> = run(&mut switch, Time::MAX)
        .iter()
        .map(|each| each.frame.bytes[15])
        .collect();
    assert_eq!(
        order,
        [0, 7, 3, 3, 1],
        "the first was on the line before the others came"
    );
}

#[test]
fn packets_of_another_program_are_dropped_and_counted() {
    let mut switch = switch([(0, unlimited()), (1, line())]);
    for rank in 0..3 {
        receive(&mut switch, 0, 0, Wanted::to(1, rank));
    }
    switch.install(pipeline(ROUTER, Executor::default()));
    assert_eq!(
        run(&mut switch, Time::MAX).len(),
        1,
        "the frame on the line is finished"
    );
    assert_eq!(switch.statistics().dropped.of(DropReason::Reloaded), 2);
    assert_eq!(switch.check(), 0);
}

#[test]
fn the_cpu_port_leads_to_controllers() {
    let mut switch = switch([(0, unlimited())]);
    let frames = switch.packet_ins();
    assert!(receive(&mut switch, 5, 0, Wanted::to(CPU_PORT, 0)).is_empty());
    assert_eq!(frames.take(std::time::Duration::ZERO).len(), 1);

    assert!(switch.packet_out(Wanted::to(0, 7).frame().bytes));
    assert_eq!(switch.next_tick(), Some(0), "at once");
    assert_eq!(switch.check(), 0);
    let sent = run(&mut switch, 10);
    assert_eq!(sent.iter().map(|each| each.port).collect::<Vec<_>>(), [0]);
    let statistics = switch.statistics();
    assert_eq!(
        (
            statistics.injected,
            statistics.to_cpu,
            statistics.transmitted
        ),
        (1, 1, 1)
    );
}

#[test]
fn an_overfull_packet_in_queue_is_counted() {
    let mut switch = switch([(0, unlimited())]);
    for _ in 0..5000 {
        receive(&mut switch, 0, 0, Wanted::to(CPU_PORT, 0));
    }
    let statistics = switch.statistics();
    assert_eq!(
        statistics.to_cpu + statistics.dropped.of(DropReason::CpuBuffer),
        5000
    );
    assert!(statistics.dropped.of(DropReason::CpuBuffer) > 0);
    assert_eq!(statistics.imbalance(), 0);
}

fn wanted() -> impl Strategy<Value = Wanted> {
    let port = prop_oneof![4 => 0u16..3, 1 => Just(300), 1 => Just(CPU_PORT), 1 => Just(511)];
    let verdict = prop_oneof![8 => Just(0u8), 1 => Just(1), 1 => Just(2)];
    (
        port,
        0u64..1000,
        verdict,
        prop::bool::weighted(0.1),
        14usize..1500,
    )
        .prop_map(|(port, rank, verdict, egress_drop, length)| Wanted {
            port,
            rank,
            verdict,
            egress_drop,
            length,
        })
}

#[derive(Clone, Debug)]
enum Step {
    Receive { port: Port, wanted: Wanted },
    PacketOut(Wanted),
    Tick(Time),
    Install,
    TakeOut,
    SetRate(Option<u64>),
}

fn step() -> impl Strategy<Value = Step> {
    let port = prop_oneof![8 => 0u16..3, 1 => Just(9)];
    prop_oneof![
        20 => (port, wanted()).prop_map(|(port, wanted)| Step::Receive { port, wanted }),
        2 => wanted().prop_map(Step::PacketOut),
        10 => (0u64..2_000_000).prop_map(Step::Tick),
        1 => Just(Step::Install),
        1 => Just(Step::TakeOut),
        1 => prop::option::of(1_000_000u64..100_000_000).prop_map(Step::SetRate),
    ]
}

proptest! {
    /// The conservation law holds after every step, and every port's counters are the frames that came and went.
    #[test]
    fn packets_are_conserved(
        steps in prop::collection::vec(step(), 1..200),
        ring in 0usize..4,
        buffer_packets in 1usize..6,
        burst in prop::option::of(0u32..3000),
    ) {
        let shaper = burst.map(|burst_bytes| ShaperConfig { rate_bps: 500_000, burst_bytes, overhead_bytes: 0 });
        let slow = PortConfig { transmit_ring: ring, buffer_packets, shaper, ..line() };
        let mut switch = switch([(0, unlimited()), (1, slow.clone()), (2, line())]);
        let packet_ins = switch.packet_ins();
        let (mut now, mut sent, mut seen_by_cpu) = (0, [0u64; 3], 0u64);
        let mut out = Output::new();
        for step in steps {
            out.begin(now);
            match step {
                Step::Receive { port, wanted } => switch.receive(now, port, wanted.frame(), &mut out),
                Step::PacketOut(wanted) => prop_assert!(switch.packet_out(wanted.frame().bytes)),
                Step::Tick(later) => {
                    now += later;
                    out.begin(now);
                    switch.tick(now, &mut out);
                }
                Step::Install => switch.install(pipeline(RANKED, Executor::default())),
                Step::TakeOut => drop(switch.take_pipeline()),
                Step::SetRate(rate_bps) => switch.set_port(1, PortConfig { rate_bps, ..slow.clone() }),
            }
            for each in out.drain() {
                sent[usize::from(each.port)] += 1;
            }
            seen_by_cpu += packet_ins.take(std::time::Duration::ZERO).len() as u64;
            prop_assert_eq!(switch.check(), 0);
        }
        let statistics = switch.statistics();
        prop_assert_eq!(statistics.transmitted, sent.iter().sum::<u64>());
        prop_assert_eq!(statistics.to_cpu, seen_by_cpu);
        for (number, port) in &statistics.ports {
            if let Some(sent) = sent.get(usize::from(*number)) {
                prop_assert_eq!(port.transmitted_packets, *sent);
            }
            if *number == 1 {
                prop_assert!(port.queue_depth_max <= buffer_packets as u64);
            }
        }
        // Everything leaves in the end.
        out.begin(now);
        switch.tick(now, &mut out);
        run(&mut switch, Time::MAX);
        prop_assert_eq!(switch.statistics().queued, 0);
        prop_assert_eq!(switch.check(), 0);
    }
}

#[test]
fn borrowed_frames_and_batches_are_received_like_frames() {
    let ports = || [(0, unlimited()), (1, line()), (2, unlimited())];
    let wanted: Vec<(Port, Frame)> = [(0, 1, 5), (9, 1, 4), (2, 1, 3), (0, 2, 2), (1, 300, 1)]
        .map(|(from, to, rank)| (from, Wanted::to(to, rank).frame()))
        .into();
    let borrowed = || wanted.iter().map(|(port, frame)| (*port, &frame.bytes[..]));
    let (mut one, mut borrowing, mut batch) = (switch(ports()), switch(ports()), switch(ports()));
    let [mut of_one, mut of_borrowing, mut of_batch] =
        [Output::new(), Output::new(), Output::new()];
    for (port, frame) in &wanted {
        one.receive(7, *port, frame.clone(), &mut of_one);
    }
    for (port, frame) in borrowed() {
        borrowing.receive_frame(7, port, frame, &mut of_borrowing);
    }
    batch.receive_batch(7, borrowed(), &mut of_batch);
    assert_eq!(of_one.sent().len(), 1);
    assert_eq!(of_one.sent(), of_borrowing.sent());
    assert_eq!(of_one.sent(), of_batch.sent());
    assert_eq!(one.statistics(), borrowing.statistics());
    assert_eq!(one.statistics(), batch.statistics());
    let rest = run(&mut one, Time::MAX);
    assert_eq!(rest.len(), 2);
    assert_eq!(rest, run(&mut batch, Time::MAX));
}
