"""Classes of moments: which combinations of windows there are from some moment on, with the first moment of each.

Nothing changes but at midnights, at ends of time ranges and windows, and when a zone's clock jumps, so that only these
instants are looked at, all windows at once (numpy). What a calendar and a zone's rules can show they show within 40
years (28, and 40 around 2100), so that as many years after now and after each end of a window of dates are enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import pairwise
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from phb.model import Day
from phb.model.rules import wall_clock
from phb.packets.windows import Window
from phb.validity import HORIZON

_DAY_S = 86400
_BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
# Python's calendar ends with 9999, and clocks of zones are up to a day ahead.
_LAST = (datetime(9999, 12, 29, tzinfo=UTC) - _BEGINNING) // timedelta(seconds=1)
_AT_ONCE = 1 << 20  # instants

Seconds = NDArray[np.int64]
Truth = NDArray[np.bool_]


def first_moments(windows: Sequence[Window], now: datetime) -> dict[bytes, int]:
    """Give the first moment, in seconds since 1970 (UTC), of each combination of windows that occurs after `now`.

    The keys tell which windows count, as bytes of 0 and 1; moments come in ascending order.
    """
    found: dict[bytes, int] = {}
    clocks = {str(window.zone): window.zone for window in windows}
    start = _second(now)
    for low, high in _spans(windows, start):
        zones = {name: _clock(zone, low // _DAY_S, -(-high // _DAY_S)) for name, zone in clocks.items()}
        cuts = sum(len(_cuts(windows, name)) for name in zones)
        step = max(30, _AT_ONCE // cuts) * _DAY_S
        for begin in range(low, high, step):
            end = min(begin + step, high)
            instants = np.unique(np.concatenate([zones[name].instants(windows, name, begin, end) for name in zones]))
            instants = instants[instants > start]
            firsts = _firsts(windows, zones, _distinct(windows, zones, instants))
            for moment, truth in zip(firsts, counting(windows, zones, firsts), strict=True):
                found.setdefault(truth.tobytes(), int(moment))
    return dict(sorted(found.items(), key=lambda each: each[1]))


def _distinct(windows: Sequence[Window], zones: dict[str, _Clock], instants: Seconds) -> Seconds:
    """Give the first instant of each kind that clocks and calendars show, where no window tells more kinds apart."""
    codes, bound = np.zeros(len(instants), np.int64), 1
    for name, clock in zones.items():
        mine = [window for window in windows if str(window.zone) == name]
        local = clock.local(instants)
        weekday, month, day_of_month, second = _shown(local)
        weekdays = [{list(Day).index(day) for day in window.days} for window in mine]
        parts = (
            _classes(7, weekdays)[weekday],
            _classes(13, [window.months for window in mine])[month],
            _classes(32, [window.days_of_month for window in mine])[day_of_month],
            np.searchsorted(sorted(_cuts(windows, name)), second, "right"),
            np.searchsorted(_ends(windows, name), local, "right"),
        )
        for part in parts:
            kinds = int(part.max(initial=0)) + 1
            if bound * kinds >= 1 << 63:
                codes = np.unique(codes, return_inverse=True)[1].astype(np.int64)
                bound = len(instants)
            codes, bound = codes * kinds + part, bound * kinds
    return instants[np.sort(np.unique(codes, return_index=True)[1])]


def _classes(count: int, subsets: Iterable[Set[int]]) -> NDArray[np.int64]:
    """Number the values below `count` so that those have one number that no subset tells apart."""
    distinct = set(map(frozenset, subsets))
    numbers: dict[tuple[bool, ...], int] = {}
    keys = (tuple(value in each for each in distinct) for value in range(count))
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)


def _shown(local: Seconds) -> tuple[Seconds, Seconds, Seconds, Seconds]:
    """Give what calendar and clock show: day of the week from Sunday, month, day of the month, second of the day."""
    day, second = np.divmod(local, _DAY_S)
    dates = day.astype("datetime64[D]")
    months = dates.astype("datetime64[M]")
    # 1970 began with a Thursday.
    return (day + 4) % 7, months.astype(np.int64) % 12 + 1, (dates - months).astype(np.int64) + 1, second


def _ends(windows: Sequence[Window], name: str) -> Seconds:
    """Give the ends of the windows of dates of a zone, as its clock shows them, ascending."""
    moments = (moment for each in windows if str(each.zone) == name for moment in each.between or ())
    return np.array(sorted({_second(moment.replace(tzinfo=UTC)) for moment in moments}), np.int64)


def _firsts(windows: Sequence[Window], zones: dict[str, _Clock], instants: Seconds) -> Seconds:
    """Give the first instant of each combination."""
    truth = counting(windows, zones, instants)
    codes = np.zeros(len(instants), np.int64)
    # As many columns at a time as a number has bits to spare.
    for column in range(0, truth.shape[1], 30):
        for bits in truth[:, column : column + 30].T:
            codes = codes << 1 | bits
        codes = np.unique(codes, return_inverse=True)[1].astype(np.int64)
    return instants[np.sort(np.unique(codes, return_index=True)[1])]


def counting(windows: Sequence[Window], zones: dict[str, _Clock], instants: Seconds) -> Truth:
    """Tell at which instants (rows) which windows (columns) count."""
    truth = np.ones((len(instants), len(windows)), np.bool_)
    for name, clock in zones.items():
        local = clock.local(instants)
        weekday, month, day_of_month, second = _shown(local)
        for column, window in enumerate(windows):
            if str(window.zone) != name:
                continue
            counts = truth[:, column]
            if len(window.days) < len(Day):
                counts &= _any_of(8, [list(Day).index(each) for each in window.days])[weekday]
            if window.months:
                counts &= _any_of(13, window.months)[month]
            if window.days_of_month:
                counts &= _any_of(32, window.days_of_month)[day_of_month]
            if window.times is not None:
                first, last = window.times
                after, before = second >= first, second < last
                counts &= after & before if first < last else after | before
            if window.between is not None:
                begin, end = (_second(moment.replace(tzinfo=UTC)) for moment in window.between)
                counts &= (local >= begin) & (local < end)
    return truth


def _any_of(count: int, numbers: Sequence[int] | frozenset[int]) -> Truth:
    table = np.zeros(count, np.bool_)
    table[list(numbers)] = True
    return table


def _second(moment: datetime) -> int:
    return (moment - _BEGINNING) // timedelta(seconds=1)


def _spans(windows: Sequence[Window], start: int) -> Iterator[tuple[int, int]]:
    """Give the times to look at, in seconds since 1970: disjoint, ascending."""
    horizon = int(HORIZON.total_seconds())
    ends = {_second(moment.replace(tzinfo=UTC)) for window in windows for moment in window.between or ()}
    # A zone's clock is less than two days away from UTC.
    begins = sorted({start, *(end - 2 * _DAY_S for end in ends if end + 2 * _DAY_S > start)})
    low, high = max(begins[0], start), begins[0]
    for begin in begins:
        if begin > high:
            yield low, min(high, _LAST)
            low = begin
        high = begin + horizon
    yield low, max(low + 1, min(high, _LAST))


def _cuts(windows: Sequence[Window], name: str) -> set[int]:
    """Give the seconds of a day at which some window of a zone begins or ends."""
    return {0, *(second for each in windows if str(each.zone) == name and each.times for second in each.times)}


class _Clock:
    """A zone's clock for some years: where it jumps, and how far it is from UTC, in seconds."""

    def __init__(self, zone: ZoneInfo | None, low: int, high: int) -> None:
        self._zone = zone
        days = range((low // _DAY_S - 1) * _DAY_S, high + _DAY_S, _DAY_S)
        jumps, offsets = [days[0]], [self._offset(days[0])]
        for before, after in pairwise(days):
            offset = self._offset(after)
            if offset != offsets[-1]:
                jumps.append(self._jump(before, after))
                offsets.append(offset)
        self._jumps, self._offsets = np.array(jumps), np.array(offsets)

    def _offset(self, second: int) -> int:
        at = _BEGINNING + timedelta(seconds=second)
        return (wall_clock(at, self._zone) - at.replace(tzinfo=None)) // timedelta(seconds=1)

    def _jump(self, low: int, high: int) -> int:
        before = self._offset(low)
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._offset(middle) == before else (low, middle)
        return high

    def local(self, instants: Seconds) -> Seconds:
        """Give what the clock shows, in seconds since 1970."""
        places = np.searchsorted(self._jumps, instants, "right") - 1
        shown: Seconds = instants + self._offsets[np.maximum(places, 0)]
        return shown

    def instants(self, windows: Sequence[Window], name: str, low: int, high: int) -> Seconds:
        """Give all instants from `low` until `high` at which something may change by this clock."""
        days = np.arange(low // _DAY_S - 2, high // _DAY_S + 3, dtype=np.int64) * _DAY_S
        shown = (days[:, None] + np.array(sorted(_cuts(windows, name)))).ravel()
        local = np.sort(np.concatenate((shown, _ends(windows, name))))
        found = [self._jumps]
        until = [*self._jumps[1:], _LAST + 2 * _DAY_S]
        for begin, end, offset in zip(self._jumps, until, self._offsets, strict=True):
            if begin < high and end > low:
                places = np.searchsorted(local, (begin + offset, end + offset))
                found.append(local[places[0] : places[1]] - offset)
        instants = np.concatenate(found)
        return instants[(instants >= low) & (instants < high)]


@lru_cache(maxsize=64)
def _clock(zone: ZoneInfo | None, first: int, last: int) -> _Clock:
    """Give a zone's clock from one day until another; reading one takes most of the time of all this."""
    return _Clock(zone, first * _DAY_S, last * _DAY_S)
