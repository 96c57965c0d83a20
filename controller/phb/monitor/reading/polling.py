"""Samples from a switch that has only P4Runtime's Read: bmv2, and others without phb.telemetry.

Cells are read one after the other while packets pass, so the figures of one sample are of slightly different moments;
what waits in queues isn't told, since bmv2's server reads no registers. A read takes long: samples are rarer.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Mapping
from typing import Final

from phb.device.session import CounterValue
from phb.monitor.reading.counting import Counting
from phb.monitor.reading.entries import Entries
from phb.monitor.reading.source import Source
from phb.monitor.reading.subjects import Subjects
from phb.monitor.sample import Sample
from phb.show.reading import NOTHING

POLLED_S: Final = 10.0
"""Seconds from one sample to the next, at least, where a switch is asked again and again."""
SHARE: Final = 0.1
"""The most of the time that reading may take."""


class PollingReader:
    """Reads one switch over one session; `instance` is another number after it was started anew."""

    def __init__(self, source: Source, *, instance: int = 0) -> None:
        self._source = source
        self._entries = Entries(source.session)
        self._instance = instance
        self._generation = 0
        self._cells: dict[str, Mapping[int, CounterValue]] = {}

    async def samples(self, interval_s: float) -> AsyncGenerator[Sample, None]:
        """Give samples until the switch fails, further apart where reading takes long; one where `interval_s` is 0.

        Raises:
            SwitchError: It can't be reached, or runs another program.
        """
        source = self._source
        subjects: Subjects | None = None
        counting = Counting(Subjects(), registers=False)
        while True:
            began = time.monotonic()
            before = await self._entries.read(source.prepared())
            if before != subjects:
                subjects = before
                counting, self._cells = Counting(subjects, registers=False), {}
                self._generation += 1
            read_ns = time.monotonic_ns()
            await self._poll(counting)
            counting.take_interfaces(source.interfaces())
            # Entries that changed meanwhile may have given cells to others.
            if await self._entries.read(source.prepared()) == subjects:
                yield counting.sample(source.switch, source.clock_ns(), read_ns, self._instance, self._generation)
                if not interval_s:
                    return
            took = time.monotonic() - began
            await asyncio.sleep(max(interval_s, took / SHARE) - took if interval_s else 0)

    async def _poll(self, counting: Counting) -> None:
        session, artifact = self._source.session, self._source.session.artifact
        wanted: dict[str, list[int]] = {}
        for name, first, count in counting.ranges(artifact):
            size = artifact.counters[name].size
            wanted.setdefault(name, []).extend(range(first, min(first + count, size) if count else size))
        for name, indexes in wanted.items():
            now, was = await session.counter(name, indexes), self._cells.get(name, {})
            changed = [index for index in {*was, *now} if was.get(index) != now.get(index)]
            values = [now.get(index, NOTHING) for index in changed]
            counting.take_counter(name, changed, [each.packets for each in values], [each.bytes for each in values])
            self._cells[name] = now
