"""ICMP of both versions: errors and echo (RFC 792, RFC 1812 section 4.3, RFC 4443)."""

from __future__ import annotations

import struct
from enum import Enum

from phb.router.options import returned
from phb.router.wire import ICMP, ICMPV6, checksum, ipv4, ipv6, pseudo_header, upper_layer

_LONGEST = {4: 576, 6: 1280}
"""Bytes of an error with what it quotes: RFC 1812 section 4.3.2.3, RFC 4443 section 2.4."""
_CONTROL = 0xC0
"""Internetwork control, the precedence of errors: RFC 1812 section 4.3.2.5."""
_REDIRECT = 137
"""An informational message by its number, about which nothing is told all the same."""


class Error(Enum):
    """Type and code, of IPv4 and of IPv6."""

    NO_ROUTE = (3, 0), (1, 0)
    HOST_UNREACHABLE = (3, 1), (1, 3)
    PROTOCOL_UNREACHABLE = (3, 2), (4, 1)
    PORT_UNREACHABLE = (3, 3), (1, 4)
    TOO_BIG = (3, 4), (2, 0)
    SOURCE_ROUTE_FAILED = (3, 5), (1, 5)
    TIME_EXCEEDED = (11, 0), (3, 0)
    PARAMETER_PROBLEM = (12, 0), (4, 0)


def error(source: bytes, about: bytes, what: Error, value: int = 0) -> bytes:
    """Make an error to the sender of a packet. `value` is an MTU, or where in the packet the problem is."""
    if about[0] >> 4 == 4:
        kind, code = what.value[0]
        rest = value << 24 if what is Error.PARAMETER_PROBLEM else value
        body = struct.pack(">BBHI", kind, code, 0, rest) + about[: _LONGEST[4] - 28]
        body = body[:2] + checksum(body).to_bytes(2) + body[4:]
        return ipv4(source, about[12:16], ICMP, body, _CONTROL)
    kind, code = what.value[1]
    body = struct.pack(">BBHI", kind, code, 0, value) + about[: _LONGEST[6] - 48]
    return ipv6(source, about[8:24], body, traffic_class=_CONTROL)


def may_be_told(datagram: bytes) -> bool:
    """Whether an error may be sent about a packet (RFC 1812 section 4.3.2.7, RFC 4443 section 2.4)."""
    if datagram[0] >> 4 == 4:
        source, to = datagram[12:16], datagram[16:20]
        if source[0] in (0, 127) or source[0] >= 224 or to[0] >= 224 or datagram[6] & 0x1F or datagram[7]:
            return False
        first = datagram[4 * (datagram[0] & 15) :][:1]
        return datagram[9] != ICMP or first in (b"\x08", b"\x00", b"\x0d", b"\x0e")
    source, to = datagram[8:24], datagram[24:40]
    if source[0] == 0xFF or int.from_bytes(source) < 2:
        return False
    if to[0] == 0xFF:
        return False
    protocol, at, _ = upper_layer(datagram)
    return protocol != ICMPV6 or (datagram[at : at + 1] >= b"\x80" and datagram[at] != _REDIRECT)


def echo_reply(source: bytes, datagram: bytes) -> bytes | None:
    """Answer an echo request, with its ToS octet and its routes; None for anything else.

    `source` is the address that it was sent to, or one of the router's own where that is an anycast address.
    """
    if datagram[0] >> 4 == 4:
        body = datagram[4 * (datagram[0] & 15) :]
        # A first fragment whose others are zeros has the right checksum too.
        if len(body) < 8 or body[0] != 8 or datagram[6] & 0x20 or checksum(body):
            return None
        body = b"\0" + body[1:2] + b"\0\0" + body[4:]
        body = body[:2] + checksum(body).to_bytes(2) + body[4:]
        to, routes = returned(datagram, source)
        return ipv4(source, to, ICMP, body, datagram[1], int.from_bytes(datagram[4:6]), routes)
    protocol, at, _ = upper_layer(datagram)
    body = datagram[at:]
    if protocol != ICMPV6 or len(body) < 8 or body[0] != 128 or checksum(pseudo_header(datagram, body) + body):
        return None
    traffic_class = int.from_bytes(datagram[:2]) >> 4 & 0xFF
    return ipv6(source, datagram[8:24], b"\x81" + body[1:], traffic_class=traffic_class)
