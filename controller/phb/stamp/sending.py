"""The sender: test packets of one or more DSCPs side by side, each a session of its own."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from phb.stamp import tlvs
from phb.stamp.figures import Figures, Probe, figures_of
from phb.stamp.packets import Reply, Request, length
from phb.stamp.sockets import Address, Datagram, DatagramSocket, resolve
from phb.stamp.timestamps import ErrorEstimate, kernel_clock, to_ntp

LEAST_INTERVAL_S: Final = 0.001
_ROUND: Final = 64


@dataclass(frozen=True, slots=True)
class Plan:
    """What is sent to a reflector.

    Attributes:
        dscps: A session for each.
        count: Packets of each session.
        interval_s: From one packet of a session to its next.
        wait_s: For replies, after the last packet.
        size: Octets of a test packet: those of RFC 8762 and padding.
        reply_dscp: What replies are asked to carry (RFC 8972); None: nothing is asked.
        key: Of HMAC-SHA-256; None is the mode without authentication.
        stateful: Whether the reflector numbers packets itself; None: only if its numbers show it.
    """

    host: str
    port: int
    dscps: tuple[int, ...]
    count: int
    interval_s: float
    wait_s: float
    size: int
    reply_dscp: int | None = None
    key: bytes | None = None
    stateful: bool | None = None


@dataclass
class Session:
    """One session, and what came of it.

    Attributes:
        replied: DSCPs that replies came with, and of requests as the reflector got them, if it was asked: with counts.
        refused: Datagrams that were no replies to what is waited for.
        kernel_sent, kernel_received: Of how many packets the kernel told when they left, and when they came back.
        trouble: What the network said instead, the last of it.
    """

    dscp: int
    plan: Plan
    identifier: int = field(default_factory=lambda: secrets.randbelow(0xFFFF) + 1)
    sent: int = 0
    duplicates: int = 0
    refused: int = 0
    replied: dict[int, int] = field(default_factory=dict)
    came: dict[int, int] = field(default_factory=dict)
    kernel_sent: int = 0
    kernel_received: int = 0
    reflector_clock: ErrorEstimate | None = None
    clock: ErrorEstimate = field(default_factory=ErrorEstimate)
    trouble: str | None = None
    _waiting: dict[int, tuple[int, int]] = field(default_factory=dict)
    _probes: dict[int, Probe] = field(default_factory=dict)
    _kernel: dict[int, int] = field(default_factory=dict)
    _handed_over: list[int] = field(default_factory=list)

    @property
    def waiting(self) -> bool:
        """Whether replies may still come."""
        return bool(self._waiting)

    def request(self, now_ns: int) -> bytes:
        """Give the next packet, which is sent now (Unix)."""
        stamp = to_ntp(now_ns)
        asked = b"" if self.plan.reply_dscp is None else tlvs.ask_class(self.plan.reply_dscp)
        missing = self.plan.size - length(self.plan.key) - len(asked)
        rest = asked + tlvs.padding(missing) if missing >= tlvs.HEAD else asked
        self._waiting[self.sent] = (stamp, now_ns)
        packet = Request(self.sent, stamp, self.clock.encode(), self.identifier, rest).pack(self.plan.key)
        self.sent += 1
        return packet

    def handed_over(self) -> None:
        """Say that the kernel took the last packet: it numbers only those that it takes."""
        self._handed_over.append(self.sent - 1)

    def left(self, number: int, time_ns: int) -> None:
        """Take the kernel's word for when a packet left."""
        self._kernel[self._handed_over[number]] = time_ns

    def take(self, came: Datagram, now_ns: int) -> None:
        """Take a datagram of the reflector's address and port that came now (Unix), or when its kernel time says."""
        try:
            reply = Reply.unpack(came.octets, self.plan.key)
        except ValueError:
            self.refused += 1
            return
        waited = self._waiting.get(reply.sender_sequence)
        if waited is None or waited[0] != reply.sender_stamp:
            # A second reply, or none of ours.
            known = self._probes.get(reply.sender_sequence)
            again = known is not None and to_ntp(known.sent_ns) == reply.sender_stamp
            self.duplicates += again
            self.refused += not again
            return
        del self._waiting[reply.sender_sequence]
        clock = self.reflector_clock = reply.clock
        self._probes[reply.sender_sequence] = Probe(
            reply.sender_sequence,
            reply.sequence,
            waited[1],
            clock.read(reply.received),
            clock.read(reply.stamp),
            now_ns if came.time_ns is None else came.time_ns,
        )
        self.kernel_received += came.time_ns is not None
        _count(self.replied, came.tos >> 2)
        said = tlvs.class_of(reply.rest) if self.plan.reply_dscp is not None else None
        if said is not None:
            _count(self.came, said.came)

    def figures(self) -> Figures:
        """Give the figures of what has come so far."""
        probes = []
        self.kernel_sent = 0
        for number, probe in self._probes.items():
            left = self._kernel.get(number)
            self.kernel_sent += left is not None
            probes.append(probe if left is None else _sent_at(probe, left))
        return figures_of(self.sent, probes, duplicates=self.duplicates, stateful=self.plan.stateful)

    def as_json(self) -> dict[str, Any]:
        """For programs."""
        figures = self.figures()
        reflector = self.reflector_clock
        clocks = None if reflector is None else {"sender": _clock(self.clock), "reflector": _clock(reflector)}
        return {
            "dscp": self.dscp,
            **figures.as_json(),
            "reply_dscps": {str(dscp): count for dscp, count in sorted(self.replied.items())},
            "request_dscps": {str(dscp): count for dscp, count in sorted(self.came.items())},
            "refused": self.refused,
            "kernel_times": {"sent": self.kernel_sent, "returned": self.kernel_received},
            "clocks": clocks,
        }


def _sent_at(probe: Probe, left_ns: int) -> Probe:
    times = (probe.received_ns, probe.reflected_ns, probe.returned_ns)
    return Probe(probe.sequence, probe.reflector_sequence, left_ns, *times)


def _clock(estimate: ErrorEstimate) -> dict[str, Any]:
    return {"synchronised": estimate.synchronised, "error_ms": round(estimate.error_s * 1e3, 6)}


def _count(counts: dict[int, int], key: int) -> None:
    counts[key] = counts.get(key, 0) + 1


async def measure(plan: Plan, sent: Callable[[], None] = lambda: None) -> list[Session]:
    """Send all of it and wait for replies; `sent` is called for each packet.

    Sessions begin a part of the interval after each other, so that their packets don't meet at the sender. Who is late
    sends no two packets at once to make up for it.

    Raises:
        OSError: The host isn't known, or nothing can be sent there.
    """
    family, address = resolve(plan.host, plan.port)
    sessions = [Session(dscp, plan) for dscp in plan.dscps]
    step = plan.interval_s / len(sessions)
    await asyncio.gather(
        *(_run(session, family, address, number * step, sent) for number, session in enumerate(sessions))
    )
    return sessions


async def _run(session: Session, family: int, address: Address, begin_s: float, sent: Callable[[], None]) -> None:
    plan, loop = session.plan, asyncio.get_running_loop()
    datagrams = DatagramSocket(family, sending_times=True)
    arrived = asyncio.Event()

    def come() -> None:
        for number, left in datagrams.sending_times():
            session.left(number, left)
        for _ in range(_ROUND):
            try:
                came = datagrams.receive()
            except OSError as error:
                session.trouble = error.strerror or str(error)
                return
            if came is None:
                break
            session.take(came, time.time_ns())
        arrived.set()

    try:
        datagrams.mark(session.dscp << 2)
        datagrams.socket.connect(address)
        session.clock = kernel_clock()
        loop.add_reader(datagrams.socket, come)
        at = loop.time() + begin_s
        for _ in range(plan.count):
            await asyncio.sleep(at - loop.time())
            try:
                datagrams.socket.send(session.request(time.time_ns()))
                session.handed_over()
            except ConnectionRefusedError as error:
                session.trouble = error.strerror
            except BlockingIOError:
                session.trouble = "the socket's buffer is full"
            sent()
            at = max(at + plan.interval_s, loop.time())
        until = loop.time() + plan.wait_s
        while session.waiting and (left := until - loop.time()) > 0:
            arrived.clear()
            try:
                await asyncio.wait_for(arrived.wait(), left)
            except TimeoutError:
                break
        come()
    finally:
        loop.remove_reader(datagrams.socket)
        datagrams.close()


def synchronised(sessions: Sequence[Session]) -> bool:
    """Whether both sides say that their clocks are synchronised, so that times of one direction mean something."""
    return all(
        each.clock.synchronised and each.reflector_clock is not None and each.reflector_clock.synchronised
        for each in sessions
    )
