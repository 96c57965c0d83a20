use std::path::PathBuf;
use std::time::SystemTime;

use serde_json::Map;
use tracing::subscriber::with_default;

use super::format::{Format, Line};
use super::levels::Levels;
use super::*;

fn to_file(path: impl Into<PathBuf>) -> Logging {
    Logging {
        file: Some(path.into()),
        format: Format::Text,
        levels: Levels::all(Level::Trace),
        ..Logging::default()
    }
}

/// A folder of the test's own, which goes with it.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("phb-switch-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).expect("a temporary folder can be made");
        Self(path)
    }

    fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.join(name)).unwrap_or_default()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Says something with a log, and closes it.
fn logged(logging: &Logging, failures: &Arc<Failures>, say: impl FnOnce()) {
    let (log, subscriber) = Log::new(logging, failures).expect("the log can be opened");
    with_default(subscriber, say);
    log.close();
}

/// The lines without their times.
fn without_times(text: &str) -> Vec<&str> {
    let lines = text.lines();
    lines
        .map(|line| line.split_once("] ").map_or(line, |(_, rest)| rest))
        .collect()
}

#[test]
fn parts_have_levels_and_other_crates_say_nothing() {
    let folder = Folder::new("parts");
    let mut levels = Levels::all(Level::Info);
    levels.set(Part::Gnmi, Level::Debug);
    levels.set(Part::Packets, Level::Off);
    let logging = Logging {
        levels,
        ..to_file(folder.0.join("log"))
    };
    let failures = Arc::default();
    logged(&logging, &failures, || {
        tracing::info!(target: "switch", "started");
        tracing::debug!(target: "switch", "too low");
        tracing::debug!(target: "phb_gnmi::subscribe", client = "a", seconds = 1.5, "subscribed");
        tracing::trace!(target: "gnmi", "too low");
        tracing::error!(target: "packets", "off");
        tracing::error!(target: "h2::codec", "of another crate");
        tracing::warn!(target: "phb_server::tls", count = 3, good = true, "read anew");
        tracing::info!("of no part");
        let _span = tracing::error_span!(target: "switch", "a span").entered();
    });
    assert_eq!(
        without_times(&folder.read("log")),
        [
            "[INFO] started",
            "[DEBUG] subscribed client=a seconds=1.5",
            "[WARNING] read anew count=3 good=true",
            "[INFO] of no part"
        ]
    );
    assert!(failures.check().is_ok());
}

#[test]
fn in_json() {
    let folder = Folder::new("json");
    let logging = Logging {
        format: Format::Json,
        ..to_file(folder.0.join("log"))
    };
    logged(&logging, &Arc::default(), || {
        let reason: Option<&str> = None;
        tracing::info!(target: "packets", port = Some(3), reason, "port {}", 3);
    });
    let text = folder.read("log");
    let line: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    assert_eq!(
        (
            &line["part"],
            &line["level"],
            &line["message"],
            &line["port"]
        ),
        (
            &"packets".into(),
            &"info".into(),
            &"port 3".into(),
            &3.into()
        )
    );
    assert_eq!(line.get("reason"), None);
}

#[test]
fn a_full_disk_is_said_once_and_is_in_the_exit_code() {
    for flush in [false, true] {
        for lines in [1, 1000] {
            let logging = Logging {
                flush,
                ..to_file("/dev/full")
            };
            let said = Arc::new(std::sync::Mutex::new(Vec::new()));
            let target = OpenOptions::new().append(true).open("/dev/full");
            let mut sink = Sink::new(target.expect("/dev/full is there"), &logging);
            let words = Arc::clone(&said);
            sink.on_failure(move |why| words.lock().expect("nobody panics").push(why.to_owned()));
            for _ in 0..lines {
                sink.write(&line("a line", Level::Info), 0);
            }
            sink.flush();
            assert_eq!(sink.lost(), lines);
            let said = said.lock().expect("nobody panics");
            assert_eq!(*said, ["No space left on device"]);

            let failures = Arc::default();
            logged(
                &logging,
                &failures,
                || tracing::info!(target: "switch", "a line"),
            );
            assert_eq!(
                failures.check(),
                Err(Ended::Failed("failed: not all files are whole".to_owned()))
            );
        }
    }
}

fn line(message: &str, level: Level) -> Line {
    Line {
        at: SystemTime::now(),
        level,
        part: Part::Switch,
        message: message.to_owned(),
        fields: Map::new(),
    }
}

fn sink(logging: &Logging) -> Sink {
    let path = logging.file.as_ref().expect("it goes to a file");
    let file = OpenOptions::new().append(true).create(true).open(path);
    Sink::new(file.expect("it can be written"), logging)
}

#[test]
fn files_are_rotated() {
    let folder = Folder::new("rotated");
    let path = folder.0.join("log");
    // Before a line stand 22 characters: "[HH:MM:SS.mmm] [INFO] ".
    for (max_files, expected) in [
        (
            2,
            [
                "[INFO] line 7",
                "[INFO] line 5,[INFO] line 6",
                "[INFO] line 3,[INFO] line 4",
                "",
            ],
        ),
        (1, ["[INFO] line 7", "[INFO] line 5,[INFO] line 6", "", ""]),
    ] {
        let logging = Logging {
            max_bytes: 80,
            max_files,
            ..to_file(&path)
        };
        for flush in [false, true] {
            let mut sink = sink(&Logging {
                flush,
                ..logging.clone()
            });
            for number in 1..=7 {
                sink.write(&line(&format!("line {number}"), Level::Info), 0);
            }
            sink.flush();
            let names = ["log", "log.1", "log.2", "log.3"];
            let found = names.map(|name| without_times(&folder.read(name)).join(","));
            assert_eq!(found, expected, "{max_files} {flush}");
            for name in names {
                let _ = std::fs::remove_file(folder.0.join(name));
            }
        }
    }
}

#[test]
fn a_log_goes_on_in_its_file() {
    let folder = Folder::new("goes-on");
    let path = folder.0.join("log");
    std::fs::write(&path, "x".repeat(70) + "\n").expect("it can be written");
    let logging = Logging {
        max_bytes: 100,
        ..to_file(&path)
    };
    let mut of_three = sink(&logging);
    of_three.write(&line("a", Level::Info), 0);
    of_three.write(&line("b", Level::Info), 0);
    of_three.flush();
    assert_eq!(folder.read("log.1").len(), 95);
    assert_eq!(without_times(&folder.read("log")), ["[INFO] b"]);
    let mut of_none = sink(&Logging {
        max_files: 0,
        ..logging
    });
    for _ in 0..100 {
        of_none.write(&line("c", Level::Info), 0);
    }
    of_none.flush();
    assert_eq!(folder.read("log").lines().count(), 101);
}

#[test]
fn warnings_are_written_at_once() {
    let folder = Folder::new("at-once");
    let logging = to_file(folder.0.join("log"));
    let mut waiting = sink(&logging);
    for _ in 0..255 {
        waiting.write(&line("a", Level::Info), 0);
    }
    assert_eq!(folder.read("log"), "");
    waiting.write(&line("a", Level::Info), 0);
    assert_eq!(folder.read("log").lines().count(), 256);
    waiting.write(&line("b", Level::Warn), 2);
    assert_eq!(
        without_times(&folder.read("log"))[256..],
        [
            "[WARNING] 2 lines are missing: there were more than could be written",
            "[WARNING] b"
        ]
    );
    let mut at_once = sink(&Logging {
        flush: true,
        ..logging
    });
    at_once.write(&line("c", Level::Trace), 0);
    assert_eq!(folder.read("log").lines().count(), 259);
}

#[test]
fn nobody_waits_for_a_reader() {
    let queue = Queue::default();
    for _ in 0..20_000 {
        queue.put(line("a", Level::Info));
    }
    assert!(!queue.close(Duration::from_millis(1)));
    queue.put(line("too late", Level::Info));
    let taken: Vec<_> = std::iter::from_fn(|| queue.take()).collect();
    assert_eq!(taken.len(), 16_384);
    assert_eq!(
        taken.iter().map(|(_, lost)| lost).sum::<u64>(),
        20_000 - 16_384
    );
    queue.finish();
    assert!(queue.close(Duration::ZERO));
}

#[test]
fn a_log_that_can_not_be_written() {
    let found = Log::new(&to_file("/nonexistent/log"), &Arc::default());
    let found = found.err().map(|error| error.to_string());
    assert_eq!(
        found.as_deref(),
        Some("--log-file /nonexistent/log: No such file or directory")
    );
}
