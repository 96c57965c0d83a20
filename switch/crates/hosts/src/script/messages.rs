//! Messages between message transfer agents, one after another, each answered.
//!
//! A message begins with its own length (eight bytes, most significant first, counted into it). The
//! sender waits for the answer before it sends the next message. A message's time starts with its
//! submission: it includes waiting for earlier ones and opening its own connection.

use std::sync::Arc;

use phb_network::Time;
use smoltcp::socket::tcp::{Socket, State};

use super::bytes::{count_wrong, pull, pull_bytes, push, push_bytes, write_pattern};
use super::step::Step;
use crate::statistics::{Books, HostStatistics, Transaction};
use crate::traffic::MESSAGE_LENGTH_BYTES;

pub(crate) struct Sender {
    pub flow: usize,
    schedule: Arc<[(Time, u64)]>,
    answer_bytes: u64,
    permanent: bool,
    /// The message that is under way or waits for its time.
    current: usize,
    /// Bytes of it that TCP has taken; `None` before its start.
    pushed: Option<u64>,
    /// Submission of the next message, while the connection is idle.
    wakes: Option<Time>,
    to_receive: u64,
    sent: u64,
    received: u64,
}

impl Sender {
    /// Starts with message `current`: earlier ones were answered on other connections.
    pub fn new(
        flow: usize,
        schedule: Arc<[(Time, u64)]>,
        answer_bytes: u64,
        permanent: bool,
        current: usize,
    ) -> Self {
        Self {
            flow,
            schedule,
            answer_bytes,
            permanent,
            current,
            pushed: None,
            wakes: None,
            to_receive: 0,
            sent: 0,
            received: 0,
        }
    }

    pub fn due(&self) -> Option<Time> {
        self.wakes
    }

    pub fn step(&mut self, now: Time, socket: &mut Socket<'_>, books: &mut Books) -> Step {
        if matches!(socket.state(), State::SynSent | State::SynReceived) {
            return Step::Waits;
        }
        self.wakes = None;
        loop {
            let next = self.schedule.get(self.current).copied();
            let Some((submitted, bytes)) = next.filter(|(at, _)| *at <= now) else {
                if socket.state() == State::Established {
                    self.wakes = next.map(|(at, _)| at);
                    return Step::Waits; // a permanent association stays open after its last message
                }
                socket.close();
                return Step::Failed;
            };
            let mut pushed = self.pushed.unwrap_or_else(|| {
                self.to_receive = self.answer_bytes;
                0
            });
            let taken = push_message(socket, bytes, pushed, &mut self.sent);
            pushed += taken;
            self.pushed = Some(pushed);
            books.host.request_bytes_sent += taken;
            books.flows[self.flow].bytes_sent += taken;
            let pulled = pull(socket, &mut self.received, &mut books.host.bytes_corrupted);
            self.to_receive = self.to_receive.saturating_sub(pulled);
            books.host.reply_bytes_received += pulled;
            if pushed < bytes || self.to_receive > 0 {
                if socket.state() == State::Established {
                    return Step::Waits;
                }
                socket.close();
                return Step::Failed;
            }
            books.flows[self.flow].transactions += 1;
            books.transactions.push(Transaction {
                flow: self.flow,
                start: submitted,
                end: now,
            });
            self.current += 1;
            self.pushed = None;
            if !self.permanent {
                socket.close();
                return Step::Ended;
            }
        }
    }
}

/// Hands a message's bytes from `pushed` on to TCP; gives how many it took.
fn push_message(socket: &mut Socket<'_>, bytes: u64, pushed: u64, sent: &mut u64) -> u64 {
    let length = bytes.to_be_bytes();
    let start = *sent - pushed;
    push_bytes(socket, bytes - pushed, sent, |place, room| {
        write_pattern(place, room);
        let within = usize::try_from(place - start).unwrap_or(usize::MAX);
        let of_length = length.get(within..).unwrap_or_default();
        for (byte, of_length) in room.iter_mut().zip(of_length) {
            *byte = *of_length;
        }
    })
}

pub(crate) struct Receiver {
    answer_bytes: u64,
    length: [u8; MESSAGE_LENGTH_BYTES],
    /// Received bytes of the current message.
    within: u64,
    to_send: u64,
    sent: u64,
    received: u64,
}

impl Receiver {
    pub fn new(answer_bytes: u64) -> Self {
        Self {
            answer_bytes,
            length: [0; MESSAGE_LENGTH_BYTES],
            within: 0,
            to_send: 0,
            sent: 0,
            received: 0,
        }
    }

    /// Takes a part of the stream; gives the number of wrong bytes.
    fn take(&mut self, mut place: u64, mut data: &[u8]) -> u64 {
        let mut wrong = 0;
        while let Some(first) = data.first() {
            let within = usize::try_from(self.within).unwrap_or(usize::MAX);
            let taken = if let Some(byte) = self.length.get_mut(within) {
                *byte = *first;
                1
            } else {
                let left = u64::from_be_bytes(self.length).saturating_sub(self.within);
                let taken = data
                    .len()
                    .min(usize::try_from(left).unwrap_or(usize::MAX))
                    .max(1);
                wrong += count_wrong(place, &data[..taken]);
                taken
            };
            data = &data[taken..];
            place += taken as u64;
            self.within += taken as u64;
            let has_length = self.within >= MESSAGE_LENGTH_BYTES as u64;
            if has_length && self.within >= u64::from_be_bytes(self.length) {
                self.within = 0;
                self.to_send += self.answer_bytes;
            }
        }
        wrong
    }

    pub fn step(&mut self, socket: &mut Socket<'_>, statistics: &mut HostStatistics) -> Step {
        if matches!(socket.state(), State::Listen | State::SynReceived) {
            return Step::Waits;
        }
        let mut received = self.received;
        let pulled = pull_bytes(socket, &mut received, |place, data| {
            statistics.bytes_corrupted += self.take(place, data);
        });
        self.received = received;
        statistics.request_bytes_received += pulled;
        let pushed = push(socket, self.to_send, &mut self.sent);
        self.to_send -= pushed;
        statistics.reply_bytes_sent += pushed;
        match socket.state() {
            State::Established => Step::Waits,
            State::CloseWait if self.to_send > 0 => Step::Waits,
            State::CloseWait => {
                socket.close();
                if self.within == 0 {
                    Step::Ended
                } else {
                    Step::Failed
                }
            }
            _ => Step::Failed,
        }
    }
}
