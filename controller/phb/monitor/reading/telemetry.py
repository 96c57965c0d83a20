"""Samples from a switch that has phb.telemetry: cells of one moment, and only those that changed.

Cells have numbers, entries say whose they are, and a push may change both. A sample is given only where the entries
have been the same before and after it, or none that matter were written since: the switch tells which tables were.
Where there would be none for long, one is given of those whose numbers were the same.
"""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any, Final, NamedTuple

import grpc

from phb.deploying import Prepared
from phb.device.deadlines import understood
from phb.errors import SwitchError
from phb.monitor.reading.certain import certain
from phb.monitor.reading.client import watch
from phb.monitor.reading.counting import Counting, Interface, Range
from phb.monitor.reading.entries import Entries, OtherProgramError
from phb.monitor.reading.source import Source
from phb.monitor.reading.subjects import Subjects
from phb.monitor.reading.writes import Mark, Writes
from phb.monitor.sample import Sample

SHARE: Final = 0.1
"""The most of the time that reading entries may take where those that matter are written all the time."""

LONG: Final = 1.5
"""Intervals without a sample after which one is given that doesn't tell of all."""


class NoTelemetryError(Exception):
    """The switch doesn't have the service."""


class _Known(NamedTuple):
    """What is counted, as entries and files said when the switch had told of `mark`, or later."""

    subjects: Subjects
    files: Prepared | None
    mark: Mark


class TelemetryReader:
    """Reads one switch over one session.

    Args:
        heard: Called with everything that the switch tells, also where no sample comes of it.

    Attributes:
        reads_entries: Entries are being read, which may take seconds: no sample comes meanwhile.
    """

    def __init__(self, source: Source, *, heard: Callable[[], None] = lambda: None) -> None:
        self.reads_entries = False
        self._source = source
        self._heard = heard
        self._rested_at = self._given_at = 0.0
        # What is counted, for who asks for one sample, and later for another one.
        self._kept: _Known | None = None
        self._entries = Entries(source.session, queues=source.queues)
        self._writes = Writes(self._entries.tables)

    async def samples(self, interval_s: float) -> AsyncGenerator[Sample, None]:
        """Give samples until the switch ends it; one where `interval_s` is 0.

        Raises:
            NoTelemetryError: It doesn't have the service.
            SwitchError: It can't be reached, has ended the call, or runs another program.
        """
        known: _Known | None = self._kept or await self._read(self._source.prepared(), await self._look())
        self._given_at = time.monotonic()
        # Only the first time all entries are new to us: what comes after it takes less, and doesn't wait for as long.
        self._rested_at = 0.0
        while known is not None:
            self._kept = None if interval_s else known
            async with aclosing(self._with(known, interval_s)) as samples:
                known = None
                async for each in samples:
                    if isinstance(each, Sample):
                        self._given_at = time.monotonic()
                        yield each
                        if not interval_s:
                            return
                    else:
                        known = each

    async def _look(self) -> Mark:
        """Give the mark of now."""
        async with aclosing(self._messages([], 0)) as messages:
            async for message in messages:
                return self._writes.take(message)
        raise SwitchError(self._source.session.address, "the switch gave no sample")

    async def _with(self, known: _Known, interval_s: float) -> AsyncGenerator[Sample | _Known, None]:
        """Give samples by these names; at last other names, where entries or files say others."""
        session, counting = self._source.session, Counting(known.subjects)
        ranges = counting.ranges(session.artifact)
        interfaces: Mapping[int, Interface] | None = None
        instance: int | None = None
        async for message in self._messages(ranges, interval_s):
            self._heard()
            mark = self._writes.take(message)
            if mark.instance != instance:
                if instance is not None:
                    counting.forget()
                instance, interfaces = mark.instance, None
            with understood(session.address):
                for cells in message.cells:
                    name = ranges[cells.range][0]
                    if cells.value:
                        counting.take_register(name, cells.index, cells.value)
                    else:
                        counting.take_counter(name, cells.index, cells.packets, cells.bytes)
            if interfaces is not (now := self._source.interfaces()):
                interfaces = now
                counting.take_interfaces(now)
            files = self._source.prepared()
            if files is known.files and mark == known.mark:
                yield self._sample(counting, message, mark)
                continue
            if time.monotonic() < self._rested_at and interval_s:
                continue
            sample = self._sample(counting, message, mark)
            again = await self._read(files, mark)
            if again.subjects != known.subjects:
                if interval_s and time.monotonic() - self._given_at > LONG * interval_s:
                    yield certain(sample, known.subjects, again.subjects)
                yield again
                return
            known = again
            yield sample

    def _sample(self, counting: Counting, message: Any, mark: Mark) -> Sample:
        source = self._source
        return counting.sample(source.switch, source.clock_ns(), message.time_ns, mark.instance, mark.generation)

    async def _read(self, files: Prepared | None, mark: Mark) -> _Known:
        began = time.monotonic()
        self.reads_entries = True
        try:
            subjects = await self._entries.read(files, mark)
        finally:
            self.reads_entries = False
        self._heard()
        ended = time.monotonic()
        self._rested_at = ended + (ended - began) * (1 - SHARE) / SHARE
        return _Known(subjects, files, mark)

    async def _messages(self, wanted: Sequence[Range], interval_s: float) -> AsyncGenerator[Any, None]:
        session, artifact = self._source.session, self._source.session.artifact
        numbers = {name: counter.number for name, counter in artifact.counters.items()}
        numbers |= {name: register.number for name, register in artifact.registers.items()}
        ranges = [(numbers[name], first, count) for name, first, count in wanted]
        try:
            async with aclosing(watch(session.channel, session.device_id, ranges, round(interval_s * 1e9))) as messages:
                async for message in messages:
                    yield message
        except grpc.RpcError as error:
            raise self._failed(error) from None
        if interval_s:
            raise SwitchError(session.address, "the switch ended the call")

    def _failed(self, error: grpc.RpcError) -> Exception:
        code, words = error.code(), (error.details() or error.code().name)[:2000]
        if code is grpc.StatusCode.FAILED_PRECONDITION:
            return OtherProgramError(self._source.session.address)
        if code is grpc.StatusCode.UNIMPLEMENTED:
            return NoTelemetryError()
        if code is grpc.StatusCode.UNAVAILABLE:
            return self._source.session.unreachable(words)
        return SwitchError(self._source.session.address, f"the switch refused: {code.name}: {words}")
