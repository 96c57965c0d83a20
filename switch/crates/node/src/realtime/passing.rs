//! Frames on their way between ports and node.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use phb_network::{Output, Port, Time};
use phb_ports::Room;
use phb_traffic_manager::Outlet;

use super::{BATCH, LiveNode};

/// A port, and how far it is.
pub(super) struct Attached {
    pub number: Port,
    pub port: Box<dyn phb_ports::Port>,
    /// Frames may wait.
    pub readable: bool,
    /// Frames were passed since the last flush.
    pub dirty: bool,
    /// What the node knows of the port's room; nothing at the start.
    pub outlet: Option<Outlet>,
}

/// All ports of a runner.
pub(super) struct Ports {
    pub attached: Vec<Attached>,
    /// An interface may hold frames back, or the node doesn't know yet that it doesn't.
    pub held: bool,
    /// Place in `attached` by port number.
    index: Vec<Option<usize>>,
    pub started: bool,
}

impl Ports {
    pub fn new(ports: impl IntoIterator<Item = (Port, Box<dyn phb_ports::Port>)>) -> Self {
        let mut index = Vec::new();
        let mut attached = Vec::new();
        for (number, port) in ports {
            let place = usize::from(number);
            index.resize(index.len().max(place + 1), None);
            index[place] = Some(attached.len());
            attached.push(Attached {
                number,
                port,
                readable: true,
                dirty: false,
                outlet: None,
            });
        }
        Self {
            attached,
            held: false,
            index,
            started: false,
        }
    }

    /// Sends frames that are due, and keeps the later ones.
    pub fn send(&mut self, now: Time, out: &Output, later: &mut Later) {
        while let Some((port, frame)) = later.take_due(now) {
            self.send_one(now, port, &frame);
        }
        for sent in out.sent() {
            if sent.at > now {
                later.keep(sent.at, sent.port, &sent.frame.bytes);
            } else {
                self.send_one(now, sent.port, &sent.frame.bytes);
            }
        }
    }

    /// Has ports finish the batch.
    pub fn flush(&mut self) {
        for each in &mut self.attached {
            if std::mem::take(&mut each.dirty) {
                each.port.flush();
            }
        }
    }

    pub fn any_held(&self) -> bool {
        let mut rooms = self.attached.iter().map(|each| each.port.room());
        rooms.any(|room| room != Room::Always)
    }

    /// A round in which the node knows before every frame which ports have room. Gives whether frames
    /// came.
    pub fn pass_one_by_one(
        &mut self,
        now: Time,
        node: &mut dyn LiveNode,
        out: &mut Output,
        later: &mut Later,
    ) -> bool {
        node.tick(now, out);
        self.settle(now, node, out, later);
        let mut came = false;
        for place in 0..self.attached.len() {
            for _ in 0..BATCH {
                let each = &mut self.attached[place];
                if !each.readable {
                    break;
                }
                let number = each.number;
                each.readable = each.port.receive(now, 1, &mut |frame| {
                    (came, each.dirty) = (true, true);
                    node.receive_borrowed(now, number, frame, out);
                });
                self.settle(now, node, out, later);
            }
        }
        self.held = self.any_held();
        came
    }

    /// Sends what the node has given, and has it give more as long as ports have room.
    fn settle(&mut self, now: Time, node: &mut dyn LiveNode, out: &mut Output, later: &mut Later) {
        loop {
            self.send(now, out, later);
            out.begin(now);
            for each in &mut self.attached {
                let outlet = match each.port.room() {
                    Room::Always => Outlet::Always,
                    Room::Now => Outlet::Open,
                    Room::None => Outlet::Closed,
                };
                if each.outlet != Some(outlet) {
                    each.outlet = Some(outlet);
                    node.set_outlet(now, each.number, outlet, out);
                }
            }
            if out.sent().is_empty() {
                return;
            }
        }
    }

    fn send_one(&mut self, now: Time, port: Port, frame: &[u8]) {
        let place = self.index.get(usize::from(port)).copied().flatten();
        // A port without an interface: its line leads nowhere.
        if let Some(place) = place {
            let each = &mut self.attached[place];
            each.port.send(now, frame);
            each.dirty = true;
            if each.outlet == Some(Outlet::Open) {
                each.outlet = Some(Outlet::Closed);
            }
        }
    }

    /// Has the next round ask the ports that can be asked without the kernel.
    pub fn look_at_rings(&mut self, now: Time) {
        for each in &mut self.attached {
            let due = each.port.next_arrival().is_some_and(|at| at <= now);
            each.readable |= due || each.port.has_rings();
        }
    }
}

/// Time, number in the order of sending, port, and the frame.
type Departure = (Time, u64, Port, Vec<u8>);

/// Frames that leave the node later, by time, and for one time in the order of sending.
#[derive(Default)]
pub(super) struct Later {
    waiting: BinaryHeap<Reverse<Departure>>,
    sequence: u64,
}

impl Later {
    fn keep(&mut self, at: Time, port: Port, frame: &[u8]) {
        self.sequence += 1;
        let waiting = (at, self.sequence, port, frame.to_vec());
        self.waiting.push(Reverse(waiting));
    }

    pub fn due(&self) -> Option<Time> {
        self.waiting.peek().map(|Reverse((at, ..))| *at)
    }

    fn take_due(&mut self, now: Time) -> Option<(Port, Vec<u8>)> {
        if self.due()? > now {
            return None;
        }
        self.waiting
            .pop()
            .map(|Reverse((_, _, port, frame))| (port, frame))
    }
}
