"""Rows of SLAPM's monitor table: those of the policy's objectives, and those that managers make.

Both say what happened over their own intervals. The former are judged where the monitor judges all objectives; the
latter here, by thresholds of their own, in the same way (`phb.monitor.judging`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Final

from phb.delays import mean_us
from phb.monitor.judging import Course
from phb.monitor.observation import Change, EventKind, Judgement, Measure, State, Subject
from phb.monitor.snmp.switches import Entry, KnownSwitch

OWN: Final = "phb"
"""Owner of the rows of the policy's objectives, which nobody else may write."""
INTERVAL_S: Final = 20
"""Of a manager's row that doesn't say (slapmPRMonInterval's default)."""
_LEEWAY: Final = 10
"""Percent by which a threshold that a manager leaves out lies beside the objective, on either side."""


class Control(IntEnum):
    """Bits of slapmPRMonControl."""

    MINIMUM_RATE = 0
    MAXIMUM_RATE = 1
    MAXIMUM_DELAY = 2
    AGGREGATE_TRAPS = 3
    SUBCOMPONENT_TRAPS = 4
    SUBCOMPONENTS = 5


class Broken(IntEnum):
    """Bits of SlapmStatus that speak of a rule as a whole; the others speak of its connections, which nobody counts."""

    MINIMUM_IN_RATE = 0
    MAXIMUM_IN_RATE = 1
    MAXIMUM_DELAY = 2
    MINIMUM_OUT_RATE = 3
    MAXIMUM_OUT_RATE = 4


class RowStatus(IntEnum):
    """States of a row that a manager makes, and what it may ask for (RFC 2579)."""

    ACTIVE = 1
    NOT_IN_SERVICE = 2
    NOT_READY = 3
    CREATE_AND_GO = 4
    CREATE_AND_WAIT = 5
    DESTROY = 6


_OF_MEASURE: Final = {
    Measure.MINIMUM_RATE: (Control.MINIMUM_RATE, Broken.MINIMUM_OUT_RATE),
    Measure.MAXIMUM_RATE: (Control.MAXIMUM_RATE, Broken.MAXIMUM_OUT_RATE),
    Measure.MEAN_DELAY: (Control.MAXIMUM_DELAY, Broken.MAXIMUM_DELAY),
    Measure.DELAY_PERCENTILE: (Control.MAXIMUM_DELAY, Broken.MAXIMUM_DELAY),
}
"""An objective of what leaves the switch; the MIB has no words for one of loss."""
_OF_BROKEN: Final = {
    Broken.MINIMUM_IN_RATE: Control.MINIMUM_RATE,
    Broken.MAXIMUM_IN_RATE: Control.MAXIMUM_RATE,
    Broken.MAXIMUM_DELAY: Control.MAXIMUM_DELAY,
    Broken.MINIMUM_OUT_RATE: Control.MINIMUM_RATE,
    Broken.MAXIMUM_OUT_RATE: Control.MAXIMUM_RATE,
}


@dataclass(slots=True)
class Window:
    """What happened in the present interval so far, and in the last whole one.

    Attributes:
        ended_ns: When the last whole interval ended; 0 before there was one.
        in_bps, out_bps, delay_ms: Of the last whole interval; no delay is known where nothing left.
    """

    interval_s: int
    ended_ns: int = 0
    in_bps: float = 0.0
    out_bps: float = 0.0
    delay_ms: float | None = None
    _seconds: float = 0.0
    _came: int = 0
    _sent: int = 0
    _delays: dict[int, int] = field(default_factory=dict)

    def add(self, change: Change | None, now_ns: int) -> bool:
        """Add what happened, of which None is unknown; give whether an interval ended."""
        if change is None:
            self._begin()
            return False
        self._seconds += change.seconds
        self._came += change.came_bytes
        self._sent += change.sent_bytes
        for bucket, frames in change.delays.items():
            self._delays[bucket] = self._delays.get(bucket, 0) + frames
        if self._seconds + change.seconds / 2 < self.interval_s:
            return False
        self.in_bps, self.out_bps = self._came * 8 / self._seconds, self._sent * 8 / self._seconds
        mean = mean_us(self._delays)
        self.delay_ms = None if mean is None else mean / 1000
        self.ended_ns = now_ns
        self._begin()
        return True

    def _begin(self) -> None:
        self._seconds, self._came, self._sent, self._delays = 0.0, 0, 0, {}


@dataclass(slots=True)
class Monitor:
    """One row.

    Attributes:
        control: Bits of `Control` that are set.
        given: Thresholds in kbit/s or ms, by bit of control and whether it is the one at which a bound that was broken
            is kept again; of a manager's row as far as it says.
        broken: Bits of `Broken` that are set, and `before` those that were before the last change.
        times: How often each bit of `Broken` was set.
    """

    entry: Entry
    owner: str
    control: frozenset[int]
    window: Window
    given: Mapping[tuple[Control, bool], float] = field(default_factory=dict)
    status: RowStatus = RowStatus.NOT_READY
    broken: frozenset[int] = frozenset()
    before: frozenset[int] = frozenset()
    times: dict[Broken, int] = field(default_factory=dict)
    courses: dict[Broken, Course] = field(default_factory=dict)

    @property
    def key(self) -> tuple[str, int]:
        """Owner, and number of what is watched."""
        return self.owner, self.entry.number

    def threshold(self, bit: Control, kept: bool) -> float | None:
        """Give a threshold; None where it isn't asked for, or has no default either."""
        if bit not in self.control:
            return None
        given = self.given.get((bit, kept))
        if given is not None or self.owner == OWN:
            return given
        bound = self.entry.switch.bounds.get((self.entry.subject, bit))
        # A minimum is broken below its objective, a maximum above it.
        above = kept is (bit is Control.MINIMUM_RATE)
        return None if bound is None else bound * (100 + (_LEEWAY if above else -_LEEWAY)) / 100

    @property
    def ready(self) -> bool:
        """Whether it has all thresholds that it needs, each pair the right way round."""
        for bit in (Control.MINIMUM_RATE, Control.MAXIMUM_RATE, Control.MAXIMUM_DELAY):
            low, high = self.threshold(bit, False), self.threshold(bit, True)
            if bit is not Control.MINIMUM_RATE:
                low, high = high, low
            if bit in self.control and (low is None or high is None or low > high):
                return False
        return True

    def become(self, broken: frozenset[int]) -> None:
        """Have these bits set from now on."""
        for bit in broken - self.broken:
            self.times[Broken(bit)] = self.times.get(Broken(bit), 0) + 1
        self.before, self.broken = self.broken, broken

    def judge(self, intervals: int) -> list[EventKind]:
        """Judge a manager's row by the interval that has ended: not achieved after so many in a row."""
        window = self.window
        if not window.in_bps:
            return []  # nothing came: it says nothing
        values = {
            Broken.MINIMUM_IN_RATE: window.in_bps / 1000,
            Broken.MAXIMUM_IN_RATE: window.in_bps / 1000,
            Broken.MAXIMUM_DELAY: window.delay_ms,
            Broken.MINIMUM_OUT_RATE: window.out_bps / 1000,
            Broken.MAXIMUM_OUT_RATE: window.out_bps / 1000,
        }
        kinds: list[EventKind] = []
        bits = set()
        for bit, value in values.items():
            control = _OF_BROKEN[bit]
            broken, kept = self.threshold(control, False), self.threshold(control, True)
            if broken is None or kept is None or value is None:
                continue
            course = self.courses.setdefault(bit, Course())
            if control is Control.MINIMUM_RATE:
                kind = course.judge(value < broken, value >= kept, intervals, 1)
            else:
                kind = course.judge(value > broken, value <= kept, intervals, 1)
            if kind is not None:
                kinds.append(kind)
            if course.state is State.NOT_ACHIEVED:
                bits.add(int(bit))
        self.become(frozenset(bits))
        return kinds

    def away(self) -> None:
        """The switch doesn't answer: nothing is known of it, but what was told stays told."""
        for course in self.courses.values():
            course.away()
        self.become(frozenset())
        self.window = Window(self.window.interval_s)


def of_objectives(switch: KnownSwitch, judgements: Iterable[Judgement]) -> Iterator[Monitor]:
    """Make the rows of the policy's objectives, whose bounds the switch knows."""
    objectives = {judgement.subject: judgement.objectives for judgement in judgements}
    for subject, wanted in objectives.items():
        entry = switch.entries.get(subject)
        if entry is None:
            continue
        given: dict[tuple[Control, bool], float] = {}
        for bit in (Control.MINIMUM_RATE, Control.MAXIMUM_RATE, Control.MAXIMUM_DELAY):
            bound = switch.bounds.get((subject, bit))
            if bound is not None:
                margin = wanted.margin_percent if bit is Control.MINIMUM_RATE else -wanted.margin_percent
                given[bit, False], given[bit, True] = bound, bound * (100 + margin) / 100
        control = frozenset({*(int(bit) for bit, _ in given), int(Control.AGGREGATE_TRAPS)})
        yield Monitor(entry, OWN, control, Window(wanted.interval_s), given, RowStatus.ACTIVE)


def in_units(judgement: Judgement) -> float:
    """Give a bound as the MIB has it: kbit/s or ms."""
    return judgement.bound if judgement.unit == "ms" else judgement.bound / 1000


def bounds_of(judgements: Iterable[Judgement]) -> dict[tuple[Subject, int], float]:
    """Give what the policy wants, in the MIB's units; of several delays that of the mean, else the first."""
    bounds: dict[tuple[Subject, int], float] = {}
    for judgement in judgements:
        if judgement.measure in _OF_MEASURE:
            key = judgement.subject, _OF_MEASURE[judgement.measure][0]
            if key not in bounds or judgement.measure is Measure.MEAN_DELAY:
                bounds[key] = in_units(judgement)
    return bounds


def broken_bits(judgements: Iterable[Judgement]) -> dict[Subject, frozenset[int]]:
    """Give which bits the policy's rows have set; subjects that are okay are left out."""
    broken: dict[Subject, set[int]] = {}
    for judgement in judgements:
        if judgement.state is State.NOT_ACHIEVED and judgement.measure in _OF_MEASURE:
            broken.setdefault(judgement.subject, set()).add(int(_OF_MEASURE[judgement.measure][1]))
    return {subject: frozenset(bits) for subject, bits in broken.items()}


def tells(judgement: Judgement | None) -> bool:
    """Whether the MIB has words for it."""
    return judgement is not None and judgement.measure in _OF_MEASURE


def copy_of(monitor: Monitor) -> Monitor:
    """Give a row to try changes on; it begins anew."""
    window, nothing = Window(monitor.window.interval_s), frozenset[int]()
    return replace(monitor, window=window, times=dict(monitor.times), courses={}, broken=nothing, before=nothing)
