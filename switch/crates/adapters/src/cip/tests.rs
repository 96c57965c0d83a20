use phb_hosts::HOST_PORT;
use phb_network::Transmission;

use super::*;

/// 4 kbyte/s and 1 ms per packet: a block takes a second, the CPU a thousandth of it.
fn config() -> CipConfig {
    CipConfig {
        channels: 1,
        channel_bytes_per_s: 4096,
        block_bytes: 4096,
        read_buffers: 2,
        write_buffers: 2,
        blocks_per_interrupt: 1,
        mtu_bytes: None,
        write_queue_packets: Some(10),
        read_queue_packets: Some(10),
        cpu_ns_per_packet: 1_000_000,
        cpu_ps_per_byte: 0,
        cpu_wait_ns: 0,
        cpu_queue_packets: Some(10),
        max_llc2_sessions: None,
        cpu_ns_per_transaction: None,
    }
}

const SECOND: Time = 1_000_000_000;
const MILLISECOND: Time = 1_000_000;

fn frame(datagram_length: usize) -> Frame {
    Frame::new(vec![0; ETHERNET_HEADER + datagram_length])
}

/// Runs to the end; gives what has left: (time, port, length).
fn finish(cip: &mut Cip, out: &mut Output) -> Vec<(Time, Port, usize)> {
    let note = |sent: Transmission| (sent.at, sent.port, sent.frame.len());
    let mut left: Vec<_> = out.drain().map(note).collect();
    while let Some(due) = cip.next_tick() {
        out.begin(due);
        cip.tick(due, out);
        left.extend(out.drain().map(note));
    }
    left
}

fn check_conservation(statistics: &AdapterStatistics) {
    for direction in [statistics.outbound, statistics.inbound] {
        assert_eq!(
            direction.received,
            direction.sent + direction.dropped() + direction.held
        );
    }
}

#[test]
fn a_small_datagram_costs_the_channel_as_much_as_a_large_one() {
    let mut cip = Cip::new(config()).expect("a good configuration");
    let mut out = Output::new();
    cip.receive(0, HOST_PORT, frame(40), &mut out);
    cip.receive(0, HOST_PORT, frame(4096), &mut out);
    let left = finish(&mut cip, &mut out);
    assert_eq!(
        left,
        [
            (SECOND + MILLISECOND, 1, 54),
            (2 * SECOND + MILLISECOND, 1, 4110)
        ]
    );
    assert_eq!(cip.statistics().channel_blocks, 2);
    assert_eq!(cip.statistics().channel_busy_ns, 2 * SECOND);
    assert_eq!(cip.statistics().cpu_busy_ns, 2 * MILLISECOND);
}

#[test]
fn the_channel_serves_one_direction_at_a_time_and_turns_after_its_buffers() {
    let mut cip = Cip::new(config()).expect("a good configuration");
    let mut out = Output::new();
    for length in 1..=4 {
        cip.receive(0, HOST_PORT, frame(length), &mut out);
    }
    for length in 11..=13 {
        cip.receive(0, NETWORK_PORT, frame(length), &mut out);
    }
    let left = finish(&mut cip, &mut out);
    let order: Vec<_> = left
        .iter()
        .map(|(_, _, length)| length - ETHERNET_HEADER)
        .collect();
    assert_eq!(order, [1, 2, 11, 12, 3, 4, 13]);
    assert_eq!(left.last().map(|last| last.0), Some(7 * SECOND));
    check_conservation(&cip.statistics());
}

#[test]
fn a_datagram_larger_than_a_block_takes_several() {
    let mut cip = Cip::new(CipConfig {
        mtu_bytes: Some(9000),
        ..config()
    })
    .expect("a good configuration");
    let mut out = Output::new();
    cip.receive(0, HOST_PORT, frame(8193), &mut out);
    assert_eq!(
        finish(&mut cip, &mut out),
        [(3 * SECOND + MILLISECOND, 1, 8207)]
    );
}

#[test]
fn every_drop_is_counted_by_its_reason() {
    let slow = CipConfig {
        cpu_ns_per_packet: 100 * SECOND,
        write_queue_packets: Some(1),
        ..config()
    };
    let mut cip = Cip::new(CipConfig {
        cpu_queue_packets: Some(1),
        ..slow
    })
    .expect("a good configuration");
    let mut out = Output::new();
    cip.receive(0, HOST_PORT, frame(4097), &mut out); // too large
    for _ in 0..3 {
        cip.receive(0, HOST_PORT, frame(40), &mut out); // on the channel, queued, dropped
        cip.receive(0, NETWORK_PORT, frame(40), &mut out); // in the CPU, queued, dropped
    }
    check_conservation(&cip.statistics());
    assert_eq!(cip.statistics().outbound.held, 2);
    finish(&mut cip, &mut out);
    let statistics = cip.statistics();
    check_conservation(&statistics);
    assert_eq!(statistics.outbound.dropped_too_large, 1);
    assert_eq!(statistics.outbound.dropped_queue_full, 1);
    assert_eq!(statistics.outbound.dropped_cpu_full, 2);
    assert_eq!(statistics.inbound.dropped_cpu_full, 1);
    assert_eq!(statistics.inbound.sent, 2);
}

#[test]
fn wrong_parameters_are_named() {
    let error = Cip::new(CipConfig {
        block_bytes: 0,
        ..config()
    })
    .err()
    .expect("no blocks");
    assert_eq!(
        error.to_string(),
        "block_bytes: 0 is given, at least 1 is expected"
    );
}

#[test]
fn a_read_interrupts_the_host_once_for_all_its_blocks() {
    let mut cip = Cip::new(CipConfig {
        read_buffers: 3,
        blocks_per_interrupt: 3,
        cpu_ns_per_packet: 0,
        ..config()
    })
    .expect("a good configuration");
    let mut out = Output::new();
    for length in 1..=4 {
        cip.receive(0, NETWORK_PORT, frame(length), &mut out);
    }
    let times: Vec<_> = finish(&mut cip, &mut out)
        .iter()
        .map(|left| left.0)
        .collect();
    assert_eq!(times, [3 * SECOND, 3 * SECOND, 3 * SECOND, 4 * SECOND]);
    check_conservation(&cip.statistics());
}

#[test]
fn channels_are_apart_and_share_the_cpu() {
    let mut cip = Cip::new(CipConfig {
        channels: 2,
        cpu_ns_per_packet: SECOND,
        ..config()
    })
    .expect("a good configuration");
    let mut out = Output::new();
    cip.receive(0, 0, frame(10), &mut out);
    cip.receive(0, 2, frame(20), &mut out);
    let left = finish(&mut cip, &mut out);
    assert_eq!(left, [(2 * SECOND, 1, 24), (3 * SECOND, 3, 34)]);
    assert_eq!(cip.statistics().channel_busy_ns, 2 * SECOND);
    assert_eq!(cip.statistics().cpu_busy_ns, 2 * SECOND);
}

#[test]
fn bytes_cost_the_cpu_time_and_waiting_is_not_work() {
    let mut cip = Cip::new(CipConfig {
        cpu_ps_per_byte: 2_000,
        cpu_wait_ns: SECOND,
        ..config()
    })
    .expect("a good configuration");
    let mut out = Output::new();
    cip.receive(0, HOST_PORT, frame(1000), &mut out);
    let work = MILLISECOND + 2_000;
    assert_eq!(finish(&mut cip, &mut out), [(2 * SECOND + work, 1, 1014)]);
    assert_eq!(cip.statistics().cpu_busy_ns, work);
}

/// SABME, or an information frame of 100 bytes, from a station of that number.
fn sna(kind: phb_hosts::sna::Kind, station: u8) -> Frame {
    let mut bytes = vec![
        0x40, 0, 0, 0, 0, 1, 0x40, 0, 0x30, 0, 0, station, 0, 3, 4, 4,
    ];
    if kind == phb_hosts::sna::Kind::Connect {
        bytes.push(0x7f);
    } else {
        bytes.resize(127, 0);
    }
    Frame::new(bytes)
}

#[test]
fn llc2_connections_are_limited_and_frames_outside_of_them_are_dropped() {
    use phb_hosts::sna::Kind;
    let mut cip = Cip::new(CipConfig {
        max_llc2_sessions: Some(1),
        ..config()
    })
    .expect("a good configuration");
    let mut out = Output::new();
    for (kind, station) in [
        (Kind::Connect, 1),
        (Kind::Connect, 2),
        (Kind::Connect, 1), // repeated: still open
        (Kind::Information, 1),
        (Kind::Information, 2),
    ] {
        cip.receive(0, NETWORK_PORT, sna(kind, station), &mut out);
    }
    let left = finish(&mut cip, &mut out);
    let ports: Vec<_> = left.iter().map(|left| left.1).collect();
    assert_eq!(ports, [1, 1, 1, 0]);
    let statistics = cip.statistics();
    check_conservation(&statistics);
    assert_eq!((statistics.llc2_sessions, statistics.llc2_refused), (1, 1));
    assert_eq!(statistics.inbound.dropped_no_session, 1);
}

#[test]
fn a_tn3270_servers_segments_pass_the_cpu_alone_and_first_and_its_requests_cost_a_transaction() {
    let mut cip = Cip::new(CipConfig {
        cpu_ns_per_transaction: Some(10 * MILLISECOND),
        ..config()
    })
    .expect("a good configuration");
    let mut out = Output::new();
    cip.receive(0, SERVER_SNA_PORT, frame(100), &mut out); // to VTAM: in the CPU
    cip.receive(0, SERVER_SNA_PORT, frame(101), &mut out); // waits for it
    cip.receive(0, NETWORK_PORT, frame(102), &mut out); // goes before it
    cip.receive(0, SERVER_TCP_PORT, frame(103), &mut out);
    cip.receive(0, HOST_PORT, frame(104), &mut out); // from VTAM: on the channel
    let left = finish(&mut cip, &mut out);
    assert_eq!(
        left,
        [
            (12 * MILLISECOND, SERVER_TCP_PORT, 116),
            (13 * MILLISECOND, NETWORK_PORT, 117),
            (SECOND + MILLISECOND, SERVER_SNA_PORT, 118),
            (2 * SECOND, HOST_PORT, 114),
            (2 * SECOND, HOST_PORT, 115),
        ]
    );
    assert_eq!(cip.statistics().channel_blocks, 2);
    assert_eq!(cip.statistics().cpu_busy_ns, 25 * MILLISECOND);
    check_conservation(&cip.statistics());
}

#[test]
fn what_the_adapter_has_no_buffer_for_costs_its_cpu_nothing() {
    let mut cip = Cip::new(CipConfig {
        read_queue_packets: Some(1),
        ..config()
    })
    .expect("a good configuration");
    let mut out = Output::new();
    // The first has left the CPU and is on the channel when the next one keeps the only place.
    cip.receive(0, NETWORK_PORT, frame(40), &mut out);
    cip.receive(0, NETWORK_PORT, frame(40), &mut out);
    cip.tick(MILLISECOND, &mut out);
    cip.receive(MILLISECOND, NETWORK_PORT, frame(40), &mut out);
    cip.receive(MILLISECOND, NETWORK_PORT, frame(40), &mut out);
    finish(&mut cip, &mut out);
    assert_eq!(cip.statistics().cpu_busy_ns, 2 * MILLISECOND);
    assert_eq!(cip.statistics().inbound.dropped_queue_full, 2);
    check_conservation(&cip.statistics());
}

#[test]
fn a_cip_has_one_or_two_channels() {
    for channels in [0, 3] {
        let error = Cip::new(CipConfig {
            channels,
            ..config()
        })
        .err()
        .expect("not so many");
        assert_eq!(error.parameter, "channels");
    }
}

#[test]
fn packed_frames_share_a_block_as_far_as_they_fit_into_it() {
    let mut cip = Cip::new(CipConfig {
        max_llc2_sessions: Some(1),
        cpu_ns_per_packet: 0,
        ..config()
    })
    .expect("a good configuration");
    let mut out = Output::new();
    // The first is on its way before the others come: 4,000 + 96 fill a block, and 97 come too late for it.
    for length in [10, 4000, 96, 97] {
        cip.receive(0, HOST_PORT, frame(length), &mut out);
    }
    let left: Vec<_> = finish(&mut cip, &mut out)
        .iter()
        .map(|left| (left.0 / SECOND, left.2 - ETHERNET_HEADER))
        .collect();
    assert_eq!(left, [(1, 10), (2, 4000), (2, 96), (3, 97)]);
    assert_eq!(cip.statistics().channel_blocks, 3);
    let second = Busy {
        cpu: 0,
        channel: SECOND,
    };
    assert_eq!(cip.by_second()[..3], [second; 3]);
    check_conservation(&cip.statistics());
}
