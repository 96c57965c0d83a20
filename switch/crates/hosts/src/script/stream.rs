//! A stream: the application writes whenever TCP has room (netperf's `TCP_STREAM`).

use phb_network::Time;
use smoltcp::socket::tcp::{Socket, State};

use super::bytes::{pull, push};
use super::step::Step;
use crate::statistics::Books;

pub(crate) struct Source {
    pub flow: usize,
    write_bytes: u64,
    /// Bytes of writes that have not begun; `None` has no end.
    left: Option<u64>,
    stop: Option<Time>,
    /// Bytes of the current write that TCP has not taken.
    to_send: u64,
    sent: u64,
}

impl Source {
    pub fn new(flow: usize, write_bytes: u64, left: Option<u64>, stop: Option<Time>) -> Self {
        Self {
            flow,
            write_bytes,
            left,
            stop,
            to_send: 0,
            sent: 0,
        }
    }

    /// Writes while TCP has room; without room the stop changes nothing.
    pub fn step(&mut self, now: Time, socket: &mut Socket<'_>, books: &mut Books) -> Step {
        if matches!(socket.state(), State::SynSent | State::SynReceived) {
            return Step::Waits;
        }
        loop {
            if self.to_send == 0 {
                let write = self.left.unwrap_or(u64::MAX).min(self.write_bytes);
                if write == 0 || self.stop.is_some_and(|stop| now >= stop) {
                    socket.close();
                    return Step::Ended;
                }
                self.to_send = write;
                self.left = self.left.map(|left| left - write);
            }
            let pushed = push(socket, self.to_send, &mut self.sent);
            self.to_send -= pushed;
            books.host.request_bytes_sent += pushed;
            books.flows[self.flow].bytes_sent += pushed;
            if self.to_send > 0 {
                if socket.state() == State::Established {
                    return Step::Waits;
                }
                socket.close(); // the sink never closes first: the connection is reset
                return Step::Failed;
            }
        }
    }
}

pub(crate) struct Sink {
    number: usize,
    received: u64,
}

impl Sink {
    pub fn new(number: usize) -> Self {
        Self {
            number,
            received: 0,
        }
    }

    pub fn step(&mut self, now: Time, socket: &mut Socket<'_>, books: &mut Books) -> Step {
        if matches!(socket.state(), State::Listen | State::SynReceived) {
            return Step::Waits;
        }
        let pulled = pull(socket, &mut self.received, &mut books.host.bytes_corrupted);
        books.host.request_bytes_received += pulled;
        if pulled > 0 {
            books.sinks[self.number].add(now, pulled);
        }
        match socket.state() {
            State::Established => Step::Waits,
            State::CloseWait => {
                socket.close();
                Step::Ended
            }
            _ => Step::Failed,
        }
    }
}
