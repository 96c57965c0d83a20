use super::*;
use crate::node::{Frame, Node, Output};
use crate::world::{WireConfig, World};

/// Ethernet, IPv4 and TCP with 4 bytes of payload and 2 of padding.
fn segment(identification: u8, sequence: u8) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 0xb, 2, 0, 0, 0, 0, 0xa, 0x08, 0x00];
    frame.extend([
        0x45,
        0x28,
        0,
        44,
        0,
        identification,
        0,
        0,
        64,
        6,
        0xab,
        0xcd,
    ]);
    frame.extend([10, 0, 0, 1, 10, 0, 0, 2]);
    frame.extend([4, 0, 0, 80, 0, 0, 0, sequence, 0, 0, 0, 9, 0x50, 0x18]);
    frame.extend([0x20, 0, 0x12, 0x34, 0, 0, 1, 2, 3, 4, 0xee, 0xee]);
    frame
}

fn of(frame: &[u8]) -> Vec<u8> {
    let mut into = Vec::new();
    content(frame, &mut into);
    into
}

fn changed(mut frame: Vec<u8>, at: usize) -> Vec<u8> {
    frame[at] ^= 0x01;
    frame
}

#[test]
fn content_is_what_routers_leave() {
    let frame = segment(1, 1);
    let whole = of(&frame);
    for (at, what) in [
        (0, "destination of Ethernet"),
        (11, "source of Ethernet"),
        (15, "type of service"),
        (22, "hop count"),
        (25, "header checksum"),
        (48, "window"),
        (51, "checksum of TCP"),
        (59, "padding"),
    ] {
        assert_eq!(of(&changed(frame.clone(), at)), whole, "{what}");
    }
    for (at, what) in [
        (19, "identification"),
        (23, "protocol"),
        (29, "source"),
        (33, "destination"),
        (35, "source port"),
        (41, "sequence number"),
        (47, "flags"),
        (57, "payload"),
    ] {
        assert_ne!(of(&changed(frame.clone(), at)), whole, "{what}");
    }
    let mut tagged = frame.clone();
    tagged.splice(12..12, [0x81, 0x00, 0xa0, 0x07]);
    assert_eq!(of(&tagged), whole);
}

#[test]
fn content_of_anything_is_something() {
    let frame = segment(1, 1);
    for length in 0..frame.len() {
        of(&frame[..length]);
    }
    let ipv6: Vec<u8> = [
        &[0; 12][..],
        &[0x86, 0xdd, 0x60, 0, 0, 0, 0, 9, 17, 64],
        &[1; 32],
        &[0, 7, 0, 8, 0, 9, 0xaa, 0xbb, 5],
    ]
    .concat();
    assert_eq!(of(&changed(ipv6.clone(), 21)), of(&ipv6), "hop limit");
    assert_eq!(of(&changed(ipv6.clone(), 61)), of(&ipv6), "checksum of UDP");
    assert_ne!(of(&changed(ipv6.clone(), 62)), of(&ipv6), "payload");
    assert_ne!(of(&[0; 14]), of(&[1; 14]), "a type of Ethernet");
}

/// Sends frames at their times by port 0 and takes all others.
struct Station(Vec<(Time, Vec<u8>)>);

impl Node for Station {
    fn receive(&mut self, _now: Time, _port: Port, _frame: Frame, _out: &mut Output) {}

    fn tick(&mut self, now: Time, out: &mut Output) {
        while self.0.first().is_some_and(|(at, _)| *at <= now) {
            out.send(now, 0, Frame::new(self.0.remove(0).1));
        }
    }

    fn next_tick(&self) -> Option<Time> {
        self.0.first().map(|(at, _)| *at)
    }
}

/// Between its ports 0 and 1: takes 7 ns, writes new addresses and a hop count one lower.
struct Router;

impl Node for Router {
    fn receive(&mut self, now: Time, port: Port, mut frame: Frame, out: &mut Output) {
        frame.bytes[5] = 0xcc;
        frame.bytes[22] -= 1;
        out.send(now + 7, 1 - port, frame);
    }

    fn tick(&mut self, _now: Time, _out: &mut Output) {}

    fn next_tick(&self) -> Option<Time> {
        None
    }
}

fn run(frames: Vec<(Time, Vec<u8>)>, most: usize, loss_per_million: u32) -> World {
    let mut world: World = World::new();
    let a = world.add_node("a", Box::new(Station(frames))).unwrap();
    let b = world.add_node("b", Box::new(Station(Vec::new()))).unwrap();
    let router = world.add_node("r", Box::new(Router)).unwrap();
    world.connect((a, 0), (router, 0), 10).unwrap();
    let config = WireConfig {
        delay_ns: 100,
        loss_per_million,
        seed: 1,
    };
    world.connect_by((router, 1), (b, 0), config).unwrap();
    let wanted: Wanted = Box::new(|_, frame| frame[35] == 0);
    world.follow(Following::new(BTreeSet::from([a, b]), most, wanted));
    world.run_until(10_000, &mut |_| true).unwrap();
    world
}

fn seen(world: &World) -> Vec<(Time, &str, Port, Way, usize)> {
    let following = world.following().unwrap();
    let sightings = following.sightings().iter();
    sightings
        .map(|seen| {
            (
                seen.at,
                world.name(seen.node),
                seen.port,
                seen.way,
                seen.content,
            )
        })
        .collect()
}

#[test]
fn a_packet_is_seen_at_every_port_until_it_is_there() {
    let other = changed(segment(2, 2), 35);
    let world = run(vec![(5, segment(1, 1)), (6, other)], 10, 0);
    assert_eq!(
        seen(&world),
        [
            (5, "a", 0, Way::Left, 0),
            (15, "r", 0, Way::Arrived, 0),
            (22, "r", 1, Way::Left, 0),
            (122, "b", 0, Way::Arrived, 0),
        ]
    );
    let following = world.following().unwrap();
    assert_eq!(
        (
            following.started(),
            following.under_way(),
            following.left_out()
        ),
        (1, 0, 0)
    );
    assert_eq!(following.sightings()[0].head, segment(1, 1));
    assert_eq!(following.sightings()[3].head[22], 63);
}

#[test]
fn equal_packets_share_a_number_and_each_is_seen() {
    let world = run(
        vec![(5, segment(1, 1)), (9, segment(1, 1)), (50, segment(1, 2))],
        10,
        0,
    );
    let numbers: Vec<usize> = seen(&world).iter().map(|seen| seen.4).collect();
    assert_eq!(numbers.len(), 12);
    assert_eq!(numbers.iter().filter(|number| **number == 0).count(), 8);
    assert_eq!(world.following().unwrap().under_way(), 0);
}

#[test]
fn those_beyond_the_number_are_counted_and_not_seen() {
    let frames = (0..20).map(|number| (u64::from(number), segment(number, number)));
    let world = run(frames.collect(), 3, 0);
    let following = world.following().unwrap();
    assert_eq!((following.started(), following.left_out()), (3, 17));
    assert_eq!(following.sightings().len(), 12);
}

#[test]
fn a_lost_packet_ends_on_its_wire() {
    let world = run(vec![(5, segment(1, 1))], 3, 1_000_000);
    assert_eq!(seen(&world).last(), Some(&(22, "r", 1, Way::Lost, 0)));
    assert_eq!(world.following().unwrap().under_way(), 0);
}
