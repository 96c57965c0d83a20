//! Atomic batches: all or nothing, on random batches against a copy of everything that can be read.

mod common;

use phb_node::{EntryWrites, Failure, SwitchNode, Update};
use phb_pipeline::{Code, Count, Entry, Match, MeterRates, Param};
use proptest::prelude::*;

const ROUTER: &str = include_str!("../../../python/tests/programs/router.json");
const CONNECT: &str = "RouterIngress.cross_connect";
const CLASSIFY: &str = "RouterIngress.classify";
const ROUTE: &str = "RouterIngress.ipv4_route";
const COUNTER: &str = "RouterIngress.class_traffic";
const REGISTER: &str = "RouterIngress.last_length";
const METER: &str = "RouterIngress.class_meter";

fn switch() -> SwitchNode {
    common::switch(ROUTER, None, [])
}

fn connect(port: u8, to: u8) -> Entry {
    Entry {
        matches: vec![("ingress_port".to_owned(), Match::Exact(vec![0, port]))],
        priority: 0,
        action: "RouterIngress.forward".to_owned(),
        params: vec![("port".to_owned(), vec![to])],
        ..Entry::default()
    }
}

fn route(network: u8, prefix_len: u32, to: u8) -> Entry {
    let parameter = |name: &str, value: u8| (name.to_owned(), vec![value]);
    Entry {
        matches: vec![(
            "destination".to_owned(),
            Match::Lpm {
                value: vec![network, 0, 0, 0],
                prefix_len,
            },
        )],
        priority: 0,
        action: "RouterIngress.route".to_owned(),
        params: vec![
            parameter("port", to),
            parameter("source_mac", 1),
            parameter("destination_mac", 2),
        ],
        ..Entry::default()
    }
}

fn classify(low: u8, tos: Option<u8>, protocol: Option<u8>, priority: i32, class: u8) -> Entry {
    let mut matches = vec![(
        "source".to_owned(),
        Match::Range {
            low: vec![low],
            high: vec![low, 255],
        },
    )];
    if let Some(tos) = tos {
        matches.push((
            "tos".to_owned(),
            Match::Ternary {
                value: vec![tos & 0xf0],
                mask: vec![0xf0],
            },
        ));
    }
    matches.push((
        "protocol".to_owned(),
        Match::Optional(protocol.map(|protocol| vec![protocol])),
    ));
    Entry {
        matches,
        priority,
        action: "RouterIngress.set_class".to_owned(),
        params: vec![("traffic_class".to_owned(), vec![class])],
        ..Entry::default()
    }
}

fn entry() -> impl Strategy<Value = (String, Entry)> {
    prop_oneof![
        (0u8..4, any::<u8>()).prop_map(|(port, to)| (CONNECT.to_owned(), connect(port, to))),
        (0u8..3, 8u32..10, any::<u8>())
            .prop_map(|(net, length, to)| (ROUTE.to_owned(), route(net, length, to))),
        (
            0u8..2,
            prop::option::of(0u8..32),
            prop::option::of(0u8..2),
            1i32..3,
            any::<u8>()
        )
            .prop_map(|(low, tos, protocol, priority, class)| {
                (
                    CLASSIFY.to_owned(),
                    classify(low, tos, protocol, priority, class),
                )
            }),
    ]
}

fn update() -> impl Strategy<Value = Update> {
    let cell = 0usize..9;
    let count = (any::<u64>(), any::<u64>());
    let rates = prop::option::of((1u64..100, 1u64..100)).prop_map(|rates| {
        rates.map(|(rate, burst)| MeterRates {
            committed_rate: rate,
            committed_burst: burst,
            peak_rate: rate * 2,
            peak_burst: burst,
            ..MeterRates::default()
        })
    });
    prop_oneof![
        4 => entry().prop_map(|(table, entry)| Update::Insert { table, entry }),
        3 => entry().prop_map(|(table, entry)| Update::Modify { table, entry }),
        3 => entry().prop_map(|(table, entry)| Update::Delete { table, entry }),
        1 => entry().prop_map(|(table, entry)| Update::Find { table, entry }),
        1 => any::<bool>().prop_map(|set| Update::DefaultAction {
            table: ROUTE.to_owned(),
            action: set.then(|| ("RouterIngress.drop".to_owned(), Vec::new())),
        }),
        1 => (cell.clone(), count).prop_map(|(index, value)| Update::Counter {
            name: COUNTER.to_owned(),
            index,
            value,
        }),
        1 => (entry(), any::<bool>(), count).prop_map(|((table, entry), of_entry, value)| Update::DirectCounter {
            table,
            entry: of_entry.then_some(entry),
            value,
        }),
        1 => (cell.clone(), any::<u32>()).prop_map(|(index, value)| Update::Register {
            name: REGISTER.to_owned(),
            index,
            value: value.to_be_bytes().to_vec(),
        }),
        1 => (0usize..5, rates).prop_map(|(index, rates)| Update::Meter { name: METER.to_owned(), index, rates }),
    ]
}

/// Everything that can be read, in an order of its own.
#[derive(Debug, PartialEq)]
struct State {
    entries: Vec<(String, Option<Count>)>,
    default_action: Option<(String, Vec<Param>)>,
    missed: Count,
    counters: Vec<Count>,
    registers: Vec<Vec<u8>>,
    meters: Vec<Option<MeterRates>>,
    entry_writes: EntryWrites,
}

fn state(switch: &SwitchNode) -> State {
    let pipeline = switch.pipeline().expect("a program");
    let mut entries = Vec::new();
    for table in [CONNECT, CLASSIFY, ROUTE] {
        for entry in pipeline.table_entries(table).expect("the table") {
            let count = pipeline.direct_counter_read(table, Some(&entry)).ok();
            entries.push((format!("{table} {entry:?}"), count));
        }
    }
    entries.sort();
    State {
        entries,
        default_action: pipeline.default_action(ROUTE).expect("the table"),
        missed: pipeline
            .direct_counter_read(ROUTE, None)
            .expect("a counter"),
        counters: pipeline
            .counter_read_all(COUNTER)
            .expect("the counter")
            .to_vec(),
        registers: (0..16)
            .map(|cell| pipeline.register_read(REGISTER, cell).expect("the cell"))
            .collect(),
        meters: (0..4)
            .map(|cell| pipeline.meter_rates(METER, cell).expect("the cell"))
            .collect(),
        entry_writes: switch.entry_writes().clone(),
    }
}

proptest! {
    /// A refused atomic batch leaves everything as it was; an accepted one does what the updates do one by one.
    #[test]
    fn atomic_batches_are_all_or_nothing(
        before in prop::collection::vec(update(), 0..20),
        batch in prop::collection::vec(update(), 1..12),
    ) {
        let (mut switch, mut model) = (switch(), switch());
        switch.write(&before, false);
        model.write(&before, false);
        let untouched = state(&switch);
        prop_assert_eq!(&untouched, &state(&model));

        let results = switch.write(&batch, true);
        let one_by_one = model.write(&batch, false);
        if results.iter().all(Result::is_ok) {
            prop_assert!(one_by_one.iter().all(Result::is_ok));
            prop_assert_eq!(state(&switch), state(&model));
        } else {
            prop_assert_eq!(state(&switch), untouched);
            let first = one_by_one.iter().position(Result::is_err);
            for (place, (atomic, alone)) in results.iter().zip(&one_by_one).enumerate() {
                if Some(place) == first {
                    prop_assert_eq!(atomic, alone);
                } else {
                    prop_assert_eq!(atomic, &Err(Failure::Aborted));
                }
            }
        }
    }
}

#[test]
fn find_asks_for_the_entry_only() {
    let mut switch = switch();
    let find = [Update::Find {
        table: ROUTE.to_owned(),
        entry: route(10, 8, 0),
    }];
    let refused = switch.write(&find, false).remove(0);
    assert!(matches!(refused, Err(Failure::Refused(error)) if error.code == Code::NotFound));
    switch.write(
        &[Update::Insert {
            table: ROUTE.to_owned(),
            entry: route(10, 8, 3),
        }],
        true,
    );
    assert_eq!(switch.write(&find, false), [Ok(())]);
}

#[test]
fn without_a_program_nothing_is_written() {
    let mut switch = switch();
    assert!(switch.take_pipeline().is_some());
    let insert = [Update::Insert {
        table: ROUTE.to_owned(),
        entry: route(10, 8, 0),
    }];
    assert_eq!(switch.write(&insert, true), [Err(Failure::NoPipeline)]);
}

#[test]
fn counters_begin_anew_with_a_program_and_without_one() {
    let mut switch = switch();
    let insert = [Update::Insert {
        table: ROUTE.to_owned(),
        entry: route(10, 8, 0),
    }];
    switch.write(&insert, true);
    let written = |switch: &SwitchNode| {
        let writes = switch.entry_writes();
        (writes.all(), writes.of(ROUTE), writes.of(CONNECT))
    };
    assert_eq!((switch.beginnings(), written(&switch)), (1, (1, 1, 0)));
    switch.clear();
    assert_eq!((switch.beginnings(), written(&switch)), (2, (1, 1, 0)));
    let pipeline = switch.take_pipeline().expect("a program");
    assert_eq!(switch.beginnings(), 3);
    switch.install(pipeline);
    assert_eq!((switch.beginnings(), written(&switch)), (4, (1, 0, 0)));
}

#[test]
fn time_is_a_runners_or_that_of_the_last_event() {
    let mut switch = switch();
    switch.pass(500);
    switch.pass(400);
    assert_eq!(switch.now(), 500);
    for (clock, expected) in [(400, 500), (600, 600)] {
        switch.set_clock(Some(Box::new(move || clock)));
        assert_eq!(switch.now(), expected);
    }
    switch.set_clock(None);
    assert_eq!(switch.now(), 500);
}
