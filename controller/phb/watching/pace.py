"""How fast a controller of many switches looks at them: no faster than its processor can follow."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Final

ROUTINE: Final = 0.3
"""The most of a processor that looks take at which nothing is known to have changed."""
URGENT: Final = 0.9
"""The most that those take for which something has: a policy, a session."""
FIRST_S: Final = 0.01
"""Processor time of a look, before it is known."""
MOST: Final = 16
"""Looks at the same time."""
HANGING_S: Final = 1.0
"""Seconds after which one that hasn't ended isn't counted any more: its switch doesn't answer."""
WITHIN: Final = (0.0005, 0.2)
SMOOTH: Final = 0.05


class Pace:
    """Lets looks begin so far apart as one of them costs, and few at the same time.

    A switch that doesn't answer keeps nobody waiting for more than a moment. Without a pace, thousands of looks at once
    would all take so long that switches that are well seem not to answer.
    """

    def __init__(
        self, clock: Callable[[], float] = time.monotonic, used: Callable[[], float] = time.thread_time
    ) -> None:
        self._clock, self._used = clock, used
        self._cost_s = FIRST_S
        self._before = used()
        self._next = {ROUTINE: 0.0, URGENT: 0.0}
        self._places = asyncio.Semaphore(MOST)

    @asynccontextmanager
    async def turn(self, *, urgent: bool) -> AsyncIterator[None]:
        """Wait until one more look may begin; it lasts as long as the context."""
        wait_s = self.take(urgent=urgent)
        if wait_s > 0:
            await asyncio.sleep(wait_s)
        await self._places.acquire()
        counted = asyncio.get_running_loop().call_later(HANGING_S, self._places.release)
        try:
            yield
        finally:
            if not counted.cancelled() and counted.when() > asyncio.get_running_loop().time():
                counted.cancel()
                self._places.release()

    def take(self, *, urgent: bool) -> float:
        """Take a turn; give the seconds until it begins."""
        used, now = self._used(), self._clock()
        spent, self._before = used - self._before, used
        self._cost_s += SMOOTH * (min(max(spent, WITHIN[0]), WITHIN[1]) - self._cost_s)
        share = URGENT if urgent else ROUTINE
        begins = max(now, self._next[share])
        self._next[share] = begins + self._cost_s / share
        return begins - now
