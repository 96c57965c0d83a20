"""One switch: a session that is opened again and again, its samples, and what is made of them."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Final

from phb.deploying import Prepared, open_session
from phb.device.artifact import Artifact
from phb.errors import PhbError, SwitchError
from phb.inventory import Switch
from phb.model.objectives import Objectives
from phb.monitor.changes import changes_between
from phb.monitor.judging import Judging
from phb.monitor.observation import Event, EventKind, Observation, Subject
from phb.monitor.policies import Policies
from phb.monitor.reading.entries import OtherProgramError
from phb.monitor.reading.interfaces import Interfaces
from phb.monitor.reading.polling import POLLED_S, PollingReader
from phb.monitor.reading.source import Source
from phb.monitor.reading.telemetry import NoTelemetryError, TelemetryReader
from phb.monitor.sample import Sample
from phb.monitor.wanted import objectives_of
from phb.names import Names

SILENT: Final = 1.75
"""Intervals without a sample after which a switch is away: it is to be told within two."""
LONGEST: Final = 3.5
"""Intervals between two samples beyond which there is a gap."""
START_S: Final = 10.0
"""Seconds that a switch may take for entries, or a first sample, unless it has refused or can't be reached."""
PATIENCE_S: Final = 10.0
"""Seconds of silence after which a session is given up: the link may have gone without a word."""
READY_S: Final = 2.0
"""Seconds that gNMI may take before the first sample is taken without it."""
RETRY_S: Final = 0.25
RETRY_AT_MOST_S: Final = 5.0
"""Seconds between two attempts to open a session: each time twice as long, up to this."""


@dataclass(frozen=True, slots=True)
class Options:
    """How to monitor: a sample of each switch every `interval_s` seconds; with `once` each of them is judged.

    With `queues` samples tell of each class at each port, too.
    """

    interval_s: float = 1.0
    once: bool = False
    queues: bool = False


DEFAULT: Final = Options()


class Watched:
    """One switch; `take` is called with each observation."""

    def __init__(
        self,
        switch: Switch,
        artifact: Artifact,
        policies: Policies,
        options: Options,
        take: Callable[[Observation], None],
        clock_ns: Callable[[], int] = time.time_ns,
    ) -> None:
        self._switch = switch
        self._artifact = artifact
        self._policies = policies
        self._options = options
        self._interval_s = interval_s = options.interval_s
        self._take = take
        self._clock_ns = clock_ns
        self._judging = Judging(switch.name)
        self._prepared: Prepared | None = None
        self._before: Sample | None = None
        self._pace_s = interval_s
        self._heard_at = self._sampled_at = time.monotonic()
        self._reader: TelemetryReader | None = None
        self._away = False
        self._told_away_at = 0.0
        self._problem = ""
        self._restarts = 0
        self._session: asyncio.Task[None] | None = None
        self._talks = False  # this session has given samples

    async def run(self, after_s: float = 0.0) -> None:
        """Monitor until cancelled."""
        await asyncio.sleep(after_s)
        self._heard_at = self._sampled_at = time.monotonic()
        wait_s = RETRY_S
        while True:
            self._talks = False
            self._session = asyncio.create_task(self._read())
            try:
                await asyncio.wait([self._session])
            finally:
                problem = await _end(self._session)
            if isinstance(problem, PhbError):
                self._problem = problem.message if isinstance(problem, SwitchError) else str(problem)
                if isinstance(problem, OtherProgramError):
                    self._restarts += 1
            elif problem is not None:
                raise problem
            wait_s = RETRY_S if self._talks else min(wait_s * 2, RETRY_AT_MOST_S)
            await asyncio.sleep(wait_s * random.uniform(0.75, 1.25))

    def tick(self, late_s: float) -> None:
        """Notice that nothing comes; `late_s` is how long the monitor itself was held up."""
        now = time.monotonic()
        self._heard_at += max(0.0, late_s)
        silent_s = now - self._heard_at
        if not self._away:
            reads = self._reader is not None and self._reader.reads_entries
            patient = (self._before is None and not self._problem) or reads
            if silent_s > max(SILENT * self._pace_s, START_S if patient else 0.0):
                self._go_away(silent_s, now)
        elif now - self._told_away_at >= self._interval_s:
            self._told_away_at = now
            self._take(self._absent(()))
        if self._talks and silent_s > max(PATIENCE_S, SILENT * self._pace_s) and self._session is not None:
            self._session.cancel()

    def _go_away(self, silent_s: float, now: float) -> None:
        self._away, self._told_away_at = True, now
        time_ns = self._clock_ns()
        self._judging.away(time_ns)
        message = self._problem or f"it has been silent for {silent_s:.1f} s"
        self._take(self._absent((Event(time_ns, self._switch.name, EventKind.SWITCH_AWAY, message),)))

    def _absent(self, events: tuple[Event, ...]) -> Observation:
        return Observation(
            self._switch.name, self._clock_ns(), None, judgements=self._judging.judgements, events=events
        )

    # -- samples ------------------------------------------------------------

    async def _read(self) -> None:
        async with open_session(self._switch, self._artifact) as session:
            interfaces = Interfaces(session)
            follower = asyncio.create_task(interfaces.follow(self._interval_s))
            try:
                with suppress(TimeoutError):
                    await asyncio.wait_for(interfaces.ready.wait(), READY_S)
                name, clock_ns = self._switch.name, self._clock_ns
                source = Source(session, name, self._files, lambda: interfaces.now, clock_ns, self._options.queues)
                self._pace_s = self._interval_s
                self._reader = TelemetryReader(source, heard=self._hear)
                try:
                    await self._follow(self._reader.samples(self._pace_s))
                except NoTelemetryError:
                    self._pace_s = self._interval_s if self._options.once else max(self._interval_s, POLLED_S)
                    await self._follow(PollingReader(source, instance=self._restarts).samples(self._pace_s))
            finally:
                await _end(follower)

    def _objectives(self, files: Prepared | None) -> Mapping[Subject, Objectives]:
        stated: Mapping[Subject, Objectives] = {}
        if files is not None:
            stated = objectives_of(files.policy, Names.of(files.intent, files.policy))
        if not self._options.once:
            return stated
        within = {"interval_s": 1, "not_achieved_after": 1, "okay_after": 1}
        return {about: each.model_copy(update=within) for about, each in stated.items()}

    def _hear(self) -> None:
        self._heard_at = time.monotonic()

    def _files(self) -> Prepared | None:
        return self._policies.prepared(self._switch.name)

    async def _follow(self, samples: AsyncGenerator[Sample, None]) -> None:
        async with aclosing(samples):
            async for sample in samples:
                self._observe(sample)

    def _observe(self, sample: Sample) -> None:
        now, time_ns = time.monotonic(), sample.time_ns
        self._talks, self._problem = True, ""
        files = self._files()
        if files is not self._prepared:
            self._prepared = files
            self._judging.follow(self._objectives(files), time_ns)
        events: list[Event] = []
        if self._away:
            self._away = False
            silent_s = now - self._sampled_at
            back = f"it answers again, after {silent_s:.1f} s"
            events.append(Event(time_ns, self._switch.name, EventKind.SWITCH_BACK, back))
        between = changes_between(self._before, sample, LONGEST * self._pace_s)
        gap_s = 0.0
        if not between.changes:
            self._judging.gap()
            gap_s = now - self._sampled_at if self._before is not None else 0.0
        events += between.events
        events += self._judging.take(between.changes, time_ns)
        self._before, self._heard_at, self._sampled_at = sample, now, now
        judgements = self._judging.judgements
        policy = None if files is None else files.policy
        observed = Observation(
            sample.switch, time_ns, sample, between.changes, gap_s, judgements, tuple(events), policy
        )
        self._take(observed)


async def _end(task: asyncio.Task[None]) -> BaseException | None:
    """End a task and give what it failed with; asyncio tells of a failure that nobody has looked at."""
    task.cancel()
    await asyncio.wait([task])
    return None if task.cancelled() else task.exception()
