"""Strict levels, limits, early detection and buffers act on bmv2 as on the embedded switch, where that can be seen.

No queue forms: bmv2's lines have no rate. What shows is which packets find room in buffers smaller than some of them,
and in which queue each packet was counted. Skipped where bmv2's ``simple_switch_grpc`` is not installed or doesn't
start.
"""

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from phb.pipeline_names import DropReason

from .both_switches import IN, alike, starts

POLICY = """
classes: [{name: voice}, {name: control}]
actions: [{name: voice, class: voice}, {name: control, class: control}, {name: small}]
rules:
  - {name: voice, match: {protocol: udp, destination-ports: 5000}, actions: [voice]}
  - {name: control, match: {protocol: udp, destination-ports: 5001}, actions: [control]}
  - {name: small, match: {protocol: udp, destination-ports: 5002}, actions: [small]}
queueing:
  - port: line
    hold-queue: 64
    schedule:
      kind: classes
      queues:
        - {class: voice, level: 0, queue-limit: 10}
        - {class: control, level: 6}
        - class: class-default
          early-detection: {ecn: true, profiles: [{dscp: 8, minimum: 30, maximum: 40, denominator: 10}]}
    buffers:
      shared-bytes: 400
      holes: 2
      private: [{action: small, bytes: 300}]
"""
# Destination port and bytes of the frame: the pool takes up to 400 / 2 bytes of one stream, `small` has 300 of its own
# beside them.
SENT = [(port, size) for port in (5000, 5001, 5002, 5003) for size in (60, 200, 201, 300, 301, 500, 501)]
ROOM = {5000: 200, 5001: 200, 5002: 500, 5003: 200}


def frame(port, size):
    made = Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:09")
    made /= IP(src="10.0.1.1", dst="10.0.2.1", tos=8 << 2) / UDP(dport=port)
    return bytes(made / Raw(bytes(size - len(made))))


@pytest.mark.skipif(not starts(), reason="simple_switch_grpc is not on the PATH or does not start")
def test_levels_limits_and_buffers_act_alike(tmp_path):
    seen = alike(POLICY, [(IN, frame(port, size)) for port, size in SENT], tmp_path)
    assert [len(left) for left in seen.left] == [int(size <= ROOM[port]) for port, size in SENT]
    dropped = sum(size > ROOM[port] for port, size in SENT)
    counted = {name: {index: packets for index, (packets, _) in cells.items()} for name, cells in seen.counted.items()}
    assert counted["drops"] == {DropReason.NO_BUFFER: dropped}
    # Slots in the order of the file: voice, control, class-default.
    assert counted["conversation_enqueued"] == counted["conversation_transmitted"] == {0: 2, 1: 2, 2: 6 + 2}
