//! The program as a process.

#![allow(dead_code, reason = "each test uses what it needs")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

pub const PROGRAM: &str = env!("CARGO_BIN_EXE_phb-switch");
pub const ANYWHERE: [&str; 2] = ["--grpc-server-addr", "127.0.0.1:0"];
pub const WAIT: Duration = Duration::from_secs(20);

/// Where the switch's Python tests have a program that sends where the frame itself says.
pub const RANKED: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../python/tests/programs/ranked.json"
);
/// A program that says by `log_msg` what a frame is.
pub const CHECKS: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../programs/build/checks.json"
);

/// A folder of the test's own, which goes with it.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("phb-switch-test-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir_all(&path).expect("a temporary folder can be made");
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    pub fn join(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.join(name);
        fs::write(&path, bytes).expect("a temporary file can be written");
        path
    }

    /// The text of a file; none where it isn't there.
    pub fn text(&self, name: &str) -> String {
        fs::read_to_string(self.join(name)).unwrap_or_default()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The command line of a program that starts another one, or of none, with the switch behind it.
pub fn command(prefix: &[&str], arguments: &[&str]) -> Command {
    let mut words = [prefix, &[PROGRAM], arguments].concat().into_iter();
    let mut command = Command::new(words.next().expect("there is a program"));
    command
        .args(words)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Runs the program to its end: exit code, stdout and stderr.
pub fn ended(arguments: &[&str]) -> (i32, String, String) {
    words(&command(&[], arguments).output().expect("it starts"))
}

pub fn words(output: &Output) -> (i32, String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code().unwrap_or(-1),
        text(&output.stdout),
        text(&output.stderr),
    )
}

/// A switch that runs in a folder.
pub struct Running {
    child: Option<Child>,
}

impl Running {
    /// Waits until controllers can connect.
    pub fn start(folder: &Folder, arguments: &[&str]) -> Self {
        Self::start_by(&[], folder, arguments)
    }

    pub fn start_by(prefix: &[&str], folder: &Folder, arguments: &[&str]) -> Self {
        let all = [&["--ready-file", "ready"][..], arguments, &ANYWHERE].concat();
        let mut command = command(prefix, &all);
        Self::spawn(command.current_dir(folder.path()), folder)
    }

    pub fn spawn(command: &mut Command, folder: &Folder) -> Self {
        let child = command.spawn().expect("it starts");
        let mut running = Self { child: Some(child) };
        until("it is ready", || {
            let child = running.child.as_mut().expect("it runs");
            if let Ok(Some(status)) = child.try_wait() {
                let output = running.child.take().map(Child::wait_with_output);
                panic!("{status}: {output:?}");
            }
            folder.join("ready").exists()
        });
        running
    }

    pub fn id(&self) -> u32 {
        self.child.as_ref().map_or(0, Child::id)
    }

    pub fn signal(&self, signal: Signal) {
        let id = self.id().try_into().expect("it is small");
        kill(Pid::from_raw(id), signal).expect("it runs");
    }

    pub fn is_running(&mut self) -> bool {
        let child = self.child.as_mut();
        child.is_some_and(|child| matches!(child.try_wait(), Ok(None)))
    }

    /// Exit code, standard output, standard error, after a signal.
    pub fn stopped_by(mut self, signal: Signal) -> (i32, String, String) {
        self.signal(signal);
        let child = self.child.take().expect("it runs");
        words(&child.wait_with_output().expect("it ends"))
    }

    pub fn stopped(self) -> (i32, String, String) {
        self.stopped_by(Signal::SIGINT)
    }

    /// Waits for its end without reading what it says.
    pub fn wait(mut self) -> ExitStatus {
        let mut child = self.child.take().expect("it runs");
        child.wait().expect("it ends")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[track_caller]
pub fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let end = Instant::now() + WAIT;
    while !condition() {
        assert!(Instant::now() < end, "{what}: not in time");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// A frame that [`RANKED`] sends to a port.
pub fn frame_to(port: u16, length: usize) -> Vec<u8> {
    let mut frame = vec![0; 4];
    frame.extend(port.to_be_bytes());
    frame.resize(14, 0);
    frame.resize(length, b'x');
    frame
}

pub fn pcap(frames: &[Vec<u8>]) -> Vec<u8> {
    let words = [0xa1b2_c3d4, 2 | 4 << 16, 0, 0, 65_535, 1];
    let mut bytes: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
    for (number, frame) in frames.iter().enumerate() {
        let length = u32::try_from(frame.len()).expect("it is short");
        let number = u32::try_from(number).expect("there are few");
        bytes.extend(
            [1, number, length, length]
                .into_iter()
                .flat_map(u32::to_le_bytes),
        );
        bytes.extend(frame);
    }
    bytes
}

pub fn frames_of(capture: &[u8]) -> Vec<Vec<u8>> {
    let mut rest = capture.get(24..).unwrap_or_default();
    let mut frames = Vec::new();
    while let Some(length) = rest.get(8..12) {
        let length = u32::from_le_bytes(length.try_into().expect("four bytes")) as usize;
        frames.push(rest.get(16..16 + length).unwrap_or_default().to_vec());
        rest = rest.get(16 + length..).unwrap_or_default();
    }
    frames
}

/// The frames of a capture file.
pub fn captured(folder: &Folder, name: &str) -> Vec<Vec<u8>> {
    frames_of(&fs::read(folder.join(name)).unwrap_or_default())
}
