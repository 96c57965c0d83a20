"""The newest observation of each switch, and what is counted over all of them. Taking one costs next to nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from phb.monitor.active.measured import Measured
from phb.monitor.metrics.chosen import Chosen, Told
from phb.monitor.metrics.families import escaped
from phb.monitor.metrics.pushes import Pushed
from phb.monitor.observation import EventKind, Judgement, Observation, Subject, SubjectKind
from phb.monitor.sample import PolicyCount, Sample, StreamCount

STALE_AFTER_S: Final = 30.0
"""Seconds without an observation after which a switch counts as away. The monitor tells of a silent switch, too, so
only a monitor that hangs, or one with a longer interval, lets it come to this."""


@dataclass
class Known:
    """What is known of one switch.

    Attributes:
        label: Its name, as a label's value.
        policies, streams: Which of them have series of their own.
        sample_ns: When its counters were read last.
        taken_s: When its newest observation came, by a clock that nobody sets.
        gap_s: All gaps together.
        anew: How often its counters began anew.
        pushed: Pushes to it; None where none is known.
    """

    label: str
    policies: Chosen[PolicyCount]
    streams: Chosen[StreamCount]
    observation: Observation | None = None
    instance: int | None = None
    sample_ns: int | None = None
    taken_s: float = 0.0
    gap_s: float = 0.0
    anew: int = 0
    events: Counter[EventKind] = field(default_factory=Counter)
    pushed: Pushed | None = None


@dataclass
class View:
    """One switch as a page tells of it: the same for all families of the page.

    Attributes:
        sample: None while the switch is away.
    """

    known: Known
    sample: Sample | None
    judgements: Sequence[Judgement]

    @property
    def label(self) -> str:
        """The switch's name, as a label's value."""
        return self.known.label

    @cached_property
    def policies(self) -> Told[PolicyCount]:
        """Policies, where there is a sample."""
        assert self.sample is not None
        preferred = ((each.name, each.direction) for each in self._subjects(SubjectKind.POLICY))
        return self.known.policies.tell(self.sample.policies, preferred)

    @cached_property
    def streams(self) -> Told[StreamCount]:
        """Streams, where there is a sample."""
        assert self.sample is not None
        preferred = (each.name for each in self._subjects(SubjectKind.STREAM))
        return self.known.streams.tell(self.sample.streams, preferred)

    def _subjects(self, kind: SubjectKind) -> list[Subject]:
        return [each.subject for each in self.judgements if each.subject.kind is kind]


class Newest:
    """Takes observations (`phb.monitor.observation.Taker`).

    Attributes:
        sessions: All of test packets, as they stand.

    Args:
        switches: All that are watched: those not heard of yet are told as away.
        policies: How many policies, and how many streams, of each switch have series of their own.
        stale_after_s: Seconds without an observation after which a switch counts as away.
        clock: Seconds of a clock that nobody sets.
    """

    def __init__(
        self,
        switches: Sequence[str],
        policies: int,
        stale_after_s: float,
        clock: Callable[[], float],
    ) -> None:
        self.clock = clock
        self.sessions: Sequence[Measured] = ()
        self._stale_after_s = stale_after_s
        self._most = policies
        self._known: dict[str, Known] = {}
        for name in switches:
            self._switch(name)

    def take(self, observation: Observation) -> None:
        """Take the newest observation of a switch, or of sessions; a switch that isn't watched any more is left out."""
        if not observation.switch:
            self.sessions = observation.sessions
            return
        known = self._known.get(observation.switch)
        if known is None:
            return
        known.observation = observation
        known.taken_s = self.clock()
        known.gap_s += observation.gap_s
        for event in observation.events:
            known.events[event.kind] += 1
        if (sample := observation.sample) is not None:
            known.sample_ns = sample.time_ns
            if known.instance not in (None, sample.instance):
                known.anew += 1
            known.instance = sample.instance

    def take_pushes(self, pushed: Mapping[str, Pushed]) -> None:
        """Take what is known of pushes to each switch."""
        for name, known in self._known.items():
            known.pushed = pushed.get(name)

    def follow(self, switches: Sequence[str]) -> None:
        """Tell of these switches from now on, and of no others."""
        known = self._known
        self._known = {}
        for name in switches:
            if name in known:
                self._known[name] = known[name]
            else:
                self._switch(name)

    def views(self) -> list[View]:
        """Give all switches as they stand now."""
        least = self.clock() - self._stale_after_s
        return [self._view(known, known.taken_s >= least) for known in self._known.values()]

    def last_taken_s(self) -> float | None:
        """Give when the newest observation of all came; None before the first."""
        return max((known.taken_s for known in self._known.values() if known.observation is not None), default=None)

    def _view(self, known: Known, fresh: bool) -> View:
        observation = known.observation
        if observation is None:
            return View(known, None, ())
        return View(known, observation.sample if fresh else None, observation.judgements)

    def _switch(self, name: str) -> None:
        self._known[name] = Known(escaped(name), Chosen(self._most), Chosen(self._most))
