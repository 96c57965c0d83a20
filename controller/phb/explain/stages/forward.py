"""Stage forward: a wire between two ports, or the longest prefix."""

from __future__ import annotations

from ipaddress import IPv4Network, IPv6Network

from phb.explain.packet import Packet
from phb.explain.tables import Tables
from phb.intent import Entry, Prefix
from phb.names import Names
from phb.pipeline_names import DropReason
from phb.values import MacAddress

STAGE = "forward"
_EXCEPTIONS = {DropReason.TTL_EXPIRED: 1, DropReason.NO_ROUTE: 2}  # ForwardingException of p4src/headers.p4


def forward(packet: Packet, tables: Tables, names: Names) -> None:
    """Choose the egress port, or drop."""
    headers = packet.headers
    if packet.checksum_error:
        packet.drop(STAGE, DropReason.BAD_CHECKSUM, "the IPv4 header's checksum is wrong")
        return
    wire = tables.lookup("PhbIngress.forward.cross_connect", {"ingress_port": packet.ingress_port})
    if wire is not None:
        packet.egress_port = wire.parameters["port"]
        packet.say(STAGE, f"cross-connected to port {names.port(packet.egress_port)}", wire.origin)
        return
    at = headers.ipv4 if headers.ipv4 is not None else headers.ipv6
    if at is None or not _is_sound(packet, at):
        packet.drop(STAGE, DropReason.NOT_IP, "neither a wire nor an IP packet")
        return
    hops = at + (8 if headers.ip_version == 4 else 7)
    if headers.number(hops, 1) <= 1:
        packet.drop(STAGE, DropReason.TTL_EXPIRED, f"TTL {headers.number(hops, 1)} has run out")
    else:
        _route(packet, tables, names)
        headers.write(hops, 1, headers.number(hops, 1) - 1)
    _except(packet, tables)


def _is_sound(packet: Packet, at: int) -> bool:
    """Whether the header has the right version, is there to its end, and lies inside the datagram (RFC 1812, 5.2.2)."""
    headers = packet.headers
    version, words = divmod(headers.number(at, 1), 16)
    if version != headers.ip_version:
        return False
    return version == 6 or (len(headers.ip_header) == 4 * words and headers.number(at + 2, 2) >= 4 * words)


def _route(packet: Packet, tables: Tables, names: Names) -> None:
    headers = packet.headers
    version = headers.ip_version
    table, bits = f"PhbIngress.forward.ipv{version}_route", 32 if version == 4 else 128
    entry = tables.lookup(table, {"destination": headers.addresses[1]}, bits)
    if entry is None:
        packet.drop(STAGE, DropReason.NO_ROUTE, "no route to the destination")
    elif entry.action == "discard":
        packet.drop(STAGE, DropReason.DISCARD_ROUTE, f"route {_prefix(entry, bits)} discards", entry.origin)
    else:
        packet.egress_port = entry.parameters["port"]
        headers.write(0, 6, entry.parameters["destination_mac"])
        headers.write(6, 6, entry.parameters["source_mac"])
        hop = MacAddress(entry.parameters["destination_mac"])
        words = f"route {_prefix(entry, bits)} to port {names.port(packet.egress_port)}, next hop {hop}"
        packet.say(STAGE, words, entry.origin)


def _except(packet: Packet, tables: Tables) -> None:
    """What a router tells its control plane about instead of dropping it silently."""
    code = _EXCEPTIONS.get(packet.drop_reason)
    entry = tables.lookup("PhbIngress.forward.exception", {"code": code}) if code is not None else None
    if entry is not None:
        packet.drop_reason = DropReason.NONE
        packet.to_controller = True
        packet.say(STAGE, "goes to the controller instead of being dropped", entry.origin)


def _prefix(entry: Entry, bits: int) -> str:
    value = entry.match.get("destination")
    network, length = (value.value, value.length) if isinstance(value, Prefix) else (0, 0)
    return str(IPv4Network((network, length)) if bits == 32 else IPv6Network((network, length)))
