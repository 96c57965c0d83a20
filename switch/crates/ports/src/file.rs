//! Capture files as a port: one is replayed with its own timing, another takes sent frames.
//!
//! As bmv2's `--use-files N`: the earliest frame of all ports' files arrives N seconds after the
//! start, others as much later as their time stamps.

use std::fs::File;
use std::io::BufReader;
use std::os::fd::BorrowedFd;
use std::path::Path;
use std::sync::Arc;

use phb_network::Time;

use crate::capture::CaptureFile;
use crate::counters::Counters;
use crate::pcap::PcapReader;
use crate::port::{Clock, Port, PortError, Timestamp};

type Reader = PcapReader<BufReader<File>>;

/// Replays one capture file and writes another.
#[derive(Debug)]
pub struct FilePort {
    name: String,
    input: Option<Reader>,
    /// Time stamp of the reader's frame.
    next: Option<Timestamp>,
    output: Option<CaptureFile>,
    /// Time from the start to the earliest frame.
    wait: Time,
    clock: Clock,
    complaint: Option<String>,
    counters: Arc<Counters>,
}

impl FilePort {
    /// Replays `input`, `wait` ns after the start, and writes `output` anew. Fails at once if
    /// `input` is, anywhere, no capture of Ethernet frames.
    pub fn open(
        name: &str,
        input: Option<&Path>,
        output: Option<&Path>,
        wait: Time,
    ) -> Result<Self, PortError> {
        let mut port = Self {
            name: name.to_owned(),
            input: None,
            next: None,
            output: None,
            wait,
            clock: Clock::default(),
            complaint: None,
            counters: Arc::default(),
        };
        if let Some(path) = input {
            let mut whole = read(path)?;
            while whole.advance()?.is_some() {}
            let mut reader = read(path)?;
            port.next = reader.advance()?;
            port.input = Some(reader);
        }
        port.output = output.map(CaptureFile::create).transpose()?;
        Ok(port)
    }
}

fn read(path: &Path) -> Result<PcapReader<BufReader<File>>, PortError> {
    let file = File::open(path).map_err(|error| {
        PortError(format!(
            "{}: {}",
            path.display(),
            crate::system::reason(&error)
        ))
    })?;
    PcapReader::new(
        BufReader::with_capacity(1 << 16, file),
        path.display().to_string(),
    )
}

impl Port for FilePort {
    fn name(&self) -> &str {
        &self.name
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        None
    }

    fn counters(&self) -> &Arc<Counters> {
        &self.counters
    }

    fn receive(&mut self, now: Time, limit: usize, take: &mut dyn FnMut(&[u8])) -> bool {
        for _ in 0..limit {
            if self.next_arrival().is_none_or(|at| at > now) {
                return false;
            }
            let Some(reader) = &mut self.input else {
                return false;
            };
            take(reader.frame());
            self.next = reader.advance().unwrap_or_else(|error| {
                self.counters.receive_error();
                self.complaint = Some(error.to_string());
                None
            });
        }
        true
    }

    fn send(&mut self, now: Time, frame: &[u8]) {
        let at = self.clock.at_zero.saturating_add(now);
        if let Some(file) = &mut self.output {
            file.write(at, frame);
        }
    }

    fn flush(&mut self) {
        if let Some(file) = &mut self.output {
            self.counters.send_errors(file.flush());
        }
    }

    fn next_arrival(&self) -> Option<Time> {
        let after = self.next?.saturating_sub(self.clock.replay_from);
        Some(self.wait.saturating_add(after))
    }

    fn first_timestamp(&self) -> Option<Timestamp> {
        self.next
    }

    fn start(&mut self, clock: &Clock) {
        self.clock = *clock;
    }

    fn complaint(&mut self) -> Option<String> {
        let file = self.output.as_mut();
        self.complaint
            .take()
            .or_else(|| file.and_then(CaptureFile::failure))
    }
}
