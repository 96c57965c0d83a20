use std::time::Duration;

use super::*;

/// A switch whose port 1 sends a byte each microsecond, and what runs it.
fn switch() -> SwitchNode {
    let config = SwitchConfig {
        name: "test".to_owned(),
        cpu_port: None,
        drop_port: 511,
        seed: 1,
        executor: Executor::Interpreter,
    };
    let line = PortConfig {
        rate_bps: Some(8_000_000),
        ..unlimited()
    };
    let options = config.of_program();
    let mut switch = SwitchNode::new(config, [(0, unlimited()), (1, line)]);
    let artifact = include_str!("../../tests/programs/steered.json");
    switch.install(Pipeline::load(artifact, options).expect("the artifact loads"));
    switch
}

/// A frame for port 1.
fn receive(switch: &mut SwitchNode) {
    let mut frame = vec![0, 0, 0, 0, 0, 1];
    frame.resize(100, 0);
    let now = switch.now();
    switch.receive_frame(now, 0, &frame, &mut Output::new());
}

fn settle(switch: &mut SwitchNode) {
    while let Some(next) = switch.next_event() {
        let mut out = Output::new();
        out.begin(next);
        switch.tick(next, &mut out);
    }
}

#[test]
fn nothing_is_kept_for_traces_when_the_last_reader_and_its_packets_are_gone() {
    let mut switch = switch();
    assert!(switch.path.tracing.is_none());
    let watch = switch.watch(Filter::default(), 0).expect("there is room");
    receive(&mut switch);
    receive(&mut switch);
    switch.unwatch(&watch);
    // One is on the line, one waits.
    assert!(switch.path.tracing.is_some() && !switch.is_watched());
    settle(&mut switch);
    assert!(switch.path.tracing.is_none());

    // Numbers go on.
    let watch = switch.watch(Filter::default(), 0).expect("there is room");
    receive(&mut switch);
    settle(&mut switch);
    let taken = watch.take(Duration::ZERO);
    assert_eq!(taken[0].finished.record().number, 3);
    switch.unwatch(&watch);
    assert!(switch.path.tracing.is_none());
}
