use std::os::unix::ffi::OsStringExt;

use super::*;
use crate::arguments;
use crate::cli;

fn given(line: &str) -> LineOptions {
    let words = line.split(' ').filter(|word| !word.is_empty());
    let given = arguments::read(words.map(OsString::from), &cli::spellings());
    let line = given.and_then(|given| cli::read(&given));
    line.expect("the options are known").lines
}

fn config(ports: &[u16], line: &str) -> Result<BTreeMap<u16, PortConfig>, Ended> {
    configured(ports.iter().copied(), &PortConfig::default(), &given(line))
}

fn message<T: std::fmt::Debug>(result: Result<T, Ended>) -> String {
    result.expect_err("it is wrong").to_string()
}

#[test]
fn rates() {
    let cases = [
        ("256000", 256_000, 0),
        ("256k", 256_000, 0),
        ("256kbit/s", 256_000, 0),
        ("256kbit", 256_000, 0),
        ("9600bps", 9600, 0),
        ("1.5M:-7", 1_500_000, -7),
        ("1.544Mbit/s:+4", 1_544_000, 4),
        ("10Gbit/s:20", 10_000_000_000, 20),
        ("1", 1, 0),
    ];
    for (text, rate, overhead_bytes) in cases {
        let expected = PortConfig {
            rate_bps: Some(rate),
            overhead_bytes,
            ..PortConfig::default()
        };
        let found = config(&[2], &format!("--port-rate 2={text}"));
        assert_eq!(found, Ok(BTreeMap::from([(2, expected)])), "{text}");
    }
}

#[test]
fn no_rates() {
    let long = format!("1{}", "0".repeat(30));
    let longer = "1".repeat(60);
    for text in [
        "",
        "0",
        "-1",
        "fast",
        "1e3",
        "1.5",
        "0.0001k",
        "256K",
        "256 k",
        "1k:",
        "1k:x",
        "1.k",
        ".5k",
        "1k:+-1",
        "1k:1234567890",
        &long,
        &longer,
        "\u{663}",
    ] {
        let found = message(rate::read(text, "--port-rate '2=...'"));
        assert!(found.starts_with("--port-rate '2=...': expected"), "{text}");
    }
}

#[test]
fn each_option_goes_to_its_port() {
    let common = PortConfig {
        queues: 8,
        ..PortConfig::default()
    };
    let line = "--port-rate 1=1k --transmit-ring 2=6 --buffer-packets 2=40 --buffer-packets 3=1 \
                --queue-depth 1=10 --queue-rate 3=1000";
    let found = configured([1, 2, 3], &common, &given(line));
    let first = PortConfig {
        rate_bps: Some(1000),
        queue_depth: Some(10),
        ..common.clone()
    };
    let second = PortConfig {
        transmit_ring: 6,
        buffer_packets: 40,
        ..common.clone()
    };
    let third = PortConfig {
        buffer_packets: 1,
        queue_rate_pps: Some(1000),
        ..common
    };
    assert_eq!(
        found,
        Ok(BTreeMap::from([(1, first), (2, second), (3, third)]))
    );
}

#[test]
fn refused() {
    let cases = [
        (
            "--port-rate 1k",
            "--port-rate '1k': expected PORT=..., for example 2=256kbit/s:-7",
        ),
        (
            "--port-rate 3=1k",
            "--port-rate '3=1k': port 3 has no interface",
        ),
        (
            "--port-rate 512=1k",
            "--port-rate '512=1k': expected a port from 0 to 511, got '512'",
        ),
        (
            "--port-rate x=1k",
            "--port-rate 'x=1k': expected a port from 0 to 511, got 'x'",
        ),
        (
            "--port-rate +2=1k",
            "--port-rate '+2=1k': expected a port from 0 to 511, got '+2'",
        ),
        (
            "--port-rate 2=1k --port-rate 2=2k",
            "--port-rate '2=2k': given twice for port 2",
        ),
        (
            "--transmit-ring 2=-1",
            "--transmit-ring '2=-1': expected a number of frames from 0, got '-1'",
        ),
        (
            "--transmit-ring 2=99999999999",
            "--transmit-ring '2=99999999999': expected a number of frames from 0, got '99999999999'",
        ),
        (
            "--buffer-packets 2=0",
            "--buffer-packets '2=0': expected a number of packets from 1, got '0'",
        ),
        (
            "--queue-depth 2=0",
            "--queue-depth '2=0': expected a number of packets from 1, got '0'",
        ),
        (
            "--queue-rate 2=x",
            "--queue-rate '2=x': expected a number of packets per second from 1, got 'x'",
        ),
    ];
    for (line, expected) in cases {
        assert_eq!(message(config(&[2], line)), expected, "{line}");
    }
}

#[test]
fn interfaces() {
    let found = attached(&["511@eth@1", "0@veth0"].map(OsString::from));
    let expected = vec![(511, "eth@1".to_owned()), (0, "veth0".to_owned())];
    assert_eq!(found, Ok(expected));
}

#[test]
fn interfaces_that_exclude_each_other() {
    let cases = [
        ("0@b", "--interface '0@b': port 0 is a already"),
        ("1@a", "--interface '1@a': a is attached already"),
        (
            "veth0",
            "--interface 'veth0': expected PORT@INTERFACE, for example 0@veth0",
        ),
        (
            "1@",
            "--interface '1@': expected PORT@INTERFACE, for example 0@veth0",
        ),
        (
            "512@b",
            "--interface '512@b': expected a port from 0 to 511, got '512'",
        ),
    ];
    for (second, expected) in cases {
        let found = attached(&["0@a", second].map(OsString::from));
        assert_eq!(message(found), expected);
    }
}

#[test]
fn names_that_can_not_be_printed() {
    for name in [&b"0@\xff"[..], b"0@a\nb", b"0@\x1b[2J"] {
        let found = message(attached(&[OsString::from_vec(name.to_vec())]));
        assert!(found.starts_with("--interface '0@"), "{found}");
        assert!(
            found.ends_with(": expected a name that can be printed"),
            "{found}"
        );
    }
}
