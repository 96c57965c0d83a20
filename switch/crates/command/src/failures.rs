//! Files that could not be written, or read, to their ends while the switch ran.
//!
//! The switch goes on without them. Each is reported when it happens, and again by the exit code.

use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};

use phb_node::RealTime;

use crate::ending::Ended;

/// Whether files of one run have failed.
#[derive(Default)]
pub struct Failures(AtomicBool);

impl Failures {
    /// Reports the failure of a file on stderr, whether or not there is a log.
    pub fn say(&self, failure: &str) {
        self.0.store(true, Ordering::Relaxed);
        // A failure of stderr can't be reported.
        let line = format!("phb-switch: {failure}");
        let _ = writeln!(std::io::stderr(), "{}", crate::terminal::shown(&line));
    }

    /// Fails if not all files are whole.
    pub fn check(&self) -> Result<(), Ended> {
        if self.0.load(Ordering::Relaxed) {
            return Err(Ended::Failed("failed: not all files are whole".to_owned()));
        }
        Ok(())
    }
}

pub struct OfPorts<'a> {
    failures: &'a Failures,
    /// Whether there is a log besides stderr, which gets them too.
    is_log_apart: bool,
    said: usize,
}

impl<'a> OfPorts<'a> {
    pub fn new(failures: &'a Failures, is_log_apart: bool) -> Self {
        Self {
            failures,
            is_log_apart,
            said: 0,
        }
    }

    /// Says which files have failed since the last call.
    pub fn say(&mut self, runner: &RealTime) {
        let all = runner.failures();
        for failure in all.iter().skip(self.said) {
            self.failures.say(failure);
            if self.is_log_apart {
                tracing::error!(target: "ports", "{failure}");
            }
        }
        self.said = all.len();
    }
}
