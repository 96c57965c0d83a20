"""What the times of many test packets say: delay there and back, jitter, loss in each direction.

A delay of one direction compares times of two clocks, and is as right as they agree. The round trip, without what the
packet spent in the reflector, and jitter need no common clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
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
            doesn't count, one that never sent another number than the sender's may be one, and one that was started
            anew begins to count again. Of a period, those that the one before left untold are among them.
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

    def without_times(self) -> Figures:
        """Give them without delays and jitter, which a clock that was set has spoilt."""
        return replace(self, round_trip=None, there=None, back=None, jitter_there=None, jitter_back=None)

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


class Numbers:
    """What a reflector's own numbers tell of where packets were lost, from one period of a session to its next.

    Args:
        stateful: Whether the reflector numbers packets itself; None: only if its numbers show it.
    """

    def __init__(self, stateful: bool | None = None) -> None:
        self._stateful = stateful
        # The last packet that came back, and the reflector's number for it; None after a period in which none did.
        self._last: tuple[int, int] | None = (-1, -1)

    def loss(self, first: int, sent: int, ordered: Sequence[Probe]) -> Loss:
        """Give what was lost of `sent` packets from number `first` on, of which these came back."""
        if not ordered:
            self._last = None
            return Loss(None, None, sent)
        sequence, number = self._last or (ordered[0].sequence, ordered[0].reflector_sequence)
        passed = ordered[-1].sequence - sequence
        came = [probe.reflector_sequence for probe in ordered if probe.sequence > sequence]
        anew = any(each <= number for each in came) or len(set(came)) < len(came)
        self._last = ordered[-1].sequence, ordered[-1].reflector_sequence if anew else max([number, *came])
        if self._stateful is None and any(probe.reflector_sequence != probe.sequence for probe in ordered):
            self._stateful = True
        if passed == len(came):
            return Loss(0, 0, sent - len(ordered))
        if anew or not self._stateful:
            return Loss(None, None, sent - len(ordered))
        # Packets that overtook others may make the reflector's count larger than what was sent before the last reply.
        reflected = min(max(came) - number, passed)
        after_the_last = first + sent - 1 - ordered[-1].sequence
        before = 0 if ordered[0].sequence > sequence else ordered[0].sequence - first
        return Loss(passed - reflected, reflected - len(came), after_the_last + before)


def figures_of(
    sent: int,
    probes: Iterable[Probe],
    *,
    first: int = 0,
    duplicates: int = 0,
    stateful: bool | None = None,
    numbers: Numbers | None = None,
) -> Figures:
    """Give the figures of a session, or of a period of it.

    Args:
        sent: Packets that were sent.
        probes: Those that came back, each once, in any order.
        first: Number of the first one sent.
        duplicates: Further replies.
        stateful: Whether the reflector numbers its packets itself; None: only if its numbers show it.
        numbers: What the periods before have told of the reflector's numbers, instead of `stateful`.
    """
    ordered = sorted(probes, key=lambda probe: probe.sequence)
    neighbours = [(one, other) for one, other in pairwise(ordered) if other.sequence == one.sequence + 1]
    return Figures(
        sent=sent,
        replies=len(ordered),
        duplicates=duplicates,
        lost=(numbers or Numbers(stateful)).loss(first, sent, ordered),
        round_trip=Spread.of(probe.round_trip_ns for probe in ordered),
        there=Spread.of(probe.there_ns for probe in ordered),
        back=Spread.of(probe.back_ns for probe in ordered),
        jitter_there=Spread.of(abs(other.there_ns - one.there_ns) for one, other in neighbours),
        jitter_back=Spread.of(abs(other.back_ns - one.back_ns) for one, other in neighbours),
    )
