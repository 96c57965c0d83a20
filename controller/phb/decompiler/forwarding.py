"""Stage forward: wires and routes."""

from __future__ import annotations

from phb.decompiler.ports import Ports
from phb.decompiler.router import ROUTER_ACTIONS, address_of, prefix_of
from phb.decompiler.rows import NotAPolicyError, Rows
from phb.model import CrossConnect, Route
from phb.values import MacAddress


def cross_connects(rows: Rows, ports: Ports) -> tuple[CrossConnect, ...]:
    """Give the wires, each of which has an entry for either direction."""
    for entry in rows.table("forward.cross_connect"):
        if ports.wires.get(entry.parameters["port"]) not in ports.wires:
            raise NotAPolicyError(entry, "a wire carries packets both ways")
    wires = dict.fromkeys(tuple(sorted(wire)) for wire in ports.wires.items())
    return tuple(CrossConnect(between=(ports.name(one), ports.name(other))) for one, other in wires)


def routes(rows: Rows, ports: Ports) -> tuple[Route, ...]:
    """Give the routes of both IP versions, without those that addresses of ports make."""
    found = []
    for version in (4, 6):
        for entry in rows.table(f"forward.ipv{version}_route"):
            network = prefix_of(entry, version)
            if entry.action in ROUTER_ACTIONS:
                continue
            if entry.action.startswith("via_"):
                found.append(Route(destination=network, next_hop=address_of(version, entry.parameters["address"])))
                continue
            if entry.action == "discard":
                found.append(Route(destination=network, discard=True))
                continue
            source, destination = (MacAddress(entry.parameters[name]) for name in ("source_mac", "destination_mac"))
            port = ports.name(entry.parameters["port"])
            found.append(Route(destination=network, port=port, source_mac=source, destination_mac=destination))
    return tuple(found)
