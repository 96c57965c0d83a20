"""When the next rule begins or ends to count: until then, nothing needs to be compiled again.

Nothing can change but at midnights, at ends of time ranges and windows, and when a zone's clock jumps. The first of
these moments at which some rule differs from now is the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from phb.model import Rule, Validity
from phb.model.rules import wall_clock

# Calendars repeat after 28 years, around 2100 after 40: what doesn't change until then doesn't change.
HORIZON = timedelta(days=41 * 366)

_DAY = timedelta(days=1)
_HOUR = timedelta(hours=1)


def next_change(rules: Iterable[Rule], after: datetime, zone: ZoneInfo | None = None) -> datetime | None:
    """Give the first moment after `after`, in UTC, at which a rule begins or ceases to count; None if there is none.

    `zone` is the policy's; None is that of this machine.

    Raises:
        ValueError: `after` has no time zone, so it isn't a moment.
    """
    if after.tzinfo is None:
        raise ValueError("a moment needs a time zone")
    now = after.astimezone(UTC)
    found: datetime | None = None
    # Rules share their windows more often than not.
    for valid in {(str(rule.valid.time_zone), rule.valid.model_dump_json()): rule.valid for rule in rules}.values():
        if not always(valid):
            try:
                change = _next(valid, now, valid.time_zone or zone, found)
            except OverflowError:  # a clock that has jumped to where Python's calendar ends
                change = None
            found = change if found is None else found if change is None else min(found, change)
    return found


def _next(valid: Validity, now: datetime, zone: ZoneInfo | None, before: datetime | None) -> datetime | None:
    counts = valid.contains(now, zone)
    # A clock that jumps back over midnight shows yesterday again.
    day = wall_clock(now, zone).date() - _DAY
    last = day + HORIZON if before is None else wall_clock(before, zone).date() + _DAY
    if valid.between is not None:
        day, last = max(day, valid.between[0].date() - _DAY), min(last, valid.between[1].date() + _DAY)
    while day <= last:
        day = _next_day(valid, day, last)
        # Two days at once: a clock that jumps back over midnight shows the end of one after the start of the next.
        for candidate in sorted({*_candidates(valid, day, zone), *_candidates(valid, day + _DAY, zone)}):
            if candidate > now and valid.contains(candidate, zone) != counts:
                return candidate
        day += _DAY
    return None


def always(valid: Validity) -> bool:
    """Whether a rule counts at every moment."""
    return (
        len(valid.days) == 7
        and len({*valid.months}) in (0, 12)
        and len({*valid.days_of_month}) in (0, 31)
        and valid.between is None
        and (valid.time is None or valid.time.first == valid.time.last)
    )


def _next_day(valid: Validity, day: date, last: date) -> date:
    """Find this day or the first one after it on which something may change: it counts, or the one before did."""
    while day <= last and not valid.contains_date(day) and not valid.contains_date(day - _DAY):
        day += _DAY
    return day


def _candidates(valid: Validity, day: date, zone: ZoneInfo | None) -> Iterator[datetime]:
    clocks = [datetime.combine(day, time(0))]
    if valid.time is not None:
        clocks += [datetime.combine(day, clock) for clock in (valid.time.first, valid.time.last)]
    clocks += [moment for moment in valid.between or () if moment.date() == day]
    for clock in clocks:
        # A clock shows some times twice.
        yield from {_moment(clock, zone, fold) for fold in (0, 1)}
    yield from _jumps(day, zone)


def _moment(clock: datetime, zone: ZoneInfo | None, fold: int) -> datetime:
    return clock.replace(tzinfo=zone, fold=fold).astimezone(UTC)


def _jumps(day: date, zone: ZoneInfo | None) -> Iterator[datetime]:
    """Find the moments at which the clock jumps on this day."""
    at = _moment(datetime.combine(day, time(0)), zone, 0) - 2 * _HOUR
    end = _moment(datetime.combine(day + _DAY, time(0)), zone, 1) + 2 * _HOUR
    while at < end:
        if _offset(at, zone) != _offset(at + _HOUR, zone):
            low, high = at, at + _HOUR
            while high - low > timedelta(seconds=1):
                middle = low + (high - low) // 2
                middle = middle.replace(microsecond=0)
                low, high = (middle, high) if _offset(middle, zone) == _offset(at, zone) else (low, middle)
            if day in (wall_clock(low, zone).date(), wall_clock(high, zone).date()):
                yield high
        at += _HOUR


def _offset(at: datetime, zone: ZoneInfo | None) -> timedelta:
    return wall_clock(at, zone) - at.replace(tzinfo=None)
