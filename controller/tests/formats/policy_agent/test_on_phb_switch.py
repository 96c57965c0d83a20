"""User priorities of SetSubnetPrioTosMask, on frames with and without a tag that go through phb-switch."""

import asyncio
from datetime import datetime

import pytest
from scapy.layers.inet import IP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether

import phb
from phb_switch import P4RuntimeServer, PortConfig, Switch

STACK, OSA, LEFT, RIGHT = 1, 2, 3, 4
NODE = """\
phb: 1
ports:
  - {number: 1, name: stack, role: host}
  - {number: 2, name: osa, address: 10.10.1.5}
  - {number: 3, name: left}
  - {number: 4, name: right}
cross-connects: [{between: [stack, osa]}, {between: [left, right]}]
actions: [{name: five, set-pcp: 5}]
rules: [{name: set, match: {destination-ports: 5}, actions: [five]}]
"""
# The own statement is that of the z/OS Communications Server's IP Configuration Guide, less its last line.
POLICY = """\
SetSubnetPrioTosMask
{
  SubnetAddr 10.10.1.5
  SubnetTosMask 11100000
  PriorityTosMapping 1 11100000 7
  PriorityTosMapping 1 11000000 7
  PriorityTosMapping 2 10100000 6
  PriorityTosMapping 2 10000000 5
  PriorityTosMapping 2 01100000 5
  PriorityTosMapping 3 01000000 3
  PriorityTosMapping 4 00100000 2
}
SetSubnetPrioTosMask
{
  SubnetTosMask 11100000
  PriorityTosMapping 1 11100000 1
  PriorityTosMapping 1 11000000
  PriorityTosMapping 4 00000000 4
}
PolicyAction mark { OutgoingTOS 01000000 }
PolicyRule mark { DestinationPortRange 9
PolicyActionReference mark }
"""


@pytest.fixture(scope="module")
def switch(tmp_path_factory):
    directory = tmp_path_factory.mktemp("agent")
    files = [directory / "node.yaml", directory / "agent.conf"]
    for file, text in zip(files, (NODE, POLICY), strict=True):
        file.write_text(text)
    switch = Switch("host", {port: PortConfig() for port in (STACK, OSA, LEFT, RIGHT)})
    server = P4RuntimeServer(switch, device_id=1)
    asyncio.run(phb.push(f"127.0.0.1:{server.start()}", files, at=datetime(2026, 3, 2, 12)))
    yield switch
    server.stop()


def sent(switch, port, packet):
    frame = bytes(Ether(src="02:00:00:00:00:aa", dst="02:00:00:00:00:bb") / packet)
    (left,) = switch.process(port, frame, 0)
    return Ether(left[2])


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize(
    ("port", "tos", "before", "after"),
    [
        (STACK, 0xE0, 0, 7),
        (STACK, 0xB8, 0, 6),
        (STACK, 0xA3, 1, 6),
        (STACK, 0x20, 7, 2),
        (STACK, 0x00, 3, 3),  # left out, and not asked of the statement for others
        (LEFT, 0xE0, 0, 1),
        (LEFT, 0xC0, 3, 3),  # without a user priority
        (LEFT, 0x1C, 0, 4),
        (OSA, 0xE0, 0, 0),  # to the host
    ],
)
def test_tagged(switch, version, port, tos, before, after):
    packet = IP(tos=tos) if version == 4 else IPv6(tc=tos)
    left = sent(switch, port, Dot1Q(prio=before, vlan=10) / packet / UDP(dport=80))
    assert (left[Dot1Q].prio, left[Dot1Q].vlan) == (after, 10)


def test_it_goes_over_a_mark_and_by_the_marked_tos(switch):
    assert sent(switch, STACK, Dot1Q(prio=1) / IP(tos=0xE0) / UDP(dport=9))[Dot1Q].prio == 3
    assert sent(switch, LEFT, Dot1Q(prio=1) / IP(tos=0xE0) / UDP(dport=5))[Dot1Q].prio == 1
    assert sent(switch, LEFT, Dot1Q(prio=1) / IP(tos=0xC0) / UDP(dport=5))[Dot1Q].prio == 5


@pytest.mark.parametrize("packet", [IP(tos=0xE0) / UDP(dport=80), IPv6(tc=0xE0) / UDP(dport=80)])
def test_without_a_tag_nothing_changes(switch, packet):
    frame = Ether(src="02:00:00:00:00:aa", dst="02:00:00:00:00:bb") / packet
    assert bytes(sent(switch, STACK, packet)) == bytes(frame)


def test_what_is_not_ip_keeps_its_priority(switch):
    frame = Dot1Q(prio=3, type=0x88B5) / (b"\0" * 50)
    assert sent(switch, LEFT, frame)[Dot1Q].prio == 3
