//! Which signals end the switch, and how it learns of them.
//!
//! SIGINT, SIGTERM and SIGHUP do, the latter two unless they were ignored from the start, as SIGHUP is under `nohup`.
//! They are blocked rather than handled: a thread waits for them. SIGUSR1 and SIGUSR2, which rotate the logs of some
//! daemons, do nothing here. SIGXFSZ is ignored, so that a file that may not grow is an error like any other.

use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use nix::sys::signal::{SigSet, Signal};

use crate::ending::{Ended, reason};

const WITHOUT_MEANING: [Signal; 3] = [Signal::SIGUSR1, Signal::SIGUSR2, Signal::SIGXFSZ];

/// Signals don't end the process any more: [`wait`](Self::wait) tells of them.
pub struct Stopping(Receiver<()>);

impl Stopping {
    /// Blocks the signals. To be called before other threads start, which inherit what is blocked.
    pub fn new() -> Result<Self, Ended> {
        let ignored = ignored();
        let unless_ignored = [Signal::SIGTERM, Signal::SIGHUP].into_iter();
        // Shells ignore SIGINT for what they start in the background, where `kill -INT` is to work all the same.
        let ending: SigSet = unless_ignored
            .filter(|signal| ignored >> (*signal as i32 - 1) & 1 == 0)
            .chain([Signal::SIGINT])
            .collect();
        let failed = |why: String| Ended::Failed(format!("signals: {why}"));
        let all: SigSet = ending.iter().chain(WITHOUT_MEANING).collect();
        all.thread_block()
            .map_err(|error| failed(error.desc().to_owned()))?;
        let (tell, told) = channel();
        let listen = move || {
            while let Ok(signal) = all.wait() {
                if ending.contains(signal) && tell.send(()).is_err() {
                    break;
                }
            }
        };
        let thread = std::thread::Builder::new().name("signals".into());
        thread
            .spawn(listen)
            .map_err(|error| failed(reason(&error)))?;
        Ok(Self(told))
    }

    /// Waits up to `longest`; whether the process has been told to end.
    pub fn wait(&self, longest: Duration) -> bool {
        self.0.recv_timeout(longest) != Err(RecvTimeoutError::Timeout)
    }
}

/// The ignored signals, a bit each, signal 1 first; none without /proc.
fn ignored() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}
