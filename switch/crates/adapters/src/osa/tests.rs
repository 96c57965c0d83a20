//! The node as a whole; what one part decides alone is tested beside it.

use std::net::Ipv4Addr;

use proptest::prelude::*;

use super::priorities::PriorityMapping;
use super::*;
use crate::osa::tests::packets::{datagram, segment};
use phb_network::Transmission;

mod packets;

const MICROSECOND: Time = 1_000;
const HOST: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const PEER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
const DVIPA: Ipv4Addr = Ipv4Addr::new(10, 0, 9, 9);

/// 1 Gbit/s: 8 ns per byte. Everything a processor does takes a number of whole microseconds.
fn config() -> OsaConfig {
    OsaConfig {
        rate_bps: 1_000_000_000,
        mtu_bytes: 1500,
        latency_ns: 0,
        priority_mask: 0xff,
        priorities: Vec::new(),
        queue_packets: Some(1000),
        lan_idle_ns: Some(20 * MICROSECOND),
        interactive_idle_ns: None,
        streaming_idle_ns: None,
        idle_interval_ns: None,
        longest_hold_ns: 250 * MICROSECOND,
        buffer_bytes: 65_536,
        buffers: 64,
        workload_queueing: false,
        bulk_bytes: 10_000,
        segmentation_offload: false,
        checksum_offload: true,
        distributions: Vec::new(),
        forward_priority: 1,
        processors: 2,
        interrupt_ns: 5 * MICROSECOND,
        receive_ns: 3 * MICROSECOND,
        send_ns: 2 * MICROSECOND,
        application_ns: 10 * MICROSECOND,
        application_spread_percent: 0,
        forward_ns: MICROSECOND,
        copy_ps_per_byte: 0,
        checksum_ps_per_byte: 1_000,
        seed: 1,
    }
}

fn osa(config: OsaConfig) -> Osa {
    Osa::new(config).expect("a good configuration")
}

/// Runs up to `until`; gives what has left.
fn run(osa: &mut Osa, until: Time, out: &mut Output) -> Vec<Transmission> {
    let mut left: Vec<_> = out.drain().collect();
    while let Some(due) = osa.next_tick().filter(|due| *due <= until) {
        out.begin(due);
        osa.tick(due, out);
        left.extend(out.drain());
    }
    left
}

fn finish(osa: &mut Osa, out: &mut Output) -> Vec<Transmission> {
    run(osa, Time::MAX, out)
}

fn receive(
    osa: &mut Osa,
    now: Time,
    port: Port,
    frame: Frame,
    out: &mut Output,
) -> Vec<Transmission> {
    let left = run(osa, now, out);
    out.begin(now);
    osa.receive(now, port, frame, out);
    left
}

fn check_conservation(statistics: &OsaStatistics) {
    for way in [statistics.outbound, statistics.inbound] {
        assert_eq!(way.received, way.sent + way.dropped() + way.held, "{way:?}");
    }
}

/// A segment from the peer with `length` bytes of payload from `sequence` on.
fn data(port: u16, sequence: u32, length: usize) -> Frame {
    segment((PEER, port), (HOST, 80), sequence, length, 0)
}

fn sequence_of(frame: &Frame) -> u32 {
    let tcp = parse(&frame.bytes).and_then(|packet| packet.tcp);
    tcp.expect("a segment").sequence
}

#[test]
fn a_lone_packet_waits_for_the_timer_then_for_the_interrupt_then_for_its_own_path() {
    for (idle, workload_queueing) in [(1, false), (20, false), (20, true)] {
        let mut osa = osa(OsaConfig {
            lan_idle_ns: Some(idle * MICROSECOND),
            workload_queueing,
            ..config()
        });
        let mut out = Output::new();
        osa.receive(0, NETWORK_PORT, data(1, 0, 100), &mut out);
        let left = finish(&mut osa, &mut out);
        let wire = (154 + 4 + 20) * 8;
        let expected = wire + (idle + 5 + 3) * MICROSECOND;
        assert_eq!(
            left.iter()
                .map(|sent| (sent.at, sent.port))
                .collect::<Vec<_>>(),
            [(expected, HOST_PORT)]
        );
        let statistics = osa.statistics();
        assert_eq!(statistics.inbound_queues[0].interrupts, 1);
        assert_eq!(statistics.processors.interrupt_ns, 5 * MICROSECOND);
        assert_eq!(statistics.processors.receive_ns, 3 * MICROSECOND);
    }
}

#[test]
fn a_full_read_buffer_is_handed_over_at_once_and_full_read_storage_drops() {
    let small = OsaConfig {
        buffer_bytes: 1_000,
        buffers: 2,
        interrupt_ns: 50 * MICROSECOND,
        ..config()
    };
    let mut osa = osa(small);
    let mut out = Output::new();
    for number in 0..4 {
        // 554 bytes each: the second fills a buffer, the fourth finds no room
        let frame = data(1, number * 500, 500);
        assert!(receive(&mut osa, u64::from(number), NETWORK_PORT, frame, &mut out).is_empty());
    }
    let left = finish(&mut osa, &mut out);
    assert_eq!(left.len(), 3);
    let wire = (554 + 24) * 8;
    assert_eq!(
        left[0].at,
        2 * wire + 53 * MICROSECOND,
        "no wait for the timer"
    );
    let statistics = osa.statistics();
    assert_eq!(
        (
            statistics.inbound.dropped_queue_full,
            statistics.inbound.held
        ),
        (1, 0)
    );
    assert_eq!(statistics.inbound_queues[0].dropped, 1);
    check_conservation(&statistics);
}

/// Batches of ten full segments, each handed over while the one before is still being worked off.
fn stream_in(workload_queueing: bool) -> (Vec<u32>, OsaStatistics) {
    let mut osa = osa(OsaConfig {
        lan_idle_ns: Some(3 * MICROSECOND),
        workload_queueing,
        bulk_bytes: 1,
        ..config()
    });
    let mut out = Output::new();
    let mut left = Vec::new();
    left.extend(receive(
        &mut osa,
        0,
        NETWORK_PORT,
        data(1, 0, 100),
        &mut out,
    ));
    for batch in 0..10u32 {
        for number in 0..10u32 {
            let at = 100 * MICROSECOND + u64::from(batch * 20 + number) * 1_000;
            let sequence = 100 + (batch * 10 + number) * 100;
            left.extend(receive(
                &mut osa,
                at,
                NETWORK_PORT,
                data(1, sequence, 100),
                &mut out,
            ));
        }
    }
    left.extend(finish(&mut osa, &mut out));
    check_conservation(&osa.statistics());
    (
        left.iter().map(|sent| sequence_of(&sent.frame)).collect(),
        osa.statistics(),
    )
}

#[test]
fn two_processors_race_and_the_bulk_queue_of_iwq_does_not() {
    let (order, statistics) = stream_in(false);
    let mut sorted = order.clone();
    sorted.sort_unstable();
    assert_eq!(order.len(), 101);
    assert_ne!(order, sorted);
    assert!(statistics.out_of_order > 0);
    assert_eq!(statistics.inbound_queues[0].packets, 101);

    let (order, statistics) = stream_in(true);
    assert_eq!(order, sorted);
    assert_eq!(statistics.out_of_order, 0);
    assert_eq!(
        statistics.inbound_queues.map(|queue| queue.packets),
        [1, 100, 0, 0]
    );
    let bulk = statistics.inbound_queues[1];
    assert!(
        bulk.interrupts < bulk.hand_overs,
        "what comes meanwhile takes no interrupt_ns: {bulk:?}"
    );
    assert_eq!(statistics.streaming_connections, 1);
}

#[test]
fn each_kind_of_packet_has_its_queue_when_workloads_are_queued() {
    let cases = [
        (data(1, 0, 100), 0),
        (datagram((PEER, 9), (HOST, 12_000)), 3),
        (datagram((PEER, 9), (HOST, 12_005)), 0),
        (segment((PEER, 9), (DVIPA, 80), 0, 10, 0), 2),
        (Frame::new(vec![0; 60]), 0),
    ];
    for (frame, expected) in cases {
        let distributed = OsaConfig {
            workload_queueing: true,
            distributions: vec![(DVIPA, vec![HOST])],
            ..config()
        };
        for workload_queueing in [true, false] {
            let mut osa = osa(OsaConfig {
                workload_queueing,
                ..distributed.clone()
            });
            let mut out = Output::new();
            osa.receive(0, NETWORK_PORT, frame.clone(), &mut out);
            finish(&mut osa, &mut out);
            let mut queues = [0; queue_kind::QUEUES];
            queues[if workload_queueing { expected } else { 0 }] = 1;
            assert_eq!(
                osa.statistics().inbound_queues.map(|queue| queue.packets),
                queues
            );
            check_conservation(&osa.statistics());
        }
    }
}

#[test]
fn requests_and_replies_never_stream_and_transfers_do_either_way() {
    for (from, to) in [(NETWORK_PORT, HOST_PORT), (HOST_PORT, NETWORK_PORT)] {
        let mut osa = osa(config());
        let mut out = Output::new();
        let frame = |port: Port, sequence: u32| {
            if port == NETWORK_PORT {
                data(1, sequence, 1000)
            } else {
                segment((HOST, 80), (PEER, 1), sequence, 1000, 0)
            }
        };
        let mut now = 0;
        for number in 0..40 {
            for port in [from, to] {
                now += MICROSECOND * 100;
                receive(&mut osa, now, port, frame(port, number * 1000), &mut out);
            }
        }
        run(&mut osa, now + 1000 * MICROSECOND, &mut out);
        assert_eq!(osa.statistics().streaming_connections, 0);
        for number in 40..60 {
            now += MICROSECOND * 100;
            receive(&mut osa, now, from, frame(from, number * 1000), &mut out);
        }
        run(&mut osa, now + 1000 * MICROSECOND, &mut out);
        assert_eq!(osa.statistics().streaming_connections, 1);
    }
}

#[test]
fn an_answer_is_the_work_of_the_processor_that_gave_the_packet() {
    let mut osa = osa(config());
    let mut out = Output::new();
    for number in 0..2 {
        receive(
            &mut osa,
            0,
            NETWORK_PORT,
            data(1, number * 1000, 1000),
            &mut out,
        );
    }
    let ready = 2 * (1054 + 24) * 8;
    let first = ready + 28 * MICROSECOND;
    let left = run(&mut osa, first, &mut out);
    assert_eq!(
        left.last().map(|sent| (sent.at, sent.port)),
        Some((first, HOST_PORT))
    );
    let acknowledgement = segment((HOST, 80), (PEER, 1), 0, 0, 0);
    receive(&mut osa, first, HOST_PORT, acknowledgement, &mut out);
    let left = finish(&mut osa, &mut out);
    let times: Vec<_> = left.iter().map(|sent| (sent.at, sent.port)).collect();
    // the acknowledgement takes 2 us before the next packet's 3 us, then its time on the wire
    let sent = first + 2 * MICROSECOND;
    let expected = [
        (sent + 84 * 8, NETWORK_PORT),
        (sent + 3 * MICROSECOND, HOST_PORT),
    ];
    assert_eq!(times, expected);
}

#[test]
fn a_message_costs_its_application_and_large_segments_cost_one_send() {
    for (offload, large_sends, send) in [(false, 0, 8), (true, 1, 2)] {
        let mut osa = osa(OsaConfig {
            segmentation_offload: offload,
            processors: 1,
            ..config()
        });
        let mut out = Output::new();
        for number in 0..4 {
            let length = if number == 3 { 500 } else { 1000 };
            let frame = segment((HOST, 80), (PEER, 1), number * 1000, length, 0x20);
            osa.receive(0, HOST_PORT, frame, &mut out);
        }
        let left = finish(&mut osa, &mut out);
        let lengths: Vec<_> = left.iter().map(|sent| sent.frame.len()).collect();
        assert_eq!(lengths, [1054, 1054, 1054, 554]);
        for (number, sent) in (0..).zip(&left) {
            assert_eq!(sequence_of(&sent.frame), number * 1000);
            assert!(packets::checksums_are_right(&sent.frame));
        }
        let statistics = osa.statistics();
        assert_eq!(statistics.large_sends, large_sends);
        assert_eq!(statistics.processors.send_ns, send * MICROSECOND);
        assert_eq!(statistics.processors.application_ns, 10 * MICROSECOND);
        check_conservation(&statistics);
    }
}

#[test]
fn a_large_segment_of_the_host_itself_is_cut_or_dropped() {
    for (offload, lengths) in [(true, vec![1514, 1514, 134]), (false, vec![])] {
        let mut osa = osa(OsaConfig {
            segmentation_offload: offload,
            ..config()
        });
        let mut out = Output::new();
        let large = segment((HOST, 80), (PEER, 1), 0, 3000, 0);
        osa.receive(0, HOST_PORT, large, &mut out);
        let left = finish(&mut osa, &mut out);
        assert_eq!(
            left.iter().map(|sent| sent.frame.len()).collect::<Vec<_>>(),
            lengths
        );
        assert_eq!(
            osa.statistics().outbound.dropped_too_large,
            u64::from(!offload)
        );
        check_conservation(&osa.statistics());
    }
}

#[test]
fn checksums_cost_the_host_what_the_adapter_does_not_do() {
    let cost = |checksum_offload| {
        let mut osa = osa(OsaConfig {
            checksum_offload,
            ..config()
        });
        let mut out = Output::new();
        osa.receive(0, NETWORK_PORT, data(1, 0, 946), &mut out);
        finish(&mut osa, &mut out);
        osa.statistics().processors.receive_ns
    };
    assert_eq!(cost(false) - cost(true), MICROSECOND, "1,000 bytes at 1 ns");
}

#[test]
fn a_distributed_packet_goes_to_its_target_inside_another_and_never_to_the_stack() {
    let target = Ipv4Addr::new(10, 0, 3, 3);
    let mut distributor = osa(OsaConfig {
        distributions: vec![(DVIPA, vec![target])],
        ..config()
    });
    let mut out = Output::new();
    let request = segment((PEER, 9), (DVIPA, 80), 7, 100, 0x20);
    distributor.receive(0, NETWORK_PORT, request.clone(), &mut out);
    let left = finish(&mut distributor, &mut out);
    assert_eq!(
        left.iter().map(|sent| sent.port).collect::<Vec<_>>(),
        [NETWORK_PORT]
    );
    let outside = parse(&left[0].frame.bytes).expect("IPv4");
    assert_eq!(
        (outside.destination, outside.protocol, outside.tos),
        (target, 47, 0x20)
    );
    let statistics = distributor.statistics();
    assert_eq!(
        (statistics.forwarded, statistics.processors.receive_ns),
        (1, 0)
    );
    assert_eq!(statistics.processors.forward_ns, MICROSECOND);
    assert_eq!(statistics.outbound_queues[0].packets, 1);
    check_conservation(&statistics);

    let mut stack = osa(config());
    stack.receive(0, NETWORK_PORT, left[0].frame.clone(), &mut out);
    let left = finish(&mut stack, &mut out);
    assert_eq!(
        left.iter().map(|sent| &sent.frame).collect::<Vec<_>>(),
        [&request]
    );
}

#[test]
fn connections_stay_with_their_target() {
    let targets = vec![HOST, PEER, DVIPA];
    let distributor = Distributor::new(vec![(DVIPA, targets.clone())]);
    let mut used = [0; 3];
    for port in 1..=300 {
        let of = |sequence| {
            let frame = segment((PEER, port), (DVIPA, 80), sequence, 1, 0);
            distributor
                .target(&parse(&frame.bytes).expect("IPv4"))
                .expect("a target")
        };
        assert_eq!(of(0), of(1000));
        used[targets
            .iter()
            .position(|target| *target == of(0))
            .expect("one of them")] += 1;
    }
    assert_eq!(used, [100; 3]);
}

#[test]
fn the_source_s_priorities_under_its_mask() {
    // SetSubnetPrioTosMask of the S/390 source, appendix B
    let pairs = [
        (1, 0xe0),
        (1, 0xc0),
        (1, 0xa0),
        (2, 0x80),
        (2, 0x60),
        (2, 0x40),
        (3, 0x20),
        (3, 0),
    ];
    let mapping = PriorityMapping::new(0xe0, &pairs).expect("good");
    let queues: Vec<_> = (0..8u8)
        .map(|precedence| mapping.queue(precedence << 5 | 0x1f))
        .collect();
    assert_eq!(queues, [2, 2, 1, 1, 1, 0, 0, 0]);
    assert_eq!(PriorityMapping::default().queue(0xe0), 3);
}

#[test]
fn wrong_parameters_are_named() {
    let no_processor = OsaConfig {
        processors: 0,
        ..config()
    };
    let no_target = OsaConfig {
        distributions: vec![(DVIPA, Vec::new())],
        ..config()
    };
    let fifth_queue = OsaConfig {
        forward_priority: 5,
        ..config()
    };
    for (wrong, expected) in [
        (
            no_processor,
            "processors: 0 is given, 1 to 1024 is expected",
        ),
        (no_target, "distributions: 10.0.9.9 has no target"),
        (
            fifth_queue,
            "forward_priority: 5 is given, 1 to 4 is expected",
        ),
    ] {
        assert_eq!(Osa::new(wrong).err().expect("wrong").to_string(), expected);
    }
    let error = PriorityMapping::new(0xff, &[(0, 0)]).expect_err("no queue 0");
    assert_eq!(
        error.to_string(),
        "priorities: queue 0 is given, 1 to 4 is expected"
    );
}

/// One packet of a random workload: when, which way, which connection, how long.
fn workload() -> impl Strategy<Value = Vec<(u64, bool, u16, usize)>> {
    let packet = (
        0u64..30_000,
        any::<bool>(),
        0u16..4,
        prop_oneof![Just(0usize), 1usize..1400, Just(1446)],
    );
    prop::collection::vec(packet, 1..120)
}

proptest! {
    /// Each packet that came in has left, was dropped, or is inside; none is inside in the end.
    #[test]
    fn packets_are_conserved(
        packets in workload(), workload_queueing in any::<bool>(), segmentation_offload in any::<bool>(),
        dynamic in any::<bool>(), processors in 1usize..4, queue_packets in 1usize..20, buffers in 1usize..4,
    ) {
        let dynamic = |value| dynamic.then_some(value * MICROSECOND);
        let mut osa = osa(OsaConfig {
            workload_queueing, segmentation_offload, buffers, buffer_bytes: 4_000, queue_packets: Some(queue_packets),
            lan_idle_ns: dynamic(1).is_none().then_some(5 * MICROSECOND),
            interactive_idle_ns: dynamic(1), streaming_idle_ns: dynamic(20), idle_interval_ns: dynamic(100),
            processors,
            ..config()
        });
        let mut out = Output::new();
        let mut left = Vec::new();
        let mut now = 0;
        let mut sequences = [[0u32; 4]; 2];
        for (gap, inbound, connection, length) in packets {
            now += gap;
            let next = &mut sequences[usize::from(inbound)][usize::from(connection)];
            let (port, frame) = if inbound {
                (NETWORK_PORT, segment((PEER, connection + 1), (HOST, 80), *next, length, 0))
            } else {
                (HOST_PORT, segment((HOST, 80), (PEER, connection + 1), *next, length, 0))
            };
            *next += u32::try_from(length).expect("short");
            left.extend(receive(&mut osa, now, port, frame, &mut out));
            check_conservation(&osa.statistics());
        }
        left.extend(finish(&mut osa, &mut out));
        let statistics = osa.statistics();
        check_conservation(&statistics);
        prop_assert_eq!((statistics.inbound.held, statistics.outbound.held), (0, 0));
        let count = |port| left.iter().filter(|sent| sent.port == port).count() as u64;
        prop_assert_eq!(count(HOST_PORT), statistics.inbound.sent);
        prop_assert_eq!(count(NETWORK_PORT), statistics.outbound.sent);
        for queue in statistics.inbound_queues {
            prop_assert!(queue.interrupts <= queue.hand_overs && queue.hand_overs <= queue.packets.max(1));
        }
    }

    /// A large segment is cut into the very frames it was put together from, but for the identification and PSH.
    #[test]
    fn a_large_send_is_cut_into_what_it_was_made_of(sizes in (1usize..1400, 1usize..40), last in 1usize..1400) {
        let (size, count) = sizes;
        let last = last.min(size);
        let frame = |number: usize| {
            let sequence = u32::try_from(number * size).expect("short");
            segment((HOST, 80), (PEER, 1), sequence, if number + 1 == count { last } else { size }, 0x28)
        };
        let mut large = offload::LargeSend::new(frame(0));
        for number in 1..count {
            prop_assert!(large.append(&frame(number)));
        }
        prop_assert_eq!(large.segments, count as u64);
        let refused = segment((HOST, 80), (PEER, 1), 1_000_000, 1, 0x28);
        prop_assert!(!large.append(&refused));
        let pieces = offload::cut(large.frame, large.segment_bytes);
        prop_assert_eq!(pieces.len(), count);
        for (number, piece) in pieces.iter().enumerate() {
            let made_of = frame(number);
            prop_assert!(packets::checksums_are_right(piece));
            prop_assert_eq!(&piece.bytes[54..], &made_of.bytes[54..]);
            prop_assert_eq!(&piece.bytes[34..46], &made_of.bytes[34..46]);
        }
    }
}
