"""Stage applicability: the host's ports, and its peers."""

from __future__ import annotations

from ipaddress import ip_network

from phb.compiler.applicability import compile_peers
from phb.decompiler.ports import Ports
from phb.decompiler.rows import NotAPolicyError, Rows, exact
from phb.intent import Entry, Exact, Prefix
from phb.model import Applicability
from phb.pipeline_names import Connectivity
from phb.values import AddressRange, AnyNetwork

_BITS = {4: 32, 6: 128}


def applicability(rows: Rows, ports: Ports) -> Applicability | None:
    """Give the ports and prefixes that a report counts; None where nothing is counted."""
    sides = rows.table("applicability.host_port")
    peers = [(_network(entry, version), entry) for version in _BITS for entry in _peers(rows, version)]
    if not sides:
        if peers:
            raise NotAPolicyError(peers[0][1], "peers of a host that is behind no port")
        return None
    asked = Applicability(
        ports=tuple(ports.name(number) for number in _numbers(sides)),
        peers=tuple(AddressRange(network[0], network[-1]) for network, _ in peers),
        direct_networks=tuple(
            network for network, entry in peers if entry.parameters["connectivity"] == Connectivity.DIRECT
        ),
        trivial_bytes=sides[0].parameters["trivial_bytes"],
        short_lived_ms=sides[0].parameters["short_lived_us"] // 1000,
    )
    compiled = {(entry.table, str(entry.match)): entry.parameters for entry in compile_peers(asked)}
    for _, entry in peers:
        if compiled.get((entry.table, str(entry.match))) != entry.parameters:
            raise NotAPolicyError(entry, "a part of a direct network is direct, too")
    return asked


def _peers(rows: Rows, version: int) -> list[Entry]:
    return rows.table(f"applicability.peer_ipv{version}")


def _network(entry: Entry, version: int) -> AnyNetwork:
    prefix = entry.match.get("peer", Prefix(0, 0))
    assert isinstance(prefix, Prefix)
    return ip_network((prefix.value.to_bytes(_BITS[version] // 8, "big"), prefix.length))


def _numbers(sides: list[Entry]) -> list[int]:
    """Give the ports, each of which has an entry for either direction."""
    ways = {(entry.action, field, exact(value)) for entry in sides for field, value in entry.match.items()}
    numbers = [number for action, field, number in sorted(ways) if (action, field) == ("outbound", "ingress_port")]
    both = {("outbound", "ingress_port", number) for number in numbers}
    both |= {("inbound", "egress_port", number) for number in numbers}
    for entry in sides:
        fields = [
            (entry.action, field, value.value) for field, value in entry.match.items() if isinstance(value, Exact)
        ]
        if len(fields) != 1 or fields[0] not in both or not both <= ways:
            raise NotAPolicyError(entry, "what comes in at a host's port is outbound, what goes out there inbound")
        if entry.parameters != sides[0].parameters or entry.parameters["short_lived_us"] % 1000:
            raise NotAPolicyError(entry, "all ports of a host have the same limits, in milliseconds")
    return numbers
