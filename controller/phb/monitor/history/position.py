"""Where the counters of a switch stood: what a span of time had is the distance of two positions.

So nothing is counted twice or lost, whatever becomes of the process between two of them: it goes on from the position
that the file has, and what passed meanwhile belongs to the span from there to the first sample.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from phb.monitor.changes import subject
from phb.monitor.history.coding import packed, unpacked
from phb.monitor.history.totals import NOTHING, Figures, Totals, gathered, spread
from phb.monitor.observation import Subject, SubjectKind
from phb.monitor.sample import ClassCount, PolicyCount, Sample, StreamCount


@dataclass(frozen=True, slots=True)
class Stand:
    """The counters of one subject, and the number by which the switch knows it: another one means other counters."""

    number: int
    figures: Figures
    delays: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Position:
    """All counters of a switch at one moment.

    Attributes:
        time_ns: Unix, by the monitor's clock.
        instance: Of the switch's counters (`Sample.instance`).
        stands: Of each subject that the sample had.
        switch_time_ns: `Sample.switch_time_ns`; 0 where it was read from an SQLite file.
    """

    time_ns: int
    instance: int
    stands: Mapping[Subject, Stand]
    switch_time_ns: int = field(default=0, compare=False)

    def encoded(self, number_of: Callable[[Subject], int]) -> bytes:
        """Give the octets of a row; `number_of` gives the numbers of subjects in the file."""
        return packed(self._numbers(number_of))

    def _numbers(self, number_of: Callable[[Subject], int]) -> Iterator[int]:
        for each, stand in self.stands.items():
            yield number_of(each)
            yield stand.number
            yield from stand.figures
            yield from spread(dict(stand.delays))

    @classmethod
    def decoded(cls, time_ns: int, instance: int, octets: bytes, subjects: Mapping[int, Subject]) -> Position:
        """Read the octets of a row; `subjects` are the file's by number.

        Raises:
            ValueError: They aren't such.
        """
        numbers = unpacked(octets)
        stands: dict[Subject, Stand] = {}
        try:
            for each in numbers:
                number = next(numbers)
                figures = (next(numbers), next(numbers), next(numbers), next(numbers), next(numbers))
                stands[subjects[each]] = Stand(number, figures, gathered(numbers))
        except (StopIteration, KeyError):
            raise ValueError("a position that ends too early, or of subjects that aren't there") from None
        return cls(time_ns, instance, stands)


def subjects_of(sample: Sample) -> list[Subject]:
    """Give the subjects that a position has."""
    return [
        *(subject(SubjectKind.CLASS, name) for name in sample.classes),
        *(subject(SubjectKind.POLICY, rule, direction) for rule, direction in sample.policies),
        *(subject(SubjectKind.STREAM, name) for name in sample.streams),
    ]


def position_of(sample: Sample) -> Position:
    """Give the position that a sample shows."""
    stands: dict[Subject, Stand] = {}
    for name, each in sample.classes.items():
        stands[subject(SubjectKind.CLASS, name)] = _of_class(each)
    for (rule, direction), policy in sample.policies.items():
        stands[subject(SubjectKind.POLICY, rule, direction)] = _of_rule(policy)
    for name, stream in sample.streams.items():
        stands[subject(SubjectKind.STREAM, name)] = _of_rule(stream)
    return Position(sample.time_ns, sample.instance, stands, sample.switch_time_ns)


def _of_class(count: ClassCount) -> Stand:
    dropped = sum(count.drops.values())
    sent = count.sent
    came = sent.packets + dropped, sent.bytes + count.dropped_bytes
    return Stand(count.number, (*came, dropped, count.dropped_bytes, count.marked), count.delays)


def _of_rule(count: PolicyCount | StreamCount) -> Stand:
    packets = octets = 0
    for value in count.colours.values():
        packets += value.packets
        octets += value.bytes
    return Stand(count.number, (packets, octets, sum(count.drops.values()), count.dropped_bytes, 0))


def between(before: Position, after: Position, number_of: Callable[[Subject], int]) -> Totals:
    """Give what passed from one position to another; `number_of` gives the numbers of subjects in the file.

    Counters of another instance began at nothing when the switch did: all that they show came since. So it is with one
    that went back: it was cleared. A subject that is new, or has another number, has an unknown past, and is counted
    from here on.
    """
    totals = Totals()
    anew = before.instance != after.instance
    for each, now in after.stands.items():
        then = before.stands.get(each)
        if anew:
            then = _NOWHERE
        elif then is None or then.number != now.number:
            continue
        if then.figures == now.figures:
            continue
        (a, b, c, d, e), (p, q, r, s, t) = now.figures, then.figures
        grown = (a - p, b - q, c - r, d - s, e - t)
        frames = _grown(then.delays, now.delays)
        if min(grown) < 0 or frames is None:
            grown, frames = now.figures, dict(now.delays)
        number = number_of(each)
        totals.figures[number] = grown
        if frames:
            totals.delays[number] = frames
    return totals


_NOWHERE = Stand(0, NOTHING)


def _grown(then: Mapping[int, int], now: Mapping[int, int]) -> dict[int, int] | None:
    """Give by how much each bucket grew; None where one shrank."""
    if then is now or then == now:
        return {}
    grown: dict[int, int] = {}
    for bucket, count in now.items():
        more = count - then.get(bucket, 0)
        if more < 0:
            return None
        if more:
            grown[bucket] = more
    return None if any(bucket not in now for bucket in then) else grown
