"""A sender's session: the packets of one DSCP, what came back of them, and what that tells."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from phb.stamp import tlvs
from phb.stamp.figures import Figures, Numbers, Probe, figures_of
from phb.stamp.packets import Reply, Request, length
from phb.stamp.sockets import Datagram
from phb.stamp.timestamps import ErrorEstimate, to_ntp


@dataclass(frozen=True, slots=True)
class Plan:
    """What is sent to a reflector.

    Attributes:
        dscps: A session for each.
        count: Packets of each session, or of each period of one without end.
        interval_s: From one packet of a session to its next.
        wait_s: For replies, after the last packet.
        size: Octets of a test packet: those of RFC 8762 and padding.
        reply_dscp: What replies are asked to carry (RFC 8972); None: nothing is asked.
        key: Of HMAC-SHA-256; None is the mode without authentication.
        stateful: Whether the reflector numbers packets itself; None: only if its numbers show it.
        source: Address to send from; None: the system's choice.
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
    source: str | None = None


@dataclass
class Session:
    """One session, and what came of it.

    Attributes:
        replied: DSCPs that replies came with, and of requests as the reflector got them, if it was asked: with counts.
        first: Number of the first packet that hasn't been settled.
        late: Replies to packets that had been settled.
        refused: Datagrams that were no replies to what is waited for.
        kernel_sent, kernel_received: Of how many packets the kernel told when they left, and when they came back.
        trouble: What the network said instead, the last of it.
    """

    dscp: int
    plan: Plan
    identifier: int = field(default_factory=lambda: secrets.randbelow(0xFFFF) + 1)
    sent: int = 0
    first: int = 0
    late: int = 0
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
    _handed_over: dict[int, int] = field(default_factory=dict)
    _kernel_numbers: Iterator[int] = field(default_factory=count)
    _numbers: Numbers | None = None

    def waiting(self, until: int | None = None) -> bool:
        """Whether replies may still come to packets before number `until`, or to any."""
        oldest = next(iter(self._waiting), None)
        return oldest is not None and (until is None or oldest < until)

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
        self._handed_over[next(self._kernel_numbers)] = self.sent - 1

    def left(self, number: int, time_ns: int) -> None:
        """Take the kernel's word for when a packet left."""
        packet = self._handed_over.pop(number, -1)
        if packet >= self.first:
            self._kernel[packet] = time_ns

    def take(self, came: Datagram, now_ns: int) -> None:
        """Take a datagram of the reflector's address and port that came now (Unix), or when its kernel time says."""
        try:
            reply = Reply.unpack(came.octets, self.plan.key)
        except ValueError:
            self.refused += 1
            return
        if reply.sender_sequence < self.first:
            self.late += 1
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
        self.kernel_sent = sum(number in self._kernel for number in self._probes)
        return figures_of(self.sent, self.probes(), duplicates=self.duplicates, stateful=self.plan.stateful)

    def probes(self, until: int | None = None) -> list[Probe]:
        """Give the packets that came back, of those before number `until`."""
        kernel, probes = self._kernel, self._probes.items()
        return [
            _sent_at(probe, kernel.get(number, probe.sent_ns))
            for number, probe in probes
            if until is None or number < until
        ]

    def settle(self, until: int) -> tuple[Figures, list[Probe]]:
        """Give figures of the packets before number `until`, and those that came back; then forget them."""
        if self._numbers is None:
            self._numbers = Numbers(self.plan.stateful)
        probes = self.probes(until)
        figures = figures_of(
            until - self.first, probes, first=self.first, duplicates=self.duplicates, numbers=self._numbers
        )
        for number in range(self.first, until):
            for known in (self._waiting, self._probes, self._kernel):
                known.pop(number, None)
        self._handed_over = {number: packet for number, packet in self._handed_over.items() if packet >= until}
        self.first, self.duplicates = until, 0
        return figures, probes

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
