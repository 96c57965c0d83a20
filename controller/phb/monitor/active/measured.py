"""What is known of one session: its last period, and sums of all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from phb.delays import bucket_of
from phb.inventory import StampSession
from phb.stamp.continuing import Period
from phb.stamp.figures import Figures

_MOST_US: Final = (1 << 32) - 1


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums since a session began.

    Attributes:
        lost: Packets that didn't come back in time.
        lost_there, lost_back: Of these, as far as the reflector's numbers tell.
        round_trips: Packets that came back, by bucket of `phb.delays`.
    """

    sent: int = 0
    lost: int = 0
    lost_there: int = 0
    lost_back: int = 0
    round_trips: Mapping[int, int] = field(default_factory=dict)

    def plus(self, period: Period) -> Totals:
        """Give the sums with a period."""
        figures = period.figures
        if figures is None:
            return self
        times = Counter(self.round_trips)
        # What a reflector says of its own time can make less than nothing of the rest.
        times.update(bucket_of(min(max(probe.round_trip_ns // 1000, 0), _MOST_US)) for probe in period.probes)
        return Totals(
            self.sent + figures.sent,
            self.lost + figures.sent - figures.replies,
            self.lost_there + (figures.lost.there or 0),
            self.lost_back + (figures.lost.back or 0),
            times,
        )


@dataclass(frozen=True, slots=True)
class Measured:
    """A session at one moment.

    Attributes:
        figures: Of the last period; None before the first has ended, and while the reflector is away.
        seconds: That the period's packets took to send.
        away: Whether no packet of the last period came back.
        why: Of one that is away, in words.
    """

    session: StampSession
    figures: Figures | None = None
    seconds: float = 0.0
    away: bool = False
    why: str = ""
    totals: Totals = field(default_factory=Totals)
