"""One node between a sender and a receiver in virtual time, programmed by a policy file."""

import asyncio
from random import Random

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether
from scapy.packet import Raw

import phb
import phb_p4
from phb_switch import Network, P4RuntimeServer, PortConfig, Switch

RATE_BPS = 256_000
# PPP on the line: 4 bytes of header, 2 of check sequence, a flag, where the frame has 14 bytes of Ethernet header.
LINE_OVERHEAD = -7
IN, OUT = 2, 1


class Node:
    """The result of a run: frames that arrived behind the slow port, with their times, and the node's counters."""

    def __init__(self, switch, received):
        self.switch = switch
        self.received = received

    def order(self):
        """The sequence numbers that :func:`datagram` put into the frames, in order of arrival."""
        return [int.from_bytes(frame[42:46], "big") for _, frame in self.received]

    def counter(self, name):
        """Packets by index of an indirect counter, those that are not zero."""
        cells = self.switch.read_counter(name)
        return {index: packets for index, (packets, _) in enumerate(cells) if packets}


@pytest.fixture
def push(tmp_path):
    """Program a switch by a policy file, as a user would: by a push over P4Runtime."""

    def push(switch, queueing, rate_bps=RATE_BPS, *, keyed=True):
        policy = tmp_path / "policy.yaml"
        policy.write_text(
            "phb: 1\nnode: dut\n"
            f"ports:\n  - {{number: 1, name: line, rate: {{value: {rate_bps}, unit: bit/s, basis: ppp}}}}\n"
            "  - {number: 2, name: lan}\n"
            "routes:\n  - {destination: 10.0.2.0/24, port: line, source-mac: '02:00:00:00:00:01', "
            "destination-mac: '02:00:00:00:00:02'}\n" + queueing
        )
        server = P4RuntimeServer(switch, device_id=1)
        try:
            asyncio.run(
                phb.push(
                    f"127.0.0.1:{server.start()}",
                    [policy],
                    device_id=1,
                    artifact=phb_p4.artifact_path(),
                    p4info=phb_p4.p4info_path(),
                    draw=Random(1).getrandbits if keyed else None,
                )
            )
        finally:
            server.stop()

    return push


@pytest.fixture
def program(push):
    """Make a switch that a policy file programs."""

    def make(queueing, ports, *, keyed=True):
        switch = Switch("dut", ports)
        push(switch, queueing, keyed=keyed)
        return switch

    return make


@pytest.fixture
def run_node(program):
    def run(queueing, frames, *, transmit_ring=0, seconds=600, keyed=True):
        ports = {OUT: PortConfig(RATE_BPS, LINE_OVERHEAD, transmit_ring), IN: PortConfig()}
        switch = program(queueing, ports, keyed=keyed)
        network = Network(1)
        network.add_switch(switch)
        network.add_replay("sender", frames)
        network.add_replay("receiver", [])
        network.connect("sender", 0, "dut", IN)
        network.connect("receiver", 0, "dut", OUT)
        network.run(seconds * 1_000_000_000)
        assert switch.check() == 0
        return Node(switch, network.received("receiver"))

    return run


def datagram(sequence, *, flow=0, precedence=0, payload=100, tos=None):
    """An Ethernet frame of a UDP flow, numbered so that it is known again."""
    body = sequence.to_bytes(4, "big") + bytes(payload - 4)
    ip = IP(src="10.0.1.1", dst="10.0.2.1", tos=precedence << 5 if tos is None else tos)
    return bytes(Ether(dst="02:00:00:00:00:09") / ip / UDP(sport=1000 + flow, dport=2000) / Raw(body))
