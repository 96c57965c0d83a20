use phb_pipeline::trace::{Happening, Record};
use proptest::prelude::*;

use super::Filter;

const MAC: &str = "020000000002 020000000001";
/// IPv4: TOS 0xb8 (EF), 10.0.0.1 to 10.0.1.2.
const IP: &str = "0800 45b8001c 00000000 4011 0000 0a000001 0a000102";
const PORTS: &str = "0400 0050 00080000";

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(|digit| *digit != b' ').collect();
    let byte = |pair: &[u8]| {
        let pair = std::str::from_utf8(pair).expect("digits");
        u8::from_str_radix(pair, 16).expect("digits")
    };
    digits.chunks(2).map(byte).collect()
}

/// UDP from 10.0.0.1, port 1024, to 10.0.1.2, port 80, marked EF.
fn udp() -> Vec<u8> {
    bytes(&format!("{MAC} {IP} {PORTS}"))
}

fn tagged() -> Vec<u8> {
    bytes(&format!("{MAC} 88a8 0064 8100 6007 {IP} {PORTS}"))
}

/// TCP from 2001:db8::1 to 2001:db8:1::2, ports 443 and 50000, behind hop-by-hop options and an authentication header.
fn tcp6() -> Vec<u8> {
    bytes(&format!(
        "{MAC} 86dd 6b800000 00280040 20010db8000000000000000000000001 20010db8000100000000000000000002 \
         3300000000000000 0604000000000000 000000000000000000000000 00000000 01bbc350"
    ))
}

fn wants(filter: &str, port: u16, frame: &[u8]) -> bool {
    let read = Filter::parse(filter);
    read.unwrap_or_else(|error| panic!("{filter}: {error}"))
        .wants(port, frame)
}

#[test]
fn conditions_on_frames_hold_or_not() {
    let fragment = bytes(&format!(
        "{MAC} 0800 45000020 00000001 4011 0000 0a000001 0a000102 {PORTS}"
    ));
    let fragment6 = bytes(&format!(
        "{MAC} 86dd 60000000 00102c40 20010db8000000000000000000000001 20010db8000100000000000000000002 \
         1100000900000000 {PORTS}"
    ));
    let arp = bytes(&format!(
        "{MAC} 0806 0001 0800 0604 0001 020000000001 0a000001 000000000000 0a000002"
    ));
    let icmp = bytes(&format!(
        "{MAC} 0800 4500001c 00000000 4001 0000 0a000001 0a000102"
    ));
    let icmp6 = bytes(&format!(
        "{MAC} 86dd 60000000 00003a40 20010db8000000000000000000000001 20010db8000100000000000000000002"
    ));
    let (udp, tagged, tcp6) = (udp(), tagged(), tcp6());
    let cases: &[(&str, &[u8], bool)] = &[
        ("", &[], true),
        ("  ", &udp, true),
        ("ingress-port 3", &udp, true),
        ("ingress-port 0x3", &[], true),
        ("ingress-port 4", &udp, false),
        ("host 10.0.0.1", &udp, true),
        ("host 10.0.1.2", &udp, true),
        ("host 10.0.0.2", &udp, false),
        ("host 10.0.0.0/8", &udp, true),
        ("host 11.0.0.0/8", &udp, false),
        ("host 10.0.0.99/25", &udp, true),
        ("host 0.0.0.0/0", &udp, true),
        ("host 0.0.0.0/0", &tcp6, false),
        ("host ::/0", &udp, false),
        ("host ::/0", &tcp6, true),
        ("host 2001:db8:1::/48", &tcp6, true),
        ("src 2001:db8::1", &tcp6, true),
        ("dst 2001:db8::1", &tcp6, false),
        ("dst host 2001:db8:1::2", &tcp6, true),
        ("src 10.0.0.1", &udp, true),
        ("dst 10.0.0.1", &udp, false),
        ("src host 10.0.0.1", &arp, true),
        ("dst host 10.0.0.2", &arp, true),
        ("ether host 02:00:00:00:00:01", &udp, true),
        ("ether src 2:0:0:0:0:1", &udp, true),
        ("ether dst 02-00-00-00-00-01", &udp, false),
        ("ether host 02:00:00:00:00:01", &[0; 8], false),
        ("proto udp", &udp, true),
        ("udp", &tagged, true),
        ("tcp", &udp, false),
        ("proto 17", &udp, true),
        ("proto tcp", &tcp6, true),
        ("proto udp", &fragment6, true),
        ("icmp", &icmp, true),
        ("proto icmp", &icmp6, true),
        ("proto 58", &icmp6, true),
        ("icmp", &udp, false),
        ("ip", &udp, true),
        ("ip", &tcp6, false),
        ("ip6", &tcp6, true),
        ("arp", &arp, true),
        ("arp", &udp, false),
        ("port 80", &udp, true),
        ("port 1024", &udp, true),
        ("src port 80", &udp, false),
        ("dst port 80", &udp, true),
        ("src port 1000-2000", &udp, true),
        ("port 81-1023", &udp, false),
        ("dst port 50000", &tcp6, true),
        ("port 80", &fragment, false),
        ("udp and host 10.0.0.1", &fragment, true),
        ("port 80", &fragment6, false),
        ("port 80", &udp[..36], false),
        ("tos 0xb8", &udp, true),
        ("tos 184", &tcp6, true),
        ("tos 46", &udp, false),
        ("dscp EF", &udp, true),
        ("dscp 46", &tcp6, true),
        ("dscp af11", &udp, false),
        ("vlan 100", &tagged, true),
        ("vlan 7", &tagged, false),
        ("vlan 0", &udp, false),
        ("not vlan 100", &udp, true),
        ("tcp or udp and port 81", &udp, false),
        ("(tcp or udp) and port 80", &udp, true),
        ("udp && !(port 81 || arp)", &udp, true),
        ("! ! udp", &udp, true),
        ("not udp or udp", &udp, true),
        ("dropped", &udp, true),
        ("udp and dropped", &udp, true),
        ("tcp and dropped", &udp, false),
    ];
    for (filter, frame, expected) in cases {
        assert_eq!(wants(filter, 3, frame), *expected, "{filter}");
    }
}

#[test]
fn code_points_have_names() {
    let names = [
        ("be", 0),
        ("df", 0),
        ("LE", 1),
        ("cs0", 0),
        ("cs7", 56),
        ("af11", 10),
        ("af23", 22),
        ("AF43", 38),
        ("va", 44),
        ("voice-admit", 44),
        ("ef", 46),
        ("63", 63),
    ];
    for (name, number) in names {
        let mut frame = udp();
        frame[15] = number << 2 | 3;
        assert!(wants(&format!("dscp {name}"), 0, &frame), "{name}");
        frame[15] ^= 4;
        assert!(!wants(&format!("dscp {name}"), 0, &frame), "{name}");
    }
}

#[test]
fn a_frame_of_any_length_is_looked_at() {
    let mut filter = Filter::parse("port 80 or vlan 1 or host ::1 or dscp 1").expect("a filter");
    for frame in [udp(), tagged(), tcp6()] {
        for length in 0..frame.len() {
            filter.wants(0, &frame[..length]);
        }
    }
}

#[test]
fn one_of_so_many_is_wanted() {
    let mut filter = Filter::parse("every 3 and udp").expect("a filter");
    let (udp, tcp) = (udp(), tcp6());
    let wanted: Vec<bool> = (0..12)
        .map(|number| filter.wants(0, if number % 2 == 0 { &udp } else { &tcp }))
        .collect();
    let numbers = wanted.iter().enumerate().filter(|(_, wanted)| **wanted);
    assert_eq!(
        numbers.map(|(number, _)| number).collect::<Vec<_>>(),
        [4, 10]
    );
}

#[test]
fn conditions_on_the_end_hold_or_not() {
    let waited = |waited_ns| Happening::Dequeued {
        port: 2,
        waited_ns,
        served: 0,
        served_bytes: 0,
        behind: Vec::new(),
        depth: 0,
    };
    let left = Happening::Departed {
        port: 2,
        to_controller: false,
        length: 60,
        bytes: Vec::new(),
    };
    let dropped = |reason, port| Happening::Dropped { reason, port };
    let left = &[left][..];
    let cases: &[(&str, &[Happening], bool)] = &[
        ("", &[], true),
        ("udp", &[], true),
        ("dropped", left, false),
        ("not dropped", left, true),
        ("dropped", &[dropped("ingress", Some(2))], true),
        ("waited 5ms", &[waited(4_999_999)], false),
        ("waited 5ms", &[waited(5_000_000)], true),
        (
            "waited 0.005s",
            &[waited(4_000_000), waited(1_000_000)],
            true,
        ),
        ("waited 1500ns", &[waited(1_499)], false),
        ("waited 1.5us", &[waited(1_500)], true),
        ("waited 0s", &[], true),
        ("egress-port 2", left, true),
        ("egress-port 3", left, false),
        ("egress-port 2", &[dropped("buffer", Some(2))], true),
        ("egress-port 2", &[dropped("ingress", Some(2))], false),
        (
            "udp and (dropped or waited 1ms) and every 2",
            &[waited(1_000_000)],
            true,
        ),
        ("not (dropped or waited 1ms)", &[waited(1_000_000)], false),
    ];
    for (filter, happened, expected) in cases {
        let mut record = Record::new(1, 0);
        for happening in *happened {
            record.note(0, happening.clone());
        }
        let read = Filter::parse(filter).unwrap_or_else(|error| panic!("{filter}: {error}"));
        assert_eq!(read.accepts(&record), *expected, "{filter}: {happened:?}");
    }
}

#[test]
fn errors_say_what_was_found_where_and_what_was_expected() {
    let condition = "a condition (ingress-port, host, src, dst, ether, proto, tcp, udp, icmp, ip, ip6, arp, port, tos, dscp, \
        vlan, every, dropped, waited, egress-port), 'not' or '('";
    let address = "an address of IPv4 or IPv6, as 10.0.0.0/8 or 2001:db8::1";
    let ports = "a port or a range of ports, as 80 or 1024-2047";
    let ether = "an address of Ethernet, as 02:00:00:00:00:01";
    let code_point = "a code point: be, le, cs0 to cs7, af11 to af43, ef, va, or 0 to 63";
    let duration = "a time with its unit, as 5ms, 1.5s, 20us or 100ns";
    let mixed = "found a condition on the frame beside one on what becomes of the packet; expected these two kinds joined \
        by 'and' alone, not within one 'or', 'not' or pair of parentheses";
    let every = "found 'every' within an 'or', 'not' or pair of parentheses; expected it joined to the rest by 'and'";
    let expected = |found: &str, expected: &str| format!("found {found}; expected {expected}");
    let cases: Vec<(&str, usize, String)> = vec![
        ("prot tcp", 1, expected("\"prot\"", condition)),
        ("tcp and", 8, expected("the end", condition)),
        ("tcp udp", 5, expected("\"udp\"", "'and', 'or', or the end")),
        ("(tcp", 5, expected("the end", "'and', 'or', or ')'")),
        ("tcp)", 4, expected("\")\"", "'and', 'or', or the end")),
        ("tcp & udp", 5, expected("\"&\"", "'and', 'or', or the end")),
        ("host", 5, expected("the end", address)),
        ("host example.com", 6, expected("\"example.com\"", address)),
        (
            "host 10.0.0.1/33",
            6,
            expected("\"10.0.0.1/33\"", "a prefix of 0 to 32 bits"),
        ),
        (
            "dst ::/129",
            5,
            expected("\"::/129\"", "a prefix of 0 to 128 bits"),
        ),
        (
            "src prt 80",
            5,
            expected("\"prt\"", "an address of IPv4 or IPv6, host or port"),
        ),
        ("port 65536", 6, expected("\"65536\"", ports)),
        ("port 20-10", 6, expected("\"20-10\"", ports)),
        ("src port http", 10, expected("\"http\"", ports)),
        (
            "ether 02:00:00:00:00:01",
            7,
            expected("\"02:00:00:00:00:01\"", "host, src or dst"),
        ),
        (
            "ether host 02:00:00:00:01",
            12,
            expected("\"02:00:00:00:01\"", ether),
        ),
        (
            "ether src 02:00:00:00:00:+1",
            11,
            expected("\"02:00:00:00:00:+1\"", ether),
        ),
        (
            "proto 256",
            7,
            expected("\"256\"", "tcp, udp, icmp or a number, 0 to 255"),
        ),
        (
            "tos 0x1b8",
            5,
            expected("\"0x1b8\"", "a byte, 0 to 255 or 0x00 to 0xff"),
        ),
        ("dscp af14", 6, expected("\"af14\"", code_point)),
        ("dscp 64", 6, expected("\"64\"", code_point)),
        ("vlan 4096", 6, expected("\"4096\"", "a VLAN, 0 to 4095")),
        (
            "ingress-port -1",
            14,
            expected("\"-1\"", "a port, 0 to 65535"),
        ),
        ("egress-port x", 13, expected("\"x\"", "a port, 0 to 65535")),
        ("every 0", 7, expected("\"0\"", "a number from 1")),
        (
            "every 2 and every 3",
            13,
            "found a second 'every'; expected one at most".to_owned(),
        ),
        ("waited 5", 8, expected("\"5\"", duration)),
        ("waited ms", 8, expected("\"ms\"", duration)),
        ("waited 1.2.3s", 8, expected("\"1.2.3s\"", duration)),
        (
            "waited 99999999999s",
            8,
            expected("\"99999999999s\"", duration),
        ),
        ("tcp or dropped", 1, mixed.to_owned()),
        ("not (dropped and port 80)", 18, mixed.to_owned()),
        ("tcp or every 3", 8, every.to_owned()),
        ("not every 3", 5, every.to_owned()),
        (
            "port 80\u{e9}",
            8,
            expected("'\u{e9}'", "letters, digits and signs of ASCII"),
        ),
    ];
    for (filter, character, message) in cases {
        let error = Filter::parse(filter).expect_err(filter);
        assert_eq!(
            error.to_string(),
            format!("character {character}: {message}"),
            "{filter}"
        );
    }
}

#[test]
fn a_filter_is_bounded() {
    let deep = |depth| format!("{}tcp{}", "(".repeat(depth), ")".repeat(depth));
    assert!(Filter::parse(&deep(64)).is_ok());
    let error = Filter::parse(&deep(65)).expect_err("too deep").to_string();
    assert!(error.contains("at most 64 parentheses"), "{error}");
    assert!(Filter::parse(&"not ".repeat(1000)).is_err());
    let long = "tcp or ".repeat(600);
    let error = Filter::parse(&long).expect_err("too long").to_string();
    assert!(
        error.contains("found 4200 bytes; expected at most 4096"),
        "{error}"
    );
}

/// Words that a filter is made of, and others.
fn word() -> impl Strategy<Value = String> {
    let known = "( ) ! && || and or not host src dst ether proto tcp icmp ip arp port tos dscp vlan every dropped waited \
        egress-port ingress-port 10.0.0.0/8 ::/0 02:00:00:00:00:01 80 1-2 0x1f ef 5ms 1.5s 0 /";
    prop_oneof![
        9 => prop::sample::select(known.split_whitespace().map(str::to_owned).collect::<Vec<_>>()),
        1 => ".{0,8}",
    ]
}

proptest! {
    /// Strangers send filters: each is read, and asked, or refused with a place in it.
    #[test]
    fn any_text_is_a_filter_or_an_error_with_a_place(words in prop::collection::vec(word(), 0..12)) {
        let text = words.join(" ");
        match Filter::parse(&text) {
            Ok(mut filter) => {
                filter.wants(1, &udp());
                let _ = filter.accepts(&Record::new(1, 0));
            }
            Err(error) => prop_assert!(error.at <= text.chars().count(), "{error}"),
        }
    }
}
