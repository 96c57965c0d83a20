"""How much of a capture lies in boxes: as each packet by itself says."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether
from scapy.utils import wrpcap

from phb.comparing.traffic import Traffic
from phb.explain import read_capture
from phb.formats import yaml_format
from phb.packets.boxes import ValueBox
from phb.packets.epochs import Epochs
from phb.packets.frames import packet_of_frame
from phb.packets.many import Boxes
from phb.packets.space import is_in

AT = Epochs.at(datetime(2026, 11, 24, 12, tzinfo=UTC))
POLICY = yaml_format.read("phb: 1\nports: [{name: lan, number: 2}]\n", "f")
FRAMES = [
    Ether() / IP(src="10.0.0.1", dst="10.0.0.2") / UDP(sport=1, dport=53),
    Ether() / IP(src="10.0.0.1", dst="10.0.0.2") / UDP(sport=1, dport=53) / bytes(100),
    Ether() / IP(src="10.0.0.9", dst="10.0.0.2", tos=184) / TCP(dport=80),
    Ether() / IPv6(src="2001:db8::1", dst="2001:db8::2") / TCP(dport=443),
    Ether() / Dot1Q(prio=5, vlan=7) / IP(dst="192.0.2.1") / UDP(dport=53),
    Ether(type=0x88CC) / bytes(60),
]


@pytest.fixture(scope="module")
def capture(tmp_path_factory):
    path = tmp_path_factory.mktemp("capture") / "seen.pcap"
    wrpcap(str(path), FRAMES)
    return str(path)


@given(st.data())
def test_bytes_of_boxes(capture, data):
    arrivals = [(packet_of_frame(each.frame, 2), each.length) for each in read_capture(capture)]
    one, other = (data.draw(st.sampled_from([packet for packet, _ in arrivals])) for _ in range(2))
    # A box around two packets, with some of their values.
    ends = [tuple(sorted(pair)) for pair in zip(one.intervals, other.intervals, strict=True)]
    bits = [1 << low | 1 << high for low, high in zip(one.subsets, other.subsets, strict=True)]
    box = ValueBox(tuple(ends), tuple(bits))
    lengths = [length for packet, length in arrivals if is_in(packet, box)]
    assert Traffic(capture, [POLICY], AT, None).inside(Boxes.of([box])) == (len(lengths), sum(lengths))


def test_an_empty_capture(tmp_path):
    path = tmp_path / "none.pcap"
    wrpcap(str(path), [])
    path.write_bytes(path.read_bytes() or bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000"))
    traffic = Traffic(str(path), [POLICY], AT, None)
    assert (traffic.packets, traffic.bytes) == (0, 0)
    assert traffic.inside(Boxes.of([ValueBox(((0, 1),) * 6, (1,) * 9)])) == (0, 0)
