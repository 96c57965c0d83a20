"""Internet checksums and headers, with plain `struct`."""

from __future__ import annotations

import struct

from phb.values.martians import MARTIAN_SOURCES

_MARTIANS = tuple((int(each.network_address), int(each.netmask)) for each in MARTIAN_SOURCES if each.version == 6)

ARP, IPV4, IPV6 = 0x0806, 0x0800, 0x86DD
ICMP, UDP, ICMPV6, NOTHING = 1, 17, 58, 59
_FRAGMENT = 44
_EXTENSIONS = (0, 43, _FRAGMENT, 60)
HOPS = 64
"""Of what the router itself sends (RFC 1700)."""


def is_station(mac: bytes) -> bool:
    """Whether a MAC address can be one station's: neither a group's nor none (IEEE 802)."""
    return not mac[0] & 1 and any(mac)


def checksum(data: bytes) -> int:
    """Compute the Internet checksum (RFC 1071)."""
    number = int.from_bytes(data + b"\0" if len(data) % 2 else data)
    return ~(number % 0xFFFF or (0xFFFF if number else 0)) & 0xFFFF


def finished(header: bytes) -> bytes:
    """Give an IPv4 header its checksum."""
    bare = header[:10] + b"\0\0" + header[12:]
    return bare[:10] + checksum(bare).to_bytes(2) + bare[12:]


def ipv4(
    source: bytes,
    destination: bytes,
    protocol: int,
    payload: bytes,
    tos: int = 0,
    identification: int = 0,
    options: bytes = b"",
) -> bytes:
    """Make a datagram of the router's own; options are whole words."""
    words = 0x45 + len(options) // 4
    length = 20 + len(options) + len(payload)
    header = struct.pack(">BBHHHBBH4s4s", words, tos, length, identification, 0, HOPS, protocol, 0, source, destination)
    return finished(header + options) + payload


def ipv6(source: bytes, destination: bytes, payload: bytes, hops: int = HOPS, traffic_class: int = 0) -> bytes:
    """Make an ICMPv6 message of the router's own, with its checksum (RFC 4443 section 2.3)."""
    header = struct.pack(">IHBB", 6 << 28 | traffic_class << 20, len(payload), ICMPV6, hops) + source + destination
    bare = payload[:2] + b"\0\0" + payload[4:]
    return header + bare[:2] + checksum(pseudo_header(header, bare) + bare).to_bytes(2) + bare[4:]


def pseudo_header(datagram: bytes, message: bytes) -> bytes:
    """Give the pseudo-header that the checksum of an ICMPv6 message covers too (RFC 8200 section 8.1)."""
    return datagram[8:40] + struct.pack(">IHBB", len(message), 0, 0, ICMPV6)


def upper_layer(datagram: bytes) -> tuple[int, int, int]:
    """Find the upper layer behind IPv6 extension headers: protocol, place, and where the protocol is named.

    RFC 8200 section 4. Behind the header of a later fragment is no upper layer: place is the packet's end.
    """
    kind, named, at = datagram[6], 6, 40
    while kind in _EXTENSIONS and at + 8 <= len(datagram):
        if kind == _FRAGMENT and int.from_bytes(datagram[at + 2 : at + 4]) & 0xFFF8:
            return datagram[at], len(datagram), at
        size = 8 if kind == _FRAGMENT else 8 * (datagram[at + 1] + 1)
        kind, named, at = datagram[at], at, at + size
    return kind, at, named


def frame(destination: bytes, source: bytes, kind: int, payload: bytes) -> bytes:
    """Make an Ethernet frame without check sequence, padded to what Ethernet asks for."""
    return (destination + source + kind.to_bytes(2) + payload).ljust(60, b"\0")


def is_martian(source: bytes) -> bool:
    """Whether no packet may come from this address."""
    if source[:2] == b"\xfe\x80":
        return False
    if len(source) == 4:
        return source[0] in (0, 127) or source[0] >= 224
    number = int.from_bytes(source)
    return any(number & mask == prefix for prefix, mask in _MARTIANS)
