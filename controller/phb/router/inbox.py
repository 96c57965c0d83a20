"""Packets that wait for the agent: first those of neighbours, then a few of everything else."""

from __future__ import annotations

import asyncio
from collections import deque

from phb.router.wire import ARP, ICMPV6, IPV6

MOST = 4096
MOST_OTHERS = 256
"""So that who comes behind a flood isn't answered when it has long given up."""

Arrival = tuple[int, int, bytes]
"""Port, exception, frame."""


class Inbox:
    """Two queues: a flood of one kind must not cost the neighbours, without which nothing is forwarded."""

    def __init__(self) -> None:
        self._first: deque[Arrival] = deque()
        self._others: deque[Arrival] = deque()
        self._filled = asyncio.Event()

    def __len__(self) -> int:
        return len(self._first) + len(self._others)

    def put(self, arrival: Arrival) -> None:
        """Keep a packet, or drop it where as many wait already: the agent is overloaded."""
        if len(self) >= MOST:
            return
        if _is_of_neighbours(arrival[2]):
            self._first.append(arrival)
        elif len(self._others) < MOST_OTHERS:
            self._others.append(arrival)
        self._filled.set()

    async def get(self) -> Arrival:
        """Wait for a packet, and take it."""
        while not self:
            self._filled.clear()
            await self._filled.wait()
        return self.take()

    def take(self) -> Arrival:
        """Take a packet of those that wait."""
        return (self._first or self._others).popleft()

    def clear(self) -> None:
        """Drop all that wait."""
        self._first.clear()
        self._others.clear()


def _is_of_neighbours(frame: bytes) -> bool:
    kind = int.from_bytes(frame[12:14])
    return kind == ARP or (kind == IPV6 and frame[20:21] == bytes((ICMPV6,)) and frame[54:55] in (b"\x87", b"\x88"))
