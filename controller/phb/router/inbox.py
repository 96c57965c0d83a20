"""Packets that wait for the agent: what neighbours say before everything else, of which few wait."""

from __future__ import annotations

import asyncio
from collections import deque

from phb.router.wire import ARP, ICMPV6, IPV6

MOST = 4096
MOST_OTHERS = 256
"""So that who comes behind a flood isn't answered when it has long given up."""

Arrival = tuple[int, int, bytes]
"""Port, exception, frame."""


class Inbox(asyncio.Queue[Arrival]):
    """A flood of one kind must not cost the neighbours, without which nothing is forwarded."""

    def __init__(self) -> None:
        super().__init__(MOST)

    def _init(self, maxsize: int) -> None:
        self._first: deque[Arrival] = deque()
        self._others: deque[Arrival] = deque()

    def qsize(self) -> int:
        """How many wait."""
        return len(self._first) + len(self._others)

    def empty(self) -> bool:
        """Whether none waits."""
        return not self.qsize()

    def _get(self) -> Arrival:
        return (self._first or self._others).popleft()

    def _put(self, item: Arrival) -> None:
        if _is_of_neighbours(item[2]):
            self._first.append(item)
        elif len(self._others) < MOST_OTHERS:
            self._others.append(item)


def _is_of_neighbours(frame: bytes) -> bool:
    kind = int.from_bytes(frame[12:14])
    return kind == ARP or (kind == IPV6 and frame[20:21] == bytes((ICMPV6,)) and frame[54:55] in (b"\x87", b"\x88"))
