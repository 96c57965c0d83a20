"""What a meter counts of a packet, in the words of `explain`, and of frames that are cut or padded."""

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6, IPv6ExtHdrHopByHop
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.packet import Raw

from phb.explain import explain, parse_packet
from phb.explain.packet import TracedPacket
from phb.formats import yaml_format
from phb.origin import Origin

from .conftest import AT

LINK, TAGGED = Ether(), Ether() / Dot1Q(vlan=5)
DATAGRAM = UDP() / Raw(bytes(72))  # 80 bytes

POLICY = """
phb: 1
ports: [{{number: 1, name: line}}, {{number: 2, name: lan}}]
cross-connects: [{{between: [line, lan]}}]
actions:
  - name: profile
    meter: {{kind: single-rate, committed-rate: {{value: 8, unit: kbit/s, basis: {basis}}}, committed-burst-bytes: 999}}
rules: [{{name: all, match: {{ingress-port: lan}}, actions: [profile]}}]
"""


@pytest.mark.parametrize(
    ("basis", "tag", "counted"),
    [
        ("ip", "", 30),
        ("ip", "pcp 3", 30),
        ("ppp", "", 34),
        ("ppp", "pcp 3", 34),
        ("ethernet", "", 44),
        ("ethernet", "pcp 3", 48),
    ],
)
def test_words(artifact, basis, tag, counted):
    policy = yaml_format.read(POLICY.format(basis=basis), "policy.yaml")
    packet = parse_packet(f"udp 10.0.0.1:1 > 10.0.0.2:2 length 30 {tag} in lan", Origin("test"))
    (told,) = explain(policy, artifact, [packet], at=AT.astimezone())
    (said,) = (step.words for step in told.steps if step.stage == "police")
    assert said == f"green: {counted} bytes, committed bucket 999.0 bytes, excess bucket 0.0 bytes"


@pytest.mark.parametrize(
    ("frame", "size"),
    [
        (LINK / IP() / DATAGRAM, 100),
        (TAGGED / IP() / DATAGRAM, 100),
        (LINK / IPv6() / DATAGRAM, 120),
        (TAGGED / IPv6() / DATAGRAM, 120),
        (LINK / IP(len=28) / UDP() / Raw(bytes(18)), 28),
        (LINK / IPv6(plen=0, nh=59) / Raw(bytes(6)), 40),
        # A header that can't be taken at its word, and none.
        (LINK / IP(len=65535) / DATAGRAM, 100),
        (LINK / IPv6(plen=65535) / DATAGRAM, 120),
        (TAGGED / IP(len=19) / DATAGRAM, 100),
        (LINK / IPv6(plen=0) / IPv6ExtHdrHopByHop() / DATAGRAM, 128),
        (TAGGED / ARP(), 28),
    ],
    ids=lambda value: value.summary() if hasattr(value, "summary") else str(value),
)
def test_bytes_of_the_datagram(frame, size):
    assert TracedPacket.arrived(0, 1, bytes(frame)).datagram_length == size


def test_a_capture_that_has_only_the_headers_counts_the_whole_datagram():
    frame = bytes(LINK / IP() / DATAGRAM)
    assert TracedPacket.arrived(0, 1, frame[:42], len(frame)).datagram_length == 100
