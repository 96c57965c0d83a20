"""Packets in words are the packets that scapy reads, and what is wrong in them is named."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether

from phb import InputError
from phb.explain.notation import WORDS, parse_packet
from phb.explain.packet import TracedPacket
from phb.origin import Origin

HERE = Origin("--packet")


def parse(text):
    return parse_packet(text, HERE)


def test_the_examples_packet():
    arrival = parse("tcp 10.0.0.1:700 > 133.10.50.2:1282 dscp af31 length 1444 in uplink")
    frame = Ether(arrival.frame)
    assert (arrival.port, arrival.length, frame[IP].len) == ("uplink", 1458, 1444)
    assert (frame[IP].src, frame[TCP].sport, frame[IP].dst, frame[TCP].dport) == ("10.0.0.1", 700, "133.10.50.2", 1282)
    assert frame[IP].tos >> 2 == 26


@pytest.mark.parametrize(
    ("text", "layer", "field", "value"),
    [
        ("udp 10.0.0.1:5 > 10.0.0.2:6 precedence 6", IP, "tos", 192),
        ("udp 10.0.0.1:5 > 10.0.0.2:6 tos 0xb8 ecn ce", IP, "tos", 0xBB),
        ("udp 10.0.0.1:5 > 10.0.0.2:6 dscp 46 ecn ect0", IP, "tos", 0xBA),
        ("udp 10.0.0.1 > 10.0.0.2 ttl 1", IP, "ttl", 1),
        ("udp 10.0.0.1 > 10.0.0.2 id 0x5dac", IP, "id", 0x5DAC),
        ("udp 10.0.0.1:5 > 10.0.0.2:6", UDP, "len", 80),
        ("tcp 10.0.0.1:5 > 10.0.0.2:6 flags SA", TCP, "flags", "SA"),
        ("tcp 10.0.0.1:5 > 10.0.0.2:6 flags none", TCP, "flags", 0),
        ("tcp 10.0.0.1:5 > 10.0.0.2:6 window 17", TCP, "window", 17),
        ("udp 10.0.0.1:5 > 10.0.0.2:6 pcp 5 vlan 7", Dot1Q, "prio", 5),
        ("udp 10.0.0.1:5 > 10.0.0.2:6 vlan 7", Dot1Q, "vlan", 7),
        ("icmp 10.0.0.1 > 10.0.0.2", ICMP, "type", 8),
        ("icmp 10.0.0.1 > 10.0.0.2 type 11", ICMP, "type", 11),
        ("icmp 10.0.0.1 > 10.0.0.2 type 3/4", ICMP, "code", 4),
        ("89 10.0.0.1 > 10.0.0.2", IP, "proto", 89),
        ("tcp [2001:db8::1]:80 > [2001:db8::2]:81 dscp ef", IPv6, "tc", 184),
        ("tcp [2001:db8::1]:80 > [2001:db8::2]:81", TCP, "dport", 81),
        ("icmpv6 2001:db8::1 > 2001:db8::2 length 60", IPv6, "plen", 20),
    ],
)
def test_words(text, layer, field, value):
    assert getattr(Ether(parse(text).frame)[layer], field) == value


@given(st.binary(min_size=14, max_size=80))
def test_hex_is_the_frame(frame):
    for text in (frame.hex(), frame.hex(" "), frame.hex(":"), "0x" + frame.hex()):
        assert parse(text).frame == frame
    said = parse(f"{frame.hex()} in lan at 2")
    assert (said.frame, said.port, said.time_ns) == (frame, "lan", 2_000_000_000)


@given(st.integers(28, 1500), st.integers(0, 255), st.integers(0, 65535))
def test_checksums_are_right(length, tos, port):
    arrival = parse(f"udp 10.0.0.1:{port} > 10.0.0.2:7 tos {tos} length {length}")
    assert not TracedPacket.arrived(0, 1, arrival.frame).checksum_error
    assert arrival.length == length + 14


@pytest.mark.parametrize(
    ("text", "found", "expected"),
    [
        ("", "''", "a packet such as"),
        ("tcp 10.0.0.1 10.0.0.2", "'tcp 10.0.0.1 10.0.0.2'", "a packet such as"),
        ("tpc 10.0.0.1 > 10.0.0.2", "'tpc'", "tcp, udp"),
        ("256 10.0.0.1 > 10.0.0.2", "'256'", "tcp, udp"),
        ("tcp 10.0.0.256:1 > 10.0.0.2", "'10.0.0.256:1'", "an address"),
        ("tcp 10.0.0.1:65536 > 10.0.0.2", "'10.0.0.1:65536'", "an address"),
        ("tcp host > 10.0.0.2", "'host'", "an address"),
        ("tcp 10.0.0.1 > 2001:db8::1", "'10.0.0.1 > 2001:db8::1'", "one IP version"),
        ("icmp 10.0.0.1:7 > 10.0.0.2", "a port number with protocol 'icmp'", "tcp or udp"),
        ("tcp 10.0.0.1 > 10.0.0.2 colour red", "'colour'", f"one of {', '.join(WORDS)}"),
        ("00" * 14 + " ttl 3", "'" + "00" * 14 + " ttl 3'", "a packet such as"),
        ("00" * 14 + " in 3 ttl 3", "'ttl'", "one of in, at"),
        ("tcp 10.0.0.1 > 10.0.0.2 dscp", "'dscp' without a value", "a DSCP"),
        ("tcp 10.0.0.1 > 10.0.0.2 dscp af99", "'dscp af99'", "a DSCP"),
        ("tcp 10.0.0.1 > 10.0.0.2 ecn yes", "'ecn yes'", "not-ect"),
        ("tcp 10.0.0.1 > 10.0.0.2 flags XYZ", "'flags XYZ'", "letters"),
        ("tcp 10.0.0.1 > 10.0.0.2 at -1", "'at -1'", "seconds"),
        ("tcp 10.0.0.1 > 10.0.0.2 at nan", "'at nan'", "seconds"),
        ("tcp 10.0.0.1 > 10.0.0.2 dscp 5 tos 8", "both 'dscp' and 'tos'", "at most one"),
        ("tcp 10.0.0.1 > 10.0.0.2 length 39", "'length 39'", "from 40"),
    ],
)
def test_what_is_wrong_is_named(text, found, expected):
    with pytest.raises(InputError) as caught:
        parse(text)
    assert str(caught.value).startswith(f"--packet: found {found}, expected ")
    assert expected in caught.value.expected


@given(st.text(max_size=60))
def test_any_text_is_a_packet_or_an_error(text):
    with contextlib.suppress(InputError):
        parse(text)
