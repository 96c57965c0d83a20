"""All sessions of an inventory, each with a task of its own, for as long as the monitor runs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

from phb.inventory import StampSession
from phb.monitor.active.measured import Measured
from phb.monitor.observation import Event, EventKind, Observation
from phb.stamp.continuing import Period, measure_on
from phb.stamp.session import Plan

LEAST_PACKETS: Final = 10
"""Packets of a period: of fewer neither jitter nor a percentile says anything."""
LONGEST_S: Final = 60.0
"""Seconds of a period, however long the monitor's interval is: its packets are in memory."""
TOGETHER_S: Final = 0.1
"""Periods that end within so many seconds are told together."""


Ended = Callable[[asyncio.Task[None]], None]


class Measuring:
    """Measures sessions.

    Args:
        interval_s: The monitor's interval.
        take: Called with an observation of no switch that has all sessions as they stand.
        ended: Called with each task when it has ended.
    """

    def __init__(
        self, interval_s: float, take: Callable[[Observation], None], ended: Ended, clock_ns: Callable[[], int]
    ) -> None:
        self._interval_s = interval_s
        self._take = take
        self._ended = ended
        self._clock_ns = clock_ns
        self._running: dict[str, _Running] = {}
        self._events: list[Event] = []
        self._telling: asyncio.TimerHandle | None = None

    def follow(self, planned: Sequence[tuple[StampSession, Plan]]) -> None:
        """Measure these from now on; those that stay as they are go on undisturbed."""
        before, self._running = self._running, {}
        for number, (session, plan) in enumerate(planned):
            packets = min(max(LEAST_PACKETS, round(self._interval_s * session.rate)), round(LONGEST_S * session.rate))
            plan = replace(plan, count=packets)
            known = before.get(session.name)
            if known is not None and known.plan == plan:
                known.measured = replace(known.measured, session=session)
                self._running[session.name] = before.pop(session.name)
                continue
            # Packets of several sessions needn't meet at the sender.
            running = _Running(session, plan, number / len(planned) * plan.interval_s, self._hear, self._clock_ns)
            running.task.add_done_callback(self._ended)
            self._running[session.name] = running
        for running in before.values():
            running.task.cancel()
        if before or planned:
            self._hear(())

    async def stop(self) -> None:
        """End all sessions."""
        tasks = [running.task for running in self._running.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._telling is not None:
            self._telling.cancel()

    def _hear(self, events: Sequence[Event]) -> None:
        self._events += events
        if self._telling is None:
            self._telling = asyncio.get_running_loop().call_later(TOGETHER_S, self._tell)

    def _tell(self) -> None:
        self._telling = None
        events, self._events = tuple(self._events), []
        measured = tuple(running.measured for running in self._running.values())
        self._take(Observation("", self._clock_ns(), None, events=events, sessions=measured))


class _Running:
    """One session: `hear` is called after each period, with what it changes."""

    def __init__(
        self,
        session: StampSession,
        plan: Plan,
        begin_s: float,
        hear: Callable[[Sequence[Event]], None],
        clock_ns: Callable[[], int],
    ) -> None:
        self.plan = plan
        self.measured = Measured(session)
        self._hear = hear
        self._clock_ns = clock_ns
        self._heard_at: float | None = None
        self.task = asyncio.create_task(self._measure(begin_s))

    async def _measure(self, begin_s: float) -> None:
        await asyncio.sleep(begin_s)
        await measure_on(self.plan, self._take)

    def _take(self, period: Period) -> None:
        before, now = self.measured, asyncio.get_running_loop().time()
        answered = period.figures is not None and period.figures.replies > 0
        figures, why = (period.figures, "") if answered else (None, _why(period))
        self.measured = Measured(before.session, figures, period.seconds, not answered, why, before.totals.plus(period))
        events: tuple[Event, ...] = ()
        if not answered and not before.away:
            events = (self._event(EventKind.REFLECTOR_AWAY, why),)
        elif answered and before.away:
            since = "" if self._heard_at is None else f", after {now - self._heard_at:.1f} s"
            events = (self._event(EventKind.REFLECTOR_BACK, f"replies come again{since}"),)
        if answered:
            self._heard_at = now
        self._hear(events)

    def _event(self, kind: EventKind, words: str) -> Event:
        session = self.measured.session
        message = f"session '{session.name}' (class {session.traffic_class}): {words}"
        return Event(self._clock_ns(), "", kind, message)


def _why(period: Period) -> str:
    trouble = f" ({period.trouble})" if period.trouble else ""
    if period.figures is None:
        return f"nothing can be sent{trouble}"
    if period.refused:
        return f"what comes back for {period.figures.sent} packets are no replies: another key?"
    if period.late:
        return f"no reply in time to {period.figures.sent} packets; replies to earlier ones came later than `wait` says"
    return f"no reply to {period.figures.sent} packets{trouble}"
