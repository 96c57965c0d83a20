//! The ports of a switch, with the packets that wait there.

use std::ops::{Index, IndexMut};

use phb_network::{Port, Time};
use phb_pipeline::Packet;
use phb_traffic_manager::{Outlet, PortConfig, PortQueue};

use crate::statistics::{DropReason, PortStatistics, QueueStatistics};

/// A port without a line rate.
#[must_use]
pub fn unlimited() -> PortConfig {
    PortConfig::default()
}

#[derive(Clone, Copy)]
pub(crate) struct Origin {
    /// The port at which it, or the packet it is a copy of, arrived.
    pub(crate) port: Port,
    /// How often it was resubmitted, recirculated and cloned.
    pub(crate) passes: u8,
}

pub(crate) struct Waiting {
    pub(crate) packet: Box<Packet>,
    pub(crate) origin: Origin,
}

pub(crate) struct SwitchPort {
    pub(crate) number: Port,
    pub(crate) queue: PortQueue<Waiting, Vec<u8>>,
    pub(crate) statistics: PortStatistics,
    queues: Vec<QueueStatistics>,
    /// The queue's next event, or [`NEVER`]; runners ask after every packet.
    due: Time,
}

/// The time of an event that does not come.
const NEVER: Time = Time::MAX;

impl SwitchPort {
    /// Frames that have left the line so far, for whomever.
    pub(crate) fn departures(&self) -> u64 {
        self.statistics.transmitted_packets + self.statistics.dropped.of(DropReason::CpuBuffer)
    }

    /// Notes the queue's next event. To be called when packets or frames have moved.
    pub(crate) fn note_due(&mut self) {
        self.due = self.queue.next_event().unwrap_or(NEVER);
    }

    pub(crate) fn is_due(&self, now: Time) -> bool {
        debug_assert_eq!(self.due, self.queue.next_event().unwrap_or(NEVER));
        self.due <= now && self.due < NEVER
    }

    pub(crate) fn of_queue(&mut self, queue: u8) -> &mut QueueStatistics {
        let place = usize::from(queue);
        if place >= self.queues.len() {
            self.queues.resize(place + 1, QueueStatistics::default());
        }
        &mut self.queues[place]
    }

    /// The counters of its queues by priority; a program with ranks has one queue.
    pub(crate) fn queue_statistics(&self) -> Vec<QueueStatistics> {
        let mut queues = self.queues.clone();
        let configured = usize::from(self.queue.config().queues);
        queues.resize(queues.len().max(configured), QueueStatistics::default());
        for (priority, queue) in (0..=u8::MAX).zip(&mut queues) {
            queue.depth = self.queue.queue_depth(priority) as u64;
        }
        queues
    }
}

/// Ports by place; places never change.
#[derive(Default)]
pub(crate) struct Ports {
    ports: Vec<SwitchPort>,
    /// Place by port number.
    places: Vec<Option<usize>>,
}

impl Ports {
    pub(crate) fn place(&self, number: Port) -> Option<usize> {
        self.places.get(usize::from(number)).copied().flatten()
    }

    pub(crate) fn count(&self) -> usize {
        self.ports.len()
    }

    /// Adds a port, or changes how it transmits from the next frame on.
    pub(crate) fn set(&mut self, number: Port, config: PortConfig) {
        if let Some(place) = self.place(number) {
            self.ports[place].queue.set_config(config);
            return self.ports[place].note_due();
        }
        let index = usize::from(number);
        if index >= self.places.len() {
            self.places.resize(index + 1, None);
        }
        self.places[index] = Some(self.ports.len());
        self.ports.push(SwitchPort {
            number,
            queue: PortQueue::new(config),
            statistics: PortStatistics::default(),
            queues: Vec::new(),
            due: NEVER,
        });
    }

    pub(crate) fn set_outlet(&mut self, place: usize, outlet: Outlet) {
        self.ports[place].queue.set_outlet(outlet);
        self.ports[place].note_due();
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &SwitchPort> {
        let places = self.places.iter().flatten();
        places.map(|place| &self.ports[*place])
    }

    pub(crate) fn next_event(&self) -> Option<Time> {
        let due = self.ports.iter().map(|port| port.due).min();
        due.filter(|due| *due < NEVER)
    }
}

impl Index<usize> for Ports {
    type Output = SwitchPort;

    fn index(&self, place: usize) -> &SwitchPort {
        &self.ports[place]
    }
}

impl IndexMut<usize> for Ports {
    fn index_mut(&mut self, place: usize) -> &mut SwitchPort {
        &mut self.ports[place]
    }
}
