"""A port's traffic manager and line: packets in their turn, each for as long as its bits take.

Without a rate a line takes every packet at once and no queue builds, as for a single packet on an idle port. With one,
a capture's own times tell when each packet finds the line busy.
"""

from __future__ import annotations

import heapq
from collections import deque
from dataclasses import dataclass, field

from phb.explain.packet import TracedPacket
from phb.explain.stages.schedule import leave, push_out
from phb.explain.state import PipelineState

NANOSECONDS = 1_000_000_000


@dataclass(frozen=True, slots=True)
class LineRate:
    """How fast a port sends.

    Attributes:
        overhead_bytes: Added by the line to an Ethernet frame without FCS; negative where its framing is shorter.
        transmit_ring: Frames that may wait behind the one on the wire, after the scheduler.
    """

    bits_per_second: int
    overhead_bytes: int = 0
    transmit_ring: int = 0


@dataclass(slots=True)
class PortLine:
    """One port's scheduler and wire; without a rate packets leave at once."""

    rate: LineRate | None
    state: PipelineState
    _waiting: list[tuple[int, int, TracedPacket]] = field(default_factory=list)
    _arrivals: int = 0
    # When each frame on the wire and in the transmit ring will have left, in bit times of nanoseconds x rate.
    _leaving: deque[int] = field(default_factory=deque)

    def advance(self, now_ns: int) -> list[tuple[int, TracedPacket]]:
        """Give the packets that the scheduler has taken until now, with the times."""
        if self.rate is None:
            return []
        taken: list[tuple[int, TracedPacket]] = []
        scale = self.rate.bits_per_second
        while self._leaving and self._leaving[0] <= now_ns * scale:
            free = self._leaving.popleft()
            if self._waiting:
                taken.append((free // scale, self._take(free)))
        return taken

    def add(self, packet: TracedPacket) -> list[tuple[int, TracedPacket]]:
        """Queue a packet that arrives now; give it back if the scheduler takes it at once."""
        heapq.heappush(self._waiting, (packet.schedule.turn, self._arrivals, packet))
        self._arrivals += 1
        if self.rate is None:
            _, _, packet = heapq.heappop(self._waiting)
            leave(packet, self.state, packet.time_ns)
            return [(packet.time_ns, packet)]
        if packet.push_out:
            last = max(self._waiting)
            self._waiting.remove(last)
            heapq.heapify(self._waiting)
            push_out(last[2], self.state)
        if len(self._leaving) > self.rate.transmit_ring:
            return []
        return [(packet.time_ns, self._take(packet.time_ns * self.rate.bits_per_second))]

    def finish(self) -> list[tuple[int, TracedPacket]]:
        """Give the packets that are left when nothing more arrives."""
        taken = []
        while self._waiting:
            taken += self.advance(-(-self._leaving[0] // self.rate.bits_per_second) if self.rate else 0)
        return taken

    def _take(self, now: int) -> TracedPacket:
        assert self.rate is not None
        _, _, packet = heapq.heappop(self._waiting)
        leave(packet, self.state, now // self.rate.bits_per_second)
        start = max(now, self._leaving[-1]) if self._leaving else now
        bits = (packet.length + self.rate.overhead_bytes) * 8
        self._leaving.append(start + bits * NANOSECONDS)
        return packet
