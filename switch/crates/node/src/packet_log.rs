//! A log of what happens to packets, for a thread that writes it. It is bounded, and the switch
//! never waits for its reader: events that find no room are lost and counted. Without a log, a
//! switch only checks an empty option.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use phb_network::{Port, Time};

use crate::statistics::DropReason;

/// Events that wait for the reader.
const CAPACITY: usize = 16_384;

/// An event in the life of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketEvent {
    /// It arrived, or came from a controller if the port is the CPU port.
    Received,
    /// Its transmission has ended.
    Transmitted,
    /// It went to a controller.
    ToController,
    /// It was dropped.
    Dropped(DropReason),
    /// A message of the program (`log_msg`).
    Message,
}

impl PacketEvent {
    /// The event's name in logs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Received => "received",
            Self::Transmitted => "transmitted",
            Self::ToController => "to_controller",
            Self::Dropped(_) => "dropped",
            Self::Message => "message",
        }
    }
}

/// One line of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoggedPacket {
    /// When it happened (ns).
    pub time: Time,
    /// The event.
    pub event: PacketEvent,
    /// Where; none for a port that the switch does not have, and for messages.
    pub port: Option<Port>,
    /// The length of the frame or message; 0 for a drop, where there may be no frame any more.
    pub length: usize,
    /// The first bytes of the frame, as many as were asked for; the whole message.
    pub bytes: Vec<u8>,
}

/// A bounded queue between the switch's thread and the one that writes the log.
#[derive(Debug)]
pub struct PacketLog {
    bytes: usize,
    events: SyncSender<LoggedPacket>,
    /// Only the reader takes this lock.
    reader: Mutex<Receiver<LoggedPacket>>,
    lost: AtomicU64,
}

impl PacketLog {
    /// A log that keeps the first `bytes` of each frame.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        let (events, reader) = sync_channel(CAPACITY);
        Self {
            bytes,
            events,
            reader: Mutex::new(reader),
            lost: AtomicU64::new(0),
        }
    }

    pub(crate) fn note(&self, time: Time, event: PacketEvent, port: Option<Port>, frame: &[u8]) {
        self.add(time, event, port, frame, self.bytes);
    }

    pub(crate) fn note_message(&self, time: Time, message: &str) {
        let message = message.as_bytes();
        self.add(time, PacketEvent::Message, None, message, message.len());
    }

    fn add(&self, time: Time, event: PacketEvent, port: Option<Port>, frame: &[u8], most: usize) {
        let event = LoggedPacket {
            time,
            event,
            port,
            length: frame.len(),
            bytes: frame[..frame.len().min(most)].to_vec(),
        };
        if self.events.try_send(event).is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Takes all events after waiting up to `timeout` for one, and the number lost since last time.
    #[must_use]
    pub fn take(&self, timeout: Duration) -> (Vec<LoggedPacket>, u64) {
        let reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        let first = reader.recv_timeout(timeout).ok();
        let rest = reader.try_iter().take(CAPACITY);
        let taken = first.into_iter().chain(rest).collect();
        (taken, self.lost.swap(0, Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_log_loses_and_counts() {
        let log = PacketLog::new(2);
        for number in 0..CAPACITY + 3 {
            log.note(number as Time, PacketEvent::Received, Some(1), b"abc");
        }
        log.note_message(7, "no room either");
        let (lines, lost) = log.take(Duration::ZERO);
        assert_eq!((lines.len(), lost), (CAPACITY, 4));
        assert_eq!((lines[7].time, lines[7].length), (7, 3));
        assert_eq!(lines[7].bytes, b"ab");
        assert_eq!(log.take(Duration::ZERO), (Vec::new(), 0));
        log.note_message(8, "a message");
        let (lines, _) = log.take(Duration::ZERO);
        assert_eq!(
            (lines[0].event, &lines[0].bytes[..]),
            (PacketEvent::Message, &b"a message"[..])
        );
    }

    #[test]
    fn the_switch_does_not_wait_for_the_reader() {
        let log = PacketLog::new(0);
        let reading = log.reader.lock().expect("nobody panicked");
        log.note(1, PacketEvent::Received, None, b"");
        drop(reading);
        let (events, lost) = log.take(Duration::ZERO);
        assert_eq!((events.len(), lost), (1, 0));
    }

    #[test]
    fn nothing_is_lost_while_there_is_room() {
        let log = PacketLog::new(0);
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let mut numbers = Vec::new();
                while numbers.len() < CAPACITY {
                    let (events, lost) = log.take(Duration::from_millis(100));
                    assert_eq!(lost, 0);
                    numbers.extend(events.iter().map(|event| event.time));
                }
                numbers
            });
            for number in 0..CAPACITY {
                log.note(number as Time, PacketEvent::Received, None, b"");
            }
            let numbers = reader.join().expect("no panic");
            assert!((0..CAPACITY as Time).eq(numbers));
        });
    }
}
