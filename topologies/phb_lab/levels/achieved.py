"""What became of the bounds of a run."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from phb.monitor.observation import Event, Judgement, Measure, State, Subject

NANOSECONDS = 1_000_000_000

PERIOD_NS = NANOSECONDS
"""Between two looks at the switches."""


@dataclass
class Bound:
    """One bound of one subject, over a run.

    Attributes:
        points: of each interval that said something: its end (ns since the start of the run), what was measured, and
            the state from then on.
        events: what was told of it, with the time.
    """

    switch: str
    subject: Subject
    measure: Measure
    percentile: float | None
    bound: float
    unit: str
    points: list[tuple[int, float, State]] = field(default_factory=list)
    events: list[tuple[int, Event]] = field(default_factory=list)

    @property
    def achieved(self) -> bool | None:
        """Whether it was achieved all the time; None where nothing was measured."""
        return all(state is not State.NOT_ACHIEVED for _, _, state in self.points) if self.points else None

    @property
    def kept(self) -> int:
        """Intervals that kept it."""
        return sum(not self.breaks(value) for _, value, _ in self.points)

    @property
    def worst(self) -> float | None:
        """What was measured in the worst interval."""
        values = [value for _, value, _ in self.points]
        return (min if self.measure is Measure.MINIMUM_RATE else max)(values, default=None)

    @property
    def mean(self) -> float | None:
        """The mean over all intervals, each counted once."""
        return sum(value for _, value, _ in self.points) / len(self.points) if self.points else None

    def breaks(self, value: float) -> bool:
        """Whether a value is beyond it."""
        return value < self.bound if self.measure is Measure.MINIMUM_RATE else value > self.bound

    def as_json(self) -> dict[str, Any]:
        """For the results file."""
        return {
            "switch": self.switch,
            "subject": {"kind": str(self.subject.kind), "name": self.subject.name, "direction": self.subject.direction},
            "measure": str(self.measure),
            "percentile": self.percentile,
            "bound": self.bound,
            "unit": self.unit,
            "achieved": self.achieved,
            "intervals": len(self.points),
            "kept": self.kept,
            "mean": _rounded(self.mean),
            "worst": _rounded(self.worst),
            "events": [
                {"at_s": at_ns / NANOSECONDS, "event": str(event.kind), "message": event.message}
                for at_ns, event in self.events
            ],
            "points": [[at_ns / NANOSECONDS, _rounded(value), str(state)] for at_ns, value, state in self.points],
        }


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


class Achieved:
    """All bounds of a run, in the order in which they were judged first."""

    def __init__(self) -> None:
        self._bounds: dict[tuple[str, Subject, Measure, float | None], Bound] = {}
        self._last: dict[int, Judgement] = {}

    @property
    def bounds(self) -> Sequence[Bound]:
        """Give them."""
        return tuple(self._bounds.values())

    def take(self, at_ns: int, switch: str, judgements: Sequence[Judgement], events: Sequence[Event]) -> None:
        """Take what one look at a switch said.

        Args:
            at_ns: Since the start of the run.
            switch: Its name.
            judgements: As they stand; one that is the same object as before has not been judged since.
            events: That began with this look.
        """
        for judgement in judgements:
            bound = self._bound(switch, judgement)
            before = self._last.get(id(bound))
            self._last[id(bound)] = judgement
            if judgement is not before and judgement.value is not None:
                bound.points.append((at_ns, judgement.value, judgement.state))
        for event in events:
            if event.judgement is not None:
                self._bound(switch, event.judgement).events.append((at_ns, event))

    def _bound(self, switch: str, judgement: Judgement) -> Bound:
        key = (switch, judgement.subject, judgement.measure, judgement.percentile)
        if key not in self._bounds:
            self._bounds[key] = Bound(*key, judgement.bound, judgement.unit)
        return self._bounds[key]
