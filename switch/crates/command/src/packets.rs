//! Lines of the log about packets.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use phb_node::{LoggedPacket, PacketEvent, PacketLog, SwitchNode};

use crate::ending::{Ended, reason};
use crate::log::{Level, Logging, Part};

const POLL: Duration = Duration::from_millis(100);

/// Logs what happens to packets, until it is dropped.
pub struct Packets {
    node: Arc<Mutex<SwitchNode>>,
    log: Arc<PacketLog>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Packets {
    /// Starts, if the options ask for it. At `debug`, arrivals, departures, drops and the program's
    /// `log_msg` have lines; with `--dump-packet-data`, arrivals and departures come at `info`,
    /// with the frame's first bytes, as in bmv2.
    pub fn start(node: &Arc<Mutex<SwitchNode>>, logging: &Logging) -> Result<Option<Self>, Ended> {
        let has = |level| logging.levels.has(Part::Packets, level);
        let dumping = logging.dump_bytes > 0 && has(Level::Info);
        let is_asked_for = logging.is_apart() || logging.packets;
        if !is_asked_for || !(dumping || has(Level::Debug)) {
            return Ok(None);
        }
        let log = Arc::new(PacketLog::new(logging.dump_bytes));
        set_log(node, Some(Arc::clone(&log)));
        let stop = Arc::new(AtomicBool::new(false));
        let (lines, told) = (Arc::clone(&log), Arc::clone(&stop));
        let thread = std::thread::Builder::new().name("packet-log".into());
        let thread = thread.spawn(move || {
            while !told.load(Ordering::Acquire) {
                write_lines(&lines, POLL);
            }
        });
        Ok(Some(Self {
            node: Arc::clone(node),
            log,
            stop,
            thread: Some(
                thread.map_err(|error| Ended::Failed(format!("packet log: {}", reason(&error))))?,
            ),
        }))
    }
}

impl Drop for Packets {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        write_lines(&self.log, Duration::ZERO);
        set_log(&self.node, None);
    }
}

fn set_log(node: &Mutex<SwitchNode>, log: Option<Arc<PacketLog>>) {
    node.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .set_packet_log(log);
}

fn write_lines(log: &PacketLog, longest: Duration) {
    let (lines, lost) = log.take(longest);
    for line in &lines {
        write_line(line);
    }
    if lost > 0 {
        tracing::warn!(
            target: "packets",
            "{lost} lines about packets are missing: there were more than could be written"
        );
    }
}

fn write_line(line: &LoggedPacket) {
    let at = line.time as f64 / 1e9;
    let event = line.event.name();
    if line.event == PacketEvent::Message {
        let message = String::from_utf8_lossy(&line.bytes);
        tracing::debug!(target: "packets", at, event, "{at:.6} s program: {message}");
        return;
    }
    let place = match line.port {
        None => "no port".to_owned(),
        Some(port) => format!("port {port}"),
    };
    let length = line.length;
    let reason = match line.event {
        PacketEvent::Dropped(reason) => Some(reason.name()),
        _ => None,
    };
    let what = match line.event {
        PacketEvent::Dropped(reason) => format!("dropped ({})", reason.name()),
        PacketEvent::ToController => format!("to a controller, {length} bytes"),
        _ => format!("{event}, {length} bytes"),
    };
    let port = line.port;
    if line.bytes.is_empty() {
        tracing::debug!(target: "packets", at, event, port, length, reason, "{at:.6} s {place}: {what}");
        return;
    }
    let data = hexadecimal(&line.bytes);
    tracing::info!(
        target: "packets", at, event, port, length, reason, data, "{at:.6} s {place}: {what}: {data}"
    );
}

fn hexadecimal(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        // Writing to a string doesn't fail.
        let _ = write!(text, "{byte:02x}");
    }
    text
}
