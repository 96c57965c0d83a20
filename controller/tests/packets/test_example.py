"""Examples are packets of their box: what they say, as a frame, is read back into it."""

from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packet_sets import EPOCHS, NAMING, NOW, POLICY, THERE, boxes
from scapy.layers.inet import IP
from scapy.layers.inet import TCP as TCP_LAYER
from scapy.layers.inet import UDP as UDP_LAYER
from scapy.layers.l2 import Ether
from scapy.utils import wrpcap

from phb import InputError
from phb.explain import parse_packet
from phb.explain.packet import TracedPacket
from phb.model import Rule, Validity
from phb.origin import UNKNOWN
from phb.packets.boxes import intersection
from phb.packets.epochs import Epochs
from phb.packets.example import example
from phb.packets.frames import captured, packet_of_frame
from phb.packets.space import NO_HEADER, NO_MESSAGE, UNTAGGED, Subset, Version, box_of, every_packet, is_in
from tests.examples import share

TCP, UDP, ICMP = 1 << 6, 1 << 17, 1 << 1
V4, V6, NO_IP = Version.IPV4, Version.IPV6, Version.NONE
TEN = (0x0A000000, 0x0AFFFFFF)


def read(text):
    """The packet of a line, at the port that it names."""
    arrival = parse_packet(text, UNKNOWN)
    port = POLICY.find_port(arrival.port)
    # A router would drop a packet with a wrong checksum, or one that isn't as long as it says.
    traced = TracedPacket.arrived(0, 1, arrival.frame)
    assert not traced.checksum_error
    assert (traced.headers.datagram_length or 0) <= len(arrival.frame) - 14
    return packet_of_frame(arrival.frame, arrival.port if port is None else port.number)


def is_example(text, at, box):
    packet = read(text)
    epoch = 0 if at is None else EPOCHS.moments.index(at)
    return is_in(packet._replace(subsets=(*packet.subsets[:-1], epoch)), box)


@settings(max_examples=share(300), deadline=None)
@given(boxes())
def test_examples_lie_in_their_box(asked):
    parts = [part for kind in THERE if (part := intersection(kind, asked)) is not None]
    for box in parts:
        found = example(box, NAMING)
        assert is_example(found.text, found.at, box), found
    if not parts:
        with pytest.raises(ValueError, match="no packet"):
            example(asked, NAMING)


@pytest.mark.parametrize(
    ("text", "box"),
    [
        ("tcp 192.0.2.1:40000 > 198.51.100.1:443 in uplink", box_of(V4, epochs=3)),
        ("tcp [2001:db8::1]:40000 > [2001:db8:2::1]:443 in uplink", box_of(V6, epochs=3)),
        (
            "tcp 10.0.0.1:40000 > 198.51.100.1:80 dscp ef in lan",
            box_of(V4, epochs=3, source=TEN, destination_port=(80, 90), protocol=TCP, tos=0xF << 0xB8, ingress=4),
        ),
        ("udp 192.0.2.1:40000 > 198.51.100.1:443 ecn ce in 7", box_of(V4, epochs=3, protocol=UDP, tos=8, ingress=128)),
        (
            "icmp 192.0.2.1 > 198.51.100.1 type 3/4 in 300",
            box_of(V4, epochs=3, message=(0x304, 0x3FF), ingress=1 << 300),
        ),
        (
            "icmp 192.0.2.1 > 198.51.100.1 pcp 5 vlan 7 in uplink",
            box_of(V4, epochs=3, protocol=ICMP, tag=32, vlan=(7, 9), message=(0, NO_MESSAGE - 1)),
        ),
        ("tcp 192.0.2.1:40000 > 198.51.100.1:443 flags none in uplink", box_of(V4, epochs=3, flags=1)),
        ("tcp 192.0.2.1:40000 > 198.51.100.1:443 flags S in uplink", box_of(V4, epochs=3, flags=1 << 2 | 1 << 3)),
        (
            "gre 192.0.2.1 > 198.51.100.1 in uplink",
            box_of(V4, epochs=3, flags=1 << NO_HEADER, protocol=~(UDP | ICMP) & (1 << 256) - 1),
        ),
        (
            "tcp 223.255.255.254:40000 > 198.51.100.1:443 in uplink",
            box_of(V4, epochs=3, source=(0xDFFFFFFD, 0xFFFFFFFF)),
        ),
    ],
)
def test_examples_have_ordinary_values(text, box):
    assert example(box, NAMING).text == text
    assert is_example(text, None, box)


@pytest.mark.parametrize(
    "box",
    [
        box_of(NO_IP, epochs=3, tag=1 << UNTAGGED),
        box_of(NO_IP, epochs=3, tag=1 << 5, vlan=(4, 4)),
        box_of(V4, epochs=3, protocol=TCP, flags=1 << NO_HEADER, tos=1 << 0xB9),
        box_of(V6, epochs=3, protocol=1 << 58, message=(NO_MESSAGE, NO_MESSAGE), tag=2),
    ],
)
def test_what_has_no_words_is_a_frame(box):
    found = example(box, NAMING)
    assert is_example(found.text, found.at, box)
    assert len(found.text.split()) == 3


def test_an_example_has_a_time_where_it_matters():
    assert example(box_of(V4, epochs=2), NAMING).at == EPOCHS.moments[1]
    assert example(box_of(V4, epochs=3), NAMING).at is None


def test_a_capture_is_packets_in_epochs(tmp_path):
    at_noon, at_night = NOW.timestamp(), NOW.timestamp() + 12 * 3600
    packets = [UDP_LAYER(sport=7, dport=9), TCP_LAYER(dport=80), UDP_LAYER(sport=7, dport=9)]
    frames = [Ether() / IP(src="10.0.0.1", dst="10.0.0.2") / each for each in packets]
    for frame, at in zip(frames, (at_noon, at_noon, at_night), strict=True):
        frame.time = at
    path = str(tmp_path / "one.pcap")
    wrpcap(path, frames)
    noon = Rule(name="noon", valid=Validity(time="12:00-13:00"))
    asked = POLICY.model_copy(update={"time_zone": ZoneInfo("UTC"), "rules": (noon,)})
    epochs = Epochs.of([asked], NOW)
    found = list(captured(path, asked, epochs, "lan"))
    assert [each.packet.subsets[Subset.EPOCH] for each in found] == [0, 0, 1]
    assert {each.packet.subsets[Subset.INGRESS] for each in found} == {2}
    assert [each.arrival.length for each in found] == [42, 54, 42]
    assert found[0].packet == packet_of_frame(bytes(frames[0]), 2)
    with pytest.raises(InputError, match="--port"):
        list(captured(path, asked, epochs))


@settings(max_examples=share(200), deadline=None)
@given(st.binary(max_size=90), st.sampled_from(["", "0800", "86dd", "81000000"]))
def test_every_frame_is_a_packet_that_there_is(data, kind):
    packet = packet_of_frame(bytes(12) + bytes.fromhex(kind) + data, 3)
    assert sum(is_in(packet, box) for box in every_packet(1)) == 1
