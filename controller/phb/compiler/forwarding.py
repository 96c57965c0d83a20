"""Stage forward: cross-connects and routes."""

from __future__ import annotations

from phb.compiler.ports import resolve
from phb.errors import InputError
from phb.intent import Entry, Exact, Prefix
from phb.model import CrossConnect, PolicySet, Route

CROSS_CONNECT = "PhbIngress.forward.cross_connect"
ROUTE = {4: "PhbIngress.forward.ipv4_route", 6: "PhbIngress.forward.ipv6_route"}


def compile_forwarding(policy: PolicySet) -> tuple[Entry, ...]:
    """Entries for every wire, both ways, and for every route.

    Raises:
        InputError: A port that the node doesn't have.

    """
    entries: list[Entry] = []
    for wire in policy.cross_connects:
        entries += _wire(policy, wire)
    entries += [_route(policy, route) for route in policy.routes]
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


def _route(policy: PolicySet, route: Route) -> Entry:
    network = route.destination
    # A default route leaves the field out: P4Runtime writes a prefix of length 0 so (section 9.1.1).
    match = {"destination": Prefix(int(network.network_address), network.prefixlen)} if network.prefixlen else {}
    table = ROUTE[network.version]
    if route.port is None or route.source_mac is None or route.destination_mac is None:
        return Entry(table, match, "discard", {}, 0, route.origin())
    parameters = {
        "port": resolve(policy, route.port, route.origin("port")).number,
        "source_mac": route.source_mac.number,
        "destination_mac": route.destination_mac.number,
    }
    return Entry(table, match, "route", parameters, 0, route.origin())
