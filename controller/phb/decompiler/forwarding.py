"""Stage forward: wires and routes."""

from __future__ import annotations

from ipaddress import ip_network

from phb.decompiler.ports import Ports
from phb.decompiler.rows import NotAPolicyError, Rows
from phb.intent import Prefix
from phb.model import CrossConnect, Route
from phb.values import MacAddress

_BITS = {4: 32, 6: 128}


def cross_connects(rows: Rows, ports: Ports) -> tuple[CrossConnect, ...]:
    """Wires, each of which is an entry for either way.

    Raises:
        NotAPolicyError: One way of a wire is missing.

    """
    for entry in rows.table("forward.cross_connect"):
        if ports.wires.get(entry.parameters["port"]) not in ports.wires:
            raise NotAPolicyError(entry, "a wire carries packets both ways")
    wires = dict.fromkeys(tuple(sorted(wire)) for wire in ports.wires.items())
    return tuple(CrossConnect(between=(ports.name(one), ports.name(other))) for one, other in wires)


def routes(rows: Rows, ports: Ports) -> tuple[Route, ...]:
    """Routes of both IP versions."""
    found = []
    for version, bits in _BITS.items():
        for entry in rows.table(f"forward.ipv{version}_route"):
            prefix = entry.match.get("destination", Prefix(0, 0))
            assert isinstance(prefix, Prefix)
            network = ip_network((prefix.value.to_bytes(bits // 8, "big"), prefix.length))
            if entry.action == "discard":
                found.append(Route(destination=network, discard=True))
                continue
            source, destination = (MacAddress(entry.parameters[name]) for name in ("source_mac", "destination_mac"))
            port = ports.name(entry.parameters["port"])
            found.append(Route(destination=network, port=port, source_mac=source, destination_mac=destination))
    return tuple(found)
