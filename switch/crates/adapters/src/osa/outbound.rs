//! Outbound: four priority queues before one wire.
//!
//! Queue 1 is served before 2, 3, and 4. The type-of-service byte chooses the queue, by the Policy
//! Agent's `SetSubnetPrioTosMask` (`PriorityTosMapping QUEUE TOS` under one mask).

use std::collections::VecDeque;

use phb_network::{Frame, Time};
use phb_traffic_manager::Shaper;

use super::priorities::{PriorityMapping, QUEUES};
use super::statistics::OutboundQueueStatistics;
use crate::ethernet::wire_bytes;
use crate::queue::is_full;

struct Waiting {
    since: Time,
    frame: Frame,
}

pub(super) struct Outbound {
    mapping: PriorityMapping,
    limit: Option<usize>,
    queues: [VecDeque<Waiting>; QUEUES],
    wire: Shaper,
    /// The frame on the wire, and its end (ns).
    passing: Option<(Time, Frame)>,
    pub statistics: [OutboundQueueStatistics; QUEUES],
}

impl Outbound {
    pub fn new(rate_bps: u64, mapping: PriorityMapping, limit: Option<usize>) -> Self {
        Self {
            mapping,
            limit,
            queues: std::array::from_fn(|_| VecDeque::new()),
            wire: Shaper::new(Some(rate_bps)),
            passing: None,
            statistics: [OutboundQueueStatistics::default(); QUEUES],
        }
    }

    /// The queue of a type-of-service byte; 0 is served first.
    pub fn queue_of(&self, tos: u8) -> usize {
        self.mapping.queue(tos)
    }

    pub fn push(&mut self, now: Time, queue: usize, frame: Frame) -> Result<(), Frame> {
        let queue = queue.min(QUEUES - 1);
        if self.passing.is_some() && is_full(self.queues[queue].len(), self.limit) {
            self.statistics[queue].dropped += 1;
            return Err(frame);
        }
        self.statistics[queue].packets += 1;
        self.queues[queue].push_back(Waiting { since: now, frame });
        self.start(now);
        Ok(())
    }

    fn start(&mut self, now: Time) {
        if self.passing.is_some() {
            return;
        }
        for (queue, statistics) in self.queues.iter_mut().zip(&mut self.statistics) {
            if let Some(waiting) = queue.pop_front() {
                let delay = now - waiting.since;
                statistics.delay_sum_ns += delay;
                statistics.delay_max_ns = statistics.delay_max_ns.max(delay);
                let end = self.wire.send(now, wire_bytes(waiting.frame.len()));
                self.passing = Some((end, waiting.frame));
                return;
            }
        }
    }

    pub fn due(&self) -> Option<Time> {
        self.passing.as_ref().map(|(end, _)| *end)
    }

    /// Takes the frame whose transmission ends at `due`, and starts the next.
    pub fn take(&mut self, due: Time) -> Option<Frame> {
        let (_, frame) = self.passing.take_if(|(end, _)| *end <= due)?;
        self.start(due);
        Some(frame)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn outbound(limit: Option<usize>) -> Outbound {
        let mapping = PriorityMapping::default();
        Outbound::new(1_000_000_000, mapping, limit)
    }

    proptest! {
        /// The model: of those that wait when the wire gets free, the first of the lowest number leaves.
        #[test]
        fn the_lowest_queue_that_is_not_empty_is_served_in_order(
            arrivals in prop::collection::vec((0u64..3_000, 0usize..QUEUES, 46usize..1_500), 1..80),
        ) {
            let mut now = 1;
            let arrivals: Vec<_> = arrivals.into_iter().map(|(gap, queue, length)| { now += gap; (now, queue, length) }).collect();
            let mut model: Vec<(Time, usize)> = Vec::new();
            let mut free = 0;
            // the first packet comes later than time 0
            let mut left: Vec<usize> = (0..arrivals.len()).collect();
            while !left.is_empty() {
                let soonest = left.iter().map(|i| arrivals[*i].0).min().expect("not empty");
                let begin = free.max(soonest);
                // an idle wire takes the first to come; a busy one looks at all that have come when it gets free
                let chosen = if soonest > free {
                    left.iter().min()
                } else {
                    left.iter().filter(|i| arrivals[**i].0 <= free).min_by_key(|i| (arrivals[**i].1, **i))
                };
                let next = *chosen.expect("one has come");
                free = begin + wire_bytes(arrivals[next].2) * 8;
                model.push((free, next));
                left.retain(|i| *i != next);
            }
            let mut osa = outbound(None);
            let mut found = Vec::new();
            let number = |frame: &Frame| usize::from(frame.bytes[0]);
            for (place, (at, queue, length)) in arrivals.iter().enumerate() {
                // a frame that comes in the very nanosecond in which the wire gets free takes part
                while let Some(due) = osa.due().filter(|due| due < at) {
                    found.push((due, number(&osa.take(due).expect("due"))));
                }
                let mut bytes = vec![0; *length];
                bytes[0] = u8::try_from(place).expect("fewer than 256");
                prop_assert!(osa.push(*at, *queue, Frame::new(bytes)).is_ok());
            }
            while let Some(due) = osa.due() {
                found.push((due, number(&osa.take(due).expect("due"))));
            }
            prop_assert_eq!(found, model);
        }
    }

    #[test]
    fn a_full_queue_gives_the_frame_back_and_counts_it() {
        let mut osa = outbound(Some(2));
        let sent = (0..5).filter(|_| osa.push(0, 3, Frame::new(vec![0; 100])).is_ok());
        assert_eq!(sent.count(), 3, "one on the wire and two waiting");
        assert!(osa.push(0, 0, Frame::new(vec![0; 100])).is_ok());
        assert_eq!(osa.statistics.map(|queue| queue.dropped), [0, 0, 0, 2]);
        assert_eq!(osa.statistics.map(|queue| queue.packets), [1, 0, 0, 3]);
    }
}
