"""Stage forward: a wire between two ports, or the longest prefix."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

from phb.explain.packet import TracedPacket
from phb.explain.stages.router import arrive, drop_martian, for_control, is_interface, leave
from phb.explain.tables import Tables
from phb.intent import Entry, Prefix
from phb.names import Names
from phb.pipeline_names import DropReason, ForwardingException
from phb.values import MacAddress

STAGE = "forward"


def forward(packet: TracedPacket, tables: Tables, names: Names) -> None:
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
    arrive(packet, tables)
    at = headers.ipv4 if headers.ipv4 is not None else headers.ipv6
    if not packet.is_dropped():
        if at is None or not _is_sound(packet, at):
            packet.drop(STAGE, DropReason.NOT_IP, "neither a wire nor an IP packet")
            return
        _forward(packet, tables, names, at + (8 if headers.ip_version == 4 else 7))
    _except(packet, tables)


def _forward(packet: TracedPacket, tables: Tables, names: Names, hops_at: int) -> None:
    """Forward by the longest prefix."""
    headers = packet.headers
    hops = headers.number(hops_at, 1)
    next_hop = _route(packet, tables, names) if hops > 1 else 0
    if hops <= 1:
        # Packets for the router itself.
        if _found(packet, tables, ("own",)):
            _route(packet, tables, names)
        else:
            for_control(packet, ForwardingException.TTL_EXPIRED, DropReason.TTL_EXPIRED, f"TTL {hops} has run out")
    if packet.forwarding_exception is not ForwardingException.FOR_ROUTER and is_interface(packet, tables):
        drop_martian(packet)
    if not packet.is_dropped():
        leave(packet, tables, next_hop)
    if not packet.is_dropped():
        headers.write(hops_at, 1, hops - 1)


def _is_sound(packet: TracedPacket, at: int) -> bool:
    """Whether the header has the right version, is there to its end, and lies inside the datagram (RFC 1812, 5.2.2)."""
    headers = packet.headers
    version, words = divmod(headers.number(at, 1), 16)
    if version != headers.ip_version:
        return False
    return version == 6 or (len(headers.ip_header) == 4 * words and headers.number(at + 2, 2) >= 4 * words)


def _found(packet: TracedPacket, tables: Tables, actions: tuple[str, ...] = ()) -> Entry | None:
    version = packet.headers.ip_version
    table = f"PhbIngress.forward.ipv{version}_route"
    entry = tables.lookup(table, {"destination": packet.headers.addresses[1]}, 32 if version == 4 else 128)
    return entry if entry is None or not actions or entry.action in actions else None


def _route(packet: TracedPacket, tables: Tables, names: Names) -> int:
    """Choose the egress port, or drop; give the next hop whose MAC address the route lacks, or 0."""
    headers = packet.headers
    bits = 32 if headers.ip_version == 4 else 128
    entry = _found(packet, tables)
    if entry is None:
        words = "no route to the destination"
        for_control(packet, ForwardingException.NO_ROUTE, DropReason.NO_ROUTE, words)
        return 0
    if entry.action == "discard":
        packet.drop(STAGE, DropReason.DISCARD_ROUTE, f"route {_prefix(entry, bits)} discards", entry.origin)
        return 0
    if entry.action == "broadcast":
        packet.drop(STAGE, DropReason.BROADCAST, "the broadcast address of a network behind a port", entry.origin)
        return 0
    if entry.action == "own":
        for_control(packet, ForwardingException.FOR_ROUTER, DropReason.FOR_ROUTER, "for the router itself")
        return 0
    packet.egress_port = entry.parameters["port"]
    where = f"route {_prefix(entry, bits)} to port {names.port(packet.egress_port)}"
    if entry.action == "route":
        headers.write(0, 6, entry.parameters["destination_mac"])
        headers.write(6, 6, entry.parameters["source_mac"])
        packet.say(STAGE, f"{where}, next hop {MacAddress(entry.parameters['destination_mac'])}", entry.origin)
        return 0
    next_hop = entry.parameters.get("address", headers.addresses[1])
    packet.say(
        STAGE, f"{where}, next hop {IPv4Address(next_hop) if bits == 32 else IPv6Address(next_hop)}", entry.origin
    )
    return next_hop


def _except(packet: TracedPacket, tables: Tables) -> None:
    """Mark a dropped packet that the control plane is told about."""
    if packet.forwarding_exception is ForwardingException.NONE:
        return
    entry = tables.lookup("PhbIngress.forward.exception", {"code": packet.forwarding_exception})
    if entry is not None:
        packet.drop_reason = DropReason.NONE
        packet.to_controller = True
        packet.say(STAGE, "goes to the controller instead of being dropped", entry.origin)


def _prefix(entry: Entry, bits: int) -> str:
    value = entry.match.get("destination")
    network, length = (value.value, value.length) if isinstance(value, Prefix) else (0, 0)
    return str(IPv4Network((network, length)) if bits == 32 else IPv6Network((network, length)))
