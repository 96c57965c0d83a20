"""Nobody can choose a flow that shares another's conversation: flows are told apart by the switch's secret keys."""

import struct
import zlib
from ipaddress import IPv4Address
from random import Random

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Ether
from scapy.packet import Raw

from phb_switch import PortConfig

QUEUEING = """
queueing:
  - port: line
    schedule: {kind: fair-queue, dialect: ios-hqf, dynamic-conversations: 4096, congestive-discard-threshold: 8}
    hold-queue: 1000
"""
VICTIM = (0x0A000101, 0x0A000201, 17, 1000, 2000)
COLLIDING = 40
MILLISECOND = 1_000_000


def signature(flow):
    """CRC-32 of a flow, what the pipeline takes without keys (p4src/conversation.p4)."""
    source, destination, protocol, source_port, destination_port = flow
    return zlib.crc32(struct.pack("!IIBHHB", source, destination, protocol, source_port, destination_port, 0))


def changed(flow, bits):
    """The flow with these bits of the source's last 16 and of both ports turned over."""
    source, destination, protocol, source_port, destination_port = flow
    return (
        source ^ bits >> 32,
        destination,
        protocol,
        source_port ^ (bits >> 16 & 0xFFFF),
        destination_port ^ (bits & 0xFFFF),
    )


def colliding(flow):
    """Other flows of the same CRC-32: solutions of linear equations, for CRC is linear in what is turned over."""
    zero = signature(flow)
    basis, kernel = [], []
    for bit in range(48):
        value, combination = signature(changed(flow, 1 << bit)) ^ zero, 1 << bit
        for pivot, other in basis:
            if value ^ pivot < value:
                value, combination = value ^ pivot, combination ^ other
        if value:
            basis.append((value, combination))
            basis.sort(reverse=True)
        else:
            kernel.append(combination)
    random, found = Random(1), set()
    while len(found) < COLLIDING:
        bits = 0
        for combination in kernel:
            bits ^= combination * random.getrandbits(1)
        if bits:
            found.add(changed(flow, bits))
    return sorted(found)


def frame(flow, sequence):
    source, destination, _, source_port, destination_port = flow
    ip = IP(src=str(IPv4Address(source)), dst=str(IPv4Address(destination)))
    datagram = UDP(sport=source_port, dport=destination_port) / Raw(sequence.to_bytes(4, "big") + bytes(96))
    return bytes(Ether(dst="02:00:00:00:00:09") / ip / datagram)


def test_the_attack_is_one():
    flows = colliding(VICTIM)
    assert len(flows) == COLLIDING
    assert VICTIM not in flows
    assert {signature(flow) for flow in flows} == {signature(VICTIM)}


@pytest.mark.parametrize("keyed", [False, True])
def test_flows_chosen_by_their_crc_do_not_starve_another(run_node, keyed):
    """The victim sends 1.5 % of the line, beside 40 flows that together send 1.8 times as much as it carries."""
    frames = []
    flows = colliding(VICTIM)
    for number in range(300):
        at = number * 100 * MILLISECOND
        frames += [(at + place, frame(flow, 1 << 20)) for place, flow in enumerate(flows)]
        if number % 3 == 0:
            frames.append((at + MILLISECOND, frame(VICTIM, number)))
    node = run_node(QUEUEING, frames, seconds=120, keyed=keyed)
    arrived = sum(1 for sequence in node.order() if sequence < 300)
    slots = len(node.counter("PhbIngress.schedule.conversation_enqueued"))
    if keyed:
        assert arrived == 100
        assert slots > COLLIDING
    else:
        # Why there are keys.
        assert arrived < 10
        assert slots <= 2


def packets():
    """Pairs of packets that differ in one thing by which flows are told apart, and the first of each once more."""
    ip, ip6 = {"src": "10.0.1.1", "dst": "10.0.2.1"}, {"src": "2001:db8::1", "dst": "2001:db8::2"}
    bases = [
        Ether(dst="02:00:00:00:00:09") / IP(**ip) / UDP(sport=1, dport=2),
        Ether(dst="02:00:00:00:00:09") / IP(**ip) / UDP(sport=1, dport=3),
        Ether(dst="02:00:00:00:00:09") / IP(**ip) / UDP(sport=2, dport=1),
        Ether(dst="02:00:00:00:00:09") / IP(**ip, tos=0x20) / UDP(sport=1, dport=2),
        Ether(dst="02:00:00:00:00:09") / IP(**ip, proto=47),
        Ether(dst="02:00:00:00:00:09") / IP(src=ip["dst"], dst=ip["src"]) / UDP(sport=1, dport=2),
        *(
            Ether(dst="02:00:00:00:00:09") / IPv6(**ip6 | {end: f"2001:db8:{1 << bit:x}::9"}) / UDP(sport=1, dport=2)
            for end in ("src", "dst")
            for bit in (0, 15)
        ),
        Ether(dst="02:00:00:00:00:09") / IPv6(**ip6) / UDP(sport=1, dport=2),
        Ether(dst="02:00:00:00:00:09") / IPv6(src="2001:db8::1:0:0:1", dst=ip6["dst"]) / UDP(sport=1, dport=2),
        Ether(dst="02:00:00:00:00:09") / IPv6(src="2001:db8::1:0:1", dst=ip6["dst"]) / UDP(sport=1, dport=2),
        *(Ether(src=f"02:00:00:00:{number:02x}:01", dst="02:00:00:00:00:02", type=0x88B5) for number in range(2)),
        Ether(src="02:00:00:00:00:01", dst="02:00:01:00:00:02", type=0x88B5),
        Ether(src="02:00:00:00:00:01", dst="02:00:00:00:00:02", type=0x88B6),
    ]
    return [bytes(packet / Raw(bytes(64))) for packet in bases]


def test_everything_that_makes_a_flow_counts(program):
    cross = QUEUEING.replace("queueing:", "cross-connects: [{between: [line, lan]}]\nqueueing:")
    switch = program(cross, {1: PortConfig(0), 2: PortConfig()})
    for packet in packets() * 2:
        switch.process(2, packet, 0)
    cells = switch.read_counter("PhbIngress.schedule.conversation_enqueued")
    assert sorted(count for count, _ in cells if count) == [2] * len(packets())
