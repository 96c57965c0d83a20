use std::sync::{Arc, Mutex};

use super::*;

/// The events of a node: (time, what).
type Log = Arc<Mutex<Vec<(Time, String)>>>;

/// Logs everything, sends each frame back after `answer_after` (ns), and ticks at the given times.
struct Recorder {
    name: &'static str,
    log: Log,
    answer_after: Option<Time>,
    ticks: Vec<Time>,
}

impl Recorder {
    fn new(name: &'static str, log: &Log) -> Box<Self> {
        Box::new(Self {
            name,
            log: Arc::clone(log),
            answer_after: None,
            ticks: Vec::new(),
        })
    }

    fn note(&self, now: Time, what: &str) {
        self.log
            .lock()
            .expect("no test panics while it holds the log")
            .push((now, format!("{} {what}", self.name)));
    }
}

impl Node for Recorder {
    fn receive(&mut self, now: Time, port: Port, frame: Frame, out: &mut Output) {
        self.note(now, &format!("port {port} gets {:?}", frame.bytes));
        if let Some(after) = self.answer_after {
            out.send(now + after, port, frame);
        }
    }

    fn tick(&mut self, now: Time, out: &mut Output) {
        self.ticks.retain(|due| *due > now);
        self.note(now, "ticks");
        out.send(now, 0, Frame::new(vec![1, 2, 3]));
    }

    fn next_tick(&self) -> Option<Time> {
        self.ticks.first().copied()
    }
}

fn lines(log: &Log) -> Vec<(Time, String)> {
    log.lock()
        .expect("no test panics while it holds the log")
        .clone()
}

fn expect(entries: &[(Time, &str)]) -> Vec<(Time, String)> {
    entries
        .iter()
        .map(|(at, what)| (*at, (*what).to_owned()))
        .collect()
}

#[test]
fn frames_cross_a_wire_after_its_delay_in_both_directions() {
    let log = Log::default();
    let mut world: World = World::new();
    let mut left = Recorder::new("left", &log);
    left.ticks = vec![100];
    let mut right = Recorder::new("right", &log);
    right.answer_after = Some(7);
    let left = world.add_node("left", left).expect("a new name");
    let right = world.add_node("right", right).expect("a new name");
    world
        .connect((left, 0), (right, 5), 20)
        .expect("free ports");

    let ended = world.run_until(1_000, &mut |_| true).expect("a run");
    assert_eq!(ended, Ended::Completed);
    assert_eq!(world.now(), 1_000);
    let expected = [
        (100, "left ticks"),
        (120, "right port 5 gets [1, 2, 3]"),
        (147, "left port 0 gets [1, 2, 3]"),
    ];
    assert_eq!(lines(&log), expect(&expected));
    let counters = world.ports(right).collect::<Vec<_>>();
    let expected = PortCounters {
        sent_frames: 1,
        sent_bytes: 3,
        lost_frames: 0,
        received_frames: 1,
        received_bytes: 3,
        unconnected_frames: 0,
    };
    assert_eq!(counters, [(5, expected)]);
    assert_eq!(world.events(), 4); // a tick, two arrivals, one departure ahead of time
    assert_eq!(world.frames_in_flight(), 0);
}

#[test]
fn events_of_one_time_happen_in_the_order_they_were_caused() {
    let log = Log::default();
    let mut world: World = World::new();
    for name in ["a", "b", "c"] {
        let mut node = Recorder::new(name, &log);
        node.ticks = vec![5];
        world.add_node(name, node).expect("a new name");
    }
    world.run_until(5, &mut |_| true).expect("a run");
    assert_eq!(
        lines(&log),
        expect(&[(5, "a ticks"), (5, "b ticks"), (5, "c ticks")])
    );
    assert_eq!(world.unconnected_frames(), 3);
    assert_eq!(world.frames_in_flight(), 0);
}

/// Its timer is `due`, which each frame moves to the frame's first byte.
struct Alarm {
    due: Option<Time>,
    fired: Arc<Mutex<Vec<Time>>>,
}

impl Node for Alarm {
    fn receive(&mut self, _now: Time, _port: Port, frame: Frame, _out: &mut Output) {
        self.due = frame.bytes.first().map(|byte| Time::from(*byte));
    }

    fn tick(&mut self, now: Time, _out: &mut Output) {
        assert_eq!(self.due.take(), Some(now));
        self.fired
            .lock()
            .expect("no test panics while it holds the list")
            .push(now);
    }

    fn next_tick(&self) -> Option<Time> {
        self.due
    }
}

/// Sends a frame with one byte at each of the given times.
struct Script(Vec<(Time, u8)>);

impl Node for Script {
    fn receive(&mut self, _now: Time, _port: Port, _frame: Frame, _out: &mut Output) {}

    fn tick(&mut self, now: Time, out: &mut Output) {
        while self.0.first().is_some_and(|(at, _)| *at <= now) {
            out.send(now, 0, Frame::new(vec![self.0.remove(0).1]));
        }
    }

    fn next_tick(&self) -> Option<Time> {
        self.0.first().map(|(at, _)| *at)
    }
}

#[test]
fn timers_that_move_either_way_fire_once_and_in_time() {
    let fired = Arc::new(Mutex::new(Vec::new()));
    let mut world: World = World::new();
    let alarm = Alarm {
        due: Some(100),
        fired: Arc::clone(&fired),
    };
    let alarm = world
        .add_node("alarm", Box::new(alarm))
        .expect("a new name");
    // 100 -> 50 -> 80 (fires), then 90 -> 200 (fires): earlier, later, and a stale event at 100 in between
    let script = Script(vec![(10, 50), (20, 80), (85, 90), (86, 200)]);
    let script = world
        .add_node("script", Box::new(script))
        .expect("a new name");
    world
        .connect((alarm, 0), (script, 0), 0)
        .expect("free ports");
    world.run_until(1_000, &mut |_| true).expect("a run");
    assert_eq!(
        *fired
            .lock()
            .expect("no test panics while it holds the list"),
        [80, 200]
    );
}

#[test]
fn a_run_can_be_stopped_and_goes_on_where_it_stopped() {
    let log = Log::default();
    let mut world: World = World::new();
    let mut node = Recorder::new("node", &log);
    node.ticks = (1..=100).collect();
    world.add_node("node", node).expect("a new name");
    let mut reports = Vec::new();
    let ended = world.run_until(100, &mut |now| {
        reports.push(now);
        now < 50
    });
    assert_eq!(ended.expect("a run"), Ended::Stopped);
    assert_eq!(reports.last(), Some(&50));
    assert_eq!(
        world.run_until(100, &mut |_| true).expect("a run"),
        Ended::Completed
    );
    assert_eq!(lines(&log).len(), 100);
}

#[test]
fn progress_is_reported_about_forty_times() {
    let mut world: World = World::new();
    let mut node = Recorder::new("node", &Log::default());
    node.ticks = (1..=1_000).collect();
    world.add_node("node", node).expect("a new name");
    let mut reports = 0;
    world
        .run_until(1_000, &mut |_| {
            reports += 1;
            true
        })
        .expect("a run");
    assert!((35..=45).contains(&reports), "{reports} reports");
}

#[test]
fn a_node_whose_timer_stands_still_ends_the_run() {
    struct Still;
    impl Node for Still {
        fn receive(&mut self, _now: Time, _port: Port, _frame: Frame, _out: &mut Output) {}
        fn tick(&mut self, _now: Time, _out: &mut Output) {}
        fn next_tick(&self) -> Option<Time> {
            Some(3)
        }
    }
    let mut world: World = World::new();
    world
        .add_node("still", Box::new(Still))
        .expect("a new name");
    let error = world.run_until(10, &mut |_| true).expect_err("no progress");
    assert_eq!(error.to_string(), "node still: events without end at 3 ns");
}

#[test]
fn names_and_ports_are_used_once() {
    let log = Log::default();
    let mut world: World = World::new();
    let a = world
        .add_node("a", Recorder::new("a", &log))
        .expect("a new name");
    let b = world
        .add_node("b", Recorder::new("b", &log))
        .expect("a new name");
    let error = world
        .add_node("a", Recorder::new("a", &log))
        .expect_err("the name is taken");
    assert_eq!(error.to_string(), "node a: the name is taken");
    world.connect((a, 0), (b, 0), 0).expect("free ports");
    let error = world
        .connect((a, 1), (b, 0), 0)
        .expect_err("the port is in use");
    assert_eq!(error.to_string(), "node b: port 0 has a wire already");
    assert!(world.connect((a, 2), (a, 2), 0).is_err());
    world
        .connect((a, 3), (a, 4), 0)
        .expect("a node may be wired to itself");
}

#[test]
fn a_tap_sees_both_directions_in_order_of_time() {
    let path = std::env::temp_dir().join(format!("phb-network-tap-{}.pcap", std::process::id()));
    let log = Log::default();
    let mut world: World = World::new();
    let mut left = Recorder::new("left", &log);
    left.ticks = vec![100];
    let left = world.add_node("left", left).expect("a new name");
    let mut right = Recorder::new("right", &log);
    right.answer_after = Some(7);
    let right = world.add_node("right", right).expect("a new name");
    world
        .connect((left, 0), (right, 0), 20)
        .expect("free ports");
    world
        .tap(left, 0, &path)
        .expect("a file in the temporary folder");
    world.run_until(1_000, &mut |_| true).expect("a run");
    let bytes = std::fs::read(&path).expect("the capture");
    std::fs::remove_file(&path).expect("the capture");
    let times: Vec<u8> = bytes[24..].chunks(19).map(|record| record[4]).collect();
    assert_eq!(times, [100, 147]);

    let missing = Path::new("/nowhere/at/all.pcap");
    assert!(
        world
            .tap(left, 0, missing)
            .expect_err("no such folder")
            .to_string()
            .starts_with("capture /nowhere")
    );
}

/// Sends a frame every nanosecond up to a time, and keeps when it got one.
#[derive(Default)]
struct Pulse {
    now: Time,
    until: Time,
    got: Vec<Time>,
}

impl Node for Pulse {
    fn receive(&mut self, now: Time, _port: Port, _frame: Frame, _out: &mut Output) {
        self.got.push(now);
    }

    fn tick(&mut self, now: Time, out: &mut Output) {
        self.now = now;
        out.send(now, 0, Frame::new(vec![1]));
    }

    fn next_tick(&self) -> Option<Time> {
        (self.now < self.until).then_some(self.now + 1)
    }
}

/// Frames that went in, came out and were lost on a wire that loses some, in each direction; and when they came.
fn lossy(loss_per_million: u32, seed: u64) -> ([PortCounters; 2], Vec<Vec<Time>>) {
    let mut world: World<Pulse> = World::new();
    let ids = ["left", "right"].map(|name| {
        let node = Pulse {
            until: 20_000,
            ..Pulse::default()
        };
        world.add_node(name, node).expect("a new name")
    });
    let config = WireConfig {
        delay_ns: 5,
        loss_per_million,
        seed,
    };
    world
        .connect_by((ids[0], 0), (ids[1], 0), config)
        .expect("free ports");
    world.run_until(20_003, &mut |_| true).expect("a run");
    let counters = ids.map(|id| world.ports(id).next().expect("its port").1);
    let [left, right] = counters;
    assert_eq!(world.lost_frames(), left.lost_frames + right.lost_frames);
    assert_eq!(
        left.sent_frames + right.sent_frames,
        left.received_frames
            + right.received_frames
            + world.lost_frames()
            + world.frames_on_wires()
    );
    let got = world.nodes().map(|(_, _, node)| node.got.clone());
    (counters, got.collect())
}

#[test]
fn a_wire_loses_the_share_it_is_told_in_either_direction() {
    // Of 20,000 frames with probability p, 20,000 p +- 3.29 sqrt(20,000 p (1 - p)) are lost with 99.9 % probability.
    for (loss_per_million, low, high) in [
        (1_000, 6, 34),
        (50_000, 899, 1_101),
        (500_000, 9_768, 10_232),
    ] {
        let ([left, right], _) = lossy(loss_per_million, 1);
        for port in [left, right] {
            assert_eq!(port.sent_frames, 20_000);
            assert!(
                (low..=high).contains(&port.lost_frames),
                "{loss_per_million}: {port:?}"
            );
        }
        assert_ne!(left.lost_frames, right.lost_frames, "each draws by itself");
    }
    assert_eq!(lossy(0, 1).0.map(|port| port.lost_frames), [0, 0]);
    assert_eq!(
        lossy(1_000_000, 1).0.map(|port| port.received_frames),
        [0, 0]
    );
}

#[test]
fn the_same_seed_loses_the_same_frames() {
    assert_eq!(lossy(100_000, 3), lossy(100_000, 3));
    assert_ne!(lossy(100_000, 3).1, lossy(100_000, 4).1);
}

#[test]
fn more_than_all_frames_can_not_be_lost() {
    let log = Log::default();
    let mut world: World = World::new();
    let a = world
        .add_node("a", Recorder::new("a", &log))
        .expect("a new name");
    let config = WireConfig {
        loss_per_million: 1_000_001,
        ..WireConfig::default()
    };
    let error = world
        .connect_by((a, 0), (a, 1), config)
        .expect_err("too much");
    assert_eq!(
        error.to_string(),
        "1000001 of a million frames are to be lost, at most 1000000 can be"
    );
}
