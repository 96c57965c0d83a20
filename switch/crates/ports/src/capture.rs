//! Writes a port's frames to capture files, as bmv2's `--pcap`: `X_in.pcap`, `X_out.pcap`.

use std::fs::File;
use std::io::{self, BufWriter};
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use phb_network::Time;
use phb_network::pcap::PcapWriter;

use crate::counters::Counters;
use crate::links::LinkChange;
use crate::port::{Clock, Port, PortError, Room, Timestamp};
use crate::system;

/// A capture file that readers can follow.
#[derive(Debug)]
pub(crate) struct CaptureFile {
    path: PathBuf,
    /// `None` after a failed write: half a record may be at the end, so nothing may follow.
    writer: Option<PcapWriter<BufWriter<File>>>,
    pending: usize,
    lost: usize,
    failure: Option<String>,
}

impl CaptureFile {
    pub(crate) fn create(path: &Path) -> Result<Self, PortError> {
        let writer = File::create(path)
            .and_then(|file| PcapWriter::new(BufWriter::new(file)))
            .and_then(|mut writer| {
                writer.flush()?;
                Ok(writer)
            });
        let writer = writer.map_err(|error| {
            PortError(format!("{}: {}", path.display(), system::reason(&error)))
        })?;
        Ok(Self {
            path: path.to_owned(),
            writer: Some(writer),
            pending: 0,
            lost: 0,
            failure: None,
        })
    }

    /// Adds a frame, unless writing has failed.
    pub(crate) fn write(&mut self, at: Timestamp, frame: &[u8]) {
        let result = self.writer.as_mut().map(|writer| writer.write(at, frame));
        self.pending += 1;
        self.settle(result);
    }

    /// Flushes whole frames for readers of the file; gives how many the file lacks.
    pub(crate) fn flush(&mut self) -> usize {
        if self.pending > 0 {
            let result = self.writer.as_mut().map(PcapWriter::flush);
            self.settle(result);
            self.pending = 0;
        }
        std::mem::take(&mut self.lost)
    }

    fn settle(&mut self, result: Option<io::Result<()>>) {
        if let Some(Err(error)) = result {
            let why = system::reason(&error);
            self.failure = Some(format!(
                "{}: {why}; no more is written",
                self.path.display()
            ));
            self.writer = None;
        }
        if self.writer.is_none() {
            self.lost += std::mem::take(&mut self.pending);
        }
    }

    pub(crate) fn failure(&mut self) -> Option<String> {
        self.failure.take()
    }
}

/// A port with capture files of its frames.
pub struct CapturedPort {
    port: Box<dyn Port>,
    received: CaptureFile,
    sent: CaptureFile,
    clock: Clock,
}

impl CapturedPort {
    /// Keeps the frames of `port` in two new files in `directory`.
    pub fn new(port: Box<dyn Port>, directory: &Path) -> Result<Self, PortError> {
        let create = |direction| {
            CaptureFile::create(&directory.join(format!("{}_{direction}.pcap", port.name())))
        };
        Ok(Self {
            received: create("in")?,
            sent: create("out")?,
            port,
            clock: Clock::default(),
        })
    }
}

impl Port for CapturedPort {
    fn name(&self) -> &str {
        self.port.name()
    }

    fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        self.port.descriptor()
    }

    fn counters(&self) -> &Arc<Counters> {
        self.port.counters()
    }

    fn receive(&mut self, now: Time, limit: usize, take: &mut dyn FnMut(&[u8])) -> bool {
        let (file, at) = (&mut self.received, self.clock.at_zero.saturating_add(now));
        self.port.receive(now, limit, &mut |frame| {
            file.write(at, frame);
            take(frame);
        })
    }

    fn waiting<'a>(&'a self, frames: &mut [&'a [u8]]) -> usize {
        self.port.waiting(frames)
    }

    fn send(&mut self, now: Time, frame: &[u8]) {
        self.sent
            .write(self.clock.at_zero.saturating_add(now), frame);
        self.port.send(now, frame);
    }

    fn flush(&mut self) {
        self.port.flush();
        let lost = self.received.flush() + self.sent.flush();
        self.port.counters().not_captured(lost);
    }

    fn hold_back(&mut self) {
        self.port.hold_back();
    }

    fn room(&self) -> Room {
        self.port.room()
    }

    fn blocked(&self) -> Option<BorrowedFd<'_>> {
        self.port.blocked()
    }

    fn make_room(&mut self) {
        self.port.make_room();
    }

    fn has_rings(&self) -> bool {
        self.port.has_rings()
    }

    fn next_arrival(&self) -> Option<Time> {
        self.port.next_arrival()
    }

    fn first_timestamp(&self) -> Option<Timestamp> {
        self.port.first_timestamp()
    }

    fn start(&mut self, clock: &Clock) {
        self.clock = *clock;
        self.port.start(clock);
    }

    fn complaint(&mut self) -> Option<String> {
        self.received
            .failure()
            .or_else(|| self.sent.failure())
            .or_else(|| self.port.complaint())
    }

    fn trouble(&mut self) {
        self.port.trouble();
    }

    fn link_changed(&mut self, change: &LinkChange) -> Option<String> {
        self.port.link_changed(change)
    }
}
