//! Parts of entries besides the action, through the control plane (programs/entries.p4).

use std::collections::BTreeMap;

use crate::common::{entry, exact, load, lpm, number, range, run, ternary};
use phb_pipeline::{
    Code, Entry, Group, GroupMember, Indirect, Match, MeterRates, Pipeline, WeightedAction,
};

const SELECTED: &str = "EntriesIngress.selected";
const PROFILED: &str = "EntriesIngress.profiled";
const METERED: &str = "EntriesIngress.metered";
const CONSTANT: &str = "EntriesIngress.constant";
const CHOICE: &str = "EntriesIngress.choice";
const PROFILE: &str = "EntriesIngress.profile";
const FORWARD: &str = "EntriesIngress.forward";

fn pipeline() -> Pipeline {
    load("tests/programs/entries.json")
}

/// The port a packet leaves by; 100 if no action was taken.
fn port(pipeline: &mut Pipeline, now: u64, key: (u8, u32, u16, u8), wide: &[u8]) -> u16 {
    let (chosen, address, port, flow) = key;
    let mut frame = vec![chosen];
    frame.extend(address.to_be_bytes());
    frame.extend(port.to_be_bytes());
    frame.push(flow);
    frame.resize(8 + 256 - wide.len(), 0);
    frame.extend_from_slice(wide);
    run(pipeline, now, 1, &frame).unwrap().0
}

fn to(port: u128) -> Vec<(String, Vec<u8>)> {
    vec![("port".to_owned(), number(port))]
}

fn indirect(matches: &[(&str, Match)], indirect: Indirect) -> Entry {
    Entry {
        indirect: Some(indirect),
        ..entry(matches, 0, "", &[])
    }
}

fn group(id: u32, members: &[(u32, u32)], max_size: u32) -> Group {
    let member = |&(member, weight): &(u32, u32)| GroupMember {
        member,
        weight,
        watch_port: vec![member as u8],
    };
    Group {
        id,
        members: members.iter().map(member).collect(),
        max_size,
    }
}

/// How many of 256 flows leave by each port.
fn spread(pipeline: &mut Pipeline, address: u32) -> BTreeMap<u16, u32> {
    let mut counts = BTreeMap::new();
    for flow in 0..=255 {
        // A CRC is linear: of one byte alone its low bits may not take every value.
        let source = u16::from(flow) * 201;
        *counts
            .entry(port(pipeline, 0, (0, address, source, flow), &[]))
            .or_default() += 1;
    }
    counts
}

#[test]
fn members_and_groups() {
    let mut pipeline = pipeline();
    for id in 1..=3 {
        pipeline
            .profile_member_insert(CHOICE, id, FORWARD, &to(id.into()))
            .unwrap();
    }
    let given = group(9, &[(1, 1), (2, 3)], 8);
    pipeline.profile_group_insert(CHOICE, &given).unwrap();
    assert_eq!(pipeline.profile_groups(CHOICE).unwrap(), [given]);
    let to_member = [("hdr.key.address", lpm(0x0a00_0000, 8))];
    let to_group = [("hdr.key.address", lpm(0x0b00_0000, 8))];
    let member = indirect(&to_member, Indirect::Member(3));
    pipeline.table_insert(SELECTED, &member).unwrap();
    let grouped = indirect(&to_group, Indirect::Group(9));
    pipeline.table_insert(SELECTED, &grouped).unwrap();
    let all = pipeline.table_entries(SELECTED).unwrap();
    assert_eq!(all[0].indirect, Some(Indirect::Member(3)));
    assert_eq!(all[1].indirect, Some(Indirect::Group(9)));

    assert_eq!(spread(&mut pipeline, 0x0a00_0001), [(3, 256)].into());
    let counts = spread(&mut pipeline, 0x0b00_0001);
    assert_eq!(counts.keys().copied().collect::<Vec<_>>(), [1, 2]);
    assert!((40..=90).contains(&counts[&1]), "a quarter: {counts:?}");
    assert_eq!(counts, spread(&mut pipeline, 0x0b00_0001), "a flow stays");
    assert_eq!(spread(&mut pipeline, 0x0c00_0001), [(100, 256)].into());

    pipeline
        .profile_member_modify(CHOICE, 1, FORWARD, &to(11))
        .unwrap();
    let counts = spread(&mut pipeline, 0x0b00_0001);
    assert_eq!(counts.keys().copied().collect::<Vec<_>>(), [2, 11]);
    pipeline
        .profile_group_modify(CHOICE, &group(9, &[], 0))
        .unwrap();
    assert_eq!(
        spread(&mut pipeline, 0x0b00_0001),
        [(100, 256)].into(),
        "an empty group does nothing"
    );
    assert_eq!(pipeline.profile_groups(CHOICE).unwrap()[0].max_size, 8);

    let code = |result: Result<(), phb_pipeline::WriteError>| result.unwrap_err().code;
    assert_eq!(
        code(pipeline.profile_member_delete(CHOICE, 3)),
        Code::FailedPrecondition
    );
    assert_eq!(
        code(pipeline.profile_group_delete(CHOICE, 9)),
        Code::FailedPrecondition
    );
    pipeline
        .table_modify(SELECTED, &indirect(&to_member, Indirect::Group(9)))
        .unwrap();
    pipeline.profile_member_delete(CHOICE, 3).unwrap();
    pipeline.table_delete(SELECTED, &member).unwrap();
    pipeline.table_delete(SELECTED, &grouped).unwrap();
    pipeline.profile_group_delete(CHOICE, 9).unwrap();
    let ids: Vec<u32> = pipeline
        .profile_members(CHOICE)
        .unwrap()
        .iter()
        .map(|member| member.0)
        .collect();
    assert_eq!(ids, [1, 2]);
}

#[test]
fn members_whose_watched_port_is_down_are_left_out() {
    let mut pipeline = pipeline();
    for id in 1..=3 {
        pipeline
            .profile_member_insert(CHOICE, id, FORWARD, &to(id.into()))
            .unwrap();
    }
    // Each member watches the port of its number.
    let given = group(9, &[(1, 1), (2, 3)], 8);
    pipeline.profile_group_insert(CHOICE, &given).unwrap();
    let grouped = [("hdr.key.address", lpm(0x0b00_0000, 8))];
    let grouped = indirect(&grouped, Indirect::Group(9));
    pipeline.table_insert(SELECTED, &grouped).unwrap();
    let action = |port, watch_port| WeightedAction {
        action: FORWARD.into(),
        params: vec![("port".into(), vec![0, port])],
        weight: 1,
        watch_port,
    };
    let set = vec![action(4, vec![0, 2]), action(5, Vec::new())];
    let of_set = [("hdr.key.address", lpm(0x0a00_0000, 8))];
    pipeline
        .table_insert(SELECTED, &indirect(&of_set, Indirect::ActionSet(set)))
        .unwrap();
    let ports = |pipeline: &mut Pipeline, address| -> Vec<u16> {
        spread(pipeline, address).into_keys().collect()
    };
    for (down, of_group, of_set) in [
        (vec![], vec![1, 2], vec![4, 5]),
        (vec![2], vec![1], vec![5]),
        (vec![1, 2], vec![100], vec![5]),
        (vec![7], vec![1, 2], vec![4, 5]),
    ] {
        pipeline.set_ports_down(&down.into_iter().collect());
        assert_eq!(ports(&mut pipeline, 0x0b00_0001), of_group);
        assert_eq!(ports(&mut pipeline, 0x0a00_0001), of_set);
        assert_eq!(
            pipeline.profile_groups(CHOICE).unwrap(),
            std::slice::from_ref(&given)
        );
    }
    // What is written while a port is down leaves it out at once.
    pipeline.set_ports_down(&[1].into());
    pipeline
        .profile_group_modify(CHOICE, &group(9, &[(1, 1), (3, 1)], 0))
        .unwrap();
    assert_eq!(ports(&mut pipeline, 0x0b00_0001), [3]);
}

#[test]
fn an_action_set_belongs_to_its_entry() {
    let mut pipeline = pipeline();
    let action = |port, weight| WeightedAction {
        action: FORWARD.into(),
        params: vec![("port".into(), vec![0, port])],
        weight,
        watch_port: vec![port],
    };
    let matches = [("hdr.key.address", lpm(0x0a00_0000, 8))];
    let set = Indirect::ActionSet(vec![action(1, 1), action(2, 1), action(3, 2)]);
    let given = indirect(&matches, set.clone());
    pipeline.table_insert(SELECTED, &given).unwrap();
    assert_eq!(
        pipeline.table_entry(SELECTED, &given).unwrap().indirect,
        Some(set)
    );
    let ports: Vec<u16> = spread(&mut pipeline, 0x0a00_0000).into_keys().collect();
    assert_eq!(ports, [1, 2, 3]);
    assert!(pipeline.profile_members(CHOICE).unwrap().is_empty());
    // Its members take room as long as the entry is there.
    let more = Indirect::ActionSet(vec![action(4, 1); 4]);
    let refused = pipeline.table_insert(SELECTED, &indirect(&[], more.clone()));
    assert_eq!(refused.unwrap_err().code, Code::ResourceExhausted);
    pipeline.table_delete(SELECTED, &given).unwrap();
    pipeline
        .table_insert(SELECTED, &indirect(&[], more))
        .unwrap();
    assert_eq!(spread(&mut pipeline, 0x0a00_0000), [(4, 256)].into());
    pipeline.clear();
    assert_eq!(spread(&mut pipeline, 0x0a00_0000), [(100, 256)].into());
}

#[test]
fn profiles_refuse_what_they_cannot_do() {
    let mut pipeline = pipeline();
    for id in 0..4 {
        pipeline
            .profile_member_insert(PROFILE, id, FORWARD, &to(1))
            .unwrap();
    }
    let mut member = |profile, id, action| {
        let refused = pipeline.profile_member_insert(profile, id, action, &to(1));
        refused.unwrap_err().code
    };
    assert_eq!(member(PROFILE, 4, FORWARD), Code::ResourceExhausted);
    assert_eq!(member(PROFILE, 3, FORWARD), Code::AlreadyExists);
    assert_eq!(member(CHOICE, 3, "nothing"), Code::InvalidArgument);
    assert_eq!(member("nowhere", 3, FORWARD), Code::NotFound);
    pipeline
        .profile_member_insert(CHOICE, 1, FORWARD, &to(1))
        .unwrap();
    let mut grouped = |profile, members: &[(u32, u32)], max_size| {
        let refused = pipeline.profile_group_insert(profile, &group(1, members, max_size));
        refused.unwrap_err().code
    };
    assert_eq!(grouped(PROFILE, &[(1, 1)], 0), Code::InvalidArgument);
    assert_eq!(grouped(CHOICE, &[(2, 1)], 0), Code::NotFound);
    assert_eq!(grouped(CHOICE, &[(1, 0)], 0), Code::InvalidArgument);
    assert_eq!(grouped(CHOICE, &[(1, 1), (1, 1)], 0), Code::InvalidArgument);
    assert_eq!(grouped(CHOICE, &[(1, 5)], 4), Code::ResourceExhausted);
    assert_eq!(
        grouped(CHOICE, &[(1, u32::MAX)], 0),
        Code::ResourceExhausted
    );
    let key = [("hdr.key.port", exact(1))];
    let mut inserted = |table, entry: Entry| {
        let refused = pipeline.table_insert(table, &entry);
        refused.unwrap_err().code
    };
    let own = entry(&key, 0, FORWARD, &[("port", 1)]);
    assert_eq!(inserted(PROFILED, own), Code::InvalidArgument);
    let absent = indirect(&key, Indirect::Member(7));
    assert_eq!(inserted(PROFILED, absent.clone()), Code::NotFound);
    assert_eq!(inserted(METERED, absent), Code::InvalidArgument);
}

#[test]
fn direct_meters_colour_before_the_action() {
    let mut pipeline = pipeline();
    let metered = entry(
        &[("hdr.key.port", exact(7))],
        0,
        "EntriesIngress.mark",
        &[("port", 10)],
    );
    pipeline.table_insert(METERED, &metered).unwrap();
    assert_eq!(
        pipeline.direct_meter_rates(METERED, Some(&metered)),
        Ok(None)
    );
    let colour = |pipeline: &mut Pipeline, now| port(pipeline, now, (2, 0, 7, 0), &[]) - 10;
    assert_eq!(colour(&mut pipeline, 0), 0);
    let rates = MeterRates {
        committed_rate: 1,
        committed_burst: 1,
        peak_rate: 2,
        peak_burst: 2,
        ..MeterRates::default()
    };
    pipeline
        .direct_meter_configure(METERED, Some(&metered), Some(rates))
        .unwrap();
    let colours: Vec<u16> = (0..4).map(|_| colour(&mut pipeline, 0)).collect();
    assert_eq!(colours, [0, 1, 2, 2]);
    assert_eq!(colour(&mut pipeline, 1_000_000_000), 0);
    assert_eq!(
        pipeline.direct_meter_rates(METERED, Some(&metered)),
        Ok(Some(rates))
    );
    let wrong = MeterRates {
        peak_rate: 0,
        ..rates
    };
    let refused = pipeline.direct_meter_configure(METERED, Some(&metered), Some(wrong));
    assert_eq!(refused.unwrap_err().code, Code::InvalidArgument);
    assert_eq!(port(&mut pipeline, 0, (2, 0, 8, 0), &[]), 100, "a miss");
}

#[test]
fn the_default_entry_meters_and_colours_what_misses_once_it_is_configured() {
    let mut pipeline = pipeline();
    let mark = [("port".to_owned(), number(10))];
    let mark = Some(("EntriesIngress.mark", mark.as_slice()));
    pipeline.set_default_action(METERED, mark).unwrap();
    let rates = MeterRates {
        committed_rate: 1,
        committed_burst: 1,
        peak_rate: 1,
        peak_burst: 2,
        ..MeterRates::default()
    };
    let colour = |pipeline: &mut Pipeline| port(pipeline, 0, (2, 0, 7, 0), &[]) - 10;
    let counts = |pipeline: &Pipeline| {
        let counts = pipeline.direct_meter_counts(METERED, None).unwrap();
        counts.map(|(packets, _)| packets)
    };
    // With and without entries.
    for others in [false, true] {
        if others {
            let other = entry(
                &[("hdr.key.port", exact(8))],
                0,
                "EntriesIngress.mark",
                &[("port", 50)],
            );
            pipeline.table_insert(METERED, &other).unwrap();
        }
        assert_eq!(pipeline.direct_meter_rates(METERED, None), Ok(None));
        assert_eq!(colour(&mut pipeline), 0);
        assert_eq!(counts(&pipeline), [0; 3]);
        pipeline
            .direct_meter_configure(METERED, None, Some(rates))
            .unwrap();
        assert_eq!(pipeline.direct_meter_rates(METERED, None), Ok(Some(rates)));
        let colours: Vec<u16> = (0..3).map(|_| colour(&mut pipeline)).collect();
        assert_eq!(colours, [0, 1, 2]);
        assert_eq!(counts(&pipeline), [1; 3]);
        pipeline
            .direct_meter_configure(METERED, None, None)
            .unwrap();
        pipeline
            .direct_meter_counts_write(METERED, None, [(0, 0); 3])
            .unwrap();
    }
    let refused = pipeline.direct_meter_configure(PROFILED, None, Some(rates));
    assert_eq!(refused.unwrap_err().code, Code::InvalidArgument);
}

#[test]
fn idle_entries_are_reported_after_each_timeout() {
    let mut pipeline = pipeline();
    assert!(!pipeline.has_idle_timeouts());
    let timed = |port, idle_timeout_ns| Entry {
        idle_timeout_ns,
        ..entry(
            &[("hdr.key.port", exact(port))],
            0,
            "EntriesIngress.mark",
            &[("port", 10)],
        )
    };
    pipeline.table_insert(METERED, &timed(1, 100)).unwrap();
    pipeline.table_insert(METERED, &timed(2, 300)).unwrap();
    pipeline.table_insert(METERED, &timed(3, 0)).unwrap();
    assert!(pipeline.has_idle_timeouts());
    let sweep = |pipeline: &mut Pipeline, now| {
        let mut idle = Vec::new();
        pipeline.sweep_idle(now, &mut idle);
        let timeout = |(table, entry): (String, Entry)| {
            assert_eq!(table, METERED);
            entry.idle_timeout_ns
        };
        idle.into_iter().map(timeout).collect::<Vec<_>>()
    };
    assert!(sweep(&mut pipeline, 1000).is_empty(), "time starts here");
    assert!(sweep(&mut pipeline, 1099).is_empty());
    port(&mut pipeline, 1050, (2, 0, 1, 0), &[]);
    assert_eq!(pipeline.last_hit(METERED, &timed(1, 0)), Ok(Some(1050)));
    assert!(sweep(&mut pipeline, 1149).is_empty());
    assert_eq!(sweep(&mut pipeline, 1150), [100]);
    assert_eq!(sweep(&mut pipeline, 1300), [100, 300]);
    assert_eq!(sweep(&mut pipeline, 5000), [100, 300], "again");
    assert_eq!(pipeline.last_hit(METERED, &timed(1, 0)), Ok(Some(1050)));
    port(&mut pipeline, 5050, (2, 0, 1, 0), &[]);
    assert!(sweep(&mut pipeline, 5100).is_empty(), "not after a hit");
    assert_eq!(sweep(&mut pipeline, 5150), [100]);
    pipeline.table_modify(METERED, &timed(1, 0)).unwrap();
    pipeline.table_delete(METERED, &timed(2, 0)).unwrap();
    assert!(!pipeline.has_idle_timeouts());
    assert!(sweep(&mut pipeline, 9000).is_empty());
    let refused = pipeline.table_insert(
        "EntriesIngress.wide_exact",
        &Entry {
            idle_timeout_ns: 5,
            ..entry(
                &[("hdr.key.wide", exact(1)), ("hdr.key.flow", exact(1))],
                0,
                FORWARD,
                &[("port", 1)],
            )
        },
    );
    assert_eq!(refused.unwrap_err().code, Code::InvalidArgument);
}

#[test]
fn constant_entries_have_priorities_and_counters() {
    let mut pipeline = pipeline();
    assert_eq!(port(&mut pipeline, 0, (3, 3, 1, 0), &[]), 1);
    assert_eq!(port(&mut pipeline, 0, (3, 4, 1, 0), &[]), 2);
    let entries = pipeline.table_entries(CONSTANT).unwrap();
    let priorities: Vec<i32> = entries.iter().map(|entry| entry.priority).collect();
    assert_eq!(priorities, [2, 1], "the larger one first");
    for found in &entries {
        assert_eq!(
            pipeline.direct_counter_read(CONSTANT, Some(found)).unwrap(),
            (1, 264)
        );
    }
    let given = [
        ("hdr.key.port", ternary(1, 0xffff)),
        ("hdr.key.address", range(2, 3)),
    ];
    let wanted = entry(&given, 2, "", &[]);
    assert_eq!(pipeline.table_entry(CONSTANT, &wanted).unwrap(), entries[0]);
    pipeline.clear();
    assert_eq!(
        pipeline
            .direct_counter_read(CONSTANT, Some(&wanted))
            .unwrap(),
        (0, 0)
    );
}

#[test]
fn keys_of_2048_bits() {
    let mut pipeline = pipeline();
    let mut first = vec![0; 256];
    (first[0], first[255]) = (0x80, 1);
    let mut second = first.clone();
    second[100] = 7;
    let keys =
        |pipeline: &mut Pipeline, chosen, wide: &[u8]| port(pipeline, 0, (chosen, 0, 0, 5), wide);
    let exact = |wide: &[u8]| Match::Exact(wide.to_vec());
    let flow = || ("hdr.key.flow", Match::Exact(vec![5]));
    let given = entry(
        &[("hdr.key.wide", exact(&first)), flow()],
        0,
        FORWARD,
        &[("port", 1)],
    );
    let table = "EntriesIngress.wide_exact";
    pipeline.table_insert(table, &given).unwrap();
    assert_eq!(keys(&mut pipeline, 4, &first), 1);
    assert_eq!(keys(&mut pipeline, 4, &second), 100);
    let read = pipeline.table_entry(table, &given).unwrap();
    assert_eq!(read.matches[0].1, exact(&first));

    let mut mask = vec![0; 256];
    mask[100] = 0xff;
    let mut value = vec![0; 256];
    value[100] = 7;
    let masked = Match::Ternary { value, mask };
    let given = entry(&[("hdr.key.wide", masked)], 1, FORWARD, &[("port", 2)]);
    let table = "EntriesIngress.wide_ternary";
    pipeline.table_insert(table, &given).unwrap();
    assert_eq!(keys(&mut pipeline, 5, &first), 100);
    assert_eq!(keys(&mut pipeline, 5, &second), 2);

    let table = "EntriesIngress.wide_prefix";
    for (prefix_len, port) in [(1, 3), (808, 4), (2048, 5)] {
        let mut value = second.clone();
        if prefix_len == 1 {
            value[1..].fill(0);
        } else if prefix_len == 808 {
            value[101..].fill(0);
        }
        let prefix = Match::Lpm { value, prefix_len };
        let given = entry(&[("hdr.key.wide", prefix)], 0, FORWARD, &[("port", port)]);
        pipeline.table_insert(table, &given).unwrap();
    }
    assert_eq!(keys(&mut pipeline, 6, &second), 5);
    second[200] = 1;
    assert_eq!(keys(&mut pipeline, 6, &second), 4);
    assert_eq!(keys(&mut pipeline, 6, &first), 3);
    assert_eq!(keys(&mut pipeline, 6, &[1]), 100);
}

#[test]
fn tables_are_read_in_pieces() {
    let mut pipeline = pipeline();
    let numbered = |number: u16| {
        entry(
            &[("hdr.key.port", exact(number.into()))],
            0,
            "EntriesIngress.mark",
            &[("port", 1)],
        )
    };
    for number in 0..10 {
        pipeline.table_insert(METERED, &numbered(number)).unwrap();
    }
    pipeline.table_delete(METERED, &numbered(3)).unwrap();
    let (mut cursor, mut seen, mut calls) = (Some(0), Vec::new(), 0);
    while let Some(from) = cursor {
        let (entries, next) = pipeline.table_entries_from(METERED, from, 4).unwrap();
        assert!(entries.len() <= 4);
        seen.extend(entries);
        cursor = next;
        calls += 1;
    }
    assert_eq!((seen.len(), calls), (9, 3));
    assert_eq!(seen, pipeline.table_entries(METERED).unwrap());
}
