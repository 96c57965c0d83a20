"""Stage forward: wires, then routes by the longest prefix."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from phb.behaviour.behaviour import Fact, Route, RouteKind, Step
from phb.intent import Entry, Prefix
from phb.packets.boxes import Interval
from phb.packets.space import ADDRESS_BITS, PORTS, Version, box_of
from phb.proving.tables.matching import ONE_EPOCH
from phb.proving.tables.rows import TableFaultError, Tables
from phb.values import MacAddress

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
        receives = tables.by_number("forward.arrival.receive", "ingress_port")
        others = PORTS & ~sum(1 << port for port in receives)
        self.arrivals: list[tuple[int, tuple[Fact, ...]]] = [(others, ())]
        for port, entry in receives.items():
            self.arrivals.append((1 << port, (("receives", _mac(entry, "mac")),)))

    def route(self, entry: Entry, version: Version, arrival: tuple[Fact, ...]) -> Route:
        """Give a route for packets that arrive in some way."""
        given = entry.parameters
        facts: tuple[Fact, ...]
        match entry.action:
            case "own":
                return Route(RouteKind.OWN, None, arrival)
            case "broadcast":
                return Route(RouteKind.BROADCAST, None, arrival)
            case "discard":
                return Route(RouteKind.DISCARD, None, arrival)
            case "no_route":
                return Route(RouteKind.NONE, None, arrival)
            case "route":
                kind = RouteKind.ROUTE
                facts = (("source MAC", _mac(entry, "source_mac")), ("destination MAC", _mac(entry, "destination_mac")))
            case "via_ipv4" | "via_ipv6":
                kind, facts = RouteKind.NEXT_HOP, (("next hop", given["address"]),)
            case "attached_ipv4" | "attached_ipv6":
                kind, facts = RouteKind.NEXT_HOP, (("next hop", "the destination"),)
            case _:
                raise TableFaultError(f"action '{entry.action}' is no route", entry)
        port = given["port"]
        return Route(kind, port, (*facts, *self._sent(port), *arrival))

    def _sent(self, port: int) -> tuple[Fact, ...]:
        entry = self._sends.get(port)
        return () if entry is None else (("sends", _mac(entry, "mac")), ("MTU", entry.parameters["mtu"]))


def _mac(entry: Entry, name: str) -> str:
    return str(MacAddress(entry.parameters[name]))
