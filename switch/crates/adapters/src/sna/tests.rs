use phb_hosts::HOST_PORT;
use phb_hosts::sna::{Kind, answer, information, read};
use phb_network::{Frame, Node, Output, Time, Transmission};

use super::*;

const SECOND: Time = 1_000_000_000;

fn config() -> StationsConfig {
    StationsConfig {
        group: String::new(),
        pus: 2,
        lus_per_pu: 2,
        frames_per_s: 10,
        request_bytes: 100,
        waits: true,
        start_ns: 0,
    }
}

/// Lets stations and `peer` talk for a while over a wire without delay; gives the time of every frame of the stations.
fn talk(
    stations: &mut Stations,
    until: Time,
    mut peer: impl FnMut(Frame) -> Option<Frame>,
) -> Vec<(Time, Kind)> {
    let mut out = Output::new();
    let mut log = Vec::new();
    while let Some(now) = stations.next_tick().filter(|now| *now <= until) {
        out.begin(now);
        stations.tick(now, &mut out);
        let sent: Vec<Transmission> = out.drain().collect();
        for sent in sent {
            log.push((now, read(&sent.frame.bytes).expect("SNA").kind));
            if let Some(back) = peer(sent.frame) {
                stations.receive(now, HOST_PORT, back, &mut out);
            }
        }
    }
    log
}

fn accept_and(mut host: SnaHost) -> impl FnMut(Frame) -> Option<Frame> {
    move |mut frame| {
        if read(&frame.bytes)?.kind == Kind::Connect {
            answer(&mut frame.bytes, Kind::Accepted);
            return Some(frame);
        }
        let mut out = Output::new();
        host.receive(0, HOST_PORT, frame, &mut out);
        out.drain().next().map(|sent| sent.frame)
    }
}

#[test]
fn stations_connect_and_then_ask_in_turn_at_their_pace() {
    let mut stations = Stations::new(config()).expect("good");
    let log = talk(
        &mut stations,
        SECOND - 1,
        accept_and(SnaHost::new(SnaHostConfig {
            reply_bytes: Some(800),
        })),
    );
    let times: Vec<_> = log.iter().map(|(at, _)| *at).collect();
    assert_eq!(times, (0..10).map(|n| n * SECOND / 10).collect::<Vec<_>>());
    let connects = log.iter().filter(|(_, kind)| *kind == Kind::Connect);
    assert_eq!(connects.count(), 2);
    assert_eq!(stations.statistics().sessions, 2);
    assert_eq!(stations.statistics().unexpected, 0);
    assert_eq!(stations.transactions().len(), 8);
}

#[test]
fn who_is_called_late_keeps_the_pace() {
    let mut stations = Stations::new(config()).expect("good");
    let mut peer = accept_and(SnaHost::new(SnaHostConfig {
        reply_bytes: Some(800),
    }));
    let mut out = Output::new();
    let mut count = 0;
    // Each tick comes when the next one is nearly due.
    while let Some(due) = stations.next_tick().filter(|due| *due < SECOND) {
        let now = due + SECOND / 11;
        out.begin(now);
        stations.tick(now, &mut out);
        let sent: Vec<Transmission> = out.drain().collect();
        for sent in sent {
            count += 1;
            if let Some(back) = peer(sent.frame) {
                stations.receive(now, HOST_PORT, back, &mut out);
            }
        }
    }
    assert_eq!(count, 10);
}

#[test]
fn a_unit_waits_for_its_answer_unless_told_otherwise() {
    for (waits, requests) in [(true, 4), (false, 8)] {
        let mut stations = Stations::new(StationsConfig { waits, ..config() }).expect("good");
        let log = talk(
            &mut stations,
            SECOND - 1,
            accept_and(SnaHost::new(SnaHostConfig { reply_bytes: None })),
        );
        let asked = log.iter().filter(|(_, kind)| *kind == Kind::Information);
        assert_eq!(asked.count(), requests);
        assert_eq!(stations.transactions(), []);
    }
}

#[test]
fn a_refused_station_says_nothing_more() {
    let mut stations = Stations::new(config()).expect("good");
    let log = talk(&mut stations, SECOND, |mut frame| {
        answer(&mut frame.bytes, Kind::Refused);
        Some(frame)
    });
    assert_eq!(log.len(), 2);
    assert_eq!(stations.statistics().refused, 2);
}

#[test]
fn lengths_are_those_of_the_request_unit_and_its_headers() {
    let frame = information(Vec::new(), [2; 6], [4; 6], 1, 2, 100);
    assert_eq!(frame.len(), 14 + 4 + 6 + 3 + 100);
    assert_eq!(frame[12..14], [0, 113]);
    let header = read(&frame).expect("SNA");
    assert_eq!(
        (header.kind, header.destination),
        (Kind::Information, [2; 6])
    );
}

#[test]
fn what_is_no_sna_is_not_read() {
    for frame in [vec![], vec![0; 16], vec![0; 60], vec![0xff; 60]] {
        assert_eq!(read(&frame), None, "{frame:?}");
    }
}

#[test]
fn wrong_parameters_are_named() {
    for (wrong, message) in [
        (
            StationsConfig { pus: 0, ..config() },
            "pus: 0 is given, 1 to 65536 is expected",
        ),
        (
            StationsConfig {
                lus_per_pu: 256,
                ..config()
            },
            "lus_per_pu: 256 is given, 1 to 255 is expected",
        ),
        (
            StationsConfig {
                request_bytes: 0,
                ..config()
            },
            "request_bytes: 0 is given, at least 1 is expected",
        ),
    ] {
        assert_eq!(
            Stations::new(wrong).expect_err(message).to_string(),
            message
        );
    }
}
