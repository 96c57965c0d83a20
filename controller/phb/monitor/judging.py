"""Objectives of one switch, judged by what happened: over whole intervals, with hysteresis.

An objective that is broken for `not_achieved_after` intervals in a row is told as *not achieved*, one that is then kept
by its margin for `okay_after` in a row as *okay again*; the two take turns, whatever lies between them. Nothing here
reads a clock: the length of an interval goes by the switch's clock, which is in the changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from phb.delays import mean_us, percentile_us
from phb.model.objectives import Objectives
from phb.monitor.changes import words_of
from phb.monitor.observation import Change, Event, EventKind, Judgement, Measure, State, Subject


class Judging:
    """Judges one switch. A gap or a restart ends an interval without a judgement."""

    def __init__(self, switch: str) -> None:
        self._switch = switch
        self._subjects: dict[Subject, _Judged] = {}
        self._judgements: tuple[Judgement, ...] | None = ()

    @property
    def judgements(self) -> tuple[Judgement, ...]:
        """All bounds in the order of the objectives, as they stand."""
        if self._judgements is None:
            self._judgements = tuple(bound.judgement for each in self._subjects.values() for bound in each.bounds)
        return self._judgements

    def follow(self, objectives: Mapping[Subject, Objectives], time_ns: int) -> None:
        """Judge by these from now on; a subject whose objectives stay the same keeps its state."""
        before = self._subjects
        self._subjects = {}
        for subject, wanted in objectives.items():
            had = before.get(subject)
            if had is not None and had.objectives == wanted:
                self._subjects[subject] = had
                continue
            judged = self._subjects[subject] = _Judged(wanted, list(_bounds(subject, wanted, time_ns)))
            # Whoever was told of one that isn't achieved waits for its end, though the bound may be another now.
            told = {} if had is None else {bound.key: bound.course.told for bound in had.bounds}
            for bound in judged.bounds:
                bound.course.told = told.get(bound.key, False)
        self._judgements = None

    def take(self, changes: Mapping[Subject, Change], time_ns: int) -> list[Event]:
        """Take what happened since the last call; give what is to be told.

        A subject without a change begins its interval anew: what it did is unknown.
        """
        events: list[Event] = []
        for subject, judged in self._subjects.items():
            change = changes.get(subject)
            if change is None:
                judged.forget()
            elif judged.add(change):
                self._judgements = None
                events += self._judge(judged, time_ns)
                judged.forget()
        return events

    def gap(self) -> None:
        """Begin all intervals anew."""
        for judged in self._subjects.values():
            judged.forget()

    def away(self, time_ns: int) -> None:
        """The switch doesn't answer: nothing is known of it, but what was told stays told."""
        for judged in self._subjects.values():
            judged.forget()
            for bound in judged.bounds:
                bound.course.away()
                bound.turn(State.UNKNOWN, time_ns)
        self._judgements = None

    def _judge(self, judged: _Judged, time_ns: int) -> Iterator[Event]:
        for bound in judged.bounds:
            value = judged.value(bound.judgement)
            if value is not None and (kind := bound.judge(value, judged.objectives, time_ns)) is not None:
                yield Event(time_ns, self._switch, kind, _message(bound.judgement, kind), bound.judgement)


@dataclass(slots=True)
class Course:
    """Whether a bound is met, interval after interval, with hysteresis.

    Attributes:
        broken, kept: Intervals in a row that broke it, or kept it by the margin.
        told: *Not achieved* was told, and *okay again* not yet.
    """

    state: State = State.UNKNOWN
    broken: int = 0
    kept: int = 0
    told: bool = False

    def judge(self, breaks: bool, keeps: bool, not_achieved_after: int, okay_after: int) -> EventKind | None:
        """Go on by an interval that breaks it, keeps it by the margin, or neither; give what is to be told."""
        self.broken = self.broken + 1 if breaks else 0
        self.kept = self.kept + 1 if keeps else 0
        if self.broken >= not_achieved_after:
            self.state = State.NOT_ACHIEVED
        elif self.state is State.NOT_ACHIEVED or (self.state is State.UNKNOWN and self.told):
            if self.kept >= okay_after:
                self.state = State.OKAY
        elif not breaks:
            self.state = State.OKAY
        if self.told is (self.state is State.NOT_ACHIEVED) or self.state is State.UNKNOWN:
            return None
        self.told = not self.told
        return EventKind.NOT_ACHIEVED if self.told else EventKind.OKAY

    def away(self) -> None:
        """Nothing is known any more, but what was told stays told."""
        self.state, self.broken, self.kept = State.UNKNOWN, 0, 0


@dataclass(slots=True)
class _Bound:
    """One bound."""

    judgement: Judgement
    course: Course = field(default_factory=Course)

    @property
    def key(self) -> tuple[Measure, float | None]:
        return self.judgement.measure, self.judgement.percentile

    def judge(self, value: float, objectives: Objectives, time_ns: int) -> EventKind | None:
        before = self.judgement
        least = before.measure is Measure.MINIMUM_RATE
        inside = 1 + objectives.margin_percent / 100 * (1 if least else -1)
        breaks = value < before.bound if least else value > before.bound
        keeps = value >= before.bound * inside if least else value <= before.bound * inside
        kind = self.course.judge(breaks, keeps, objectives.not_achieved_after, objectives.okay_after)
        self.turn(self.course.state, time_ns, value)
        return kind

    def turn(self, state: State, time_ns: int, value: float | None = None) -> None:
        was = self.judgement
        since = was.since_ns if state is was.state else time_ns
        self.judgement = Judgement(
            was.subject, was.measure, was.bound, was.unit, was.objectives, was.percentile, value, state, since
        )


@dataclass(slots=True)
class _Judged:
    """One subject: its bounds, and what happened in the interval so far."""

    objectives: Objectives
    bounds: list[_Bound]
    seconds: float = 0.0
    came: int = 0
    dropped: int = 0
    packets: int = 0
    octets: int = 0
    delays: dict[int, int] = field(default_factory=dict)

    def forget(self) -> None:
        self.seconds = 0.0
        self.came = self.dropped = self.packets = self.octets = 0
        self.delays = {}

    def add(self, change: Change) -> bool:
        """Add a change; give whether the interval ends with it, or nearer to it than to the next one."""
        self.seconds += change.seconds
        if change.came_packets or change.drops:
            self.came += change.came_packets
            self.dropped += sum(change.drops.values())
            self.packets += change.sent_packets
            self.octets += change.sent_bytes
        for bucket, frames in change.delays.items():
            self.delays[bucket] = self.delays.get(bucket, 0) + frames
        return self.seconds + change.seconds / 2 >= self.objectives.interval_s

    def value(self, judgement: Judgement) -> float | None:
        """Give what was measured; None where nothing came."""
        if not self.came:
            return None
        measure = judgement.measure
        if measure is Measure.LOSS:
            return min(100.0, self.dropped / self.came * 100)
        if measure is Measure.MEAN_DELAY or measure is Measure.DELAY_PERCENTILE:
            percentile = judgement.percentile
            delay = mean_us(self.delays) if percentile is None else percentile_us(self.delays, percentile)
            return None if delay is None else delay / 1000
        rate = self.objectives.minimum_rate if measure is Measure.MINIMUM_RATE else self.objectives.maximum_rate
        assert rate is not None
        return max(0, self.octets - self.packets * rate.basis.left_out) * 8 / self.seconds


def _bounds(subject: Subject, objectives: Objectives, time_ns: int) -> Iterator[_Bound]:
    def bound(measure: Measure, value: float, unit: str, percentile: float | None = None) -> _Bound:
        return _Bound(Judgement(subject, measure, value, unit, objectives, percentile, since_ns=time_ns))

    if objectives.minimum_rate is not None:
        yield bound(Measure.MINIMUM_RATE, float(objectives.minimum_rate.bits_per_second), "bit/s")
    if objectives.maximum_rate is not None:
        yield bound(Measure.MAXIMUM_RATE, float(objectives.maximum_rate.bits_per_second), "bit/s")
    for delay in objectives.maximum_delays:
        if delay.percentile is None:
            yield bound(Measure.MEAN_DELAY, float(delay.milliseconds), "ms")
        else:
            yield bound(Measure.DELAY_PERCENTILE, float(delay.milliseconds), "ms", float(delay.percentile))
    if objectives.maximum_loss_percent is not None:
        yield bound(Measure.LOSS, float(objectives.maximum_loss_percent), "percent")


_WORDS: Final = {
    Measure.MINIMUM_RATE: "rate",
    Measure.MAXIMUM_RATE: "rate",
    Measure.MEAN_DELAY: "mean delay",
    Measure.LOSS: "loss",
}


def measured_words(judgement: Judgement) -> str:
    """Say what was measured, and what was asked for."""
    measure = judgement.measure
    what = _WORDS.get(measure) or f"delay of {judgement.percentile:g} percent"
    limit = "least" if measure is Measure.MINIMUM_RATE else "most"
    value = "unknown" if judgement.value is None else f"{_number(judgement.value)} {judgement.unit}"
    return f"{what} {value}, wanted is at {limit} {_number(judgement.bound)} {judgement.unit}"


def _message(judgement: Judgement, kind: EventKind) -> str:
    end = "not achieved" if kind is EventKind.NOT_ACHIEVED else "okay again"
    return f"{words_of(judgement.subject)}: {measured_words(judgement)}: {end}"


def _number(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".")
