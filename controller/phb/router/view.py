"""The router's ports, addresses and routes, read from the switch's own entries."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from phb.compiler.router import RECEIVE, ROUTE, SEND
from phb.device.artifact import Artifact
from phb.entries import TableRow
from phb.intent import Entry, Exact, Prefix

NEIGHBOUR = "PhbIngress.forward.next_hop.neighbour"
LOOKED_AT = (RECEIVE, SEND, *ROUTE.values())
"""Tables that say what the router is."""
_BITS = {4: 32, 6: 128}
MAPPED = 0xFFFF << 32
"""IPv4 addresses in a key of 128 bits: ::ffff:0:0/96 (RFC 4291 section 2.5.5.2)."""


def decoded(rows: Iterable[TableRow], artifact: Artifact, tables: tuple[str, ...] = LOOKED_AT) -> Iterator[Entry]:
    """Decode the rows of some tables."""
    numbers = {artifact.table(name).number for name in tables}
    return (artifact.named(row) for row in rows if row.table in numbers and not row.default)


@dataclass(frozen=True, slots=True)
class Interface:
    """A router's port: MAC address, MTU in bytes."""

    mac: bytes
    mtu: int

    @property
    def link_local(self) -> bytes:
        """fe80:: with the modified EUI-64 of the MAC address (RFC 4291 appendix A)."""
        return (
            bytes.fromhex("fe80000000000000") + bytes((self.mac[0] ^ 2,)) + self.mac[1:3] + b"\xff\xfe" + self.mac[3:]
        )


@dataclass(frozen=True, slots=True)
class Hop:
    """Where a packet goes: a next hop's address, or both MAC addresses."""

    port: int
    next_hop: bytes | None
    macs: bytes = b""


@dataclass
class View:
    """Ports, own addresses and routes.

    `own` has ports by address in network order; `anycast` are those addresses that are the subnet-router anycast
    address of a network (RFC 4291 section 2.6.1).
    """

    interfaces: dict[int, Interface] = field(default_factory=dict)
    own: dict[bytes, int] = field(default_factory=dict)
    anycast: frozenset[bytes] = frozenset()
    _routes: dict[int, dict[int, dict[int, Entry]]] = field(default_factory=lambda: {4: {}, 6: {}})

    @classmethod
    def of(cls, entries: Iterable[Entry]) -> View:
        """Read the view from what a switch holds."""
        view = cls()
        tables = {table: version for version, table in ROUTE.items()}
        taking = set()
        for entry in entries:
            if entry.table == SEND:
                key = entry.match["egress_port"]
                assert isinstance(key, Exact)
                view.interfaces[key.value] = Interface(entry.parameters["mac"].to_bytes(6), entry.parameters["mtu"])
            elif entry.table == RECEIVE:
                key = entry.match["ingress_port"]
                assert isinstance(key, Exact)
                taking.add(key.value)
            elif entry.table in tables:
                version = tables[entry.table]
                prefix = entry.match.get("destination", Prefix(0, 0))
                assert isinstance(prefix, Prefix)
                bits = _BITS[version]
                view._routes[version].setdefault(prefix.length, {})[prefix.value >> (bits - prefix.length)] = entry
                if entry.action == "own" and prefix.length == bits:
                    view.own[prefix.value.to_bytes(bits // 8)] = entry.parameters["port"]
        view.interfaces = {port: each for port, each in view.interfaces.items() if port in taking}
        for table in view._routes.values():
            for length in sorted(table, reverse=True):
                table[length] = table.pop(length)
        view.anycast = frozenset(view._anycast())
        return view

    def _anycast(self) -> Iterator[bytes]:
        for length, entries in self._routes[6].items():
            for prefix, entry in entries.items():
                first = (prefix << 128 - length).to_bytes(16)
                if entry.action == "attached_ipv6" and first in self.own:
                    others = (int.from_bytes(each) for each in self.own if len(each) == 16 and each != first)
                    if any(each >> 128 - length == prefix for each in others):
                        yield first

    def route(self, address: bytes) -> Entry | None:
        """Find the route with the longest prefix."""
        bits, value = 8 * len(address), int.from_bytes(address)
        for length, entries in self._routes[4 if bits == 32 else 6].items():
            if (found := entries.get(value >> (bits - length))) is not None:
                return found
        return None

    def is_broadcast(self, datagram: bytes) -> bool:
        """Whether a packet is to all of a network behind a port."""
        entry = self.route(datagram[16:20]) if datagram[0] >> 4 == 4 else None
        return entry is not None and entry.action == "broadcast"

    def hop(self, address: bytes) -> Hop | None:
        """Find where packets to this address go; None where they aren't forwarded."""
        entry = self.route(address)
        if entry is None or "port" not in entry.parameters or entry.action == "own":
            return None
        port = entry.parameters["port"]
        if entry.action == "route":
            given = entry.parameters
            return Hop(port, None, given["destination_mac"].to_bytes(6) + given["source_mac"].to_bytes(6))
        if "address" in entry.parameters:
            return Hop(port, entry.parameters["address"].to_bytes(len(address)))
        return Hop(port, address)

    def is_on_link(self, port: int, address: bytes) -> bool:
        """Whether an address is one of a neighbour at a port."""
        hop = self.hop(address)
        return address[:2] == b"\xfe\x80" or (hop is not None and hop.port == port and hop.next_hop == address)

    def source(self, port: int, towards: bytes) -> bytes | None:
        """Find, of the addresses at a port, the one nearest to another (RFC 1812 section 4.3.2.4); None without one."""
        mine = [
            each
            for each, at in self.own.items()
            if at == port and len(each) == len(towards) and each not in self.anycast
        ]
        target = int.from_bytes(towards)
        return min(mine, key=lambda each: (int.from_bytes(each) ^ target, -int.from_bytes(each)), default=None)
