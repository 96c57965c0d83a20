"""Stage forward: wires, then routes by the longest prefix."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from phb.behaviour.behaviour import Fact, Route, RouteKind, Step
from phb.behaviour.facts import reached, receives, written
from phb.intent import Entry, Prefix
from phb.packets.boxes import Interval
from phb.packets.space import ADDRESS_BITS, PORTS, Version, box_of
from phb.proving.tables.matching import ONE_EPOCH
from phb.proving.tables.rows import TableFaultError, Tables

_GOES_NOWHERE: Final = {
    "own": RouteKind.OWN,
    "broadcast": RouteKind.BROADCAST,
    "discard": RouteKind.DISCARD,
    "no_route": RouteKind.NONE,
}
_REACHES: Final = ("via_ipv4", "via_ipv6", "attached_ipv4", "attached_ipv6")
_TABLES: Final = {Version.IPV4: "forward.ipv4_route", Version.IPV6: "forward.ipv6_route"}


def forwarding(tables: Tables) -> Iterator[Step[Route]]:
    """Give the steps of forwarding."""
    for ingress, entry in tables.by_number("forward.cross_connect", "ingress_port").items():
        boxes = tuple(box_of(version, epochs=ONE_EPOCH, ingress=1 << ingress) for version in Version)
        yield Step(boxes, (), Route(RouteKind.WIRE, entry.parameters["port"]), "wire", entry.origin)
    routers = _Routers(tables)
    for version, name in _TABLES.items():
        seen: dict[Interval, Entry] = {}
        for entry in sorted(tables.of(name), key=lambda each: -_length(each)):
            destination = _destination(entry, ADDRESS_BITS[version])
            if destination in seen:
                raise TableFaultError("two routes to one network", seen[destination], entry)
            seen[destination] = entry
            for ingress, facts in routers.arrivals:
                route = routers.route(entry, version, facts)
                box = box_of(version, epochs=ONE_EPOCH, destination=destination, ingress=ingress)
                yield Step((box,), (), route, "route", entry.origin)


def _length(entry: Entry) -> int:
    asked = entry.match.get("destination")
    return asked.length if isinstance(asked, Prefix) else 0


def _destination(entry: Entry, bits: int) -> Interval:
    asked = entry.match.get("destination")
    if not isinstance(asked, Prefix):
        return 0, (1 << bits) - 1
    free = bits - asked.length
    low = asked.value >> free << free
    return low, low | (1 << free) - 1


class _Routers:
    """Ports that are a router's.

    Attributes:
        arrivals: Ingress ports, and what is asked of frames that come in there.
    """

    def __init__(self, tables: Tables) -> None:
        self._sends = tables.by_number("forward.next_hop.send", "egress_port")
        entries = tables.by_number("forward.arrival.receive", "ingress_port")
        others = PORTS & ~sum(1 << port for port in entries)
        self.arrivals: list[tuple[int, tuple[Fact, ...]]] = [(others, ())]
        self.arrivals += [(1 << port, receives(entry.parameters["mac"])) for port, entry in entries.items()]

    def route(self, entry: Entry, version: Version, arrival: tuple[Fact, ...]) -> Route:
        """Give a route for packets that arrive in some way."""
        given = entry.parameters
        if entry.action in _GOES_NOWHERE:
            return Route(_GOES_NOWHERE[entry.action], None, arrival)
        port = given["port"]
        sent = self._sends.get(port)
        mac, mtu = (None, None) if sent is None else (sent.parameters["mac"], sent.parameters["mtu"])
        if entry.action == "route":
            facts = written(given["source_mac"], given["destination_mac"], mtu)
            return Route(RouteKind.ROUTE, port, (*facts, *arrival))
        if entry.action not in _REACHES:
            raise TableFaultError(f"action '{entry.action}' is no route", entry)
        facts = reached(version, given.get("address"), mac, mtu)
        return Route(RouteKind.NEXT_HOP, port, (*facts, *arrival))
