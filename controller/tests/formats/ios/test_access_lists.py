"""Access lists: what each entry takes, by the conditions of a class that has the list."""

from ipaddress import IPv4Address, IPv6Address, IPv6Network

import pytest

from phb.formats.ios.boxes import IosBox
from phb.formats.ios.parse import parse
from phb.model import Dialect


def entries(text, name):
    return parse(text, "f", Dialect.IOS_12).access_lists[name].entries


def boxes(entry):
    """The boxes of one entry of an extended list."""
    (found,) = entries(f"ip access-list extended a\n {entry}\n", "a")
    return list(found.boxes)


def address(text):
    return int(IPv4Address(text))


EXTENDED = {
    "permit ip any any": {},
    "permit ip host 10.0.0.1 any": {"source": (address("10.0.0.1"),) * 2},
    "permit ip any 10.1.2.0 0.0.0.255": {"destination": (address("10.1.2.0"), address("10.1.2.255"))},
    "permit ip any 10.1.2.3 255.255.255.255": {},
    "permit ip any 10.1.2.3 0.0.0.0": {"destination": (address("10.1.2.3"),) * 2},
    "permit tcp any any eq www": {"protocol": 6, "destination_ports": (80, 80)},
    "permit tcp any eq 700 any": {"protocol": 6, "source_ports": (700, 700)},
    "permit udp any any range 16384 32767": {"protocol": 17, "destination_ports": (16384, 32767)},
    "permit udp any any range 9 5": {"protocol": 17, "destination_ports": (5, 9)},
    "permit tcp any any gt 1023": {"protocol": 6, "destination_ports": (1024, 65535)},
    "permit tcp any any lt telnet": {"protocol": 6, "destination_ports": (0, 22)},
    "permit ip any any dscp ef": {"tos": (46 << 2, 0xFC)},
    "permit ip any any dscp 10": {"tos": (10 << 2, 0xFC)},
    "permit ip any any precedence critical": {"tos": (0xA0, 0xE0)},
    "permit ip any any tos min-delay": {"tos": (0x10, 0x1E)},
    "permit ip any any precedence 5 tos 8": {"tos": (0xB0, 0xFE)},
    "permit ospf any any": {"protocol": 89},
    "permit 47 any any": {"protocol": 47},
    "permit icmp any any": {"protocol": 1},
    "permit icmp any any echo": {"protocol": 1, "icmp_type": (0x0800, 0xFF00)},
    "permit icmp any any echo-reply log": {"protocol": 1, "icmp_type": (0, 0xFF00)},
    "permit icmp any any unreach": {"protocol": 1, "icmp_type": (0x0300, 0xFF00)},
    "permit icmp any any packet-too-big": {"protocol": 1, "icmp_type": (0x0304, 0xFFFF)},
    "permit icmp any any 11": {"protocol": 1, "icmp_type": (0x0B00, 0xFF00)},
    "permit icmp any any 11 0 dscp ef": {"protocol": 1, "icmp_type": (0x0B00, 0xFFFF), "tos": (0xB8, 0xFC)},
    "permit icmp any any precedence 5": {"protocol": 1, "tos": (0xA0, 0xE0)},
    "permit igrp any any": {"protocol": 9},
    "permit tcp any any eq msrpc": {"protocol": 6, "destination_ports": (135, 135)},
    "permit ip any any log MONDAY": {},
    "permit tcp any any log syn": {"protocol": 6, "tcp_flags": (2, 2)},
    "permit tcp any any syn": {"protocol": 6, "tcp_flags": (2, 2)},
    "permit tcp any any match-all +ack -syn": {"protocol": 6, "tcp_flags": (0x10, 0x12)},
    "permit tcp any any match-any -fin": {"protocol": 6, "tcp_flags": (0, 1)},
}


@pytest.mark.parametrize("entry", EXTENDED)
def test_entry_of_one_box(entry):
    assert boxes(entry) == [IosBox(version=4, **EXTENDED[entry])]


def test_neq_is_what_lies_on_both_sides():
    assert [box.destination_ports for box in boxes("permit tcp any any neq 80")] == [(0, 79), (81, 65535)]
    assert [box.destination_ports for box in boxes("permit tcp any any neq 0")] == [(1, 65535)]


@pytest.mark.parametrize(
    ("words", "flags"),
    [
        ("established", [(0x10, 0x10), (4, 4)]),
        ("eq 80 established dscp af11 log", [(0x10, 0x10), (4, 4)]),
        ("ack psh urg", [(0x10, 0x10), (8, 8), (0x20, 0x20)]),
        ("match-any +rst -ack", [(4, 4), (0, 0x10)]),
    ],
)
def test_any_of_several_flags(words, flags):
    assert [box.tcp_flags for box in boxes(f"permit tcp any any {words}")] == flags


def test_several_ports():
    found = [box.destination_ports for box in boxes("permit tcp any any eq 80 443 telnet dscp af11")]
    assert found == [(80, 80), (443, 443), (23, 23)]


def test_scattered_wildcard_is_several_ranges():
    found = [box.source for box in boxes("permit ip 10.0.1.0 0.0.2.255 any")]
    assert found == [(address(f"10.0.{each}.0"), address(f"10.0.{each}.255")) for each in (1, 3)]


def test_wildcard_of_the_largest_number_of_ranges():
    found = [box.source for box in boxes("permit ip 10.0.0.7 0.0.255.0 any")]
    assert found == [(address(f"10.0.{each}.7"),) * 2 for each in range(256)]


def test_numbered_and_named_standard_lists():
    text = "access-list 1 permit 10.0.0.1\naccess-list 1 deny any log\n"
    text += "ip access-list standard s\n permit 10.0.0.0 0.0.0.3\n"
    first, second = entries(text, "1")
    assert (first.permit, first.boxes) == (True, (IosBox(version=4, source=(address("10.0.0.1"),) * 2),))
    assert (second.permit, second.boxes) == (False, (IosBox(version=4),))
    assert entries(text, "s")[0].boxes[0].source == (address("10.0.0.0"), address("10.0.0.3"))


def test_remarks_are_no_entries():
    assert entries("ip access-list extended a\n remark permit ip any any\n", "a") == []


def test_entries_are_asked_by_sequence_number():
    text = "ip access-list extended a\n 20 permit tcp any any\n 10 deny udp any any\n permit icmp any any\n"
    assert [(entry.sequence, entry.origin.line) for entry in entries(text, "a")] == [(10, 3), (20, 2), (30, 4)]


def test_list_in_several_places_is_one():
    text = "access-list 101 permit tcp any any\nhostname a\nip access-list extended 101\n permit udp any any\n"
    assert [entry.origin.line for entry in entries(text, "101")] == [1, 4]


def test_log_is_listed():
    notices = parse("access-list 101 permit ip any any log\n", "f", Dialect.IOS_12).notices
    assert [str(notice) for notice in notices] == ["f:1: 'log' has no effect: counters tell how often a rule is met"]


def network(text):
    return int(IPv6Network(text).network_address), int(IPv6Network(text).broadcast_address)


IPV6 = {
    "permit ipv6 any any": {},
    "permit ipv6 any ::/0": {},
    "permit ipv6 host 2001:db8::1 any": {"source": (int(IPv6Address("2001:db8::1")),) * 2},
    "permit tcp 2001:db8::/32 any eq 443 dscp ef": {
        "protocol": 6,
        "source": network("2001:db8::/32"),
        "destination_ports": (443, 443),
        "tos": (46 << 2, 0xFC),
    },
    "permit icmp any any": {"protocol": 58},
    "permit icmp any any nd-ns": {"protocol": 58, "icmp_type": (0x8700, 0xFF00)},
    "permit icmp any any 1 4 sequence 30": {"protocol": 58, "icmp_type": (0x0104, 0xFFFF)},
    "permit 89 any any sequence 7": {"protocol": 89},
    "sequence 5 permit udp any lt 10 any": {"protocol": 17, "source_ports": (0, 9)},
    "permit tcp any any match-all +syn -ack log": {"protocol": 6, "tcp_flags": (2, 0x12)},
}


@pytest.mark.parametrize("entry", IPV6)
def test_ipv6_entry(entry):
    (found,) = entries(f"ipv6 access-list a\n {entry}\n", "a")
    assert list(found.boxes) == [IosBox(version=6, **IPV6[entry])]


def test_ipv6_entries_stand_by_their_numbers():
    found = entries(
        "ipv6 access-list a\n permit udp any any\n permit tcp any any sequence 5\n sequence 7 deny 9 any any\n", "a"
    )
    assert [(entry.sequence, entry.boxes[0].protocol) for entry in found] == [(5, 6), (7, 9), (10, 17)]


EMPTY = {
    "ip access-list extended a\n remark none yet\ninterface Fa0/0\n ip access-group a in\n": "f:4",
    "ipv6 access-list a\ninterface Fa0/0\n ipv6 traffic-filter a out\n": "f:3",
}


@pytest.mark.parametrize("text", EMPTY)
def test_list_without_entries_filters_nothing(ios, text):
    policy = ios(text)
    assert policy.rules == ()
    assert [(str(notice.origin), notice.message) for notice in policy.notices if not notice.aside] == [
        (EMPTY[text], "access list 'a' filters nothing: it has no entries")
    ]


# Entries as NX-OS and EOS print them, in lists without a kind, and the same as IOS does.
OTHERS = {
    "permit ip 10.0.0.0/8 192.0.2.1/32": "permit ip 10.0.0.0 0.255.255.255 host 192.0.2.1",
    "permit ip 10.1.2.3/8 0.0.0.0/0": "permit ip 10.0.0.0 0.255.255.255 any",
    "10 permit tcp 192.0.2.1 any eq ssh": "10 permit tcp host 192.0.2.1 any eq 22",
    "permit tcp 10.0.0.0 0.0.0.255 eq https any": "permit tcp 10.0.0.0 0.0.0.255 eq 443 any",
}


@pytest.mark.parametrize("entry", OTHERS)
def test_entry_of_another_system(ios, entry):
    filtered = "interface FastEthernet0/0\n ip access-group a in\n"
    found = ios(f"ip access-list a\n statistics per-entry\n {entry}\n{filtered}")
    assert found == ios(f"ip access-list extended a\n {OTHERS[entry]}\n{filtered}")


@pytest.mark.parametrize("virtual", ["", "virtual "])
def test_an_address_with_a_length(ios, virtual):
    found = ios(f"interface Ethernet1/1\n ip address {virtual}192.0.2.1/31\nip route 10.0.0.0/8 Null0\n")
    assert found == ios(
        "interface Ethernet1/1\n ip address 192.0.2.1 255.255.255.254\nip route 10.0.0.0 255.0.0.0 Null0\n"
    )


def test_rules_of_lists_with_long_names(ios):
    lists = (
        f"ip access-list extended {'a' * 64}\n permit tcp any any\nipv6 access-list {'b' * 64}\n permit tcp any any\n"
    )
    policy = ios(
        f"{lists}interface GigabitEthernet0/0/0\n ip access-group {'a' * 64} in\n ipv6 traffic-filter {'b' * 64} in\n"
    )
    assert [rule.name for rule in policy.rules] == [
        "access-list in@GigabitEthernet0/0/0",
        "ipv6 access-list in@GigabitEthernet0/0/0",
    ]
