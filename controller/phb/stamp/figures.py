"""What the times of many test packets say: delay there and back, jitter, loss in each direction.

A delay of one direction compares times of two clocks, and is as right as they agree. The round trip, without what the
packet spent in the reflector, and jitter need no common clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from typing import Any

PERCENTILES = (50, 95, 99)


@dataclass(frozen=True, slots=True)
class Probe:
    """One test packet that came back; times in nanoseconds.

    Attributes:
        sequence: The sender's number, from 0.
        reflector_sequence: The reflector's own, or the sender's again if it is stateless.
        sent_ns, returned_ns: By the sender's clock.
        received_ns, reflected_ns: By the reflector's.
    """

    sequence: int
    reflector_sequence: int
    sent_ns: int
    received_ns: int
    reflected_ns: int
    returned_ns: int

    @property
    def there_ns(self) -> int:
        """From the sender to the reflector."""
        return self.received_ns - self.sent_ns

    @property
    def back_ns(self) -> int:
        """From the reflector to the sender."""
        return self.returned_ns - self.reflected_ns

    @property
    def round_trip_ns(self) -> int:
        """There and back without the time in the reflector."""
        return self.there_ns + self.back_ns


@dataclass(frozen=True, slots=True)
class Spread:
    """How values of nanoseconds lie; percentiles by nearest rank."""

    least: int
    mean: float
    percentiles: tuple[int, ...]
    most: int

    @classmethod
    def of(cls, values: Iterable[int]) -> Spread | None:
        """Give that of values; None without any."""
        ordered = sorted(values)
        if not ordered:
            return None
        ranks = tuple(ordered[ceil(len(ordered) * percent / 100) - 1] for percent in PERCENTILES)
        return cls(ordered[0], sum(ordered) / len(ordered), ranks, ordered[-1])

    def as_ms(self) -> dict[str, float]:
        """For JSON, in milliseconds."""
        ranks = {f"p{percent}": value / 1e6 for percent, value in zip(PERCENTILES, self.percentiles, strict=True)}
        return {"min": self.least / 1e6, "mean": round(self.mean) / 1e6, **ranks, "max": self.most / 1e6}


@dataclass(frozen=True, slots=True)
class Loss:
    """Packets that didn't come back.

    Attributes:
        there, back: Of those sent before the last one that came back; None where nobody can tell: a stateless reflector
            doesn't count, and one that never sent another number than the sender's may be one.
        untold: The others: nobody knows how far they came.
    """

    there: int | None
    back: int | None
    untold: int


@dataclass(frozen=True, slots=True)
class Figures:
    """Of one session; spreads are None without replies.

    Attributes:
        duplicates: Replies to packets that had been answered.
        jitter_there, jitter_back: Absolute values of the delay variation (RFC 3393) between packets that were sent one
            after the other and both came back.
    """

    sent: int
    replies: int
    duplicates: int
    lost: Loss
    round_trip: Spread | None
    there: Spread | None
    back: Spread | None
    jitter_there: Spread | None
    jitter_back: Spread | None

    def as_json(self) -> dict[str, Any]:
        """For programs; times in milliseconds."""

        def spread(value: Spread | None) -> dict[str, float] | None:
            return None if value is None else value.as_ms()

        lost = {"there": self.lost.there, "back": self.lost.back, "untold": self.lost.untold}
        return {
            "sent": self.sent,
            "replies": self.replies,
            "duplicates": self.duplicates,
            "lost": {"packets": self.sent - self.replies, **lost},
            "round_trip_ms": spread(self.round_trip),
            "there_ms": spread(self.there),
            "back_ms": spread(self.back),
            "jitter_there_ms": spread(self.jitter_there),
            "jitter_back_ms": spread(self.jitter_back),
        }


def figures_of(sent: int, probes: Sequence[Probe], *, duplicates: int = 0, stateful: bool | None = None) -> Figures:
    """Give the figures of a session.

    Args:
        sent: Packets that were sent, numbered from 0.
        probes: Those that came back, each once, in any order.
        duplicates: Further replies.
        stateful: Whether the reflector numbers its packets itself; None: only if its numbers show it.
    """
    ordered = sorted(probes, key=lambda probe: probe.sequence)
    neighbours = [(one, other) for one, other in pairwise(ordered) if other.sequence == one.sequence + 1]
    return Figures(
        sent=sent,
        replies=len(ordered),
        duplicates=duplicates,
        lost=_loss(sent, ordered, stateful),
        round_trip=Spread.of(probe.round_trip_ns for probe in ordered),
        there=Spread.of(probe.there_ns for probe in ordered),
        back=Spread.of(probe.back_ns for probe in ordered),
        jitter_there=Spread.of(abs(other.there_ns - one.there_ns) for one, other in neighbours),
        jitter_back=Spread.of(abs(other.back_ns - one.back_ns) for one, other in neighbours),
    )


def _loss(sent: int, ordered: Sequence[Probe], stateful: bool | None) -> Loss:
    if not ordered:
        return Loss(None, None, sent)
    passed = ordered[-1].sequence + 1
    if stateful is None:
        stateful = any(probe.reflector_sequence != probe.sequence for probe in ordered)
    if passed == len(ordered):
        return Loss(0, 0, sent - passed)
    if not stateful:
        return Loss(None, None, sent - len(ordered))
    reflected = max(probe.reflector_sequence for probe in ordered) + 1
    # Packets that overtook others may make the reflector's count larger than what was sent before the last reply.
    reflected = min(max(reflected, len(ordered)), passed)
    return Loss(passed - reflected, reflected - len(ordered), sent - passed)
