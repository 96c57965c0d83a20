"""The model's bytes of a frame's IP packet, which docs/inside/pipeline.md describes in words."""

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrHopByHop
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Raw

from phb_model.pipeline.packet import parse

LINK, TAGGED = Ether(), Ether() / Dot1Q(vlan=5)
DATAGRAM = UDP() / Raw(bytes(72))  # 80 bytes


@pytest.mark.parametrize(
    ("frame", "size"),
    [
        (LINK / IP() / DATAGRAM, 100),
        (LINK / IP(options=b"\x01" * 40) / DATAGRAM, 140),
        (LINK / IPv6() / DATAGRAM, 120),
        (LINK / IPv6() / IPv6ExtHdrHopByHop() / DATAGRAM, 128),
        (TAGGED / IP() / DATAGRAM, 100),
        (TAGGED / IPv6() / DATAGRAM, 120),
        (LINK / IP(len=28) / UDP() / Raw(bytes(18)), 28),
        (TAGGED / IP(len=28) / UDP() / Raw(bytes(14)), 28),
        (LINK / IPv6(plen=8) / DATAGRAM, 48),
        (LINK / IPv6(plen=0, nh=59) / Raw(bytes(6)), 40),
        (LINK / IPv6(plen=0, nh=17) / DATAGRAM, 40),
        # Longer than the frame says.
        (LINK / IP(len=101) / DATAGRAM, 100),
        (TAGGED / IP(len=65535) / DATAGRAM, 100),
        (LINK / IPv6(plen=65535) / DATAGRAM, 120),
        # No length of its own.
        (LINK / IP(len=20) / DATAGRAM, 20),
        (LINK / IP(len=19) / DATAGRAM, 100),
        (LINK / IP(len=0) / DATAGRAM, 100),
        (LINK / IPv6(plen=0) / IPv6ExtHdrHopByHop() / DATAGRAM, 128),
        (LINK / ARP(), 28),
        (TAGGED / ARP(), 28),
        (TAGGED / Dot1Q(vlan=6) / IP() / DATAGRAM, 104),
        (LINK, 0),
        (Raw(bytes(12)), -2),
    ],
    ids=lambda value: value.summary() if hasattr(value, "summary") else str(value),
)
def test_bytes(frame, size):
    assert parse(bytes(frame)).ip_bytes == size


@pytest.mark.parametrize("header", [IP(len=100), IPv6(plen=60)])
def test_a_header_that_is_cut_off_says_nothing(header):
    frame = bytes(LINK / header)[:-1]
    assert parse(frame).ip_bytes == len(frame) - 14
