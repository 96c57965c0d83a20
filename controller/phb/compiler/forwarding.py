"""Stage forward: cross-connects and routes."""

from __future__ import annotations

from collections.abc import Sequence

from phb.compiler.ports import resolve
from phb.compiler.router import ROUTE, compile_interfaces, route, via
from phb.errors import InputError
from phb.intent import Entry, Exact, MatchValue
from phb.model import CrossConnect, PolicySet, Route

CROSS_CONNECT = "PhbIngress.forward.cross_connect"


def compile_forwarding(policy: PolicySet) -> tuple[Entry, ...]:
    """Give entries for every wire, both ways, and for every router's port and every route.

    Raises:
        InputError: A port that the node doesn't have, or a next hop that is in no port's network.
    """
    entries: list[Entry] = []
    for wire in policy.cross_connects:
        entries += _wire(policy, wire)
    entries += compile_interfaces(policy)
    entries += [_route(policy, wanted) for wanted in policy.routes]
    _unique(entries)
    return tuple(entries)


def _wire(policy: PolicySet, wire: CrossConnect) -> list[Entry]:
    origin = wire.origin("between")
    one, other = (resolve(policy, reference, origin).number for reference in wire.between)
    if one == other:
        raise InputError(origin, f"port {one} connected to itself", "two ports")
    return [
        Entry(CROSS_CONNECT, {"ingress_port": Exact(start)}, "connect", {"port": end}, 0, wire.origin())
        for start, end in ((one, other), (other, one))
    ]


def _route(policy: PolicySet, wanted: Route) -> Entry:
    if wanted.next_hop is not None:
        return via(policy, wanted)
    if wanted.port is None or wanted.source_mac is None or wanted.destination_mac is None:
        return route(wanted.destination, "discard", {}, wanted.origin())
    parameters = {
        "port": resolve(policy, wanted.port, wanted.origin("port")).number,
        "source_mac": wanted.source_mac.number,
        "destination_mac": wanted.destination_mac.number,
    }
    return route(wanted.destination, "route", parameters, wanted.origin())


def _unique(entries: Sequence[Entry]) -> None:
    """Refuse a route of the policy that a port's addresses make, too."""
    first: dict[tuple[str, MatchValue | None], Entry] = {}
    for entry in entries:
        key = (entry.table, entry.match.get("destination"))
        if entry.table in ROUTE.values() and key in first:
            there = first[key].origin
            raise InputError(entry.origin, "a route that an address of a port makes already", f"it once; see {there}")
        first[key] = entry
