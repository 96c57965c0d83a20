"""UDP sockets of Linux with the kernel's times, the DSCP and the TTL of each datagram, for IPv4 and IPv6.

Receiving times are the kernel's (``SO_TIMESTAMPING``, software), taken when the driver hands the packet over; so are
sending times, where the driver tells them. Python's module knows neither the option nor its flags.
"""

from __future__ import annotations

import ipaddress
import socket
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

LARGEST: Final = 9216
"""Octets of a test packet that is read; longer ones are cut, and told so."""

_SO_TIMESTAMPING: Final = 37
_TX_SOFTWARE, _RX_SOFTWARE, _SOFTWARE, _NUMBERED, _TIME_ONLY = 1 << 1, 1 << 3, 1 << 4, 1 << 7, 1 << 11
_MSG_ERRQUEUE: Final = 0x2000
_OF_TIMESTAMPING: Final = 4  # SO_EE_ORIGIN_TIMESTAMPING
_IP_RECVERR, _IPV6_RECVERR, _IP_PKTINFO, _IP_RECVTTL, _IP_RECVTOS = 11, 25, 8, 12, 13
_ERROR: Final = struct.Struct("=IBBBBII")
_TIME: Final = struct.Struct("@ll")
_ANCILLARY: Final = 512

Address = tuple[Any, ...]
"""As the socket module has it: host, port, and of IPv6 flow and scope."""


@dataclass(frozen=True, slots=True)
class Datagram:
    """One that came.

    Attributes:
        time_ns: When it came, by the kernel (Unix); None where it doesn't tell.
        tos: ToS octet or traffic class.
        ttl: TTL or hop limit.
        local: Ancillary data that makes an answer leave from the address that this was sent to.
    """

    octets: bytes
    source: Address
    time_ns: int | None
    tos: int
    ttl: int
    local: tuple[tuple[int, int, bytes], ...]


class DatagramSocket:
    """A UDP socket that never blocks."""

    def __init__(self, family: int, *, sending_times: bool) -> None:
        self.socket = socket.socket(family, socket.SOCK_DGRAM)
        self.socket.setblocking(False)
        self._six = family == socket.AF_INET6
        flags = _RX_SOFTWARE | _SOFTWARE
        if sending_times:
            flags |= _TX_SOFTWARE | _NUMBERED | _TIME_ONLY
        self.socket.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPING, flags)
        if self._six:
            self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            options = (socket.IPV6_RECVTCLASS, socket.IPV6_RECVHOPLIMIT, socket.IPV6_RECVPKTINFO)
        else:
            options = (_IP_RECVTOS, _IP_RECVTTL, _IP_PKTINFO)
        for option in options:
            self.socket.setsockopt(self._level, option, 1)

    @property
    def _level(self) -> int:
        return socket.IPPROTO_IPV6 if self._six else socket.IPPROTO_IP

    def close(self) -> None:
        """Close it."""
        self.socket.close()

    def mark(self, tos: int) -> None:
        """Have all that is sent without marks of its own carry this ToS octet or traffic class."""
        self.socket.setsockopt(self._level, socket.IPV6_TCLASS if self._six else socket.IP_TOS, tos)

    def receive(self) -> Datagram | None:
        """Take one; None if there is none, or if it is longer than `LARGEST`.

        Raises:
            OSError: Also what an ICMP message of the other side said.
        """
        try:
            octets, ancillary, flags, source = self.socket.recvmsg(LARGEST, _ANCILLARY)
        except BlockingIOError:
            return None
        time_ns, tos, ttl = None, 0, 255
        local: tuple[tuple[int, int, bytes], ...] = ()
        for level, kind, value in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, _SO_TIMESTAMPING):
                time_ns = _time(value)
            elif level != self._level:
                continue
            elif kind in (socket.IP_TOS, socket.IPV6_TCLASS):
                tos = value[0]
            elif kind in (socket.IP_TTL, socket.IPV6_HOPLIMIT):
                ttl = value[0]
            elif kind == (socket.IPV6_PKTINFO if self._six else _IP_PKTINFO):
                local = ((level, kind, self._from(value)),)
        return None if flags & socket.MSG_TRUNC else Datagram(octets, source, time_ns, tos, ttl, local)

    def _from(self, value: bytes) -> bytes:
        """Turn where a datagram came to into where an answer is to come from; routes choose the interface."""
        if self._six:
            # Of a link-local address the interface is part.
            address = ipaddress.IPv6Address(value[:16])
            return value if address.is_link_local else value[:16] + bytes(4)
        return bytes(4) + value[4:8] + bytes(4)

    def answer(self, to: Datagram, octets: bytes, tos: int) -> None:
        """Send to where a datagram came from, from where it came to."""
        kind = socket.IPV6_TCLASS if self._six else socket.IP_TOS
        marks = (self._level, kind, struct.pack("@i", tos))
        self.socket.sendmsg([octets], [marks, *to.local], 0, to.source)

    def sending_times(self) -> list[tuple[int, int]]:
        """Take the kernel's times of what was sent: number of the datagram, from 0, and time in nanoseconds (Unix)."""
        found: list[tuple[int, int]] = []
        while True:
            try:
                _, ancillary, _, _ = self.socket.recvmsg(0, _ANCILLARY, _MSG_ERRQUEUE)
            except OSError:
                return found
            time_ns, number = None, None
            for level, kind, value in ancillary:
                if (level, kind) == (socket.SOL_SOCKET, _SO_TIMESTAMPING):
                    time_ns = _time(value)
                elif kind in (_IP_RECVERR, _IPV6_RECVERR) and len(value) >= _ERROR.size:
                    _, origin, *_, data = _ERROR.unpack_from(value)
                    number = data if origin == _OF_TIMESTAMPING else None
            if time_ns is not None and number is not None:
                found.append((number, time_ns))


def resolve(host: str, port: int, *, passive: bool = False) -> tuple[int, Address]:
    """Give family and address of a host, its first.

    Raises:
        OSError: There is none.
    """
    flags = socket.AI_PASSIVE if passive else 0
    found: Sequence[Any] = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM, flags=flags)
    family, _, _, _, address = found[0]
    return family, address


def _time(value: bytes) -> int | None:
    """Read a time of ``SCM_TIMESTAMPING``: the first of its three is the software's; zero is none."""
    seconds, nanoseconds = _TIME.unpack_from(value)
    return seconds * 1_000_000_000 + nanoseconds or None
