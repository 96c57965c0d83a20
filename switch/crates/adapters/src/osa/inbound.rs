//! Inbound queues.
//!
//! Without inbound workload queueing (IWQ) all packets join the primary queue. With it, registered
//! streaming connections use the bulk queue, distributed addresses the sysplex distributor's,
//! Enterprise Extender its own, others the primary one. Each has a LAN-idle timer and storage.

use std::collections::VecDeque;

use phb_network::{Frame, Time};

use super::accelerator::Distributor;
use super::configuration::OsaConfig;
use super::headers::Packet;
use super::lan_idle::{LanIdle, Timer};
use super::queue_kind::{QUEUES, QueueKind};
use super::statistics::InboundQueueStatistics;
use super::streaming::Connections;

const PROTOCOL_UDP: u8 = 17;
/// Enterprise Extender: HPR over UDP, one port per transmission priority (RFC 2353, section 2.6.1).
const ENTERPRISE_EXTENDER: std::ops::RangeInclusive<u16> = 12_000..=12_004;

pub(super) struct Arrived {
    pub frame: Frame,
    pub packet: Option<Packet>,
    pub queue: QueueKind,
    /// For another host: the sysplex distributor forwards it.
    pub forwards: bool,
}

struct Queue {
    timer: Timer,
    pending: VecDeque<Arrived>,
    pending_bytes: usize,
    /// Bytes in read storage: waiting, or handed over and not yet processed.
    storage: usize,
    statistics: InboundQueueStatistics,
}

pub(super) struct Inbound {
    workload_queueing: bool,
    buffer_bytes: usize,
    storage_bytes: usize,
    queues: [Queue; QUEUES],
}

impl Inbound {
    pub fn new(config: &OsaConfig, lan_idle: LanIdle) -> Self {
        let queue = |_| Queue {
            timer: Timer::new(lan_idle, config.longest_hold_ns),
            pending: VecDeque::new(),
            pending_bytes: 0,
            storage: 0,
            statistics: InboundQueueStatistics::default(),
        };
        Self {
            workload_queueing: config.workload_queueing,
            buffer_bytes: config.buffer_bytes,
            storage_bytes: config.buffer_bytes.saturating_mul(config.buffers),
            queues: std::array::from_fn(queue),
        }
    }

    pub fn route(
        &self,
        packet: Option<&Packet>,
        connections: &Connections,
        distributor: &Distributor,
    ) -> QueueKind {
        let Some(packet) = packet.filter(|_| self.workload_queueing) else {
            return QueueKind::Primary;
        };
        if distributor.target(packet).is_some() {
            QueueKind::SysplexDistributor
        } else if packet.protocol == PROTOCOL_UDP
            && ENTERPRISE_EXTENDER.contains(&packet.destination_port)
        {
            QueueKind::EnterpriseExtender
        } else if packet.tcp.is_some() && connections.streams(&packet.inbound()) {
            QueueKind::Bulk
        } else {
            QueueKind::Primary
        }
    }

    /// Queues a packet; gives it back if read storage is full. `streams`: a registered connection.
    pub fn push(&mut self, now: Time, arrived: Arrived, streams: bool) -> Result<(), Arrived> {
        let queue = &mut self.queues[arrived.queue as usize];
        let length = arrived.frame.len();
        if queue.storage + length > self.storage_bytes {
            queue.statistics.dropped += 1;
            return Err(arrived);
        }
        queue.storage += length;
        queue.statistics.packets += 1;
        queue.pending_bytes += length;
        queue.pending.push_back(arrived);
        queue.timer.packet(now, streams);
        Ok(())
    }

    pub fn due(&self) -> Option<(Time, QueueKind)> {
        let of_queue = |kind: &QueueKind| Some((self.queues[*kind as usize].timer.due()?, *kind));
        let all = QueueKind::ALL.iter().filter_map(of_queue);
        all.min_by_key(|(at, kind)| (*at, *kind as usize))
    }

    /// Whether a queue's current buffer is full: the interrupt does not wait for the timer.
    pub fn is_full(&self, kind: QueueKind) -> bool {
        self.queues[kind as usize].pending_bytes >= self.buffer_bytes
    }

    pub fn hand_over(&mut self, kind: QueueKind) -> VecDeque<Arrived> {
        let queue = &mut self.queues[kind as usize];
        queue.timer.handed_over();
        queue.pending_bytes = 0;
        queue.statistics.hand_overs += 1;
        std::mem::take(&mut queue.pending)
    }

    /// Frees the read storage of a processed packet.
    pub fn release(&mut self, kind: QueueKind, length: usize) {
        let queue = &mut self.queues[kind as usize];
        queue.storage = queue.storage.saturating_sub(length);
    }

    pub fn count_interrupt(&mut self, kind: QueueKind) {
        self.queues[kind as usize].statistics.interrupts += 1;
    }

    pub fn statistics(&self) -> [InboundQueueStatistics; QUEUES] {
        std::array::from_fn(|number| InboundQueueStatistics {
            lan_idle_ns: self.queues[number].timer.current(),
            ..self.queues[number].statistics
        })
    }
}
