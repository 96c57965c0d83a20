use proptest::prelude::*;

use super::Turn;
use crate::config::PortConfig;
use crate::port::PortQueue;
use crate::ranked::{Place, Shaping};

/// A packet with a rank, of a shaped class or not; or one with a priority.
type Arrival = Result<(u64, bool), u8>;

fn arrival() -> impl Strategy<Value = Arrival> {
    prop_oneof![
        4 => (0u64..6, any::<bool>()).prop_map(Ok),
        1 => Just(Ok((u64::MAX, false))),
        2 => (0u8..4).prop_map(Err),
    ]
}

/// A class whose packets have their tokens at once.
fn place((rank, shaped): (u64, bool)) -> Place {
    let shaping = shaped.then_some(Shaping {
        bucket: 1,
        rate_bps: 1_000_000,
        burst_bytes: 1_000_000,
        bytes: 1,
    });
    Place { rank, shaping }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Those whose turn is before a packet's when it comes leave before it, and no others; turns sort as packets leave.
    #[test]
    fn packets_leave_by_their_turns(arrivals in prop::collection::vec(arrival(), 1..3000)) {
        let config = PortConfig { queues: 4, queue_depth: Some(4096), ..PortConfig::default() };
        let mut port: PortQueue<usize, ()> = PortQueue::new(config);
        for (number, arrival) in arrivals.iter().enumerate() {
            let turn = match *arrival {
                Ok(ranked) => Turn::ranked(place(ranked)),
                Err(priority) => Turn::by_priority(priority),
            };
            if number + 1 == arrivals.len() {
                let before: Vec<usize> = port.waiting().filter(|held| held.turn < turn).map(|held| *held.item).collect();
                queue(&mut port, number, *arrival);
                let mut turns: Vec<_> = port.waiting().map(|held| (held.turn, *held.item)).collect();
                turns.sort_unstable();
                let left: Vec<usize> = std::iter::from_fn(|| port.pop(0).map(|queued| queued.item)).collect();
                prop_assert!(turns.iter().map(|(_, item)| item).eq(&left));
                let place = left.iter().position(|item| *item == number).expect("it leaves, too");
                prop_assert_eq!(before.len(), place);
                prop_assert!(before.iter().all(|item| left[..place].contains(item)));
                return Ok(());
            }
            queue(&mut port, number, *arrival);
        }
    }
}

fn queue(port: &mut PortQueue<usize, ()>, number: usize, arrival: Arrival) {
    let queued = match arrival {
        Ok(ranked) => port.enqueue(0, place(ranked), number),
        Err(priority) => port.enqueue_strict(0, priority, number),
    };
    queued.expect("there is room");
}

#[test]
fn what_waits_has_its_rank_or_its_queue() {
    let mut port: PortQueue<char, ()> = PortQueue::new(PortConfig {
        queues: 4,
        ..PortConfig::default()
    });
    port.enqueue(10, 7, 'a').expect("there is room");
    port.enqueue_strict(20, 3, 'b').expect("there is room");
    let mut held: Vec<_> = port
        .waiting()
        .map(|held| {
            (
                held.turn,
                held.rank,
                held.queue,
                held.enqueued_at,
                *held.item,
            )
        })
        .collect();
    held.sort_unstable();
    let held: Vec<_> = held
        .into_iter()
        .map(|(_, rank, queue, since, item)| (rank, queue, since, item))
        .collect();
    assert_eq!(held, [(Some(7), 0, 10, 'a'), (None, 3, 20, 'b')]);
}
