//! How it starts, what it prints, what it logs; without interfaces.

mod support;

use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::process::{Command, Stdio};
use std::time::Duration;

use nix::sys::signal::Signal;
use support::{
    ANYWHERE, CHECKS, Folder, PROGRAM, RANKED, Running, captured, command, frame_to, pcap, until,
    words,
};

const FILES: [&str; 7] = ["--use-files", "0", "-i", "1@left", "-i", "2@right", RANKED];

/// The two ends of [`FILES`]: these frames come in on the left.
fn with_files(frames: &[Vec<u8>]) -> Folder {
    let folder = Folder::new();
    folder.write("left_in.pcap", pcap(frames));
    folder.write("right_in.pcap", pcap(&[]));
    folder
}

#[test]
fn the_line_in_words_and_in_json() {
    let folder = Folder::new();
    folder.write("a_in.pcap", pcap(&[]));
    let arguments = [
        "--no-p4",
        "--use-files",
        "0",
        "-i",
        "3@a",
        "--device-id",
        "7",
    ];
    let running = Running::start(&folder, &arguments);
    let ready = folder.text("ready");
    let (code, output, errors) = running.stopped();
    assert_eq!(code, 0);
    let ready: serde_json::Value = serde_json::from_str(&ready).expect("it is JSON");
    let address = ready["grpc_server_addr"].as_str().expect("it is text");
    assert!(address.starts_with("127.0.0.1:") && !address.ends_with(":0"));
    assert_eq!(
        output,
        format!("phb-switch: device 7, P4Runtime at {address}, interfaces: 3@a\n")
    );
    assert_eq!(
        errors,
        "phb-switch: stopped; received 0, injected 0, transmitted 0, to CPU 0, dropped 0, queued 0\n"
    );
    fs::remove_file(folder.join("ready")).expect("it is there");
    let running = Running::start(&folder, &[&arguments[..], &["--json"]].concat());
    let (_, output, _) = running.stopped();
    assert_eq!(output, folder.text("ready"));
    assert!(
        output.contains(r#", "device_id": 7, "interfaces": {"3": "a"}}"#),
        "{output}"
    );
}

#[test]
fn a_ready_file_that_can_not_be_written() {
    let folder = Folder::new();
    let path = folder.join("a").join("b");
    let path = path.to_str().expect("it is text");
    let arguments = ["--no-p4", "--ready-file", path, ANYWHERE[0], ANYWHERE[1]];
    let (code, output, errors) = support::ended(&arguments);
    assert_eq!((code, output.as_str()), (2, ""));
    assert_eq!(
        errors,
        format!("phb-switch: --ready-file {path}: No such file or directory\n")
    );
}

#[test]
fn files_instead_of_interfaces() {
    let to = [1, 2].map(|port| frame_to(port, 100));
    let folder = with_files(&[to[1].clone(), to[0].clone(), to[1].clone()]);
    folder.write("right_in.pcap", pcap(&[to[0].clone()]));
    let running = Running::start(&folder, &FILES);
    until("all frames are there", || {
        captured(&folder, "left_out.pcap").len() + captured(&folder, "right_out.pcap").len() == 4
    });
    let (code, _, errors) = running.stopped();
    assert_eq!(code, 0);
    assert!(
        errors.contains("received 4, injected 0, transmitted 4,"),
        "{errors}"
    );
    assert_eq!(captured(&folder, "left_out.pcap"), vec![to[0].clone(); 2]);
    assert_eq!(captured(&folder, "right_out.pcap"), vec![to[1].clone(); 2]);
}

/// The lines about ports, without their times.
fn about_ports(log: &str) -> Vec<String> {
    let lines = log.lines().filter(|line| line.contains(" port "));
    let without_times = lines.map(|line| {
        let (_, rest) = line.split_once("] ").unwrap_or_default();
        let (level, rest) = rest.split_once(' ').unwrap_or_default();
        let (_, rest) = rest.split_once(" s ").unwrap_or_default();
        format!("{level} {rest}")
    });
    without_times.collect()
}

#[test]
fn packets_in_the_log() {
    let cases: [(&[&str], &[&str]); 5] = [
        (
            &[],
            &[
                "[DEBUG] port 1: received, 100 bytes",
                "[DEBUG] port 2: transmitted, 100 bytes",
                "[DEBUG] port 1: received, 100 bytes",
                "[DEBUG] port 1: dropped (ingress)",
            ],
        ),
        (
            &["-L", "info", "--dump-packet-data", "6"],
            &[
                "[INFO] port 1: received, 100 bytes: 000000000002",
                "[INFO] port 2: transmitted, 100 bytes: 000000000002",
                "[INFO] port 1: received, 100 bytes: 0000000001ff",
            ],
        ),
        (&["-Linfo"], &[]),
        (&["-Loff", "--dump-packet-data", "6"], &[]),
        (&["--log", "text,packets=info"], &[]),
    ];
    for (options, expected) in cases {
        let folder = with_files(&[frame_to(2, 100), frame_to(511, 100)]);
        let running = Running::start(
            &folder,
            &[&FILES[..], &["--log-file", "log"], options].concat(),
        );
        until("the frame is there", || {
            captured(&folder, "right_out.pcap").len() == 1
        });
        // The second is dropped within the same round.
        std::thread::sleep(Duration::from_millis(50));
        let (code, _, errors) = running.stopped();
        assert_eq!(code, 0);
        assert!(errors.contains("received 2,"), "{errors}");
        assert_eq!(about_ports(&folder.text("log")), expected, "{options:?}");
    }
}

#[test]
fn packets_in_json() {
    let folder = with_files(&[frame_to(2, 100), frame_to(511, 100)]);
    let log = [
        "--log-console",
        "--log",
        "json,switch=off",
        "--dump-packet-data",
        "6",
    ];
    let running = Running::start(&folder, &[&FILES[..], &log].concat());
    until("the frame is there", || {
        captured(&folder, "right_out.pcap").len() == 1
    });
    std::thread::sleep(Duration::from_millis(50));
    let (_, output, _) = running.stopped();
    let lines = output.lines().filter(|line| line.starts_with('{'));
    let lines: Vec<serde_json::Value> = lines
        .map(|line| line.parse().expect("it is JSON"))
        .collect();
    let found: Vec<_> = lines
        .iter()
        .map(|line| {
            (
                &line["part"],
                &line["level"],
                &line["event"],
                &line["port"],
                &line["data"],
            )
        })
        .map(|(part, level, event, port, data)| format!("{part} {level} {event} {port} {data}"))
        .collect();
    assert_eq!(
        found,
        [
            r#""packets" "info" "received" 1 "000000000002""#,
            r#""packets" "info" "transmitted" 2 "000000000002""#,
            r#""packets" "info" "received" 1 "0000000001ff""#,
            r#""packets" "debug" "dropped" 1 null"#,
        ]
    );
    assert_eq!(lines[3]["reason"], "ingress");
}

#[test]
fn what_the_program_says_is_in_the_log() {
    let folder = Folder::new();
    let mut frame = vec![7, 0, 0, 0, 5];
    frame.resize(60, 0);
    folder.write("left_in.pcap", pcap(&[frame]));
    let arguments = [
        "--use-files",
        "0",
        "-i",
        "0@left",
        CHECKS,
        "--log-file",
        "log",
        "--log-flush",
    ];
    let running = Running::start(&folder, &arguments);
    until("it is said", || {
        folder.text("log").contains("program: kind 7, value 5")
    });
    assert_eq!(running.stopped().0, 0);
}

#[test]
fn a_log_that_nobody_reads_holds_nothing_up() {
    // More lines than a pipe holds.
    let folder = with_files(&vec![frame_to(2, 100); 5000]);
    let running = Running::start(&folder, &[&FILES[..], &["--log-console"]].concat());
    until("all frames are there", || {
        captured(&folder, "right_out.pcap").len() == 5000
    });
    let (code, output, _) = running.stopped();
    assert_eq!(code, 0);
    assert!(output.contains("received, 100 bytes"));
}

#[test]
fn a_disk_that_is_full() {
    // As far as a process can tell: no file may be longer than 200 bytes. Only one of the captures would be.
    let frames = [
        frame_to(2, 400),
        frame_to(2, 400),
        frame_to(2, 400),
        frame_to(1, 100),
    ];
    let folder = with_files(&frames);
    let running = Running::start_by(
        &["prlimit", "--fsize=200"],
        &folder,
        &[&FILES[..], &["-Loff"]].concat(),
    );
    until("the last frame is there", || {
        captured(&folder, "left_out.pcap").len() == 1
    });
    std::thread::sleep(Duration::from_millis(50));
    let (code, _, errors) = running.stopped();
    assert_eq!(code, 1);
    assert_eq!(
        errors.lines().collect::<Vec<_>>(),
        [
            "phb-switch: right_out.pcap: File too large; no more is written",
            "phb-switch: stopped; received 4, injected 0, transmitted 4, to CPU 0, dropped 0, queued 0",
            "phb-switch: port 2 (right): send errors 3",
            "phb-switch: failed: not all files are whole",
        ]
    );
}

#[test]
fn a_capture_fails_and_the_log_says_so() {
    for level in ["trace", "error", "off"] {
        let folder = with_files(&[frame_to(2, 3000), frame_to(1, 100)]);
        let log = ["--log-file", "log", "-L", level];
        let running = Running::start_by(
            &["prlimit", "--fsize=2000"],
            &folder,
            &[&FILES[..], &log].concat(),
        );
        until("the last frame is there", || {
            captured(&folder, "left_out.pcap").len() == 1
        });
        let (code, _, errors) = running.stopped();
        let failure = "right_out.pcap: File too large; no more is written";
        assert_eq!(code, 1);
        assert_eq!(
            errors.matches(&format!("phb-switch: {failure}\n")).count(),
            1
        );
        let in_log = folder
            .text("log")
            .matches(&format!("[ERROR] {failure}\n"))
            .count();
        assert_eq!(in_log, usize::from(level != "off"), "{level}");
    }
}

#[test]
fn a_log_on_a_full_disk() {
    let folder = Folder::new();
    for flush in [&[][..], &["--log-flush"]] {
        let _ = fs::remove_file(folder.join("ready"));
        let arguments = [
            "--no-p4",
            "--nanolog",
            "x",
            "--log-file",
            "/dev/full",
            "-Linfo",
            "--log",
            "text,server=off",
        ];
        let running = Running::start(&folder, &[&arguments[..], flush].concat());
        let (code, _, errors) = running.stopped();
        assert_eq!(code, 1);
        let mut lines: Vec<_> = errors
            .lines()
            .filter(|line| !line.contains("stopped;"))
            .collect();
        lines.sort_unstable();
        assert_eq!(
            lines,
            [
                "phb-switch: /dev/full: 1 lines of the log could not be written",
                "phb-switch: /dev/full: No space left on device; the log goes on without what it doesn't take",
                "phb-switch: failed: not all files are whole",
            ]
        );
    }
}

#[test]
fn notices() {
    let folder = Folder::new();
    let running = Running::start(&folder, &["--no-p4", "--debugger"]);
    let (_, _, errors) = running.stopped();
    assert!(
        errors.contains("phb-switch: --debugger ignored (there is no debugger)"),
        "{errors}"
    );
    let _ = fs::remove_file(folder.join("ready"));
    let running = Running::start(&folder, &["--no-p4", "--nanolog", "x", "--log-file", "log"]);
    let (_, _, errors) = running.stopped();
    assert!(!errors.contains("--nanolog"), "{errors}");
    assert!(folder.text("log").contains("[INFO] --nanolog ignored ("));
}

#[test]
fn a_warning_where_anybody_may_come() {
    let folder = Folder::new();
    let socket = format!("unix:{}", folder.join("socket").display());
    for (address, is_warned) in [
        ("0.0.0.0:0", true),
        ("localhost:0", false),
        (&*socket, false),
    ] {
        let _ = fs::remove_file(folder.join("ready"));
        let arguments = [
            "--ready-file",
            "ready",
            "--no-p4",
            "--grpc-server-addr",
            address,
        ];
        let mut command = command(&[], &arguments);
        let running = Running::spawn(command.current_dir(folder.path()), &folder);
        let (_, _, errors) = running.stopped();
        let warning = format!(
            "listening at {address} without TLS: whoever reaches it can program the switch"
        );
        assert_eq!(errors.contains(&warning), is_warned, "{errors}");
    }
}

#[test]
fn a_unix_socket_beside() {
    let folder = Folder::new();
    for (mode, expected) in [("", 0o600), (":660", 0o660)] {
        let _ = fs::remove_file(folder.join("ready"));
        let option = format!("socket{mode}");
        let running = Running::start(&folder, &["--no-p4", "--grpc-unix-socket", &option]);
        let about = fs::metadata(folder.join("socket")).expect("it is there");
        assert!(about.file_type().is_socket());
        assert_eq!(about.permissions().mode() & 0o777, expected);
        assert_eq!(running.stopped().0, 0);
    }
}

#[test]
fn closed_descriptors() {
    for closed in [">&-", "2>&-", "<&-", "<&- >&- 2>&-"] {
        let folder = Folder::new();
        let [option, address] = ANYWHERE;
        let line = format!("exec {PROGRAM} --no-p4 {option} {address} --ready-file ready {closed}");
        let mut command = Command::new("sh");
        command.args(["-c", &line]).current_dir(folder.path());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let running = Running::spawn(&mut command, &folder);
        for descriptor in 0..3 {
            let path = format!("/proc/{}/fd/{descriptor}", running.id());
            assert!(fs::read_link(path).is_ok(), "{descriptor} {closed}");
        }
        running.signal(Signal::SIGTERM);
        assert_eq!(running.wait().code(), Some(0), "{closed}");
    }
}

#[test]
fn names_that_a_terminal_does_not_have() {
    let folder = Folder::new();
    let name = "\u{e9}t\u{e9}";
    folder.write(&format!("{name}_in.pcap"), pcap(&[]));
    let at = format!("0@{name}");
    let arguments = ["--no-p4", "--use-files", "0", "-i", &at, "--log-console"];
    let running = Running::start_by(&["env", "LC_ALL=C"], &folder, &arguments);
    let (code, output, _) = running.stopped();
    assert_eq!(code, 0);
    assert!(output.contains(r"interfaces: 0@\xe9t\xe9"), "{output}");
}

#[test]
fn it_has_as_many_descriptors_as_it_may() {
    let folder = Folder::new();
    let limit = ["prlimit", "--nofile=256:3000"];
    let running = Running::start_by(&limit, &folder, &["--no-p4"]);
    let limits = fs::read_to_string(format!("/proc/{}/limits", running.id()));
    let limits = limits.expect("there is a /proc");
    let files = limits
        .lines()
        .find(|line| line.starts_with("Max open files"));
    let files: Vec<_> = files.unwrap_or_default().split_whitespace().collect();
    assert_eq!(files[3..5], ["3000", "3000"]);
    assert_eq!(running.stopped().0, 0);
}

#[test]
fn it_needs_little_memory() {
    let folder = Folder::new();
    let running = Running::start(&folder, &["--no-p4"]);
    let status = fs::read_to_string(format!("/proc/{}/status", running.id()));
    let status = status.expect("there is a /proc");
    let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let resident: u64 = resident
        .and_then(|line| line.split_whitespace().next()?.parse().ok())
        .expect("there is a number");
    assert!(resident < 40_000, "{resident} kB");
    assert_eq!(running.stopped().0, 0);
}

#[test]
fn under_the_name_of_bmv2() {
    let folder = Folder::new();
    let link = folder.join("simple_switch_grpc");
    std::os::unix::fs::symlink(PROGRAM, &link).expect("a link can be made");
    let mut command = Command::new(&link);
    command
        .args(["--no-p4", "--ready-file", "ready"])
        .args(ANYWHERE);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let running = Running::spawn(command.current_dir(folder.path()), &folder);
    let (code, output, _) = running.stopped();
    assert_eq!(code, 0);
    assert!(
        output.starts_with("phb-switch: device 0, P4Runtime at 127.0.0.1:"),
        "{output}"
    );
    let output = Command::new(&link)
        .arg("--levitate")
        .output()
        .expect("it starts");
    assert!(
        words(&output)
            .2
            .starts_with("phb-switch: there is no option")
    );
}
