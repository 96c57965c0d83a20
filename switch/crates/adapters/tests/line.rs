//! A line as a node does what a wire of a world does: the same frames come, at the same times.

use phb_adapters::Line;
use phb_network::{Frame, Node, Output, Port, Time, WireConfig, World};
use proptest::prelude::*;

/// What the ends send, one frame per nanosecond.
const FRAMES: Time = 20_000;

/// Frames with the times of their arrival.
type Got = Vec<(Time, Vec<u8>)>;

enum Member {
    Line(Box<Line>),
    /// Sends a frame every nanosecond, and keeps when which came.
    Pulse {
        now: Time,
        last: Time,
        got: Got,
    },
}

impl Node for Member {
    fn receive(&mut self, now: Time, port: Port, frame: Frame, out: &mut Output) {
        match self {
            Self::Line(line) => line.receive(now, port, frame, out),
            Self::Pulse { got, .. } => got.push((now, frame.bytes)),
        }
    }

    fn tick(&mut self, at: Time, out: &mut Output) {
        match self {
            Self::Line(line) => line.tick(at, out),
            Self::Pulse { now, .. } => {
                *now = at;
                out.send(at, 0, Frame::new(at.to_be_bytes().to_vec()));
            }
        }
    }

    fn next_tick(&self) -> Option<Time> {
        match self {
            Self::Line(line) => line.next_tick(),
            Self::Pulse { now, last, .. } => (now < last).then_some(now + 1),
        }
    }
}

/// What came to either end, over a wire of this kind or over a line of this kind.
fn passed(config: WireConfig, last: Time, by_line: bool) -> (Vec<Got>, World<Member>) {
    let mut world = World::new();
    let [left, right] = ["left", "right"].map(|name| {
        let pulse = Member::Pulse {
            now: 0,
            last,
            got: Vec::new(),
        };
        world.add_node(name, pulse).expect("a new name")
    });
    if by_line {
        let line = Line::new(config).expect("a line");
        let line = world
            .add_node("line", Member::Line(Box::new(line)))
            .expect("a new name");
        for (node, port) in [(left, 0), (right, 1)] {
            world
                .connect((node, 0), (line, port), 0)
                .expect("free ports");
        }
    } else {
        world
            .connect_by((left, 0), (right, 0), config)
            .expect("free ports");
    }
    world.run_until(last + 3, &mut |_| true).expect("a run");
    let got = world.nodes().filter_map(|(_, _, member)| match member {
        Member::Pulse { got, .. } => Some(got.clone()),
        Member::Line(_) => None,
    });
    (got.collect(), world)
}

#[test]
fn a_line_delays_and_loses_the_share_that_it_is_told_in_either_direction() {
    // Of 20,000 frames with probability p, 20,000 p +- 3.29 sqrt(20,000 p (1 - p)) are lost with 99.9 % probability.
    for (loss_per_million, low, high) in [
        (0, 0, 0),
        (1_000, 6, 34),
        (50_000, 899, 1_101),
        (500_000, 9_768, 10_232),
        (1_000_000, 20_000, 20_000),
    ] {
        let config = WireConfig {
            delay_ns: 5,
            loss_per_million,
            seed: 1,
        };
        let (got, world) = passed(config, FRAMES, true);
        for (at, bytes) in got.iter().flatten() {
            let sent = Time::from_be_bytes(bytes.as_slice().try_into().expect("eight bytes"));
            assert_eq!(at - sent, 5);
        }
        let line = world.nodes().find_map(|(_, _, member)| match member {
            Member::Line(line) => Some(line.statistics()),
            Member::Pulse { .. } => None,
        });
        let line = line.expect("the line");
        for (way, came) in [(line.outbound, got[1].len()), (line.inbound, got[0].len())] {
            assert!(
                (low..=high).contains(&way.dropped_loss),
                "{loss_per_million}: {way:?}"
            );
            assert_eq!(way.received, FRAMES);
            assert_eq!(way.received, way.sent + way.dropped() + way.held, "{way:?}");
            assert_eq!(way.sent, came as u64);
            assert_eq!(way.sent_bytes, 8 * way.sent);
        }
    }
}

#[test]
fn more_than_all_frames_can_not_be_lost() {
    let config = WireConfig {
        loss_per_million: 1_000_001,
        ..WireConfig::default()
    };
    let refused = Line::new(config).err().expect("too many").to_string();
    assert_eq!(
        refused,
        "loss_per_million: 1000001 of a million frames are to be lost, at most 1000000 can be"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// The model is the wire of a world.
    #[test]
    fn a_line_is_a_wire(delay in 0_u64..50, loss_per_million in 0_u32..=1_000_000, seed: u64) {
        let config = WireConfig { delay_ns: delay, loss_per_million, seed };
        prop_assert!(passed(config, 2_000, true).0 == passed(config, 2_000, false).0);
    }
}
