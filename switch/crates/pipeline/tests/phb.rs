//! The project's own program loads, forwards, and gives the ranks it documents.

use crate::common::{ETHERNET, checksum, entry, exact, ipv4, load, lpm, range, run, tcp, ternary};
use phb_pipeline::{EgressVerdict, Pipeline, Processed, QueueMetadata, Verdict};

const ARTIFACT: &str = "../../../p4src/build/phb.json";

fn routed() -> Pipeline {
    let mut pipeline = load(ARTIFACT);
    let route = entry(
        &[("destination", lpm(0x0a02_0000, 16))],
        0,
        "PhbIngress.forward.route",
        &[
            ("port", 2),
            ("source_mac", 0x0600_0000_0001),
            ("destination_mac", 0x0600_0000_0002),
        ],
    );
    pipeline
        .table_insert("PhbIngress.forward.ipv4_route", &route)
        .unwrap();
    pipeline
}

/// Each of its numbers is of so few words that native code computes with it itself.
#[test]
fn computes_without_calls() {
    assert_eq!(load(ARTIFACT).execution().long_calls, 0);
}

#[test]
fn routes_an_ipv4_packet() {
    let mut pipeline = routed();
    let frame = ipv4(
        0x0a01_0001,
        0x0a02_0001,
        6,
        0,
        &[],
        &tcp(1024, 700, &[7; 100]),
    );
    let (port, out) = run(&mut pipeline, 1_000_000, 1, &frame).unwrap();
    assert_eq!(port, 2);
    assert_eq!(out.len(), frame.len());
    assert_eq!(&out[..12], &[6, 0, 0, 0, 0, 2, 6, 0, 0, 0, 0, 1]);
    assert_eq!(out[14 + 8], 63, "TTL");
    assert_eq!(checksum(&out[14..34]), 0, "header checksum");
    assert_eq!(&out[34..], &frame[34..]);
    assert_eq!(
        pipeline.counter_read("PhbEgress.port_transmit", 2).unwrap(),
        (1, frame.len() as u64)
    );
}

#[test]
fn drops_what_it_cannot_route() {
    let mut pipeline = routed();
    let elsewhere = ipv4(0x0a01_0001, 0x0b02_0001, 6, 0, &[], &tcp(1024, 700, &[]));
    assert_eq!(run(&mut pipeline, 0, 1, &elsewhere), Err(Verdict::Drop));
    let mut corrupt = ipv4(0x0a01_0001, 0x0a02_0001, 6, 0, &[], &tcp(1024, 700, &[]));
    corrupt[24] ^= 1;
    assert_eq!(run(&mut pipeline, 0, 1, &corrupt), Err(Verdict::Drop));
    let whole = ipv4(
        0x0a01_0001,
        0x0a02_0001,
        6,
        0,
        &[1; 40],
        &tcp(1024, 700, &[]),
    );
    for length in 0..whole.len() {
        let _ = run(&mut pipeline, 0, 1, &whole[..length]);
    }
    assert!(run(&mut pipeline, 0, 1, &whole).is_ok(), "IPv4 options");
}

#[test]
fn a_wire_does_not_touch_the_packet() {
    let mut pipeline = load(ARTIFACT);
    let connect = entry(
        &[("ingress_port", exact(1))],
        0,
        "PhbIngress.forward.connect",
        &[("port", 2)],
    );
    pipeline
        .table_insert("PhbIngress.forward.cross_connect", &connect)
        .unwrap();
    let frame = ipv4(1, 2, 17, 0xb8, &[], &[0; 30]);
    assert_eq!(run(&mut pipeline, 0, 1, &frame), Ok((2, frame)));
    let other = [&ETHERNET[..12], &[0x88, 0xcc, 1, 2, 3]].concat();
    assert_eq!(run(&mut pipeline, 0, 1, &other), Ok((2, other)));
}

#[test]
fn classifies_and_remarks() {
    let mut pipeline = routed();
    let rule = entry(
        &[
            ("source", range(0x0a01_0000, 0x0a01_ffff)),
            ("source_port", range(700, 719)),
            ("tos", ternary(0, 0)),
        ],
        10,
        "PhbIngress.classify.set_class",
        &[("policy", 5), ("stream", 6), ("traffic_class", 7)],
    );
    pipeline
        .table_insert("PhbIngress.classify.multi_field_ipv4", &rule)
        .unwrap();
    let remark = entry(
        &[("policy", exact(5))],
        0,
        "PhbIngress.mark.set_tos",
        &[("value", 0xfc), ("mask", 0xfc)],
    );
    pipeline
        .table_insert("PhbIngress.mark.remark", &remark)
        .unwrap();
    let marked = |pipeline: &mut Pipeline, port| {
        let frame = ipv4(0x0a01_0001, 0x0a02_0001, 6, 1, &[], &tcp(port, 9, &[]));
        run(pipeline, 0, 1, &frame).unwrap().1[15]
    };
    assert_eq!(marked(&mut pipeline, 700), 0xfd);
    assert_eq!(marked(&mut pipeline, 719), 0xfd);
    assert_eq!(marked(&mut pipeline, 720), 1);
    assert_eq!(
        pipeline
            .counter_read("PhbIngress.policy_traffic", 5 * 4)
            .unwrap()
            .0,
        2
    );
}

/// finish = max(V, previous finish) + weight x length, cut by nothing before 2^60; rank = level ++ finish.
#[test]
fn ranks_are_self_clocked_fair_queueing() {
    let mut pipeline = routed();
    let scheduler = entry(
        &[("egress_port", exact(2))],
        1,
        "PhbIngress.conversation.flow_wfq",
        &[
            ("profile", 1),
            ("base", 4096),
            ("conversations", 4096),
            ("overhead", u32::MAX as u128 - 6),
        ],
    );
    pipeline
        .table_insert("PhbIngress.conversation.port_scheduler", &scheduler)
        .unwrap();
    let weight = |precedence: u128| {
        entry(
            &[("profile", exact(1)), ("precedence", exact(precedence))],
            0,
            "PhbIngress.schedule.weighted",
            &[("level", 0), ("weight", 4096 / (precedence + 1))],
        )
    };
    for precedence in 0..8 {
        pipeline
            .table_insert("PhbIngress.schedule.weight", &weight(precedence))
            .unwrap();
    }
    let mut send = |tos: u8, port: u16, length: usize| {
        let frame = ipv4(
            0x0a01_0001,
            0x0a02_0001,
            6,
            tos,
            &[],
            &tcp(port, 9, &vec![0; length]),
        );
        let Processed {
            packet, verdict, ..
        } = pipeline.ingress(0, 1, &frame);
        let Verdict::Unicast {
            port: 2,
            rank: Some(rank),
            priority: 7,
        } = verdict
        else {
            panic!("{verdict:?}");
        };
        (packet, rank, frame.len() as u64 - 7)
    };
    let (first, rank, length) = send(0, 1000, 1000);
    assert_eq!(rank, 4096 * length);
    let (_, second, length) = send(0, 1000, 500);
    assert_eq!(second, rank + 4096 * length);
    let (_, other, length) = send(0xe0, 1001, 100);
    assert_eq!(other, 512 * length);
    // The scheduler takes the first: virtual time moves on to its tag.
    let mut packet = first;
    let queue = QueueMetadata {
        egress_port: 2,
        deq_timedelta_ns: 5_000_000,
        ..QueueMetadata::default()
    };
    assert_eq!(
        pipeline.egress(5_000_000, &mut packet, &queue).verdict,
        EgressVerdict::Transmit
    );
    let frame = ipv4(0x0a01_0009, 0x0a02_0001, 6, 0, &[], &tcp(5, 6, &[]));
    let Processed { verdict, .. } = pipeline.ingress(0, 1, &frame);
    let Verdict::Unicast {
        rank: Some(late), ..
    } = verdict
    else {
        panic!("{verdict:?}")
    };
    assert_eq!(late, rank + 4096 * (frame.len() as u64 - 7));
    assert_eq!(
        pipeline
            .counter_read("PhbEgress.class_delay", 81)
            .unwrap()
            .0,
        1,
        "4608 to 5119 us"
    );
}

/// Not a test but a figure: nanoseconds per packet, `cargo test --release -p phb-pipeline --test phb -- --ignored
/// --nocapture`.
#[test]
#[ignore = "a measurement"]
fn time_per_packet() {
    let mut pipeline = routed();
    let scheduler = entry(
        &[("egress_port", exact(2))],
        1,
        "PhbIngress.conversation.flow_wfq",
        &[
            ("profile", 1),
            ("base", 4096),
            ("conversations", 4096),
            ("overhead", 0),
        ],
    );
    pipeline
        .table_insert("PhbIngress.conversation.port_scheduler", &scheduler)
        .unwrap();
    for rule in 0..1000u16 {
        let rule = entry(
            &[
                ("source", range(0x0a01_0000, 0x0a01_ffff)),
                (
                    "source_port",
                    range(u128::from(rule) * 20, u128::from(rule) * 20 + 19),
                ),
            ],
            1 + i32::from(rule),
            "PhbIngress.classify.set_class",
            &[("policy", 5), ("stream", 6), ("traffic_class", 7)],
        );
        pipeline
            .table_insert("PhbIngress.classify.multi_field_ipv4", &rule)
            .unwrap();
    }
    let frames: Vec<_> = (0..64u16)
        .map(|flow| {
            ipv4(
                0x0a01_0001,
                0x0a02_0001,
                6,
                0,
                &[],
                &tcp(flow * 300, 700, &[7; 400]),
            )
        })
        .collect();
    let mut out = Vec::new();
    let packets = 2_000_000;
    let start = std::time::Instant::now();
    for number in 0..packets {
        let Processed {
            mut packet,
            verdict,
            ..
        } = pipeline.ingress(number, 1, &frames[number as usize % frames.len()]);
        assert!(matches!(verdict, Verdict::Unicast { port: 2, .. }));
        pipeline.egress(
            number,
            &mut packet,
            &QueueMetadata {
                egress_port: 2,
                ..QueueMetadata::default()
            },
        );
        pipeline.deparse(&mut packet, &mut out);
    }
    println!(
        "{} ns per packet",
        start.elapsed().as_nanos() / u128::from(packets)
    );
}
