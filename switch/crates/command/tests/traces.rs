//! Traces of packets: in files, in pipes, on standard output, and where they find no room.

mod support;

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use prost::Message;
use serde_json::Value;
use support::{ANYWHERE, Folder, RANKED, Running, captured, command, frame_to, pcap, until};

const FILES: [&str; 7] = ["--use-files", "0", "-i", "1@left", "-i", "2@right", RANKED];

/// The two ends of [`FILES`]: these frames come in on the left.
fn with_files(frames: &[Vec<u8>]) -> Folder {
    let folder = Folder::new();
    folder.write("left_in.pcap", pcap(frames));
    folder.write("right_in.pcap", pcap(&[]));
    folder
}

/// Frames through the switch, with these options: the folder, exit code, stdout and stderr.
fn run(frames: &[Vec<u8>], prefix: &[&str], options: &[&str]) -> (Folder, i32, String, String) {
    let folder = with_files(frames);
    let running = Running::start_by(prefix, &folder, &[&FILES[..], options].concat());
    pass(&folder, frames);
    let (code, output, errors) = running.stopped();
    (folder, code, output, errors)
}

/// Waits until frames that are for the right are there.
fn pass(folder: &Folder, frames: &[Vec<u8>]) {
    let right = frames.iter().filter(|frame| frame[5] == 2).count();
    until("the frames are there", || {
        captured(folder, "right_out.pcap").len() == right
    });
    // Those that are dropped, too, within the same round.
    std::thread::sleep(Duration::from_millis(50));
}

fn traces(text: &str) -> Vec<Value> {
    let lines = text.lines();
    lines
        .map(|line| line.parse().unwrap_or_else(|_| panic!("{line}: not JSON")))
        .collect()
}

/// The steps of a trace that have this name.
fn steps<'a>(trace: &'a Value, name: &'a str) -> impl Iterator<Item = &'a Value> {
    let steps = trace["steps"].as_array().expect("it has steps");
    steps.iter().filter_map(move |step| step.get(name))
}

#[test]
fn in_a_file() {
    let frames = [frame_to(2, 100), frame_to(511, 100), frame_to(2, 60)];
    let (folder, code, _, errors) = run(&frames, &[], &["--trace", "t.jsonl"]);
    assert_eq!(code, 0, "{errors}");
    let found = traces(&folder.text("t.jsonl"));
    assert_eq!(found.len(), 3);
    for (number, (trace, frame)) in found.iter().zip(&frames).enumerate() {
        assert_eq!(trace["number"], number + 1);
        let arrived = steps(trace, "arrived").next().expect("it has arrived");
        assert_eq!(arrived["port"], 1);
        assert_eq!(arrived["length"], frame.len());
        assert!(trace.get("traces_left_out").is_none());
    }
    assert_eq!(
        steps(&found[0], "departed").next().expect("it left")["port"],
        2
    );
    assert_eq!(
        steps(&found[1], "dropped").next().expect("it didn't")["reason"],
        "ingress"
    );
}

#[test]
fn only_some_and_not_their_payload() {
    let mut frames = vec![frame_to(2, 100); 10];
    frames.push(frame_to(511, 100));
    let filter = ["--trace-filter", "dropped and ingress-port 1"];
    let (folder, code, _, _) = run(&frames, &[], &[&["--trace", "t"][..], &filter].concat());
    let found = traces(&folder.text("t"));
    assert_eq!((code, found.len()), (0, 1));
    assert_eq!(found[0]["number"], 11);
    let options = [
        "--trace",
        "t",
        "--trace-count",
        "4",
        "--trace-frame-bytes",
        "8",
    ];
    let (folder, code, _, _) = run(&frames, &[], &options);
    let found = traces(&folder.text("t"));
    assert_eq!((code, found.len()), (0, 4));
    let arrived = steps(&found[3], "arrived").next().expect("it has arrived");
    assert_eq!(arrived["frame"], "0000000000020000");
    // What the program doesn't take for a header stays out.
    let (folder, _, _, _) = run(&frames, &[], &["--trace", "t"]);
    let text = folder.text("t");
    assert_eq!(traces(&text).len(), 11);
    assert!(!text.contains("78787878"), "{text}");
}

#[test]
fn as_protobuf() {
    let (folder, code, _, _) = run(&vec![frame_to(2, 100); 3], &[], &["--trace", "t.pb"]);
    assert_eq!(code, 0);
    let bytes = fs::read(folder.join("t.pb")).expect("it is there");
    let mut rest = &bytes[..];
    let mut numbers = Vec::new();
    while !rest.is_empty() {
        let trace = phb_trace::message::Trace::decode_length_delimited(&mut rest);
        numbers.push(trace.expect("it is whole").number);
    }
    assert_eq!(numbers, [1, 2, 3]);
}

#[test]
fn on_standard_output() {
    let (_, code, output, errors) = run(&[frame_to(2, 100)], &[], &["--trace", "-", "--json"]);
    assert_eq!((code, traces(&output).len()), (0, 1), "{output}");
    assert!(errors.contains("\n{\"grpc_server_addr\""), "{errors}");
}

#[test]
fn a_disk_that_is_full() {
    let frames = vec![frame_to(2, 60); 20];
    let (_, code, _, errors) = run(&frames, &[], &["--trace", "/dev/full", "-Loff"]);
    assert_eq!(code, 1);
    let lines: Vec<_> = errors
        .lines()
        .filter(|line| !line.contains("stopped;"))
        .collect();
    assert_eq!(
        lines,
        [
            "phb-switch: /dev/full: No space left on device; traces are left out until it takes them again",
            "phb-switch: /dev/full: 20 traces are left out",
            "phb-switch: failed: not all files are whole",
        ]
    );
}

#[test]
fn a_file_ends_behind_a_whole_trace() {
    let frames = vec![frame_to(2, 60); 100];
    let prefix = ["prlimit", "--fsize=9000"];
    let log = ["--trace", "t", "--log-file", "log", "-Lerror"];
    let (folder, code, _, errors) = run(&frames, &prefix, &log);
    assert_eq!(code, 1);
    let written = traces(&folder.text("t")).len();
    let failure = "t: File too large; traces are left out until it takes them again";
    assert!(
        errors.contains(&format!("phb-switch: {failure}\n")),
        "{errors}"
    );
    assert!(folder.text("log").contains(&format!("[ERROR] {failure}\n")));
    let left_out = format!("phb-switch: t: {} traces are left out\n", 100 - written);
    assert!(errors.contains(&left_out), "{errors}");
}

#[test]
fn a_pipe_that_nobody_reads() {
    let frames = vec![frame_to(2, 60); 20_000];
    let folder = with_files(&frames);
    let pipe = folder.join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("there is mkfifo").success());
    let running = Running::start(&folder, &[&FILES[..], &["--trace", "pipe"]].concat());
    pass(&folder, &frames);
    let (code, _, errors) = running.stopped();
    assert_eq!(code, 1);
    assert!(errors.contains("transmitted 20000,"), "{errors}");
    assert!(
        errors.contains("phb-switch: pipe: 20000 traces are left out\n"),
        "{errors}"
    );
}

#[test]
fn a_pipe_whose_reader_changes() {
    // More than a pipe holds.
    let frames = vec![frame_to(2, 60); 2000];
    let folder = with_files(&frames);
    let pipe = folder.join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.expect("there is mkfifo").success());
    let running = Running::start(
        &folder,
        &[&FILES[..], &["--trace", "pipe", "--log-file", "log"]].concat(),
    );
    pass(&folder, &frames);
    let line = |pipe: &Path| {
        let mut reader = BufReader::new(File::open(pipe).expect("it is there"));
        let mut line = String::new();
        reader.read_line(&mut line).expect("it is text");
        traces(&line).remove(0)
    };
    assert_eq!(line(&pipe)["number"], 1);
    // What lay in the pipe is lost with its reader, and the rest of that piece, which is known.
    until("it is noticed", || {
        folder.text("log").contains("Broken pipe")
    });
    let later = line(&pipe);
    let [number, left_out] = ["number", "traces_left_out"].map(|name| {
        let value = &later[name];
        value.as_u64().expect("it is a number")
    });
    assert!((1..number).contains(&left_out), "{later}");
    let (code, _, errors) = running.stopped();
    assert_eq!(code, 1);
    assert_eq!(errors.matches("Broken pipe").count(), 1, "{errors}");
}

#[test]
fn a_reader_that_ends() {
    let frames = vec![frame_to(2, 60); 5000];
    let folder = with_files(&frames);
    let arguments = [
        &FILES[..],
        &["--trace", "-", "--ready-file", "ready"],
        &ANYWHERE,
    ]
    .concat();
    let mut command = command(&[], &arguments);
    let mut child = command
        .current_dir(folder.path())
        .spawn()
        .expect("it starts");
    drop(child.stdout.take());
    pass(&folder, &frames);
    let id = i32::try_from(child.id()).expect("it is small");
    nix::sys::signal::kill(
        nix::unistd::Pid::from_raw(id),
        nix::sys::signal::Signal::SIGTERM,
    )
    .expect("it runs");
    let mut errors = String::new();
    let stderr = child.stderr.as_mut().expect("it has one");
    stderr.read_to_string(&mut errors).expect("it is text");
    assert_eq!(child.wait().expect("it ends").code(), Some(1));
    let failure = "phb-switch: standard output: Broken pipe; no more is traced\n";
    assert_eq!(errors.matches(failure).count(), 1, "{errors}");
    assert!(errors.contains("transmitted 5000,"), "{errors}");
}

#[test]
fn places_that_can_not_be() {
    for (place, why) in [
        ("/nonexistent/t", "No such file or directory"),
        ("/", "Is a directory"),
    ] {
        let arguments = [&["--no-p4", "--trace", place][..], &ANYWHERE].concat();
        let (code, output, errors) = support::ended(&arguments);
        assert_eq!((code, output.as_str()), (2, ""));
        assert_eq!(errors, format!("phb-switch: --trace {place}: {why}\n"));
    }
}

#[test]
fn an_earlier_file_goes() {
    let folder = with_files(&[frame_to(2, 60)]);
    folder.write("t", "what was there\n");
    let running = Running::start(&folder, &[&FILES[..], &["--trace", "t"]].concat());
    pass(&folder, &[frame_to(2, 60)]);
    assert_eq!(running.stopped().0, 0);
    assert_eq!(traces(&folder.text("t")).len(), 1);
}
