//! The log: lines that parts of the switch say through `tracing`, on their way to a file or stream.
//!
//! Logging never waits for a reader: lines go to a thread through a bounded [`queue`]; lines
//! without room are lost and counted.

mod format;
mod levels;
mod options;
mod queue;
mod sink;
mod subscriber;

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

pub use levels::{Level, Part};
pub use options::{LogOptions, Logging, read};
use queue::Queue;
use sink::Sink;
use subscriber::Subscriber;

use crate::ending::{Ended, input, reason};
use crate::failures::Failures;

/// How long to wait for a reader at the end.
const CLOSE: Duration = Duration::from_secs(2);

pub struct Log {
    queue: Arc<Queue>,
    failures: Arc<Failures>,
    thread: JoinHandle<Sink>,
    /// The log's place for messages; None for stderr, whose failures can't be reported.
    place: Option<String>,
}

impl Log {
    /// Opens the log, and sends all lines there.
    pub fn open(logging: &Logging, failures: &Arc<Failures>) -> Result<Self, Ended> {
        let (log, subscriber) = Self::new(logging, failures)?;
        // It fails only after an earlier log, which there isn't.
        let _ = tracing::subscriber::set_global_default(subscriber);
        Ok(log)
    }

    fn new(logging: &Logging, failures: &Arc<Failures>) -> Result<(Self, Subscriber), Ended> {
        let (target, place) = match &logging.file {
            Some(path) => match OpenOptions::new().append(true).create(true).open(path) {
                Ok(file) => (file, Some(path.display().to_string())),
                Err(error) => {
                    let path = path.display();
                    return input(format!("--log-file {path}: {}", reason(&error)));
                }
            },
            None if logging.console => (duplicate(&io::stdout())?, Some("standard output".into())),
            None => (duplicate(&io::stderr())?, None),
        };
        let mut sink = Sink::new(target, logging);
        if let Some(place) = place.clone() {
            let failures = Arc::clone(failures);
            sink.on_failure(move |why| {
                failures.say(&format!(
                    "{place}: {why}; the log goes on without what it doesn't take"
                ));
            });
        }
        let queue = Arc::new(Queue::default());
        let lines = Arc::clone(&queue);
        let thread = std::thread::Builder::new()
            .name("log".into())
            .spawn(move || {
                while let Some((line, lost)) = lines.take() {
                    sink.write(&line, lost);
                }
                sink.flush();
                lines.finish();
                sink
            });
        let log = Self {
            queue: Arc::clone(&queue),
            failures: Arc::clone(failures),
            thread: thread.map_err(|error| Ended::Failed(format!("log: {}", reason(&error))))?,
            place,
        };
        Ok((log, Subscriber::new(logging.levels, queue)))
    }

    /// Writes the waiting lines, but doesn't wait for a reader that has stopped reading.
    pub fn close(self) {
        if !self.queue.close(CLOSE) {
            return;
        }
        let Ok(sink) = self.thread.join() else {
            return;
        };
        if let Some(place) = self.place
            && sink.lost() > 0
        {
            let lost = sink.lost();
            self.failures.say(&format!(
                "{place}: {lost} lines of the log could not be written"
            ));
        }
    }
}

/// A stream without the standard library's buffer, which would keep a line that can't be written.
fn duplicate(stream: &impl AsFd) -> Result<File, Ended> {
    match stream.as_fd().try_clone_to_owned() {
        Ok(descriptor) => Ok(descriptor.into()),
        Err(error) => Err(Ended::Failed(format!("log: {}", reason(&error)))),
    }
}

#[cfg(test)]
mod tests;
