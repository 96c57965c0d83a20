"""Ports that are a router's: MAC address, MTU, and addresses with their networks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_interface, ip_network

from phb.compiler.router import DEFAULT_MTU
from phb.decompiler.rows import NotAPolicyError, Rows, exact
from phb.intent import Entry, Prefix
from phb.values import AnyAddress, AnyInterface, AnyNetwork, MacAddress

ROUTER_ACTIONS = ("own", "broadcast", "attached_ipv4", "attached_ipv6")
_BITS = {4: 32, 6: 128}


@dataclass(frozen=True)
class Interface:
    """A router's port, as entries say it; `mtu` is None where it is the usual one."""

    mac: MacAddress
    addresses: tuple[AnyInterface, ...]
    mtu: int | None


def address_of(version: int, number: int) -> AnyAddress:
    """Make an address of its number."""
    return IPv4Address(number) if version == 4 else IPv6Address(number)


def prefix_of(entry: Entry, version: int) -> AnyNetwork:
    """Give the destination of a route."""
    prefix = entry.match.get("destination", Prefix(0, 0))
    assert isinstance(prefix, Prefix)
    return ip_network((prefix.value.to_bytes(_BITS[version] // 8, "big"), prefix.length))


def interfaces(rows: Rows) -> dict[int, Interface]:
    """Read the ports that are a router's, by number."""
    sends = {exact(entry.match["egress_port"]): entry for entry in rows.table("forward.next_hop.send")}
    takes = {exact(entry.match["ingress_port"]): entry for entry in rows.table("forward.arrival.receive")}
    found = {}
    for number, entry in (sends | takes).items():
        if (
            number not in sends
            or number not in takes
            or sends[number].parameters["mac"] != takes[number].parameters["mac"]
        ):
            raise NotAPolicyError(entry, "a router's port receives and sends with one MAC address")
        mtu = sends[number].parameters["mtu"]
        mac = MacAddress(entry.parameters["mac"])
        found[number] = Interface(mac, tuple(_addresses(rows, number)), None if mtu == DEFAULT_MTU else mtu)
    return found


def _addresses(rows: Rows, port: int) -> Iterator[AnyInterface]:
    """Give addresses in the order in which they are routed to, longest networks first."""
    for version, bits in _BITS.items():
        entries = [
            entry
            for entry in rows.table(f"forward.ipv{version}_route")
            if entry.action in ROUTER_ACTIONS and entry.parameters.get("port") == port
        ]
        networks = [prefix_of(entry, version) for entry in entries if entry.action.startswith("attached")]
        anycast = {network.network_address for network in networks if version == 6 and network.prefixlen < bits - 1}
        for entry in entries:
            own = prefix_of(entry, version)
            if entry.action != "own" or own.prefixlen < bits or own.network_address in anycast:
                continue
            around = [network.prefixlen for network in networks if own.network_address in network]
            yield ip_interface((int(own.network_address), max(around, default=bits)))
