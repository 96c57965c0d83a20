"""What runs beside a test, and what it tells meanwhile."""

import asyncio
import socket
from contextlib import asynccontextmanager, suppress

from phb.stamp.reflecting import Reflector, serve

PATIENCE_S = 60.0
"""Seconds until a test gives up: how long things take is measured in benchmarks, not here."""


class Seen:
    """Takes what is told; each is waited for once, in order."""

    def __init__(self):
        self.seen = []
        self._next = 0

    def take(self, told):
        self.seen.append(told)

    async def until(self, condition=lambda told: True):
        """Wait for one of those that haven't been waited for yet."""
        async with asyncio.timeout(PATIENCE_S):
            while True:
                while self._next < len(self.seen):
                    told = self.seen[self._next]
                    self._next += 1
                    if condition(told):
                        return told
                await asyncio.sleep(0.005)


class SeenObservations(Seen):
    """What a monitor tells."""

    async def event(self, kind):
        """Wait for an observation with such an event, and give that."""
        seen = await self.until(lambda observation: any(event.kind is kind for event in observation.events))
        return next(event for event in seen.events if event.kind is kind)


@asynccontextmanager
async def running(work):
    task = asyncio.create_task(work)
    try:
        yield task
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@asynccontextmanager
async def reflecting(port, **how):
    """A reflector of STAMP on loopback."""
    ready = asyncio.Event()
    reflector = Reflector(**how)
    async with running(serve(reflector, "127.0.0.1", port, lambda _: ready.set())):
        await ready.wait()
        yield reflector


def free_udp_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
