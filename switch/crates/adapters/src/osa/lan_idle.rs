//! The LAN-idle timer: when the adapter interrupts the host.
//!
//! Packets wait in read buffers that the adapter owns. It hands a queue's packets over, with an
//! interrupt, when none has come for the timer's time, when the oldest has waited for the longest
//! time allowed, or when a buffer is full. A static timer never changes; the host sets a dynamic
//! one, at each interval, for interactive or streaming traffic.

use phb_network::Time;

/// The INBPERF setting of an interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LanIdle {
    /// One value (ns): MINCPU, MINLATENCY, BALANCED.
    Static(Time),
    /// DYNAMIC: one of two values (ns), chosen after each interval with packets.
    Dynamic {
        /// For mostly interactive connections.
        interactive: Time,
        /// For mostly streaming connections.
        streaming: Time,
        /// Interval between choices, in ns.
        interval: Time,
    },
}

pub(super) struct Timer {
    setting: LanIdle,
    current: Time,
    longest: Time,
    interval_end: Time,
    packets: u64,
    streaming_packets: u64,
    /// Times of the oldest and the youngest waiting packet.
    waiting: Option<(Time, Time)>,
}

impl Timer {
    /// `longest`: longest wait of a packet, in ns.
    pub fn new(setting: LanIdle, longest: Time) -> Self {
        let current = match setting {
            LanIdle::Static(idle) => idle,
            LanIdle::Dynamic { interactive, .. } => interactive,
        };
        Self {
            setting,
            current,
            longest,
            interval_end: 0,
            packets: 0,
            streaming_packets: 0,
            waiting: None,
        }
    }

    pub fn current(&self) -> Time {
        self.current
    }

    /// Notes a packet; `streams`: its connection is registered.
    pub fn packet(&mut self, now: Time, streams: bool) {
        if let LanIdle::Dynamic {
            interactive,
            streaming,
            interval,
        } = self.setting
        {
            if now >= self.interval_end {
                if self.packets > 0 {
                    let most_stream = 2 * self.streaming_packets > self.packets;
                    self.current = if most_stream { streaming } else { interactive };
                }
                self.interval_end = now.saturating_add(interval);
                self.packets = 0;
                self.streaming_packets = 0;
            }
            self.packets += 1;
            self.streaming_packets += u64::from(streams);
        }
        let oldest = self.waiting.map_or(now, |(oldest, _)| oldest);
        self.waiting = Some((oldest, now));
    }

    /// The next interrupt, if no more packets come, in ns.
    pub fn due(&self) -> Option<Time> {
        let (oldest, youngest) = self.waiting?;
        let idle = youngest.saturating_add(self.current);
        Some(idle.min(oldest.saturating_add(self.longest)))
    }

    pub fn handed_over(&mut self) {
        self.waiting = None;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_timer_starts_anew_with_each_packet_up_to_the_longest_wait() {
        let mut timer = Timer::new(LanIdle::Static(20), 50);
        assert_eq!(timer.due(), None);
        for (at, due) in [(100, 120), (115, 135), (130, 150), (149, 150)] {
            timer.packet(at, false);
            assert_eq!(timer.due(), Some(due), "after the packet at {at}");
        }
        timer.handed_over();
        assert_eq!(timer.due(), None);
        timer.packet(160, false);
        assert_eq!(timer.due(), Some(180));
    }

    #[test]
    fn a_dynamic_timer_follows_the_majority_of_the_last_interval() {
        let setting = LanIdle::Dynamic {
            interactive: 1,
            streaming: 20,
            interval: 100,
        };
        let mut timer = Timer::new(setting, 1_000);
        let mut values = Vec::new();
        for at in (0..600).step_by(10) {
            timer.packet(at, (100..400).contains(&at) || at % 100 == 0);
            if at % 100 == 50 {
                values.push(timer.current());
            }
        }
        assert_eq!(values, [1, 1, 20, 20, 20, 1]);
    }

    proptest! {
        /// The model looks at every nanosecond.
        #[test]
        fn interrupts_come_when_a_nanosecond_clock_says_so(
            gaps in prop::collection::vec(0u64..40, 1..60), idle in 0u64..30, longest in 1u64..100,
        ) {
            let arrivals: Vec<Time> = gaps.iter().scan(0, |at, gap| { *at += gap; Some(*at) }).collect();
            let mut expected = Vec::new();
            let mut held: Vec<Time> = Vec::new();
            for now in 0..arrivals.last().expect("one at least") + longest + idle + 1 {
                held.extend(arrivals.iter().filter(|at| **at == now));
                if let (Some(first), Some(last)) = (held.first(), held.last())
                    && (now - last >= idle || now - first >= longest)
                {
                    expected.push((now, held.len()));
                    held.clear();
                }
            }
            let mut timer = Timer::new(LanIdle::Static(idle), longest);
            let mut found = Vec::new();
            let mut waiting = 0;
            for at in &arrivals {
                if let Some(due) = timer.due().filter(|due| due < at) {
                    found.push((due, waiting));
                    timer.handed_over();
                    waiting = 0;
                }
                timer.packet(*at, false);
                waiting += 1;
            }
            found.extend(timer.due().map(|due| (due, waiting)));
            prop_assert_eq!(found, expected);
        }
    }
}
