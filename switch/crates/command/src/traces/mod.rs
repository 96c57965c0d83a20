//! Traces of packets, on their way to a file, a pipe or standard output.
//!
//! Forwarding never waits for them: they come from a bounded queue of the switch's to a thread that may wait for a
//! reader. Traces without room, and those that can't be written, are left out: the next one that is written says how
//! many, and so does a line at the end.

mod options;
mod sink;
mod writer;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use phb_node::SwitchNode;
use phb_node::tracing::{Watch, unwatch, watch};
use phb_trace::Filter;

#[cfg(test)]
pub use options::Format;
pub use options::{Place, TraceOptions, Wanted, read};
use sink::Sink;
use writer::{Progress, Writer};

use crate::ending::{Ended, input, reason};
use crate::failures::Failures;

/// How long to wait for a reader at the end.
const CLOSE: Duration = Duration::from_secs(2);

/// Where failures are told.
#[derive(Clone)]
struct Told {
    place: String,
    failures: Arc<Failures>,
    /// Whether there is a log besides stderr, which gets them, too.
    is_log_apart: bool,
}

impl Told {
    fn say(&self, what: &str) {
        let line = format!("{}: {what}", self.place);
        self.failures.say(&line);
        if self.is_log_apart {
            tracing::error!(target: "packets", "{line}");
        }
    }
}

/// Writes traces until it is dropped.
pub struct Traces {
    node: Arc<Mutex<SwitchNode>>,
    watch: Arc<Watch>,
    progress: Arc<Progress>,
    told: Told,
    has_told: bool,
}

impl Traces {
    /// Starts with the packets that come from now on.
    pub fn start(
        node: &Arc<Mutex<SwitchNode>>,
        wanted: &Wanted,
        failures: &Arc<Failures>,
        is_log_apart: bool,
    ) -> Result<Self, Ended> {
        let place = match &wanted.place {
            Place::Stdout => "standard output".to_owned(),
            Place::File(path) => path.display().to_string(),
        };
        let sink = match Sink::open(&wanted.place) {
            Ok(sink) => sink,
            Err(error) => return input(format!("--trace {place}: {}", reason(&error))),
        };
        // It has been tried when the command line was read.
        let filter = Filter::parse(&wanted.filter).or_else(|error| input(error.to_string()))?;
        let Some(watch) = watch(node, filter, wanted.frame_bytes.unwrap_or(0)) else {
            return input("--trace: there are as many readers of traces as there may be");
        };
        let told = Told {
            place,
            failures: Arc::clone(failures),
            is_log_apart,
        };
        let progress = Arc::new(Progress::default());
        let writer = Writer {
            node: Arc::clone(node),
            watch: Arc::clone(&watch),
            sink,
            format: wanted.format,
            count: wanted.count,
            missing: 0,
            told: Some(told.clone()),
            progress: Arc::clone(&progress),
        };
        let thread = std::thread::Builder::new().name("traces".into());
        let started = thread.spawn(move || writer.run());
        if let Err(error) = started {
            unwatch(node, &watch);
            return Err(Ended::Failed(format!("traces: {}", reason(&error))));
        }
        Ok(Self {
            node: Arc::clone(node),
            watch,
            progress,
            told,
            has_told: false,
        })
    }

    /// Says, once, that traces are left out.
    pub fn look(&mut self) {
        if !self.has_told && self.watch.left_out() > 0 && !self.progress.is_over() {
            self.has_told = true;
            self.told
                .say("traces are left out: more come than can be written");
        }
    }
}

impl Drop for Traces {
    /// Writes what waits, but doesn't wait for a reader that has stopped reading.
    fn drop(&mut self) {
        unwatch(&self.node, &self.watch);
        let lost = self.progress.close(&self.watch, CLOSE);
        if lost > 0 {
            self.told.say(&format!("{lost} traces are left out"));
        }
    }
}
