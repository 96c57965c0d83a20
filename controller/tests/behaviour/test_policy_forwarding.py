"""Wires, routes and a router's ports of a policy as steps."""

from datetime import datetime
from ipaddress import ip_address

import pytest

from phb.behaviour.behaviour import NO_ROUTE, Route, RouteKind
from phb.behaviour.deciding import first, route
from phb.behaviour.policy import behaviour_of_policy
from phb.errors import InputError
from phb.formats import yaml_format
from phb.packets.epochs import Epochs
from phb.packets.space import NO_HEADER, NO_MESSAGE, UNTAGGED, Packet, Version


def behaviour(text):
    return behaviour_of_policy(yaml_format.read("phb: 1\n" + text, "f"), Epochs.at(datetime(2026, 11, 23)))


def packet(destination, entered=1):
    address = ip_address(destination)
    version = Version.IPV4 if address.version == 4 else Version.IPV6
    return Packet((0, int(address), 0, 0, 0, NO_MESSAGE), (version, entered, 0, 0, 0, UNTAGGED, NO_HEADER, 0, 0))


def taken(found, destination, entered=1):
    return route(found, first(found.forwarding, packet(destination, entered)))


STATIC = """
ports: [{name: a, number: 1}, {name: b, number: 2}, {name: c, number: 3}]
cross-connects: [{between: [a, b]}]
routes:
  - {destination: 0.0.0.0/0, discard: true}
  - {destination: 10.0.0.0/8, port: a, source-mac: "02:00:00:00:00:01", destination-mac: "02:00:00:00:00:02"}
  - {destination: 10.0.0.0/24, port: 2, source-mac: "02:00:00:00:00:03", destination-mac: "02:00:00:00:00:04"}
"""
MACS = (("source MAC", "02:00:00:00:00:01"), ("destination MAC", "02:00:00:00:00:02"))


@pytest.mark.parametrize(
    ("destination", "entered", "expected"),
    [
        ("10.0.0.1", 1, Route(RouteKind.WIRE, 2)),
        ("2001:db8::1", 2, Route(RouteKind.WIRE, 1)),
        ("10.1.0.1", 3, Route(RouteKind.ROUTE, 1, MACS)),
        ("192.0.2.1", 3, Route(RouteKind.DISCARD)),
        ("2001:db8::1", 3, NO_ROUTE),
    ],
)
def test_wires_come_before_the_longest_prefix(destination, entered, expected):
    assert taken(behaviour(STATIC), destination, entered) == expected


def test_on_a_wire_goes_what_is_not_ip():
    found = behaviour(STATIC)
    frame = Packet((0, 0, 0, 0, 0, NO_MESSAGE), (Version.NONE, 1, 0, 0, 0, UNTAGGED, NO_HEADER, 0, 0))
    assert route(found, first(found.forwarding, frame)).kind is RouteKind.WIRE
    assert first(found.forwarding, frame._replace(subsets=(Version.NONE, 3, *frame.subsets[2:]))) == -1


ROUTER = """
ports:
  - {number: 1, name: lan, mac: "02:00:00:00:01:01", addresses: [192.0.2.1/24, "2001:db8:1::1/64"]}
  - {number: 2, name: line, mac: "02:00:00:00:01:02", addresses: [198.51.100.1/31], mtu: 1400}
  - {number: 3, name: plain}
routes:
  - {destination: 0.0.0.0/0, next-hop: 198.51.100.0}
  - {destination: 10.0.0.0/8, port: line, source-mac: "02:00:00:00:00:01", destination-mac: "02:00:00:00:00:02"}
"""
ASKS = ("taken if sent to MAC", "02:00:00:00:01:01")
LAN, LINE = ("source MAC", "02:00:00:00:01:01"), ("source MAC", "02:00:00:00:01:02")


@pytest.mark.parametrize(
    ("destination", "kind", "port", "facts"),
    [
        ("192.0.2.1", RouteKind.OWN, None, ()),
        ("198.51.100.1", RouteKind.OWN, None, ()),
        ("2001:db8:1::1", RouteKind.OWN, None, ()),
        ("2001:db8:1::", RouteKind.OWN, None, ()),
        ("fe80::1", RouteKind.OWN, None, ()),
        ("ff02::1", RouteKind.OWN, None, ()),
        ("192.0.2.0", RouteKind.BROADCAST, None, ()),
        ("192.0.2.255", RouteKind.BROADCAST, None, ()),
        ("192.0.2.9", RouteKind.NEXT_HOP, 1, (("next hop", "the destination"), LAN, ("MTU", 1500))),
        ("198.51.100.0", RouteKind.NEXT_HOP, 2, (("next hop", "the destination"), LINE, ("MTU", 1400))),
        ("203.0.113.1", RouteKind.NEXT_HOP, 2, (("next hop", "198.51.100.0"), LINE, ("MTU", 1400))),
        ("10.0.0.1", RouteKind.ROUTE, 2, (*MACS, ("MTU", 1400))),
    ],
)
def test_a_routers_ports(destination, kind, port, facts):
    found = behaviour(ROUTER)
    assert taken(found, destination, 3) == Route(kind, port, facts)
    assert taken(found, destination, 1) == Route(kind, port, (*facts, ASKS))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("cross-connects: [{between: [a, x]}]", "port 'x'"),
        ("ports: [{name: a}]\ncross-connects: [{between: [a, a]}]", "port 'a' without a number"),
        ("routes: [{destination: 10.0.0.0/8, next-hop: 192.0.2.1}]", "next hop 192.0.2.1"),
    ],
)
def test_refuses_what_is_not_there(text, found):
    with pytest.raises(InputError, match=found):
        behaviour(text if text.startswith("ports") else "ports: [{name: a, number: 1}]\n" + text)
