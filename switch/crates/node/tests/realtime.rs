//! The runner, on ports in memory and on capture files.

mod common;

use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use phb_network::pcap::PcapWriter;
use phb_network::{Frame, Node, Output, Port, Time};
use phb_node::{DropReason, LiveNode, RealTime, RunnerConfig, SwitchNode, unlimited};
use phb_ports::memory::Far;
use phb_ports::pcap::PcapReader;
use phb_ports::{CapturedPort, FilePort, MemoryPort};
use phb_traffic_manager::PortConfig;

const RANKED: &str = include_str!("../../../python/tests/programs/ranked.json");
const PATIENCE: Duration = Duration::from_secs(20);

fn switch(second: PortConfig) -> Arc<Mutex<SwitchNode>> {
    let ports = [(1, unlimited()), (2, second), (3, unlimited())];
    Arc::new(Mutex::new(common::switch(RANKED, Some(510), ports)))
}

/// A frame that the program sends to `port`.
fn frame(port: u16, number: u8) -> Vec<u8> {
    let mut bytes = vec![0; 4];
    bytes.extend(port.to_be_bytes());
    bytes.extend([0; 8]);
    bytes.resize(100, number);
    bytes
}

fn memory(name: &str) -> (Box<dyn phb_ports::Port>, Far) {
    let (port, far) = MemoryPort::new(name).expect("an event descriptor");
    (Box::new(port), far)
}

/// Frames that came, as soon as there are `count` of them.
fn wait_for(far: &Far, count: usize) -> Vec<Vec<u8>> {
    let end = Instant::now() + PATIENCE;
    let mut frames = far.take();
    while frames.len() < count {
        assert!(Instant::now() < end, "{} of {count} frames", frames.len());
        std::thread::sleep(Duration::from_millis(1));
        frames.extend(far.take());
    }
    frames
}

fn directory(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("phb-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&path).expect("a directory");
    path
}

#[test]
fn frames_pass_in_order_until_it_stops() {
    for busy_poll in [Duration::ZERO, Duration::from_micros(200)] {
        let ((first, far_first), (second, far_second)) = (memory("first"), memory("second"));
        let switch = switch(unlimited());
        let config = RunnerConfig {
            busy_poll,
            ..RunnerConfig::default()
        };
        let mut runner = RealTime::new(Arc::clone(&switch), [(1, first), (2, second)], config)
            .expect("an event descriptor");
        assert!(!runner.is_running());
        assert!(runner.start().expect("a thread"));
        assert!(!runner.start().expect("no second thread"));
        // More than a batch, and some for a port without an interface, which lead nowhere.
        let sent: Vec<_> = (0..200).map(|number| frame(2, number)).collect();
        for each in &sent {
            far_first.send(each.clone());
            far_first.send(frame(3, 0));
        }
        assert_eq!(wait_for(&far_second, sent.len()), sent);
        far_second.send(frame(1, 7));
        assert_eq!(wait_for(&far_first, 1), [frame(1, 7)]);
        runner.stop();
        assert!(!runner.is_running());
        assert_eq!(runner.error(), None);
        let switch = switch.lock().expect("nobody has panicked");
        assert_eq!((switch.statistics().received, switch.check()), (401, 0));
    }
}

#[test]
fn its_thread_runs_in_real_time_where_it_may() {
    let (first, _) = memory("first");
    let config = RunnerConfig {
        real_time: Some(1),
        ..RunnerConfig::default()
    };
    let node = Arc::new(Mutex::new(Named));
    let mut runner = RealTime::new(node, [(1, first)], config).expect("an event descriptor");
    match runner.start() {
        Ok(_) => {
            let end = Instant::now() + PATIENCE;
            // A thread gives itself its name.
            while policies("node-named").is_empty() {
                assert!(Instant::now() < end, "no such thread");
                std::thread::yield_now();
            }
            assert_eq!(policies("node-named"), [SCHED_RR]);
        }
        Err(error) => {
            assert_eq!(error.kind(), ErrorKind::PermissionDenied);
            assert!(!runner.is_running());
        }
    }
}

/// From linux/sched.h.
const SCHED_RR: u32 = 2;

/// Scheduling policies of the threads of that name (proc(5), the 41st field of `stat`).
fn policies(name: &str) -> Vec<u32> {
    let tasks = std::fs::read_dir("/proc/self/task").expect("a directory");
    let lines =
        tasks.filter_map(|task| std::fs::read_to_string(task.ok()?.path().join("stat")).ok());
    let of_name = |line: String| {
        let (before, after) = line.rsplit_once(") ")?;
        let fields = before.ends_with(&format!("({name}")).then_some(after)?;
        fields.split(' ').nth(41 - 3)?.parse().ok()
    };
    lines.filter_map(of_name).collect()
}

/// A node with a thread's name of its own.
struct Named;

impl Node for Named {
    fn receive(&mut self, _now: Time, _port: Port, _frame: Frame, _out: &mut Output) {}

    fn tick(&mut self, _now: Time, _out: &mut Output) {}

    fn next_tick(&self) -> Option<Time> {
        None
    }
}

impl LiveNode for Named {
    fn name(&self) -> &str {
        "named"
    }
}

#[test]
fn a_packet_out_wakes_it() {
    let (first, far) = memory("first");
    let switch = switch(unlimited());
    let mut runner = RealTime::new(Arc::clone(&switch), [(1, first)], RunnerConfig::default())
        .expect("an event descriptor");
    runner.start().expect("a thread");
    let accepted = switch
        .lock()
        .expect("nobody has panicked")
        .packet_out(frame(1, 9));
    assert!(accepted);
    assert_eq!(wait_for(&far, 1), [frame(1, 9)]);
}

#[test]
fn it_starts_and_stops_at_once() {
    let (first, _far) = memory("first");
    let mut runner = RealTime::new(switch(unlimited()), [(1, first)], RunnerConfig::default())
        .expect("an event descriptor");
    for _ in 0..100 {
        assert!(runner.start().expect("a thread"));
        runner.stop();
        assert_eq!(runner.error(), None);
    }
}

#[test]
fn a_line_paces_frames() {
    let ((first, far_first), (second, far_second)) = (memory("first"), memory("second"));
    // 100 bytes take 2 ms.
    let line = PortConfig {
        rate_bps: Some(400_000),
        ..unlimited()
    };
    let mut runner = RealTime::new(
        switch(line),
        [(1, first), (2, second)],
        RunnerConfig::default(),
    )
    .expect("an event descriptor");
    runner.start().expect("a thread");
    let begin = Instant::now();
    for number in 0..50 {
        far_first.send(frame(2, number));
    }
    assert_eq!(wait_for(&far_second, 50).len(), 50);
    assert!(begin.elapsed() >= Duration::from_millis(2 * 49));
}

#[test]
fn capture_files_are_replayed_and_written() {
    let directory = directory("files");
    let input = |name: &str, frames: &[(u64, Vec<u8>)]| {
        let path = directory.join(name);
        let file = std::fs::File::create(&path).expect("a file");
        let mut writer = PcapWriter::new(file).expect("a capture");
        for (time, frame) in frames {
            writer.write(*time, frame).expect("a frame");
        }
        path
    };
    // The earliest frame is in the second file; 30 ms later comes the other.
    const START: u64 = 1_700_000_000_000_000_000;
    let first_in = input("a_in.pcap", &[(START + 30_000_000, frame(2, 1))]);
    let second_in = input("b_in.pcap", &[(START, frame(1, 2)), (START, frame(1, 3))]);
    let (first_out, second_out) = (directory.join("a_out.pcap"), directory.join("b_out.pcap"));
    let wait = 20_000_000;
    let first = FilePort::open("a", Some(&first_in), Some(&first_out), wait).expect("files");
    let second = FilePort::open("b", Some(&second_in), Some(&second_out), wait).expect("files");
    let first = CapturedPort::new(Box::new(first), &directory.join("log"));
    assert!(first.is_err(), "there is no such directory");
    std::fs::create_dir_all(directory.join("log")).expect("a directory");
    let first = FilePort::open("a", Some(&first_in), Some(&first_out), wait).expect("files");
    let first = CapturedPort::new(Box::new(first), &directory.join("log")).expect("files");

    let read = |path: &PathBuf| {
        let file = std::fs::File::open(path).expect("a file");
        let mut reader = PcapReader::new(file, "out".to_owned()).expect("a capture");
        let mut frames = Vec::new();
        while let Some(time) = reader.advance().expect("whole frames") {
            frames.push((time, reader.frame().to_vec()));
        }
        frames
    };
    let before = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("it is after 1970")
        .as_nanos();
    let mut runner = RealTime::new(
        switch(unlimited()),
        [
            (1, Box::new(first) as Box<dyn phb_ports::Port>),
            (2, Box::new(second)),
        ],
        RunnerConfig::default(),
    )
    .expect("an event descriptor");
    runner.start().expect("a thread");
    let end = Instant::now() + PATIENCE;
    while read(&second_out).is_empty() || read(&first_out).len() < 2 {
        assert!(Instant::now() < end, "nothing more is written");
        std::thread::sleep(Duration::from_millis(1));
    }
    runner.stop();
    let (to_first, to_second) = (read(&first_out), read(&second_out));
    let bytes = |frames: &[(u64, Vec<u8>)]| {
        frames
            .iter()
            .map(|(_, frame)| frame.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(bytes(&to_first), [frame(1, 2), frame(1, 3)]);
    assert_eq!(bytes(&to_second), [frame(2, 1)]);
    assert!(u128::from(to_first[0].0) >= before + u128::from(wait));
    assert!(u128::from(to_second[0].0) >= before + u128::from(wait) + 30_000_000);
    assert_eq!(read(&directory.join("log/a_out.pcap")), to_first);
    assert_eq!(
        bytes(&read(&directory.join("log/a_in.pcap"))),
        [frame(2, 1)]
    );
    std::fs::remove_dir_all(&directory).expect("our directory");
}

/// Sends each frame out again as many milliseconds later as its first byte says.
struct Delay;

impl Node for Delay {
    fn receive(&mut self, now: Time, port: Port, frame: Frame, out: &mut Output) {
        let delay = Time::from(frame.bytes[0]) * 1_000_000;
        out.send(now + delay, port, frame);
    }

    fn tick(&mut self, _now: Time, _out: &mut Output) {}

    fn next_tick(&self) -> Option<Time> {
        None
    }
}

impl LiveNode for Delay {
    fn name(&self) -> &str {
        "delay"
    }
}

#[test]
fn any_node_runs_and_frames_leave_at_their_time() {
    let (port, far) = memory("line");
    let node = Arc::new(Mutex::new(Delay));
    let mut runner = RealTime::new(node, [(0, port)], RunnerConfig::default()).expect("an event");
    let sent = Instant::now();
    for delay in [60, 20, 40, 20] {
        far.send(vec![delay; 60]);
    }
    runner.start().expect("a thread");
    let order: Vec<_> = wait_for(&far, 4).iter().map(|frame| frame[0]).collect();
    assert_eq!(order, [20, 20, 40, 60]);
    assert!(sent.elapsed() >= Duration::from_millis(60));
    runner.stop();
    assert_eq!(runner.error(), None);
}

/// A file that takes no more (a pipe whose reader has gone): frames pass as before, those missing are counted.
#[test]
fn a_capture_that_can_not_be_written_holds_nothing_up() {
    let directory = directory("unwritable");
    let received = directory.join("a_in.pcap");
    let made = std::process::Command::new("mkfifo").arg(&received).status();
    assert!(made.expect("mkfifo runs").success());
    // As long as it is open, making the capture doesn't wait for a reader.
    let reader = std::fs::OpenOptions::new()
        .read(true)
        .write(true)
        .open(&received);
    let ((first, far_first), (second, far_second)) = (memory("a"), memory("b"));
    let first = CapturedPort::new(first, &directory).expect("files");
    drop(reader);
    let ports = [
        (1, Box::new(first) as Box<dyn phb_ports::Port>),
        (2, second),
    ];
    let mut runner = RealTime::new(switch(unlimited()), ports, RunnerConfig::default())
        .expect("an event descriptor");
    runner.start().expect("a thread");
    let sent: Vec<_> = (0..3).map(|number| frame(2, number)).collect();
    for each in &sent {
        far_first.send(each.clone());
        assert_eq!(wait_for(&far_second, 1), std::slice::from_ref(each));
    }
    runner.stop();
    let failure = format!("{}: Broken pipe; no more is written", received.display());
    assert_eq!(runner.failures(), [failure]);
    let not_captured = runner
        .statistics()
        .into_iter()
        .map(|(.., counted)| counted.not_captured);
    assert_eq!(not_captured.collect::<Vec<_>>(), [3, 0]);
    std::fs::remove_dir_all(directory).expect("it is there");
}

/// A queue whose packets the other side takes one by one, as an interface with a slow discipline.
#[test]
fn what_an_interface_holds_back_waits_in_the_queues_and_leaves_in_order() {
    let (first, far_first) = memory("first");
    let (second, far_second) = MemoryPort::new("second").expect("an event descriptor");
    let switch = switch(PortConfig {
        buffer_packets: 20,
        ..unlimited()
    });
    let ports: [(u16, Box<dyn phb_ports::Port>); 2] =
        [(1, first), (2, Box::new(second.holding(3)))];
    let mut runner = RealTime::new(Arc::clone(&switch), ports, RunnerConfig::default())
        .expect("an event descriptor");
    assert!(runner.start().expect("a thread"));
    // More than a batch: 3 go to the interface, 20 wait, the rest finds no room. Another port's
    // frames pass them.
    for number in 0..200 {
        far_first.send(frame(2, number));
    }
    far_first.send(frame(1, 0));
    assert_eq!(wait_for(&far_first, 1), [frame(1, 0)]);
    {
        let switch = switch.lock().expect("nobody has panicked");
        let statistics = switch.statistics();
        assert_eq!((statistics.queued, statistics.transmitted), (20, 4));
        assert_eq!(statistics.dropped.of(DropReason::Buffer), 177);
        assert_eq!(switch.check(), 0);
    }
    let mut frames = Vec::new();
    let end = Instant::now() + PATIENCE;
    while frames.len() < 23 {
        assert!(Instant::now() < end, "{} of 23 frames", frames.len());
        frames.extend(far_second.take_one());
    }
    assert!((0..23).eq(frames.iter().map(|frame| frame[14])), "in order");
    // The program writes how long a packet has waited in us (ranked.p4): the first ones didn't.
    let waited = frames.iter().map(|frame| frame[..4] != [0; 4]);
    assert!((0..23).map(|number| number >= 3).eq(waited));
    runner.stop();
    let switch = switch.lock().expect("nobody has panicked");
    assert_eq!((switch.statistics().queued, switch.check()), (0, 0));
    let ports = switch.statistics().ports;
    let (_, second) = ports
        .iter()
        .find(|(port, _)| *port == 2)
        .expect("it is there");
    assert_eq!(
        (second.queue_depth_max, second.queue_delay_packets),
        (20, 23)
    );
}

/// The next runner has another interface at the port, which holds nothing back.
#[test]
fn what_waited_leaves_by_the_next_runner() {
    let (first, far_first) = memory("first");
    let (held, far_held) = MemoryPort::new("second").expect("an event descriptor");
    let switch = switch(unlimited());
    let ports: [(u16, Box<dyn phb_ports::Port>); 2] = [(1, first), (2, Box::new(held.holding(1)))];
    let mut runner = RealTime::new(Arc::clone(&switch), ports, RunnerConfig::default())
        .expect("an event descriptor");
    assert!(runner.start().expect("a thread"));
    for number in 0..5 {
        far_first.send(frame(2, number));
    }
    far_first.send(frame(1, 0));
    wait_for(&far_first, 1);
    runner.stop();
    assert_eq!(far_held.take(), [frame(2, 0)]);
    let (second, far_second) = memory("second");
    let mut runner =
        RealTime::new(switch, [(2, second)], RunnerConfig::default()).expect("an event descriptor");
    assert!(runner.start().expect("a thread"));
    let frames = wait_for(&far_second, 4);
    assert!((1..5).eq(frames.iter().map(|frame| frame[14])), "in order");
}
