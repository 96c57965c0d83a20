"""Stage forward at a router's ports: what they take, and what isn't forwarded (interface.p4, next_hop.p4)."""

from __future__ import annotations

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

from phb.explain.packet import TracedPacket
from phb.explain.tables import Tables
from phb.pipeline_names import DropReason, ForwardingException
from phb.values import AnyNetwork, MacAddress
from phb.values.martians import MARTIAN_DESTINATIONS, MARTIAN_SOURCES

STAGE = "forward"
_ARP = 0x0806
_GROUPS: dict[int, AnyNetwork] = {4: IPv4Network("224.0.0.0/4"), 6: IPv6Network("ff00::/8")}


def is_interface(packet: TracedPacket, tables: Tables) -> bool:
    """Whether the packet came in at a router's port."""
    return _receiving(packet, tables) is not None


def arrive(packet: TracedPacket, tables: Tables) -> None:
    """Drop packets that a router's port doesn't take, or that its control plane has to look at."""
    mac = _receiving(packet, tables)
    if mac is None:
        return
    headers = packet.headers
    to = headers.number(0, 6)
    version = headers.ip_version
    ip_at = headers.ipv4 if version == 4 else headers.ipv6
    to_group = bool(to >> 40 & 1)
    behind = packet.length - (14 if headers.vlan is None else 18)
    if not to_group and to != mac:
        packet.drop(
            STAGE, DropReason.OTHER_STATION, f"the frame is for {MacAddress(to)}, the port is {MacAddress(mac)}"
        )
    elif headers.number(12, 2) == _ARP:
        for_control(packet, ForwardingException.FOR_ROUTER, DropReason.FOR_ROUTER, "ARP is for the control plane")
    elif ip_at is None:
        return
    elif to_group and _destination(packet) not in _GROUPS[version or 4]:
        packet.drop(STAGE, DropReason.BROADCAST, "came as a broadcast of the link, and is for no group")
    elif _bytes(packet, ip_at) > behind:
        packet.drop(STAGE, DropReason.TRUNCATED, f"{behind} bytes of a packet of {_bytes(packet, ip_at)}")
    elif version == 4 and len(headers.ip_header) > 20:
        for_control(packet, ForwardingException.OPTIONS, DropReason.FOR_ROUTER, "options are for the control plane")


def drop_martian(packet: TracedPacket) -> bool:
    """Drop a packet with a source or destination that is never forwarded; say whether it had one."""
    source, destination = (_address(packet, which) for which in (0, 1))
    if any(source in each for each in MARTIAN_SOURCES):
        wrong = f"from {source}"
    elif any(destination in each for each in MARTIAN_DESTINATIONS) or (
        isinstance(destination, IPv6Address) and destination.is_multicast and int(destination) >> 112 & 0xF < 3
    ):
        wrong = f"to {destination}"
    else:
        return False
    packet.drop(STAGE, DropReason.MARTIAN, f"{wrong}: such addresses are not forwarded (RFC 1812 section 5.3.7)")
    packet.forwarding_exception = ForwardingException.NONE
    return True


def leave(packet: TracedPacket, tables: Tables, next_hop: int) -> None:
    """Check the link's MTU, and find the next hop's MAC address where the route lacks it."""
    sends = tables.lookup("PhbIngress.forward.next_hop.send", {"egress_port": packet.egress_port or 0})
    headers = packet.headers
    ip_at = headers.ipv4 if headers.ip_version == 4 else headers.ipv6
    assert ip_at is not None
    mtu = sends.parameters["mtu"] if sends is not None else 0
    if sends is not None and mtu and _bytes(packet, ip_at) > mtu:
        words = f"{_bytes(packet, ip_at)} bytes, and the MTU is {mtu}"
        for_control(packet, ForwardingException.TOO_BIG, DropReason.TOO_BIG, words)
    elif next_hop:
        # Neighbours are no part of a policy: the switch knows them, and the model takes them to be there.
        if sends is not None:
            headers.write(6, 6, sends.parameters["mac"])
        packet.say(STAGE, "its MAC address is the one that ARP or neighbour discovery has learnt")


def for_control(packet: TracedPacket, exception: ForwardingException, reason: DropReason, words: str) -> None:
    """Drop the packet, unless the control plane asks for it."""
    packet.drop(STAGE, reason, words)
    packet.forwarding_exception = exception


def _receiving(packet: TracedPacket, tables: Tables) -> int | None:
    entry = tables.lookup("PhbIngress.forward.arrival.receive", {"ingress_port": packet.ingress_port})
    return entry.parameters["mac"] if entry is not None else None


def _bytes(packet: TracedPacket, at: int) -> int:
    """Give the bytes of the IP packet, by its header."""
    headers = packet.headers
    return headers.number(at + 2, 2) if headers.ip_version == 4 else 40 + headers.number(at + 4, 2)


def _address(packet: TracedPacket, which: int) -> IPv4Address | IPv6Address:
    number = packet.headers.addresses[which]
    return IPv4Address(number) if packet.headers.ip_version == 4 else IPv6Address(number)


def _destination(packet: TracedPacket) -> IPv4Address | IPv6Address:
    return _address(packet, 1)
