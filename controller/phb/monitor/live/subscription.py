"""What one reader has still to be told: bounded by what it says, not by how slowly it is read."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import suppress
from threading import Lock
from typing import Final, NamedTuple

from phb.monitor.live.messages import Message, Summary, Tick

GATHER_S: Final = 0.05
"""Seconds in which the summaries of several switches become one tick."""

MOST_EVENTS: Final = 2000
"""Events and marks that wait for a reader; when there is one more it has to begin anew."""


class Told(NamedTuple):
    """A message, and the same as one line of JSON."""

    message: Message
    line: bytes


class Subscription:
    """Messages for one reader, as an asynchronous iterator, which ends when the reader has to begin anew.

    Newer ticks and details take the places of those that haven't been read. May be filled from any thread.

    Args:
        details: How many details may wait; the newest ones do.
    """

    def __init__(
        self,
        switch: str | None,
        first: Iterable[Told],
        encode: Callable[[Message], Told],
        gather_s: float = GATHER_S,
        details: int = 1,
    ) -> None:
        self.switch = switch
        self._encode = encode
        self._gather_s = gather_s
        self._lock = Lock()
        self._events: deque[Told] = deque(first)
        self._summaries: dict[str, Summary] = {}
        self._time = 0.0
        self._details: deque[Told] = deque(maxlen=details)
        self._ended = False
        self._loop: asyncio.AbstractEventLoop | None = None
        self._news, self._urgent = asyncio.Event(), asyncio.Event()
        # How urgently the reader has been woken since it took what there was.
        self._woken = 0

    # -- from any thread ----------------------------------------------------

    def summary(self, t: float, switch: str, summary: Summary) -> None:
        """Take a switch's newest summary."""
        with self._lock:
            self._time = t
            self._summaries[switch] = summary
        self._wake(urgent=False)

    def detail(self, told: Told) -> None:
        """Take the newest detail."""
        with self._lock:
            self._details.append(told)
        self._wake()

    def tell(self, told: Told) -> None:
        """Take a message that must not be missed."""
        with self._lock:
            if len(self._events) >= MOST_EVENTS:
                self._ended = True
            else:
                self._events.append(told)
        self._wake()

    def end(self) -> None:
        """End it."""
        with self._lock:
            self._ended = True
        self._wake()

    def take(self) -> list[Told] | None:
        """Give all that is new, without waiting; None where it has ended."""
        with self._lock:
            self._woken = 0
            if self._ended:
                return None
            found, self._events = list(self._events), deque()
            found += self._details
            self._details.clear()
            summaries, self._summaries = self._summaries, {}
            t = self._time
        if summaries:
            tick: Tick = {"kind": "tick", "t": t, "switches": summaries}
            found.append(self._encode(tick))
        return found

    # -- by its reader ------------------------------------------------------

    async def __aiter__(self) -> AsyncIterator[Told]:
        """Give messages as they come."""
        while (found := await self.next()) is not None:
            for told in found:
                yield told

    async def next(self, timeout_s: float | None = None) -> list[Told] | None:
        """Give what is new as soon as there is something, or nothing after `timeout_s`; None where it has ended."""
        with self._lock:
            self._loop = asyncio.get_running_loop()
        self._news.clear()
        self._urgent.clear()
        found = self.take()
        if found is None or found:
            return found
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._news.wait()
            # Summaries wait for those of other switches, and for nothing else.
            async with asyncio.timeout(self._gather_s):
                await self._urgent.wait()
        return self.take()

    def _wake(self, *, urgent: bool = True) -> None:
        level = 2 if urgent else 1
        with self._lock:
            loop, woken = self._loop, self._woken
            if loop is None or level <= woken:
                return
            self._woken = level
        try:
            loop.call_soon_threadsafe(self._rouse, urgent)
        except RuntimeError:
            # Its reader's loop has ended.
            self._ended = True

    def _rouse(self, urgent: bool) -> None:
        self._news.set()
        if urgent:
            self._urgent.set()
