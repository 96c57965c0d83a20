"""What configurations ask of flags, groups, tags and IPv6, asked of packets that go through phb-switch."""

import asyncio
from datetime import datetime

import pytest
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether

import phb
from phb_switch import P4RuntimeServer, PortConfig, Switch

NODE = """\
phb: 1
ports: [{number: 1, name: FastEthernet0/1}, {number: 2, name: FastEthernet0/2},
        {number: 3, name: FastEthernet0/3}, {number: 4, name: FastEthernet0/4}]
cross-connects: [{between: [FastEthernet0/1, FastEthernet0/2]}, {between: [FastEthernet0/3, FastEthernet0/4]}]
"""
IOS = """\
! phb: dialect ios-12
ip access-list extended four
 permit tcp any any established
 permit udp any any
 permit icmp any any echo-reply
 permit icmp any any packet-too-big
ipv6 access-list six
 permit tcp 2001:db8::/32 any match-all +syn -ack dscp ef
 permit udp any any
class-map match-any udp
 match access-group name udp
class-map match-any seven
 match qos-group 7
class-map match-any none
 match qos-group 0
ip access-list extended udp
 permit udp any any eq 53
policy-map in
 class udp
  set qos-group 7
policy-map out
 class seven
  set cos dscp
 class none
  set dscp cos
object-group network dark
 host 10.9.0.1
 range 10.9.1.0 10.9.1.7
object-group service web
 tcp-udp range 80 81
ip access-list extended guests
 deny object-group web object-group dark any
 permit ip any any
policy-map marks
 class udp
  set dscp af21
policy-map leaving
 class udp
  set precedence 7
interface FastEthernet0/1
 ip access-group four in
 ipv6 traffic-filter six in
 service-policy input in
interface FastEthernet0/2
 service-policy output out
interface FastEthernet0/3
 ip access-group four in
interface FastEthernet0/3.10
 encapsulation dot1Q 10
 ip access-group guests in
 service-policy input marks
interface FastEthernet0/4.10
 encapsulation dot1Q 10
 service-policy output leaving
interface FastEthernet0/4
"""


@pytest.fixture(scope="module")
def switch(tmp_path_factory):
    directory = tmp_path_factory.mktemp("ios")
    for name, text in (("node.yaml", NODE), ("router.cfg", IOS)):
        (directory / name).write_text(text)
    switch = Switch("router", {port: PortConfig() for port in range(1, 5)})
    server = P4RuntimeServer(switch, device_id=1)
    files = [directory / "node.yaml", directory / "router.cfg"]
    asyncio.run(phb.push(f"127.0.0.1:{server.start()}", files, at=datetime(2026, 3, 2, 12)))
    yield switch
    server.stop()


def sent(switch, packet, port=1):
    """What the switch sends for it, None if nothing."""
    found = switch.process(port, bytes(Ether(src="02:00:00:00:00:aa", dst="02:00:00:00:00:bb") / packet), 0)
    return Ether(found[0][2]) if found else None


@pytest.mark.parametrize(
    ("flags", "passes"), [("A", True), ("R", True), ("SA", True), ("PA", True), ("S", False), ("", False)]
)
def test_established(switch, flags, passes):
    packet = IP(src="10.0.0.1", dst="10.0.0.2") / TCP(flags=flags)
    assert (sent(switch, packet) is not None) is passes


@pytest.mark.parametrize(("message", "passes"), [((0, 0), True), ((8, 0), False), ((3, 4), True), ((3, 3), False)])
def test_icmp_messages(switch, message, passes):
    packet = IP(src="10.0.0.1", dst="10.0.0.2", proto=1) / (bytes(message) + bytes(40))
    assert (sent(switch, packet) is not None) is passes
    assert sent(switch, IP(src="10.0.0.1", dst="10.0.0.2", proto=1, frag=100) / (bytes(message) + bytes(40))) is None


@pytest.mark.parametrize(("message", "passes"), [(135, True), (136, True), (128, False), (133, False)])
def test_neighbour_discovery_passes_a_traffic_filter(switch, message, passes):
    packet = IPv6(src="2001:db8::1", dst="2001:db8::2", nh=58) / (bytes([message]) + bytes(40))
    assert (sent(switch, packet) is not None) is passes


def test_a_later_fragment_has_no_flags(switch):
    assert sent(switch, IP(src="10.0.0.1", dst="10.0.0.2", proto=6, frag=100) / (b"\xff" * 40)) is None


@pytest.mark.parametrize(
    ("source", "flags", "tos", "passes"),
    [
        ("2001:db8::1", "S", 0xB8, True),
        ("2001:db8::1", "SA", 0xB8, False),
        ("2001:db8::1", "S", 0, False),
        ("2001:db9::1", "S", 0xB8, False),
    ],
)
def test_ipv6_traffic_filter(switch, source, flags, tos, passes):
    assert (sent(switch, IPv6(src=source, dst="2001:db8::2", tc=tos) / TCP(flags=flags)) is not None) is passes


@pytest.mark.parametrize(
    ("port", "before", "after"),
    [
        (53, (5, 0xB9), (5, 0xB9)),
        (53, (2, 0x28), (1, 0x28)),
        (54, (5, 0x03), (5, 0xA3)),
        (54, (None, 0x28), (None, 0)),
        (53, (None, 0x28), (None, 0x28)),
    ],
)
def test_groups_and_copied_marks(switch, port, before, after):
    priority, tos = before
    packet = IP(src="10.0.0.1", dst="10.0.0.2", tos=tos) / UDP(dport=port)
    found = sent(switch, packet if priority is None else Dot1Q(vlan=9, prio=priority) / packet)
    assert (found[Dot1Q].prio if Dot1Q in found else None, found[IP].tos) == after
    assert Dot1Q not in found or found[Dot1Q].vlan == 9


@pytest.mark.parametrize(
    ("vlan", "source", "port", "passes"),
    [
        (10, "10.9.1.7", 80, False),
        (10, "10.9.1.8", 80, True),
        (10, "10.9.1.7", 82, True),
        (11, "10.9.1.7", 80, True),
        (None, "10.9.1.7", 80, False),  # the port's own list
        (None, "10.9.1.8", 80, False),
    ],
)
def test_object_groups_of_a_subinterface(switch, vlan, source, port, passes):
    packet = IP(src=source, dst="10.0.0.2") / TCP(dport=port, flags="S")
    found = sent(switch, packet if vlan is None else Dot1Q(vlan=vlan) / packet, 3)
    assert (found is not None) is passes


@pytest.mark.parametrize(("vlan", "port", "tos"), [(10, 53, 0xE8), (11, 53, 0), (10, 54, 0)])
def test_marks_of_subinterfaces(switch, vlan, port, tos):
    found = sent(switch, Dot1Q(vlan=vlan) / IP(src="10.0.0.1", dst="10.0.0.2") / UDP(dport=port), 3)
    assert (found[Dot1Q].vlan, found[IP].tos) == (vlan, tos)
