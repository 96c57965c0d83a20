//! Entries that no packet meets.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use phb_network::{Node, Output, Time};
use phb_node::Update;
use phb_pipeline::{Entry, Match};

use crate::steered::*;

#[test]
fn idle_entries_are_found_on_ticks() {
    const MS: Time = 1_000_000;
    let mut switch = three_ports(STEERED);
    assert_eq!(switch.next_tick(), None);
    let entry = |port: u8, idle_timeout_ns| Entry {
        matches: vec![(
            "headers.steering.port".to_owned(),
            Match::Exact(vec![0, port]),
        )],
        action: "NoAction".to_owned(),
        idle_timeout_ns,
        ..Entry::default()
    };
    let updates = [(1, 250 * MS), (2, 250 * MS), (3, 0)].map(|(port, timeout)| Update::Insert {
        table: "SteeredIngress.known".to_owned(),
        entry: entry(port, timeout),
    });
    let woken = Arc::new(AtomicBool::new(false));
    let sees = Arc::clone(&woken);
    switch.set_waker(Some(Box::new(move || sees.store(true, Ordering::Relaxed))));
    assert!(switch.write(&updates, true).iter().all(Result::is_ok));
    assert!(
        woken.load(Ordering::Relaxed),
        "a runner that waits has to know of the search"
    );

    let mut found = Vec::new();
    let mut out = Output::new();
    while let Some(now) = switch.next_tick().filter(|now| *now < 1000 * MS) {
        assert_eq!(switch.next_event(), None);
        out.begin(now);
        switch.tick(now, &mut out);
        for (table, entry) in switch.take_idle() {
            assert_eq!(table, "SteeredIngress.known");
            let Match::Exact(port) = &entry.matches[0].1 else {
                panic!("an exact match: {entry:?}");
            };
            found.push((now / MS, port.clone()));
        }
        // A packet meets entry 2 until 400 ms.
        if now <= 400 * MS {
            receive(
                &mut switch,
                now,
                Steering {
                    port: 2,
                    ..Steering::default()
                },
            );
        }
    }
    assert_eq!(
        found,
        [(400, vec![0, 1]), (700, vec![0, 1]), (700, vec![0, 2])]
    );
    assert!(switch.take_pipeline().is_some());
    assert_eq!(switch.next_tick(), None);
}
