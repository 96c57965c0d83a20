//! Request/response traffic of the Chariot scripts in the IBM/Cisco S/390 tests (their appendix F):
//!
//! ```text
//! client                                  server
//! CONNECT_INITIATE                        CONNECT_ACCEPT
//! LOOP records_per_connection             LOOP
//!   START_TIMER
//!   SEND request_bytes                      RECEIVE request_bytes
//!                                           SLEEP think
//!   RECEIVE reply_bytes                     SEND reply_bytes
//!   END_TIMER
//!   SLEEP pause
//! DISCONNECT                              DISCONNECT
//! ```
//!
//! The client repeats the script on new connections. Connection setup is not measured.

use phb_network::Time;
use smoltcp::socket::tcp::{Socket, State};

use super::bytes::{pull, push};
use super::step::Step;
use crate::statistics::{Books, HostStatistics, Transaction};

pub(crate) struct Client {
    pub flow: usize,
    request_bytes: u64,
    reply_bytes: u64,
    records_left: u64,
    pause: Time,
    stop: Option<Time>,
    started: Option<Time>,
    next: Time,
    to_send: u64,
    to_receive: u64,
    sent: u64,
    received: u64,
}

impl Client {
    pub fn new(
        flow: usize,
        (request_bytes, reply_bytes): (u64, u64),
        records_per_connection: u64,
        pause: Time,
        stop: Option<Time>,
    ) -> Self {
        Self {
            flow,
            request_bytes,
            reply_bytes,
            records_left: records_per_connection,
            pause,
            stop,
            started: None,
            next: 0,
            to_send: 0,
            to_receive: 0,
            sent: 0,
            received: 0,
        }
    }

    pub fn due(&self) -> Option<Time> {
        (self.started.is_none() && self.next > 0).then_some(self.next)
    }

    pub fn step(&mut self, now: Time, socket: &mut Socket<'_>, books: &mut Books) -> Step {
        if matches!(socket.state(), State::SynSent | State::SynReceived) {
            return Step::Waits;
        }
        loop {
            if self.started.is_none() {
                if now < self.next {
                    if socket.state() == State::Established {
                        return Step::Waits;
                    }
                    socket.close(); // the server has closed, or the connection is reset
                    return Step::Failed;
                }
                if self.records_left == 0 || self.stop.is_some_and(|stop| now >= stop) {
                    socket.close();
                    return Step::Ended;
                }
                self.started = Some(now);
                self.to_send = self.request_bytes;
                self.to_receive = self.reply_bytes;
            }
            let pushed = push(socket, self.to_send, &mut self.sent);
            self.to_send -= pushed;
            books.host.request_bytes_sent += pushed;
            books.flows[self.flow].bytes_sent += pushed;
            let pulled = pull(socket, &mut self.received, &mut books.host.bytes_corrupted);
            self.to_receive = self.to_receive.saturating_sub(pulled);
            books.host.reply_bytes_received += pulled;

            if self.to_send > 0 || self.to_receive > 0 {
                if socket.state() == State::Established {
                    return Step::Waits;
                }
                socket.close(); // as above: there will be no reply
                return Step::Failed;
            }
            if let Some(start) = self.started.take() {
                books.flows[self.flow].transactions += 1;
                books.transactions.push(Transaction {
                    flow: self.flow,
                    start,
                    end: now,
                });
            }
            self.records_left -= 1;
            self.next = now.saturating_add(self.pause);
        }
    }
}

pub(crate) struct Server {
    request_bytes: u64,
    reply_bytes: u64,
    think: Time,
    /// Bytes of requests that are not answered yet.
    asked: u64,
    thinks_until: Option<Time>,
    /// Whether each request is relayed and waits for [`answer`](Self::answer).
    relays: bool,
    to_relay: bool,
    to_send: u64,
    sent: u64,
    received: u64,
}

impl Server {
    pub fn new(request_bytes: u64, reply_bytes: u64, think: Time, relays: bool) -> Self {
        Self {
            request_bytes,
            reply_bytes,
            think,
            asked: 0,
            thinks_until: None,
            relays,
            to_relay: false,
            to_send: 0,
            sent: 0,
            received: 0,
        }
    }

    /// The length of a request to be relayed now; given once.
    pub fn relayed(&mut self) -> Option<u64> {
        std::mem::take(&mut self.to_relay).then_some(self.request_bytes)
    }

    /// Replies to the relayed request.
    pub fn answer(&mut self) {
        if self.relays && self.thinks_until.is_some() {
            self.thinks_until = Some(0);
        }
    }

    pub fn due(&self) -> Option<Time> {
        self.thinks_until.filter(|_| !self.relays)
    }

    pub fn step(
        &mut self,
        now: Time,
        socket: &mut Socket<'_>,
        statistics: &mut HostStatistics,
    ) -> Step {
        if matches!(socket.state(), State::Listen | State::SynReceived) {
            return Step::Waits;
        }
        let pulled = pull(socket, &mut self.received, &mut statistics.bytes_corrupted);
        self.asked += pulled;
        statistics.request_bytes_received += pulled;
        loop {
            if self.to_send > 0 {
                let pushed = push(socket, self.to_send, &mut self.sent);
                self.to_send -= pushed;
                statistics.reply_bytes_sent += pushed;
                if self.to_send > 0 {
                    break;
                }
            }
            if let Some(until) = self.thinks_until {
                if now < until {
                    break;
                }
                self.thinks_until = None;
                self.to_send = self.reply_bytes;
            } else if self.asked >= self.request_bytes {
                self.asked -= self.request_bytes;
                self.to_relay = self.relays;
                let think = if self.relays { Time::MAX } else { self.think };
                self.thinks_until = Some(now.saturating_add(think));
            } else {
                break;
            }
        }
        match socket.state() {
            State::Established => Step::Waits,
            // The client closes after its last reply; unanswered requests are lost.
            State::CloseWait if self.to_send > 0 || self.thinks_until.is_some() => Step::Waits,
            State::CloseWait => {
                socket.close();
                if self.asked == 0 {
                    Step::Ended
                } else {
                    Step::Failed
                }
            }
            _ => Step::Failed,
        }
    }
}
