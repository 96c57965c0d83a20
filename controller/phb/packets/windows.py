"""Windows of rules: when they count, by whose clock, and the words for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from zoneinfo import ZoneInfo

from phb.model import Day, PolicySet, Validity
from phb.validity import always
from phb.values import write_moment

_WEEK = (*list(Day)[1:], Day.SUNDAY)  # as people list it
_MONTHS = tuple(
    "january february march april may june july august september october november december".split()  # noqa: SIM905
)


@dataclass(frozen=True)
class Window:
    """When rules count, with the zone whose clock and calendar say it; None is that of this machine.

    Two windows are equal where they say the same, in whatever order and however often.
    """

    days: frozenset[Day]
    times: tuple[int, int] | None
    months: frozenset[int]
    days_of_month: frozenset[int]
    between: tuple[datetime, datetime] | None
    zone: ZoneInfo | None
    _valid: Validity = field(compare=False, repr=False)

    @classmethod
    def of(cls, valid: Validity, zone: ZoneInfo | None) -> Window:
        """Take what a rule says; `zone` is the policy's. Times are seconds of the day."""
        times = None
        if valid.time is not None and valid.time.first != valid.time.last:
            first, last = ((at.hour * 60 + at.minute) * 60 + at.second for at in (valid.time.first, valid.time.last))
            times = (first, last)
        months, days_of_month = frozenset(valid.months), frozenset(valid.days_of_month)
        return cls(
            frozenset(valid.days),
            times,
            frozenset() if len(months) == len(_MONTHS) else months,
            frozenset() if len(days_of_month) == 31 else days_of_month,
            valid.between,
            valid.time_zone or zone,
            valid,
        )

    def contains(self, at: datetime) -> bool:
        """Whether rules with this window count at a moment."""
        return self._valid.contains(at, self.zone)

    def words(self) -> str:
        """Say when, without the zone."""
        said = []
        if len(self.days) < len(Day):
            said.append(_runs([_WEEK.index(day) for day in self.days], [str(day) for day in _WEEK]))
        if self.months:
            said.append("in " + _runs([month - 1 for month in self.months], _MONTHS))
        if self.days_of_month:
            numbers = [str(number + 1) for number in range(31)]
            said.append("on day " + _runs([day - 1 for day in self.days_of_month], numbers))
        if self.times is not None:
            said.append(f"{_clock(self.times[0])}-{_clock(self.times[1] or 86400)}")
        if self.between is not None:
            said.append(f"from {write_moment(self.between[0])} until {write_moment(self.between[1])}")
        return " ".join(said) or "always"


def windows_of(policies: Iterable[PolicySet]) -> tuple[Window, ...]:
    """Give the windows of all rules that don't always count, each once."""
    return tuple(
        dict.fromkeys(
            Window.of(rule.valid, policy.time_zone)
            for policy in policies
            for rule in policy.rules
            if not always(rule.valid)
        )
    )


def _clock(second: int) -> str:
    words = f"{second // 3600:02}:{second // 60 % 60:02}"
    return f"{words}:{second % 60:02}" if second % 60 else words


def _runs(places: Iterable[int], words: Sequence[str]) -> str:
    """Say places in a list, neighbours as ranges."""
    runs: list[list[int]] = []
    for place in sorted(places):
        if runs and place == runs[-1][-1] + 1:
            runs[-1].append(place)
        else:
            runs.append([place])
    return ", ".join(
        f"{words[run[0]]}-{words[run[-1]]}" if len(run) > 2 else ", ".join(words[place] for place in run)
        for run in runs
    )
