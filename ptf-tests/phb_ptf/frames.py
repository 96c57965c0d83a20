"""Frames for tables of cases: scapy makes them, a table sets each field that matters."""

from __future__ import annotations

from typing import Any

from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import Dot1Q, Ether
from scapy.packet import Packet, Raw

HOST = "10.0.1.1"
PEER = "10.0.2.1"
HOST6 = "2001:db8::1"
PEER6 = "2001:db8:1::1"
"""Who sends and who receives, unless a case says otherwise."""

HOST_MAC = "02:00:00:00:00:01"
PEER_MAC = "02:00:00:00:00:02"


def frame(
    *layers: Packet, size: int = 0, tag: int | None = None, macs: tuple[str, str] = (HOST_MAC, PEER_MAC)
) -> bytes:
    """Return an Ethernet frame with layers, outermost first.

    Zeros fill it to `size` bytes, without check sequence; it is never cut. `tag` is the 802.1p priority of a tag for
    VLAN 7, and `macs` are source and destination.
    """
    made: Packet = Ether(src=macs[0], dst=macs[1])
    if tag is not None:
        made /= Dot1Q(vlan=7, prio=tag)
    for layer in layers:
        made /= layer
    missing = size - len(made)
    return bytes(made / Raw(bytes(missing))) if missing > 0 else bytes(made)


def ip(version: int = 4, *, tos: int = 0, ttl: int = 64, **fields: Any) -> Packet:
    """Return an IPv4 or IPv6 header from `HOST` to `PEER`; other `fields` have scapy's names."""
    if version == 6:
        six: dict[str, Any] = {"src": HOST6, "dst": PEER6, "tc": tos, "hlim": ttl}
        return IPv6(**(six | fields))
    four: dict[str, Any] = {"src": HOST, "dst": PEER, "tos": tos, "ttl": ttl}
    return IP(**(four | fields))


def udp(
    port: int = 80,
    *,
    source_port: int = 1,
    version: int = 4,
    size: int = 100,
    tag: int | None = None,
    macs: tuple[str, str] = (HOST_MAC, PEER_MAC),
    **fields: Any,
) -> bytes:
    """Return a UDP datagram to a port; other arguments as those of `frame` and `ip`."""
    return frame(ip(version, **fields), UDP(sport=source_port, dport=port), size=size, tag=tag, macs=macs)


def tcp(
    port: int = 80,
    flags: str = "A",
    *,
    source_port: int = 1025,
    version: int = 4,
    size: int = 0,
    tag: int | None = None,
    options: list[Any] | None = None,
    sequence: int = 0,
    acknowledgement: int = 0,
    checksum: int | None = None,
    window: int = 8192,
    macs: tuple[str, str] = (HOST_MAC, PEER_MAC),
    **fields: Any,
) -> bytes:
    """Return a TCP segment to a port, its checksum right if none is given; other arguments as in `frame` and `ip`."""
    numbers: dict[str, Any] = {"seq": sequence, "ack": acknowledgement, "window": window, "chksum": checksum}
    segment = TCP(sport=source_port, dport=port, flags=flags, options=options or [], **numbers)
    return frame(ip(version, **fields), segment, size=size, tag=tag, macs=macs)


def icmp(**fields: Any) -> bytes:
    """Return an echo request over IPv4; arguments as those of `ip`."""
    return frame(ip(**fields), ICMP(), size=100)
