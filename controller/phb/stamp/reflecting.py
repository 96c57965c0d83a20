"""The reflector: sends back each test packet, as long as it came, with the times when it came and when it left.

What strangers send can't make it send more than it gets, nor grow: it answers so many packets each second, and counts
for so many sessions. Packets of a low source port aren't answered: two reflectors could be made to answer each other.
"""

from __future__ import annotations

import asyncio
import ipaddress
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final

from phb.stamp import tlvs
from phb.stamp.packets import Reply, Request, length
from phb.stamp.sockets import Datagram, DatagramSocket, resolve
from phb.stamp.timestamps import kernel_clock, to_ntp

SESSIONS: Final = 4096
"""That a reflector counts for at once; further ones are answered with the sender's own numbers (statelessly)."""

FORGOTTEN_AFTER_NS: Final = 900_000_000_000
"""Without a packet a session is over (REFWAIT of RFC 5357)."""

RATE: Final = 10_000
"""Packets that are answered each second."""

_LEAST_PORT: Final = 1024
_ROUND: Final = 64
_CLOCK_EVERY_NS: Final = 10_000_000_000


class Refused(StrEnum):
    """Why a packet isn't answered."""

    SHORT = "short"
    NOT_AUTHENTIC = "not-authentic"
    NOT_ALLOWED = "not-allowed"
    PORT = "low-source-port"
    RATE = "rate"
    NOT_SENT = "not-sent"


Networks = Sequence[ipaddress.IPv4Network | ipaddress.IPv6Network]


@dataclass
class Reflector:
    """What it knows; no socket and no clock.

    Attributes:
        key: Of HMAC-SHA-256; None is the mode without authentication.
        stateless: Copy the sender's numbers instead of counting.
        allowed: Networks whose packets are answered; empty: all.
        port: Its own, from which no sender is answered.
        rate: Packets that are answered each second.
        estimate: Error estimate of the clock, as on the wire.
    """

    key: bytes | None = None
    stateless: bool = False
    allowed: Networks = ()
    port: int = 0
    rate: int = RATE
    estimate: int = 1
    answered: int = 0
    refused: Counter[Refused] = field(default_factory=Counter)
    sessions: OrderedDict[tuple[str, int, int], _Session] = field(default_factory=OrderedDict)
    _second: int = 0
    _in_second: int = 0

    def reflect(self, came: Datagram, received_ns: int, now_ns: int) -> tuple[bytes, int] | None:
        """Give the reply to a datagram, and its ToS octet; None if it isn't answered, which is counted.

        Args:
            came: It.
            received_ns: When it came (Unix).
            now_ns: When the reply is sent (Unix).
        """
        why = self._refusal(came, now_ns)
        if why is None:
            try:
                request = Request.unpack(came.octets, self.key)
            except ValueError:
                why = Refused.SHORT if len(came.octets) < length(self.key) else Refused.NOT_AUTHENTIC
        if why is not None:
            self.refused[why] += 1
            return None
        # Under a key nothing vouches for what comes after the packet, so it isn't obeyed.
        rest, dscp = tlvs.answered(request.rest, came.tos) if self.key is None else (request.rest, came.tos >> 2)
        reply = Reply(
            sequence=self._number(came, request, now_ns),
            stamp=to_ntp(now_ns),
            estimate=self.estimate,
            session=request.session,
            received=to_ntp(received_ns),
            sender_sequence=request.sequence,
            sender_stamp=request.stamp,
            sender_estimate=request.estimate,
            ttl=came.ttl,
            rest=rest,
        )
        self.answered += 1
        return reply.pack(self.key), dscp << 2

    def _refusal(self, came: Datagram, now_ns: int) -> Refused | None:
        second = now_ns // 1_000_000_000
        if second != self._second:
            self._second, self._in_second = second, 0
        host, port, *_ = came.source
        if self._in_second >= self.rate:
            return Refused.RATE
        if self.allowed and not _within(host, self.allowed):
            return Refused.NOT_ALLOWED
        if port < _LEAST_PORT or port == self.port:
            return Refused.PORT
        self._in_second += 1
        return None

    def _number(self, came: Datagram, request: Request, now_ns: int) -> int:
        if self.stateless:
            return request.sequence
        name = (came.source[0], came.source[1], request.session)
        session = self.sessions.get(name)
        if session is None or now_ns - session.last_ns > FORGOTTEN_AFTER_NS:
            if session is None and not self._room(now_ns):
                return request.sequence
            session = self.sessions[name] = _Session()
        self.sessions.move_to_end(name)
        session.last_ns = now_ns
        session.count += 1
        return (session.count - 1) & 0xFFFF_FFFF

    def _room(self, now_ns: int) -> bool:
        if len(self.sessions) < SESSIONS:
            return True
        oldest = next(iter(self.sessions))
        if now_ns - self.sessions[oldest].last_ns <= FORGOTTEN_AFTER_NS:
            return False
        del self.sessions[oldest]
        return True


@dataclass(slots=True)
class _Session:
    count: int = 0
    last_ns: int = 0


def _within(host: str, allowed: Networks) -> bool:
    address = ipaddress.ip_address(host.partition("%")[0])
    return any(address in network for network in allowed)


async def serve(reflector: Reflector, host: str, port: int, ready: Callable[[str], None]) -> None:
    """Reflect until it is cancelled; `ready` is told where.

    Raises:
        OSError: The address isn't there or is taken.
    """
    family, address = resolve(host, port, passive=True)
    datagrams = DatagramSocket(family, sending_times=False)
    try:
        datagrams.socket.bind(address)
        name = datagrams.socket.getsockname()
        reflector.port = name[1]
        reflector.estimate = kernel_clock().encode()
        looked_ns = time.monotonic_ns()
        loop = asyncio.get_running_loop()

        def come() -> None:
            nonlocal looked_ns
            if time.monotonic_ns() - looked_ns > _CLOCK_EVERY_NS:
                looked_ns = time.monotonic_ns()
                reflector.estimate = kernel_clock().encode()
            # Other callbacks have their turn, too, when packets don't end.
            for _ in range(_ROUND):
                if not _answer_one(reflector, datagrams):
                    return

        loop.add_reader(datagrams.socket, come)
        ready(f"[{name[0]}]:{name[1]}" if ":" in name[0] else f"{name[0]}:{name[1]}")
        try:
            await asyncio.Event().wait()
        finally:
            loop.remove_reader(datagrams.socket)
    finally:
        datagrams.close()


def _answer_one(reflector: Reflector, datagrams: DatagramSocket) -> bool:
    """Take a datagram and answer it; False if there was none."""
    try:
        came = datagrams.receive()
    except OSError:
        return True  # An ICMP message to an answer of before.
    if came is None:
        return False
    now_ns = time.time_ns()
    received_ns = now_ns if came.time_ns is None else came.time_ns
    reply = reflector.reflect(came, received_ns, now_ns)
    if reply is not None:
        try:
            datagrams.answer(came, *reply)
        except OSError:
            reflector.answered -= 1
            reflector.refused[Refused.NOT_SENT] += 1
    return True
