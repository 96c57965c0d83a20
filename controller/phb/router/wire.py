"""Internet checksums and headers, with plain `struct`: scapy takes some forty times as long for one answer."""

from __future__ import annotations

import struct

ARP, IPV4, IPV6 = 0x0806, 0x0800, 0x86DD
ICMP, UDP, ICMPV6 = 1, 17, 58
HOPS = 64
"""Of what the router itself sends (RFC 1700)."""


def checksum(data: bytes) -> int:
    """RFC 1071."""
    number = int.from_bytes(data + b"\0" if len(data) % 2 else data)
    return ~(number % 0xFFFF or (0xFFFF if number else 0)) & 0xFFFF


def finished(header: bytes) -> bytes:
    """An IPv4 header with its checksum."""
    bare = header[:10] + b"\0\0" + header[12:]
    return bare[:10] + checksum(bare).to_bytes(2) + bare[12:]


def ipv4(source: bytes, destination: bytes, protocol: int, payload: bytes, tos: int = 0) -> bytes:
    """A datagram of the router's own."""
    header = struct.pack(">BBHHHBBH4s4s", 0x45, tos, 20 + len(payload), 0, 0, HOPS, protocol, 0, source, destination)
    return finished(header) + payload


def ipv6(source: bytes, destination: bytes, payload: bytes, hops: int = HOPS, traffic_class: int = 0) -> bytes:
    """An ICMPv6 message of the router's own; its checksum is made here (RFC 4443 section 2.3)."""
    pseudo = source + destination + struct.pack(">IHBB", len(payload), 0, 0, ICMPV6)
    bare = payload[:2] + b"\0\0" + payload[4:]
    body = bare[:2] + checksum(pseudo + bare).to_bytes(2) + bare[4:]
    return struct.pack(">IHBB", 6 << 28 | traffic_class << 20, len(body), ICMPV6, hops) + source + destination + body


def frame(destination: bytes, source: bytes, kind: int, payload: bytes) -> bytes:
    """An Ethernet frame without check sequence, padded to what Ethernet asks for."""
    return (destination + source + kind.to_bytes(2) + payload).ljust(60, b"\0")
