"""What each switch has shown in its current minute: observations in, closed minutes out. Nothing here knows a disk."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from phb.model import PolicySet
from phb.monitor.history.coding import packed
from phb.monitor.history.file import Closed, Gap, Known, Mark
from phb.monitor.history.sharing import is_after
from phb.monitor.observation import EventKind, Observation
from phb.monitor.sample import Sample

MINUTE_NS = 60 * 10**9
SECOND_NS = 10**9
_INSTANCES = 8


def _numbers() -> array[int]:
    return array("Q")


@dataclass(slots=True)
class _Book:
    """One switch.

    Attributes:
        start: The first sample of this process.
        fresh: `latest` is not yet in a closed minute.
        latest: The newest one; it is of `minute`.
        policy: Another one may have other names for the same counters.
        instances: The newest of the switch, in their order.
        seconds: Records of this minute's seconds: second, how many subjects, and of each number, packets and bytes that
            came, packets that were dropped.
    """

    start: Sample
    latest: Sample
    minute: int
    policy: PolicySet | None
    fresh: bool = True
    gaps: list[Gap] = field(default_factory=list)
    instances: list[int] = field(default_factory=list)
    seconds: array[int] = field(default_factory=_numbers)


def _anew(before: Sample, observation: Observation, sample: Sample) -> bool:
    """Whether counters may be others than before: what they had until then is told by the sample before."""
    return (
        before.instance != sample.instance
        or before.generation != sample.generation
        or any(event.kind is EventKind.COUNTERS_ANEW for event in observation.events)
    )


class Books:
    """The current minute of every switch; `known` has the numbers of those that the file knows."""

    def __init__(self, known: Mapping[str, Known]) -> None:
        self._known = known
        self._books: dict[str, _Book] = {}
        self.now_ns = 0

    def take(self, observation: Observation) -> Iterator[Closed]:
        """Take an observation; give the minute that it ends."""
        self.now_ns = observation.time_ns
        sample = observation.sample
        if sample is None:
            return
        minute = sample.time_ns // MINUTE_NS
        book = self._books.get(observation.switch)
        if book is None:
            book = self._books[observation.switch] = _Book(sample, sample, minute, observation.policy)
            book.instances.append(sample.instance)
            # At once, so that the file has a position from now on, and what passed while nobody looked.
            yield self._closed(observation.switch, book, landmark=True)
            return
        landmark = observation.policy is not book.policy or _anew(book.latest, observation, sample)
        # A clock that was set back, too, closes the minute; the earlier one is added to once more.
        if (landmark or minute != book.minute) and book.fresh:
            yield self._closed(observation.switch, book)
        book.minute, book.policy = minute, observation.policy
        if observation.gap_s > 0:
            counted = sample.instance == book.latest.instance
            book.gaps.append(Gap(sample.time_ns - round(observation.gap_s * SECOND_NS), sample.time_ns, counted))
        if sample.instance != book.latest.instance:
            book.instances = [*book.instances, sample.instance][-_INSTANCES:]
        book.latest, book.fresh = sample, True
        known = self._known.get(observation.switch)
        if known is not None and observation.changes:
            self._second(book, known, observation)
        if landmark:
            # Whoever is new in this sample is counted from it on.
            yield self._closed(observation.switch, book, landmark=True)

    def instances(self, switch: str) -> Sequence[int]:
        """Give the newest instances of a switch, in their order."""
        book = self._books.get(switch)
        return () if book is None else book.instances

    def settle(self, marks: Mapping[str, Mark]) -> None:
        """Forget what isn't later than these samples: another monitor has written it."""
        for switch, mark in marks.items():
            book = self._books.get(switch)
            if book is not None and not is_after(book.latest, mark, book.instances):
                book.fresh = False
                book.gaps, book.seconds = [], _numbers()

    def end(self, before_ns: int | None = None) -> Iterator[Closed]:
        """Close the minutes that are open, or of them those whose last sample was before a time."""
        for switch, book in self._books.items():
            if book.fresh and (before_ns is None or book.latest.time_ns < before_ns):
                yield self._closed(switch, book)

    def _closed(self, switch: str, book: _Book, *, landmark: bool = False) -> Closed:
        seconds = packed(book.seconds) if book.seconds else b""
        closed = Closed(switch, book.minute, book.start, book.latest, tuple(book.gaps), seconds, landmark)
        book.fresh = False
        book.gaps = []
        book.seconds = _numbers()
        return closed

    def _second(self, book: _Book, known: Known, observation: Observation) -> None:
        numbers: list[int] = []
        subjects = known.subjects
        for subject, change in observation.changes.items():
            if change.came_packets or change.drops:
                number = subjects.get(subject)
                if number is not None:
                    numbers += (number, change.came_packets, change.came_bytes, sum(change.drops.values()))
        if numbers:
            book.seconds.extend((observation.time_ns // SECOND_NS % 60, len(numbers) // 4, *numbers))
