"""Validity periods: RFC 3060's policyTimePeriodCondition as RFC 3703 writes it.

Masks are octet strings: four octets of length, these four included, then bits from the left. The same mask as digits,
such as ``0111110``, is taken too; it can't be mistaken for the other.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, time, timedelta
from typing import TypeVar

from phb.formats.ldap.ldif import DirectoryEntry, Value
from phb.formats.policy_agent import attributes
from phb.formats.policy_agent.rules import UTC
from phb.model import Day, Validity
from phb.values import TimeRange

T = TypeVar("T")

_MOMENT = r"(\d{8}T\d{6})"
_CLOCK = r"T(\d{2})(\d{2})(\d{2})"


def read_period(entry: DirectoryEntry) -> Validity:
    """Read when a rule counts; refuse times finer than the policy model's."""
    places = {}

    def value(attribute: str, name: str, parse: Callable[[Value], T]) -> T | None:
        found = entry.one(attribute)
        if found is None:
            return None
        places[name] = found.origin
        return parse(found)

    days = value("pcimTPCDayOfWeekMask", "days", lambda found: _mask(found, 7))
    zone = value("pcimTPCLocalOrUtcTime", "time_zone", lambda found: _text(found, _zone, "1 (local time) or 2 (UTC)"))
    validity = Validity(
        days=tuple(list(Day)[place - 1] for place in days) if days else tuple(Day),
        months=value("pcimTPCMonthOfYearMask", "months", lambda found: _mask(found, 12)) or (),
        days_of_month=value("pcimTPCDayOfMonthMask", "days_of_month", lambda found: _mask(found, 31)) or (),
        time=value("pcimTPCTimeOfDayMask", "time", lambda found: _text(found, _times, _TIMES)),
        between=value("pcimTPCTime", "between", lambda found: _text(found, _moments, _MOMENTS)),
        time_zone=UTC if zone == 2 else None,
    )
    return validity.at(entry.origin, places)


def _text(value: Value, parse: Callable[[str], T], expected: str) -> T:
    try:
        return parse(value.text)
    except (ValueError, OverflowError):
        value.fail(f"'{value.text}'", expected)


def _zone(text: str) -> int:
    if text not in ("1", "2"):
        raise ValueError
    return int(text)


def _mask(value: Value, width: int) -> tuple[int, ...]:
    """Give the places of ones; a mask of ones only gives none."""
    digits = _digits(value, width)
    expected = f"a mask of {width} bits, at least one set, as RFC 3703's octets or as digits"
    if width == 31 and digits is not None and len(digits) == 62:
        if "1" in digits[31:]:
            value.fail("days counted from the month's end", "days counted from its start")
        digits = digits[:31]
    if digits is None or len(digits) != width or "1" not in digits:
        value.fail(f"{value.octets!r}"[1:], expected)
    return attributes.mask(width)(digits)


def _digits(value: Value, width: int) -> str | None:
    octets = value.octets
    if re.fullmatch(rb"[01]+", octets):
        return octets.decode()
    bits = 62 if width == 31 else width
    if len(octets) < 5 or int.from_bytes(octets[:4]) != len(octets) or len(octets) != 4 + (bits + 7) // 8:
        return None
    return "".join(f"{octet:08b}" for octet in octets[4:])[:bits]


_TIMES = "a time range such as T080000/T173000"


def _times(text: str) -> TimeRange:
    """Read RFC 3060's range of times. It includes its last second, so 59 is the end of the minute."""
    match = re.fullmatch(f"{_CLOCK}/{_CLOCK}", text)
    if match is None:
        raise ValueError
    hour, minute, second, last_hour, last_minute, last_second = (int(part) for part in match.groups())
    first, last = time(hour, minute, second), time(last_hour, last_minute, last_second)
    if last.second == 59:
        last = (datetime.combine(datetime.min, last) + timedelta(seconds=1)).time()
    return TimeRange(first, last)


_MOMENTS = "two moments such as 20260101T000000/20261231T235959"


def _moments(text: str) -> tuple[datetime, datetime]:
    """Read RFC 3060's period, which may have words instead of a start or an end."""
    first, separator, last = text.partition("/")
    if not separator:
        raise ValueError
    period = (
        datetime.min if first == "THISANDPRIOR" else _moment(first),
        datetime.max.replace(microsecond=0) if last == "THISANDFUTURE" else _moment(last),
    )
    if period[0] > period[1]:
        raise ValueError
    return period


def _moment(text: str) -> datetime:
    if not re.fullmatch(_MOMENT, text):
        raise ValueError
    return datetime.strptime(text, "%Y%m%dT%H%M%S")
