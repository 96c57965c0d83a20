//! Who reads traces: how many, how much, and of which program.

use super::*;

#[test]
fn a_full_queue_of_traces_leaves_out_and_says_so() {
    let mut switch = three_ports(STEERED);
    let watch = watched(&mut switch, "");
    let other = watched(&mut switch, "every 1000");
    let frame = Steering {
        port: 1,
        ..Steering::default()
    };
    for now in 0..TRACES as Time + 5 {
        receive(&mut switch, now, frame);
    }
    assert_eq!((watch.left_out(), other.left_out()), (5, 0));
    let taken = watch.take(Duration::ZERO);
    assert_eq!(taken.len(), TRACES);
    assert!(taken.iter().all(|traced| traced.left_out == 0));
    receive(&mut switch, 1_000_000, frame);
    let next = watch.take(Duration::ZERO);
    assert_eq!(
        next.iter()
            .map(|traced| traced.left_out)
            .collect::<Vec<_>>(),
        [5]
    );
    assert_eq!(watch.message(&next[0], 0).traces_left_out, 5);
    assert_eq!(other.take(Duration::ZERO).len(), TRACES / 1000);
    assert_eq!(switch.statistics().transmitted, TRACES as u64 + 6);
}

#[test]
fn who_comes_in_the_place_of_another_gets_nothing_of_its_packets() {
    let mut switch = switch(STEERED, [(0, unlimited()), (1, line())]);
    let first = watched(&mut switch, "");
    receive(
        &mut switch,
        0,
        Steering {
            port: 1,
            ..Steering::default()
        },
    );
    switch.unwatch(&first);
    let second = watched(&mut switch, "");
    receive(
        &mut switch,
        1,
        Steering {
            port: 1,
            ..Steering::default()
        },
    );
    settle(&mut switch);
    assert!(first.take(Duration::ZERO).is_empty());
    let numbers: Vec<u64> = records(&second)
        .iter()
        .map(|record| record.number)
        .collect();
    assert_eq!(numbers, [2]);
}

#[test]
fn readers_are_bounded_and_go() {
    let node = Mutex::new(three_ports(STEERED));
    let readers: Vec<_> = (0..WATCHERS)
        .map(|_| tracing::watch(&node, filter(""), 0).expect("there is room"))
        .collect();
    assert!(tracing::watch(&node, filter(""), 0).is_none());
    let traced = |node: &Mutex<SwitchNode>| {
        let node = node.lock().expect("nobody panicked");
        (
            node.is_watched(),
            node.pipeline().expect("a program").dictionary().is_some(),
        )
    };
    assert_eq!(traced(&node), (true, true));
    for reader in &readers {
        tracing::unwatch(&node, reader);
    }
    assert_eq!(traced(&node), (false, false));
    assert!(tracing::watch(&node, filter(""), 0).is_some());
}

#[test]
fn a_program_is_installed_ready_to_be_traced_if_somebody_watches() {
    let node = Mutex::new(three_ports(STEERED));
    let install = || {
        tracing::install(
            &node,
            common::pipeline(STEERED_RANKED, phb_pipeline::Executor::default()),
        );
        let node = node.lock().expect("nobody panicked");
        node.pipeline().expect("a program").dictionary().is_some()
    };
    assert!(!install());
    let reader = tracing::watch(&node, filter(""), 0).expect("there is room");
    assert!(install());
    tracing::unwatch(&node, &reader);
    assert!(!install());
}

#[test]
fn the_listener_is_told_of_the_first() {
    let mut switch = three_ports(STEERED);
    let watch = watched(&mut switch, "");
    let told = Arc::new(Mutex::new(0));
    let counter = Arc::clone(&told);
    watch.set_listener(Some(Arc::new(move || {
        *counter.lock().expect("nobody panicked") += 1
    })));
    let mut arrive = || {
        receive(
            &mut switch,
            0,
            Steering {
                port: 1,
                ..Steering::default()
            },
        );
        *told.lock().expect("nobody panicked")
    };
    assert_eq!((arrive(), arrive()), (1, 1));
    assert_eq!(watch.take(Duration::ZERO).len(), 2);
    assert_eq!(arrive(), 2);
}
