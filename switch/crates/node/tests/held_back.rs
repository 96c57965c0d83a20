//! A switch on interfaces whose queueing discipline holds frames back, in a network namespace of
//! the test's own. The program writes into each frame how many packets waited before it and for how
//! long (ranked.p4).

mod common;

use std::ops::Range;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use nix::sched::{CloneFlags, unshare};
use phb_node::{RealTime, RunnerConfig, SwitchNode, unlimited};
use phb_ports::{PacketPort, Port, PortCounters};

const RANKED: &str = include_str!("../../../python/tests/programs/ranked.json");
const PATIENCE: Duration = Duration::from_secs(20);
/// More than any bound on what a slow interface holds.
const FRAMES: u8 = 40;

/// Runs a command; gives why it failed.
fn run(command: &str) -> Result<(), String> {
    let words: Vec<&str> = command.split(' ').collect();
    let output = Command::new(words[0]).args(&words[1..]).output();
    let output = output.map_err(|error| format!("{command}: {error}"))?;
    let errors = String::from_utf8_lossy(&output.stderr);
    let failed = || Err(format!("{command}: {}", errors.trim()));
    if output.status.success() {
        Ok(())
    } else {
        failed()
    }
}

/// A switch with port 1 at `left` and port 2 at `right`, and the other ends of their cables.
struct Bench {
    runner: RealTime,
    switch: Arc<Mutex<SwitchNode>>,
    sender: PacketPort,
    receiver: PacketPort,
}

impl Bench {
    /// In a new network namespace, after `commands`; or why there is none.
    fn new(commands: &[&str]) -> Result<Self, String> {
        unshare(CloneFlags::CLONE_NEWNET).map_err(|error| format!("no namespace: {error}"))?;
        for (near, far) in [("left", "far_left"), ("right", "far_right")] {
            run(&format!("ip link add {near} type veth peer name {far}"))?;
            for name in [near, far] {
                // No neighbour discovery: the only frames are the test's.
                let file = format!("/proc/sys/net/ipv6/conf/{name}/disable_ipv6");
                let _ = std::fs::write(file, "1");
                run(&format!("ip link set {name} up"))?;
            }
        }
        commands.iter().try_for_each(|command| run(command))?;
        let open = |name| PacketPort::open(name).expect("an interface");
        let ports: [(u16, Box<dyn Port>); 2] =
            [(1, Box::new(open("left"))), (2, Box::new(open("right")))];
        let ports_of_switch = [(1, unlimited()), (2, unlimited())];
        let switch = common::switch(RANKED, None, ports_of_switch);
        let switch = Arc::new(Mutex::new(switch));
        let config = RunnerConfig::default();
        let mut runner = RealTime::new(Arc::clone(&switch), ports, config).expect("a descriptor");
        runner.start().expect("a thread");
        Ok(Self {
            runner,
            switch,
            sender: open("far_left"),
            receiver: open("far_right"),
        })
    }

    fn right(&self) -> PortCounters {
        let mut ports = self.runner.statistics();
        ports.swap_remove(1).2
    }

    fn wait_until(&self, condition: impl Fn(&Self) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !condition(self) {
            assert!(Instant::now() < end, "{:?}", self.right());
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Sends frames of these numbers through the switch.
    fn send(&mut self, numbers: Range<u8>, length: usize) {
        for number in numbers {
            let mut frame = vec![0; length];
            frame[5] = 2;
            frame[14..].fill(number);
            self.sender.send(0, &frame);
        }
        self.sender.flush();
    }

    /// The numbers of frames up to `last`, and the greatest depth that one of them met.
    fn receive(&mut self, last: u8) -> (Vec<u8>, u8) {
        let end = Instant::now() + PATIENCE;
        let (mut numbers, mut depth) = (Vec::new(), 0);
        while numbers.last() != Some(&last) {
            assert!(Instant::now() < end, "of {last}: {numbers:?}");
            self.receiver.receive(0, 64, &mut |frame| {
                numbers.push(frame[14]);
                depth = depth.max(frame[0]);
            });
        }
        (numbers, depth)
    }

    fn received(&self) -> u64 {
        self.switch.lock().expect("no panic").statistics().received
    }
}

/// Says why a test can't run here.
fn available(bench: Result<Bench, String>) -> Option<Bench> {
    bench.map_err(|why| eprintln!("skipped: {why}")).ok()
}

#[test]
fn a_queue_builds_up_where_a_discipline_holds_frames_back() {
    let slow = "tc qdisc add dev right root handle 5: tbf rate 1mbit burst 2000 limit";
    let htb = [
        "tc qdisc add dev right root handle 5: htb default 1",
        "tc class add dev right parent 5: classid 5:1 htb rate 1mbit burst 2000 quantum 1500",
    ];
    // What is set, the kind, the frames' length, and whether they wait.
    let cases: [(&[&str], _, _, _); 6] = [
        (&[], None, 1000, false),
        (
            &["tc qdisc add dev right root handle 5: pfifo limit 100"],
            Some("pfifo"),
            1000,
            false,
        ),
        (&[&format!("{slow} 100000")], Some("tbf"), 1000, true),
        (&[&format!("{slow} 100000")], Some("tbf"), 200, true),
        // It has room for two frames: none is lost there either.
        (&[&format!("{slow} 3000")], Some("tbf"), 1000, true),
        (&htb, Some("htb"), 1000, true),
    ];
    for (commands, kind, length, waits) in cases {
        // A namespace each: a new one is entered, and the last one ends with its interfaces.
        let Some(mut bench) = available(Bench::new(commands)) else {
            return;
        };
        bench.wait_until(|bench| bench.right().discipline.as_deref() == kind);
        bench.send(0..FRAMES, length);
        let (numbers, depth) = bench.receive(FRAMES - 1);
        assert!((0..FRAMES).eq(numbers), "{commands:?}: in order");
        assert_eq!(depth > 0, waits, "{commands:?}: depth {depth}");
        let counted = bench.right();
        assert_eq!(counted.held_back > 0, waits, "{commands:?}");
        assert_eq!(counted.send_errors, 0, "{commands:?}");
        assert_eq!(bench.switch.lock().expect("no panic").check(), 0);
    }
}

#[test]
fn a_discipline_may_come_and_go_under_the_running_switch() {
    let Some(mut bench) = available(Bench::new(&[])) else {
        return;
    };
    bench.send(0..FRAMES, 1000);
    assert_eq!(bench.receive(FRAMES - 1).1, 0);
    let slow = "tc qdisc add dev right root handle 5: tbf rate 8kbit burst 2000 limit 100000";
    if let Err(why) = run(slow) {
        return eprintln!("skipped: {why}");
    }
    bench.wait_until(|bench| bench.right().discipline.as_deref() == Some("tbf"));
    bench.send(FRAMES..2 * FRAMES, 1000);
    // The other port goes on, and most frames wait in the switch: each takes a second.
    bench.wait_until(|bench| bench.received() == 2 * u64::from(FRAMES));
    let queued = |bench: &Bench| bench.switch.lock().expect("no panic").statistics().queued;
    assert!(queued(&bench) > u64::from(FRAMES) / 2);
    // What the discipline holds goes with it, the rest leaves at once.
    run("tc qdisc del dev right root").expect("it is there");
    bench.wait_until(|bench| bench.right().discipline.is_none() && queued(bench) == 0);
    bench.send(2 * FRAMES..3 * FRAMES, 1000);
    let (numbers, _) = bench.receive(3 * FRAMES - 1);
    let lost = 2 * usize::from(FRAMES) - numbers.len();
    assert!(numbers.is_sorted() && lost < usize::from(FRAMES) / 2);
}

#[test]
fn an_interface_that_goes_down_holds_nothing_back_for_ever() {
    let slow = "tc qdisc add dev right root handle 5: tbf rate 8kbit burst 2000 limit 100000";
    let Some(mut bench) = available(Bench::new(&[slow])) else {
        return;
    };
    bench.wait_until(|bench| bench.right().discipline.is_some());
    bench.send(0..FRAMES, 1000);
    bench.wait_until(|bench| bench.right().held_back > 0);
    run("ip link set right down").expect("it is up");
    let queued = |bench: &Bench| bench.switch.lock().expect("no panic").statistics().queued;
    bench.wait_until(|bench| bench.received() == u64::from(FRAMES) && queued(bench) == 0);
    assert!(bench.right().send_errors > 0);
}
