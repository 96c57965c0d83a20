"""Windows of rules: when they count, by whose clock, and the words for it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from zoneinfo import ZoneInfo

from phb.model import Day, PolicySet, Validity
from phb.validity import always
from phb.values import write_moment

_DAY_S = 86400
_ALWAYS = "always"
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
            said.append(_range(*self.times))
        if self.between is not None:
            said.append(f"from {write_moment(self.between[0])} until {write_moment(self.between[1])}")
        return " ".join(said) or _ALWAYS

    @property
    def zone_name(self) -> str:
        """Whose clock it is."""
        return "local time" if self.zone is None else str(self.zone)

    def _seconds(self) -> list[tuple[int, int]]:
        """Give its times of day as ranges that don't run over midnight."""
        if self.times is None:
            return [(0, _DAY_S)]
        first, last = self.times
        return [(first, last)] if first < last else [(0, last), (first, _DAY_S)]


def in_words(inside: Sequence[Window], outside: Sequence[Window], *, zones: bool) -> str:
    """Say when some windows count, all of them, and others don't; `zones` names each one's."""
    inside, outside, said = list(inside), list(outside), []
    for window in inside[:1]:
        # Times of the same days are said as what is left of them.
        same = [each for each in inside if replace(each, times=window.times) == window]
        without = [each for each in outside if replace(each, times=window.times) == window]
        if len(same) + len(without) > 1:
            left = _times_of_day(same, without)
            days = replace(window, times=None).words()
            said.append(" ".join(([] if days == _ALWAYS else [days]) + [", ".join(_range(*each) for each in left)]))
            said[-1] += f" {window.zone_name}" if zones else ""
            inside = [each for each in inside if each not in same]
            outside = [each for each in outside if each not in without]
    words = [
        [f"{each.words()} {each.zone_name}" if zones else each.words() for each in some] for some in (inside, outside)
    ]
    told = " and ".join((*said, *words[0])) or _ALWAYS
    return f"{told} except {' or '.join(words[1])}" if words[1] else told


def _times_of_day(inside: Sequence[Window], outside: Sequence[Window]) -> list[tuple[int, int]]:
    """Give the times of day in all of some windows and in none of others; over midnight where they touch it."""
    cuts = sorted({0, _DAY_S, *(end for each in (*inside, *outside) for span in each._seconds() for end in span)})
    left: list[tuple[int, int]] = []
    for first, last in pairwise(cuts):
        holds = [any(low <= first < high for low, high in each._seconds()) for each in (*inside, *outside)]
        if all(holds[: len(inside)]) and not any(holds[len(inside) :]):
            if left and left[-1][1] == first:
                left[-1] = (left[-1][0], last)
            else:
                left.append((first, last))
    if len(left) > 1 and left[0][0] == 0 and left[-1][1] == _DAY_S:
        left = [*left[1:-1], (left[-1][0], left[0][1])]
    return left


def _range(first: int, last: int) -> str:
    return f"{_clock(first)}-{_clock(last or _DAY_S)}"


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
