"""What came, was dropped and was marked in one span of time, of each subject of a switch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from phb.monitor.history.coding import packed, unpacked

CAME_PACKETS, CAME_BYTES, DROPPED_PACKETS, DROPPED_BYTES, MARKED = range(5)
FIGURES = 5

Figures = tuple[int, int, int, int, int]
"""By the indexes above."""
NOTHING: Figures = (0, 0, 0, 0, 0)


@dataclass(slots=True)
class Totals:
    """Figures and, of classes, frames by bucket of delay (`phb.delays`), by the subject's number in the file.

    It may be changed only by `add`, `count` and `delay`.
    """

    figures: dict[int, Figures] = field(default_factory=dict)
    delays: dict[int, dict[int, int]] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.figures)

    def add(self, other: Totals) -> None:
        """Add another span's."""
        for subject, more in other.figures.items():
            self.count(subject, more)
        for subject, frames in other.delays.items():
            self.delay(subject, frames)

    def count(self, subject: int, more: Figures) -> None:
        """Add to the figures of one subject."""
        had = self.figures.get(subject)
        if had is None:
            self.figures[subject] = more
        else:
            a, b, c, d, e = had
            p, q, r, s, t = more
            self.figures[subject] = (a + p, b + q, c + r, d + s, e + t)

    def delay(self, subject: int, frames: dict[int, int]) -> None:
        """Add frames by bucket of one class."""
        held = self.delays.setdefault(subject, {})
        for bucket, count in frames.items():
            held[bucket] = held.get(bucket, 0) + count

    def encoded(self) -> bytes:
        """Give the octets of a row."""
        return packed(self._numbers())

    @classmethod
    def decoded(cls, octets: bytes, *, delays: bool = True) -> Totals:
        """Read the octets of a row, all of it or only the figures.

        Raises:
            ValueError: They aren't such.
        """
        numbers = unpacked(octets)
        try:
            return cls(_figures(numbers), _delays(numbers) if delays else {})
        except StopIteration:
            raise ValueError("a record that ends too early") from None

    def _numbers(self) -> Iterator[int]:
        yield len(self.figures)
        before = 0
        for subject in sorted(self.figures):
            yield subject - before
            yield from self.figures[subject]
            before = subject
        yield len(self.delays)
        before = 0
        for subject in sorted(self.delays):
            frames = self.delays[subject]
            yield subject - before
            yield from spread(frames)
            before = subject


def _figures(numbers: Iterator[int]) -> dict[int, Figures]:
    found: dict[int, Figures] = {}
    subject = 0
    for _ in range(next(numbers)):
        subject += next(numbers)
        found[subject] = (next(numbers), next(numbers), next(numbers), next(numbers), next(numbers))
    return found


def _delays(numbers: Iterator[int]) -> dict[int, dict[int, int]]:
    found: dict[int, dict[int, int]] = {}
    subject = 0
    for _ in range(next(numbers)):
        subject += next(numbers)
        found[subject] = gathered(numbers)
    return found


def spread(frames: dict[int, int]) -> Iterable[int]:
    """Give a histogram as numbers: how many buckets, and of each its distance to the one before, and its frames."""
    yield len(frames)
    before = 0
    for bucket in sorted(frames):
        yield bucket - before
        yield frames[bucket]
        before = bucket


def gathered(numbers: Iterator[int]) -> dict[int, int]:
    """Read `spread`."""
    frames: dict[int, int] = {}
    bucket = 0
    for _ in range(next(numbers)):
        bucket += next(numbers)
        frames[bucket] = next(numbers)
    return frames
