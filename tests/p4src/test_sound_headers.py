"""A router forwards only IPv4 headers that are whole and lie inside their datagram (RFC 1812, 5.2.2)."""

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from phb.pipeline_names import DropReason

FIFO = "queueing: [{port: line, schedule: {kind: fifo}}]\n"


def frame(kept=None, **fields):
    datagram = IP(src="10.0.1.1", dst="10.0.2.1", **fields) / UDP(sport=1, dport=2) / Raw(bytes(60))
    return bytes(Ether(dst="02:00:00:00:00:09") / datagram)[:kept]


SOUND = {
    "as it should be": frame(),
    "with options": frame(options=bytes(8)),
    "no longer than its header": frame(len=20),
    "no longer than its header with options": frame(len=28, options=bytes(8)),
    "cut behind its options": frame(42, options=bytes(8)),
}
DAMAGED = {
    "shorter than its header": frame(len=19),
    "shorter than its header with options": frame(len=24, options=bytes(8)),
    # Zeros add nothing to a checksum: it is right without them.
    "options that are not there": frame(34, options=bytes(8)),
    "options of which a part is not there": frame(41, options=bytes(8)),
}


@pytest.mark.parametrize("kind", SOUND)
def test_a_sound_header_is_forwarded(run_node, kind):
    node = run_node(FIFO, [(0, SOUND[kind])])
    assert [len(data) for _, data in node.received] == [len(SOUND[kind])]


@pytest.mark.parametrize("kind", DAMAGED)
def test_a_damaged_header_is_dropped(run_node, kind):
    node = run_node(FIFO, [(0, DAMAGED[kind])])
    assert node.received == []
    assert node.counter("PhbIngress.drops") == {DropReason.NOT_IP: 1}
